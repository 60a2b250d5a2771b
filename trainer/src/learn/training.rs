//! The training loop: iterations of batches, reports, checkpoints, the best weights.
//!
//! A batch is processed as described in [`learn`](crate::learn): leaves, comparison, sum in position order, optimizer,
//! weights. An iteration ends with w*, the average over it, which is saved, measured on the test positions and the
//! start of the next iteration. A training ends when that accuracy falls, and its result is the iteration with the best
//! accuracy. [`TrainingState`] holds everything that decides how a training continues, so it can be stopped and saved
//! between any two batches.
//!
//! Nothing is printed: progress is reported to a callback, as data.

use crate::base::context::{Context, Progress};
use crate::base::json_lines::Log;
use crate::base::lock::FolderLock;
use crate::data::schedule::shuffled;
use crate::fit::calibration::expectation_scale;
use crate::learn::average::Average;
use crate::learn::checkpoint::Checkpoint;
use crate::learn::comparison::Comparer;
use crate::learn::examples::Examples;
use crate::learn::folder::{BEST, CHECKPOINT, LOG, SETTINGS, holds_run, is_known, iteration_name};
use crate::learn::leaves::{Leaves, NODE_LIMIT};
use crate::learn::log::{LineKind, LogLine};
use crate::learn::objective::Objective;
use crate::learn::optimizer::DECAY_EVERY;
use crate::learn::origin::{DataIdentity, Selection};
use crate::learn::settings::{Averaging, TrainingSettings};
use crate::learn::state::{Counters, TrainingState};
use crate::learn::update::{UpdateEntry, UpdateSum};
use crate::learn::workers::{Task, Worker, Workers};
use dyad_engine::eval::{FloatWeights, Weights, WeightsError, layout};
use dyad_formats::error::Error;
use dyad_formats::files::{clean, read_json, write_json};
use dyad_formats::weights_file;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two checkpoints.
pub(crate) const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);
/// Reports of an iteration.
const REPORTS: u64 = 4;

/// Progress of a training, after a batch.
#[derive(Clone, Debug)]
pub struct TrainingProgress {
    /// The iteration, from 1.
    pub iteration: u32,
    /// Iterations at most.
    pub iterations: u32,
    /// Positions of the iteration that are done.
    pub done: u64,
    /// Positions of an iteration.
    pub of: u64,
    /// Positions per second in this iteration.
    pub positions_per_second: f64,
    /// The latest move-match accuracy, of a report or an iteration.
    pub accuracy: Option<f64>,
    /// A line just written to the log.
    pub line: Option<LogLine>,
}

impl TrainingProgress {
    /// Positions of all iterations.
    pub fn of_all_iterations(&self) -> Progress {
        let past = u64::from(self.iteration.saturating_sub(1)) * self.of;
        Progress { done: past + self.done, of: u64::from(self.iterations) * self.of }
    }
}

/// How a training ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingSummary {
    /// Whether the training is complete, not stopped on request.
    pub finished: bool,
    /// The iteration with the best move-match accuracy.
    pub best: u32,
    /// That move-match accuracy, if there are test positions.
    pub accuracy: Option<f64>,
    /// The weights file of that iteration.
    pub file: PathBuf,
}

/// Begins the training in a new folder, or resumes it from its last checkpoint. A stop ends it after the current batch,
/// with a checkpoint. A run that is resumed takes a new number of iterations and [`TrainingSettings::keep_going`], and
/// refuses other changes.
///
/// # Errors
/// When settings, samples or initial weights cannot be used or are not those of the run, when the folder is in use,
/// contains other files or cannot be written, or when samples cannot be read.
pub fn train(
    settings: &TrainingSettings,
    folder: &Path,
    examples: &dyn Examples,
    context: &mut Context<TrainingProgress>,
) -> Result<TrainingSummary, Error> {
    settings.check().map_err(Error::Settings)?;
    let start = settings.weights.as_deref().map_or_else(|| Ok(Arc::new(Weights::material())), weights_file::named)?;
    let selection = Selection::new(settings, examples)?;
    std::fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    if !holds_run(folder) {
        refuse_foreign(folder)?;
    }
    let _lock = FolderLock::take(folder)?;
    clean(folder, is_known)?;
    let state = match folder.join(CHECKPOINT).exists() {
        true => load_checkpoint(folder, settings, &selection.identity, &start.id())?,
        // It is new, or was stopped before the first checkpoint.
        false => TrainingState::new(settings, unrounded(&start)),
    };
    write_json(&folder.join(SETTINGS), settings)?;
    let (settings, folder) = (settings.clone(), folder.to_path_buf());
    run(Plan { settings, start, folder, selection, state }, examples, context)
}

