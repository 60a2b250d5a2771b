//! The search window: between which bounds a value has to be exact.

use crate::tt::Bound;
use crate::value::{INFINITE, Value};

/// An alpha-beta window, seen by the side to move. A value inside it is exact; one outside is a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// What the side to move has already.
    pub(super) alpha: Value,
    /// What the opponent will not allow.
    pub(super) beta: Value,
}

impl Window {
    /// Everything is inside.
    pub(super) const OPEN: Window = Window { alpha: -INFINITE, beta: INFINITE };

    #[inline(always)]
    pub(super) fn new(alpha: Value, beta: Value) -> Window {
        Window { alpha, beta }
    }

    /// The null window: only asks whether the value is above `alpha`.
    #[inline(always)]
    pub(super) fn null(alpha: Value) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The same window, seen by the opponent.
    #[inline(always)]
    pub(super) fn flipped(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Whether no value is inside.
    #[inline(always)]
    pub(super) fn is_closed(self) -> bool {
        self.alpha >= self.beta
    }

    #[inline(always)]
    pub(super) fn fails_low(self, value: Value) -> bool {
        value <= self.alpha
    }

    #[inline(always)]
    pub(super) fn fails_high(self, value: Value) -> bool {
        value >= self.beta
    }

    /// Whether the value is exact.
    #[inline(always)]
    pub(super) fn contains(self, value: Value) -> bool {
        self.alpha < value && value < self.beta
    }

    /// What a value found with this window says.
    #[inline(always)]
    pub(super) fn bound_of(self, value: Value) -> Bound {
        if self.fails_low(value) {
            Bound::Upper
        } else if self.fails_high(value) {
            Bound::Lower
        } else {
            Bound::Exact
        }
    }
}
