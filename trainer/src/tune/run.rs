//! The tuning loop.
//!
//! A batch of trials is played from the same values. Each trial is a pair of games from its own opening with colors
//! swapped, and the results update the values in the order of the trials. So the result depends on the settings and the
//! batch size, and not on the number of threads. Signs, rounding and openings come from the seed and the number of the
//! trial. A checkpoint holds the values, and a resumed tuning ends bit for bit as an uninterrupted one; a batch that
//! was stopped is played again.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::Options;
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::files::{self, clean, write_atomic};
use dyad_formats::hash;
use dyad_formats::weights_file;
use serde::{Deserialize, Serialize};

use crate::arena::matches::points_of_first;
use crate::arena::openings::{self, FILTER_NODES, Opening, OpeningSettings, RandomOpenings};
use crate::arena::play::{Player, play};
use crate::arena::statistics::{MatchResults, Points};
use crate::base::context::{Context, Progress};
use crate::base::lock::FolderLock;
use crate::base::parallel::{check_threads, ordered_map};
use crate::tune::page;
use crate::tune::parameters::{Base, Parameter, apply, by_label, format};
use crate::tune::spsa::Trial;
use crate::tune::state::{Mean, Moment, TuningSettings, TuningState};

/// Progress of a tuning, after a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuningProgress {
    /// Pairs of games.
    pub pairs: Progress,
    /// Pairs done when the tuning was begun or resumed.
    pub resumed_at: u64,
    /// The largest change of a parameter, in its last perturbation `c_end`.
    pub largest_change: f64,
}

/// Approximate number of points of a curve.
const MOMENTS: u64 = 400;
/// Files of a run.
const SETTINGS: &str = "settings.json";
const STATE: &str = "state.json";
const PARAMETERS: &str = "parameters.txt";
const PAGE: &str = "report.html";
const WEIGHTS: &str = "weights.json";

/// The saved state. Numbers are stored as bits, since a decimal that is off in the last place would change the end.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    /// CRC-32 of the settings, and identities of the files they name.
    settings: u32,
    weights: String,
    openings: u64,
    done: u64,
    values: Vec<u64>,
    averaged: u64,
    mean: Vec<u64>,
    tally: MatchResults,
    history: Vec<(u64, Vec<u64>)>,
}

const VERSION: u32 = 2;

/// How a tuning ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningSummary {
    /// Whether all pairs were played, not stopped on request.
    pub finished: bool,
    /// The last state.
    pub state: TuningState,
}

/// A tuning with its inputs.
struct Tuning {
    settings: TuningSettings,
    folder: PathBuf,
    base: Base,
    /// Openings of a file, shuffled.
    openings: Option<Vec<Opening>>,
}

/// Starts a tuning in a new folder, with the time `checkpoint` between two checkpoints. Reports after each batch.
///
/// # Errors
/// When the settings cannot be used, the folder is not new, or a file cannot be read or written.
pub fn begin(
    settings: &TuningSettings,
    folder: &Path,
    checkpoint: Duration,
    context: &mut Context<TuningProgress>,
) -> Result<TuningSummary, Error> {
    let tuning = Tuning::new(settings.clone(), folder)?;
    fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    let _lock = FolderLock::take(folder)?;
    if is_begun(folder) {
        let problem = format!("{} holds a tuning already; resume it, or name another folder", folder.display());
        return Err(Error::Settings(problem));
    }
    if let Some(name) = [STATE, PARAMETERS, PAGE, WEIGHTS].into_iter().find(|name| folder.join(name).exists()) {
        let problem =
            format!("{} has a file {name}, which the tuning would replace: name another folder", folder.display());
        return Err(Error::Settings(problem));
    }
    let path = folder.join(SETTINGS);
    write_atomic(&path, &to_json(settings)).map_err(Error::file("write", &path))?;
    tuning.run(TuningState::new(&settings.parameters), checkpoint, context)
}

/// Resumes the tuning in `folder` from its last checkpoint.
///
/// # Errors
/// When there is no tuning, its files are damaged or changed, or it cannot be resumed.
pub fn resume(
    folder: &Path,
    checkpoint: Duration,
    context: &mut Context<TuningProgress>,
) -> Result<TuningSummary, Error> {
    let tuning = Tuning::new(settings(folder)?, folder)?;
    let _lock = FolderLock::take(folder)?;
    clean(folder, |name| [SETTINGS, STATE, PARAMETERS, PAGE, WEIGHTS].contains(&name))?;
    let state = match folder.join(STATE).exists() {
        true => tuning.load()?,
        // It was stopped before the first checkpoint.
        false => TuningState::new(&tuning.settings.parameters),
    };
    tuning.run(state, checkpoint, context)
}

