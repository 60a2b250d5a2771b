//! Self-training: generations of games, training and matches, for as long as somebody wants.
//!
//! A generation goes through the [`Stage`]s: the best weights play against themselves, positions are drawn from
//! the games, a deeper search finds the desired moves, comparison training makes new weights of the best ones,
//! their scale is fitted to the results, and a match shows whether they are stronger. Each stage is one call of
//! a module that also serves alone; here is only their order, and what remains on disk ([`folder`]).
//!
//! Each stage leaves a file that is written atomically, or one that grows by complete games or labels, and
//! `state.json` says which stage it is. So a training that was stopped, or killed at any moment, is resumed where it
//! was, and ends with the weights of one that was not. They depend on settings and seed, not on the threads.

mod error;
mod event;
pub(crate) mod folder;
mod generation;
pub mod generator;
mod progress;
mod self_play;
mod settings;
mod stages;
#[cfg(test)]
mod tests;
mod window;

use std::path::{Path, PathBuf};

use dyad_engine::eval::Weights;

use crate::learn::folder::BEST;
pub use error::SelfTrainError;
pub use event::{Event, Progress, Stage, Summary, Surroundings};
use folder::{Folder, check_free, save, standing};
pub use settings::{Settings, Source};
use stages::Loop;

/// Begins a self-training from `start` in `folder`, which is made if it is not there.
///
/// # Errors
/// When the folder holds a training already, or files of somebody else that would be overwritten, is in use or cannot
/// be written, and when a stage fails.
pub fn begin(
    settings: &Settings,
    start: &Weights,
    folder: &Path,
    surroundings: Surroundings,
) -> Result<Summary, SelfTrainError> {
    settings.check().map_err(SelfTrainError::Settings)?;
    check_free(folder)?;
    let folder = Folder::take(folder)?;
    if folder.is_begun() {
        return Err(SelfTrainError::Exists(folder.path().to_path_buf()));
    }
    let state = folder.begin(settings, start)?;
    Loop::new(folder, settings.clone(), state, surroundings)?.run()
}

/// Resumes the self-training in `folder`. `change` may adjust settings: threads and the number of
/// generations at once, all others from the next generation on.
///
/// # Errors
/// When there is no training in the folder, it is in use or cannot be written, and when a stage fails.
pub fn resume(
    folder: &Path,
    change: &dyn Fn(&mut Settings),
    surroundings: Surroundings,
) -> Result<Summary, SelfTrainError> {
    standing(folder)?;
    let taken = Folder::take(folder)?;
    let (state, mut settings) = standing(folder)?;
    change(&mut settings);
    settings.check().map_err(SelfTrainError::Settings)?;
    save(&taken.settings(), &settings)?;
    Loop::new(taken, settings, state, surroundings)?.run()
}

/// The best weights of the self-training in `folder`, an absolute path; none before a generation was adopted.
#[must_use]
pub fn best(folder: &Path) -> Option<PathBuf> {
    std::path::absolute(folder.join(BEST)).ok().filter(|path| path.exists())
}
