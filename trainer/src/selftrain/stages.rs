//! The loop: one stage after the other, one generation after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dyad_engine::eval::layout::PAIRS;
use dyad_engine::eval::{FloatWeights, Weights};
use serde_json::json;

use super::error::SelfTrainError;
use super::event::{Event, Stage, Summary, Surroundings};
use super::folder::{Folder, State, remove};
use super::generation::{Draw, Generation, Step, name_of};
use super::generator::{GeneratorSettings, Played, generate};
use super::progress::Teller;
use super::self_play::{ADJUDICATION, FILTER_NODES, GameFile, HASH, SelfPlay};
use super::settings::{FitSettings, Settings, Source, knows_more_than_pieces};
use super::tuning::tuned;
use super::window::Window;
use crate::arena::matches::{Match, MatchEnd, MatchPlayer, MatchRecord};
use crate::arena::openings::{OpeningSettings, RandomOpenings, opening_filter};
use crate::arena::pgn_writer::today;
use crate::arena::play::{Adjudication, SearchLimits, WinRule};
use crate::arena::statistics::{Decision, Sprt};
use crate::base::atomic::write_atomic;
use crate::base::error::Error;
use crate::base::json_lines::Log;
use crate::base::parallel::controlled;
use crate::data::label::{self, OwnEngine, label};
use crate::data::leaves::at_leaves;
use crate::data::positions::Filters;
use crate::data::prepare::{self, prepare};
use crate::data::samples::SampleFile;
use crate::data::score::ScoreSide;
use crate::fit::calibration::{calibrate_by_points, pawn, pawns_of_e, scale_like};
use crate::fit::regression::{self, Data, Target};
use crate::learn::folder::Folder as RunFolder;
use crate::learn::settings::Settings as RunSettings;
use crate::learn::training;

/// Steps in a pass of a fit, where there are positions enough: the first generations have few.
const FEWEST_STEPS: usize = 32;
/// Positions of a step at least.
const SMALLEST_BATCH: usize = 256;

/// When games of matches end early. What is five pawns ahead in the eyes of both sides wins nearly always, but how often it does is
/// part of what a match is to tell: with that for a limit weights seemed 17 Elo stronger than with this (L24).
const MATCH_ADJUDICATION: Adjudication = Adjudication { win: Some(WinRule { moves: 4, score: 1_000 }), ..ADJUDICATION };

