//! The error type of the trainer.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

use dyad_engine::eval::WeightsError;
use dyad_engine::search::HashError;

/// Why a work cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused to open, read, write or rename a file.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// The operation: "read", "write"...
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The content of a file cannot be used.
    #[error("{path}, {place}: {problem}")]
    Content {
        /// The file.
        path: PathBuf,
        /// The place in the file: a line, a block, a byte.
        place: String,
        /// What was expected and what was found.
        problem: Box<dyn StdError + Send + Sync>,
    },
    /// Settings that contradict each other or the data.
    #[error("settings: {0}")]
    Settings(String),
    /// Weights cannot be read, used or written.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// There is no memory for a transposition table.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// A part of the work failed.
    #[error("{part}: {source}")]
    Part {
        /// Name of the part.
        part: String,
        /// Its error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A folder cannot be used: another process works in it, it holds files of others, or one of its files is damaged.
    #[error("{0}")]
    Folder(String),
    /// Nothing was found; says where.
    #[error("{0}")]
    Nothing(String),
    /// The work was stopped before it was done.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// An I/O error, for `map_err`.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::File { doing, path, source }
    }

    /// An error in a file's content.
    pub fn content(
        path: &Path,
        place: impl Into<String>,
        problem: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Error {
        Error::Content { path: path.to_path_buf(), place: place.into(), problem: problem.into() }
    }

    /// The error of a part of the work, for `map_err`.
    pub fn part<E: Into<Box<dyn StdError + Send + Sync>>>(part: &str) -> impl FnOnce(E) -> Error {
        let part = part.to_string();
        move |source| Error::Part { part, source: source.into() }
    }
}
