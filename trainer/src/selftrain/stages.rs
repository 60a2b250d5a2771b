//! The loop over generations and their stages.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::write_atomic;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::ScoreSide;
use dyad_formats::weights_file;

use super::event::{Distance, End, SelfTrainEvent, SelfTrainLogLine, SelfTrainSummary, Stage};
use super::folder::{
    BASE, DISTANCE, DISTANCE_BEFORE, FITTED, Folder, GAMES, LABELED, MATCH, PLAYING, POSITIONS, PROOF, REFERENCE,
    SelfTrainState, TRAINED, WEIGHTS, remove,
};
use super::generation::{Generation, Step, name_of};
use super::generator::{GeneratorProgress, generate};
use super::recipe::{self, DISTANCE_SPRT, Players, RandomStream, WindowFit, match_of, proves};
use super::reporter::Reporter;
use super::settings::{Method, SelfTrainSettings};
use super::strength;
use super::tuning::tuned;
use crate::arena::game_file::GameFile;
use crate::arena::matches::{Match, MatchEnd, MatchRecord};
use crate::arena::pgn_writer::today;
use crate::arena::statistics::Estimate;
use crate::base::context::{Context, Progress};
use crate::base::json_lines::Log;
use crate::base::words::{counted, spoken};
use crate::data::label::label;
use crate::data::positions::Filters;
use crate::data::prepare::{self, prepare};
use crate::fit::calibration::calibrate_by_points;
use crate::fit::regression as fit;
use crate::learn::examples::FileExamples;
use crate::learn::folder::{BEST, LOG};
use crate::learn::training::{self, TrainingProgress};

/// Smallest Elo against the reference at which a long match is played.
const WITHIN_REACH: f64 = -25.0;

/// Interval between two looks at the clock.
const POLL: Duration = Duration::from_millis(50);

/// A self-training under way.
pub(super) struct Loop<'a> {
    folder: Folder,
    /// The settings of later generations.
    settings: SelfTrainSettings,
    state: SelfTrainState,
    log: Log,
    stop: &'a Control,
    reporter: Reporter<'a>,
    /// Time of the last update of [`SelfTrainState::seconds`].
    ticked: Instant,
    /// Time at which the training ends.
    deadline: Option<Instant>,
}

/// Whether weights at this distance are too weak for a long match against the reference.
fn is_below(distance: &Distance) -> bool {
    distance.elo.value < WITHIN_REACH || distance.elo.high <= 0.0
}

impl<'a> Loop<'a> {
    pub fn new(
        folder: Folder,
        settings: SelfTrainSettings,
        state: SelfTrainState,
        (stop, deadline): (&'a Control, Option<Instant>),
        on_event: &'a mut dyn FnMut(&SelfTrainEvent),
    ) -> Result<Loop<'a>, Error> {
        let log = Log::open(&folder.file(LOG), state.log_bytes).map_err(Error::file("write", &folder.file(LOG)))?;
        let (reporter, now) = (Reporter::new(on_event), Instant::now());
        Ok(Loop { folder, settings, state, log, stop, reporter, ticked: now, deadline })
    }

    /// Runs up to the last generation, or until it is stopped.
    pub fn run(mut self) -> Result<SelfTrainSummary, Error> {
        self.folder.clean()?;
        if !self.state.is_over(&self.settings) {
            self.reporter.note(self.settings.to_string());
        }
        let (mut stopped, mut is_timed) = (false, false);
        while !self.state.is_over(&self.settings) {
            let begun = Instant::now();
            let is_new = !self.folder.generation(self.state.generation).exists();
            let generation = Generation::open(&self.folder, &self.settings, &mut self.state)?;
            match self.generation(&generation) {
                Err(Error::Stopped) => {
                    stopped = true;
                    break;
                }
                done => done?,
            }
            if is_new && !is_timed && !self.state.is_over(&self.settings) {
                is_timed = true;
                let took = spoken(begun.elapsed().as_secs_f64());
                self.reporter.note(format!("generation {} took {took}", generation.number));
            }
        }
        self.save()?;
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let end = match (stopped, is_late) {
            (false, _) => End::Finished,
            (true, true) => End::OutOfTime,
            (true, false) => End::Stopped,
        };
        Ok(SelfTrainSummary {
            end,
            generations: self.state.generation - 1,
            adopted: self.state.adopted,
            best: Some(self.folder.file(BEST)).filter(|path| path.exists()),
            playing: self.state.playing,
            reference: self.reference()?.0,
        })
    }

