//! Self-training from the piece values: a [`Learner`] hands out games, [`Worker`]s play them.
//!
//! The work is that of `dyad selftrain` with its regression: the same settings and seed give the same weights, in
//! whatever order and on however many workers the games are played. What is only for the user depends on that order: the
//! rough fits of the first games, the games against levels, and the diary.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dyad_engine::board::{Board, Game};
use dyad_engine::control::{Control, Instant};
use dyad_engine::eval::Weights;
use dyad_formats::game::GameRecord;
use dyad_formats::packed::{Packed, SAMPLE_BYTES};
use dyad_trainer::arena::matches::MatchGame;
use dyad_trainer::arena::openings::Opening;
use dyad_trainer::arena::play::FinishedGame;
use dyad_trainer::arena::statistics::{Decision, MatchResults, Points};
use dyad_trainer::base::context::Context;
use dyad_trainer::data::positions::Filters;
use dyad_trainer::data::prepare;
use dyad_trainer::fit::regression::FitEvent;
use dyad_trainer::selftrain::generator::{GamePlayer, GeneratorSettings, pgn};
use dyad_trainer::selftrain::strength::{self, Pair, Strength, match_with_level, next_level};
use dyad_trainer::selftrain::recipe::{self, RandomStream, WindowFit};
use dyad_trainer::selftrain::{Method, SelfTrainSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::diary::{Fact, Reported};
use crate::play::ucis;
use crate::weights;

/// Version of [`Learner::state`].
const FORMAT: u32 = 4;
/// Games of a task.
const GAMES: u64 = 4;
/// Sets of weights that a worker keeps.
const KEPT: usize = 4;
/// The event of self-play games.
const EVENT: &str = "Dyad in a browser";
/// Games of the first generation after which a rough fit shows what they teach, and its passes. It has no other effect.
const ROUGH_FITS: [(usize, u32); 4] = [(if cfg!(test) { 10 } else { 100 }, 6), (250, 5), (500, 4), (1_000, 3)];
/// Facts of the diary after a rough fit and after that of a generation.
const NEWS: [usize; 2] = [2, 3];
/// Seconds between two results after which the page is taken to have been paused or asleep.
const LONGEST_STEP: f64 = 20.0;
/// Entries of the diary that are kept.
const DIARY: usize = 80;

/// The settings of a training in a browser: the first generation takes two workers about a minute, and has positions
/// enough for pairs of pieces. No games tune its factors: they would take minutes in which nothing is seen to be learned.
pub fn settings(seed: u64) -> SelfTrainSettings {
    SelfTrainSettings {
        seed,
        positions: 68_000,
        match_games: 100,
        match_nodes: 1_000,
        tuning_pairs: 0,
        ..SelfTrainSettings::of(Method::Regression)
    }
}

/// The current step of a generation: self-play games, the fit of new weights, their match against the best ones, and
/// games of the new best weights against levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    #[default]
    Games,
    Fit,
    Match,
    Levels,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Task {
    /// Self-play games, from number [`GAMES`] times `number` on.
    Game {
        generation: u32,
        number: u64,
        /// Identifier of the weights.
        weights: [String; 1],
        settings: GeneratorSettings,
    },
    /// A pair of match games.
    Pair {
        generation: u32,
        stage: Stage,
        number: u64,
        /// Identifiers of the players' weights; of one against a level.
        weights: Vec<String>,
        /// The level's Elo, 0 in a match.
        level: u32,
        nodes: u64,
        start: String,
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
    /// The first player's points in both games.
    Pair {
        points: [Points; 2],
        show: Shown,
    },
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    #[serde(flatten)]
    strength: Strength,
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

/// An entry of the diary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Games played until then.
    games: u64,
    #[serde(flatten)]
    fact: Fact,
}

/// What happened that [`Learner::status`] does not show.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A game to be shown.
    Game(Shown),
    /// The score of a match so far, from the view of the weights that learn.
    Match(MatchResults),
    /// The gating match is over.
    Gain(Gain),
    /// A generation is done: time to store [`Learner::state`] and its samples.
    Saved,
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

/// What [`Learner::state`] and [`Learner::status`] share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The current generation.
    pub generation: u32,
    stage: Stage,
    best_generation: u32,
    /// Positions of all generations.
    positions: u64,
    /// The strength of the best weights.
    pub curve: Vec<Rating>,
    /// The gating matches.
    pub gains: Vec<Gain>,
    /// The diary.
    pub diary: Vec<Entry>,
    /// What does not learn yet.
    note: Option<String>,
}

/// What [`Learner::state`] holds besides weights.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    settings: SelfTrainSettings,
    progress: Progress,
    /// The games of this generation in PGN, by the number of their task.
    pgn: BTreeMap<u64, Vec<String>>,
    /// The pairs of this match, by number.
    pairs: BTreeMap<u64, Pair>,
    /// Games of finished stages.
    games: u64,
    reported: Reported,
    rough_fits: usize,
    seconds: f64,
}

