//! The loop: one stage after the other, one generation after the other.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use serde_json::json;

use super::folder::{Folder, State, clean, load, remove, save};
use super::games::{ADJUDICATION, GameFile, HASH, JUDGE_NODES, SelfPlay};
use super::window::Window;
use super::{Event, Progress, SelfTrainError, Settings, Source, Stage, Summary, Surroundings};
use crate::arena::matches::{Contestant, Match, MatchEnd, MatchRecord, Standing};
use crate::arena::openings::{RandomOpenings, Recipe, judge};
use crate::arena::pgn::today;
use crate::arena::play::Budget;
use crate::arena::statistics::{Decision, Sprt};
use crate::base::atomic::write_atomic;
use crate::base::error::Error;
use crate::base::hash;
use crate::data::games::ScoreSide;
use crate::data::label::{self, OwnEngine, label};
use crate::data::positions::Filters;
use crate::data::prepare::{self, prepare};
use crate::data::samples::SampleFile;
use crate::fit::calibration::{calibrate_by_points, expectation_scale, pawn};
use crate::learn::log::Log;
use crate::learn::run;
use crate::learn::settings::{MachineSettings, ObjectiveSettings};

/// Percent of the games kept out of training, to measure the agreement with.
const TEST_PERCENT: f64 = 5.0;
/// Test positions for the agreement while a training runs.
const REPORT_POSITIONS: usize = 500;
/// Seconds between two checkpoints.
const CHECKPOINT_SECONDS: u64 = 20;
/// Progress is told at most so often; tests hear of all of it, to stop anywhere.
const TELL_EVERY: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };
/// The stop is looked at so often where a stage cannot do it by itself.
const WATCH_EVERY: Duration = Duration::from_millis(30);

/// What draws belong to; each has random numbers of its own.
#[derive(Clone, Copy)]
enum Draw {
    Games,
    Positions,
    Training,
    Match,
    Anchor,
    Refinement,
}

/// What the stage of training consists of.
#[derive(Clone, Copy)]
enum Step {
    /// From the base of the best weights.
    Training,
    /// From there, if there are positions enough.
    Refinement,
}

/// A self-training under way.
pub(super) struct Loop<'a> {
    folder: Folder,
    /// For the generations to come.
    settings: Settings,
    state: State,
    log: Log,
    stop: &'a AtomicBool,
    voice: Voice<'a>,
    /// Until when seconds have been counted.
    ticked: Instant,
}

