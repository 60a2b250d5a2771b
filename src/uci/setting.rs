//! Changes of the session: options, a new game, weights.
//!
//! Some take seconds, as a hash table of many gigabytes or a file on a slow disk. So all are jobs, and the event loop
//! stays responsive.

use std::path::PathBuf;

use dyad_trainer::selftrain::Playing;

use super::options::Setter;
use super::weights;
use crate::info::info_string;
use crate::session::{Outcome, Session};
use crate::training::Promoted;

/// A change of the session.
pub enum Setting {
    /// Set an option.
    Option {
        /// The option.
        name: &'static str,
        /// Sets it.
        set: Setter<Session>,
        /// Length of the value in bytes.
        length: usize,
    },
    /// Clear the hash table and the histories.
    NewGame,
    /// Use weights that a training has proven stronger.
    Promote(Box<Promoted>),
    /// Use the weights of a resumed training.
    UsePlaying(Playing),
    /// Turn `UseTrained` on, its default for GUIs, unless it was set.
    UseTrained,
    /// Set the `TrainFolder` of trained weights.
    TrainFolder(Option<PathBuf>),
}

impl Setting {
    /// Size of its texts in bytes.
    pub fn size(&self) -> usize {
        match self {
            Setting::Option { length, .. } => *length,
            Setting::Promote(promoted) => promoted.trained.path.as_os_str().len(),
            Setting::UsePlaying(Playing { path, .. }) | Setting::TrainFolder(Some(path)) => path.as_os_str().len(),
            Setting::NewGame | Setting::UseTrained | Setting::TrainFolder(None) => 0,
        }
    }

    /// Applies the change. Returns lines for the user.
    pub fn apply(&self, session: &mut Session) -> Vec<String> {
        let note = match self {
            Setting::Option { name, set, .. } => report(name, set(session)),
            Setting::NewGame => {
                session.engine.clear();
                session.opponent.new_game();
                session.trained_reported = false;
                None
            }
            Setting::Promote(promoted) => Some(format!("train {}", weights::promote(session, promoted))),
            // An option may have changed the weights since the training began.
            Setting::UsePlaying(playing) if !playing.has_beaten(session.engine.weights()) => None,
            Setting::UsePlaying(playing) => match weights::use_playing(session, playing) {
                Ok(note) => note.map(|note| format!("train {note}")),
                Err(error) => Some(format!("train error: {error}")),
            },
            Setting::UseTrained if session.settings.weights.use_trained.is_some() => None,
            Setting::UseTrained => report("UseTrained", weights::set_use_trained(session, true)),
            Setting::TrainFolder(folder) => report("UseTrained", weights::set_folder(session, folder.clone())),
        };
        note.map(|note| info_string(&note)).into_iter().collect()
    }
}

/// The message of an option that was set, or of its error.
fn report(name: &str, outcome: Outcome) -> Option<String> {
    let note = outcome.unwrap_or_else(Some)?;
    Some(format!("{name}: {note}"))
}
