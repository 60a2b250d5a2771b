//! Averages of weights.
//!
//! The weights of a perceptron carry noise, and trainings on other positions or by other methods carry other noise: the
//! mean of several sets keeps what they agree on, and the noise shrinks. Since an evaluation is linear in its weights,
//! the mean of the weights is the mean of the evaluations.
//!
//! Sets may have different units; their scales convert them to search units before they are added.

use crate::fit::calibration::{factor, scale_in_units_of};
use dyad_engine::eval::layout::LEN;
use dyad_engine::eval::units::SCALE_ONE;
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::error::Error;
use serde_json::Value as Json;

/// The weighted mean of sets of weights, in search units. The coefficients need not sum to 1, but to more than 0.
pub fn mean(sets: &[(&Weights, f64)]) -> FloatWeights {
    let total: f64 = sets.iter().map(|(_, coefficient)| coefficient).sum();
    let mut mean = FloatWeights::zeros();
    for (weights, coefficient) in sets {
        let factor = coefficient / total * factor(weights);
        for (feature, &[mg, eg]) in weights.ints().iter().enumerate().take(LEN) {
            mean.mg[feature] += factor * f64::from(mg);
            mean.eg[feature] += factor * f64::from(eg);
        }
    }
    mean
}

/// Weights in search units as a set for the engine: the scale compensates the factor of the integers.
///
/// # Errors
/// When a weight is not a number, or the scale would be out of bounds.
pub fn in_units_of_search(mean: &FloatWeights, provenance: Json) -> Result<Weights, Error> {
    let mut weights = Weights::from_floats(mean, provenance)?;
    weights.units.scale = scale_in_units_of(SCALE_ONE, mean.gamma()?)?;
    Ok(weights)
}

/// Weights in search units as a set with the name and the win-rate model of `base`.
///
/// # Errors
/// When they are not a valid set of weights.
pub fn in_units_of(base: &Weights, floats: &FloatWeights) -> Result<Weights, Error> {
    let mut weights = in_units_of_search(floats, Json::Null)?;
    weights.meta.name.clone_from(&base.meta.name);
    weights.units.win_rate = base.units.win_rate;
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::eval::layout::MATERIAL;

    #[test]
    fn the_mean_respects_coefficients_and_scales() {
        let material = Weights::material();
        let mut floats = FloatWeights::material();
        floats.mg[MATERIAL.nth(0)] += 100.0;
        let mut other = Weights::from_floats(&floats, Json::Null).unwrap();
        // Half the scale: each unit has half the value.
        other.units.scale = material.units.scale / 2;
        let mean = mean(&[(&material, 1.0), (&other, 3.0)]);
        let pawn = |weights: &Weights| f64::from(weights.ints()[MATERIAL.nth(0)][0]);
        let expected = factor(&material) * (pawn(&material) / 4.0 + pawn(&other) * 3.0 / 8.0);
        assert!((mean.mg[MATERIAL.nth(0)] - expected).abs() < 1e-9);
    }

    #[test]
    fn the_mean_of_one_set_is_that_set() {
        let material = Weights::material();
        let again = Weights::from_floats(&mean(&[(&material, 0.3)]), Json::Null).unwrap();
        assert_eq!(again.ints(), material.ints());
    }
}
