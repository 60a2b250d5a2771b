//! The error type of the trainer.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be read or written, an engine not asked, or settings not used.
#[derive(Debug)]
pub enum Error {
    /// The system refused to open, read, write or rename a file.
    File {
        /// What was tried: "read", "write"...
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file does not hold what it should.
    Content {
        /// The file.
        path: PathBuf,
        /// Where in it: a line, a block, a byte.
        place: String,
        /// What was expected and what came.
        problem: String,
    },
    /// An outside engine did not answer as an engine does.
    Engine(String),
    /// Settings that contradict each other or the data.
    Settings(String),
    /// Nothing was found; says where.
    Nothing(String),
    /// The job was stopped before it was done.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { doing, path, source } => write!(f, "cannot {doing} {}: {source}", path.display()),
            Error::Content { path, place, problem } => write!(f, "{}, {place}: {problem}", path.display()),
            Error::Engine(problem) => write!(f, "engine: {problem}"),
            Error::Settings(problem) => write!(f, "settings: {problem}"),
            Error::Nothing(what) => f.write_str(what),
            Error::Stopped => write!(f, "stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } => Some(source),
            _ => None,
        }
    }
}
