//! Self-training from the piece values: a [`Learner`] hands out games, [`Worker`]s play them.
//!
//! The work is that of `dyad selftrain` with its regression: the same settings and seed give the same weights, in
//! whatever order and on however many workers the games are played.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dyad_formats::weights_file;
use dyad_engine::board::{Board, Game};
use dyad_engine::control::{Control, Instant};
use dyad_engine::eval::Weights;
use dyad_formats::game::GameRecord;
use dyad_formats::packed::{Packed, SAMPLE_BYTES};
use dyad_trainer::arena::openings::Opening;
use dyad_trainer::arena::play::FinishedGame;
use dyad_trainer::arena::statistics::{Decision, Estimate, MatchResults, Points, Sprt};
use dyad_trainer::base::context::Context;
use dyad_trainer::data::prepare;
use dyad_trainer::fit::regression::FitEvent;
use dyad_trainer::selftrain::generator::{GamePlayer, GeneratorSettings, pgn};
use dyad_trainer::selftrain::work::{self, RandomStream, WindowFit};
use dyad_trainer::selftrain::{Method, Preset, SelfTrainSettings};
use serde::{Deserialize, Serialize};

use crate::play::ucis;
use crate::weights;

/// Version of [`Learner::state`].
const FORMAT: u32 = 1;
/// Games of a task.
const GAMES: u64 = 4;
/// Sets of weights that a worker keeps.
const KEPT: usize = 4;
/// The event of self-play games.
const EVENT: &str = "Dyad in a browser";

/// The settings of a training in a browser: the first generation takes two workers some two minutes.
#[must_use]
pub fn settings(seed: u64) -> SelfTrainSettings {
    SelfTrainSettings {
        seed,
        positions: 120_000,
        match_games: 100,
        // As many nodes as in the gating matches: a browser has no time for more.
        long_nodes: 1_000,
        ..SelfTrainSettings::preset(Preset::Scratch, Method::Regression)
    }
}

/// The current step of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Self-play games.
    Games,
    /// The fit of new weights.
    Fit,
    /// The match between new and best weights.
    Match,
    /// The games of the best weights against the built-in ones.
    Distance,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Task {
    /// Self-play games, from number [`GAMES`] times `number` on.
    Game {
        /// The generation.
        generation: u32,
        /// Number of the task.
        number: u64,
        /// Identifier of the weights.
        weights: [String; 1],
        /// The games.
        settings: GeneratorSettings,
    },
    /// A pair of match games.
    Pair {
        /// The generation.
        generation: u32,
        /// [`Stage::Match`] or [`Stage::Distance`].
        stage: Stage,
        /// Number of the pair.
        number: u64,
        /// Identifiers of the players' weights.
        weights: [String; 2],
        /// Nodes of a move.
        nodes: u64,
        /// Start of the opening.
        start: String,
        /// Moves of the opening.
        moves: Vec<String>,
    },
    /// [`Learner::fit`].
    Fit,
    /// Every task of the stage is handed out.
    Wait,
}

/// A game to be shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shown {
    start: String,
    moves: Vec<String>,
    result: String,
}

/// The result of a task.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum TaskResult {
    Games {
        pgn: Vec<String>,
        show: Shown,
    },
    /// Half points of the first player in both games.
    Pair {
        halves: [u8; 2],
        show: Shown,
    },
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    generation: u32,
    /// Elo against the built-in weights.
    elo: f64,
    error: f64,
    games: u64,
    /// Seconds of training until then.
    seconds: f64,
}

