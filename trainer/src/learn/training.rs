//! The training loop: iterations of batches, reports, checkpoints, the best weights.
//!
//! A batch goes its way as described in the [room's head](crate::learn): leaves, comparison, sum in position order,
//! optimizer, weights. An iteration ends with w*, the average over it, which is saved, measured on the
//! test positions and taken as the start of the next; a training ends when that measure falls, and
//! its result is the iteration with the best. All that decides how it continues is in [`State`], between
//! any two batches, so that is where it can be stopped and saved.
//!
//! Nothing is printed: progress is handed to a callback, as data.

use crate::base::atomic::{self, clean, write_atomic};
use crate::base::json_lines::Log;
use crate::data::schedule::Order;
use crate::fit::norms::norms;
use crate::learn::average::Average;
use crate::learn::checkpoint::Checkpoint;
use crate::learn::comparison::Comparer;
use crate::learn::error::TrainError;
use crate::learn::examples::Examples;
use crate::learn::folder::{self, Folder};
use crate::learn::gradient::{Entry, GradientSum};
use crate::learn::leaves::{LeafSearch, LeafSettings, Leaves};
use crate::learn::log::{LineKind, LogLine};
use crate::learn::objective::{self, Objective};
use crate::learn::optimizer::DECAY_EVERY;
use crate::learn::origin::{DataIdentity, Origin, Selection, Start, check_data};
use crate::learn::settings::{Averaging, MachineSettings, Settings};
use crate::learn::state::{State, Tally};
use crate::learn::workers::{Answer, Task, Team, Worker, with_team};
use dyad_engine::eval::{FloatWeights, Weights, WeightsError, layout};
use dyad_engine::search::LeafSearcher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How far a training is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The iteration, from 1.
    pub iteration: u32,
    /// Of so many at most.
    pub iterations: u32,
    /// Positions of it that are done.
    pub done: u64,
    /// Of so many.
    pub of: u64,
    /// Positions per second, lately.
    pub positions_per_second: f64,
    /// The latest move-match accuracy, of a report or an iteration.
    pub accuracy: Option<f64>,
    /// A line that just went to the log.
    pub line: Option<&'a LogLine>,
}

/// What a training has from outside.
pub struct Surroundings<'a> {
    /// The positions.
    pub examples: &'a dyn Examples,
    /// Set by whoever wants it to end after the batch, with a checkpoint.
    pub stop: &'a AtomicBool,
    /// Hears of each batch.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// How a training ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whether it is over, rather than stopped on request.
    pub finished: bool,
    /// The iteration with the best move-match accuracy.
    pub best: u32,
    /// That move-match accuracy, if there are test positions.
    pub accuracy: Option<f64>,
    /// The weights file of that iteration.
    pub file: PathBuf,
}

/// Begins a training in a new folder.
///
/// # Errors
/// When settings, samples or the weights at the start cannot be used, the folder holds a run already, is in use or
/// cannot be written, or samples cannot be read on the way.
pub fn begin(settings: &Settings, folder: &Path, surroundings: Surroundings) -> Result<Summary, TrainError> {
    begin_with(settings, folder, surroundings, &LeafSearcher::new)
}

/// Resumes the training in `folder` from its last checkpoint. `change` may adjust settings that do not influence the
/// result, the number of iterations, and whether the training goes on when the move-match accuracy falls; the run keeps
/// what it says.
///
/// # Errors
/// When samples, start or other settings are not those the run was begun with, and when it cannot be resumed.
pub fn resume(
    folder: &Path,
    change: &dyn Fn(&mut Settings),
    surroundings: Surroundings,
) -> Result<Summary, TrainError> {
    resume_with(folder, change, surroundings, &LeafSearcher::new)
}

/// The settings of the run in `folder`.
///
/// # Errors
/// When there is no run in the folder, or its settings cannot be read or used.
pub fn saved_settings(folder: &Path) -> Result<Settings, TrainError> {
    let path = Folder::open(folder).map_err(|e| TrainError::File(folder.into(), e))?.settings();
    let text = atomic::read(&path).map_err(|e| TrainError::File(path.clone(), e))?;
    Settings::from_json(&text).map_err(|e| TrainError::Refused(format!("{}: {e}", path.display())))
}

/// Makes a searcher for each thread.
type MakeSearcher<'a, L> = &'a (dyn Fn(Arc<Weights>) -> L + Sync);