/// Whether `folder` contains a tuning.
#[must_use]
pub fn is_begun(folder: &Path) -> bool {
    folder.join(SETTINGS).exists()
}

/// The settings of the tuning in `folder`.
///
/// # Errors
/// When they cannot be read.
pub fn settings(folder: &Path) -> Result<TuningSettings, Error> {
    let path = folder.join(SETTINGS);
    let text = files::read_text(&path).map_err(Error::file("read", &path))?;
    serde_json::from_slice(&text).map_err(|error| Error::content(&path, "settings", error))
}

/// Path of the weights that a finished tuning of weights writes.
#[must_use]
pub fn weights(folder: &Path) -> PathBuf {
    folder.join(WEIGHTS)
}

fn largest_change(parameters: &[Parameter], values: &[f64]) -> f64 {
    let moved = parameters.iter().zip(values);
    moved.map(|(parameter, value)| (value - parameter.value).abs() / parameter.c_end).fold(0.0, f64::max)
}

fn to_json(settings: &TuningSettings) -> Vec<u8> {
    serde_json::to_vec_pretty(settings).expect("settings are plain data")
}

impl Tuning {
    fn new(settings: TuningSettings, folder: &Path) -> Result<Tuning, Error> {
        settings.check().map_err(Error::Settings)?;
        let weights = match &settings.weights {
            None => Weights::embedded(),
            Some(path) => weights_file::named(path)?,
        };
        let base = Base::new(weights, &settings.parameters)?;
        // Check all bounds now, not after hours of games.
        for values in [|of: &Parameter| of.value, |of: &Parameter| of.min, |of: &Parameter| of.max] {
            let values: Vec<f64> = settings.parameters.iter().map(values).collect();
            apply(&settings.parameters, &values, &base)?;
        }
        let openings = match &settings.openings {
            None => None,
            Some(path) => {
                let mut list = openings::read(path, settings.plies, |_| ())?;
                openings::shuffle(&mut list, settings.seed);
                Some(list)
            }
        };
        Ok(Tuning { settings, folder: folder.to_path_buf(), base, openings })
    }

    fn run(
        &self,
        mut state: TuningState,
        checkpoint: Duration,
        context: &mut Context<TuningProgress>,
    ) -> Result<TuningSummary, Error> {
        check_threads("threads", context.threads).map_err(Error::Settings)?;
        let TuningSettings { parameters, schedule, seed, .. } = &self.settings;
        let (mut saved, resumed_at) = (Instant::now(), state.done);
        while state.done < schedule.pairs {
            let numbers = state.done + 1..=(state.done + self.settings.batch).min(schedule.pairs);
            let trials: Vec<Trial> =
                numbers.map(|number| Trial::new(parameters, &state.values, schedule, *seed, number)).collect();
            let Some(results) = self.play_batch(&trials, context.threads, context.stop)? else {
                self.save(&state)?;
                return Ok(TuningSummary { finished: false, state });
            };
            for (trial, pair) in trials.iter().zip(results) {
                let points: f64 = pair.iter().map(|points| points.halves() as f64 - 1.0).sum();
                trial.update(parameters, &mut state.values, points);
                if self.settings.is_averaged(trial.number) {
                    state.mean.add(&state.values);
                }
                state.tally.add(pair);
            }
            let before = state.done;
            state.done += trials.len() as u64;
            let every = schedule.pairs.div_ceil(MOMENTS);
            if state.done / every > before / every || state.done == schedule.pairs {
                state.history.push(Moment { done: state.done, values: state.values.clone() });
            }
            (context.on_event)(TuningProgress {
                pairs: Progress { done: state.done, of: schedule.pairs },
                resumed_at,
                largest_change: largest_change(parameters, &state.values),
            });
            if saved.elapsed() >= checkpoint {
                self.save(&state)?;
                saved = Instant::now();
            }
        }
        self.save(&state)?;
        self.write_weights(&state)?;
        Ok(TuningSummary { finished: true, state })
    }

