//! The choice of the weights that the engine plays with.
//!
//! `WeightsFile` takes precedence. Without it, `PlayTrained` selects weights of `TrainFolder`, those that were proven
//! stronger or the latest ones, if there are any, or else the built-in ones. The weights are chosen only when one of
//! these options changes, so that a GUI that sends all options before each game does not replace weights that a
//! self-training promoted.
//!
//! Weights change between searches only, and the hash table and histories are then cleared.

use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use clap::ValueEnum;
use dyad_engine::board::quote;
use dyad_engine::eval::Weights;
use dyad_formats::weights_file;
use dyad_trainer::selftrain::{self, Playing};

use crate::paths::expand_home;
use crate::session::{Outcome, PlayTrained, Session, Trained, WeightsChoice};
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

/// Sets `PlayTrained`.
pub fn set_play_trained(session: &mut Session, name: &str) -> Outcome {
    play_trained(session, PlayTrained::from_str(name, true)?)
}

fn play_trained(session: &mut Session, value: PlayTrained) -> Outcome {
    let before = session.settings.weights.play_trained.replace(value).unwrap_or(PlayTrained::Never);
    match before != value {
        true if session.settings.weights.file.is_empty() => choose(session),
        true if value != PlayTrained::Never && session.trained.is_none() => {
            Ok(Some("the file that WeightsFile names stays in use".to_string()))
        }
        _ => Ok(None),
    }
}

/// Sets `PlayTrained` to its default for GUIs, unless it was set.
pub fn set_default(session: &mut Session) -> Outcome {
    match session.settings.weights.play_trained {
        Some(_) => Ok(None),
        None => named("PlayTrained", play_trained(session, PlayTrained::Proven)),
    }
}

/// The note of an option that was set, or its error, with the name of the option.
pub fn named(name: &str, outcome: Outcome) -> Outcome {
    let with_name = |text: String| format!("{name}: {text}");
    outcome.map(|note| note.map(with_name)).map_err(with_name)
}

/// Sets `TrainFolder` for the choice of weights.
pub fn set_folder(session: &mut Session, folder: Option<PathBuf>) -> Outcome {
    let choice = &mut session.settings.weights;
    let changed = choice.folder != folder;
    choice.folder = folder;
    let plays = !matches!(choice.play_trained, None | Some(PlayTrained::Never));
    if changed && plays && choice.file.is_empty() { named("PlayTrained", choose(session)) } else { Ok(None) }
}

/// Uses weights that a self-training has proven stronger, if the weights that they beat, or weights of the same
/// training, are in use; and its best ones with `PlayTrained` latest.
pub fn promote(session: &mut Session, promoted: &Promoted) -> Outcome {
    let Promoted { weights, trained, beaten } = promoted;
    let latest = match session.settings.weights.play_trained {
        Some(PlayTrained::Never) => return Ok(None),
        Some(PlayTrained::Latest) => true,
        Some(PlayTrained::Proven) | None => false,
    };
    if !trained.proven {
        return Ok(latest.then(|| format!("train {}", use_trained(session, weights.clone(), trained, LATEST))));
    }
    let in_use = session.engine.weights();
    let is_own = session.trained.as_ref().is_some_and(|own| own.path.parent() == trained.path.parent());
    if !is_own && in_use.id() != *beaten {
        return Ok(Some(format!(
            "train generation {} is stronger than other weights than those in use now ({}): Train resume measures it against these",
            trained.generation,
            in_use.id()
        )));
    }
    Ok(Some(format!("train {}", use_trained(session, weights.clone(), trained, ""))))
}

/// What is said of the best weights of a training.
const LATEST: &str = ", the latest of the training and not proven stronger";

/// Uses weights of a training, and returns a note.
fn use_trained(session: &mut Session, weights: Arc<Weights>, trained: &Trained, remark: &str) -> String {
    let origin = format!("playing with generation {}{remark}, {}", trained.generation, trained.path.display());
    let note = take(session, weights, &origin);
    session.trained = Some(trained.clone());
    note
}

/// Uses the weights of a resumed training if they have beaten those in use, which an option may have changed since the
/// training began.
pub fn use_resumed(session: &mut Session, playing: &Playing) -> Outcome {
    let is_wanted = matches!(session.settings.weights.play_trained, None | Some(PlayTrained::Proven));
    if !is_wanted || !playing.has_beaten(session.engine.weights()) {
        return Ok(None);
    }
    let used = use_playing(session, playing);
    used.map(|note| note.map(|note| format!("train {note}"))).map_err(|error| format!("train error: {error}"))
}

/// Uses the weights of a training.
fn use_playing(session: &mut Session, playing: &Playing) -> Outcome {
    let Playing { generation, path, since, .. } = playing;
    let trained = Trained { generation: *generation, path: path.clone(), proven: true };
    load_trained(session, &trained, &format!(", proven stronger on {since}"))
}

fn load_trained(session: &mut Session, trained: &Trained, remark: &str) -> Outcome {
    let path = &trained.path;
    let weights = weights_file::load(path).map_err(|error| format!("{} refused: {error}", path.display()))?;
    Ok(Some(use_trained(session, Arc::new(weights), trained, remark)))
}

/// Uses the trained or the built-in weights; there is no `WeightsFile`.
fn choose(session: &mut Session) -> Outcome {
    let WeightsChoice { play_trained, folder, .. } = &session.settings.weights;
    let (Some(play @ (PlayTrained::Proven | PlayTrained::Latest)), Some(folder)) = (*play_trained, folder.clone())
    else {
        return Ok(embedded(session));
    };
    let playing = selftrain::playing(&folder);
    let proven = playing.as_ref().filter(|playing| playing.has_beaten(&Weights::embedded()));
    let latest = selftrain::latest(&folder).filter(|_| play == PlayTrained::Latest);
    // The latest weights may be those that are proven stronger.
    let latest = latest.filter(|(generation, _)| proven.is_none_or(|proven| proven.generation != *generation));
    let used = match (latest, proven) {
        (Some((generation, path)), _) => {
            Some(load_trained(session, &Trained { generation, path, proven: false }, LATEST))
        }
        (None, Some(playing)) => Some(use_playing(session, playing)),
        (None, None) => None,
    };
    if let Some(used) = used {
        return used.map_err(|error| {
            embedded(session);
            format!("{error}; playing with the built-in weights")
        });
    }
    let changed = embedded(session);
    if let Some(Playing { generation, path, .. }) = playing {
        return Ok(Some(format!(
            "the built-in weights; generation {generation} is proven stronger than others only: WeightsFile {} plays with it",
            path.display()
        )));
    }
    let Ok((state, _)) = selftrain::saved(&folder) else { return Ok(changed) };
    let missing = if play == PlayTrained::Latest { "adopted" } else { "proven stronger" };
    let distance = state.distance.map_or_else(String::new, |distance| format!(": {distance}"));
    Ok(Some(format!(
        "the built-in weights; no generation of the training in {} is {missing} yet{distance}",
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
    Some(take(session, weights, "the built-in weights"))
}

fn use_file(session: &mut Session, path: &Path) -> Result<String, String> {
    let absolute = absolute(path).map_err(|error| format!("{}: {error}", quote(&path.display().to_string())))?;
    let weights = weights_file::load(&absolute).map_err(|error| format!("{} refused: {error}", absolute.display()))?;
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