/// The file of [`Learner::state`]. Weights are the texts of their files.
#[derive(Serialize, Deserialize)]
struct StateFile {
    format: u32,
    state: State,
    best: String,
    new: Option<String>,
}

/// A training.
pub struct Learner {
    state: State,
    best: Arc<Weights>,
    /// The weights that play for adoption.
    new: Option<Arc<Weights>>,
    samples: BTreeMap<u32, Vec<Packed>>,
    /// The number of the next task of the stage.
    next: u64,
    /// Tasks to be handed out again.
    lost: Vec<Task>,
    /// The openings of the pairs from the next one on, `None` before the first.
    openings: Option<Box<dyn Iterator<Item = Opening>>>,
    /// The end of the last step.
    last: Instant,
}

impl Learner {
    /// A training that continues from `best`, by a regression without tuning. The fits start from the piece values,
    /// whose strength is known.
    pub fn new(settings: SelfTrainSettings, best: Arc<Weights>) -> Learner {
        let is_measured = best.plays_as(&Weights::material());
        let progress = Progress { stage: Stage::Levels, ..Progress::default() };
        let state = State { settings, progress, reported: Reported::new(&best), ..State::default() };
        let mut learner = Learner::of(state, best, None);
        if is_measured {
            learner.state.progress.curve.push(Rating { strength: Strength::PIECE_VALUES, seconds: 0.0 });
            learner.begin_generation();
        }
        learner
    }

    fn of(state: State, best: Arc<Weights>, new: Option<Arc<Weights>>) -> Learner {
        let (samples, lost) = (BTreeMap::new(), Vec::new());
        Learner { state, best, new, samples, next: 0, lost, openings: None, last: Instant::now() }
    }

    /// A training from its [`state`](Self::state); the samples of the [`kept`](Self::kept) generations must follow.
    pub fn restore(state: &[u8]) -> Result<Learner, String> {
        let damaged = |error: serde_json::Error| format!("a damaged training: {error}");
        let state: Value = serde_json::from_slice(state).map_err(damaged)?;
        if state["format"] != FORMAT {
            return Err(format!("the training is of format {}, expected {FORMAT}: start over", state["format"]));
        }
        let file: StateFile = serde_json::from_value(state).map_err(damaged)?;
        let new = file.new.map(|text| weights(text.as_bytes())).transpose()?;
        Ok(Learner::of(file.state, weights(file.best.as_bytes())?, new))
    }

    /// Everything but the samples of finished generations.
    pub fn state(&self) -> Vec<u8> {
        let text = |weights: &Weights| String::from_utf8(weights.to_json()).expect("JSON is UTF-8");
        let file = StateFile {
            format: FORMAT,
            state: State { seconds: self.seconds(), ..self.state.clone() },
            best: text(&self.best),
            new: self.new.as_deref().map(text),
        };
        serde_json::to_vec(&file).expect("plain data with text keys")
    }

    /// The generations whose samples the training needs.
    pub fn kept(&self) -> Vec<u32> {
        let Progress { generation, stage, .. } = self.state.progress;
        let fitted = [Stage::Match, Stage::Levels].contains(&stage);
        let first = self.state.settings.window_start(generation + u32::from(fitted));
        let last = if fitted { generation } else { generation.saturating_sub(1) };
        (first.max(1)..=last).collect()
    }

    /// The samples of a generation, 32 bytes each.
    pub fn samples(&self, generation: u32) -> Vec<u8> {
        self.samples
            .get(&generation)
            .map(|samples| samples.iter().flat_map(|sample| sample.0).collect())
            .unwrap_or_default()
    }

    /// Takes the samples of a generation after [`restore`](Self::restore).
    pub fn restore_samples(&mut self, generation: u32, bytes: &[u8]) -> Result<(), String> {
        let (samples, rest) = bytes.as_chunks::<SAMPLE_BYTES>();
        if !rest.is_empty() || samples.iter().any(|sample| Packed(*sample).board().is_err()) {
            return Err(format!("the samples of generation {generation} are damaged"));
        }
        self.samples.insert(generation, samples.iter().map(|sample| Packed(*sample)).collect());
        Ok(())
    }

