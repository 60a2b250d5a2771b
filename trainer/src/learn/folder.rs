//! The folder of a run: what is where, and files that are whole or absent.
//!
//! | file | what |
//! |---|---|
//! | `settings.json` | the settings |
//! | `data.json` | which samples (hash and counts), and the identity of the weights at the start |
//! | `log.jsonl` | the log, see [`crate::learn::log::LogLine`] |
//! | `checkpoint.bin` | the last checkpoint |
//! | `iteration-00.json` | the weights at the start |
//! | `iteration-01.json`, ... | the weights after each iteration |
//! | `best.json` | those with the best agreement on the test positions |
//!
//! Every file but the log is [whole or absent](crate::base::atomic).

use crate::learn::log::Log;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A run folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder for a new run. It may be there, but not with a run in it.
    pub fn create(path: &Path) -> io::Result<Folder> {
        fs::create_dir_all(path)?;
        let folder = Folder { path: path.to_path_buf() };
        if folder.settings().exists() {
            let message = format!("{} holds a run already", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Ok(folder)
    }

    /// The folder of a run that was begun.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let folder = Folder { path: path.to_path_buf() };
        if !folder.settings().exists() {
            let message = format!("{} is not the folder of a run", path.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings.
    pub fn settings(&self) -> PathBuf {
        self.path.join("settings.json")
    }

    /// Which samples.
    pub fn data(&self) -> PathBuf {
        self.path.join("data.json")
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.path.join("log.jsonl")
    }

    /// Opens the log, cut to its first `bytes` bytes.
    pub fn open_log(&self, bytes: u64) -> io::Result<Log> {
        Log::open(&self.log(), bytes)
    }

    /// The checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint.bin")
    }

    /// The weights after iteration `iteration`; 0 for those at the start.
    pub fn iteration(&self, iteration: u32) -> PathBuf {
        self.path.join(format!("iteration-{iteration:02}.json"))
    }

    /// The best weights.
    pub fn best(&self) -> PathBuf {
        self.path.join("best.json")
    }
}

/// Whether a run folder has a file of this name that is written whole.
pub(crate) fn is_known(name: &str) -> bool {
    let number = name.strip_prefix("iteration-").and_then(|rest| rest.strip_suffix(".json"));
    let is_iteration = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_iteration || ["settings.json", "data.json", "checkpoint.bin", "best.json"].contains(&name)
}