/// The initial weights as numbers: Table I itself for the values of the pieces alone, which are rounded as integers.
fn unrounded(start: &Weights) -> FloatWeights {
    match start.id() == Weights::material().id() {
        true => FloatWeights::material(),
        false => FloatWeights::from(start),
    }
}

/// The settings of the run in `folder`.
///
/// # Errors
/// When the folder contains no run, or its settings cannot be read or used.
pub fn saved_settings(folder: &Path) -> Result<TrainingSettings, Error> {
    let path = folder.join(SETTINGS);
    let settings: TrainingSettings = read_json(&path)?;
    settings.check().map_err(|problem| Error::content(&path, "the settings", problem))?;
    Ok(settings)
}

/// Refuses a folder in which files that would be replaced belong to no run.
fn refuse_foreign(folder: &Path) -> Result<(), Error> {
    let names = [LOG, CHECKPOINT, BEST, &iteration_name(0), &iteration_name(1)].map(|name| folder.join(name));
    match names.iter().find(|path| path.exists()) {
        Some(path) => {
            let problem = format!("{} is of no run here and would be lost; name another folder", path.display());
            Err(Error::Settings(problem))
        }
        None => Ok(()),
    }
}

/// The state of a run that was begun with the same settings, samples and weights.
fn load_checkpoint(
    folder: &Path,
    settings: &TrainingSettings,
    data: &DataIdentity,
    start: &str,
) -> Result<TrainingState, Error> {
    let begun = Checkpoint::load(&folder.join(CHECKPOINT))?;
    if begun.data != *data {
        let problem = format!("the run was begun with other samples, {:?}; these are {data:?}", begun.data);
        return Err(Error::Settings(problem));
    }
    if begun.start != start {
        let problem = format!("the run was begun with the weights {}; its start is now {start}", begun.start);
        return Err(Error::Settings(problem));
    }
    refuse_changes(folder, &begun.settings, settings)?;
    Ok(begun.state)
}

/// Refuses settings that the run was not begun with.
fn refuse_changes(folder: &Path, begun: &TrainingSettings, now: &TrainingSettings) -> Result<(), Error> {
    let json = |settings| serde_json::to_value(fixed(settings)).expect("settings are plain data");
    let (begun, now) = (json(begun), json(now));
    // A setting at its default may be missing in one of them.
    let names: BTreeSet<&String> =
        [&begun, &now].into_iter().filter_map(Json::as_object).flat_map(serde_json::Map::keys).collect();
    let changed: Vec<String> = names
        .into_iter()
        .filter(|&name| begun[name] != now[name])
        .map(|name| format!("{name} is {} here, and {} in the run", now[name], begun[name]))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let (path, changed) = (folder.join(SETTINGS), changed.join(", "));
    Err(Error::Settings(format!("{}: the run was begun with other settings: {changed}", path.display())))
}

/// The settings without those that may change when a run is resumed, and without the paths of files, whose content is
/// compared instead.
fn fixed(settings: &TrainingSettings) -> TrainingSettings {
    let TrainingSettings { iterations, keep_going, .. } = TrainingSettings::default();
    TrainingSettings { iterations, keep_going, samples: PathBuf::new(), weights: None, ..settings.clone() }
}

/// Two sets of integer weights: while one is in use by the searches, the other can be changed, so that an update costs
/// only its changes and nothing is copied.
struct Buffers {
    current: Arc<Weights>,
    spare: Arc<Weights>,
    /// Features that differ between the spare and the current weights.
    behind: Vec<u32>,
}

impl Buffers {
    fn new(floats: &FloatWeights) -> Result<Buffers, WeightsError> {
        let weights = Weights::from_floats(floats, Json::Null)?;
        Ok(Buffers { spare: Arc::new(weights.clone()), current: Arc::new(weights), behind: Vec::new() })
    }

