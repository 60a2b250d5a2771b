//! The linear terms that look at the whole board.
//!
//! What a piece is worth on its square, alone and with each other piece, is the work of the pairs. Here
//! is what they cannot see: mobility, pawn structure, threats, king safety. The choice is what strong
//! hand-crafted engines know (Stockfish 11, Ethereal 12 and the papers of Tseng, Chen, Wu), made
//! linear: a count is either multiplied with one weight or, where its worth is not proportional, looked up in a
//! table with one weight for each value.
//!
//! The terms come in four parts by what they depend on, so that search can keep the first three:
//! [`material_terms`] on the material, [`pawn_terms`] on the pawns, [`king_terms`] on pawns and kings,
//! [`piece_terms`] on everything.
//!
//! Each term is written for a player called us, see [`view`]; a term of both players' view is visited
//! once for each, and the visitor counts Black's negative.

mod activity;
mod king;
mod material;
mod passed;
mod pawns;
mod space;
mod standing;
mod threats;
mod view;

#[cfg(test)]
mod tests;

pub use activity::{COUPLES, couple};
pub use king::{Shelters, king_key, king_terms};
pub use material::{Balance, material_terms};
pub use pawns::{PawnInfo, PawnSide, pawn_terms};

use crate::board::Board;
use crate::eval::visitor::{Turning, TwoSided, Visitor};
use view::{Side, View};

/// Visits all terms of a position.
pub fn terms<S: Visitor>(board: &Board, visitor: &mut S) {
    let balance = material_terms(board, visitor);
    let pawns = pawn_terms(board, visitor);
    let mut visitor = Turning::new(visitor);
    let shelters = king_terms(board, &pawns, &mut visitor);
    piece_terms(board, &balance, &pawns, &shelters, &mut visitor);
}

/// Visits the terms that depend on pieces.
pub fn piece_terms<S: TwoSided>(
    board: &Board,
    balance: &Balance,
    pawns: &PawnInfo,
    shelters: &Shelters,
    visitor: &mut S,
) {
    let mut sides = Side::both(board, pawns);
    let mut view = View::new(board, &mut sides);
    activity::activity(&mut view, visitor);
    view.turn(visitor);
    activity::activity(&mut view, visitor);
    side(&view, shelters.white, visitor);
    view.turn(visitor);
    side(&view, shelters.black, visitor);
    standing::standing(&view, balance, visitor);
    space::tempo(&view, visitor);
}

/// Visits our terms that need the attack maps of both players; `shelter` is that of their king.
fn side<S: Visitor>(view: &View, shelter: i32, visitor: &mut S) {
    threats::threats(view, visitor);
    king::attack(view, shelter, visitor);
    passed::passed(view, visitor);
    space::space(view, visitor);
}
