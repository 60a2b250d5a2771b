//! Float weights of a training, and their conversion to integers.
//!
//! The game phase is the sum of the pieces' middlegame weights. So the floats are scaled such that the full set of
//! pieces has a constant sum, then rounded (Tseng, Chen and Wu, section 3.3): integer = round(gamma w) with gamma =
//! 16488 / (2 queen + 4 rook + 4 bishop + 4 knight). Training evaluates with the same integers as search.

use super::layout::{self, LEN, MATERIAL};
use super::units::FULL_MATERIAL;
use crate::board::{PIECE_VALUES, Piece};
use std::fmt;
use std::path::Path;

/// Largest absolute value of an integer weight: the fast tables have 16 bits.
pub(super) const LIMIT: i32 = i16::MAX as i32;

/// The two weights of a feature, in the order in which weights hold them.
pub(super) const PHASES: [&str; 2] = ["middlegame", "endgame"];

/// The reason why weights are refused, with the path of the file if there is one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WeightsError(String);

impl WeightsError {
    pub(super) fn new(message: impl Into<String>) -> WeightsError {
        WeightsError(message.into())
    }

    /// An error in a file of weights.
    pub fn in_file(path: &Path, message: impl fmt::Display) -> WeightsError {
        WeightsError(format!("{}: {message}", path.display()))
    }

    /// The weight of a feature in one phase that does not fit into an integer weight.
    pub(super) fn at_weight(feature: usize, phase: usize, value: f64) -> WeightsError {
        let group = layout::group_of(feature);
        let (index, name) = (feature - group.start, group.name);
        let problem =
            if value.is_finite() { format!("outside -{LIMIT} to {LIMIT}") } else { "not a finite number".into() };
        WeightsError(format!("{} weight {index} of group `{name}` is {value}, {problem}", PHASES[phase]))
    }
}

/// A middlegame and an endgame weight for each feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloatWeights {
    /// Middlegame weights.
    pub mg: Vec<f64>,
    /// Endgame weights.
    pub eg: Vec<f64>,
}

impl FloatWeights {
    /// All zero.
    pub fn zeros() -> FloatWeights {
        FloatWeights { mg: vec![0.0; LEN], eg: vec![0.0; LEN] }
    }

    /// The piece values of the paper's Table I, everything else zero: the start of a training from scratch.
    pub fn material() -> FloatWeights {
        let mut weights = FloatWeights::zeros();
        for (piece, value) in PIECE_VALUES.into_iter().enumerate().filter(|(piece, _)| *piece != Piece::King.to_index())
        {
            weights.mg[MATERIAL.nth(piece)] = f64::from(value);
            weights.eg[MATERIAL.nth(piece)] = f64::from(value);
        }
        weights
    }

    /// Middlegame and endgame sums of a list of features and counts.
    pub fn dot(&self, features: &[(u32, i32)]) -> [f64; 2] {
        features.iter().fold([0.0; 2], |[mg, eg], &(feature, count)| {
            let (feature, count) = (feature as usize, f64::from(count));
            [mg + count * self.mg[feature], eg + count * self.eg[feature]]
        })
    }

    /// The factor that scales the full set of pieces to [`FULL_MATERIAL`].
    ///
    /// # Errors
    /// When the pieces' middlegame weights do not sum to a positive number.
    pub fn gamma(&self) -> Result<f64, WeightsError> {
        let middlegame = |piece: Piece| self.mg[MATERIAL.at(piece)];
        let full = 2.0 * middlegame(Piece::Queen)
            + 4.0 * (middlegame(Piece::Rook) + middlegame(Piece::Bishop) + middlegame(Piece::Knight));
        let gamma = f64::from(FULL_MATERIAL) / full;
        if full > 0.0 && gamma.is_finite() {
            return Ok(gamma);
        }
        Err(WeightsError(format!(
            "the middlegame weights of the pieces sum to {full}, which cannot be scaled to {FULL_MATERIAL}"
        )))
    }

    /// Both weights of a feature, scaled and rounded.
    pub(super) fn integers(&self, feature: usize, gamma: f64) -> Result<[i32; 2], WeightsError> {
        let scaled = [self.mg[feature] * gamma, self.eg[feature] * gamma];
        match scaled.map(rounded) {
            [Some(mg), Some(eg)] => Ok([mg, eg]),
            [None, _] => Err(WeightsError::at_weight(feature, 0, scaled[0])),
            [_, None] => Err(WeightsError::at_weight(feature, 1, scaled[1])),
        }
    }
}

/// The nearest integer, halves away from zero, if it is below [`LIMIT`].
fn rounded(weight: f64) -> Option<i32> {
    (weight.abs() < f64::from(LIMIT)).then(|| (weight + 0.5f64.copysign(weight)) as i32)
}