fn begin_with<L: LeafSearch>(
    settings: &Settings,
    folder: &Path,
    surroundings: Surroundings,
    make_searcher: MakeSearcher<L>,
) -> Result<Summary, TrainError> {
    settings.check().map_err(TrainError::Refused)?;
    let start = Start::new(settings)?;
    let selection = Selection::new(settings, surroundings.examples)?;
    let folder = Folder::create(folder).map_err(|e| TrainError::File(folder.into(), e))?;
    refuse_foreign(&folder)?;
    let _lock = folder.lock()?;
    // Another process may have begun here a moment ago.
    let folder = Folder::create(folder.path()).map_err(|e| TrainError::File(folder.path().into(), e))?;
    clean(folder.path(), folder::is_known).map_err(TrainError::Data)?;
    let origin = Origin::of(&selection, &start);
    write(&folder.data(), &serde_json::to_vec_pretty(&origin).expect("plain data"))?;
    write(&folder.settings(), &settings.to_json())?;
    let state = State::new(settings, start.floats());
    train(Plan { settings: settings.clone(), start, folder, selection, state }, surroundings, make_searcher)
}

/// Refuses a folder in which files that would be replaced belong to no run. A run that was killed while it began has
/// left nothing but what it was to be begun with.
fn refuse_foreign(folder: &Folder) -> Result<(), TrainError> {
    let data = folder.data().exists() && Origin::load(folder).is_err();
    let found = [(folder.data(), data), (folder.log(), folder.log().exists())].into_iter();
    let others = [folder.checkpoint(), folder.best(), folder.iteration(0), folder.iteration(1)];
    let mut found = found.chain(others.map(|path| (path.clone(), path.exists())));
    match found.find(|(_, foreign)| *foreign) {
        Some((path, _)) => {
            let problem = format!("{} is of no run here and would be lost; name another folder", path.display());
            Err(TrainError::Refused(problem))
        }
        None => Ok(()),
    }
}

fn resume_with<L: LeafSearch>(
    folder: &Path,
    change: &dyn Fn(&mut Settings),
    surroundings: Surroundings,
    make_searcher: MakeSearcher<L>,
) -> Result<Summary, TrainError> {
    let saved = saved_settings(folder)?;
    let mut settings = saved.clone();
    change(&mut settings);
    settings.check().map_err(TrainError::Refused)?;
    let folder = Folder::open(folder).map_err(|e| TrainError::File(folder.into(), e))?;
    let _lock = folder.lock()?;
    clean(folder.path(), folder::is_known).map_err(TrainError::Data)?;
    let start = Start::new(&settings)?;
    let selection = Selection::new(&settings, surroundings.examples)?;
    Origin::load(&folder)?.check(&Origin::of(&selection, &start))?;
    let state = match folder.checkpoint().exists() {
        true => load_state(&folder, &settings, &selection.identity)?,
        // It was stopped before there was one.
        false => State::new(&settings, start.floats()),
    };
    if settings != saved {
        write(&folder.settings(), &settings.to_json())?;
    }
    train(Plan { settings, start, folder, selection, state }, surroundings, make_searcher)
}

fn load_state(folder: &Folder, settings: &Settings, data: &DataIdentity) -> Result<State, TrainError> {
    let begun = Checkpoint::load(&folder.checkpoint()).map_err(TrainError::Checkpoint)?;
    check_data(&begun.data, data)?;
    let changed = differences(&fixed(&begun.settings), &fixed(settings));
    if !changed.is_empty() {
        let (path, changed) = (folder.settings(), changed.join(", "));
        let problem = format!("{}: the run was begun with other settings: {changed}", path.display());
        return Err(TrainError::Refused(problem));
    }
    Ok(begun.state)
}

/// Settings without those that may change when a run is resumed, and without the paths of files, of which the content is
/// compared.
fn fixed(settings: &Settings) -> Settings {
    let Settings { machine, mut iterations, keep_going, .. } = Settings::default();
    if settings.anneal {
        // The rate of each step depends on how many there are.
        iterations = settings.iterations;
    }
    Settings { machine, iterations, keep_going, samples: PathBuf::new(), start: None, ..settings.clone() }
}

/// The names of the settings that differ.
fn differences(one: &Settings, other: &Settings) -> Vec<String> {
    let [one, other] = [one, other].map(|settings| serde_json::to_value(settings).expect("settings are plain data"));
    let all = one.as_object().into_iter().flatten();
    all.filter(|(name, value)| other.get(name) != Some(value)).map(|(name, _)| name.clone()).collect()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    write_atomic(path, bytes).map_err(|e| TrainError::File(path.into(), e))
}