    /// Runs the remaining stages of a generation.
    fn generation(&mut self, generation: &Generation) -> Result<(), Error> {
        let stages = generation.settings.stages();
        if self.state.distance.is_none() && stages.contains(&Stage::Distance) {
            self.first_distance(generation)?;
        }
        // The settings may lack the stage of the state.
        while let Some(stage) = stages.iter().copied().find(|stage| *stage >= self.state.stage) {
            self.state.stage = stage;
            if self.stop.stopped() {
                return Err(Error::Stopped);
            }
            self.reporter.begin(&self.state, &stages, self.settings.generations);
            self.stage(stage, generation)?;
            let seconds = self.reporter.begun.elapsed().as_secs_f64();
            self.write_log(SelfTrainLogLine::Stage { stage, generation: generation.number, seconds })?;
            match stages.iter().copied().find(|next| *next > stage) {
                Some(next) => self.state.stage = next,
                None => break,
            }
            self.save()?;
        }
        self.state.generation += 1;
        self.state.stage = Stage::Games;
        self.state.accuracy = None;
        self.save()
    }

    /// Runs a stage, [`Error::Stopped`] if it was stopped.
    fn stage(&mut self, stage: Stage, generation: &Generation) -> Result<(), Error> {
        match (stage, generation.settings.method) {
            (Stage::Games, _) => self.games(generation),
            (Stage::Positions, _) => self.positions(generation),
            (Stage::Labels, _) => self.labels(generation),
            (Stage::Training, Method::Regression) => self.regression(generation),
            (Stage::Training, Method::Comparison) => self.comparison(generation),
            (Stage::Scale, _) => self.scale(generation),
            (Stage::Tuning, _) => self.tuning(generation),
            (Stage::Match, _) => self.match_with_best(generation),
            (Stage::Distance, _) => self.distance(generation),
            (Stage::Proof, _) => self.proof(generation),
        }
    }

    /// Plays games of the best weights.
    fn games(&mut self, generation: &Generation) -> Result<(), Error> {
        let settings = &generation.settings;
        let per_game = settings.positions_per_game as u64;
        let plan = recipe::games(settings, generation.number);
        let (reporter, path) = (&mut self.reporter, generation.folder.join(GAMES));
        let of = settings.positions;
        let mut report =
            |played: GeneratorProgress| reporter.report(Progress { done: of.min(played.games * per_game), of });
        let mut context = Context { threads: settings.threads, stop: self.stop, on_event: &mut report };
        generate(&plan, &generation.best, &[], &path, &mut context)
    }

    /// Draws positions from the games.
    fn positions(&mut self, generation: &Generation) -> Result<(), Error> {
        let settings = &generation.settings;
        let filters = match settings.method {
            Method::Regression => Filters::of_self_training(),
            Method::Comparison => Filters { no_checks: true, ..Filters::default() },
        };
        let (games, scores) = match &settings.games_file {
            None => (generation.folder.join(GAMES), Some(ScoreSide::Mover)),
            Some(path) => (path.clone(), settings.scores),
        };
        let out =
            if settings.is_labeled() { generation.folder.join(POSITIONS) } else { generation.folder.join(LABELED) };
        if out.exists() {
            return Ok(());
        }
        let draw = prepare::PrepareSettings {
            inputs: vec![games],
            scores,
            ..recipe::positions(settings, generation.number, filters)
        };
        let reporter = &mut self.reporter;
        let mut report = |event: prepare::PrepareEvent| {
            if let prepare::PrepareEvent::Progress { positions, .. } = event {
                reporter.report(Progress { done: positions, of: 0 });
            }
        };
        let mut context = Context { threads: settings.threads, stop: self.stop, on_event: &mut report };
        let (summary, counts) = prepare(&draw, &out, &mut context)?;
        if counts.broken > 0 {
            self.reporter.note(format!("{} games could not be read and were left out", counts.broken));
        }
        match summary.count - summary.tests {
            0 => {
                // Without its games the generation begins again, with the settings of then.
                [&out, &generation.folder.join(GAMES)].into_iter().try_for_each(|file| remove(file))?;
                Err(Error::Settings(format!(
                    "positions: there is none to learn from in {}; it takes more positions",
                    counted(summary.games, "game", "games")
                )))
            }
            _ => Ok(()),
        }
    }

    /// Finds the desired moves by search.
    fn labels(&mut self, generation: &Generation) -> Result<(), Error> {
        let out = generation.folder.join(LABELED);
        let input = generation.folder.join(POSITIONS);
        if out.exists() {
            // The process was killed between the two steps.
            return remove(&input);
        }
        let samples = SampleFile::open(&input)?;
        let search = generation.settings.labels();
        let (reporter, stop) = (&mut self.reporter, self.stop);
        let mut report = |progress| reporter.report(progress);
        let mut context = Context { threads: generation.settings.threads, stop, on_event: &mut report };
        label(&samples, &out, &generation.best, &search, &mut context)?;
        remove(&input)
    }

