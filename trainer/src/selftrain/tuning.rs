//! How far the weights of a generation go: along the directions of its training, and of their own groups, by games.
//!
//! A training from good weights knows directions, but each of its steps alone makes them weaker as often as stronger
//! (`docs/training.md`). So what it proposes is taken apart by families of features, the factors of all groups stand beside
//! that, and simultaneous perturbation ([`tune`](crate::tune)) finds how much of each plays best. It begins with the best weights.
//!
//! A [fit](super::settings::FitSettings) begins anew each time, and what it makes may be weaker than the weights at the very start or
//! stronger, by hundreds of Elo: the more positions, and the weaker the start, the better it is. The mean of both is stronger than
//! either where neither is much the weaker. So there is one direction, the way from those weights to the fit, and games say how
//! far to go.

use std::path::Path;

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use serde_json::json;

use super::error::SelfTrainError;
use super::generation::{CHECKPOINT, Draw, Generation};
use super::self_play::{ADJUDICATION, HASH};
use super::window::Window;
use crate::arena::play::SearchLimits;
use crate::tune::directions::{Goal, boards, spsa_parameters};
use crate::tune::parameters::{Parameter, by_label};
use crate::tune::run::{self, MachineSettings};
use crate::tune::spsa::Schedule;
use crate::tune::state::{Settings, State};

/// The share of a fit is tried so much to either side, at a rate by which a difference of 50 Elo moves it by a fifth in 200 pairs.
const SHARE_STEP: &str = "0.2, 0.02";

/// Plays the tuning of a generation that goes on from the weights `from`, with their file, or what is left of it. `before` is the
/// file of the generation before, if there was one. Nothing if it was stopped. `progress` hears of the games that were played, and
/// of how many.
pub(super) fn tuned(
    generation: &Generation,
    from: (&Path, &Weights),
    before: Option<&Path>,
    window: &Window,
    control: &Control,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<Weights>, SelfTrainError> {
    let folder = generation.folder.tuning();
    let machine = MachineSettings { threads: generation.settings.threads, checkpoint: CHECKPOINT };
    let mut tell = |settings: &Settings, state: &State| progress(2 * state.done, 2 * settings.schedule.pairs);
    let trained = Weights::load(&generation.folder.trained())?;
    let summary = if run::is_begun(&folder) {
        run::resume(&folder, machine, control, &mut tell)?
    } else {
        let settings = settings(generation, from, before, &trained, window)?;
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
    weights.meta.provenance = json!({
        "by": "dyad selftrain",
        "tuned": by_label(&parameters, summary.state.result()),
        "pairs": summary.state.done,
        "from": from.1.id(),
        "of": trained.meta.provenance,
    });
    Ok(Some(weights))
}

fn settings(
    generation: &Generation,
    (from_file, from): (&Path, &Weights),
    before: Option<&Path>,
    trained: &Weights,
    window: &Window,
) -> Result<Settings, SelfTrainError> {
    let file = generation.folder.trained();
    let parameters = match generation.share(window.learned()) {
        Some(share) => {
            let last = before.map(Weights::load).transpose()?;
            vec![way_to(&file, last.as_ref().and_then(share_found).unwrap_or(share))]
        }
        None => {
            let goal = Goal { file: &file, weights: trained };
            spsa_parameters(from, Some(goal), &boards(window.samples())?)
        }
    };
    Ok(Settings {
        parameters,
        weights: Some(from_file.to_path_buf()),
        schedule: Schedule { pairs: generation.tuning_pairs, ..Schedule::default() },
        seed: generation.seed(Draw::Tuning),
        budget: SearchLimits::Nodes(generation.settings.match_nodes),
        hash: HASH,
        natural: generation.settings.natural,
        adjudication: ADJUDICATION,
        ..Settings::default()
    })
}

/// The share of a fit that the games of a tuning found which made these weights.
fn share_found(weights: &Weights) -> Option<f64> {
    let tuned = weights.meta.provenance.get("tuned")?.as_object()?;
    tuned.iter().find(|(name, _)| name.starts_with(WAY)).and_then(|(_, share)| share.as_f64())
}

/// What the name of the parameter for all of the way begins with, before the file.
const WAY: &str = "toward:*:";

/// All of the way to the weights in `file`, of which the games begin with this share.
fn way_to(file: &Path, share: f64) -> Parameter {
    let line = format!("{WAY}{}, float, {share}, 0, 1, {SHARE_STEP}", file.display());
    line.parse().expect("the way to a file is a parameter")
}