/// The gating match of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    generation: u32,
    elo: f64,
    error: f64,
    #[serde(flatten)]
    results: MatchResults,
    /// Whether the new weights were adopted.
    pub adopted: bool,
}

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A stage begins.
    Stage {
        /// The stage.
        stage: Stage,
        /// The generation.
        generation: u32,
        /// Games, or passes of the fit.
        of: u64,
    },
    /// Games of the stage are done.
    Progress {
        /// The number of these games.
        done: u64,
        /// Games of the stage, at most.
        of: u64,
    },
    /// A game to be shown.
    Game {
        /// The game.
        #[serde(flatten)]
        game: Shown,
    },
    /// New weights are fitted.
    Fitted {
        /// The generation.
        generation: u32,
        /// Loss before and after; `None` without test positions.
        loss: [Option<f64>; 2],
        /// Positions learned from.
        positions: u64,
        /// What does not learn yet.
        note: Option<String>,
    },
    /// The score of a match so far.
    Match {
        /// The generation.
        generation: u32,
        /// [`Stage::Match`] or [`Stage::Distance`].
        stage: Stage,
        /// The results, from the view of the weights that learn.
        #[serde(flatten)]
        results: MatchResults,
        /// Elo difference.
        elo: f64,
        /// Half the width of its 95 % interval.
        error: f64,
        /// Whether the match is over.
        over: bool,
    },
    /// The new weights are the best.
    Adopted(Gain),
    /// The new weights are not proven stronger.
    Rejected(Gain),
    /// A new point of the curve.
    Curve {
        /// The point.
        point: Point,
    },
    /// A generation is done: time to store [`Learner::state`] and its samples.
    Saved {
        /// The generation.
        generation: u32,
    },
}

/// Progress of a fit.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FitProgress {
    done: u64,
    of: u64,
    pass: u32,
    passes: u32,
    loss: Option<f64>,
}

/// Where a training is.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    seed: u64,
    /// The current generation.
    pub generation: u32,
    stage: Stage,
    stages: [Stage; 4],
    done: u64,
    of: u64,
    /// Generations adopted.
    pub adopted: u32,
    best_generation: u32,
    games: u64,
    positions: u64,
    /// Elo of the best weights against the built-in ones.
    pub curve: Vec<Point>,
    /// The gating matches.
    pub gains: Vec<Gain>,
    seconds: f64,
}

/// What [`Learner::state`] holds besides weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    format: u32,
    settings: SelfTrainSettings,
    generation: u32,
    stage: Stage,
    best_generation: u32,
    adopted: u32,
    /// The games of the tasks of this generation in PGN.
    games: Vec<Option<Vec<String>>>,
    /// Half points of the pairs of this match.
    pairs: Vec<Option<[u8; 2]>>,
    games_played: u64,
    positions: u64,
    curve: Vec<Point>,
    gains: Vec<Gain>,
    seconds: f64,
}

/// The file of [`Learner::state`]. Weights are the texts of their files.
#[derive(Serialize, Deserialize)]
struct StateFile {
    #[serde(flatten)]
    state: State,
    initial: String,
    best: String,
    new: Option<String>,
}

/// A training.
pub struct Learner {
    state: State,
    /// The weights that the fit starts from.
    initial: Arc<Weights>,
    best: Arc<Weights>,
    /// The weights that play for adoption.
    new: Option<Arc<Weights>>,
    samples: BTreeMap<u32, Vec<Packed>>,
    /// The first task that was not handed out, and those handed out in vain.
    next: u64,
    lost: BTreeSet<u64>,
    openings: Vec<Opening>,
    more_openings: Option<Box<dyn Iterator<Item = Opening>>>,
    since: Instant,
}

impl Learner {
    /// A training from the piece values.
    #[must_use]
    pub fn new(seed: u64) -> Learner {
        Learner::with_settings(settings(seed), Arc::new(Weights::material()))
    }

    /// A training that continues from `best`. The fits start from the piece values.
    #[must_use]
    pub fn from_weights(best: Arc<Weights>, seed: u64) -> Learner {
        Learner::with_settings(settings(seed), best)
    }

    /// A training with other settings, of a regression without tuning and interpolation.
    ///
    /// # Panics
    /// For settings of a comparison training.
    #[must_use]
    pub fn with_settings(settings: SelfTrainSettings, best: Arc<Weights>) -> Learner {
        let state = State {
            format: FORMAT,
            settings,
            generation: 0,
            stage: Stage::Distance,
            best_generation: 0,
            adopted: 0,
            games: Vec::new(),
            pairs: Vec::new(),
            games_played: 0,
            positions: 0,
            curve: Vec::new(),
            gains: Vec::new(),
            seconds: 0.0,
        };
        let mut learner = Learner::of(state, Arc::new(Weights::material()), best, None).expect("a regression");
        if learner.state.settings.distance_games() == 0 {
            learner.begin_generation(&mut Vec::new());
        }
        learner
    }