impl<'a> Loop<'a> {
    /// Where `state` says.
    pub fn new(
        folder: Folder,
        settings: Settings,
        state: State,
        surroundings: Surroundings<'a>,
    ) -> Result<Loop<'a>, SelfTrainError> {
        let log = Log::open(&folder.log(), state.log_bytes).map_err(SelfTrainError::file("write", &folder.log()))?;
        let now = Instant::now();
        let voice = Voice {
            report: surroundings.report,
            begun: now,
            told: None,
            first: None,
            generation: 0,
            generations: 0,
            stage: Stage::Games,
            agreement: None,
        };
        Ok(Loop { folder, settings, state, log, stop: surroundings.stop, voice, ticked: now })
    }

    /// Goes on to the last generation, or until it is stopped.
    pub fn run(mut self) -> Result<Summary, SelfTrainError> {
        self.folder.clean()?;
        while !self.state.is_over(&self.settings) {
            let generation = Generation::open(&self.folder, &self.settings, &self.state)?;
            if !self.stages(&generation)? {
                break;
            }
        }
        self.save()?;
        Ok(Summary {
            finished: self.state.is_over(&self.settings),
            generations: self.state.generation - 1,
            adopted: self.state.adopted,
            best: Some(self.folder.best()).filter(|path| path.exists()),
        })
    }

    /// What is left of a generation. False if it was stopped.
    fn stages(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.voice.begin(&self.state, &self.settings);
            let done = match self.state.stage {
                Stage::Games => self.games(generation)?,
                Stage::Positions => self.positions(generation)?,
                Stage::Labels => self.labels(generation)?,
                Stage::Training => self.training(generation)?,
                Stage::Scale => self.scale(generation)?,
                Stage::Match => self.gate(generation)?,
                Stage::Anchor => self.anchor(generation)?,
            };
            if !done {
                return Ok(false);
            }
            let stage = self.state.stage;
            let seconds = self.voice.begun.elapsed().as_secs_f64();
            self.write_log(&json!({ "stage": stage, "of": generation.number, "took": seconds }))?;
            self.state.stage = match stage {
                Stage::Games => Stage::Positions,
                Stage::Positions => Stage::Labels,
                Stage::Labels => Stage::Training,
                Stage::Training => Stage::Scale,
                Stage::Scale => Stage::Match,
                Stage::Match => Stage::Anchor,
                Stage::Anchor => Stage::Games,
            };
            self.state.generation += u32::from(stage == Stage::Anchor);
            self.save()?;
            if stage == Stage::Anchor {
                return Ok(true);
            }
        }
    }

    /// Games of the best weights.
    fn games(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let settings = &generation.settings;
        if settings.source != Source::SelfPlay {
            return Ok(true);
        }
        let event = format!("Dyad self-training, generation {}", generation.number);
        let plan = SelfPlay {
            weights: generation.best.clone(),
            name: &generation.best_name,
            event: &event,
            nodes: settings.nodes,
            seed: generation.seed(Draw::Games),
            threads: settings.threads,
            positions: settings.positions,
            positions_per_game: settings.positions_per_game,
        };
        let (voice, path) = (&mut self.voice, generation.games());
        let done =
            controlled(self.stop, |control| plan.run(&path, control, |done| voice.tell(done, settings.positions)))?;
        if done {
            let synced = fs::File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(SelfTrainError::file("write", &path))?;
        }
        Ok(done)
    }

    /// Positions drawn from the games.
    fn positions(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let settings = &generation.settings;
        let out = generation.positions();
        if out.exists() {
            return Ok(true);
        }
        let (games, scores) = match &settings.source {
            Source::SelfPlay => (generation.games(), Some(ScoreSide::Mover)),
            Source::Games(path) => (path.clone(), settings.scores),
        };
        let draw = prepare::Settings {
            inputs: vec![games],
            scores,
            filters: Filters { per_game: Some(settings.positions_per_game), no_checks: true, ..Filters::default() },
            test_percent: TEST_PERCENT,
            count: Some(settings.positions),
            seed: generation.seed(Draw::Positions),
            ..prepare::Settings::default()
        };
        let (voice, mut broken) = (&mut self.voice, 0);
        let mut report = |event: prepare::Event| match event {
            prepare::Event::Broken(_) => broken += 1,
            prepare::Event::Progress { positions, .. } => voice.tell(positions, 0),
        };
        let mut job = prepare::Job { threads: settings.threads, stop: self.stop, report: &mut report };
        let Some((summary, _)) = unless_stopped(prepare(&draw, &out, &mut job))? else { return Ok(false) };
        if broken > 0 {
            self.voice.note(format!("{broken} games could not be read and were left out"));
        }
        match summary.count - summary.tests {
            0 => {
                Err(SelfTrainError::Settings(format!("there is no position to learn from in {} games", summary.games)))
            }
            _ => Ok(true),
        }
    }

    /// The desired moves.
    fn labels(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let settings = &generation.settings;
        let out = self.folder.labeled(generation.number);
        let input = generation.positions();
        if out.exists() {
            return Ok(true);
        }
        if settings.source != Source::SelfPlay {
            fs::rename(&input, &out).map_err(SelfTrainError::file("rename", &input))?;
            return Ok(true);
        }
        let samples = SampleFile::open(&input)?;
        let search = settings.labels();
        let by = format!("dyad with {} {}", generation.best.name, generation.best.id());
        let (voice, stop) = (&mut self.voice, self.stop);
        let labeled = controlled(stop, |control| {
            let make = || OwnEngine::new(generation.best.clone(), &search, control);
            let mut report = |done: usize, of: usize| voice.tell(done as u64, of as u64);
            let mut job = label::Job { threads: settings.threads, stop, report: &mut report };
            label(&samples, &out, &search, &by, make, &mut job)
        });
        if unless_stopped(labeled)?.is_none() {
            return Ok(false);
        }
        remove(&input)?;
        Ok(true)
    }

    /// New weights.
    fn training(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let window = self.window(generation)?;
        let start = self.folder.base(self.state.best);
        if !self.train(generation, &window, Step::Training, start)? {
            return Ok(false);
        }
        if !generation.is_refined(&window) {
            return Ok(true);
        }
        let start = generation.trained(Step::Training)?;
        self.train(generation, &window, Step::Refinement, start)
    }

    /// Begins a step or goes on with it. False if it was stopped.
    fn train(
        &mut self,
        generation: &Generation,
        window: &Window,
        step: Step,
        start: PathBuf,
    ) -> Result<bool, SelfTrainError> {
        let folder = generation.run(step);
        let voice = &mut self.voice;
        let mut progress = |progress: &run::Progress| {
            let past = u64::from(progress.iteration.saturating_sub(1)) * progress.of;
            voice.agreement = progress.agreement.or(voice.agreement);
            voice.tell(past + progress.done, u64::from(progress.iterations) * progress.of);
        };
        let surroundings = run::Surroundings { examples: window, stop: self.stop, progress: &mut progress };
        let summary = if folder.join("settings.json").exists() {
            let threads =
                |saved: &mut crate::learn::settings::Settings| saved.machine.threads = generation.settings.threads;
            run::resume(&folder, &threads, surroundings)?
        } else {
            run::begin(&generation.training_settings(window, step, start)?, &folder, surroundings)?
        };
        self.state.agreement = voice.agreement;
        Ok(summary.finished)
    }

    /// The positions to learn from.
    fn window(&self, generation: &Generation) -> Result<Window, SelfTrainError> {
        let first = generation.number.saturating_sub(generation.settings.window - 1).max(1);
        let files: Vec<PathBuf> = (first..=generation.number).map(|number| self.folder.labeled(number)).collect();
        Ok(Window::load(&files, pawn(&generation.base) / 100.0)?)
    }

    /// What the values of the new weights mean.
    fn scale(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let out = self.folder.weights(generation.number);
        if !out.exists() {
            let window = self.window(generation)?;
            let mut scaled = |step, out: PathBuf| {
                let mut weights = Weights::load(&generation.trained(step)?)?;
                weights.name = generation.name();
                if !calibrate_by_points(&mut weights, window.samples().iter())? {
                    self.voice.note("the results say nothing of the scale: it stays as it was".to_string());
                }
                Ok::<_, SelfTrainError>(weights.save(&out)?)
            };
            if generation.is_refined(&window) {
                scaled(Step::Training, generation.folder.join("base.json"))?;
                scaled(Step::Refinement, out)?;
            } else {
                scaled(Step::Training, out)?;
            }
        }
        generation.tidy()?;
        Ok(true)
    }

    /// Whether the new weights are stronger.
    fn gate(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let new = Weights::load(&self.folder.weights(generation.number))?;
        let sprt = generation.settings.sprt().map_err(SelfTrainError::Settings)?;
        let best = (generation.best_name.as_str(), generation.best.clone());
        let Some(record) = self.play(generation, (&generation.name(), Arc::new(new)), best, Some(sprt))? else {
            return Ok(false);
        };
        let number = generation.number;
        self.voice.say(Event::Match { generation: number, anchor: false, record: record.clone() });
        let adopted = has_won(&record);
        if adopted {
            let new = self.folder.weights(number);
            let bytes = fs::read(&new).map_err(SelfTrainError::file("read", &new))?;
            let path = self.folder.best();
            write_atomic(&path, &bytes).map_err(SelfTrainError::file("write", &path))?;
            self.state.best = number;
            self.state.adopted += 1;
            self.voice.say(Event::Adopted { generation: number, path, record: record.clone() });
        } else {
            self.voice.say(Event::Rejected { generation: number, record: record.clone() });
        }
        self.tick();
        self.write_log(&json!({
            "generation": number,
            "seconds": self.state.seconds,
            "agreement": self.state.agreement,
            "adopted": adopted,
            "match": record,
        }))?;
        Ok(true)
    }

    /// The best weights against the oldest.
    fn anchor(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let every = generation.settings.anchor_every;
        if every == 0 || !generation.number.is_multiple_of(every) || self.state.best == 0 {
            return Ok(true);
        }
        let best = Weights::load(&self.folder.weights(self.state.best))?;
        let oldest = Weights::load(&self.folder.weights(0))?;
        let name = name_of(self.state.best);
        let Some(record) = self.play(generation, (&name, Arc::new(best)), ("start", Arc::new(oldest)), None)? else {
            return Ok(false);
        };
        self.write_log(&json!({ "anchor": generation.number, "seconds": self.state.seconds, "match": record }))?;
        self.voice.say(Event::Match { generation: generation.number, anchor: true, record });
        Ok(true)
    }

    /// Plays a match, or what is left of it; nothing if it was stopped.
    fn play(
        &mut self,
        generation: &Generation,
        (name, weights): (&str, Arc<Weights>),
        (other_name, other): (&str, Arc<Weights>),
        sprt: Option<Sprt>,
    ) -> Result<Option<MatchRecord>, SelfTrainError> {
        let settings = &generation.settings;
        let (file, draw) = match sprt {
            Some(_) => ("match.pgn", Draw::Match),
            None => ("anchor.pgn", Draw::Anchor),
        };
        let budget = Budget::Nodes(settings.match_nodes);
        let contestant = |name: &str, weights| Contestant { hash: HASH, ..Contestant::new(name, weights, budget) };
        let openings = RandomOpenings::new(Recipe::new(generation.seed(draw)), judge(other.clone(), JUDGE_NODES));
        let played = Match {
            contestants: [contestant(name, weights), contestant(other_name, other)],
            pairs: settings.match_games.div_ceil(2),
            threads: settings.threads,
            adjudication: ADJUDICATION,
            sprt,
        };
        let path = generation.folder.join(file);
        let mut file = GameFile::open(&path)?;
        let before: Vec<_> = file.games.iter().filter_map(|game| game.result).collect();
        let (voice, of) = (&mut self.voice, 2 * played.pairs);
        voice.tell(before.len() as u64, of);
        let (event, date) = (format!("Dyad self-training, match of generation {}", generation.number), today());
        let record = controlled(self.stop, |control| {
            played.go_on(&before, openings, control, |game, standing| {
                file.write(&played.pgn(game, &event, &date), &path)?;
                voice.tell_match(game.number + 1, of, standing);
                Ok(())
            })
        })?;
        Ok((record.end != MatchEnd::Stopped).then_some(record))
    }

    fn write_log(&mut self, line: &serde_json::Value) -> Result<(), SelfTrainError> {
        let appended = self.log.append(line);
        appended.map_err(SelfTrainError::file("write", &self.folder.log()))
    }

    fn save(&mut self) -> Result<(), SelfTrainError> {
        self.tick();
        self.state.log_bytes = self.log.sync().map_err(SelfTrainError::file("write", &self.folder.log()))?;
        self.folder.save_state(&self.state)
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.state.seconds += (now - self.ticked).as_secs_f64();
        self.ticked = now;
    }
}

