//! Moves: what they capture, and lists of them on the stack.

use super::{Board, ChessMove, Piece, Square, Squares};
use std::ops::{Deref, DerefMut};

impl Board {
    /// The piece that `mv` captures.
    pub fn captured(&self, mv: ChessMove) -> Option<Piece> {
        if self.is_en_passant(mv) {
            Some(Piece::Pawn)
        } else if self.lands_on_enemy(mv) {
            self.piece_on(mv.get_dest())
        } else {
            None
        }
    }

    /// Whether `mv` is a capture.
    pub fn is_capture(&self, mv: ChessMove) -> bool {
        self.lands_on_enemy(mv) || self.is_en_passant(mv)
    }

    /// Whether the destination holds an enemy piece. In Chess960 castling it may hold an own one.
    pub(super) fn lands_on_enemy(&self, mv: ChessMove) -> bool {
        self.colors(!self.side_to_move()).has(mv.get_dest())
    }

    /// Whether `mv` is a capture or a promotion to a queen: the moves of quiescence search.
    pub fn is_noisy(&self, mv: ChessMove) -> bool {
        self.is_capture(mv) || mv.get_promotion() == Some(Piece::Queen)
    }

    /// Whether `mv` is an en passant capture.
    pub fn is_en_passant(&self, mv: ChessMove) -> bool {
        self.en_passant == Some(mv.get_dest())
            && self.pieces(Piece::Pawn).has(mv.get_source())
            && mv.get_source().get_file() != mv.get_dest().get_file()
    }
}

/// Upper bound on the legal moves of a position: the known maximum is 218.
pub(crate) const MAX_MOVES: usize = 224;

/// The moves of one position; used as a slice.
#[derive(Clone)]
pub struct MoveList {
    moves: [ChessMove; MAX_MOVES],
    len: usize,
}

impl MoveList {
    /// An empty list.
    pub fn new() -> MoveList {
        MoveList { moves: [ChessMove::new(Square::A1, Square::A1, None); MAX_MOVES], len: 0 }
    }

    /// Appends a move; a validated board never fills the list.
    pub fn push(&mut self, mv: ChessMove) {
        self.moves[self.len] = mv;
        self.len += 1;
    }

    /// Inserts a move among the last moves, those of the same piece, ordered by destination.
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

    fn deref(&self) -> &[ChessMove] {
        &self.moves[..self.len]
    }
}

impl DerefMut for MoveList {
    fn deref_mut(&mut self) -> &mut [ChessMove] {
        &mut self.moves[..self.len]
    }
}
