//! Self-training: generations of games, training and matches, for as long as somebody wants.

mod error;
mod event;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dyad_engine::eval::Weights;

pub use error::SelfTrainError;
pub use event::{Event, Progress, Stage};
pub use settings::{Settings, Source};

/// What a self-training has from outside.
pub struct Surroundings<'a> {
    /// Set by whoever wants it to end: it does within about a second, and everything is kept.
    pub stop: &'a AtomicBool,
    /// Hears of what happens, on the thread of the caller.
    pub report: &'a mut dyn FnMut(&Event),
}

/// How a self-training ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whether all generations are done, rather than stopped on request.
    pub finished: bool,
    /// Generations that are done.
    pub generations: u32,
    /// How many of them were adopted.
    pub adopted: u32,
    /// The best weights, an absolute path; none before a generation was adopted.
    pub best: Option<PathBuf>,
}

/// Begins a self-training from `start` in `folder`, which is made if it is not there.
///
/// # Errors
/// When the folder holds a training already, is in use or cannot be written, and when a stage fails.
pub fn begin(
    settings: &Settings,
    start: &Weights,
    folder: &Path,
    surroundings: Surroundings,
) -> Result<Summary, SelfTrainError> {
    settings.check().map_err(SelfTrainError::Settings)?;
    let _ = (start, surroundings);
    Err(SelfTrainError::Missing(folder.to_path_buf()))
}

/// Goes on with the self-training in `folder`. `change` may adjust settings: threads and the number of
/// generations at once, all others from the next generation on.
///
/// # Errors
/// When there is no training in the folder, it is in use or cannot be written, and when a stage fails.
pub fn resume(
    folder: &Path,
    change: &dyn Fn(&mut Settings),
    surroundings: Surroundings,
) -> Result<Summary, SelfTrainError> {
    let _ = (change, surroundings);
    Err(SelfTrainError::Missing(folder.to_path_buf()))
}

/// Whether `folder` holds a self-training with generations left to do.
#[must_use]
pub fn is_unfinished(folder: &Path) -> bool {
    folder.join("state.json").exists()
}

/// The best weights of the self-training in `folder`, an absolute path; none before a generation was adopted.
#[must_use]
pub fn best(folder: &Path) -> Option<PathBuf> {
    std::path::absolute(folder.join("best.json")).ok().filter(|path| path.exists())
}
