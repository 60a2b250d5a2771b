//! The folder of a self-training: what is where, who works in it, and how far it is.
//!
//! | file | what |
//! |---|---|
//! | `lock` | held, as a lock of the operating system, by the process that trains here |
//! | `settings.json` | the settings for the generations to come |
//! | `state.json` | how far it is |
//! | `log.jsonl` | a line for each stage, match and generation |
//! | `start.json` | the weights at the start |
//! | `best.json` | the best weights, once a generation was adopted |
//! | `report.html` | what there is to see of it, renewed while it trains |
//! | `generation-001/` ... | what was made of each generation |
//!
//! | file of a generation | what |
//! |---|---|
//! | `settings.json` | the settings it has |
//! | `games.pgn` | games of self-play, with scores |
//! | `positions.samples` | positions drawn from them |
//! | `labeled.samples` | the same with the desired moves |
//! | `fitted.json` | the weights after a fit |
//! | `training/` | the run of the comparison training |
//! | `refinement/` | the run of the perceptron that follows it, once there are positions enough |
//! | `base.json` | the weights between the two, scaled: the next training starts there |
//! | `trained.json` | where games say how far the weights go: those after the last of them, scaled |
//! | `tuning/` | these games, a run of `dyad spsa` |
//! | `weights.json` | the new weights, scaled |
//! | `match.pgn`, `anchor.pgn` | the games of its matches |
//!
//! The folder has [one owner](crate::base::lock) at a time. What `state.json` says decides what is cut and overwritten, so it
//! carries a checksum, and a state that is damaged or does not fit the folder is refused before anything is touched.
//!
//! The folder may be one that holds other things. So a training is begun only where none of its names is taken, and
//! what was half-written is removed by names that only this program gives. While it begins there is a file
//! [`BEGINNING`], which tells what a beginning left that was killed from what somebody else put there.

use std::fs;
use std::path::{Path, PathBuf};

use dyad_engine::eval::Weights;
use dyad_engine::files;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::SelfTrainError;
use super::event::Stage;
use super::settings::Settings;
use crate::base::atomic::write_atomic;
use crate::base::lock::{self, FolderLock, is_foreign};
use crate::learn::folder::{BEST, CHECKPOINT, DATA, LOG, REPORT, SETTINGS};

/// How far a self-training is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct State {
    /// The generation under way, or the next one.
    pub generation: u32,
    /// What it goes through.
    pub stage: Stage,
    /// The generation of the best weights; 0 for those at the start.
    pub best: u32,
    /// How many generations were adopted.
    pub adopted: u32,
    /// Move-match accuracy of the latest training.
    #[serde(rename = "agreement")]
    pub accuracy: Option<f64>,
    /// Seconds spent, without those between a stop and its resumption.
    pub seconds: f64,
    /// Length of the log.
    pub log_bytes: u64,
    /// What the file ends with, see [`State::to_text`].
    #[serde(default, skip_serializing)]
    checksum: Option<String>,
}

impl Default for State {
    fn default() -> State {
        let stage = Stage::Games;
        State { generation: 1, stage, best: 0, adopted: 0, accuracy: None, seconds: 0.0, log_bytes: 0, checksum: None }
    }
}

impl State {
    /// The text of `state.json`: the fields, and last the CRC-32 of all that stands before it.
    fn to_text(&self) -> String {
        let fields = serde_json::to_string_pretty(self).expect("plain data");
        let fields = fields.trim_end_matches("\n}");
        format!("{fields}{CHECKSUM}{:08x}\"\n}}\n", crc32fast::hash(fields.as_bytes()))
    }

