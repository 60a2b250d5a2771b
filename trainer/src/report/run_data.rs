//! What the folder of a run or of a self-training holds.

use std::fs;
use std::path::Path;

use dyad_engine::eval::Weights;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::arena::matches::MatchRecord;
use crate::base::error::Error;
use crate::learn::folder::{BEST, DATA, LOG, SETTINGS, iteration_name};
use crate::learn::log::LogLine;
use crate::selftrain::folder::START;

/// Results of matches that somebody wrote to the folder: `dyad match --results`.
const MATCHES: &str = "matches.jsonl";

/// One generation of a self-training.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its number.
    pub number: u64,
    /// Hours since the training began.
    pub hours: f64,
    /// Its match against the best before it.
    pub record: MatchRecord,
    /// Whether it became the best.
    pub adopted: bool,
}

/// Everything the page shows.
#[derive(Clone, Debug, Default)]
pub struct RunData {
    /// What the page is called.
    pub title: String,
    /// Settings and identity of the data, by file name.
    pub settings: Vec<(String, Json)>,
    /// The log.
    pub lines: Vec<LogLine>,
    /// Weights at the start.
    pub before: Option<Weights>,
    /// Weights at the end.
    pub after: Option<Weights>,
    /// Matches, of generations and others.
    pub matches: Vec<MatchRecord>,
    /// Generations of a self-training.
    pub generations: Vec<Generation>,
    /// Its matches of the best weights against those at the start.
    pub anchors: Vec<Generation>,
}

impl RunData {
    /// Collects what the folder of a run or of a self-training holds: `settings.json`, `data.json`, `log.jsonl`,
    /// `matches.jsonl`, the weights of `iteration-00.json` or `start.json`, and of `best.json`. What is not there is
    /// left out; a folder with none of it is an error.
    pub fn load(folder: &Path) -> Result<RunData, Error> {
        let mut run = RunData { title: name_of(folder), ..RunData::default() };
        for name in [SETTINGS, DATA] {
            if let Some(text) = read_if_there(&folder.join(name))?
                && let Ok(value) = serde_json::from_str(&text)
            {
                run.settings.push((name.trim_end_matches(".json").to_string(), value));
            }
        }
        for name in [LOG, MATCHES] {
            for line in read_if_there(&folder.join(name))?.unwrap_or_default().lines() {
                run.take_line(line);
            }
        }
        run.before = match weights_if_there(&folder.join(iteration_name(0)))? {
            None => weights_if_there(&folder.join(START))?,
            some => some,
        };
        run.after = weights_if_there(&folder.join(BEST))?;
        if run.lines.is_empty() && run.matches.is_empty() && run.after.is_none() {
            let problem = "there is no log, match or weights file in it".to_string();
            return Err(Error::content(folder, "the folder", problem));
        }
        Ok(run)
    }

    /// A line of a log is about a match, a generation with its match, or a training. Lines that are cut, or
    /// of a kind this program does not know, say nothing.
    fn take_line(&mut self, line: &str) {
        let Ok(value) = serde_json::from_str::<Json>(line) else { return };
        let Ok(record) = MatchRecord::deserialize(value.get("match").unwrap_or(&value)) else {
            self.lines.extend(log_line(&value));
            return;
        };
        for (name, list) in [("generation", &mut self.generations), ("anchor", &mut self.anchors)] {
            if let Some(number) = value.get(name).and_then(Json::as_u64) {
                let hours = value.get("seconds").and_then(Json::as_f64).unwrap_or(f64::NAN) / 3600.0;
                let adopted = value.get("adopted").and_then(Json::as_bool).unwrap_or(false);
                list.push(Generation { number, hours, record: record.clone(), adopted });
            }
        }
        self.matches.push(record);
    }
}

/// A line of a training; what an older or newer program did not write is as in an empty line.
fn log_line(value: &Json) -> Option<LogLine> {
    value.get("iteration")?;
    let mut whole = serde_json::to_value(LogLine::default()).ok()?;
    for (name, value) in value.as_object()? {
        whole[name] = value.clone();
    }
    serde_json::from_value(whole).ok()
}

fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().map_or_else(|| "training".into(), |name| name.to_string_lossy().into_owned())
}

fn read_if_there(path: &Path) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

fn weights_if_there(path: &Path) -> Result<Option<Weights>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    Weights::load(path).map(Some).map_err(|error| Error::content(path, "weights", error.to_string()))
}
