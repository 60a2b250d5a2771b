//! From middlegame and endgame sums to the values of search: game phase, scale and WDL model.
//!
//! The phase interpolates between the two sums (<https://www.chessprogramming.org/Tapered_Eval>). It is the non-pawn
//! material, counted with the middlegame weights in use and clamped between two bounds (Tseng, Chen and Wu, section
//! 2.4, after Stockfish). Weights are scaled until a full set of pieces is worth a constant (section 3.3), so the
//! bounds are constants too. The phase is an integer, which keeps evaluations exact.
//!
//! Each set of weights has units of its own, while search prunes by margins in standard units and users expect
//! centipawns and win probabilities. So a set of weights has a scale and a WDL model, both fitted after the weights.
//! Neither changes which of two positions is better.

use crate::value::WINS_HALF;
use serde::{Deserialize, Serialize};

/// Non-pawn material at and below which the phase is 0.
pub(crate) const ENDGAME_MATERIAL: i32 = 3915;
/// Non-pawn material at and above which the phase is [`PHASE_MAX`].
pub(crate) const MIDDLEGAME_MATERIAL: i32 = 15258;
/// Non-pawn material of the full set of pieces, by which weights are scaled.
pub(crate) const FULL_MATERIAL: i32 = 16488;
/// The middlegame phase.
pub const PHASE_MAX: i32 = MIDDLEGAME_MATERIAL - ENDGAME_MATERIAL;

/// The phase for an amount of non-pawn material, from 0 (endgame) to [`PHASE_MAX`] (middlegame).
pub(crate) fn phase_of_material(non_pawn_material: i32) -> i32 {
    non_pawn_material.clamp(ENDGAME_MATERIAL, MIDDLEGAME_MATERIAL) - ENDGAME_MATERIAL
}

/// Interpolates between middlegame and endgame. Rounds toward zero, so that a position and its color-flipped image have
/// exactly opposite values.
pub const fn taper(mg: i32, eg: i32, phase: i32) -> i32 {
    let sum = mg as i64 * phase as i64 + eg as i64 * (PHASE_MAX - phase) as i64;
    (sum / PHASE_MAX as i64) as i32
}

/// The [`Units::scale`] of weights that are in standard units.
pub const SCALE_ONE: i32 = 1024;
/// The largest scale.
pub const MAX_SCALE: i32 = 1_000_000;

/// Scale and WDL model of a set of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Factor from the evaluation to the standard units of search, in 1/1024: 1 to [`MAX_SCALE`].
    pub scale: i32,
    /// Win probabilities and centipawns of a scaled value.
    pub win_rate: WinRate,
}

impl Default for Units {
    fn default() -> Units {
        Units { scale: SCALE_ONE, win_rate: WinRate::default() }
    }
}

impl Units {
    /// An evaluation in the standard units of search.
    pub fn scaled(&self, value: i32) -> i32 {
        // Above all values of search; a product with an endgame scale factor fits 32 bits.
        const LARGEST: i64 = 1 << 24;
        (i64::from(value) * i64::from(self.scale) / i64::from(SCALE_ONE)).clamp(-LARGEST, LARGEST) as i32
    }

    /// The evaluation, before its scale, that has this score by the [`WinRate`].
    pub fn evaluation_of(&self, centipawns: f64, phase: i32) -> f64 {
        centipawns * polynomial(&self.win_rate.a, phase) / 100.0 * f64::from(SCALE_ONE) / f64::from(self.scale)
    }
}

/// The WDL model of Stockfish: a value v wins with probability 1 / (1 + exp((a - v) / b)) and loses with that of -v.
/// The parameters a and b are cubic polynomials, constant first, of the phase as a fraction of [`PHASE_MAX`].
/// +100 centipawns are the value that wins half of the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WinRate {
    /// The value that wins half of the games.
    pub a: [i32; 4],
    /// The difference in value that multiplies the odds by e.
    pub b: [i32; 4],
}

impl Default for WinRate {
    /// [`WINS_HALF`] in every phase.
    fn default() -> WinRate {
        WinRate { a: [WINS_HALF, 0, 0, 0], b: [WINS_HALF / 2, 0, 0, 0] }
    }
}

impl WinRate {
    /// Probabilities of win, draw and loss in thousandths; they sum to 1000.
    pub fn chances(&self, value: i32, phase: i32) -> [u32; 3] {
        let (a, b, value) = (polynomial(&self.a, phase), polynomial(&self.b, phase), f64::from(value));
        let thousandths = |value: f64| (1000.0 / (1.0 + ((a - value) / b).exp())).round() as u32;
        let win = thousandths(value);
        let loss = thousandths(-value).min(1000 - win);
        [win, 1000 - win - loss, loss]
    }

    /// A value in centipawns.
    pub fn centipawns(&self, value: i32, phase: i32) -> i32 {
        self.centipawns_of(f64::from(value), phase).round() as i32
    }

    /// A fractional value in centipawns, not rounded.
    pub fn centipawns_of(&self, value: f64, phase: i32) -> f64 {
        100.0 * value / polynomial(&self.a, phase)
    }

    /// The model for values multiplied by `factor`.
    pub fn times(&self, factor: f64) -> WinRate {
        let times = |p: [i32; 4]| p.map(|coefficient| (factor * f64::from(coefficient)).round() as i32);
        WinRate { a: times(self.a), b: times(self.b) }
    }

    /// Whether both parameters are at least 1 in every phase, so that nothing divides by zero.
    pub fn is_valid(&self) -> bool {
        let positive = |p: &[i32; 4]| (0..=PHASE_MAX).all(|phase| polynomial(p, phase) >= 1.0);
        positive(&self.a) && positive(&self.b)
    }
}

fn polynomial(coefficients: &[i32; 4], phase: i32) -> f64 {
    let x = f64::from(phase) / f64::from(PHASE_MAX);
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + f64::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: WinRate = WinRate { a: [150, 100, -20, 5], b: [60, 30, 10, -7] };

    #[test]
    fn taper_is_odd_reaches_both_ends_and_lies_between() {
        for (mg, eg) in [(1, 0), (3, -2), (-7, 12345), (1_000_000, -2_000_000), (i32::MAX, i32::MIN + 1)] {
            assert_eq!([PHASE_MAX, 0].map(|phase| taper(mg, eg, phase)), [mg, eg]);
            for phase in (0..=PHASE_MAX).step_by(97) {
                let value = taper(mg, eg, phase);
                assert_eq!(taper(-mg, -eg, phase), -value);
                assert!(mg.min(eg) <= value && value <= mg.max(eg));
            }
        }
    }

    #[test]
    fn a_hundred_centipawns_win_half_of_the_games() {
        for phase in (0..=PHASE_MAX).step_by(333) {
            let value = polynomial(&MODEL.a, phase).round() as i32;
            assert!((99..=101).contains(&MODEL.centipawns(value, phase)));
            assert!((495..=505).contains(&MODEL.chances(value, phase)[0]));
        }
    }

    #[test]
    fn chances_are_symmetric_and_sum_to_a_thousand() {
        for phase in [0, 5000, PHASE_MAX] {
            for value in -20_000..20_000 {
                let [win, draw, loss] = MODEL.chances(value, phase);
                assert_eq!(win + draw + loss, 1000);
                assert_eq!(MODEL.chances(-value, phase), [loss, draw, win]);
                assert_eq!(MODEL.centipawns(-value, phase), -MODEL.centipawns(value, phase));
            }
        }
    }
}
