//! Changes of the session that wait for the engine: options, a new game, weights.
//!
//! Some take seconds, such as a table of many gigabytes or a file on a slow disk. So all are jobs, and the event loop
//! answers in the meantime.

use std::path::PathBuf;
use std::sync::Arc;

use dyad_engine::eval::Weights;

use super::options::Setter;
use super::weights;
use crate::info::info_string;
use crate::session::{Outcome, Session};

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
    /// Play with the weights that a training found better.
    Adopt(Arc<Weights>, PathBuf),
    /// Play with the best weights of a training that is resumed.
    AdoptFile(PathBuf),
    /// Take trained weights from this `TrainFolder`.
    TrainFolder(Option<PathBuf>),
}

impl Setting {
    /// Bytes of memory that its texts take.
    pub fn size(&self) -> usize {
        match self {
            Setting::Option { length, .. } => *length,
            Setting::Adopt(_, path) | Setting::AdoptFile(path) | Setting::TrainFolder(Some(path)) => {
                path.as_os_str().len()
            }
            Setting::NewGame | Setting::TrainFolder(None) => 0,
        }
    }

    /// Makes the change. The lines are for the user.
    pub fn apply(&self, session: &mut Session) -> Vec<String> {
        let note = match self {
            Setting::Option { name, set, .. } => report(name, set(session)),
            Setting::NewGame => {
                session.engine.clear();
                session.opponent.new_game();
                None
            }
            Setting::Adopt(weights, path) => Some(format!("train {}", weights::adopt(session, weights.clone(), path))),
            Setting::AdoptFile(path) => Some(match Weights::load(path) {
                Ok(weights) => format!("train {}", weights::adopt(session, Arc::new(weights), path)),
                Err(error) => format!("train error: {error}"),
            }),
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