    /// Rounds `floats`, in which only the features in `changes` are new.
    fn update(&mut self, floats: &FloatWeights, changes: &[UpdateEntry]) -> Result<(), WeightsError> {
        let changed: Vec<u32> = changes.iter().map(|change| change.feature).collect();
        let spare = Arc::get_mut(&mut self.spare).expect("all threads hold the current weights");
        spare.refresh(self.behind.iter().chain(&changed).map(|&feature| feature as usize), floats)?;
        std::mem::swap(&mut self.current, &mut self.spare);
        self.behind = changed;
        Ok(())
    }
}

/// Everything that a training starts or resumes with.
struct Plan {
    settings: TrainingSettings,
    start: Arc<Weights>,
    folder: PathBuf,
    selection: Selection,
    state: TrainingState,
}

fn run(plan: Plan, examples: &dyn Examples, context: &mut Context<TrainingProgress>) -> Result<TrainingSummary, Error> {
    let Plan { settings, start, state, folder, .. } = &plan;
    let buffers = Buffers::new(&state.weights)?;
    let log = Log::open(&folder.join(LOG), state.log_bytes).map_err(Error::file("open", &folder.join(LOG)))?;
    let objective = Objective::new(settings, expectation_scale(start));
    let stop = context.stop;
    let worker = |_| Worker {
        leaves: Leaves::new(Arc::clone(&buffers.current), settings.depth, NODE_LIMIT, stop.flag()),
        comparer: Comparer::new(objective, settings),
    };
    let workers = Workers { examples, stop, workers: (0..context.threads.max(1)).map(worker).collect() };
    let (rates, sum, now) = (settings.rates(), UpdateSum::new(layout::LEN), Instant::now());
    Run { plan, context, sum, rates, buffers, log, workers, saved: now, ticked: now }.iterations()
}

/// A running training.
struct Run<'a, 'c, 't> {
    plan: Plan,
    context: &'t mut Context<'c, TrainingProgress>,
    sum: UpdateSum,
    /// Rate of each feature, as a multiple of the optimizer's rate.
    rates: Vec<f64>,
    buffers: Buffers,
    log: Log,
    workers: Workers<'a>,
    /// When the last checkpoint was written.
    saved: Instant,
    /// Time up to which the seconds are counted.
    ticked: Instant,
}