    /// The results of the trials, from the view of the first player; `None` if stopped.
    fn play_batch(
        &self,
        trials: &[Trial],
        threads: usize,
        control: &Control,
    ) -> Result<Option<Vec<[Points; 2]>>, Error> {
        let mut results = Vec::new();
        let stopped = ordered_map(
            threads.min(trials.len()),
            trials.iter(),
            || Worker::new(self),
            |seats, trial| seats.play(trial, control),
            |pair| {
                results.extend(pair);
                Ok(if pair.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            },
            &AtomicBool::new(false),
        )?;
        Ok(stopped.is_none().then_some(results))
    }

    /// The opening of a trial.
    fn opening(&self, number: u64, filter: &mut dyn FnMut(&Game) -> Value) -> Opening {
        match &self.openings {
            Some(list) => list[((number - 1) % list.len() as u64) as usize].clone(),
            None => {
                let opening_settings = OpeningSettings::new(hash::fold(hash::mix(self.settings.seed), number));
                let openings = RandomOpenings::new(opening_settings, filter);
                let mut openings = openings.with_policy(self.settings.policy_openings, Arc::clone(&self.base.weights));
                openings.next().expect("random openings have no end")
            }
        }
    }

    /// Identities of the settings and the files that they name.
    fn identity(&self) -> (u32, String, u64) {
        let openings = self.openings.iter().flatten();
        let openings = openings.fold(0, |sum, opening| hash::fold(sum, opening.board().key()));
        (crc32fast::hash(&to_json(&self.settings)), self.base.id(), openings)
    }

    fn save(&self, state: &TuningState) -> Result<(), Error> {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let (settings, weights, openings) = self.identity();
        let written = Written {
            version: VERSION,
            settings,
            weights,
            openings,
            done: state.done,
            values: bits(&state.values),
            averaged: state.mean.count,
            mean: bits(&state.mean.values),
            tally: state.tally,
            history: state.history.iter().map(|moment| (moment.done, bits(&moment.values))).collect(),
        };
        let mut text = serde_json::to_vec(&written).expect("a state is plain data");
        text.extend(format!("\n{:08x}\n", crc32fast::hash(&text)).bytes());
        let parameters = format(&self.settings.parameters, state.result());
        let page = page::of(&self.settings, state);
        for (name, bytes) in [(PARAMETERS, parameters.as_bytes()), (PAGE, page.as_bytes()), (STATE, &text)] {
            let path = self.folder.join(name);
            write_atomic(&path, bytes).map_err(Error::file("write", &path))?;
        }
        Ok(())
    }

    fn load(&self) -> Result<TuningState, Error> {
        let path = self.folder.join(STATE);
        let text = files::read_text(&path).map_err(Error::file("read", &path))?;
        let refused = |problem: &str| Error::content(&path, "state", problem);
        let text = String::from_utf8(text).map_err(|error| refused(&error.to_string()))?;
        let (body, checksum) = text.trim_end().rsplit_once('\n').ok_or_else(|| refused("it is not whole"))?;
        if format!("{:08x}", crc32fast::hash(body.as_bytes())) != checksum {
            return Err(refused("its checksum is wrong"));
        }
        let written: Written = serde_json::from_str(body).map_err(|error| refused(&error.to_string()))?;
        if written.version != VERSION {
            return Err(refused(&format!("it has version {}, not {VERSION}", written.version)));
        }
        let (settings, weights, openings) = self.identity();
        for (same, what) in [
            (written.settings == settings, "other settings"),
            (written.weights == weights, "other weights"),
            (written.openings == openings, "other openings"),
        ] {
            if !same {
                return Err(refused(&format!("the tuning was begun with {what}")));
            }
        }
        let values = |bits: &[u64]| bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<_>>();
        let history = written.history.iter().map(|(done, bits)| Moment { done: *done, values: values(bits) }).collect();
        Ok(TuningState {
            done: written.done,
            values: values(&written.values),
            mean: Mean { count: written.averaged, values: values(&written.mean) },
            tally: written.tally,
            history,
        })
    }

    /// Writes the tuned weights, if weights are tuned.
    fn write_weights(&self, state: &TuningState) -> Result<(), Error> {
        let parameters = &self.settings.parameters;
        let (_, weights) = apply(parameters, state.result(), &self.base)?;
        let Some(mut weights) = weights else { return Ok(()) };
        let tuned = by_label(parameters, state.result());
        weights.meta.provenance = serde_json::json!({ "by": "dyad spsa", "of": self.base.id(), "tuned": tuned });
        let path = self::weights(&self.folder);
        Ok(weights_file::save(&weights, &path)?)
    }
}

/// The players and the opening filter of one thread.
struct Worker<'a> {
    tuning: &'a Tuning,
    players: [Player<Engine>; 2],
    filter: Box<dyn FnMut(&Game) -> Value>,
}

