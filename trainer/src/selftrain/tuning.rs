//! Tuning of the new weights by SPSA: the interpolation between old weights and the result of a training.
//!
//! A comparison training from good weights finds directions, but the full step along each of them makes the weights
//! weaker as often as stronger (`docs/training.md`). So the [SPSA](crate::tune) parameters are the step sizes by
//! families of features and factors of all groups, from the best weights.
//!
//! A [regression](Method::Regression) starts from the initial weights each time, and its result may be
//! hundreds of Elo weaker or stronger than these. The interpolation of both is stronger than either, unless one is much
//! weaker. So there is one parameter, the interpolation coefficient.

use std::path::Path;

use dyad_engine::eval::Weights;
use dyad_formats::weights_file;
use serde_json::json;

use super::error::SelfTrainError;
use super::generation::{CHECKPOINT, Generation};
use super::self_play::{ADJUDICATION, HASH};
use super::settings::Method;
use super::window::Window;
use super::work::RandomStream;
use crate::arena::play::SearchLimits;
use crate::base::context::{Context, Progress};
use crate::tune::directions::{TrainedGoal, boards, spsa_parameters};
use crate::tune::parameters::{Parameter, Range, by_label};
use crate::tune::run::{self, TuningProgress};
use crate::tune::spsa::Schedule;
use crate::tune::state::TuningSettings;

/// Range of the interpolation coefficient. With this gain a difference of 50 Elo moves it by a fifth in 200 pairs.
const INTERPOLATION: Range = Range { min: 0.0, max: 1.0, c_end: 0.2, r_end: 0.02 };

/// The result of a tuning.
pub(super) struct Tuned {
    pub weights: Weights,
    /// The interpolation coefficient of a regression.
    pub interpolation: Option<f64>,
}

/// Begins or resumes the tuning of a generation from the weights `from`, given with their file. The interpolation
/// coefficient of a regression starts at `interpolation`, or else at the one for its number of positions. Reports the
/// games played. `None` if it was stopped.
pub(super) fn tuned(
    generation: &Generation,
    from: (&Path, &Weights),
    interpolation: Option<f64>,
    window: &Window,
    context: &mut Context<Progress>,
) -> Result<Option<Tuned>, SelfTrainError> {
    let folder = generation.folder.tuning();
    let mut on_event = |progress: TuningProgress| {
        (context.on_event)(Progress { done: 2 * progress.pairs.done, of: 2 * progress.pairs.of });
    };
    let mut tuning_context = Context { threads: context.threads, stop: context.stop, on_event: &mut on_event };
    let trained = weights_file::load(&generation.folder.trained())?;
    let summary = if run::is_begun(&folder) {
        run::resume(&folder, CHECKPOINT, &mut tuning_context)?
    } else {
        let settings = settings(generation, from, interpolation, &trained, window)?;
        if settings.parameters.is_empty() {
            return Ok(Some(Tuned { weights: trained, interpolation: None }));
        }
        run::begin(&settings, &folder, CHECKPOINT, &mut tuning_context)?
    };
    if !summary.finished {
        return Ok(None);
    }
    let parameters = run::settings(&folder)?.parameters;
    let values = summary.state.result();
    let mut weights = weights_file::load(&run::weights(&folder))?;
    weights.meta.provenance = json!({
        "by": "dyad selftrain",
        "tuned": by_label(&parameters, values),
        "pairs": summary.state.done,
        "from": from.1.id(),
        "of": trained.meta.provenance,
    });
    let interpolation = match generation.settings.method {
        Method::Regression => values.first().copied(),
        Method::Comparison => None,
    };
    Ok(Some(Tuned { weights, interpolation }))
}

fn settings(
    generation: &Generation,
    (from_file, from): (&Path, &Weights),
    interpolation: Option<f64>,
    trained: &Weights,
    window: &Window,
) -> Result<TuningSettings, SelfTrainError> {
    let file = generation.folder.trained();
    let own = &generation.settings;
    let parameters = match own.method {
        Method::Regression => {
            let start = interpolation.unwrap_or_else(|| own.interpolation_of(window.learned()));
            vec![Parameter::toward("*", [true; 2], &file, start, INTERPOLATION)]
        }
        Method::Comparison => {
            let goal = TrainedGoal { file: &file, weights: trained };
            spsa_parameters(from, Some(goal), &boards(window.samples())?)
        }
    };
    Ok(TuningSettings {
        parameters,
        weights: Some(from_file.to_path_buf()),
        schedule: Schedule { pairs: generation.tuning_pairs, ..Schedule::default() },
        seed: generation.seed(RandomStream::Tuning),
        budget: SearchLimits::Nodes(own.match_nodes),
        hash: HASH,
        policy_openings: own.policy_openings,
        adjudication: ADJUDICATION,
        ..TuningSettings::default()
    })
}
