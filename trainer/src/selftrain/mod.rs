//! Self-training: generations of games, training and matches, for as long as somebody wants.
//!
//! A generation goes through the [`Stage`]s: the best weights play against themselves, positions are drawn from
//! the games, a deeper search finds the desired moves, comparison training makes new weights of the best ones,
//! their scale is fitted to the results, games say how far to go along the directions that it found, where the best weights are
//! good already, and a match shows whether they are stronger. Each stage is one call of
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
mod tuning;
mod window;

use std::path::{Path, PathBuf};

use dyad_engine::eval::Weights;
use dyad_engine::files;
use serde::Deserialize;

use crate::arena::statistics::Estimate;
use crate::base::atomic;
use crate::learn::folder::{BEST, LOG};
pub use error::SelfTrainError;
pub use event::{Event, Progress, Stage, Summary, Surroundings};
use folder::{Folder, STATE, check_free, save, standing};
pub use settings::{FitSettings, Settings, Source};
use stages::Loop;

/// Begins a self-training from `start` in `folder`, which is made if it is not there. Settings that have their defaults
/// follow the start ([`Settings::for_start`]).
///
/// # Errors
/// When the folder holds a training already, or files of somebody else that would be overwritten, is in use or cannot
/// be written, when the games to learn from cannot be opened, and when a stage fails.
pub fn begin(
    settings: &Settings,
    start: &Weights,
    folder: &Path,
    surroundings: Surroundings,
) -> Result<Summary, SelfTrainError> {
    let settings = &settings.clone().for_start(start);
    settings.check().map_err(SelfTrainError::Settings)?;
    if let Source::Games(games) = &settings.source {
        files::open(games).map_err(SelfTrainError::file("open", games))?;
    }
    check_free(folder)?;
    let folder = Folder::take(folder)?;
    if folder.is_begun() {
        return Err(SelfTrainError::Exists(folder.path().to_path_buf()));
    }
    let state = folder.begin(settings, start)?;
    Loop::new(folder, settings.clone(), state, surroundings)?.run()
}

/// Resumes the self-training in `folder`. `change` may adjust settings: threads and the number of
/// generations at once, all others from the next generation on that has no game or position yet.
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

/// How far a self-training is.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The generation under way, or the next one.
    pub generation: u32,
    /// What it goes through.
    pub stage: Stage,
    /// How many generations were adopted.
    pub adopted: u32,
    /// Elo of the best weights against the oldest by the last match of these two; nothing before one. What the adopted
    /// generations have won is no measure: the luck of each match that was just won adds up.
    pub gained: Option<Estimate>,
}

/// How far the self-training in `folder` is; nothing if there is none, or none that can be resumed.
#[must_use]
pub fn overview(folder: &Path) -> Option<Overview> {
    let (state, _) = standing(folder).ok()?;
    let log = atomic::read(&folder.join(LOG)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let anchor = lines.rfind(|line| line["anchor"].is_u64());
    let gained = anchor.and_then(|line| Estimate::deserialize(&line["match"]["elo"]).ok());
    Some(Overview { generation: state.generation, stage: state.stage, adopted: state.adopted, gained })
}

/// Whether a self-training was begun in `folder`.
#[must_use]
pub fn is_begun(folder: &Path) -> bool {
    folder.join(STATE).exists()
}

/// The best weights of the self-training in `folder`, an absolute path; none before a generation was adopted.
#[must_use]
pub fn best(folder: &Path) -> Option<PathBuf> {
    std::path::absolute(folder.join(BEST)).ok().filter(|path| path.exists())
}
