//! The linear terms that look at the whole board.
//!
//! What a piece is worth on its square, alone and with each other man, is the work of the pairs. Here
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
//! once for each, and the sink counts Black's negative.

mod activity;
pub(super) mod bits;
mod king;
mod material;
mod passed;
mod pawns;
mod space;
mod standing;
mod threats;
mod view;
mod words;

#[cfg(test)]
mod tests;

pub use king::{Shelters, king_key, king_terms};
pub use material::{Balance, ENDINGS, ENEMY_LEN as MATERIAL_ENEMY_LEN, OWN_LEN as MATERIAL_OWN_LEN, material_terms};
pub use pawns::{PawnInfo, PawnSide, pawn_terms};
pub use words::describe;

use crate::board::Board;
use crate::eval::sink::{Sink, Turning, TwoSided};
use view::{Side, View};

/// Visits all terms of a position.
pub fn terms<S: Sink>(board: &Board, sink: &mut S) {
    let balance = material_terms(board, sink);
    let pawns = pawn_terms(board, sink);
    let mut sink = Turning::new(sink);
    let shelters = king_terms(board, &pawns, &mut sink);
    piece_terms(board, &balance, &pawns, &shelters, &mut sink);
}

/// Visits the terms that depend on pieces.
pub fn piece_terms<S: TwoSided>(board: &Board, balance: &Balance, pawns: &PawnInfo, shelters: &Shelters, sink: &mut S) {
    let mut sides = Side::both(board, pawns);
    let mut view = View::new(board, &mut sides);
    activity::activity(&mut view, sink);
    view.turn(sink);
    activity::activity(&mut view, sink);
    side(&view, shelters.white, sink);
    view.turn(sink);
    side(&view, shelters.black, sink);
    standing::standing(&view, balance, sink);
    space::tempo(&view, sink);
}

/// Visits our terms that need the attack maps of both players; `shelter` is that of their king.
fn side<S: Sink>(view: &View, shelter: i32, sink: &mut S) {
    threats::threats(view, sink);
    king::attack(view, shelter, sink);
    passed::passed(view, sink);
    space::space(view, sink);
}
