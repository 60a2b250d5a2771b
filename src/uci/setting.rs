//! Changes of the session that wait for the engine: options, a new game, weights.
//!
//! Some take seconds, such as a table of many gigabytes or a file on a slow disk. So all are jobs, and the event loop
//! answers in the meantime.

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
        /// Bytes of the value.
        length: usize,
    },
    /// Forget other games.
    NewGame,
    /// Play with the weights that a training has proven stronger.
    Promote(Box<Promoted>),
    /// Play with the weights of a training that is resumed.
    UsePlaying(Playing),
    /// Play with trained weights, as a GUI does that does not set `UseTrained`.
    UseTrained,
    /// Take trained weights from this `TrainFolder`.
    TrainFolder(Option<PathBuf>),
}

impl Setting {
    /// Bytes of memory that its texts take.
    pub fn size(&self) -> usize {
        match self {
            Setting::Option { length, .. } => *length,
            Setting::Promote(promoted) => promoted.trained.path.as_os_str().len(),
            Setting::UsePlaying(Playing { path, .. }) | Setting::TrainFolder(Some(path)) => path.as_os_str().len(),
            Setting::NewGame | Setting::UseTrained | Setting::TrainFolder(None) => 0,
        }
    }

    /// Makes the change. The lines are for the user.
    pub fn apply(&self, session: &mut Session) -> Vec<String> {
        let note = match self {
            Setting::Option { name, set, .. } => report(name, set(session)),
            Setting::NewGame => {
                session.engine.clear();
                session.opponent.new_game();
                session.trained_is_said = false;
                None
            }
            Setting::Promote(promoted) => Some(format!("train {}", weights::promote(session, promoted))),
            Setting::UsePlaying(playing) => match weights::use_playing(session, playing) {
                Ok(note) => note.map(|note| format!("train {note}")),
                Err(error) => Some(format!("train error: {error}")),
            },
            Setting::UseTrained => report("UseTrained", weights::set_use_trained(session, true)),
            Setting::TrainFolder(folder) => report("UseTrained", weights::set_folder(session, folder.clone())),
        };
        note.map(|note| info_string(&note)).into_iter().collect()
    }
}

/// What setting an option reports.
fn report(name: &str, outcome: Outcome) -> Option<String> {
    let note = outcome.unwrap_or_else(Some)?;
    Some(format!("{name}: {note}"))
}
