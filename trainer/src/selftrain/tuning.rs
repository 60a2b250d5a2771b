//! Tuning of the new weights by games.
//!
//! A fit to search scores values some families of features too high for play and others too low. So the parameters are
//! [factors](crate::tune::factors) of its result.

use std::collections::BTreeMap;

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use serde_json::json;

use super::folder::TUNING;
use super::generation::Generation;
use super::generator::HASH;
use super::recipe::{MATCH_ADJUDICATION, RandomStream};
use crate::base::context::{Context, Progress};
use crate::fit::averaging::{in_units_of, mean};
use crate::learn::training::CHECKPOINT_EVERY;
use crate::tune::factors::{boards, factors};
use crate::tune::games::Tuning;

/// Begins or resumes the tuning of a generation, with the result of its training. Reports the games played.
pub(super) fn tuned(
    generation: &Generation,
    trained: &Weights,
    window: &SampleFile,
    context: &mut Context<Progress>,
) -> Result<Weights, Error> {
    let factors = factors(trained, &boards(&window.samples)?);
    let weights = |values: &[f64]| {
        let mut floats = mean(&[(trained, 1.0)]);
        factors.iter().zip(values).for_each(|(factor, &value)| factor.multiply(&mut floats, value));
        in_units_of(trained, &floats)
    };
    let tuning = Tuning {
        parameters: factors.iter().map(|factor| factor.parameter.clone()).collect(),
        weights: &weights,
        pairs: generation.settings.tuning_pairs,
        seed: generation.seed(RandomStream::Tuning),
        nodes: generation.settings.match_nodes,
        hash: HASH,
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
        "from": trained.id(),
        "of": trained.meta.provenance,
    });
    Ok(weights)
}