/// Whether a match was won: its test accepted that the new weights are stronger, or at its last game this was
/// the likelier of the two hypotheses.
fn has_won(record: &MatchRecord) -> bool {
    match record.decision {
        Some(Decision::H1) => true,
        Some(Decision::H0) => false,
        _ => record.llr.is_some_and(|llr| llr > 0.0),
    }
}

/// What a generation has of its own.
struct Generation {
    number: u32,
    folder: PathBuf,
    /// As they were when it began, but for the threads.
    settings: Settings,
    best: Arc<Weights>,
    best_name: String,
    /// The best weights before their refinement: what is trained.
    base: Arc<Weights>,
}

impl Generation {
    /// Opens the generation of `state`, or begins it.
    fn open(folder: &Folder, settings: &Settings, state: &State) -> Result<Generation, SelfTrainError> {
        let path = folder.generation(state.generation);
        fs::create_dir_all(&path).map_err(SelfTrainError::file("make", &path))?;
        clean(&path)?;
        let saved = path.join("settings.json");
        if !saved.exists() {
            save(&saved, settings)?;
        }
        let own: Settings = load(&saved)?;
        let (threads, generations) = (settings.threads, settings.generations);
        Ok(Generation {
            number: state.generation,
            folder: path,
            settings: Settings { threads, generations, ..own },
            best: Arc::new(Weights::load(&folder.weights(state.best))?),
            best_name: name_of(state.best),
            base: Arc::new(Weights::load(&folder.base(state.best))?),
        })
    }

