//! Why a training cannot start or be resumed.

use crate::base::lock::LockError;
use dyad_engine::eval::WeightsError;
use dyad_formats::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a training cannot start or be resumed.
#[derive(Debug)]
pub enum TrainError {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// The samples cannot be read.
    Samples(io::Error),
    /// The checkpoint cannot be used.
    Checkpoint(CheckpointError),
    /// The folder is in use or cannot be locked.
    Locked(LockError),
    /// Weights cannot be read, used or written.
    Weights(WeightsError),
    /// The settings or data do not allow it.
    Refused(String),
    /// Temporary files of a killed process cannot be removed.
    Data(Error),
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TrainError::File(path, error) => write!(f, "{}: {error}", path.display()),
            TrainError::Samples(error) => write!(f, "reading samples: {error}"),
            TrainError::Checkpoint(error) => error.fmt(f),
            TrainError::Locked(error) => error.fmt(f),
            TrainError::Weights(error) => error.fmt(f),
            TrainError::Refused(why) => f.write_str(why),
            TrainError::Data(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TrainError {}

impl From<LockError> for TrainError {
    fn from(error: LockError) -> TrainError {
        TrainError::Locked(error)
    }
}

impl From<WeightsError> for TrainError {
    fn from(error: WeightsError) -> TrainError {
        TrainError::Weights(error)
    }
}

/// Why a checkpoint cannot be used.
#[derive(Debug)]
pub struct CheckpointError(pub(super) String);

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CheckpointError {}
