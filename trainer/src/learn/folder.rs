//! The folder of a run: what is where, under which name.
//!
//! | file | what |
//! |---|---|
//! | `lock` | held by the process that trains here |
//! | `settings.json` | the settings |
//! | `data.json` | which samples (hash and counts), and the identity of the weights at the start |
//! | `log.jsonl` | the log, see [`crate::learn::log::LogLine`] |
//! | `checkpoint.bin` | the last checkpoint |
//! | `iteration-00.json` | the weights at the start |
//! | `iteration-01.json`, ... | the weights after each iteration |
//! | `best.json` | those with the best move-match accuracy on the test positions |
//! | `report.html` | what there is to see of it, renewed while it trains |
//!
//! Every file but the log is written [atomically](crate::base::atomic).

use crate::base::json_lines::Log;
use crate::base::lock::{FolderLock, LockError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The settings; a self-training calls its own so too.
pub const SETTINGS: &str = "settings.json";
/// Which samples, and which start.
pub const DATA: &str = "data.json";
/// The log; a self-training calls its own so too.
pub const LOG: &str = "log.jsonl";
/// The last checkpoint.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// The best weights; a self-training calls its own so too.
pub const BEST: &str = "best.json";
/// The page about it; a self-training calls its own so too.
pub const REPORT: &str = "report.html";

/// The weights after iteration `iteration`; 0 for those at the start.
#[must_use]
pub fn iteration_name(iteration: u32) -> String {
    format!("iteration-{iteration:02}.json")
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder for a new run. It may be there, but not with a run in it.
    ///
    /// # Errors
    /// When there is a run in it, or the folder cannot be made.
    pub fn create(path: &Path) -> io::Result<Folder> {
        fs::create_dir_all(path)?;
        let folder = Folder { path: path.to_path_buf() };
        if Folder::holds_run(path) {
            let message = format!("{} holds a run already", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Ok(folder)
    }

    /// The folder of a run that was begun.
    ///
    /// # Errors
    /// When there is no run in it.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let folder = Folder { path: path.to_path_buf() };
        if !Folder::holds_run(path) {
            let message = format!("{} is not the folder of a run", path.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        Ok(folder)
    }

    /// Takes it for this process, as long as the lock lives.
    ///
    /// # Errors
    /// As [`FolderLock::take`].
    pub fn lock(&self) -> Result<FolderLock, LockError> {
        FolderLock::take(&self.path)
    }

    /// Whether a run was begun in the folder at `path`.
    #[must_use]
    pub fn holds_run(path: &Path) -> bool {
        path.join(SETTINGS).exists()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings.
    pub fn settings(&self) -> PathBuf {
        self.path.join(SETTINGS)
    }

    /// Which samples.
    pub fn data(&self) -> PathBuf {
        self.path.join(DATA)
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// Opens the log, cut to its first `bytes` bytes.
    ///
    /// # Errors
    /// When the file cannot be opened or cut.
    pub fn open_log(&self, bytes: u64) -> io::Result<Log> {
        Log::open(&self.log(), bytes)
    }

    /// The checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join(CHECKPOINT)
    }

    /// The weights after iteration `iteration`; 0 for those at the start.
    pub fn iteration(&self, iteration: u32) -> PathBuf {
        self.path.join(iteration_name(iteration))
    }

    /// The best weights.
    pub fn best(&self) -> PathBuf {
        self.path.join(BEST)
    }
}

/// Whether a run folder has a file of this name that is written atomically.
pub(crate) fn is_known(name: &str) -> bool {
    let number = name.strip_prefix("iteration-").and_then(|rest| rest.strip_suffix(".json"));
    let is_iteration = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_iteration || [SETTINGS, DATA, CHECKPOINT, BEST, REPORT].contains(&name)
}
