//! The units of values: from a model's own to those that search uses, and what they mean.
//!
//! A training finds weights in units of its own, with material as the measure. Search prunes by margins in standard
//! units, and users want centipawns and chances. So every set of weights carries a factor for the one and a WDL
//! model for the other. Both are fitted after the weights ([`WinRate`] says how), and neither changes which of two
//! positions is better.

use super::win_rate::WinRate;

/// [`Units::scale`] that leaves values as they are.
pub const SCALE_ONE: i32 = 1024;
/// The largest scale: values a thousand times as large as the standard ones.
pub const MAX_SCALE: i32 = 1_000_000;

/// Scale and WDL model of a set of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// What search multiplies the evaluation by, in 1/1024, so that values are in standard units; 1 to [`MAX_SCALE`].
    pub scale: i32,
    /// What a scaled value means.
    pub win_rate: WinRate,
}

impl Default for Units {
    /// Values as they are, with the default WDL model.
    fn default() -> Units {
        Units { scale: SCALE_ONE, win_rate: WinRate::default() }
    }
}

impl Units {
    /// An evaluation in the standard units of search.
    #[inline]
    #[must_use]
    pub fn scaled(&self, value: i32) -> i32 {
        // Far beyond all values of a search, and small enough to be multiplied once more.
        const LARGEST: i64 = 1 << 24;
        (i64::from(value) * i64::from(self.scale) / i64::from(SCALE_ONE)).clamp(-LARGEST, LARGEST) as i32
    }

    /// Chances to win, draw and lose, in thousandths, of a search value at a phase.
    #[must_use]
    pub fn chances(&self, value: i32, phase: i32) -> [u32; 3] {
        self.win_rate.chances(value, phase)
    }

    /// A search value in centipawns: +100 wins half of the games at this phase.
    #[must_use]
    pub fn centipawns(&self, value: i32, phase: i32) -> i32 {
        self.win_rate.centipawns(value, phase)
    }
}
