//! The [alpha-beta window](https://www.chessprogramming.org/Window).

use super::tt::{Bound, Entry};
use crate::value::{INFINITE, Value};

/// An alpha-beta window: a value inside is exact, a value outside is a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// Lower bound: the side to move can get at least this.
    pub(super) alpha: Value,
    /// Upper bound: the opponent can avoid anything above this.
    pub(super) beta: Value,
}

impl Window {
    pub(super) const OPEN: Window = Window { alpha: -INFINITE, beta: INFINITE };

    pub(super) fn new(alpha: Value, beta: Value) -> Window {
        Window { alpha, beta }
    }

    /// A null window: whether the value is above `alpha`.
    pub(super) fn null(alpha: Value) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The window from the opponent's view.
    pub(super) fn flipped(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Whether the window is empty.
    pub(super) fn is_closed(self) -> bool {
        self.alpha >= self.beta
    }

    pub(super) fn fails_low(self, value: Value) -> bool {
        value <= self.alpha
    }

    pub(super) fn fails_high(self, value: Value) -> bool {
        value >= self.beta
    }

    /// Whether the value is inside the window, and so exact.
    pub(super) fn contains(self, value: Value) -> bool {
        self.alpha < value && value < self.beta
    }

    /// The kind of bound that a value of a search with this window is.
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

    /// The value of the entry, if its bound causes a cutoff.
    #[inline(always)]
    pub(super) fn cutoff(self, entry: &Entry) -> Option<Value> {
        let cuts = (entry.bound.is_lower() && self.fails_high(entry.value))
            || (entry.bound.is_upper() && self.fails_low(entry.value));
        cuts.then_some(entry.value)
    }
}
