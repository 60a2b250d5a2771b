//! Terms of the whole board: mobility, pawn structure, passed pawns, threats, king safety, space, winnability.
//!
//! Piece-square tables and 2-tuples cannot express them. The choice follows hand-crafted evaluations (Stockfish 11,
//! Ethereal 12, and the papers of Tseng, Chen, Wu), made linear: a count is multiplied by one weight, or indexes a
//! table with one weight for each value.
//!
//! There are four parts by what they depend on, so that search can cache the first three: [`material_terms`] on the
//! material, [`pawn_terms`] on the pawns, [`king_terms`] on pawns and kings, [`piece_terms`] on all pieces.
//!
//! Terms are side-relative: written for a player called "us", see [`view`], and visited for both players.

mod king;
mod material;
mod passed;
mod pawns;
mod pieces;
mod space;
mod threats;
mod view;
mod winnability;

#[cfg(test)]
mod tests;

pub(crate) use king::king_key;
pub use king::{Shelters, king_terms};
pub use material::{Balance, material_terms};
pub use pawns::{PawnInfo, PawnSide, pawn_terms};
pub(crate) use pieces::pair_terms;

use crate::board::Board;
use crate::eval::visitor::{SideRelative, Visitor, WithSign};
pub(super) use view::{BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK};
use view::{Side, View};

/// Visits all terms of a position.
pub fn terms<V: Visitor>(board: &Board, visitor: &mut V) {
    let balance = material_terms(board, visitor);
    let pawns = pawn_terms(board, visitor);
    let mut visitor = WithSign::new(visitor);
    let shelters = king_terms(board, &pawns, &mut visitor);
    piece_terms(board, &balance, &pawns, &shelters, &mut visitor);
}

/// Visits the terms that depend on all pieces.
pub fn piece_terms<V: SideRelative>(
    board: &Board,
    balance: &Balance,
    pawns: &PawnInfo,
    &[white_shelter, black_shelter]: &Shelters,
    visitor: &mut V,
) {
    let mut sides = Side::both(board, pawns);
    let mut view = View::new(board, &mut sides);
    pieces::pieces(&mut view, visitor);
    view.flip(visitor);
    pieces::pieces(&mut view, visitor);
    attack_terms(&view, white_shelter, visitor);
    view.flip(visitor);
    attack_terms(&view, black_shelter, visitor);
    winnability::winnability(&view, balance, visitor);
    space::tempo(&view, visitor);
}

/// Visits our terms that need the attack maps of both sides; `shelter` is that of their king.
fn attack_terms<V: Visitor>(view: &View, shelter: i32, visitor: &mut V) {
    threats::threats(view, visitor);
    king::attack(view, shelter, visitor);
    passed::passed(view, visitor);
    space::space(view, visitor);
}