    fn of(
        state: State,
        initial: Arc<Weights>,
        best: Arc<Weights>,
        new: Option<Arc<Weights>>,
    ) -> Result<Learner, String> {
        if state.settings.method != Method::Regression {
            return Err("these are the settings of another method than regression".into());
        }
        Ok(Learner {
            state,
            initial,
            best,
            new,
            samples: BTreeMap::new(),
            next: 0,
            lost: BTreeSet::new(),
            openings: Vec::new(),
            more_openings: None,
            since: Instant::now(),
        })
    }

    /// A training from its [`state`](Self::state); the samples of the [`kept`](Self::kept) generations must follow.
    ///
    /// # Errors
    /// For texts that are no state of this version.
    pub fn restore(state: &[u8]) -> Result<Learner, String> {
        let file: StateFile = serde_json::from_slice(state).map_err(|error| format!("a damaged training: {error}"))?;
        if file.state.format != FORMAT {
            return Err(format!("the training is of format {}, expected {FORMAT}", file.state.format));
        }
        file.state.settings.check()?;
        let [initial, best] = [&file.initial, &file.best].map(|text| weights(text.as_bytes()));
        let new = file.new.map(|text| weights(text.as_bytes())).transpose()?;
        Learner::of(file.state, initial?, best?, new)
    }

    /// Everything but the samples of finished generations.
    #[must_use]
    pub fn state(&self) -> Vec<u8> {
        let text = |weights: &Weights| String::from_utf8(weights.to_json()).expect("JSON is UTF-8");
        let file = StateFile {
            state: State { seconds: self.seconds(), ..self.state.clone() },
            initial: text(&self.initial),
            best: text(&self.best),
            new: self.new.as_deref().map(text),
        };
        serde_json::to_vec(&file).expect("plain data with text keys")
    }

    /// The generations whose samples the training needs.
    #[must_use]
    pub fn kept(&self) -> Vec<u32> {
        let generation = self.state.generation;
        let fitted = [Stage::Match, Stage::Distance].contains(&self.state.stage);
        let first = self.state.settings.window_start(generation + u32::from(fitted));
        let last = if fitted { generation } else { generation.saturating_sub(1) };
        (first.max(1)..=last).collect()
    }

    /// The samples of a generation, 32 bytes each.
    #[must_use]
    pub fn samples(&self, generation: u32) -> Vec<u8> {
        self.samples
            .get(&generation)
            .map(|samples| samples.iter().flat_map(|sample| sample.0).collect())
            .unwrap_or_default()
    }

    /// Takes the samples of a generation after [`restore`](Self::restore).
    ///
    /// # Errors
    /// For bytes that are no samples.
    pub fn restore_samples(&mut self, generation: u32, bytes: &[u8]) -> Result<(), String> {
        let (samples, rest) = bytes.as_chunks::<SAMPLE_BYTES>();
        if !rest.is_empty() || samples.iter().any(|sample| Packed(*sample).board().is_err()) {
            return Err(format!("the samples of generation {generation} are damaged"));
        }
        self.samples.insert(generation, samples.iter().map(|sample| Packed(*sample)).collect());
        Ok(())
    }

    /// The weights with an identifier: `best`, `new`, `start`, `builtin`, or one of a task.
    ///
    /// # Errors
    /// For other identifiers.
    pub fn weights(&self, id: &str) -> Result<Arc<Weights>, String> {
        let embedded = Weights::embedded();
        let known = [("best", Some(&self.best)), ("new", self.new.as_ref()), ("start", Some(&self.initial))];
        let mut all = known.into_iter().chain([("builtin", Some(&embedded))]);
        let found = all.find_map(|(name, weights)| weights.filter(|weights| name == id || weights.id() == id));
        found.cloned().ok_or_else(|| format!("there are no weights '{id}'"))
    }

    /// The name for a file of the best weights.
    #[must_use]
    pub fn export_name(&self) -> String {
        format!("dyad-browser-seed{}-generation{}.json", self.state.settings.seed, self.state.best_generation)
    }

