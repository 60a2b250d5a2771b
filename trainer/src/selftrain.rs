//! Self-training: generations of games, training and matches, for as long as somebody wants.
//!
//! A generation goes through the [`Stage`]s: the best weights play against themselves, positions are drawn from
//! the games, a deeper search finds the desired moves, comparison training makes new weights of the best ones,
//! their scale is fitted to the results, and a match shows whether they are stronger. Each stage is one call of
//! a module that also serves alone; here is only their order, and what remains on disk ([`folder`]).
//!
//! Each stage leaves a file that is whole or absent, or one that grows by whole games or labels, and
//! `state.json` says which stage it is. So a training that was stopped, or killed at any moment, goes on where it
//! was, and ends with the weights of one that was not. They depend on settings and seed, not on the threads.

mod error;
mod event;
mod folder;
mod games;
mod generation;
mod settings;
#[cfg(test)]
mod tests;
mod window;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dyad_engine::eval::Weights;

pub use error::SelfTrainError;
pub use event::{Event, Progress, Stage};
use folder::{Folder, check_free, save, standing};
use generation::Loop;
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
        return Err(SelfTrainError::Exists(folder.file("")));
    }
    let state = folder.begin(settings, start)?;
    Loop::new(folder, settings.clone(), state, surroundings)?.run()
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
    standing(folder)?;
    let taken = Folder::take(folder)?;
    let (state, mut settings) = standing(folder)?;
    change(&mut settings);
    settings.check().map_err(SelfTrainError::Settings)?;
    save(&taken.file("settings.json"), &settings)?;
    Loop::new(taken, settings, state, surroundings)?.run()
}

/// The best weights of the self-training in `folder`, an absolute path; none before a generation was adopted.
#[must_use]
pub fn best(folder: &Path) -> Option<PathBuf> {
    std::path::absolute(folder.join("best.json")).ok().filter(|path| path.exists())
}
