//! An accumulator stack with lazy updates.
//!
//! A move only records the pieces it changes. Sums are computed when a position is evaluated, from the nearest ancestor
//! with valid sums, and stay valid for its other descendants. Positions that are never evaluated cost nothing.
//!
//! A table may request a refresh instead of an update, as king-bucketed tuples need when a king changes its bucket. The
//! table in use never does; the tests cover it.

use crate::board::{Board, Delta};

/// A move or a null move.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The position before the move.
    pub before: &'a Board,
    /// The position after the move.
    pub after: &'a Board,
    /// The pieces that were removed and added.
    pub delta: &'a Delta,
}

/// A table whose sums can be updated by a move.
pub(crate) trait Incremental {
    /// The sums of a position.
    type Sums: Clone + Default;
    /// The record of a move.
    type Update: Copy;

    /// The update for a move, or `None` if the sums after it need a refresh.
    fn update(&self, step: &Step) -> Option<Self::Update>;

    /// Computes the sums of a position from scratch. The old content of `sums` is ignored.
    fn refresh(&self, board: &Board, sums: &mut Self::Sums);

    /// As [`Incremental::refresh`], from the sums of another position, which may be similar.
    fn refresh_from(&self, board: &Board, sums: &mut Self::Sums) {
        self.refresh(board, sums);
    }

    /// Computes the sums after a move from those before it. The old content of `sums` is ignored.
    fn apply(&self, update: &Self::Update, before: &Self::Sums, sums: &mut Self::Sums);
}

/// The accumulator stack.
pub(crate) struct Accumulator<T: Incremental> {
    stack: Vec<Slot<T>>,
    top: usize,
}

/// A position of the stack.
struct Slot<T: Incremental> {
    /// The update from the position before; `None` if a refresh is needed.
    update: Option<T::Update>,
    valid: bool,
    sums: T::Sums,
}

impl<T: Incremental> Slot<T> {
    fn invalid() -> Slot<T> {
        Slot { update: None, valid: false, sums: T::Sums::default() }
    }
}

impl<T: Incremental> Accumulator<T> {
    /// An accumulator without valid sums.
    pub(crate) fn new() -> Accumulator<T> {
        Accumulator { stack: vec![Slot::invalid()], top: 0 }
    }

    /// Makes `board` the root. The table must be the same as before.
    pub(crate) fn reset(&mut self, table: &T, board: &Board) {
        self.top = 0;
        let root = &mut self.stack[0];
        if root.valid {
            table.refresh_from(board, &mut root.sums);
        } else {
            table.refresh(board, &mut root.sums);
            root.valid = true;
        }
    }

    /// Returns to the root and invalidates all sums: required when the table changes.
    pub(crate) fn invalidate(&mut self) {
        self.top = 0;
        self.stack[0].valid = false;
    }

    /// Pushes the position after a move.
    pub(crate) fn push(&mut self, table: &T, step: &Step) {
        self.top += 1;
        if self.top == self.stack.len() {
            self.stack.push(Slot::invalid());
        }
        let slot = &mut self.stack[self.top];
        slot.valid = false;
        slot.update = table.update(step);
    }

    /// Returns to the position before the last move.
    ///
    /// # Panics
    /// At the root.
    pub(crate) fn pop(&mut self) {
        self.top = self.top.checked_sub(1).expect("pops match pushes");
    }

    /// The sums of `board`, the current position.
    pub(crate) fn get(&mut self, table: &T, board: &Board) -> &T::Sums {
        let mut valid = self.top;
        while !self.stack[valid].valid {
            if self.stack[valid].update.is_none() {
                let slot = &mut self.stack[self.top];
                table.refresh(board, &mut slot.sums);
                slot.valid = true;
                return &slot.sums;
            }
            valid -= 1;
        }
        while valid < self.top {
            let (before, after) = self.stack.split_at_mut(valid + 1);
            let slot = &mut after[0];
            let update = slot.update.as_ref().expect("all positions after the valid one have an update");
            table.apply(update, &before[valid].sums, &mut slot.sums);
            slot.valid = true;
            valid += 1;
        }
        &self.stack[self.top].sums
    }
}

#[cfg(test)]
mod tests;