    /// Trains new weights by comparison.
    fn comparison(&mut self, generation: &Generation) -> Result<(), Error> {
        let window = self.window(generation)?;
        let start = self.folder.base(self.state.best);
        self.train(generation, &window, Step::Training, start)?;
        if !generation.is_fine_tuned(&window) {
            return Ok(());
        }
        let start = generation.trained(Step::Training)?;
        self.train(generation, &window, Step::FineTuning, start)
    }

    /// Fits weights to the positions. A regression that was stopped starts again.
    fn regression(&mut self, generation: &Generation) -> Result<(), Error> {
        let out = generation.folder.join(FITTED);
        if out.exists() {
            return Ok(());
        }
        let window = self.window(generation)?;
        let (settings, threads) = (&generation.settings, generation.settings.threads);
        let fit = WindowFit::new(settings, generation.number, &window.samples, &generation.initial)?;
        if let Some(note) = fit.note() {
            self.reporter.note(note);
        }
        let (reporter, of) = (&mut self.reporter, fit.positions());
        let mut report = |event: fit::FitEvent| {
            if let Some(done) = event.done(of) {
                reporter.report(Progress { done, of: u64::from(fit.passes()) * of });
            }
        };
        let weights = fit.run(&mut Context { threads, stop: self.stop, on_event: &mut report })?;
        Ok(weights_file::save(&weights, &out)?)
    }

    /// Begins or resumes a step of a comparison training.
    fn train(&mut self, generation: &Generation, window: &SampleFile, step: Step, start: PathBuf) -> Result<(), Error> {
        let folder = generation.run(step);
        let reporter = &mut self.reporter;
        let mut on_event = |progress: TrainingProgress| {
            reporter.now.accuracy = progress.accuracy.or(reporter.now.accuracy);
            reporter.report(progress.of_all_iterations());
        };
        let mut context = Context { threads: generation.settings.threads, stop: self.stop, on_event: &mut on_event };
        let settings = generation.run_settings(window, step, start)?;
        let examples = FileExamples { file: window, start: &generation.base };
        let summary = training::train(&settings, &folder, &examples, &mut context)?;
        self.state.accuracy = reporter.now.accuracy;
        if summary.finished { Ok(()) } else { Err(Error::Stopped) }
    }

    /// Loads the positions to learn from: those of the generation and of generations before it.
    fn window(&self, generation: &Generation) -> Result<SampleFile, Error> {
        let labeled = |number| self.folder.generation(number).join(LABELED);
        let mut window = SampleFile { path: labeled(generation.number), ..SampleFile::default() };
        for number in generation.settings.window_start(generation.number)..=generation.number {
            window.append(SampleFile::open(&labeled(number))?);
        }
        Ok(window)
    }

    /// Scales the new weights.
    fn scale(&mut self, generation: &Generation) -> Result<(), Error> {
        let out = match generation.settings.tuning_pairs {
            0 => generation.folder.join(WEIGHTS),
            _ => generation.folder.join(TRAINED),
        };
        self.reporter.report(Progress { done: 0, of: 0 });
        if !out.exists() {
            let window = self.window(generation)?;
            let mut scaled = |trained: PathBuf, out: PathBuf| {
                self.save_scaled(weights_file::load(&trained)?, &out, generation, &window)
            };
            match generation.settings.method {
                Method::Regression => scaled(generation.folder.join(FITTED), out)?,
                Method::Comparison if generation.is_fine_tuned(&window) => {
                    scaled(generation.trained(Step::Training)?, generation.folder.join(BASE))?;
                    scaled(generation.trained(Step::FineTuning)?, out)?;
                }
                Method::Comparison => scaled(generation.trained(Step::Training)?, out)?,
            }
        }
        generation.tidy()
    }

    /// Fits the scale of a generation's weights and saves them.
    fn save_scaled(
        &mut self,
        mut weights: Weights,
        out: &Path,
        generation: &Generation,
        window: &SampleFile,
    ) -> Result<(), Error> {
        weights.meta.name = generation.name();
        // Games of few nodes have too few draws to fit the scale of a regression to.
        if generation.settings.method == Method::Regression {
            weights.units.win_rate = generation.base.units.win_rate;
        } else if !calibrate_by_points(&mut weights, &window.samples)? {
            self.reporter.note("the scale stays as it was: the games have no results to fit it to".to_string());
        }
        Ok(weights_file::save(&weights, out)?)
    }

