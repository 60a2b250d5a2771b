//! Tuning of the new weights by games.
//!
//! A [regression](Method::Regression) starts from the initial weights each time. From the pieces alone it values some
//! families of features too high for play and others too low, so the parameters are [factors](crate::tune::factors) of
//! its result. From good weights the result may be hundreds of Elo weaker or stronger than these. The interpolation of
//! both is stronger than either, unless one is much weaker. So there is one parameter, the interpolation coefficient.
//!
//! A comparison training from good weights finds a direction, but the full step along it makes the weights weaker as
//! often as stronger (`docs/training.md`). So the parameters are the interpolation coefficient from the best weights, and
//! the [factors](crate::tune::factors) of these.

use std::collections::BTreeMap;
use std::sync::Arc;

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use serde_json::json;

use super::folder::TUNING;
use super::generation::Generation;
use super::generator::HASH;
use super::settings::Method;
use super::window::Window;
use super::work::{MATCH_ADJUDICATION, RandomStream};
use crate::base::context::{Context, Progress};
use crate::fit::averaging::{in_units_of, interpolate};
use crate::learn::training::CHECKPOINT_EVERY;
use crate::tune::factors::{boards, factors};
use crate::tune::games::Tuning;
use crate::tune::spsa::Parameter;

/// The name of the interpolation coefficient among the tuned values.
const INTERPOLATION: &str = "interpolation";

/// The result of a tuning.
pub(super) struct Tuned {
    pub weights: Weights,
    /// The interpolation coefficient of a regression.
    pub interpolation: Option<f64>,
}

/// Begins or resumes the tuning of a generation, with the result of its training. The interpolation coefficient of a
/// regression starts at `before`, that of the generation before, or else at the one for its number of positions. Reports
/// the games played.
pub(super) fn tuned(
    generation: &Generation,
    trained: Weights,
    before: Option<f64>,
    window: &Window,
    context: &mut Context<Progress>,
) -> Result<Tuned, Error> {
    let own = &generation.settings;
    let (best, initial) = (&generation.best, &generation.initial);
    let (from, start, factors): (&Weights, _, _) = match own.method {
        Method::Regression if own.interpolation_of(window.learned()) >= 1.0 => {
            (&trained, None, factors(&trained, &boards(window.samples())?))
        }
        Method::Regression => {
            let start = before.unwrap_or_else(|| own.interpolation_of(window.learned()));
            (initial, Some(start), Vec::new())
        }
        Method::Comparison => {
            (best, Some(own.interpolation_after(generation.rejected)), factors(best, &boards(window.samples())?))
        }
    };
    if start.is_some() && trained.plays_as(from) {
        return Ok(Tuned { weights: trained, interpolation: None });
    }
    // With this gain a difference of 50 Elo moves the coefficient by a fifth in 200 pairs.
    let interpolation =
        |value| Parameter { name: INTERPOLATION.to_string(), value, min: 0.0, max: 1.0, c_end: 0.2, r_end: 0.02 };
    let of_factors = factors.iter().map(|factor| factor.parameter.clone());
    let parameters: Vec<Parameter> = start.map(interpolation).into_iter().chain(of_factors).collect();
    let weights = |values: &[f64]| {
        let (coefficients, values) = values.split_at(values.len() - factors.len());
        // Without a coefficient `from` is the fit itself.
        let mut floats = interpolate(from, &trained, coefficients.first().copied().unwrap_or(0.0))?;
        factors.iter().zip(values).for_each(|(factor, &value)| factor.multiply(&mut floats, value));
        in_units_of(from, &floats)
    };
    let tuning = Tuning {
        parameters,
        weights: &weights,
        pairs: own.tuning_pairs,
        seed: generation.seed(RandomStream::Tuning),
        nodes: generation.settings.match_nodes,
        hash: HASH,
        policy_openings: generation.settings.policy_openings,
        policy: Arc::clone(if own.method == Method::Comparison { best } else { initial }),
        adjudication: MATCH_ADJUDICATION,
    };
    let mut on_event = |pairs: Progress| (context.on_event)(Progress { done: 2 * pairs.done, of: 2 * pairs.of });
    let mut tuning_context = Context { threads: context.threads, stop: context.stop, on_event: &mut on_event };
    let values = tuning.run(&generation.folder.join(TUNING), CHECKPOINT_EVERY, &mut tuning_context)?;
    let values = values.ok_or(Error::Stopped)?;
    let mut weights = weights(&values)?;
    let names = tuning.parameters.iter().map(|parameter| &parameter.name);
    weights.meta.provenance = json!({
        "by": "dyad selftrain",
        "tuned": names.zip(&values).collect::<BTreeMap<_, _>>(),
        "pairs": tuning.pairs,
        "from": from.id(),
        "of": trained.meta.provenance,
    });
    let is_interpolated = own.method == Method::Regression && start.is_some();
    Ok(Tuned { weights, interpolation: is_interpolated.then(|| values[0]) })
}