    /// The next task.
    ///
    /// # Errors
    /// When no opening of a match is balanced.
    pub fn next_task(&mut self) -> Result<Task, String> {
        let (generation, stage) = (self.state.generation, self.state.stage);
        if stage == Stage::Fit {
            return Ok(Task::Fit);
        }
        let Some(number) = self.next_number() else { return Ok(Task::Wait) };
        if stage == Stage::Games {
            let settings = work::games(&self.state.settings, generation);
            return Ok(Task::Game { generation, number, weights: [self.best.id()], settings });
        }
        let opening = self.opening(number)?;
        let moves = ucis(&opening.start, opening.moves.iter().copied());
        let (players, nodes) = (self.players(), self.nodes());
        let weights = players.map(|weights| weights.id());
        Ok(Task::Pair { generation, stage, number, weights, nodes, start: opening.start.fen(), moves })
    }

    /// The number of a task that is to be handed out.
    fn next_number(&mut self) -> Option<u64> {
        if let Some(number) = self.lost.pop_first() {
            return Some(number);
        }
        let of = self.tasks();
        while self.next < of && self.is_done(self.next) {
            self.next += 1;
        }
        let number = self.next;
        self.next += 1;
        (number < of).then_some(number)
    }

    fn is_done(&self, number: u64) -> bool {
        let number = number as usize;
        match self.state.stage {
            Stage::Games => self.state.games.get(number).is_some_and(Option::is_some),
            _ => self.state.pairs.get(number).is_some_and(Option::is_some),
        }
    }

    /// Games of the stage, at most.
    fn games(&self) -> u64 {
        let settings = &self.state.settings;
        match self.state.stage {
            Stage::Games => work::games(settings, self.state.generation).games,
            Stage::Match => settings.match_games.next_multiple_of(2),
            Stage::Distance => settings.distance_games().next_multiple_of(2),
            Stage::Fit => 0,
        }
    }

    fn tasks(&self) -> u64 {
        let games = self.games();
        games.div_ceil(if self.state.stage == Stage::Games { GAMES } else { 2 })
    }

    /// The players of the current match.
    fn players(&self) -> [Arc<Weights>; 2] {
        match (self.state.stage, &self.new) {
            (Stage::Match, Some(new)) => [Arc::clone(new), Arc::clone(&self.best)],
            _ => [Arc::clone(&self.best), Weights::embedded()],
        }
    }

    fn nodes(&self) -> u64 {
        let settings = &self.state.settings;
        if self.state.stage == Stage::Match { settings.match_nodes } else { settings.long_nodes }
    }

    /// The opening of a pair.
    fn opening(&mut self, number: u64) -> Result<Opening, String> {
        let settings = &self.state.settings;
        let stream = if self.state.stage == Stage::Match { RandomStream::Match } else { RandomStream::Distance };
        let seed = work::seed(settings, self.state.generation, stream);
        let [_, other] = self.players();
        let source =
            self.more_openings.get_or_insert_with(|| Box::new(work::openings(&self.state.settings, seed, &other)));
        while self.openings.len() <= number as usize {
            self.openings.push(source.next().ok_or("no opening is balanced")?);
        }
        Ok(self.openings[number as usize].clone())
    }

    /// Hands a task out again.
    ///
    /// # Errors
    /// For texts that are no task.
    pub fn lost(&mut self, task: &str) -> Result<(), String> {
        if let Some(number) = self.current(&parse(task)?) {
            self.lost.insert(number);
        }
        Ok(())
    }

    /// The number of a task of this stage whose result is still wanted.
    fn current(&self, task: &Task) -> Option<u64> {
        let (of, at, number) = match task {
            Task::Game { generation, number, .. } => (*generation, Stage::Games, *number),
            Task::Pair { generation, stage, number, .. } => (*generation, *stage, *number),
            Task::Fit | Task::Wait => return None,
        };
        let same = (of, at) == (self.state.generation, self.state.stage);
        (same && number < self.tasks() && !self.is_done(number)).then_some(number)
    }

