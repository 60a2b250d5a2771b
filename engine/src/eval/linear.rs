//! The linear model: one integer weight for each feature and stage, and the tapered sum of them.
//!
//! [`Linear`] holds the integers and what is [compiled](super::compiled) from them, and keeps the two alike when a
//! training changes some. It knows neither a name nor what its values mean.

use super::compiled::Compiled;
use super::error::{LIMIT, Stage, WeightsError};
use super::floats::{FloatWeights, refused};
use super::layout::{LEN, MATERIAL};
use super::placement::visit;
use super::taper::{phase_of_material, taper};
use super::visitor::Visitor;
use crate::board::{Board, Color, Piece};

/// Integer weights of all features, ready to evaluate with.
#[derive(Clone, Debug)]
pub struct Linear {
    ints: Vec<[i32; 2]>,
    compiled: Compiled,
    gamma: Option<f64>,
}

impl Linear {
    /// Scales and rounds what was trained.
    ///
    /// # Errors
    /// When there are not [`LEN`] floats, or some cannot become integers.
    pub fn from_floats(floats: &FloatWeights) -> Result<Linear, WeightsError> {
        if let Some(&found) = [floats.mg.len(), floats.eg.len()].iter().find(|&&len| len != LEN) {
            return Err(WeightsError::Length { found, expected: LEN });
        }
        let gamma = floats.gamma()?;
        let ints = (0..LEN).map(|feature| floats.integers(feature, gamma)).collect::<Result<_, _>>()?;
        Ok(Linear { gamma: Some(gamma), ..Linear::from_ints(ints)? })
    }

    /// Compiles integers, by feature.
    ///
    /// # Errors
    /// When there are not [`LEN`] of them, or some are too large for the fast tables.
    pub fn from_ints(ints: Vec<[i32; 2]>) -> Result<Linear, WeightsError> {
        if ints.len() != LEN {
            return Err(WeightsError::Length { found: ints.len(), expected: LEN });
        }
        for (feature, weight) in ints.iter().enumerate() {
            for stage in [0, 1] {
                if weight[stage].abs() > LIMIT {
                    return Err(refused(feature, Stage::ALL[stage], f64::from(weight[stage])));
                }
            }
        }
        Ok(Linear { compiled: Compiled::new(&ints)?, gamma: None, ints })
    }

    /// Takes over floats of which only the `changed` features differ from those last taken over, at a
    /// fraction of the cost of [`Linear::from_floats`] and with the same result.
    ///
    /// When the pieces' middlegame weights have changed, so has gamma, and all features are rounded anew;
    /// but few of the small integers move, and only their table entries are compiled. After an error the
    /// weights are a mixture and must not be used.
    ///
    /// # Errors
    /// When some floats cannot become integers.
    pub fn refresh(
        &mut self,
        changed: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
    ) -> Result<(), WeightsError> {
        let gamma = floats.gamma()?;
        let mut touched = Vec::new();
        if self.gamma == Some(gamma) {
            self.round(changed, floats, gamma, &mut touched)?;
        } else {
            self.round(0..LEN, floats, gamma, &mut touched)?;
        }
        self.gamma = Some(gamma);
        self.compiled.update(&touched, &self.ints)
    }

    /// Integers of all features, middlegame and endgame.
    pub fn ints(&self) -> &[[i32; 2]] {
        &self.ints
    }

    /// What search adds up.
    #[inline(always)]
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// How much of the middlegame is left, in parts of [`PHASE_MAX`](super::taper::PHASE_MAX).
    #[inline]
    pub fn phase(&self, board: &Board) -> i32 {
        let counts = board.material_key();
        let mut non_pawn_material = 0;
        for piece in [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
            let count = |color: Color| (counts >> (4 * (6 * color as u32 + piece as u32)) & 15) as i32;
            let value = self.ints[MATERIAL.at(piece)][0];
            non_pawn_material += value * (count(Color::White) + count(Color::Black));
        }
        phase_of_material(non_pawn_material)
    }

    /// Middlegame and endgame sums of a position from White's side, feature by feature. Slow: search keeps
    /// the same sums in an [`Evaluator`](super::Evaluator).
    pub fn sums(&self, board: &Board) -> [i32; 2] {
        let mut sum = Plain { ints: &self.ints, sum: [0; 2] };
        visit(board, &mut sum);
        sum.sum
    }

    /// Middlegame and endgame sums of a list of features.
    pub fn dot(&self, features: &[(u32, i32)]) -> [i32; 2] {
        let mut sum = Plain { ints: &self.ints, sum: [0; 2] };
        for &(feature, count) in features {
            sum.add(feature as usize, count);
        }
        sum.sum
    }

    /// The tapered value of middlegame and endgame sums on this board, from White's side.
    #[inline]
    pub fn value(&self, [mg, eg]: [i32; 2], board: &Board) -> i32 {
        taper(mg, eg, self.phase(board))
    }

    fn round(
        &mut self,
        features: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
        gamma: f64,
        touched: &mut Vec<usize>,
    ) -> Result<(), WeightsError> {
        for feature in features {
            let ints = floats.integers(feature, gamma)?;
            if self.ints[feature] != ints {
                self.ints[feature] = ints;
                touched.push(feature);
            }
        }
        Ok(())
    }
}

/// Sums integers of any features.
struct Plain<'a> {
    ints: &'a [[i32; 2]],
    sum: [i32; 2],
}

impl Visitor for Plain<'_> {
    fn add(&mut self, feature: usize, count: i32) {
        let [mg, eg] = self.ints[feature];
        self.sum[0] += count * mg;
        self.sum[1] += count * eg;
    }
}