    fn name(&self) -> String {
        name_of(self.number)
    }

    fn games(&self) -> PathBuf {
        self.folder.join("games.pgn")
    }

    fn positions(&self) -> PathBuf {
        self.folder.join("positions.samples")
    }

    /// The run folder of a step.
    fn run(&self, step: Step) -> PathBuf {
        self.folder.join(match step {
            Step::Training => "training",
            Step::Refinement => "refinement",
        })
    }

    /// Whether there are positions enough for a refinement.
    fn is_refined(&self, window: &Window) -> bool {
        let from = self.settings.refine_from;
        from > 0 && window.learned() >= from
    }

    /// What came out of a finished step.
    fn trained(&self, step: Step) -> Result<PathBuf, SelfTrainError> {
        let folder = self.run(step);
        let run = crate::learn::folder::Folder::open(&folder).map_err(SelfTrainError::file("open", &folder))?;
        Ok(run.iteration(run::saved_settings(&folder)?.iterations))
    }

    /// Removes what nobody needs once the weights are there: most of the space of a night.
    fn tidy(&self) -> Result<(), SelfTrainError> {
        for folder in [Step::Training, Step::Refinement].map(|step| self.run(step)) {
            if !folder.exists() {
                continue;
            }
            for iteration in 0..=run::saved_settings(&folder)?.iterations {
                remove(&folder.join(format!("iteration-{iteration:02}.json")))?;
            }
            remove(&folder.join("checkpoint.bin"))?;
            remove(&folder.join("best.json"))?;
        }
        Ok(())
    }