    /// Takes the result of a task. A result that is not wanted any more is ignored.
    ///
    /// # Errors
    /// For texts that are no task or no result of it.
    pub fn done(&mut self, task: &str, result: &[u8]) -> Result<Vec<Event>, String> {
        let task: Task = parse(task)?;
        let Some(number) = self.current(&task) else { return Ok(Vec::new()) };
        let result = serde_json::from_slice(result).map_err(|error| format!("a damaged result: {error}"))?;
        let (at, mut events) = (number as usize, Vec::new());
        let show = match (task, result) {
            (Task::Game { .. }, TaskResult::Games { pgn, show }) => {
                if pgn.iter().any(|game| work::parse(game).is_none()) {
                    return Err("a result without a complete game".into());
                }
                put(&mut self.state.games, at, pgn);
                show
            }
            (Task::Pair { .. }, TaskResult::Pair { halves, show }) if halves.iter().all(|half| *half <= 2) => {
                put(&mut self.state.pairs, at, halves);
                show
            }
            _ => return Err("the result of another task".into()),
        };
        events.push(Event::Game { game: show });
        events.push(Event::Progress { done: self.games_done(), of: self.games() });
        match self.state.stage {
            Stage::Games if self.games_done() >= self.games() => self.begin(Stage::Fit, &mut events),
            Stage::Match | Stage::Distance => self.count(&mut events)?,
            _ => {}
        }
        Ok(events)
    }

    fn games_done(&self) -> u64 {
        match self.state.stage {
            Stage::Games => self.state.games.iter().flatten().map(|games| games.len() as u64).sum(),
            _ => 2 * self.state.pairs.iter().flatten().count() as u64,
        }
    }

    /// Counts the pairs in their order, and ends the match.
    fn count(&mut self, events: &mut Vec<Event>) -> Result<(), String> {
        let sprt = self.sprt()?;
        let (mut results, mut decision) = (MatchResults::default(), Decision::Continue);
        for pair in self.state.pairs.iter().map_while(|pair| *pair) {
            results.add(pair.map(points));
            decision = sprt.decide(&results);
            if decision != Decision::Continue {
                break;
            }
        }
        let over = results.pairs() == self.tasks() || decision != Decision::Continue;
        let (generation, stage, elo) = (self.state.generation, self.state.stage, results.elo());
        events.push(Event::Match { generation, stage, results, elo: elo.value, error: elo.error(), over });
        if over {
            self.state.games_played += results.games();
            match stage {
                Stage::Match => self.end_match(results, decision, &elo, events),
                _ => self.end_distance(&elo, results.games(), events),
            }
        }
        Ok(())
    }

    fn sprt(&self) -> Result<Sprt, String> {
        match self.state.stage {
            Stage::Match => self.state.settings.sprt(),
            _ => work::distance_sprt(),
        }
    }

    fn end_match(&mut self, results: MatchResults, decision: Decision, elo: &Estimate, events: &mut Vec<Event>) {
        let adopted = work::proves(Some(decision), elo);
        let generation = self.state.generation;
        let gain = Gain { generation, elo: elo.value, error: elo.error(), results, adopted };
        self.state.gains.push(gain);
        events.push(if adopted { Event::Adopted(gain) } else { Event::Rejected(gain) });
        match self.new.take().filter(|_| adopted) {
            Some(new) => {
                self.best = new;
                self.state.adopted += 1;
                self.state.best_generation = generation;
                if self.state.settings.distance_games() > 0 {
                    self.begin(Stage::Distance, events);
                } else {
                    self.end_generation(events);
                }
            }
            None => self.end_generation(events),
        }
    }

    fn end_distance(&mut self, elo: &Estimate, games: u64, events: &mut Vec<Event>) {
        let generation = self.state.best_generation;
        let point = Point { generation, elo: elo.value, error: elo.error(), games, seconds: self.seconds() };
        self.state.curve.push(point);
        events.push(Event::Curve { point });
        self.end_generation(events);
    }

    fn end_generation(&mut self, events: &mut Vec<Event>) {
        events.push(Event::Saved { generation: self.state.generation });
        self.begin_generation(events);
    }

    fn begin_generation(&mut self, events: &mut Vec<Event>) {
        self.state.generation += 1;
        let first = self.state.settings.window_start(self.state.generation);
        self.samples.retain(|generation, _| *generation >= first);
        self.begin(Stage::Games, events);
    }

    fn begin(&mut self, stage: Stage, events: &mut Vec<Event>) {
        self.state.stage = stage;
        (self.next, self.lost) = (0, BTreeSet::new());
        (self.openings, self.more_openings) = (Vec::new(), None);
        self.state.pairs = Vec::new();
        if stage == Stage::Games {
            self.state.games = Vec::new();
        }
        let of = if stage == Stage::Fit { self.state.settings.passes.into() } else { self.games() };
        events.push(Event::Stage { stage, generation: self.state.generation, of });
    }

