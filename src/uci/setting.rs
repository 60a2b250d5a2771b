//! Changes of the session: options, a new game, weights.
//!
//! Some take seconds, as a hash table of many gigabytes or a file on a slow disk. So all are jobs, and the event loop
//! stays responsive.

use std::path::PathBuf;

use dyad_trainer::selftrain::Playing;

use super::options::Setter;
use super::weights;
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

    /// Applies the change. Returns a note for the user, or the error.
    pub fn apply(&self, session: &mut Session) -> Outcome {
        match self {
            Setting::Option { name, set, .. } => named(name, set(session)),
            Setting::NewGame => {
                session.engine.clear();
                session.opponent.new_game();
                session.trained_reported = false;
                Ok(None)
            }
            Setting::Promote(promoted) => Ok(Some(format!("train {}", weights::promote(session, promoted)))),
            // An option may have changed the weights since the training began.
            Setting::UsePlaying(playing) if !playing.has_beaten(session.engine.weights()) => Ok(None),
            Setting::UsePlaying(_) if session.settings.weights.use_trained == Some(false) => Ok(None),
            Setting::UsePlaying(playing) => match weights::use_playing(session, playing) {
                Ok(note) => Ok(note.map(|note| format!("train {note}"))),
                Err(error) => Err(format!("train error: {error}")),
            },
            Setting::UseTrained if session.settings.weights.use_trained.is_some() => Ok(None),
            Setting::UseTrained => named("UseTrained", weights::set_use_trained(session, true)),
            Setting::TrainFolder(folder) => named("UseTrained", weights::set_folder(session, folder.clone())),
        }
    }
}

/// The note of an option that was set, or its error, with the name of the option.
fn named(name: &str, outcome: Outcome) -> Outcome {
    let with_name = |text: String| format!("{name}: {text}");
    outcome.map(|note| note.map(with_name)).map_err(with_name)
}
