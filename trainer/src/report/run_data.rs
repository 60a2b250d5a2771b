//! Data of the page: the content of the folder of a run or a self-training, and its progress.

use std::path::Path;

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files;
use dyad_formats::weights_file;
use serde_json::Value as Json;

use crate::arena::matches::MatchRecord;
use crate::base::words::grouped;
use crate::learn::folder::{BEST, LOG, SETTINGS, iteration_name};
use crate::learn::log::LogLine;
use crate::learn::training;
use crate::selftrain::folder::{START, STATE};
use crate::selftrain::strength::Strength;
use crate::selftrain::{self, Distance, SelfTrainLogLine};

/// One generation of a self-training.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its number.
    pub number: u32,
    /// Hours since the training began.
    pub hours: f64,
    /// Its match against the previous best weights.
    pub record: MatchRecord,
    /// Whether it became the best.
    pub adopted: bool,
    /// Move-match accuracy of its training on test positions, 0 to 1.
    pub accuracy: Option<f64>,
}

/// The current activity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Now {
    /// Title.
    pub headline: String,
    /// Progress as text.
    pub detail: String,
    /// Progress as a fraction, if known.
    pub share: Option<f64>,
    /// Estimated seconds until the end.
    pub seconds_left: Option<f64>,
    /// The stages of a generation.
    pub steps: Vec<String>,
    /// Index of the current stage.
    pub step: usize,
}

impl From<&selftrain::StageProgress> for Now {
    fn from(progress: &selftrain::StageProgress) -> Now {
        let selftrain::StageProgress { stage, stages, done, of, seconds_left, .. } = progress;
        Now {
            headline: format!("Generation {}: {stage}", progress.number()),
            detail: progress.detail(),
            share: share(*done, *of),
            seconds_left: *seconds_left,
            steps: stages.iter().map(ToString::to_string).collect(),
            step: stages.iter().position(|known| known == stage).unwrap_or(0),
        }
    }
}

impl From<&training::TrainingProgress> for Now {
    fn from(progress: &training::TrainingProgress) -> Now {
        let training::TrainingProgress { iteration, iterations, done, of, positions_per_second: pace, .. } = *progress;
        Now {
            headline: format!("Iteration {iteration} of {iterations}"),
            detail: format!("{} of {} positions, {} a second", grouped(done), grouped(of), grouped(pace as u64)),
            share: share(done, of),
            seconds_left: (pace > 0.0).then(|| of.saturating_sub(done) as f64 / pace),
            ..Now::default()
        }
    }
}

fn share(done: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| (done as f64 / of as f64).min(1.0))
}

/// The data of the page.
#[derive(Clone, Debug, Default)]
pub struct RunData {
    /// Title of the page.
    pub title: String,
    /// Its settings; null if there are none.
    pub settings: Json,
    /// The log.
    pub lines: Vec<LogLine>,
    /// Initial weights.
    pub before: Option<Weights>,
    /// Final weights.
    pub after: Option<Weights>,
    /// Generations of a self-training.
    pub generations: Vec<Generation>,
    /// Distances of the best weights to the reference, with the hours since the training began.
    pub distances: Vec<(f64, Distance)>,
    /// The latest strength of best weights on the scale of Lichess.
    pub strength: Option<Strength>,
    /// Long matches against the weights that the engine played with; adopted if the generation is proven stronger.
    pub proofs: Vec<Generation>,
    /// The generation that is proven stronger than the present reference; 0 for none.
    pub proven: u32,
    /// Generations that changed no weight, and so played no match.
    pub unchanged: Vec<u32>,
    /// The current activity.
    pub now: Option<Now>,
}

impl RunData {
    /// Reads the folder of a run or a self-training: `settings.json`, `log.jsonl`, the weights of
    /// `iteration-00.json` or `start.json`, and of `best.json`. Missing files are skipped; a folder with
    /// none of them is an error.
    pub fn load(folder: &Path) -> Result<RunData, Error> {
        let run = RunData::with(folder, None)?;
        if run.lines.is_empty() && run.proofs.is_empty() && run.generations.is_empty() && run.after.is_none() {
            let problem = "there is no log, match or weights file in it".to_string();
            return Err(Error::content(folder, "the folder", problem));
        }
        Ok(run)
    }

    /// A value of `settings.json`.
    pub(super) fn setting(&self, key: &str) -> Option<&Json> {
        self.settings.get(key)
    }

    /// Reads the folder of a training that has only started and may be empty.
    pub(super) fn with(folder: &Path, now: Option<Now>) -> Result<RunData, Error> {
        let mut run = RunData { title: name_of(folder), now, ..RunData::default() };
        run.settings = read_if_there(&folder.join(SETTINGS))?.as_deref().and_then(parse).unwrap_or_default();
        for line in read_if_there(&folder.join(LOG))?.unwrap_or_default().lines() {
            run.take_line(line);
        }
        let state = read_if_there(&folder.join(STATE))?.as_deref().and_then(parse);
        run.proven = state.and_then(|state| state.get("playing")?.as_u64()?.try_into().ok()).unwrap_or(0);
        run.before = match weights_if_there(&folder.join(iteration_name(0)))? {
            None => weights_if_there(&folder.join(START))?,
            some => some,
        };
        run.after = weights_if_there(&folder.join(BEST))?;
        Ok(run)
    }

    /// Takes a line of a log: of a self-training, or a comparison training. Lines that are cut or of an
    /// unknown kind are skipped.
    fn take_line(&mut self, line: &str) {
        let entry = |number, seconds: f64, record, adopted, accuracy| {
            let hours = seconds / 3600.0;
            Generation { number, hours, record, adopted, accuracy }
        };
        match serde_json::from_str(line) {
            Ok(SelfTrainLogLine::Generation { generation, seconds, accuracy, adopted, record }) => {
                self.generations.push(entry(generation, seconds, record, adopted, accuracy));
            }
            Ok(SelfTrainLogLine::Distance { distance, seconds }) => self.distances.push((seconds / 3600.0, distance)),
            Ok(SelfTrainLogLine::Strength { strength, .. }) => self.strength = Some(strength),
            Ok(SelfTrainLogLine::Proof { generation, seconds, promoted, record }) => {
                self.proofs.push(entry(generation, seconds, record, promoted, None));
            }
            Ok(SelfTrainLogLine::Unchanged { generation, .. }) => self.unchanged.push(generation),
            Ok(SelfTrainLogLine::Stage { .. }) => (),
            Err(_) => self.lines.extend(serde_json::from_str::<LogLine>(line).ok()),
        }
    }
}

fn parse(line: &str) -> Option<Json> {
    serde_json::from_str(line).ok()
}

fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().map_or_else(|| "training".into(), |name| name.to_string_lossy().into_owned())
}

fn read_if_there(path: &Path) -> Result<Option<String>, Error> {
    match files::read_text(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

fn weights_if_there(path: &Path) -> Result<Option<Weights>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    weights_file::load(path).map(Some).map_err(|error| Error::content(path, "weights", error))
}
