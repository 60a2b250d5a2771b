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
//! | `generation-001/` ... | what was made of each generation |
//!
//! | file of a generation | what |
//! |---|---|
//! | `settings.json` | the settings it has |
//! | `games.pgn` | games of self-play, with scores |
//! | `positions.samples` | positions drawn from them |
//! | `labeled.samples` | the same with the desired moves |
//! | `training/` | the run of the comparison training |
//! | `refinement/` | the run of the perceptron that follows it, once there are positions enough |
//! | `base.json` | the weights between the two, scaled: the next training starts there |
//! | `weights.json` | the weights after the last of them, scaled |
//! | `match.pgn`, `anchor.pgn` | the games of its matches |
//!
//! A lock of the operating system is let go when its process ends, however that happens, so what is left of
//! a crash is never in the way.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{SelfTrainError, Settings, Stage};
use crate::whole::write_whole;

/// How far a self-training is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct State {
    /// The generation under way, or the next one.
    pub generation: u32,
    /// What it goes through.
    pub stage: Stage,
    /// The generation of the best weights; 0 for those at the start.
    pub best: u32,
    /// How many generations were adopted.
    pub adopted: u32,
    /// Agreement of the latest training.
    pub agreement: Option<f64>,
    /// Seconds spent, without those between a stop and going on.
    pub seconds: f64,
    /// Length of the log.
    pub log_bytes: u64,
}

impl Default for State {
    fn default() -> State {
        let stage = Stage::Games;
        State { generation: 1, stage, best: 0, adopted: 0, agreement: None, seconds: 0.0, log_bytes: 0 }
    }
}

impl State {
    /// Whether the last generation is done.
    pub fn is_over(&self, settings: &Settings) -> bool {
        settings.generations > 0 && self.generation > settings.generations
    }
}

/// A folder that belongs to this process as long as this lives.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes the folder at `path`, making it if it is not there.
    pub fn take(path: &Path) -> Result<Folder, SelfTrainError> {
        fs::create_dir_all(path).map_err(SelfTrainError::file("make", path))?;
        let path = std::path::absolute(path).map_err(SelfTrainError::file("find", path))?;
        let lock_path = path.join("lock");
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&lock_path);
        let mut lock = opened.map_err(SelfTrainError::file("write", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                lock.read_to_string(&mut by).ok();
                let by = if by.trim().is_empty() { "another process".into() } else { by.trim().to_string() };
                return Err(SelfTrainError::Locked { folder: path, by });
            }
            Err(TryLockError::Error(error)) => return Err(SelfTrainError::file("lock", &lock_path)(error)),
        }
        let name = format!("process {}\n", std::process::id());
        let written = lock.set_len(0).and_then(|()| lock.write_all(name.as_bytes()));
        written.map_err(SelfTrainError::file("write", &lock_path))?;
        Ok(Folder { path, _lock: lock })
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.file("log.jsonl")
    }

    /// The best weights, once there are some.
    pub fn best(&self) -> PathBuf {
        self.file("best.json")
    }

    /// The folder of a generation.
    pub fn generation(&self, generation: u32) -> PathBuf {
        self.file(&format!("generation-{generation:03}"))
    }

    /// The weights of a generation; 0 for those at the start.
    pub fn weights(&self, generation: u32) -> PathBuf {
        match generation {
            0 => self.file("start.json"),
            _ => self.generation(generation).join("weights.json"),
        }
    }

    /// The weights of a generation before their refinement, if they had one.
    pub fn base(&self, generation: u32) -> PathBuf {
        let base = self.generation(generation).join("base.json");
        if base.exists() { base } else { self.weights(generation) }
    }

    /// The labeled positions of a generation.
    pub fn labeled(&self, generation: u32) -> PathBuf {
        self.generation(generation).join("labeled.samples")
    }

    /// Saves how far it is.
    pub fn save_state(&self, state: &State) -> Result<(), SelfTrainError> {
        save(&self.file("state.json"), state)
    }
}

/// Writes a value as JSON, whole or not at all.
pub(super) fn save(path: &Path, value: &impl Serialize) -> Result<(), SelfTrainError> {
    let text = serde_json::to_vec_pretty(value).expect("plain data");
    write_whole(path, &text).map_err(SelfTrainError::file("write", path))
}

/// Reads a value from JSON.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> Result<T, SelfTrainError> {
    let text = fs::read(path).map_err(SelfTrainError::file("read", path))?;
    let wrong = |error: serde_json::Error| SelfTrainError::Settings(format!("{}: {error}", path.display()));
    serde_json::from_slice(&text).map_err(wrong)
}

/// How far the self-training in `folder` is, and its settings.
pub(super) fn standing(folder: &Path) -> Result<(State, Settings), SelfTrainError> {
    let state = folder.join("state.json");
    if !state.exists() {
        return Err(SelfTrainError::Missing(folder.to_path_buf()));
    }
    Ok((load(&state)?, load(&folder.join("settings.json"))?))
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
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let unfinished = path.extension().is_some_and(|end| end == "tmp" || end == "new");
        if unfinished && path.is_file() {
            remove(&path)?;
        }
    }
    Ok(())
}
