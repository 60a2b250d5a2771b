//! An accumulator stack with lazy updates.
//!
//! A move only records the pieces it changes. Sums are computed when a position is evaluated, from the nearest ancestor
//! with valid sums, and stay valid for its other descendants. Positions that are never evaluated cost nothing.

use super::compiled::Compiled;
use super::sums::PieceSums;
use crate::board::{Board, Delta};

pub(crate) struct Accumulator {
    stack: Vec<StackEntry>,
    top: usize,
}

struct StackEntry {
    /// The pieces that the move to the position changed; none at the root.
    delta: Delta,
    valid: bool,
    sums: PieceSums,
}

impl StackEntry {
    fn invalid() -> StackEntry {
        StackEntry { delta: Delta::none(), valid: false, sums: PieceSums::default() }
    }
}

impl Accumulator {
    pub(crate) fn new() -> Accumulator {
        Accumulator { stack: vec![StackEntry::invalid()], top: 0 }
    }

    /// Makes `board` the root. The weights must be the same as before.
    pub(crate) fn reset(&mut self, compiled: &Compiled, board: &Board) {
        self.top = 0;
        let root = &mut self.stack[0];
        if root.valid {
            root.sums.refresh_from_old(compiled, board);
        } else {
            root.sums.refresh(compiled, board);
            root.valid = true;
        }
    }

    /// Returns to the root and invalidates all sums: required when the weights change.
    pub(crate) fn invalidate(&mut self) {
        self.top = 0;
        self.stack[0].valid = false;
    }

    pub(crate) fn push(&mut self, delta: &Delta) {
        self.top += 1;
        if self.top == self.stack.len() {
            self.stack.push(StackEntry::invalid());
        }
        let slot = &mut self.stack[self.top];
        (slot.valid, slot.delta) = (false, *delta);
    }

    /// Returns to the position before the last move.
    ///
    /// # Panics
    /// At the root.
    pub(crate) fn pop(&mut self) {
        self.top = self.top.checked_sub(1).expect("pops match pushes");
    }

    pub(crate) fn get(&mut self, compiled: &Compiled, board: &Board) -> &PieceSums {
        let mut valid = self.top;
        while !self.stack[valid].valid {
            if valid == 0 {
                // The weights have changed.
                let slot = &mut self.stack[self.top];
                slot.sums.refresh(compiled, board);
                slot.valid = true;
                return &slot.sums;
            }
            valid -= 1;
        }
        while valid < self.top {
            let (before, after) = self.stack.split_at_mut(valid + 1);
            let slot = &mut after[0];
            slot.sums.update(compiled, &before[valid].sums, &slot.delta);
            slot.valid = true;
            valid += 1;
        }
        &self.stack[self.top].sums
    }
}
