//! The error type of the trainer.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be read or written, an engine not asked, or settings not used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused to open, read, write or rename a file.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// What was tried: "read", "write"...
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path}, {place}: {problem}")]
    Content {
        /// The file.
        path: PathBuf,
        /// Where in it: a line, a block, a byte.
        place: String,
        /// What was expected and what came.
        problem: String,
    },
    /// An outside engine did not answer as an engine does.
    #[error("engine: {0}")]
    Engine(String),
    /// Settings that contradict each other or the data.
    #[error("settings: {0}")]
    Settings(String),
    /// Nothing was found; says where.
    #[error("{0}")]
    Nothing(String),
    /// The job was stopped before it was done.
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
    pub fn content(path: &Path, place: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::Content { path: path.to_path_buf(), place: place.into(), problem: problem.into() }
    }
}
