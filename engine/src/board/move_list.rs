//! A move list on the stack.

use chess::{ChessMove, Square};
use std::ops::{Deref, DerefMut};

/// No position has more legal moves than 218.
pub const MAX_MOVES: usize = 224;

/// The moves of one position; used as a slice.
#[derive(Clone)]
pub struct MoveList {
    moves: [ChessMove; MAX_MOVES],
    len: usize,
}

impl MoveList {
    /// An empty list.
    #[must_use]
    pub fn new() -> MoveList {
        MoveList { moves: [ChessMove::new(Square::A1, Square::A1, None); MAX_MOVES], len: 0 }
    }

    /// Appends a move; a validated board never fills the list.
    #[inline]
    pub fn push(&mut self, mv: ChessMove) {
        self.moves[self.len] = mv;
        self.len += 1;
    }

    /// Inserts a move among the last ones, those of the same piece, in the order of their squares.
    #[inline]
    pub(super) fn insert_by_square(&mut self, mv: ChessMove) {
        let mut at = self.len;
        while at > 0
            && self.moves[at - 1].get_source() == mv.get_source()
            && self.moves[at - 1].get_dest() > mv.get_dest()
        {
            self.moves[at] = self.moves[at - 1];
            at -= 1;
        }
        self.moves[at] = mv;
        self.len += 1;
    }

    /// Removes all moves.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl Default for MoveList {
    fn default() -> MoveList {
        MoveList::new()
    }
}

impl Deref for MoveList {
    type Target = [ChessMove];

    #[inline]
    fn deref(&self) -> &[ChessMove] {
        &self.moves[..self.len]
    }
}

impl DerefMut for MoveList {
    #[inline]
    fn deref_mut(&mut self) -> &mut [ChessMove] {
        &mut self.moves[..self.len]
    }
}