/// Two sets of integer weights: while one is searched with, the other can be changed, so that an
/// update costs what it changes and nothing is copied.
struct Buffers {
    current: Arc<Weights>,
    spare: Arc<Weights>,
    /// What changed between the spare weights and the current ones.
    behind: Vec<u32>,
}

impl Buffers {
    fn new(floats: &FloatWeights) -> Result<Buffers, WeightsError> {
        let weights = Weights::from_floats(floats, serde_json::Value::Null)?;
        Ok(Buffers { spare: Arc::new(weights.clone()), current: Arc::new(weights), behind: Vec::new() })
    }

    /// Takes over floats of which only those in `changes` are new.
    fn update(&mut self, floats: &FloatWeights, changes: &[Entry]) -> Result<(), WeightsError> {
        let changed: Vec<u32> = changes.iter().map(|change| change.feature).collect();
        let spare = Arc::get_mut(&mut self.spare).expect("all threads hold the current weights");
        spare.refresh(self.behind.iter().chain(&changed).map(|&feature| feature as usize), floats)?;
        std::mem::swap(&mut self.current, &mut self.spare);
        self.behind = changed;
        Ok(())
    }
}

/// All that a training is begun or resumed with.
struct Plan {
    settings: Settings,
    start: Start,
    folder: Folder,
    selection: Selection,
    state: State,
}

fn train<L: LeafSearch>(
    plan: Plan,
    surroundings: Surroundings,
    make_searcher: MakeSearcher<L>,
) -> Result<Summary, TrainError> {
    let Plan { settings, state, folder, .. } = &plan;
    let buffers = Buffers::new(&state.weights)?;
    let log = folder.open_log(state.log_bytes).map_err(|e| TrainError::File(folder.log(), e))?;
    let objective: Arc<dyn Objective> = objective::from_settings(&settings.objective).into();
    let (rates, start) = (settings.rates(), plan.start.floats());
    // Each job brings its weights; the first are only there until then, and nobody waits for them.
    let (settings, weights) = (settings.clone(), Arc::new(Weights::material()));
    let (examples, stop) = (surroundings.examples, surroundings.stop);
    let make = || Worker {
        examples,
        stop,
        leaves: Leaves::new(make_searcher(Arc::clone(&weights)), LeafSettings::from(&settings), stop),
        comparer: Comparer::new(Arc::clone(&objective), &settings),
    };
    with_team(thread_count(&settings), &make, |team| {
        let now = Instant::now();
        let sum = GradientSum::new(layout::LEN);
        Run { plan, surroundings, sum, rates, start, buffers, log, team, saved: now, ticked: now }.iterations()
    })
}

