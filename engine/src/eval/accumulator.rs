//! What is kept along the line of a search: sums that one move changes little.
//!
//! Making a move only notes what it changed. Sums are worked out when a position is evaluated, from the
//! nearest position above it that has them, and stay there for its other descendants; positions that search
//! leaves without evaluating cost nothing. A table may say of a move that its sums cannot be followed, because a king
//! crossed to another zone or a line opened: then they are worked out from the whole board, once and where they are
//! asked for.
//!
//! [`Incremental`] is what a table states; the order in which things are worked out is stated here, for all tables.

use super::model::Step;
use crate::board::Board;

/// A table whose sums can follow a move.
pub trait Incremental {
    /// What is kept of a position.
    type Entry: Clone + Default;
    /// What a move changed, as far as the table needs it.
    type Note: Copy;

    /// What to note of a move, or nothing when the sums after it must be worked out from the board.
    fn note(&self, step: &Step) -> Option<Self::Note>;

    /// Works out what is kept of a position from the board alone. `entry` may hold anything.
    fn refresh(&self, board: &Board, entry: &mut Self::Entry);

    /// The same as [`Incremental::refresh`] where `entry` is known to be that of some position with this table. Worth
    /// stating where lines often begin with much the same position.
    fn reset(&self, board: &Board, entry: &mut Self::Entry) {
        self.refresh(board, entry);
    }

    /// Works out what is kept of a position from the one before. `entry` may hold anything.
    fn follow(&self, note: &Self::Note, before: &Self::Entry, entry: &mut Self::Entry);
}

/// What a table keeps of each position of a line.
pub struct Accumulator<T: Incremental> {
    stack: Vec<Slot<T>>,
    top: usize,
}

/// One position of the line.
struct Slot<T: Incremental> {
    /// How to come here from the position before, if that is possible.
    note: Option<T::Note>,
    known: bool,
    entry: T::Entry,
}

impl<T: Incremental> Slot<T> {
    fn unknown() -> Slot<T> {
        Slot { note: None, known: false, entry: T::Entry::default() }
    }
}

impl<T: Incremental> Accumulator<T> {
    /// For a line that begins at any board.
    pub fn new() -> Accumulator<T> {
        Accumulator { stack: vec![Slot::unknown()], top: 0 }
    }

    /// Begins a new line with the same table.
    pub fn reset(&mut self, table: &T, board: &Board) {
        self.top = 0;
        let root = &mut self.stack[0];
        if root.known {
            table.reset(board, &mut root.entry);
        } else {
            table.refresh(board, &mut root.entry);
            root.known = true;
        }
    }

    /// Forgets everything: the table is another one. The line stands where it began.
    pub fn forget(&mut self) {
        self.top = 0;
        self.stack[0].known = false;
    }

    /// Advances to the position after a move.
    #[inline]
    pub fn push(&mut self, table: &T, step: &Step) {
        self.top += 1;
        if self.top == self.stack.len() {
            self.stack.push(Slot::unknown());
        }
        let slot = &mut self.stack[self.top];
        slot.known = false;
        slot.note = table.note(step);
    }

    /// Goes back to the position before.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn pop(&mut self) {
        self.top = self.top.checked_sub(1).expect("pops match pushes");
    }

    /// What is kept of `board`, where the line stands.
    #[inline]
    pub fn get(&mut self, table: &T, board: &Board) -> &T::Entry {
        let mut known = self.top;
        while !self.stack[known].known {
            if self.stack[known].note.is_none() {
                let slot = &mut self.stack[self.top];
                table.refresh(board, &mut slot.entry);
                slot.known = true;
                return &slot.entry;
            }
            known -= 1;
        }
        while known < self.top {
            let (above, below) = self.stack.split_at_mut(known + 1);
            let slot = &mut below[0];
            let note = slot.note.as_ref().expect("all below the known position can be followed");
            table.follow(note, &above[known].entry, &mut slot.entry);
            slot.known = true;
            known += 1;
        }
        &self.stack[self.top].entry
    }
}

impl<T: Incremental> Default for Accumulator<T> {
    fn default() -> Accumulator<T> {
        Accumulator::new()
    }
}
