//! The gradient of a position's value with respect to the weights, for training.
//!
//! The value is linear in the weights of the position's features: the derivative by a weight is the count of its
//! feature, times the fraction of middlegame or endgame, times the sign of the side to move.

use super::features::visit;
use super::units::PHASE_MAX;
use super::weights::Weights;
use crate::board::{Board, sign};

/// Scaling of the gradient by phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientScaling {
    /// The exact gradient: formulas (4) and (5) of the Chinese chess paper.
    Exact,
    /// Divided by the sum of the squared middlegame and endgame fractions, so that a step changes the value of a
    /// feature by the same amount in every phase: formulas (7) and (8).
    Balanced,
}

impl GradientScaling {
    /// The factors of middlegame and endgame weights, where `alpha` is the fraction of the middlegame.
    pub fn factors(self, alpha: f64) -> [f64; 2] {
        let rest = 1.0 - alpha;
        let length = match self {
            GradientScaling::Balanced => alpha * alpha + rest * rest,
            GradientScaling::Exact => 1.0,
        };
        [alpha / length, rest / length]
    }
}

/// The features of a position and the factors of its gradient.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Features and counts, White's positive.
    pub features: Vec<(u32, i32)>,
    /// The fraction of the middlegame.
    pub alpha: f64,
    /// 1 with White to move, -1 with Black.
    pub sign: f64,
}

impl Trace {
    /// Backpropagation: passes the gradient of the value times `factor` to `add`, for each feature the derivatives with
    /// respect to its middlegame and endgame weights. A feature may occur more than once.
    pub fn backward(&self, factor: f64, scaling: GradientScaling, mut add: impl FnMut(u32, [f64; 2])) {
        let [mg, eg] = scaling.factors(self.alpha).map(|phase| self.sign * factor * phase);
        for &(feature, count) in &self.features {
            add(feature, [mg * f64::from(count), eg * f64::from(count)]);
        }
    }
}

impl Weights {
    /// The value of `board` for the side to move, the same as
    /// [`Evaluator::evaluate_raw`](super::Evaluator::evaluate_raw). Overwrites `trace`.
    pub fn forward(&self, board: &Board, trace: &mut Trace) -> i32 {
        trace.features.clear();
        visit(board, &mut trace.features);
        trace.alpha = f64::from(self.phase(board)) / f64::from(PHASE_MAX);
        trace.sign = f64::from(sign(board.side_to_move()));
        let value = self.value(self.dot(&trace.features), board);
        sign(board.side_to_move()) * value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::FloatWeights;
    use crate::eval::tests::{STARTS, random_weights};
    use std::collections::BTreeMap;

    /// Against finite differences of the value by single weights.
    #[test]
    fn the_gradient_is_a_finite_difference() {
        let weights = random_weights(5);
        let mut floats = FloatWeights::from(&weights);
        for start in STARTS {
            let board = Board::from_fen(start).unwrap();
            let mut trace = Trace::default();
            let forward = f64::from(weights.forward(&board, &mut trace));
            let value = |floats: &FloatWeights| {
                let [mg, eg] = floats.dot(&trace.features);
                trace.sign * (trace.alpha * mg + (1.0 - trace.alpha) * eg)
            };
            assert!((value(&floats) - forward).abs() < 1.0, "{board}");
            let mut gradient = BTreeMap::new();
            trace.backward(2.0, GradientScaling::Exact, |feature, [mg, eg]| {
                let sum = gradient.entry(feature as usize).or_insert([0.0; 2]);
                *sum = [sum[0] + mg, sum[1] + eg];
            });
            for (&feature, derivatives) in gradient.iter().step_by(1 + gradient.len() / 60) {
                for (phase, derivative) in derivatives.iter().enumerate() {
                    const H: f64 = 0.25;
                    let mut nudged = |by: f64| {
                        let weights = if phase == 0 { &mut floats.mg } else { &mut floats.eg };
                        weights[feature] += by;
                        let value = value(&floats);
                        let weights = if phase == 0 { &mut floats.mg } else { &mut floats.eg };
                        weights[feature] -= by;
                        value
                    };
                    let numeric = (nudged(H) - nudged(-H)) / H;
                    assert!((derivative - numeric).abs() < 1e-6, "{board} {feature} {phase}: {derivative} {numeric}");
                }
            }
        }
    }

    /// A balanced step along the features changes the value by its length: formula (9).
    #[test]
    fn a_balanced_step_has_the_same_effect_in_every_phase() {
        for alpha in [0.0, 0.1, 0.5, 0.77, 1.0] {
            let [mg, eg] = GradientScaling::Balanced.factors(alpha);
            assert!((alpha * mg + (1.0 - alpha) * eg - 1.0).abs() < 1e-12);
        }
        assert_eq!(GradientScaling::Exact.factors(0.5), [0.5, 0.5]);
    }
}
