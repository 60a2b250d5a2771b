//! How far the weights of a generation go: along the directions of its training, and of their own groups, by games.
//!
//! A training from good weights knows directions, but each of its steps alone makes them weaker as often as stronger
//! (`docs/training.md`). So what it proposes is taken apart by families of features, the factors of all groups stand beside
//! that, and simultaneous perturbation ([`tune`](crate::tune)) finds how much of each plays best. It begins with the best weights;
//! or, where a [fit](super::settings::FitSettings) makes what is nearly as strong, with the mean of both, from where steps lead
//! towards the best.

use std::path::Path;

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use serde_json::json;

use super::error::SelfTrainError;
use super::generation::{CHECKPOINT, Draw, Generation};
use super::self_play::{ADJUDICATION, HASH};
use super::window::Window;
use crate::arena::play::Budget;
use crate::tune::directions::{Goal, boards, directions};
use crate::tune::parameters::by_label;
use crate::tune::run::{self, Machine};
use crate::tune::spsa::Schedule;
use crate::tune::state::{Settings, State};

/// Plays the tuning of a generation whose best weights are in `best`, or what is left of it. Nothing if it was stopped. `progress`
/// hears of the games that were played, and of how many.
pub(super) fn tuned(
    generation: &Generation,
    best: &Path,
    window: &Window,
    control: &Control,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<Weights>, SelfTrainError> {
    let folder = generation.folder.tuning();
    let machine = Machine { threads: generation.settings.threads, checkpoint: CHECKPOINT };
    let mut tell = |settings: &Settings, state: &State| progress(2 * state.done, 2 * settings.schedule.pairs);
    let trained = Weights::load(&generation.folder.trained())?;
    let summary = if run::is_begun(&folder) {
        run::resume(&folder, machine, control, &mut tell)?
    } else {
        let settings = settings(generation, best, &trained, window)?;
        if settings.parameters.is_empty() {
            return Ok(Some(trained));
        }
        run::begin(&settings, &folder, machine, control, &mut tell)?
    };
    if !summary.finished {
        return Ok(None);
    }
    let parameters = run::settings(&folder)?.parameters;
    let mut weights = Weights::load(&run::weights(&folder))?;
    weights.meta.made = json!({
        "by": "dyad selftrain",
        "tuned": by_label(&parameters, summary.state.result()),
        "pairs": summary.state.done,
        "of": trained.meta.made,
    });
    Ok(Some(weights))
}

fn settings(
    generation: &Generation,
    best: &Path,
    trained: &Weights,
    window: &Window,
) -> Result<Settings, SelfTrainError> {
    let file = generation.folder.trained();
    let (best, trained) = ((best, &*generation.best), (file.as_path(), trained));
    let ((file, weights), (goal_file, goal)) =
        if generation.settings.fit.is_some() { (trained, best) } else { (best, trained) };
    let goal = Goal { file: goal_file, weights: goal };
    Ok(Settings {
        parameters: directions(weights, Some(goal), &boards(window.samples())?),
        weights: Some(file.to_path_buf()),
        schedule: Schedule { pairs: generation.tuning_pairs, ..Schedule::default() },
        seed: generation.seed(Draw::Tuning),
        budget: Budget::Nodes(generation.settings.match_nodes),
        hash: HASH,
        adjudication: ADJUDICATION,
        ..Settings::default()
    })
}
