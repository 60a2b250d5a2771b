//! The weights that a training changes: floats, and how they become integers.
//!
//! The trainer keeps every weight as a float. Search needs integers, and the phase of the game is counted
//! with the middlegame weights of the pieces, so the floats are scaled until a full set of pieces is worth a
//! constant and then rounded (Tseng, Chen and Wu, section 3.3):
//! integer = round(gamma w), gamma = 16488 / (2 queen + 4 rook + 4 bishop + 4 knight). The integers are
//! what training evaluates with, what the file holds and what search plays with, so the three cannot differ.

use super::error::{LIMIT, Stage, WeightsError};
use super::layout::{self, LEN, MATERIAL};
use super::taper::FULL_MATERIAL;
use crate::board::{PIECE_VALUES, Piece};

/// The trainer's weights, one middlegame and one endgame weight for each feature.
#[derive(Clone, Debug, PartialEq)]
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

    /// Material as in the paper's Table I, all else zero: where training starts.
    pub fn material() -> FloatWeights {
        let mut weights = FloatWeights::zeros();
        for (piece, value) in PIECE_VALUES.into_iter().enumerate().filter(|(piece, _)| *piece != Piece::King.to_index())
        {
            weights.mg[MATERIAL.nth(piece)] = f64::from(value);
            weights.eg[MATERIAL.nth(piece)] = f64::from(value);
        }
        weights
    }

    /// Middlegame and endgame sums of a list of features.
    pub fn dot(&self, features: &[(u32, i32)]) -> [f64; 2] {
        features.iter().fold([0.0; 2], |[mg, eg], &(feature, count)| {
            let (feature, count) = (feature as usize, f64::from(count));
            [mg + count * self.mg[feature], eg + count * self.eg[feature]]
        })
    }

    /// The factor that makes a full set of pieces worth 16488.
    pub fn gamma(&self) -> Result<f64, WeightsError> {
        let middlegame = |piece: Piece| self.mg[MATERIAL.at(piece)];
        let full = 2.0 * middlegame(Piece::Queen)
            + 4.0 * (middlegame(Piece::Rook) + middlegame(Piece::Bishop) + middlegame(Piece::Knight));
        let gamma = f64::from(FULL_MATERIAL) / full;
        if full > 0.0 && gamma.is_finite() { Ok(gamma) } else { Err(WeightsError::Material(full)) }
    }

    /// Both weights of a feature, scaled and rounded.
    pub(super) fn integers(&self, feature: usize, gamma: f64) -> Result<[i32; 2], WeightsError> {
        let mg = rounded(self.mg[feature] * gamma);
        let eg = rounded(self.eg[feature] * gamma);
        match (mg, eg) {
            (Some(mg), Some(eg)) => Ok([mg, eg]),
            (None, _) => Err(refused(feature, Stage::Middlegame, self.mg[feature] * gamma)),
            (_, None) => Err(refused(feature, Stage::Endgame, self.eg[feature] * gamma)),
        }
    }
}

/// The nearest integer, halves away from zero, or none if it does not fit.
#[inline]
fn rounded(weight: f64) -> Option<i32> {
    (weight.abs() < f64::from(LIMIT)).then(|| (weight + 0.5f64.copysign(weight)) as i32)
}

/// Why this weight of a feature cannot be an integer weight.
pub(super) fn refused(feature: usize, stage: Stage, value: f64) -> WeightsError {
    let group = layout::group_of(feature);
    let (group, index) = (group.name, feature - group.start);
    if value.is_finite() {
        WeightsError::Overflow { group, index, stage, value }
    } else {
        WeightsError::NotFinite { group, index, stage, value }
    }
}