    /// The weights with an identifier: `best`, `new`, or one of a task.
    pub fn weights(&self, id: &str) -> Result<Arc<Weights>, String> {
        let known = [("best", Some(&self.best)), ("new", self.new.as_ref())];
        let mut all = known.into_iter().filter_map(|(name, weights)| Some((name, weights?)));
        let found = all.find(|(name, weights)| *name == id || weights.id() == id);
        found.map(|(_, weights)| Arc::clone(weights)).ok_or_else(|| format!("there are no weights '{id}'"))
    }

    /// The name for a file of the best weights.
    pub fn export_name(&self) -> String {
        let State { settings, progress, .. } = &self.state;
        format!("dyad-browser-seed{}-generation{}.json", settings.seed, progress.best_generation)
    }

    /// The next task.
    pub fn next_task(&mut self) -> Result<Task, String> {
        self.count_time(LONGEST_STEP);
        let Progress { generation, stage, .. } = self.state.progress;
        if stage == Stage::Fit || self.rough_fit_is_due() {
            return Ok(Task::Fit);
        }
        if let Some(task) = self.lost.pop() {
            return Ok(task);
        }
        while self.next < self.tasks() {
            let number = self.next;
            self.next += 1;
            let task = match stage {
                Stage::Games => {
                    let settings = recipe::games(&self.state.settings, generation);
                    Task::Game { generation, number, weights: [self.best.id()], settings }
                }
                _ => self.next_pair(number)?,
            };
            if !self.is_done(number) {
                return Ok(task);
            }
        }
        Ok(Task::Wait)
    }

    /// The pair with this number, after those of all numbers before.
    fn next_pair(&mut self, number: u64) -> Result<Task, String> {
        let Progress { generation, stage, ref curve, .. } = self.state.progress;
        let (weights, stream, level, nodes) = match &self.new {
            Some(new) if stage == Stage::Match => {
                (vec![new.id(), self.best.id()], RandomStream::Match, 0, self.state.settings.match_nodes)
            }
            _ => {
                let pairs: Vec<Pair> = self.state.pairs.values().copied().collect();
                let level = next_level(&pairs, curve.last().map(|rating| rating.strength.elo));
                (vec![self.best.id()], RandomStream::Levels, level, strength::NODES)
            }
        };
        let seed = recipe::seed(&self.state.settings, generation, stream);
        let openings =
            || Box::new(recipe::openings(&self.state.settings, seed, &self.best)) as Box<dyn Iterator<Item = Opening>>;
        let opening = self.openings.get_or_insert_with(openings).next().ok_or("no opening is balanced")?;
        let (start, moves) = (opening.start.fen(), ucis(&opening.start, &opening.moves));
        Ok(Task::Pair { generation, stage, number, weights, level, nodes, start, moves })
    }

    fn rough_fit_is_due(&self) -> bool {
        let Progress { generation, stage, .. } = self.state.progress;
        let due = ROUGH_FITS.get(self.state.rough_fits);
        (generation, stage) == (1, Stage::Games) && due.is_some_and(|(games, _)| self.stage_done() >= *games as u64)
    }

    fn is_done(&self, number: u64) -> bool {
        match self.state.progress.stage {
            Stage::Games => self.state.pgn.contains_key(&number),
            _ => self.state.pairs.contains_key(&number),
        }
    }

    /// Games of the stage, at most.
    fn stage_games(&self) -> u64 {
        let settings = &self.state.settings;
        match self.state.progress.stage {
            Stage::Games => recipe::games(settings, self.state.progress.generation).games,
            Stage::Match => settings.match_games.next_multiple_of(2),
            Stage::Levels => 2 * strength::PAIRS,
            Stage::Fit => 0,
        }
    }

    fn stage_done(&self) -> u64 {
        match self.state.progress.stage {
            Stage::Games => self.state.pgn.values().map(|games| games.len() as u64).sum(),
            _ => 2 * self.state.pairs.len() as u64,
        }
    }

    fn tasks(&self) -> u64 {
        self.stage_games().div_ceil(if self.state.progress.stage == Stage::Games { GAMES } else { 2 })
    }

