//! Why a training cannot start or be resumed.

use std::io;
use std::path::PathBuf;

use dyad_engine::eval::WeightsError;
use dyad_formats::error::Error;

use crate::base::lock::LockError;

/// Why a training cannot start or be resumed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A file cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, #[source] io::Error),
    /// The samples cannot be read.
    #[error("reading samples: {0}")]
    Samples(#[source] io::Error),
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(CheckpointError),
    /// The folder is in use or cannot be locked.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// Weights cannot be read, used or written.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The settings or data do not allow it.
    #[error("{0}")]
    Refused(String),
    /// Temporary files of a killed process cannot be removed.
    #[error(transparent)]
    Data(Error),
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(pub(super) String);