    /// Reads `state.json`, or says what is wrong with it.
    fn from_text(text: &[u8]) -> Result<State, String> {
        let text = str::from_utf8(text).map_err(|error| error.to_string())?;
        let state: State = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // Release 0.1.0 wrote none.
        if let Some(stated) = &state.checksum {
            let (fields, _) = text.rsplit_once(CHECKSUM).ok_or("the checksum is not at its end")?;
            let computed = format!("{:08x}", crc32fast::hash(fields.as_bytes()));
            if computed != *stated {
                return Err(format!("its checksum is {computed}, but it says {stated}"));
            }
        }
        Ok(state)
    }

    /// Says what about this cannot be true in `folder`.
    fn check(&self, folder: &Path) -> Result<(), String> {
        let State { generation, stage, best, adopted, accuracy, seconds, log_bytes, .. } = *self;
        let within = |generation: u32| folder.join(generation_name(generation));
        // In its last stage a generation is adopted already.
        let decided = generation.saturating_sub(u32::from(stage != Stage::Anchor));
        let log = fs::metadata(folder.join(LOG)).map_or(0, |metadata| metadata.len());
        let faults = [
            (generation == 0, "generations are counted from 1".to_string()),
            (generation > 1 && !within(generation - 1).is_dir(), format!("there is no generation before {generation}")),
            (best > decided, format!("generation {best} cannot be the best before generation {generation} is done")),
            (best > 0 && !within(best).join(WEIGHTS).is_file(), format!("there are no weights of generation {best}")),
            (
                adopted > best || (adopted == 0) != (best == 0),
                format!("{adopted} were not adopted up to generation {best}"),
            ),
            (
                accuracy.is_some_and(|share| !(0.0..=1.0).contains(&share)),
                "the agreement is no share of one".to_string(),
            ),
            (!seconds.is_finite() || seconds < 0.0, "the seconds are no time".to_string()),
            (log < log_bytes, format!("{LOG} has {log} bytes and should have {log_bytes}")),
        ];
        faults.into_iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, problem)| Err(problem))
    }

    /// Whether the last generation is done.
    pub fn is_over(&self, settings: &Settings) -> bool {
        settings.generations > 0 && self.generation > settings.generations
    }
}

/// How the last field of [`STATE`] begins.
const CHECKSUM: &str = ",\n  \"checksum\": \"";
/// Bytes of a state, or of settings, at most.
const LARGEST: u64 = 1 << 20;

/// How far it is.
pub(super) const STATE: &str = "state.json";
/// The weights at the start.
pub(crate) const START: &str = "start.json";
/// There while a training begins: what is in the folder without a [`STATE`] is then its own.
const BEGINNING: &str = "beginning";
/// The first of the folders of generations.
const FIRST_GENERATION: &str = "generation-001";

const GAMES: &str = "games.pgn";
const POSITIONS: &str = "positions.samples";
/// The labeled positions of a generation.
pub(super) const LABELED: &str = "labeled.samples";
const FITTED: &str = "fitted.json";
const BASE: &str = "base.json";
const TRAINED: &str = "trained.json";
const WEIGHTS: &str = "weights.json";

/// The files of a self-training and its generations that are written atomically, without those of the runs.
const ATOMIC: [&str; 12] =
    [BEGINNING, SETTINGS, STATE, START, BEST, REPORT, POSITIONS, LABELED, FITTED, BASE, TRAINED, WEIGHTS];

/// What a training would overwrite or take for its own in a folder where it begins, with the files of a run.
const TAKEN: [&str; 7] = [SETTINGS, LOG, START, BEST, DATA, CHECKPOINT, FIRST_GENERATION];

/// A folder that belongs to this process as long as this lives.
pub(super) struct Folder {
    path: PathBuf,
    _lock: FolderLock,
}

impl Folder {
    /// Takes the folder at `path`, making it if it is not there.
    pub fn take(path: &Path) -> Result<Folder, SelfTrainError> {
        fs::create_dir_all(path).map_err(SelfTrainError::file("make", path))?;
        let path = std::path::absolute(path).map_err(SelfTrainError::file("find", path))?;
        let lock = FolderLock::take(&path)?;
        Ok(Folder { path, _lock: lock })
    }