impl<'a> Worker<'a> {
    fn new(tuning: &'a Tuning) -> Result<Worker<'a>, Error> {
        let TuningSettings { hash, budget, .. } = tuning.settings;
        let player = || -> Result<Player<Engine>, Error> {
            let engine = Engine::with_hash(Arc::clone(&tuning.base.weights), hash)?;
            Ok(Player { engine, options: Options::default(), budget })
        };
        let filter = Box::new(openings::opening_filter(Weights::embedded(), FILTER_NODES));
        Ok(Worker { tuning, players: [player()?, player()?], filter })
    }

    /// Plays the two games of a trial; `None` if stopped.
    fn play(&mut self, trial: &Trial, control: &Control) -> Result<Option<[Points; 2]>, Error> {
        let Worker { tuning, players, filter } = self;
        for (player, values) in players.iter_mut().zip(&trial.players) {
            let (params, weights) = apply(&tuning.settings.parameters, values, &tuning.base)?;
            player.options.params = params;
            if let Some(weights) = weights {
                player.engine.set_weights(Arc::new(weights));
            }
        }
        let opening = tuning.opening(trial.number, filter);
        let mut pair = [Points::Draw; 2];
        for (number, points) in (0..).zip(&mut pair) {
            let [first, second] = &mut *players;
            let seats = if number == 0 { [first, second] } else { [second, first] };
            let Some(game) = play(&opening, seats, &tuning.settings.adjudication, None, control, &|| false) else {
                return Ok(None);
            };
            *points = points_of_first(game.result, number);
        }
        Ok(Some(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::play::{Adjudication, SearchLimits};
    use crate::tune::parameters::parse;
    use crate::tune::spsa::Schedule;
    use dyad_formats::testing::Temporary;

    fn small() -> TuningSettings {
        let lines = [
            "rfp_factor, int, 139, 60, 260, 60, 0.2",
            "qs_futility, int, 233, 80, 600, 120, 0.2",
            "factor:material, float, 1, 0.1, 2, 0.9, 0.2",
        ];
        TuningSettings {
            parameters: parse(&lines.join("\n")).unwrap(),
            schedule: Schedule { pairs: 7, ..Schedule::default() },
            batch: 3,
            budget: SearchLimits::Nodes(100),
            hash: 1,
            policy_openings: 0.5,
            adjudication: Adjudication { plies: Some(200), ..Adjudication::default() },
            ..TuningSettings::default()
        }
    }

    /// Begins or resumes a tuning that saves a checkpoint after each batch.
    fn run_on(
        threads: usize,
        settings: Option<&TuningSettings>,
        folder: &Path,
        stop: &Control,
        on_event: &mut dyn FnMut(TuningProgress),
    ) -> Result<TuningSummary, Error> {
        let mut context = Context { threads, stop, on_event };
        match settings {
            Some(settings) => begin(settings, folder, Duration::ZERO, &mut context),
            None => resume(folder, Duration::ZERO, &mut context),
        }
    }

    fn begin_small(settings: &TuningSettings, folder: &Path) -> Result<TuningSummary, Error> {
        run_on(1, Some(settings), folder, &Control::new(false), &mut |_| ())
    }

    fn resume_small(folder: &Path) -> Result<TuningSummary, Error> {
        run_on(1, None, folder, &Control::new(false), &mut |_| ())
    }

    fn file(folder: &Path, name: &str) -> Vec<u8> {
        fs::read(folder.join(name)).unwrap()
    }

    #[test]
    fn two_processes_never_tune_in_one_folder() {
        let folder = Temporary::new();
        begin_small(&small(), &folder).unwrap();
        let held = FolderLock::take(&folder).unwrap();
        let before = file(&folder, STATE);
        let error = resume_small(&folder).unwrap_err();
        assert!(error.to_string().contains(" is in use: process "), "{error}");
        drop(held);
        assert!(resume_small(&folder).unwrap().finished);
        assert_eq!(file(&folder, STATE), before);
    }

    #[test]
    fn the_result_does_not_depend_on_threads_or_stops() {
        let settings = small();
        let (whole, parts) = (Temporary::new(), Temporary::new());
        let mut batches = 0;
        let summary = run_on(1, Some(&settings), &whole, &Control::new(false), &mut |_| batches += 1).unwrap();
        assert!(summary.finished && batches == 3 && summary.state.done == 7);
        assert_eq!(summary.state.tally.pairs(), 7);
        let start: Vec<f64> = settings.parameters.iter().map(|parameter| parameter.value).collect();
        assert!(summary.state.values != start, "the games changed nothing");
        // Two threads, and a stop after each batch.
        let mut parts_run = 0;
        let last = loop {
            let control = Control::new(false);
            let settings = (parts_run == 0).then_some(&settings);
            let summary = run_on(2, settings, &parts, &control, &mut |_| control.stop());
            parts_run += 1;
            let summary = summary.unwrap();
            if summary.finished {
                break summary;
            }
        };
        assert_eq!(parts_run, 3);
        assert_eq!(last, summary);
        assert_eq!((summary.state.mean.count, settings.average), (4, 0.5));
        assert_ne!(summary.state.result(), summary.state.values);
        for name in [STATE, PARAMETERS, PAGE, WEIGHTS] {
            assert!(file(&whole, name) == file(&parts, name), "{name}");
        }
        // A finished tuning stays finished.
        let again = run_on(1, None, &parts, &Control::new(false), &mut |_| panic!("a game too many")).unwrap();
        assert_eq!(again, summary);
    }

    #[test]
    fn openings_are_sampled_from_the_policy_if_asked_for() {
        let made = |policy_openings| -> Vec<Opening> {
            let tuning = Tuning::new(TuningSettings { policy_openings, ..small() }, Path::new("/nowhere")).unwrap();
            let mut filter = openings::opening_filter(Weights::embedded(), FILTER_NODES);
            (1..=12).map(|number| tuning.opening(number, &mut filter)).collect()
        };
        let [random, half, policy] = [0.0, 0.5, 1.0].map(made);
        assert!(random.iter().zip(&policy).all(|(one, other)| one != other));
        assert!(half == made(0.5) && half != random && half != policy);
    }

    #[test]
    fn changed_or_damaged_files_are_refused() {
        let folder = Temporary::new();
        let settings = TuningSettings { schedule: Schedule { pairs: 1, ..Schedule::default() }, ..small() };
        begin_small(&settings, &folder).unwrap();
        let again = begin_small(&settings, &folder);
        assert!(again.unwrap_err().to_string().contains("holds a tuning already"));
        let refused = || resume_small(&folder).unwrap_err().to_string();
        let state = file(&folder, STATE);
        let mut damaged = state.clone();
        damaged[20] ^= 1;
        for (bytes, problem) in [(&damaged[..], "checksum"), (&state[..30], "not whole"), (b"{}\n", "not whole")] {
            fs::write(folder.join(STATE), bytes).unwrap();
            let error = refused();
            assert!(error.contains(problem), "{error}");
        }
        fs::write(folder.join(STATE), &state).unwrap();
        fs::write(folder.join(SETTINGS), to_json(&TuningSettings { seed: 2, ..settings })).unwrap();
        assert!(refused().contains("other settings"));
    }

    #[test]
    fn invalid_settings_are_refused() {
        let schedule = |pairs| Schedule { pairs, ..Schedule::default() };
        for (wrong, problem) in [
            (TuningSettings { parameters: Vec::new(), ..small() }, "no parameters"),
            (TuningSettings { batch: 0, ..small() }, "batch must be"),
            (TuningSettings { hash: 0, ..small() }, "hash must be"),
            (TuningSettings { average: 1.1, ..small() }, "average must be"),
            (TuningSettings { policy_openings: -0.1, ..small() }, "policy-openings must be"),
            (TuningSettings { schedule: schedule(0), ..small() }, "pairs must be"),
            (TuningSettings { schedule: Schedule { alpha: f64::NAN, ..schedule(5) }, ..small() }, "alpha must be"),
        ] {
            let error = wrong.check().unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        let empty =
            TuningSettings { parameters: parse("factor:material, float, 1, 0, 2, 0.9, 0.2").unwrap(), ..small() };
        let refused = begin_small(&empty, Path::new("/nowhere"));
        assert!(refused.unwrap_err().to_string().contains("sum to 0"));
        let settings = small();
        let text = String::from_utf8(to_json(&settings)).unwrap();
        assert_eq!(serde_json::from_str::<TuningSettings>(&text).unwrap(), settings);
    }
}
