//! What a value means: chances of winning, drawing and losing, and centipawns.
//!
//! Search compares values and does not care what they mean; users and adjudicators do. As in Stockfish's
//! win rate model, a game is won with probability 1 / (1 + exp((a - v) / b)) and lost with the same of
//! -v, where a, the value at which half of the games are won, and b, how soft the change is, depend on
//! the phase. A centipawn is defined by it: +100 is the value at which half of the games are won.

use super::taper::PHASE_MAX;
use crate::value::WINS_HALF;
use serde::{Deserialize, Serialize};

/// Chances by value and phase. Both parameters are cubic polynomials, constant first, of the phase as a
/// part of [`PHASE_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WinRate {
    /// The value at which half of the games are won.
    pub a: [i32; 4],
    /// The value's change that multiplies the odds by e.
    pub b: [i32; 4],
}

impl Default for WinRate {
    /// [`WINS_HALF`] at every phase.
    fn default() -> WinRate {
        WinRate { a: [WINS_HALF, 0, 0, 0], b: [WINS_HALF / 2, 0, 0, 0] }
    }
}

impl WinRate {
    /// Chances to win, draw and lose, in thousandths that sum to 1000.
    ///
    /// ```
    /// # use dyad_engine::eval::{PHASE_MAX, WinRate};
    /// let model = WinRate { a: [360, 0, 0, 0], b: [90, 0, 0, 0] };
    /// assert_eq!(model.chances(360, PHASE_MAX), [500, 500, 0]);
    /// assert_eq!(model.chances(0, PHASE_MAX), [18, 964, 18]);
    /// assert_eq!(model.centipawns(360, PHASE_MAX), 100);
    /// ```
    pub fn chances(&self, value: i32, phase: i32) -> [u32; 3] {
        let (a, b, value) = (polynomial(&self.a, phase), polynomial(&self.b, phase), f64::from(value));
        let thousandths = |value: f64| (1000.0 / (1.0 + ((a - value) / b).exp())).round() as u32;
        let win = thousandths(value);
        let loss = thousandths(-value).min(1000 - win);
        [win, 1000 - win - loss, loss]
    }

    /// The value in centipawns at this phase.
    pub fn centipawns(&self, value: i32, phase: i32) -> i32 {
        self.centipawns_of(f64::from(value), phase).round() as i32
    }

    /// Any part of a value in centipawns at this phase, not rounded.
    pub fn centipawns_of(&self, value: f64, phase: i32) -> f64 {
        100.0 * value / polynomial(&self.a, phase)
    }

    /// The value of this many centipawns at this phase.
    pub fn value(&self, centipawns: i32, phase: i32) -> i32 {
        (f64::from(centipawns) * polynomial(&self.a, phase) / 100.0).round() as i32
    }

    /// The model for values that are all `factor` times what they were.
    #[must_use]
    pub fn times(&self, factor: f64) -> WinRate {
        let times = |p: [i32; 4]| p.map(|coefficient| (factor * f64::from(coefficient)).round() as i32);
        WinRate { a: times(self.a), b: times(self.b) }
    }

    /// Both parameters are at least 1 at every phase, so that nothing divides by zero.
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
    fn a_hundred_centipawns_win_half_of_the_games() {
        for phase in (0..=PHASE_MAX).step_by(333) {
            let value = MODEL.value(100, phase);
            assert!((99..=101).contains(&MODEL.centipawns(value, phase)));
            assert!((495..=505).contains(&MODEL.chances(value, phase)[0]));
        }
    }

    #[test]
    fn chances_are_odd_and_sum_to_a_thousand() {
        for phase in [0, 5000, PHASE_MAX] {
            for value in -20_000..20_000 {
                let [win, draw, loss] = MODEL.chances(value, phase);
                assert_eq!(win + draw + loss, 1000);
                assert_eq!(MODEL.chances(-value, phase), [loss, draw, win]);
                assert_eq!(MODEL.centipawns(-value, phase), -MODEL.centipawns(value, phase));
            }
        }
    }

    #[test]
    fn models_that_divide_by_zero_are_invalid() {
        assert!(MODEL.is_valid() && WinRate::default().is_valid());
        assert!(!WinRate { a: [100, -100, 0, 0], ..MODEL }.is_valid());
        assert!(!WinRate { b: [-5, 0, 0, 0], ..MODEL }.is_valid());
    }
}