fn thread_count(settings: &Settings) -> usize {
    match settings.machine.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// A training under way.
struct Run<'a, 't, L: LeafSearch> {
    plan: Plan,
    surroundings: Surroundings<'a>,
    sum: GradientSum,
    /// Of each feature, as multiples of the optimizer's rate.
    rates: Vec<f64>,
    /// What L2 may hold the weights to.
    start: FloatWeights,
    buffers: Buffers,
    log: Log,
    team: &'t mut Team<'a, L>,
    /// When the last checkpoint was written.
    saved: Instant,
    /// Until when seconds have been counted.
    ticked: Instant,
}

impl<L: LeafSearch> Run<'_, '_, L> {
    fn iterations(mut self) -> Result<Summary, TrainError> {
        while !self.is_over() {
            if !(self.batches()? && self.end_iteration()?) {
                break;
            }
        }
        let (best, accuracy) = self.plan.state.best;
        Ok(Summary { finished: self.is_over(), best, accuracy: known(accuracy), file: self.plan.folder.best() })
    }

    fn is_over(&self) -> bool {
        let Plan { settings, state, .. } = &self.plan;
        state.fell && !settings.keep_going || state.iteration > settings.iterations
    }

    /// Goes through what is left of the iteration. False if it was stopped.
    fn batches(&mut self) -> Result<bool, TrainError> {
        let Plan { settings, selection, state, .. } = &self.plan;
        if state.iteration == 0 {
            return Ok(true);
        }
        let order = Order::shuffled(&selection.training, settings.seed, state.iteration);
        let (batch, report_every) = (settings.batch, settings.report_every);
        loop {
            if self.plan.state.report_is_due(report_every) && !self.report()? {
                self.save()?;
                return Ok(false);
            }
            let done = self.plan.state.done;
            let positions = order.slice(done as usize..done as usize + batch);
            if positions.is_empty() {
                return Ok(true);
            }
            self.batch(positions)?;
            if self.surroundings.stop.load(Ordering::Relaxed) {
                self.save()?;
                return Ok(false);
            }
            if self.saved.elapsed().as_secs() >= self.plan.settings.machine.checkpoint_seconds {
                self.save()?;
            }
        }
    }

    /// One update, formula (10); none if it was stopped.
    fn batch(&mut self, positions: &[u32]) -> Result<(), TrainError> {
        let began = Instant::now();
        let mut sum_up = |answer: &Answer| {
            if let Some(lesson) = &answer.lesson {
                self.sum.add_all(&lesson.gradient);
            }
        };
        let work = self.team.work(Task::Compare, &self.buffers.current, positions, &mut sum_up);
        let answers = work.map_err(TrainError::Samples)?;
        let mut changes = self.sum.take();
        // The workers stopped in the middle of it: it is begun again when the training is resumed.
        if self.surroundings.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Plan { settings, state, selection, .. } = &mut self.plan;
        for answer in &answers {
            state.report.count(answer);
            state.iteration_tally.count(answer);
            if answer.lesson.is_some() {
                state.positions += 1;
                state.average.pass(1);
            }
        }
        if !changes.is_empty() {
            state.updates += 1;
            state.optimizer.step(&mut changes);
            let pace = settings.pace(state.iteration, state.done as f64 / selection.training.len() as f64);
            for change in &mut changes {
                let rate = pace * self.rates[change.feature as usize];
                change.mg *= rate;
                change.eg *= rate;
            }
            state.change(&changes);
            if state.updates % DECAY_EVERY == 0 {
                let decay = state.optimizer.decay(settings, &state.weights, &self.start, pace);
                state.change(&decay);
                changes.extend(decay);
            }
            self.buffers.update(&state.weights, &changes)?;
        }
        state.done += positions.len() as u64;
        let seconds = began.elapsed().as_secs_f64();
        state.report.seconds += seconds;
        state.iteration_tally.seconds += seconds;
        self.tell(None);
        Ok(())
    }

    /// A line about the stretch of positions that ends here. False if it was stopped before it was done.
    fn report(&mut self) -> Result<bool, TrainError> {
        let averaged = self.plan.state.averaged(self.plan.settings.average);
        let weights = Arc::new(Weights::from_floats(&averaged, serde_json::Value::Null)?);
        let positions = self.plan.selection.report.clone();
        let accuracy = self.accuracy(&weights, &positions)?;
        if self.surroundings.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let tally = std::mem::take(&mut self.plan.state.report);
        let line = self.line(LineKind::Report, &tally, &weights, accuracy);
        self.append(&line)?;
        Ok(true)
    }

    /// Measures and saves w* and continues from it. False if it was stopped before it was done.
    fn end_iteration(&mut self) -> Result<bool, TrainError> {
        let averaged = self.plan.state.averaged(self.plan.settings.average);
        let weights = Arc::new(Weights::from_floats(&averaged, serde_json::Value::Null)?);
        let positions = self.plan.selection.test.clone();
        let measured = self.accuracy(&weights, &positions)?;
        if self.surroundings.stop.load(Ordering::Relaxed) {
            self.save()?;
            return Ok(false);
        }
        let iteration = self.plan.state.iteration;
        let accuracy = measured.mean;
        let value = accuracy.unwrap_or(f64::NAN);
        // Without test positions the last iteration is the best, and none falls.
        let best = value.is_nan() || self.plan.state.best.1.is_nan() || value > self.plan.state.best.1;
        let fell = value < self.plan.state.accuracy;
        self.save_weights(&averaged, accuracy, best)?;
        let tally = self.plan.state.iteration_tally;
        let mut line = self.line(LineKind::Iteration, &tally, &weights, measured);
        let file = self.plan.folder.iteration(iteration);
        line.file = file.file_name().map(|name| name.to_string_lossy().into_owned());
        line.best = best;
        self.append(&line)?;
        let Plan { settings, state, .. } = &mut self.plan;
        if best {
            state.best = (iteration, value);
        }
        state.accuracy = value;
        state.fell = fell;
        state.iteration += 1;
        state.done = 0;
        state.iteration_tally = Tally::default();
        state.report = Tally::default();
        if settings.average == Averaging::Iteration {
            state.average = Average::new(layout::LEN);
            state.weights = averaged;
            self.buffers = Buffers::new(&state.weights)?;
        }
        self.save()?;
        Ok(true)
    }

    /// The move-match accuracy on these positions; not to be used when it was stopped.
    fn accuracy(&mut self, weights: &Arc<Weights>, positions: &[u32]) -> Result<Accuracy, TrainError> {
        const AT_ONCE: usize = 200;
        let (mut sum, mut measured) = (0.0, 0);
        for positions in positions.chunks(AT_ONCE) {
            if self.surroundings.stop.load(Ordering::Relaxed) {
                break;
            }
            let answers =
                self.team.work(Task::Measure, weights, positions, &mut |_| ()).map_err(TrainError::Samples)?;
            sum += answers.iter().filter_map(|answer| answer.accuracy).sum::<f64>();
            measured += answers.iter().filter(|answer| answer.accuracy.is_some()).count() as u64;
        }
        Ok(Accuracy { mean: (measured > 0).then(|| sum / measured as f64), positions: measured })
    }

    fn save_weights(&self, floats: &FloatWeights, accuracy: Option<f64>, best: bool) -> Result<(), TrainError> {
        let Plan { settings, start, folder, selection, state } = &self.plan;
        // Names of files, not where they lie.
        let name = |path: &Path| PathBuf::from(path.file_name().unwrap_or_default());
        let (samples, started) = (name(&settings.samples), settings.start.as_deref().map(name));
        let (machine, keep_scale) = (MachineSettings::default(), settings.keep_scale);
        let settings = Settings { samples, start: started, machine, ..settings.clone() };
        let made = serde_json::json!({
            "method": "comparison training",
            "parent": start.id(),
            "settings": settings,
            "data": selection.identity,
            "iteration": state.iteration,
            "positions": state.positions,
            "updates": state.updates,
            "agreement": accuracy,
        });
        let weights = start.finish(floats, keep_scale, made)?;
        weights.save(&folder.iteration(state.iteration))?;
        if best {
            weights.save(&folder.best())?;
        }
        Ok(())
    }

    fn line(&mut self, kind: LineKind, tally: &Tally, weights: &Weights, accuracy: Accuracy) -> LogLine {
        self.tick();
        let Plan { selection, state, .. } = &self.plan;
        let mean = |sum: f64| if tally.positions == 0 { 0.0 } else { sum / tally.positions as f64 };
        LogLine {
            kind,
            iteration: state.iteration,
            done: state.done,
            of: selection.training.len() as u64,
            positions: state.positions,
            updates: state.updates,
            skipped: tally.skipped,
            over_limit: tally.over_limit,
            mean_s: mean(tally.above as f64),
            empty_s: mean(tally.empty as f64),
            loss: mean(tally.loss),
            nodes: mean(tally.nodes as f64),
            accuracy: accuracy.mean,
            accuracy_positions: accuracy.positions,
            norms: norms(&state.weights),
            material: weights.ints()[layout::MATERIAL.range()].to_vec(),
            positions_per_second: tally.positions_per_second(),
            seconds: state.seconds,
            file: None,
            best: false,
        }
    }

    fn append(&mut self, line: &LogLine) -> Result<(), TrainError> {
        self.log.append(line).map_err(|e| TrainError::File(self.plan.folder.log(), e))?;
        self.tell(Some(line));
        Ok(())
    }

    fn save(&mut self) -> Result<(), TrainError> {
        self.tick();
        let Plan { settings, folder, selection, state, .. } = &mut self.plan;
        state.log_bytes = self.log.sync().map_err(|e| TrainError::File(folder.log(), e))?;
        Checkpoint::save(&folder.checkpoint(), settings, &selection.identity, state)
            .map_err(|e| TrainError::File(folder.checkpoint(), e))?;
        self.saved = Instant::now();
        Ok(())
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.plan.state.seconds += (now - self.ticked).as_secs_f64();
        self.ticked = now;
    }

    fn tell(&mut self, line: Option<&LogLine>) {
        let Plan { settings, selection, state, .. } = &self.plan;
        (self.surroundings.progress)(&Progress {
            iteration: state.iteration,
            iterations: settings.iterations,
            done: state.done,
            of: selection.training.len() as u64,
            positions_per_second: state.iteration_tally.positions_per_second(),
            accuracy: line.and_then(|line| line.accuracy).or(known(state.accuracy)),
            line,
        });
    }
}

/// How often the desired move would be played.
#[derive(Clone, Copy)]
struct Accuracy {
    /// None where nothing was measured.
    mean: Option<f64>,
    /// On how many positions: those of the measure, less those that need too many nodes.
    positions: u64,
}

/// A measure that is not a number was not taken.
fn known(measure: f64) -> Option<f64> {
    (!measure.is_nan()).then_some(measure)
}

#[cfg(test)]
mod tests;