    /// Tunes the new weights by games.
    fn tuning(&mut self, generation: &Generation) -> Result<(), Error> {
        let window = self.window(generation)?;
        let trained = weights_file::load(&generation.folder.join(TRAINED))?;
        let reporter = &mut self.reporter;
        let mut report = |progress| reporter.report(progress);
        let mut context = Context { threads: generation.settings.threads, stop: self.stop, on_event: &mut report };
        let tuned = tuned(generation, &trained, &window, &mut context)?;
        self.save_scaled(tuned, &generation.folder.join(WEIGHTS), generation, &window)
    }

    /// Plays the new weights against the best ones, and adopts them if they are proven stronger. Weights that the
    /// training did not change play no match.
    fn match_with_best(&mut self, generation: &Generation) -> Result<(), Error> {
        let (number, settings) = (generation.number, &generation.settings);
        let new = weights_file::load(&self.folder.weights(number))?;
        if [&generation.best, &generation.initial].iter().any(|old| new.plays_as(old)) {
            self.tick();
            return self.write_log(SelfTrainLogLine::Unchanged { generation: number, seconds: self.state.seconds });
        }
        let sprt = Some(settings.sprt().map_err(Error::Settings)?);
        let players = [(generation.name(), Arc::new(new)), (generation.best_name.clone(), generation.best.clone())];
        let played = match_of(settings, &players, settings.match_nodes, settings.match_games, sprt);
        let record = self.play(generation, MATCH, RandomStream::Match, &players, played)?;
        let adopted = proves(record.decision, &record.elo);
        if adopted {
            copy(&self.folder.weights(number), &self.folder.file(BEST))?;
            self.state.best = number;
            self.state.adopted += 1;
        }
        self.tick();
        let (seconds, accuracy) = (self.state.seconds, self.state.accuracy);
        self.write_log(SelfTrainLogLine::Generation { generation: number, seconds, accuracy, adopted, record })
    }

    /// Measures the distance of the best weights to the reference if it is unknown: at the beginning, and with a new
    /// reference. It is recorded at the end: a training that was stopped before repeats it from the games.
    fn first_distance(&mut self, generation: &Generation) -> Result<(), Error> {
        let next = std::mem::replace(&mut self.state.stage, Stage::Distance);
        self.reporter.begin(&self.state, &[Stage::Distance], self.settings.generations);
        self.state.stage = next;
        let distance = self.measure(generation, DISTANCE_BEFORE)?;
        self.record_distance(distance)?;
        self.save()
    }

    /// Measures the distance of a newly adopted generation.
    fn distance(&mut self, generation: &Generation) -> Result<(), Error> {
        if self.state.best != generation.number {
            return Ok(());
        }
        let distance = self.measure(generation, DISTANCE)?;
        let strength = if generation.settings.is_rated() {
            let best = Arc::new(weights_file::load(&self.folder.weights(generation.number))?);
            let known = (self.state.strength, strength::PAIRS);
            strength::measure(&generation.settings, &best, generation.number, known, self.stop)?
        } else {
            None
        };
        if self.stop.stopped() {
            return Err(Error::Stopped);
        }
        self.record_distance(distance)?;
        if let Some(strength) = strength {
            self.state.strength = Some(strength.elo);
            self.write_log(SelfTrainLogLine::Strength { strength, seconds: self.state.seconds })?;
        }
        Ok(())
    }

    /// Plays the best weights against the reference. An SPRT ends the games early if the best weights are far weaker.
    fn measure(&mut self, generation: &Generation, file: &str) -> Result<Distance, Error> {
        let (name, reference) = self.reference()?;
        let best = weights_file::load(&self.folder.weights(self.state.best))?;
        let (elo, games) = if best.plays_as(&reference) {
            (Estimate::default(), 0)
        } else {
            let (settings, sprt) = (&generation.settings, (self.state.playing == 0).then_some(DISTANCE_SPRT));
            let players = [(name_of(self.state.best), Arc::new(best)), (name.clone(), reference)];
            let played = match_of(settings, &players, settings.long_nodes, settings.distance_games(), sprt);
            let record = self.play(generation, file, RandomStream::Distance, &players, played)?;
            (record.elo, record.tally.games())
        };
        Ok(Distance { generation: self.state.best, reference: name, elo, games })
    }

    fn record_distance(&mut self, distance: Distance) -> Result<(), Error> {
        self.tick();
        self.state.distance = Some(distance.clone());
        self.write_log(SelfTrainLogLine::Distance { distance, seconds: self.state.seconds })
    }