    /// Fits new weights to the games. `on_progress` also receives the weights so far after each pass.
    ///
    /// # Errors
    /// When there is nothing to learn from, or the result is no valid weights.
    pub fn fit(&mut self, on_progress: &mut dyn FnMut(&FitProgress, Option<&Weights>)) -> Result<Vec<Event>, String> {
        if self.state.stage != Stage::Fit {
            return Err("the games are not complete".into());
        }
        let (generation, settings) = (self.state.generation, &self.state.settings);
        let games: Vec<GameRecord> =
            self.state.games.iter().flatten().flatten().filter_map(|game| work::parse(game)).collect();
        let drawn = prepare::draw(&work::positions(settings, generation, work::filters(settings)), &games);
        self.samples.insert(generation, drawn.clone());
        let first = settings.window_start(generation);
        let window: Vec<Packed> =
            self.samples.range(first..=generation).flat_map(|(_, samples)| samples).copied().collect();
        let (stop, weights) = (Control::new(false), [&self.initial, &self.best]);
        let fit = WindowFit::new(settings, generation, &window, weights, 1, &stop);
        let fit = fit.map_err(|error| error.to_string())?;
        let (of, passes) = (u64::from(fit.passes()) * fit.positions(), fit.passes());
        let mut now = FitProgress { done: 0, of, pass: 1, passes, loss: None };
        let (mut loss, units) = ([None; 2], self.initial.units);
        let mut report = |event: FitEvent| {
            now.done = event.done(fit.positions()).unwrap_or(now.done);
            let mut improved = None;
            match event {
                FitEvent::Start { test_loss, .. } => loss = [test_loss; 2],
                FitEvent::Progress { epoch, .. } => now.pass = epoch,
                FitEvent::Epoch(epoch) => {
                    now.loss = Some(epoch.train_loss);
                    if epoch.best {
                        loss[1] = epoch.test_loss;
                    }
                }
                FitEvent::Improved(floats) => {
                    improved = Weights::from_floats(&floats, serde_json::Value::Null).ok();
                    improved.iter_mut().for_each(|weights| weights.units = units);
                }
            }
            on_progress(&now, improved.as_ref());
        };
        let mut new = fit
            .run(&mut Context { threads: 1, stop: &stop, on_event: &mut report })
            .map_err(|error| error.to_string())?;
        let (positions, note) = (fit.positions(), fit.note());
        new.meta.name = format!("browser, generation {generation}");
        new.meta.provenance["by"] = "dyad in a browser".into();
        new.units.win_rate = self.best.units.win_rate;
        self.state.games_played += games.len() as u64;
        self.state.positions += drawn.len() as u64;
        self.state.games = Vec::new();
        let mut events = vec![Event::Fitted { generation, loss, positions, note }];
        if new.plays_as(&self.best) {
            self.end_generation(&mut events);
        } else {
            self.new = Some(Arc::new(new));
            self.begin(Stage::Match, &mut events);
        }
        Ok(events)
    }

    /// Where the training is.
    #[must_use]
    pub fn status(&self) -> Status {
        let state = &self.state;
        Status {
            seed: state.settings.seed,
            generation: state.generation,
            stage: state.stage,
            stages: [Stage::Games, Stage::Fit, Stage::Match, Stage::Distance],
            done: self.games_done(),
            of: self.games(),
            adopted: state.adopted,
            best_generation: state.best_generation,
            games: state.games_played,
            positions: state.positions,
            curve: state.curve.clone(),
            gains: state.gains.clone(),
            seconds: self.seconds(),
        }
    }

    fn seconds(&self) -> f64 {
        self.state.seconds + self.since.elapsed().as_secs_f64()
    }
}

fn parse(task: &str) -> Result<Task, String> {
    serde_json::from_str(task).map_err(|error| format!("no task: {error}"))
}

fn put<T>(list: &mut Vec<Option<T>>, at: usize, value: T) {
    if list.len() <= at {
        list.resize_with(at + 1, || None);
    }
    list[at] = Some(value);
}

