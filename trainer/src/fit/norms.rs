//! Euclidean norms of the weights by group.

use std::collections::BTreeMap;

use dyad_engine::eval::{FloatWeights, layout};

/// The norms of a set of weights by group, middlegame and endgame.
pub fn norms(weights: &FloatWeights) -> BTreeMap<String, [f64; 2]> {
    let norm = |weights: &[f64]| weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let of_group = |group: &layout::Group| {
        let [mg, eg] = [&weights.mg, &weights.eg].map(|phase| norm(&phase[group.range()]));
        (group.name.to_string(), [mg, eg])
    };
    layout::GROUPS.iter().map(of_group).collect()
}