    /// Plays a long match of a newly adopted generation against the weights that the engine plays with, unless it is
    /// known to be weaker than the reference. If the match proves that the generation is stronger, the engine plays
    /// with it.
    fn proof(&mut self, generation: &Generation) -> Result<(), Error> {
        let number = generation.number;
        // Without matches of distance the latest one is of an earlier generation.
        let is_weaker = |distance: &Distance| distance.generation == number && is_below(distance);
        if self.state.best != number || self.state.distance.as_ref().is_some_and(is_weaker) {
            return Ok(());
        }
        let settings = &generation.settings;
        let (name, other) = match self.state.playing {
            0 => self.reference()?,
            playing => (name_of(playing), Arc::new(weights_file::load(&self.folder.weights(playing))?)),
        };
        let weights = Arc::new(weights_file::load(&self.folder.weights(number))?);
        if weights.plays_as(&other) {
            return Ok(());
        }
        let sprt = Some(settings.long_sprt().map_err(Error::Settings)?);
        let players = [(name_of(number), weights), (name, other)];
        let played = match_of(settings, &players, settings.long_nodes, settings.long_games, sprt);
        let record = self.play(generation, PROOF, RandomStream::Proof, &players, played)?;
        let promoted = proves(record.decision, &record.elo);
        self.tick();
        if promoted {
            copy(&self.folder.weights(number), &self.folder.file(PLAYING))?;
            self.state.playing = number;
        }
        let seconds = self.state.seconds;
        self.write_log(SelfTrainLogLine::Proof { generation: number, seconds, promoted, record })
    }

    /// The reference and its name.
    fn reference(&self) -> Result<(String, Arc<Weights>), Error> {
        let weights = Arc::new(weights_file::load(&self.folder.file(REFERENCE))?);
        Ok((reference_name(&weights), weights))
    }

    /// Plays or resumes a match, whose games are in `file`.
    fn play(
        &mut self,
        generation: &Generation,
        file: &str,
        stream: RandomStream,
        [_, (_, other)]: &Players,
        played: Match,
    ) -> Result<MatchRecord, Error> {
        let openings = recipe::openings(&generation.settings, generation.seed(stream), other);
        let (mut file, games) = GameFile::open(&generation.folder.join(file))?;
        let before: Vec<_> = games.iter().filter_map(|game| game.result).collect();
        let (reporter, of) = (&mut self.reporter, 2 * played.pairs);
        reporter.report(Progress { done: before.len() as u64, of });
        let (event, date) = (format!("Dyad self-training, match of generation {}", generation.number), today());
        let record = played.play(&before, openings, self.stop, |game, standing| {
            file.write(&played.pgn(game, &event, &date))?;
            reporter.report_match(game.number + 1, of, standing);
            Ok(())
        })?;
        if record.end == MatchEnd::Stopped { Err(Error::Stopped) } else { Ok(record) }
    }

    /// Writes a line to the log, and reports it.
    fn write_log(&mut self, line: SelfTrainLogLine) -> Result<(), Error> {
        let appended = self.log.append(&line);
        appended.map_err(Error::file("write", &self.folder.file(LOG)))?;
        if !matches!(line, SelfTrainLogLine::Stage { .. }) {
            self.reporter.emit(SelfTrainEvent::Logged(line));
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), Error> {
        self.tick();
        self.state.log_bytes = self.log.sync().map_err(Error::file("write", &self.folder.file(LOG)))?;
        self.folder.save_state(&self.state)
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.state.seconds += (now - self.ticked).as_secs_f64();
        self.ticked = now;
    }
}

/// Runs `work` with a control that stops with `stop`, and at the deadline. A stage that the deadline stops keeps what
/// is done, as after any other stop.
pub(super) fn within<T>(deadline: Option<Instant>, stop: &Control, work: impl FnOnce(&Control) -> T) -> T {
    let Some(deadline) = deadline else { return work(stop) };
    let limited = &Control::new(false);
    let (running, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if stop.stopped() || Instant::now() >= deadline {
                    limited.stop();
                }
            }
        });
        let result = work(limited);
        drop(running);
        result
    })
}

/// Copies a file atomically.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let bytes = fs::read(from).map_err(Error::file("read", from))?;
    write_atomic(to, &bytes).map_err(Error::file("write", to))
}

/// The name of the reference, for the user.
fn reference_name(weights: &Weights) -> String {
    match weights.meta.name.as_str() {
        _ if weights.plays_as(&Weights::embedded()) => "the built-in weights".to_string(),
        "" => format!("the weights {}", weights.id()),
        // Each training has a generation 7.
        name => format!("the weights '{name}' ({})", weights.id()),
    }
}
