//! Changes of the session: options, a new game, weights.
//!
//! Some take seconds, as a hash table of many gigabytes or a file on a slow disk. So all are jobs, and the event loop
//! stays responsive.

use std::path::PathBuf;

use dyad_trainer::selftrain::Playing;

use super::options::Setter;
use super::weights;
use crate::session::{Outcome, PlayTrained, Session};
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
    /// Use weights that a training has adopted or proven stronger, as `PlayTrained` says.
    Promote(Box<Promoted>),
    /// Use the weights of a resumed training.
    UsePlaying(Playing),
    /// Set `PlayTrained` to its default for GUIs, unless it was set.
    PlayTrained,
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
            Setting::NewGame | Setting::PlayTrained | Setting::TrainFolder(None) => 0,
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
            Setting::Promote(promoted) => Ok(weights::promote(session, promoted).map(|note| format!("train {note}"))),
            // An option may have changed the weights since the training began.
            Setting::UsePlaying(playing) if !playing.has_beaten(session.engine.weights()) => Ok(None),
            Setting::UsePlaying(_)
                if !matches!(session.settings.weights.play_trained, None | Some(PlayTrained::Proven)) =>
            {
                Ok(None)
            }
            Setting::UsePlaying(playing) => match weights::use_playing(session, playing) {
                Ok(note) => Ok(note.map(|note| format!("train {note}"))),
                Err(error) => Err(format!("train error: {error}")),
            },
            Setting::PlayTrained if session.settings.weights.play_trained.is_some() => Ok(None),
            Setting::PlayTrained => named("PlayTrained", weights::set_play_trained(session, PlayTrained::NAMES[0])),
            Setting::TrainFolder(folder) => named("PlayTrained", weights::set_folder(session, folder.clone())),
        }
    }
}

/// The note of an option that was set, or its error, with the name of the option.
fn named(name: &str, outcome: Outcome) -> Outcome {
    let with_name = |text: String| format!("{name}: {text}");
    outcome.map(|note| note.map(with_name)).map_err(with_name)
}