fn points(halves: u8) -> Points {
    match halves {
        0 => Points::Loss,
        1 => Points::Draw,
        _ => Points::Win,
    }
}

/// Plays the games of tasks.
#[derive(Default)]
pub struct Worker {
    /// The latest at the end.
    weights: Vec<(String, Arc<Weights>)>,
    /// The player of the last self-play games, with what determines them.
    player: Option<(String, GeneratorSettings, GamePlayer<'static>)>,
}

impl Worker {
    /// Whether the worker has the weights with this identifier.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Takes weights; the last four are kept.
    ///
    /// # Errors
    /// For files that are no weights.
    pub fn set_weights(&mut self, id: &str, file: &[u8]) -> Result<(), String> {
        let new = weights(file)?;
        self.weights.retain(|(known, _)| known != id);
        if self.weights.len() >= KEPT {
            self.weights.remove(0);
        }
        self.weights.push((id.to_string(), new));
        Ok(())
    }

    fn find(&self, id: &str) -> Option<Arc<Weights>> {
        let own = self.weights.iter().find(|(known, _)| known == id).map(|(_, weights)| Arc::clone(weights));
        own.or_else(|| Some(Weights::embedded()).filter(|embedded| embedded.id() == id))
    }

    fn named(&self, id: &str) -> Result<Arc<Weights>, String> {
        self.find(id).ok_or_else(|| format!("the worker has no weights '{id}'"))
    }

    /// Does a task.
    ///
    /// # Errors
    /// For texts that are no task of a worker, and missing weights.
    pub fn run(&mut self, task: &str) -> Result<Vec<u8>, String> {
        let result = match parse(task)? {
            Task::Game { number, weights: [id], settings, .. } => self.games(number, &id, settings)?,
            Task::Pair { number, weights: ids, nodes, start, moves, .. } => {
                self.pair(number, &ids, nodes, &opening(&start, &moves)?)?
            }
            Task::Fit | Task::Wait => return Err("no task of a worker".into()),
        };
        serde_json::to_vec(&result).map_err(|error| error.to_string())
    }

    fn games(&mut self, number: u64, id: &str, settings: GeneratorSettings) -> Result<TaskResult, String> {
        settings.check()?;
        let weights = self.named(id)?;
        let mut player = match self.player.take() {
            Some((known, same, player)) if known == id && same == settings => player,
            _ => GamePlayer::new(&settings, &weights, &[]).map_err(|error| error.to_string())?,
        };
        let (control, over) = (Control::new(false), AtomicBool::new(false));
        let mut games = Vec::new();
        for number in (number * GAMES)..(number * GAMES + GAMES).min(settings.games) {
            let game = player.game(number, &control, &over).map_err(|error| error.to_string())?;
            games.push((number, game.ok_or("stopped")?));
        }
        let (_, first) = games.first().ok_or("no game has this number")?;
        let show = shown(first);
        let pgn = games.iter().map(|(number, game)| pgn(*number, game, EVENT, &weights).to_string()).collect();
        self.player = Some((id.to_string(), settings, player));
        Ok(TaskResult::Games { pgn, show })
    }