    /// Whether a training was begun here.
    pub fn is_begun(&self) -> bool {
        self.file(STATE).exists()
    }

    /// Makes what a training begins with.
    pub fn begin(&self, settings: &Settings, start: &Weights) -> Result<State, SelfTrainError> {
        let beginning = self.file(BEGINNING);
        write_atomic(&beginning, b"").map_err(SelfTrainError::file("write", &beginning))?;
        start.save(&self.weights(0))?;
        save(&self.settings(), settings)?;
        let state = State::default();
        self.save_state(&state)?;
        remove(&beginning)?;
        Ok(state)
    }

    /// Removes what a process that was killed left behind.
    pub fn clean(&self) -> Result<(), SelfTrainError> {
        if self.is_begun() {
            remove(&self.file(BEGINNING))?;
        }
        clean(&self.path)
    }

    /// Where it is, an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings for the generations to come.
    pub fn settings(&self) -> PathBuf {
        self.file(SETTINGS)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.file(LOG)
    }

    /// The best weights, once there are some.
    pub fn best(&self) -> PathBuf {
        self.file(BEST)
    }

    /// The folder of a generation.
    pub fn generation(&self, generation: u32) -> GenerationFolder {
        GenerationFolder::within(&self.path, generation)
    }

    /// The weights of a generation; 0 for those at the start.
    pub fn weights(&self, generation: u32) -> PathBuf {
        match generation {
            0 => self.file(START),
            _ => self.generation(generation).weights(),
        }
    }

    /// The weights of a generation before their refinement, if they had one.
    pub fn base(&self, generation: u32) -> PathBuf {
        let base = self.generation(generation).base();
        if base.exists() { base } else { self.weights(generation) }
    }

    /// Saves how far it is.
    pub fn save_state(&self, state: &State) -> Result<(), SelfTrainError> {
        let path = self.file(STATE);
        write_atomic(&path, state.to_text().as_bytes()).map_err(SelfTrainError::file("write", &path))
    }
}

/// The name of the folder of a generation in that of its training.
fn generation_name(generation: u32) -> String {
    format!("generation-{generation:03}")
}

/// The folder of a generation.
pub(crate) struct GenerationFolder {
    path: PathBuf,
}

impl GenerationFolder {
    /// That of a generation of the training in `folder`.
    pub fn within(folder: &Path, generation: u32) -> GenerationFolder {
        GenerationFolder { path: folder.join(generation_name(generation)) }
    }

    /// Where it is, an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings it has.
    pub fn settings(&self) -> PathBuf {
        self.path.join(SETTINGS)
    }

    /// Games of self-play.
    pub fn games(&self) -> PathBuf {
        self.path.join(GAMES)
    }

    /// Positions drawn from them.
    pub fn positions(&self) -> PathBuf {
        self.path.join(POSITIONS)
    }

    /// The same with the desired moves.
    pub fn labeled(&self) -> PathBuf {
        self.path.join(LABELED)
    }

    /// The weights after a fit.
    pub fn fitted(&self) -> PathBuf {
        self.path.join(FITTED)
    }

    /// The run of the comparison training.
    pub fn training(&self) -> PathBuf {
        self.path.join("training")
    }

    /// The run of the perceptron that follows it.
    pub fn refinement(&self) -> PathBuf {
        self.path.join("refinement")
    }

    /// The weights between the two, scaled.
    pub fn base(&self) -> PathBuf {
        self.path.join(BASE)
    }

    /// The weights after the last of them, scaled, where games say how far the weights go.
    pub fn trained(&self) -> PathBuf {
        self.path.join(TRAINED)
    }

    /// The run of these games.
    pub fn tuning(&self) -> PathBuf {
        self.path.join("tuning")
    }

    /// The new weights, scaled.
    pub fn weights(&self) -> PathBuf {
        self.path.join(WEIGHTS)
    }

