//! Room behind the pawns, and whose move it is.

use super::view::*;
use crate::board::squares::*;
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits our space: safe squares on the four middle files of our side of the board, those behind our
/// pawns twice. What they are worth depends on how many pieces want to use them.
pub fn space<S: Visitor>(view: &View, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let home = CENTER_FILES & (rank_set(1) | rank_set(2) | rank_set(3));
    let safe = home & !us.pieces[PAWN] & !them.attacks[PAWN];
    let below = us.pieces[PAWN].south();
    let below = below | below.south();
    let behind = (us.pieces[PAWN] | below | below.south()) & safe & !them.attacked;
    let count = safe.len() + behind.len();
    visitor.add(SPACE.at(OwnPieces(us.all.len())), count as i32);
    let center = (us.attacked & CENTER).len() + (us.twice & CENTER).len();
    visitor.add(CENTER_CONTROL.at(CenterAttacks(center)), 1);
}

/// Visits the bonus for having the move, for the player who has it.
pub fn tempo<S: Visitor>(view: &View, visitor: &mut S) {
    let sign = if view.to_move { 1 } else { -1 };
    let queens = QueensLeft((view.us.pieces[QUEEN] | view.them.pieces[QUEEN]).any());
    visitor.add(TEMPO.at(queens), sign);
}