/// A self-training under way.
pub(super) struct Loop<'a> {
    folder: Folder,
    /// For the generations to come.
    settings: Settings,
    state: State,
    log: Log,
    stop: &'a AtomicBool,
    teller: Teller<'a>,
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
        let (teller, now) = (Teller::new(surroundings.report), Instant::now());
        Ok(Loop { folder, settings, state, log, stop: surroundings.stop, teller, ticked: now })
    }

    /// Works on to the last generation, or until it is stopped.
    pub fn run(mut self) -> Result<Summary, SelfTrainError> {
        self.folder.clean()?;
        while !self.state.is_over(&self.settings) {
            let generation = Generation::open(&self.folder, &self.settings, &mut self.state)?;
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
            self.teller.begin(&self.state, &self.settings);
            let done = match self.state.stage {
                Stage::Games => self.games(generation)?,
                Stage::Positions => self.positions(generation)?,
                Stage::Labels => self.labels(generation)?,
                Stage::Training => self.training(generation)?,
                Stage::Scale => self.scale(generation)?,
                Stage::Tuning => self.tuning(generation)?,
                Stage::Match => self.match_with_best(generation)?,
                Stage::Anchor => self.anchor(generation)?,
            };
            if !done {
                return Ok(false);
            }
            let stage = self.state.stage;
            let seconds = self.teller.begun.elapsed().as_secs_f64();
            self.write_log(&json!({ "stage": stage, "of": generation.number, "took": seconds }))?;
            self.state.stage = match stage {
                Stage::Games => Stage::Positions,
                Stage::Positions => Stage::Labels,
                Stage::Labels => Stage::Training,
                Stage::Training => Stage::Scale,
                Stage::Scale => Stage::Tuning,
                Stage::Tuning => Stage::Match,
                Stage::Match => Stage::Anchor,
                Stage::Anchor => Stage::Games,
            };
            if stage == Stage::Anchor {
                self.state.generation += 1;
                // It was that of the generation which is over.
                self.state.accuracy = None;
            }
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
        if settings.fit.is_some() {
            return self.unbalanced_games(generation);
        }
        let event = format!("Dyad self-training, generation {}", generation.number);
        let plan = SelfPlay {
            weights: generation.best.clone(),
            name: &generation.best_name,
            event: &event,
            nodes: settings.nodes,
            variant: settings.variant,
            seed: generation.seed(Draw::Games),
            threads: settings.threads,
            positions: settings.positions,
            positions_per_game: settings.positions_per_game,
        };
        let (teller, path) = (&mut self.teller, generation.folder.games());
        let done =
            controlled(self.stop, |control| plan.run(&path, control, |done| teller.tell(done, settings.positions)))?;
        if done {
            let synced = fs::File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(SelfTrainError::file("write", &path))?;
        }
        Ok(done)
    }

    /// Games that begin anywhere, with either side ahead: their positions show what exchanges decide.
    fn unbalanced_games(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let settings = &generation.settings;
        let per_game = settings.positions_per_game as u64;
        let plan = GeneratorSettings {
            games: settings.positions.div_ceil(per_game),
            nodes: settings.nodes_of(generation.number),
            variant: settings.variant,
            natural: settings.natural,
            seed: generation.seed(Draw::Games),
            ..GeneratorSettings::default()
        };
        let (teller, path) = (&mut self.teller, generation.folder.games());
        let mut report =
            |played: Played| teller.tell(settings.positions.min(played.games * per_game), settings.positions);
        let done = controlled(self.stop, |control| {
            generate(&plan, &generation.best, &[], &path, settings.threads, control, &mut report)
        })?;
        Ok(done)
    }

    /// Positions drawn from the games.
    fn positions(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let settings = &generation.settings;
        let out = generation.folder.positions();
        if out.exists() {
            return Ok(true);
        }
        let (games, scores) = match &settings.source {
            Source::SelfPlay => (generation.folder.games(), Some(ScoreSide::Mover)),
            Source::Games(path) => (path.clone(), settings.scores),
        };
        let filters = match settings.fit {
            Some(fit) if fit.leaves => Filters::with_scores(),
            Some(_) => Filters::still_with_scores(),
            None => Filters { no_checks: true, ..Filters::default() },
        };
        let draw = prepare::Settings {
            inputs: vec![games],
            scores,
            filters: Filters { per_game: Some(settings.positions_per_game), ..filters },
            count: Some(settings.positions),
            seed: generation.seed(Draw::Positions),
            ..prepare::Settings::default()
        };
        let (teller, mut broken) = (&mut self.teller, 0);
        let mut report = |event: prepare::Event| match event {
            prepare::Event::Broken(_) => broken += 1,
            prepare::Event::Progress { positions, .. } => teller.tell(positions, 0),
        };
        let mut job = prepare::Job { threads: settings.threads, stop: self.stop, report: &mut report };
        let Some((summary, _)) = unless_stopped(prepare(&draw, &out, &mut job))? else { return Ok(false) };
        if broken > 0 {
            self.teller.note(format!("{broken} games could not be read and were left out"));
        }
        match summary.count - summary.tests {
            0 => {
                remove(&out)?;
                Err(SelfTrainError::Settings(format!("there is no position to learn from in {} games", summary.games)))
            }
            _ => Ok(true),
        }
    }

    /// The desired moves.
    fn labels(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let settings = &generation.settings;
        let out = generation.folder.labeled();
        let input = generation.folder.positions();
        if out.exists() {
            // As after a kill between the two.
            remove(&input)?;
            return Ok(true);
        }
        if settings.source != Source::SelfPlay || settings.fit.is_some() {
            fs::rename(&input, &out).map_err(SelfTrainError::file("rename", &input))?;
            return Ok(true);
        }
        let samples = SampleFile::open(&input)?;
        let search = settings.labels();
        let by = format!("dyad with {} {}", generation.best.meta.name, generation.best.id());
        let (teller, stop) = (&mut self.teller, self.stop);
        let labeled = controlled(stop, |control| {
            let make = || OwnEngine::new(generation.best.clone(), &search, control);
            let mut report = |done: usize, of: usize| teller.tell(done as u64, of as u64);
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
        if let Some(fit) = &generation.settings.fit {
            return self.fit(generation, fit, &window);
        }
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

    /// Fits weights to the positions, anew in each generation: those that played the games agree with their own searches too well
    /// to learn from them. It begins with those at the start, or with the pieces alone where these know more. From the beginning
    /// again if it was stopped.
    fn fit(&mut self, generation: &Generation, fit: &FitSettings, window: &Window) -> Result<bool, SelfTrainError> {
        let out = generation.folder.fitted();
        if out.exists() {
            return Ok(true);
        }
        let (number, threads) = (generation.number, generation.settings.threads);
        let led;
        let all = if fit.leaves {
            let leaves = at_leaves(window.samples(), &generation.best, threads, self.stop);
            let Some(leaves) = unless_stopped(leaves)? else { return Ok(false) };
            led = leaves;
            &led
        } else {
            window.samples()
        };
        let target = Target { result_share: fit.result_share, pawns: pawns_of_e(all)? };
        let (data, usual) = (Data::of(all, &target)?, regression::Settings::default());
        let mut settings = regression::Settings {
            target,
            epochs: fit.passes,
            // To the end, where its steps are small.
            patience: fit.passes,
            batch: (data.train.len() / FEWEST_STEPS).clamp(SMALLEST_BATCH, usual.batch),
            seed: generation.seed(Draw::Training),
            ..usual
        };
        settings.set_group(PAIRS.name, |group| group.l2 = fit.pairs);
        let (teller, of) = (&mut self.teller, data.train.len() as u64);
        let mut report = |event: regression::Event| {
            if let Some(done) = event.done(of) {
                teller.tell(done, u64::from(fit.passes) * of);
            }
        };
        let knows_more = knows_more_than_pieces(&generation.oldest);
        let start = if knows_more { Weights::material() } else { Weights::clone(&generation.oldest) };
        let fitted = regression::fit(&settings, &data, &FloatWeights::from(&start), threads, self.stop, &mut report);
        let Some(fitted) = unless_stopped(fitted)?.filter(|fitted| !fitted.stopped) else { return Ok(false) };
        let made = json!({
            "by": "dyad selftrain",
            "generation": number,
            "positions": of,
            "settings": settings,
            "loss": [fitted.start_loss, fitted.test_loss()],
            "of": start.id(),
        });
        let mut weights = Weights::from_floats(&fitted.weights, made)?;
        if knows_more {
            scale_like(&mut weights, &generation.best, &data.train, target.pawns)?;
        } else {
            // All sets are scaled to the same worth of the pieces. What a value is worth beside that stays with them: fitted to
            // the scores of searches with the weights themselves, it could grow from one generation to the next.
            weights.units = start.units;
        }
        weights.save(&out)?;
        Ok(true)
    }

    /// Begins a step or resumes it. False if it was stopped.
    fn train(
        &mut self,
        generation: &Generation,
        window: &Window,
        step: Step,
        start: PathBuf,
    ) -> Result<bool, SelfTrainError> {
        let folder = generation.run(step);
        let teller = &mut self.teller;
        let mut progress = |progress: &training::Progress| {
            let past = u64::from(progress.iteration.saturating_sub(1)) * progress.of;
            teller.accuracy = progress.accuracy.or(teller.accuracy);
            teller.tell(past + progress.done, u64::from(progress.iterations) * progress.of);
        };
        let surroundings = training::TrainContext { examples: window, stop: self.stop, progress: &mut progress };
        let summary = if RunFolder::holds_run(&folder) {
            let threads = |saved: &mut RunSettings| saved.machine.threads = generation.settings.threads;
            training::resume(&folder, &threads, surroundings)?
        } else {
            training::begin(&generation.training_settings(window, step, start)?, &folder, surroundings)?
        };
        self.state.accuracy = teller.accuracy;
        Ok(summary.finished)
    }

    /// The positions to learn from.
    fn window(&self, generation: &Generation) -> Result<Window, SelfTrainError> {
        let first = generation.settings.first_of(generation.number);
        let files: Vec<PathBuf> =
            (first..=generation.number).map(|number| self.folder.generation(number).labeled()).collect();
        Ok(Window::load(&files, pawn(&generation.base) / 100.0)?)
    }

    /// What the values of the new weights mean.
    fn scale(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let out = match generation.tuning_pairs {
            0 => generation.folder.weights(),
            _ => generation.folder.trained(),
        };
        self.teller.tell_stage();
        if !out.exists() {
            let window = self.window(generation)?;
            let mut scaled = |step, out: PathBuf| {
                let trained = Weights::load(&generation.trained(step)?)?;
                let weights = generation.part_of_the_way(trained, window.learned())?;
                self.save_scaled(weights, &out, generation, &window)
            };
            if generation.is_refined(&window) {
                scaled(Step::Training, generation.folder.base())?;
                scaled(Step::Refinement, out)?;
            } else {
                scaled(Step::Training, out)?;
            }
        }
        generation.tidy()?;
        Ok(true)
    }

    /// Fits the scale of a generation's weights and saves them.
    fn save_scaled(
        &mut self,
        mut weights: Weights,
        out: &Path,
        generation: &Generation,
        window: &Window,
    ) -> Result<(), SelfTrainError> {
        weights.meta.name = generation.name();
        if generation.settings.keep_scale {
            weights.units.win_rate = generation.base.units.win_rate;
        } else if !calibrate_by_points(&mut weights, window.samples().iter())? {
            self.teller.note("the results say nothing of the scale: it stays as it was".to_string());
        }
        Ok(weights.save(out)?)
    }

    /// How far the new weights go, where games say it.
    fn tuning(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let out = generation.folder.weights();
        if out.exists() {
            return Ok(true);
        }
        let (file, weights) = match generation.settings.fit {
            Some(_) => (self.folder.weights(0), &generation.oldest),
            None => (self.folder.weights(self.state.best), &generation.best),
        };
        // The weights at the start may be those of another training, whose share says nothing here.
        let before = (generation.number > 1).then(|| self.folder.weights(generation.number - 1));
        let window = self.window(generation)?;
        let (teller, stop) = (&mut self.teller, self.stop);
        let tuned = controlled(stop, |control| {
            let mut progress = |done, of| teller.tell(done, of);
            tuned(generation, (&file, weights), before.as_deref(), &window, control, &mut progress)
        })?;
        let Some(weights) = tuned else { return Ok(false) };
        self.save_scaled(weights, &out, generation, &window)?;
        Ok(true)
    }

    /// Whether the new weights are stronger.
    fn match_with_best(&mut self, generation: &Generation) -> Result<bool, SelfTrainError> {
        let new = Weights::load(&self.folder.weights(generation.number))?;
        let sprt = generation.settings.sprt().map_err(SelfTrainError::Settings)?;
        let best = (generation.best_name.as_str(), generation.best.clone());
        let Some(record) = self.play(generation, (&generation.name(), Arc::new(new)), best, Some(sprt))? else {
            return Ok(false);
        };
        let number = generation.number;
        self.teller.say(Event::Match { generation: number, anchor: false, record: record.clone() });
        let adopted = has_won(&record);
        if adopted {
            let new = self.folder.weights(number);
            let bytes = fs::read(&new).map_err(SelfTrainError::file("read", &new))?;
            let path = self.folder.best();
            write_atomic(&path, &bytes).map_err(SelfTrainError::file("write", &path))?;
            self.state.best = number;
            self.state.adopted += 1;
            self.teller.say(Event::Adopted { generation: number, path, record: record.clone() });
        } else {
            self.teller.say(Event::Rejected { generation: number, record: record.clone() });
        }
        self.tick();
        self.write_log(&json!({
            "generation": number,
            "seconds": self.state.seconds,
            "agreement": self.state.accuracy,
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
        let oldest = generation.oldest.clone();
        let name = name_of(self.state.best);
        let Some(record) = self.play(generation, (&name, Arc::new(best)), ("start", oldest), None)? else {
            return Ok(false);
        };
        self.write_log(&json!({ "anchor": generation.number, "seconds": self.state.seconds, "match": record }))?;
        self.teller.say(Event::Match { generation: generation.number, anchor: true, record });
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
        let (path, draw) = match sprt {
            Some(_) => (generation.folder.match_games(), Draw::Match),
            None => (generation.folder.anchor_games(), Draw::Anchor),
        };
        let budget = SearchLimits::Nodes(settings.match_nodes);
        let contestant = |name: &str, weights| MatchPlayer { hash: HASH, ..MatchPlayer::new(name, weights, budget) };
        let recipe = OpeningSettings { variant: settings.variant, ..OpeningSettings::new(generation.seed(draw)) };
        let openings = RandomOpenings::new(recipe, opening_filter(other.clone(), FILTER_NODES))
            .with_policy(settings.natural, other.clone());
        let played = Match {
            players: [contestant(name, weights), contestant(other_name, other)],
            pairs: settings.match_games.div_ceil(2),
            threads: settings.threads,
            adjudication: MATCH_ADJUDICATION,
            tables: None,
            sprt,
        };
        let mut file = GameFile::open(&path)?;
        let before: Vec<_> = file.games.iter().filter_map(|game| game.result).collect();
        let (teller, of) = (&mut self.teller, 2 * played.pairs);
        teller.tell(before.len() as u64, of);
        let (event, date) = (format!("Dyad self-training, match of generation {}", generation.number), today());
        let record = controlled(self.stop, |control| {
            played.resume(&before, openings, control, |game, standing| {
                file.write(&played.pgn(game, &event, &date), &path)?;
                teller.tell_match(game.number + 1, of, standing);
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

/// The result of a job; nothing if it was stopped.
fn unless_stopped<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Err(Error::Stopped) => Ok(None),
        other => other.map(Some),
    }
}