    /// The games against the best weights.
    pub fn match_games(&self) -> PathBuf {
        self.path.join("match.pgn")
    }

    /// The games of the best weights against the oldest.
    pub fn anchor_games(&self) -> PathBuf {
        self.path.join("anchor.pgn")
    }
}

/// Writes a value as JSON, atomically.
pub(super) fn save(path: &Path, value: &impl Serialize) -> Result<(), SelfTrainError> {
    let text = serde_json::to_vec_pretty(value).expect("plain data");
    write_atomic(path, &text).map_err(SelfTrainError::file("write", path))
}

/// Reads a value from JSON.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> Result<T, SelfTrainError> {
    let text = files::read(path, LARGEST).map_err(SelfTrainError::file("read", path))?;
    serde_json::from_slice(&text).map_err(|error| damaged(path)(error.to_string()))
}

/// Reads settings that can be trained with.
pub(super) fn load_settings(path: &Path) -> Result<Settings, SelfTrainError> {
    let settings: Settings = load(path)?;
    settings.check().map_err(damaged(path))?;
    Ok(settings)
}

fn damaged(path: &Path) -> impl FnOnce(String) -> SelfTrainError {
    let path = path.to_path_buf();
    |problem| SelfTrainError::Damaged { path, problem }
}

/// How far the self-training in `folder` is, and its settings: all that decides how it is resumed.
///
/// # Errors
/// When there is none, or one of the files cannot be what a training left.
pub(super) fn standing(folder: &Path) -> Result<(State, Settings), SelfTrainError> {
    let path = folder.join(STATE);
    if !path.exists() {
        return Err(SelfTrainError::Missing(folder.to_path_buf()));
    }
    let text = files::read(&path, LARGEST).map_err(SelfTrainError::file("read", &path))?;
    let state = State::from_text(&text).map_err(damaged(&path))?;
    state.check(folder).map_err(damaged(&path))?;
    let settings = load_settings(&folder.join(SETTINGS))?;
    let own = folder.join(generation_name(state.generation)).join(SETTINGS);
    if own.exists() {
        load_settings(&own)?;
    }
    Ok((state, settings))
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> Result<(), SelfTrainError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(SelfTrainError::file("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes what a process that was killed left half-written in `folder`.
pub(super) fn clean(folder: &Path) -> Result<(), SelfTrainError> {
    Ok(crate::base::atomic::clean(folder, |name| ATOMIC.contains(&name))?)
}

/// Says whether a training can be begun in `folder` without touching what somebody else put there.
pub(super) fn check_free(folder: &Path) -> Result<(), SelfTrainError> {
    if fs::canonicalize(folder).is_ok_and(|folder| folder.parent().is_none()) {
        return Err(SelfTrainError::Root(folder.to_path_buf()));
    }
    let foreign =
        TAKEN.into_iter().find(|name| folder.join(name).exists()).or_else(|| is_foreign(folder).then_some(lock::NAME));
    // In this order, so that another process that begins here meanwhile is not mistaken for somebody else.
    match foreign.filter(|_| !folder.join(BEGINNING).exists() && !folder.join(STATE).exists()) {
        Some(name) => Err(SelfTrainError::Foreign { folder: folder.to_path_buf(), name }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A self-training that an earlier version began is resumed.
    #[test]
    fn the_names_in_the_state_stay() {
        let text =
            r#"{"generation":3,"stage":"match","best":2,"adopted":1,"agreement":0.5,"seconds":7.5,"log-bytes":9}"#;
        let state: State = serde_json::from_str(text).unwrap();
        let (stage, accuracy) = (Stage::Match, Some(0.5));
        let expected =
            State { generation: 3, stage, best: 2, adopted: 1, accuracy, seconds: 7.5, log_bytes: 9, checksum: None };
        assert_eq!(state, expected);
        assert_eq!(serde_json::to_string(&state).unwrap(), text);
    }
}
