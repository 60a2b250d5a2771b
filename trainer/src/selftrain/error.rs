//! Errors of a self-training.

use std::io;
use std::path::{Path, PathBuf};

use dyad_engine::eval::WeightsError;
use dyad_formats::error::Error;

use crate::base::lock::LockError;

/// The reason why a self-training cannot begin, resume or continue. Completed work is kept.
#[derive(Debug, thiserror::Error)]
pub enum SelfTrainError {
    /// Another process trains in the folder.
    #[error("{folder} is in use: {by} trains there")]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// The process, as far as it is known.
        by: String,
    },
    /// The folder holds a training.
    #[error("{0} holds a training already: resume it, or choose another folder")]
    Exists(PathBuf),
    /// The folder holds no training, but a file with a name that a training uses.
    #[error("{folder} holds {name}, but no self-training: a new one would overwrite it, choose another folder")]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The file.
        name: &'static str,
    },
    /// The folder is the root of a file system.
    #[error("{0} is the root of a file system: name a folder in it")]
    Root(PathBuf),
    /// A file that determines how a training is resumed is damaged.
    #[error("{path} is damaged: {problem}; nothing was changed. Put back a copy of it, or train in another folder")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// There is no training in the folder.
    #[error("there is no training in {0}")]
    Missing(PathBuf),
    /// An error of the operating system, as an unwritable folder or a full disk.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// The operation, as "read" or "write".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Settings that contradict each other or the data.
    #[error("settings: {0}")]
    Settings(String),
    /// A stage failed.
    #[error(transparent)]
    Data(Error),
    /// Weights that cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

impl SelfTrainError {
    /// An error of the system, for `map_err`.
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SelfTrainError {
        let path = path.to_path_buf();
        move |source| SelfTrainError::File { doing, path, source }
    }
}

impl From<LockError> for SelfTrainError {
    fn from(error: LockError) -> SelfTrainError {
        match error {
            LockError::InUse { folder, by } => SelfTrainError::Locked { folder, by },
            LockError::Foreign(_) | LockError::Link(_) => SelfTrainError::Settings(error.to_string()),
            LockError::File(path, source) => SelfTrainError::File { doing: "lock", path, source },
        }
    }
}

impl From<Error> for SelfTrainError {
    fn from(error: Error) -> SelfTrainError {
        match error {
            Error::File { doing, path, source } => SelfTrainError::File { doing, path, source },
            Error::Settings(problem) => SelfTrainError::Settings(problem),
            Error::Weights(error) => SelfTrainError::Weights(error),
            other => SelfTrainError::Data(other),
        }
    }
}
