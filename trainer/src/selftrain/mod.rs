//! Self-training: generations of self-play, training and matches, until it is stopped.
//!
//! A generation consists of [`Stage`]s: the best weights play games, positions are drawn from the games, a [`Method`]
//! makes new weights, and a match decides whether they are adopted. Each stage calls a module that also has a command
//! of its own; this module has their order and the files ([`folder`]).
//!
//! The file of a stage is written atomically, or grows by complete games or labels, and `state.json` has the current
//! stage. So a training that was stopped or killed at any moment resumes, and ends with the same weights as an
//! uninterrupted one. The weights depend on settings and seed, not on the number of threads.

mod event;
pub(crate) mod folder;
mod generation;
pub mod generator;
mod presets;
pub mod recipe;
mod reporter;
pub mod settings;
mod stages;
pub mod strength;
#[cfg(test)]
mod tests;
mod tuning;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files;
use dyad_formats::weights_file;

use crate::arena::pgn_writer::date;
pub use crate::learn::folder::BEST;
use crate::learn::folder::SETTINGS;
pub use event::{Distance, End, SelfTrainEvent, SelfTrainLogLine, SelfTrainSummary, Stage, StageProgress};
use folder::{Folder, REFERENCE, STATE, check_free};
pub use folder::{PLAYING, SelfTrainState, saved};
pub use settings::{Given, Method, SelfTrainSettings};
use stages::{Loop, within};

/// Begins a self-training from the values of the pieces in `folder`, which is created if it is missing. The engine plays with
/// `reference` until a generation is proven stronger. `on_event` receives events on the caller's thread; `stop` ends
/// the training within about a second and keeps everything.
///
/// # Errors
/// When the folder holds a training or files that would be overwritten, is in use or cannot be written, when the games
/// to learn from cannot be opened, and when a stage fails.
pub fn begin(
    settings: &SelfTrainSettings,
    reference: &Weights,
    folder: &Path,
    stop: &Control,
    on_event: &mut dyn FnMut(&SelfTrainEvent),
) -> Result<SelfTrainSummary, Error> {
    settings.check().map_err(Error::Settings)?;
    if let Some(games) = &settings.games_file {
        files::open(games).map_err(Error::file("open", games))?;
    }
    check_free(folder)?;
    let folder = Folder::take(folder)?;
    if is_begun(&folder.path) {
        let folder = folder.path.display();
        return Err(Error::Folder(format!("{folder} holds a training already: resume it, or choose another folder")));
    }
    let state = folder.begin(settings, reference)?;
    run(folder, settings.clone(), state, stop, on_event)
}

/// Resumes the self-training in `folder`, with the settings that are `given` in place of its own. Threads and number of
/// generations change at once, all others from the next generation without games and positions on. With another
/// `reference` than before, the engine plays with that reference until a generation is proven stronger. `on_event`
/// receives events on the caller's thread; `stop` ends the training within about a second and keeps everything.
///
/// # Errors
/// When there is no training in the folder, it is in use or cannot be written, when a setting is given that the
/// training does not have, and when a stage fails.
pub fn resume(
    folder: &Path,
    given: &Given,
    reference: Option<&Weights>,
    stop: &Control,
    on_event: &mut dyn FnMut(&SelfTrainEvent),
) -> Result<SelfTrainSummary, Error> {
    saved(folder)?;
    let taken = Folder::take(folder)?;
    let (mut state, settings) = saved(folder)?;
    let settings = settings.with(given).map_err(Error::Settings)?;
    settings.check().map_err(Error::Settings)?;
    files::write_json(&taken.file(SETTINGS), &settings.to_json())?;
    if let Some(generation) = taken.set_reference(&mut state, reference)? {
        on_event(&SelfTrainEvent::Note(format!(
            "generation {generation} is proven stronger than other weights than those in use now: the next adopted one has to win a long match again"
        )));
    }
    run(taken, settings, state, stop, on_event)
}

/// Runs a training until its end, its time limit, or until it is stopped.
fn run(
    folder: Folder,
    settings: SelfTrainSettings,
    state: SelfTrainState,
    stop: &Control,
    on_event: &mut dyn FnMut(&SelfTrainEvent),
) -> Result<SelfTrainSummary, Error> {
    let limit = Duration::from_secs(60 * settings.minutes);
    let deadline = (settings.minutes > 0).then(|| Instant::now() + limit);
    within(deadline, stop, |stop| Loop::new(folder, settings, state, (stop, deadline), on_event)?.run())
}

/// Whether `folder` holds a self-training.
pub fn is_begun(folder: &Path) -> bool {
    folder.join(STATE).exists()
}

/// The generation and the absolute path of the best weights of the self-training in `folder`; `None` before the first
/// adoption.
pub fn latest(folder: &Path) -> Option<(u32, PathBuf)> {
    let (state, _) = saved(folder).ok()?;
    let path = std::path::absolute(folder.join(BEST)).ok()?;
    (state.best > 0).then_some((state.best, path))
}

/// The weights of a training that the engine plays with.
#[derive(Clone, Debug, PartialEq)]
pub struct Playing {
    /// The generation.
    pub generation: u32,
    /// Absolute path of the weights.
    pub path: PathBuf,
    /// The date of the proof, as YYYY-MM-DD.
    pub since: String,
    /// The weights that it was proven stronger than.
    pub reference: PathBuf,
}

impl Playing {
    /// Whether they are proven stronger than `weights`.
    pub fn has_beaten(&self, weights: &Weights) -> bool {
        weights_file::load(&self.reference).is_ok_and(|reference| reference.plays_as(weights))
    }
}

/// The weights of the self-training in `folder` that are proven stronger than the reference, if any.
pub fn playing(folder: &Path) -> Option<Playing> {
    let (state, _) = saved(folder).ok().filter(|(state, _)| state.playing > 0)?;
    let path = std::path::absolute(folder.join(PLAYING)).ok()?;
    let since = path.metadata().and_then(|data| data.modified()).ok()?;
    let since = date(since).replace('.', "-");
    Some(Playing { generation: state.playing, path, since, reference: folder.join(REFERENCE) })
}
