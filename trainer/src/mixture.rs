//! Several sets of weights made one.
//!
//! A perceptron's weights are the right ones and noise, and trainings on other positions, or by other ways, bring
//! other noise: in the mean of several sets what they agree about stays, and the noise shrinks. Since an evaluation
//! is linear in its weights, the mean of the weights is the mean of the evaluations.
//!
//! Sets differ in the worth of a unit; they are brought to that of search by their scale before they are added.

use crate::calibration::factor;
use dyad_engine::eval::layout::LEN;
use dyad_engine::eval::{FloatWeights, Weights};

/// The mean of sets of weights, each with its share, in units of search. The shares need not sum to 1, but to more
/// than 0.
#[must_use]
pub fn mean(sets: &[(&Weights, f64)]) -> FloatWeights {
    let total: f64 = sets.iter().map(|(_, share)| share).sum();
    let mut mean = FloatWeights::zeros();
    for (weights, share) in sets {
        let factor = share / total * factor(weights);
        for (feature, &[mg, eg]) in weights.ints().iter().enumerate().take(LEN) {
            mean.mg[feature] += factor * f64::from(mg);
            mean.eg[feature] += factor * f64::from(eg);
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::eval::layout::MATERIAL;
    use serde_json::Value as Json;

    #[test]
    fn sets_count_by_share_and_scale() {
        let material = Weights::material();
        let mut floats = FloatWeights::material();
        floats.mg[MATERIAL.at(0)] += 100.0;
        let mut other = Weights::from_floats(&floats, Json::Null).unwrap();
        // Twice the units, so each is worth half.
        other.scale = material.scale / 2;
        let mean = mean(&[(&material, 1.0), (&other, 3.0)]);
        let pawn = |weights: &Weights| f64::from(weights.ints()[MATERIAL.at(0)][0]);
        let expected = factor(&material) * (pawn(&material) / 4.0 + pawn(&other) * 3.0 / 8.0);
        assert!((mean.mg[MATERIAL.at(0)] - expected).abs() < 1e-9);
    }

    #[test]
    fn a_set_alone_stays_itself() {
        let material = Weights::material();
        let again = Weights::from_floats(&mean(&[(&material, 0.3)]), Json::Null).unwrap();
        assert_eq!(again.ints(), material.ints());
    }
}