    fn pair(&self, number: u64, ids: &[String; 2], nodes: u64, opening: &Opening) -> Result<TaskResult, String> {
        let [first, second] = ids.each_ref().map(|id| self.named(id));
        let players = [("first", first?), ("second", second?)];
        let played = work::match_of(&settings(1), &players, nodes, 2, None);
        let games = played.play_pair(number, opening).map_err(|error| error.to_string())?;
        let halves = games.each_ref().map(|game| game.points().halves() as u8);
        Ok(TaskResult::Pair { halves, show: shown(&games[0].game) })
    }
}

fn opening(start: &str, moves: &[String]) -> Result<Opening, String> {
    let start = Board::from_fen(start).map_err(|error| error.to_string())?;
    let mut game = Game::new(start);
    for text in moves {
        game.push(game.board().parse_uci(text).map_err(|error| error.to_string())?);
    }
    Ok(Opening { start, moves: game.moves().to_vec() })
}

fn shown(game: &FinishedGame) -> Shown {
    let moves = game.opening.moves.iter().copied().chain(game.moves.iter().map(|made| made.mv));
    Shown { start: game.opening.start.fen(), moves: ucis(&game.opening.start, moves), result: game.result.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_trainer::selftrain::begin;
    use std::fs;

    /// Some games of few nodes: one generation takes a second.
    fn small() -> SelfTrainSettings {
        SelfTrainSettings {
            positions: 1_500,
            nodes: 60,
            match_games: 6,
            match_nodes: 100,
            long_games: 0,
            ..settings(3)
        }
    }

    /// Does all tasks up to the end of a generation, in the order that `pick` chooses, and returns the gating match and
    /// the identifier of the new weights. The learner is stored and restored on the way.
    fn generation(mut learner: Learner, mut pick: impl FnMut(usize) -> usize) -> (Gain, String) {
        let (mut worker, mut open, end) = (Worker::default(), Vec::new(), learner.state.generation + 1);
        let (mut steps, mut new) = (0, String::new());
        while learner.state.generation < end {
            match learner.next_task().unwrap() {
                Task::Fit => {
                    let (mut last, mut sets) = (0, 0);
                    let mut report = |progress: &FitProgress, weights: Option<&Weights>| {
                        last = progress.done;
                        sets += usize::from(weights.is_some());
                    };
                    learner.fit(&mut report).unwrap();
                    assert!(last > 0 && sets > 1, "{last} {sets}");
                    new = learner.weights("new").unwrap().id();
                }
                Task::Wait => {
                    let task: String = open.swap_remove(pick(open.len()));
                    for id in ids(&parse(&task).unwrap()) {
                        if !worker.has(&id) {
                            worker.set_weights(&id, &learner.weights(&id).unwrap().to_json()).unwrap();
                        }
                    }
                    let result = worker.run(&task).unwrap();
                    learner.done(&task, &result).unwrap();
                    assert!(learner.done(&task, &result).unwrap().is_empty(), "a second result counts");
                }
                task => open.push(serde_json::to_string(&task).unwrap()),
            }
            steps += 1;
            if steps % 7 == 0 {
                let mut restored = Learner::restore(&learner.state()).unwrap();
                for generation in learner.kept() {
                    restored.restore_samples(generation, &learner.samples(generation)).unwrap();
                }
                learner = restored;
                open.clear();
            }
        }
        (learner.status().gains[0], new)
    }

    fn ids(task: &Task) -> Vec<String> {
        match task {
            Task::Game { weights, .. } => weights.to_vec(),
            Task::Pair { weights, .. } => weights.to_vec(),
            Task::Fit | Task::Wait => Vec::new(),
        }
    }

    /// The real trainer, with its folder and threads, makes the same weights and plays the same match.
    #[test]
    fn a_browser_learns_what_the_program_learns() {
        let start = Arc::new(Weights::material());
        let folder = std::env::temp_dir().join(format!("dyad-web-{}", std::process::id()));
        let settings = SelfTrainSettings { generations: 1, threads: 2, ..small() };
        let stop = Control::new(false);
        begin(&settings, &start, &Weights::embedded(), &folder, &stop, &mut |_| ()).unwrap();
        let by_program = weights_file::load(&folder.join("generation-001/weights.json"));
        let by_program = by_program.unwrap().id();
        fs::remove_dir_all(&folder).unwrap();
        let learner = || Learner::with_settings(settings.clone(), Arc::clone(&start));
        let (first, last) = (generation(learner(), |_| 0), generation(learner(), |open| open - 1));
        assert_eq!(first, last);
        assert_eq!(first.1, by_program);
    }

    #[test]
    fn damaged_files_are_refused() {
        let learner = Learner::new(1);
        let state = learner.state();
        assert!(Learner::restore(&state[..state.len() / 2]).is_err());
        assert!(Learner::restore(b"{}").is_err());
        let mut restored = Learner::restore(&state).unwrap();
        assert!(restored.restore_samples(1, &[0; 33]).is_err());
        assert!(restored.restore_samples(1, &[0; 32]).is_err());
        assert!(restored.done("{}", b"").is_err());
        assert!(Worker::default().run("{\"kind\":\"wait\"}").is_err());
        assert!(learner.weights("nothing").is_err());
        assert_eq!(learner.export_name(), "dyad-browser-seed1-generation0.json");
        assert!(weights(&learner.weights("best").unwrap().to_json()).unwrap().plays_as(&Weights::material()));
    }
}
