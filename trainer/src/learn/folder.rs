//! The run folder: its files and their names.
//!
//! | file | what |
//! |---|---|
//! | `lock` | held by the process that trains here |
//! | `settings.json` | the settings |
//! | `data.json` | identity of the samples (hash and counts) and of the initial weights |
//! | `log.jsonl` | the log, see [`crate::learn::log::LogLine`] |
//! | `checkpoint.bin` | the last checkpoint |
//! | `iteration-00.json` | the initial weights |
//! | `iteration-01.json`, ... | the weights after each iteration |
//! | `best.json` | the weights with the best move-match accuracy on the test positions |
//! | `report.html` | the report page, refreshed during the training |
//!
//! Every file but the log is written [atomically](dyad_formats::files).

use crate::base::json_lines::Log;
use crate::base::lock::FolderLock;
use dyad_formats::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// The settings; self-training uses the same name.
pub const SETTINGS: &str = "settings.json";
/// Identity of the samples and of the initial weights.
pub const DATA: &str = "data.json";
/// The log; self-training uses the same name.
pub const LOG: &str = "log.jsonl";
/// The last checkpoint.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// The best weights; self-training uses the same name.
pub const BEST: &str = "best.json";
/// The report page; self-training uses the same name.
pub const REPORT: &str = "report.html";

/// The weights after iteration `iteration`; 0 is for the initial weights.
#[must_use]
pub fn iteration_name(iteration: u32) -> String {
    format!("iteration-{iteration:02}.json")
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// The run folder at `path`, which need not exist.
    #[must_use]
    pub fn new(path: &Path) -> RunFolder {
        RunFolder(path.to_path_buf())
    }

    /// Locks the folder for this process until the lock is dropped.
    ///
    /// # Errors
    /// As [`FolderLock::take`].
    pub fn lock(&self) -> Result<FolderLock, Error> {
        FolderLock::take(&self.0)
    }

    /// Whether it contains a run.
    #[must_use]
    pub fn holds_run(&self) -> bool {
        self.settings().exists()
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Path of the settings.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.0.join(SETTINGS)
    }

    /// Path of the data identity.
    pub(super) fn data(&self) -> PathBuf {
        self.0.join(DATA)
    }

    /// Path of the log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.0.join(LOG)
    }

    /// Opens the log, truncated to its first `bytes` bytes.
    pub(super) fn open_log(&self, bytes: u64) -> io::Result<Log> {
        Log::open(&self.log(), bytes)
    }

    /// Path of the checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.0.join(CHECKPOINT)
    }

    /// The weights after iteration `iteration`; 0 is for the initial weights.
    #[must_use]
    pub fn iteration(&self, iteration: u32) -> PathBuf {
        self.0.join(iteration_name(iteration))
    }

    /// Path of the best weights.
    #[must_use]
    pub fn best(&self) -> PathBuf {
        self.0.join(BEST)
    }
}

/// Whether a run folder writes a file of this name atomically.
pub(crate) fn is_known(name: &str) -> bool {
    let number = name.strip_prefix("iteration-").and_then(|rest| rest.strip_suffix(".json"));
    let is_iteration = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    is_iteration || [SETTINGS, DATA, CHECKPOINT, BEST, REPORT].contains(&name)
}