    fn seed(&self, draw: Draw) -> u64 {
        let generation = hash::fold(hash::mix(self.settings.seed), u64::from(self.number));
        hash::fold(generation, draw as u64)
    }

    /// The settings of a step that starts from the weights in the file `start`.
    fn training_settings(
        &self,
        window: &Window,
        step: Step,
        start: PathBuf,
    ) -> Result<crate::learn::settings::Settings, Error> {
        let (mut settings, draw) = match step {
            Step::Training => (self.settings.training(), Draw::Training),
            Step::Refinement => (self.settings.refinement(), Draw::Refinement),
        };
        if let ObjectiveSettings::Logistic { outcome_scale, .. } = &mut settings.objective {
            let mut base = Weights::clone(&self.base);
            // Where the results say nothing, the weights keep what they say themselves.
            calibrate_by_points(&mut base, window.samples().iter())?;
            *outcome_scale = expectation_scale(&base);
        }
        Ok(crate::learn::settings::Settings {
            samples: "labeled.samples".into(),
            start: Some(start),
            seed: self.seed(draw),
            report_every: (window.learned() / 4).max(1),
            report_positions: REPORT_POSITIONS,
            machine: MachineSettings { threads: self.settings.threads, checkpoint_seconds: CHECKPOINT_SECONDS },
            ..settings
        })
    }
}

fn name_of(generation: u32) -> String {
    match generation {
        0 => "start".to_string(),
        _ => format!("generation {generation}"),
    }
}

/// The result of a job; nothing if it was stopped.
fn unless_stopped<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Err(Error::Stopped) => Ok(None),
        other => other.map(Some),
    }
}

/// Runs `body` with a control that stops with the flag, in the middle of a search.
fn controlled<T>(stop: &AtomicBool, body: impl FnOnce(&Control) -> T) -> T {
    let control = Control::new(false);
    std::thread::scope(|scope| {
        // Dropped at the end of the body, however it ends.
        let (_running, ended) = channel::<()>();
        let control = &control;
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                if ended.recv_timeout(WATCH_EVERY) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
            control.stop();
        });
        body(control)
    })
}

/// Tells of progress.
struct Voice<'a> {
    report: &'a mut dyn FnMut(&Event),
    /// When the stage began, or went on.
    begun: Instant,
    /// When progress was told.
    told: Option<Instant>,
    /// What was done of the stage when it went on.
    first: Option<u64>,
    generation: u32,
    generations: u32,
    stage: Stage,
    agreement: Option<f64>,
}

impl Voice<'_> {
    /// A stage begins, or goes on.
    fn begin(&mut self, state: &State, settings: &Settings) {
        self.begun = Instant::now();
        self.first = None;
        self.generation = state.generation;
        self.generations = settings.generations;
        self.stage = state.stage;
        self.agreement = state.agreement;
    }

    fn say(&mut self, event: Event) {
        (self.report)(&event);
    }

    fn note(&mut self, text: String) {
        self.say(Event::Note(text));
    }

    fn tell(&mut self, done: u64, of: u64) {
        self.progress(done, of, None);
    }

    fn tell_match(&mut self, done: u64, of: u64, standing: &Standing) {
        self.progress(done, of, Some(*standing));
    }

    fn progress(&mut self, done: u64, of: u64, standing: Option<Standing>) {
        let begins = self.first.is_none();
        let first = *self.first.get_or_insert(done);
        if !begins && self.told.is_some_and(|told| told.elapsed() < TELL_EVERY) {
            return;
        }
        self.told = Some(Instant::now());
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { (done - first.min(done)) as f64 / seconds } else { 0.0 };
        let left = (rate > 0.0 && of >= done).then(|| (of - done) as f64 / rate).filter(|_| of > 0);
        let Voice { generation, generations, stage, agreement, .. } = *self;
        let positions_per_second = rate;
        self.say(Event::Progress(Progress {
            stage,
            generation,
            generations,
            done,
            of,
            positions_per_second,
            agreement,
            seconds_left: left,
            standing,
        }));
    }
}