impl Run<'_, '_, '_> {
    fn iterations(mut self) -> Result<TrainingSummary, Error> {
        while !self.is_over() {
            if !(self.batches()? && self.end_iteration()?) {
                break;
            }
        }
        let (best, accuracy) = self.plan.state.best;
        Ok(TrainingSummary { finished: self.is_over(), best, accuracy, file: self.plan.folder.join(BEST) })
    }

    fn is_over(&self) -> bool {
        let Plan { settings, state, .. } = &self.plan;
        state.fell && !settings.keep_going || state.iteration > settings.iterations
    }

    /// Processes the rest of the iteration. False if it was stopped.
    fn batches(&mut self) -> Result<bool, Error> {
        let Plan { settings, selection, state, .. } = &self.plan;
        if state.iteration == 0 {
            return Ok(true);
        }
        let order = shuffled(&selection.training, settings.seed, state.iteration);
        let batch = settings.batch;
        let report_every = (order.len() as u64).div_ceil(REPORTS);
        loop {
            if self.plan.state.report_is_due(report_every) && !self.report()? {
                self.save()?;
                return Ok(false);
            }
            let done = self.plan.state.done;
            let Some(positions) = order.get(done as usize..).and_then(|rest| rest.chunks(batch).next()) else {
                return Ok(true);
            };
            self.batch(positions)?;
            if self.context.stop.stopped() {
                self.save()?;
                return Ok(false);
            }
            if self.saved.elapsed() >= CHECKPOINT_EVERY {
                self.save()?;
            }
        }
    }

    /// One update, formula (10); no change if it was stopped.
    fn batch(&mut self, positions: &[u32]) -> Result<(), Error> {
        let began = Instant::now();
        let results = self.workers.work(Task::Compare, &self.buffers.current, positions)?;
        // The batch is incomplete; it is repeated when the training is resumed.
        if self.context.stop.stopped() {
            return Ok(());
        }
        let Plan { settings, state, .. } = &mut self.plan;
        for result in &results {
            state.report.count(result);
            state.iteration_counters.count(result);
            if let Some(contribution) = &result.contribution {
                self.sum.add_all(&contribution.update);
                state.positions += 1;
                state.average.pass(1);
            }
        }
        let mut changes = self.sum.take();
        if !changes.is_empty() {
            state.updates += 1;
            state.optimizer.step(&mut changes);
            for change in &mut changes {
                let rate = self.rates[change.feature as usize];
                change.mg *= rate;
                change.eg *= rate;
            }
            state.change(&changes);
            if state.updates % DECAY_EVERY == 0 {
                let decay = state.optimizer.decay(settings, &state.weights);
                state.change(&decay);
                changes.extend(decay);
            }
            self.buffers.update(&state.weights, &changes)?;
        }
        state.done += positions.len() as u64;
        let seconds = began.elapsed().as_secs_f64();
        state.report.seconds += seconds;
        state.iteration_counters.seconds += seconds;
        self.report_progress(None);
        Ok(())
    }

    /// Logs a report line and saves a checkpoint. False if it was stopped first.
    fn report(&mut self) -> Result<bool, Error> {
        let positions = self.plan.selection.report.clone();
        let Some((_, weights, accuracy)) = self.measure(&positions)? else { return Ok(false) };
        let counters = std::mem::take(&mut self.plan.state.report);
        let line = self.line(LineKind::Report, &counters, &weights, accuracy);
        self.append(&line)?;
        self.save()?;
        Ok(true)
    }

    /// Measures and saves w* and continues from it. False if it was stopped first.
    fn end_iteration(&mut self) -> Result<bool, Error> {
        let positions = self.plan.selection.test.clone();
        let Some((averaged, weights, accuracy_on_test)) = self.measure(&positions)? else {
            self.save()?;
            return Ok(false);
        };
        let iteration = self.plan.state.iteration;
        let accuracy = accuracy_on_test.mean;
        let best = is_best(accuracy, self.plan.state.best.1);
        // Without test positions the accuracy never falls.
        let fell = accuracy.zip(self.plan.state.accuracy).is_some_and(|(now, before)| now < before);
        self.save_weights(&averaged, accuracy, best)?;
        let counters = self.plan.state.iteration_counters;
        let mut line = self.line(LineKind::Iteration, &counters, &weights, accuracy_on_test);
        let file = self.plan.folder.join(iteration_name(iteration));
        line.file = file.file_name().map(|name| name.to_string_lossy().into_owned());
        line.best = best;
        self.append(&line)?;
        let Plan { settings, state, .. } = &mut self.plan;
        if best {
            state.best = (iteration, accuracy);
        }
        state.accuracy = accuracy;
        state.fell = fell;
        state.iteration += 1;
        state.done = 0;
        state.iteration_counters = Counters::default();
        state.report = Counters::default();
        if settings.averaging == Averaging::Iteration {
            state.average = Average::new(layout::LEN);
            state.weights = averaged;
            self.buffers = Buffers::new(&state.weights)?;
        }
        self.save()?;
        Ok(true)
    }

    /// w* and its move-match accuracy on these positions; `None` if it was stopped.
    fn measure(&mut self, positions: &[u32]) -> Result<Option<(FloatWeights, Arc<Weights>, Accuracy)>, Error> {
        const CHUNK: usize = 200;
        let averaged = self.plan.state.average.of(&self.plan.state.weights);
        let weights = Arc::new(Weights::from_floats(&averaged, Json::Null)?);
        let (mut sum, mut measured) = (0.0, 0);
        for positions in positions.chunks(CHUNK) {
            let results = self.workers.work(Task::Measure, &weights, positions)?;
            sum += results.iter().filter_map(|result| result.accuracy).sum::<f64>();
            measured += results.iter().filter(|result| result.accuracy.is_some()).count() as u64;
        }
        let accuracy = Accuracy { mean: (measured > 0).then(|| sum / measured as f64), positions: measured };
        Ok((!self.context.stop.stopped()).then_some((averaged, weights, accuracy)))
    }

    fn save_weights(&self, floats: &FloatWeights, accuracy: Option<f64>, best: bool) -> Result<(), Error> {
        let Plan { settings, start, folder, selection, state } = &self.plan;
        // File names without their folders.
        let name = |path: &Path| PathBuf::from(path.file_name().unwrap_or_default());
        let (samples, started) = (name(&settings.samples), settings.weights.as_deref().map(name));
        let settings = TrainingSettings { samples, weights: started, ..settings.clone() };
        let provenance = serde_json::json!({
            "method": "comparison training",
            "parent": start.id(),
            "settings": settings,
            "data": selection.identity,
            "iteration": state.iteration,
            "positions": state.positions,
            "updates": state.updates,
            "accuracy": accuracy,
        });
        // With the units of the initial weights a value means the same as during the training.
        let mut weights = Weights::from_floats(floats, provenance)?;
        weights.meta.name = "trained".to_string();
        weights.units = start.units;
        weights_file::save(&weights, &folder.join(iteration_name(state.iteration)))?;
        if best {
            weights_file::save(&weights, &folder.join(BEST))?;
        }
        Ok(())
    }

    fn line(&mut self, kind: LineKind, counters: &Counters, weights: &Weights, accuracy: Accuracy) -> LogLine {
        self.tick();
        let Plan { selection, state, .. } = &self.plan;
        let mean = |sum: f64| if counters.positions == 0 { 0.0 } else { sum / counters.positions as f64 };
        LogLine {
            kind,
            iteration: state.iteration,
            done: state.done,
            of: selection.training.len() as u64,
            positions: state.positions,
            updates: state.updates,
            skipped: counters.skipped,
            over_limit: counters.over_limit,
            mean_s: mean(counters.above as f64),
            empty_s: mean(counters.empty as f64),
            loss: mean(counters.loss),
            nodes: mean(counters.nodes as f64),
            accuracy: accuracy.mean,
            accuracy_positions: accuracy.positions,
            material: weights.ints()[layout::MATERIAL.range()].to_vec(),
            positions_per_second: counters.positions_per_second(),
            seconds: state.seconds,
            file: None,
            best: false,
        }
    }

    fn append(&mut self, line: &LogLine) -> Result<(), Error> {
        self.log.append(line).map_err(Error::file("write", &self.plan.folder.join(LOG)))?;
        self.report_progress(Some(line.clone()));
        Ok(())
    }

    fn save(&mut self) -> Result<(), Error> {
        self.tick();
        let Plan { settings, start, folder, selection, state } = &mut self.plan;
        state.log_bytes = self.log.sync().map_err(Error::file("write", &folder.join(LOG)))?;
        let (settings, data, start, state) = (settings.clone(), selection.identity.clone(), start.id(), state.clone());
        let path = folder.join(CHECKPOINT);
        Checkpoint { settings, data, start, state }.save(&path).map_err(Error::file("write", &path))?;
        self.saved = Instant::now();
        Ok(())
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.plan.state.seconds += (now - self.ticked).as_secs_f64();
        self.ticked = now;
    }

    fn report_progress(&mut self, line: Option<LogLine>) {
        let Plan { settings, selection, state, .. } = &self.plan;
        (self.context.on_event)(TrainingProgress {
            iteration: state.iteration,
            iterations: settings.iterations,
            done: state.done,
            of: selection.training.len() as u64,
            positions_per_second: state.iteration_counters.positions_per_second(),
            accuracy: line.as_ref().and_then(|line| line.accuracy).or(state.accuracy),
            line,
        });
    }
}

/// How often the desired move would be played, 0 to 1.
#[derive(Clone, Copy)]
struct Accuracy {
    /// `None` if nothing was measured.
    mean: Option<f64>,
    /// Number of positions measured, without those that need too many nodes.
    positions: u64,
}

/// Whether an iteration with this accuracy is the best, after a best one with the accuracy `best`. Without test
/// positions the last one is. Weights with which all test positions need too many nodes are not better than weights
/// that were measured.
fn is_best(accuracy: Option<f64>, best: Option<f64>) -> bool {
    match (accuracy, best) {
        (Some(accuracy), Some(best)) => accuracy > best,
        (None, Some(_)) => false,
        (_, None) => true,
    }
}

#[cfg(test)]
mod tests;
