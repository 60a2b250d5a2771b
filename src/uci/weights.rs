//! The choice of the weights that the engine plays with.
//!
//! `WeightsFile` takes precedence. Without it, `UseTrained` selects the weights of `TrainFolder` that were proven
//! stronger, if there are any, or else the built-in ones. The weights are chosen only when one of these options
//! changes, so that a GUI that sends all options before each game does not replace weights that a self-training
//! promoted.
//!
//! Weights change between searches only, and the hash table and histories are then cleared.

use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use dyad_engine::board::quote;
use dyad_engine::eval::Weights;
use dyad_trainer::selftrain::{self, Playing};

use crate::paths::expand_home;
use crate::session::{Outcome, Session, Trained, WeightsChoice};
use crate::training::Promoted;

/// Sets `WeightsFile`. If the file is refused, nothing changes.
pub fn set_file(session: &mut Session, path: &str) -> Outcome {
    if path == session.settings.weights.file {
        return Ok(None);
    }
    let note = match path {
        "" => {
            session.settings.weights.file.clear();
            return choose(session);
        }
        path => use_file(session, &expand_home(path))?,
    };
    session.settings.weights.file = path.to_string();
    Ok(Some(note))
}

/// Sets `UseTrained`.
pub fn set_use_trained(session: &mut Session, on: bool) -> Outcome {
    let was_on = session.settings.weights.use_trained.replace(on) == Some(true);
    let changed = was_on != on;
    match changed {
        true if session.settings.weights.file.is_empty() => choose(session),
        true if on && session.trained.is_none() => Ok(Some("the file that WeightsFile names stays in use".to_string())),
        _ => Ok(None),
    }
}

/// Sets `TrainFolder` for the choice of weights.
pub fn set_folder(session: &mut Session, folder: Option<PathBuf>) -> Outcome {
    let choice = &mut session.settings.weights;
    let changed = choice.folder != folder;
    choice.folder = folder;
    if changed && choice.use_trained == Some(true) && choice.file.is_empty() { choose(session) } else { Ok(None) }
}

/// Uses weights that a self-training has proven stronger, if the weights that they beat, or weights of the same
/// training, are in use.
pub fn promote(session: &mut Session, promoted: &Promoted) -> String {
    let Promoted { weights, trained, beaten } = promoted;
    let in_use = session.engine.weights();
    let is_own = session.trained.as_ref().is_some_and(|own| own.path == trained.path);
    if !is_own && in_use.id() != *beaten {
        return format!(
            "generation {} is stronger than other weights than those in use now ({}): Train resume measures it against these",
            trained.generation,
            in_use.id()
        );
    }
    let origin = format!("playing with generation {}, {}", trained.generation, trained.path.display());
    let note = take(session, weights.clone(), &origin);
    session.trained = Some(trained.clone());
    note
}

/// Uses the weights of a training.
pub fn use_playing(session: &mut Session, playing: &Playing) -> Outcome {
    let Playing { generation, path, since, .. } = playing;
    let weights = Weights::load(path).map_err(|error| format!("{} refused: {error}", path.display()))?;
    let origin = format!("playing with generation {generation}, proven stronger on {since}, {}", path.display());
    let note = take(session, Arc::new(weights), &origin);
    session.trained = Some(Trained { generation: *generation, path: path.clone() });
    Ok(Some(note))
}

/// Uses the trained or the built-in weights; there is no `WeightsFile`.
fn choose(session: &mut Session) -> Outcome {
    let WeightsChoice { use_trained, folder, .. } = &session.settings.weights;
    let Some(folder) = folder.clone().filter(|_| *use_trained == Some(true)) else {
        return Ok(embedded(session));
    };
    let playing = selftrain::playing(&folder);
    if let Some(playing) = playing.as_ref().filter(|playing| playing.has_beaten(&Weights::embedded())) {
        return use_playing(session, playing).map_err(|error| {
            embedded(session);
            format!("{error}; playing with embedded weights")
        });
    }
    let changed = embedded(session);
    if let Some(Playing { generation, path, .. }) = playing {
        return Ok(Some(format!(
            "embedded weights; generation {generation} is proven stronger than others only: WeightsFile {} plays with it",
            path.display()
        )));
    }
    let Some(overview) = selftrain::overview(&folder) else { return Ok(changed) };
    let distance = overview.distance.map_or_else(String::new, |distance| format!(": {distance}"));
    Ok(Some(format!(
        "embedded weights; no generation of the training in {} is proven stronger yet{distance}",
        folder.display()
    )))
}

/// Uses the built-in weights. Returns a note if the weights change.
fn embedded(session: &mut Session) -> Option<String> {
    let weights = Weights::embedded();
    if weights.plays_as(session.engine.weights()) {
        session.trained = None;
        return None;
    }
    Some(take(session, weights, "embedded weights"))
}

fn use_file(session: &mut Session, path: &Path) -> Result<String, String> {
    let absolute = absolute(path).map_err(|error| format!("{}: {error}", quote(&path.display().to_string())))?;
    let weights = Weights::load(&absolute).map_err(|error| format!("{} refused: {error}", absolute.display()))?;
    Ok(take(session, Arc::new(weights), &absolute.display().to_string()))
}

/// Uses weights and returns a note. Equal weights are not replaced, which keeps the hash table and the histories.
fn take(session: &mut Session, weights: Arc<Weights>, origin: &str) -> String {
    (session.trained, session.trained_reported) = (None, false);
    let mut note = format!("{origin} ({})", weights.id());
    for remark in &weights.meta.notes {
        note.push_str("; ");
        note.push_str(remark);
    }
    if !weights.plays_as(session.engine.weights()) {
        session.engine.set_weights(weights);
    }
    note
}