    /// Hands a task out again.
    pub fn lost(&mut self, task: &str) -> Result<(), String> {
        let task = parse(task)?;
        if self.current(&task).is_some() {
            self.lost.push(task);
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
        let same = (of, at) == (self.state.progress.generation, self.state.progress.stage);
        (same && number < self.tasks() && !self.is_done(number)).then_some(number)
    }

    /// Takes the result of a task. A result that is not wanted any more is ignored.
    pub fn done(&mut self, task: &str, result: &[u8]) -> Result<Vec<Event>, String> {
        self.count_time(LONGEST_STEP);
        let task: Task = parse(task)?;
        let Some(number) = self.current(&task) else { return Ok(Vec::new()) };
        let result = serde_json::from_slice(result).map_err(|error| format!("a damaged result: {error}"))?;
        let show = match (task, result) {
            (Task::Game { .. }, TaskResult::Games { pgn, show }) => {
                if pgn.iter().any(|game| recipe::parse(game).is_none()) {
                    return Err("a result without a complete game".into());
                }
                self.state.pgn.insert(number, pgn);
                show
            }
            (Task::Pair { level, .. }, TaskResult::Pair { points, show }) => {
                self.state.pairs.insert(number, (level, points));
                show
            }
            _ => return Err("the result of another task".into()),
        };
        let mut events = vec![Event::Game(show)];
        match self.state.progress.stage {
            Stage::Games if self.stage_done() >= self.stage_games() => self.begin(Stage::Fit),
            Stage::Match => self.count(&mut events)?,
            Stage::Levels if self.stage_done() >= self.stage_games() => self.end_levels(&mut events),
            _ => {}
        }
        Ok(events)
    }

    /// Counts the pairs in their order, and ends the match.
    fn count(&mut self, events: &mut Vec<Event>) -> Result<(), String> {
        let sprt = self.state.settings.sprt()?;
        let (mut results, mut decision) = (MatchResults::default(), Decision::Continue);
        for (_, points) in (0..).map_while(|number| self.state.pairs.get(&number)) {
            results.add(*points);
            decision = sprt.decide(&results);
            if decision != Decision::Continue {
                break;
            }
        }
        events.push(Event::Match(results));
        if results.pairs() < self.tasks() && decision == Decision::Continue {
            return Ok(());
        }
        let (generation, elo) = (self.state.progress.generation, results.elo());
        let adopted = recipe::proves(Some(decision), &elo);
        let gain = Gain { generation, elo: elo.value, error: elo.error(), results, adopted };
        self.state.progress.gains.push(gain);
        self.state.games += results.games();
        events.push(Event::Gain(gain));
        match self.new.take().filter(|_| adopted) {
            Some(new) => {
                self.best = new;
                self.state.progress.best_generation = generation;
                self.begin(Stage::Levels);
            }
            None => self.end_generation(events),
        }
        Ok(())
    }

    fn end_levels(&mut self, events: &mut Vec<Event>) {
        let pairs: Vec<Pair> = self.state.pairs.values().copied().collect();
        let found = Strength::of(self.state.progress.best_generation, &pairs);
        let seconds = self.seconds();
        self.state.progress.curve.extend(found.map(|strength| Rating { strength, seconds }));
        self.state.games += 2 * pairs.len() as u64;
        self.end_generation(events);
    }

    fn record(&mut self, facts: impl IntoIterator<Item = Fact>) {
        let games = self.state.games + self.stage_done();
        let diary = &mut self.state.progress.diary;
        diary.extend(facts.into_iter().map(|fact| Entry { games, fact }));
        diary.drain(..diary.len().saturating_sub(DIARY));
    }

    fn end_generation(&mut self, events: &mut Vec<Event>) {
        events.push(Event::Saved);
        self.begin_generation();
    }

    fn begin_generation(&mut self) {
        self.state.progress.generation += 1;
        let first = self.state.settings.window_start(self.state.progress.generation);
        self.samples.retain(|generation, _| *generation >= first);
        self.begin(Stage::Games);
    }

    fn begin(&mut self, stage: Stage) {
        self.state.progress.stage = stage;
        (self.next, self.lost, self.openings) = (0, Vec::new(), None);
        self.state.pairs.clear();
    }

    /// Fits new weights to the games; between the games of the first generation, only to show what they teach.
    /// `on_progress` also receives the weights so far after each pass.
    pub fn fit(&mut self, on_progress: &mut dyn FnMut(&FitProgress, Option<&Weights>)) -> Result<Vec<Event>, String> {
        let is_rough = self.rough_fit_is_due();
        if self.state.progress.stage != Stage::Fit && !is_rough {
            return Err("the games are not complete".into());
        }
        let (generation, mut settings) = (self.state.progress.generation, self.state.settings.clone());
        let games: Vec<GameRecord> = self.state.pgn.values().flatten().filter_map(|game| recipe::parse(game)).collect();
        let drawn = prepare::draw(&recipe::positions(&settings, generation, Filters::of_self_training()), &games);
        if is_rough {
            settings.passes = ROUGH_FITS[self.state.rough_fits].1;
            self.state.rough_fits += 1;
        }
        self.samples.insert(generation, drawn);
        let first = settings.window_start(generation);
        let window: Vec<Packed> =
            self.samples.range(first..=generation).flat_map(|(_, samples)| samples).copied().collect();
        let (new, note) = self.fitted(&settings, &window, is_rough, on_progress)?;
        self.count_time(f64::INFINITY);
        self.state.progress.note = note.filter(|_| !is_rough);
        let known = if is_rough { &[] } else { &window[..] };
        let news = self.state.reported.news(&new, known, NEWS[usize::from(!is_rough)]);
        if is_rough {
            self.samples.remove(&generation);
            self.record(news);
            return Ok(Vec::new());
        }
        self.state.games += games.len() as u64;
        self.state.progress.positions += self.samples[&generation].len() as u64;
        self.state.pgn.clear();
        self.record(news);
        let mut events = Vec::new();
        if new.plays_as(&self.best) {
            self.end_generation(&mut events);
        } else {
            self.new = Some(Arc::new(new));
            self.begin(Stage::Match);
        }
        Ok(events)
    }

    /// The weights of a fit, and a note on what does not learn yet.
    fn fitted(
        &self,
        settings: &SelfTrainSettings,
        window: &[Packed],
        is_rough: bool,
        on_progress: &mut dyn FnMut(&FitProgress, Option<&Weights>),
    ) -> Result<(Weights, Option<String>), String> {
        let generation = self.state.progress.generation;
        let (stop, initial) = (Control::new(false), Weights::material());
        let fit = WindowFit::new(settings, generation, window, &initial).map_err(|error| error.to_string())?;
        let fit = if is_rough { fit.of_squares() } else { fit };
        let (of, passes) = (u64::from(fit.passes()) * fit.positions(), fit.passes());
        let mut now = FitProgress { done: 0, of, pass: 1, passes, loss: None };
        let units = initial.units;
        let mut report = |event: FitEvent| {
            now.done = event.done(fit.positions()).unwrap_or(now.done);
            let mut improved = None;
            match event {
                FitEvent::Progress { epoch, .. } => now.pass = epoch,
                FitEvent::Epoch(epoch) => now.loss = Some(epoch.train_loss),
                FitEvent::Improved(floats) => {
                    improved = Weights::from_floats(&floats, serde_json::Value::Null).ok();
                    improved.iter_mut().for_each(|weights| weights.units = units);
                }
                FitEvent::Start { .. } => {}
            }
            on_progress(&now, improved.as_ref());
        };
        let mut new = fit
            .run(&mut Context { threads: 1, stop: &stop, on_event: &mut report })
            .map_err(|error| error.to_string())?;
        new.meta.name = format!("browser, generation {generation}");
        new.meta.provenance["by"] = "dyad in a browser".into();
        new.units.win_rate = self.best.units.win_rate;
        Ok((new, fit.note()))
    }

    /// Where the training is.
    pub fn status(&self) -> Value {
        let mut status = json!(self.state.progress);
        for (key, value) in [
            ("seed", json!(self.state.settings.seed)),
            ("stages", json!([Stage::Games, Stage::Fit, Stage::Match, Stage::Levels])),
            ("done", json!(self.stage_done())),
            ("of", json!(self.stage_games())),
            ("games", json!(self.state.games + self.stage_done())),
            ("nodes", json!(strength::NODES)),
            ("seconds", json!(self.seconds())),
        ] {
            status[key] = value;
        }
        status
    }

    /// Adds the time since the last step, at most `most` seconds.
    fn count_time(&mut self, most: f64) {
        self.state.seconds += self.last.elapsed().as_secs_f64().min(most);
        self.last = Instant::now();
    }

    fn seconds(&self) -> f64 {
        self.state.seconds + self.last.elapsed().as_secs_f64().min(LONGEST_STEP)
    }
}

fn parse(task: &str) -> Result<Task, String> {
    serde_json::from_str(task).map_err(|error| format!("no task: {error}"))
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
    /// Takes weights; the last four are kept.
    pub fn set_weights(&mut self, id: &str, file: &[u8]) -> Result<(), String> {
        let new = weights(file)?;
        self.weights.retain(|(known, _)| known != id);
        if self.weights.len() >= KEPT {
            self.weights.remove(0);
        }
        self.weights.push((id.to_string(), new));
        Ok(())
    }

    fn named(&self, id: &str) -> Result<Arc<Weights>, String> {
        let found = self.weights.iter().find(|(known, _)| known == id);
        found.map(|(_, weights)| Arc::clone(weights)).ok_or_else(|| format!("the worker has no weights '{id}'"))
    }

    /// Does a task.
    pub fn run(&mut self, task: &str) -> Result<Vec<u8>, String> {
        let result = match parse(task)? {
            Task::Game { number, weights: [id], settings, .. } => self.games(number, &id, settings)?,
            Task::Pair { generation, number, weights: ids, level, nodes, start, moves, .. } => {
                let all: Result<Vec<_>, _> = ids.iter().map(|id| self.named(id)).collect();
                let all = all?;
                let (Some(first), Some(second)) = (all.first(), all.last()) else { return Err("no players".into()) };
                let players = [("first".into(), Arc::clone(first)), ("second".into(), Arc::clone(second))];
                let played = match level {
                    0 => recipe::match_of(&settings(1), &players, nodes, 2, None),
                    _ => match_with_level(&settings(1), first, level, (generation, number)),
                };
                let games = played.play_pair(number, &opening(&start, &moves)?, &Control::new(false));
                let games = games.map_err(|error| error.to_string())?;
                let points = games.each_ref().map(MatchGame::points);
                TaskResult::Pair { points, show: shown(&games[0].game) }
            }
            Task::Fit | Task::Wait => return Err("no task of a worker".into()),
        };
        serde_json::to_vec(&result).map_err(|error| error.to_string())
    }

    fn games(&mut self, number: u64, id: &str, settings: GeneratorSettings) -> Result<TaskResult, String> {
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
    let moves = game.opening.moves.iter().chain(game.moves.iter().map(|made| &made.mv));
    Shown { start: game.opening.start.fen(), moves: ucis(&game.opening.start, moves), result: game.result.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::weights_file;
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
        let (mut worker, mut open) = (Worker::default(), Vec::new());
        let (mut steps, mut new) = (0, String::new());
        while learner.state.progress.gains.is_empty() {
            match learner.next_task().unwrap() {
                Task::Fit => {
                    let (mut last, mut sets) = (0, 0);
                    let mut report = |progress: &FitProgress, weights: Option<&Weights>| {
                        last = progress.done;
                        sets += usize::from(weights.is_some());
                    };
                    learner.fit(&mut report).unwrap();
                    assert!(last > 0 && sets > 1, "{last} {sets}");
                    assert!(!learner.state.progress.diary.is_empty());
                    if learner.state.progress.stage == Stage::Match {
                        new = learner.weights("new").unwrap().id();
                    }
                }
                Task::Wait => {
                    let task: String = open.swap_remove(pick(open.len()));
                    for id in ids(&parse(&task).unwrap()) {
                        worker.set_weights(&id, &learner.weights(&id).unwrap().to_json()).unwrap();
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
        assert_eq!(learner.state.rough_fits, 1, "a rough fit, which must not change what is learned");
        (learner.state.progress.gains[0], new)
    }

    fn ids(task: &Task) -> Vec<String> {
        match task {
            Task::Game { weights, .. } => weights.to_vec(),
            Task::Pair { weights, .. } => weights.clone(),
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
        begin(&settings, &Weights::embedded(), &folder, &stop, &mut |_| ()).unwrap();
        let by_program = weights_file::load(&folder.join("generation-001/weights.json"));
        let by_program = by_program.unwrap().id();
        fs::remove_dir_all(&folder).unwrap();
        let learner = || Learner::new(settings.clone(), Arc::clone(&start));
        let (first, last) = (generation(learner(), |_| 0), generation(learner(), |open| open - 1));
        assert_eq!(first, last);
        assert_eq!(first.1, by_program);
    }

    #[test]
    fn damaged_files_are_refused() {
        let learner = Learner::new(settings(1), Arc::new(Weights::material()));
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
