//! [Space](https://www.chessprogramming.org/Space), center control and the
//! [tempo](https://www.chessprogramming.org/Tempo).

use super::view::*;
use crate::board::squares::*;
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits our space and center control. As in Stockfish, space is the number of safe squares on the four center files
/// of our half, squares behind our pawns counted twice, and its weight depends on the number of our pieces.
pub(crate) fn space<V: Visitor>(view: &View, visitor: &mut V) {
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

/// Visits the bonus of the side to move.
pub(crate) fn tempo<V: Visitor>(view: &View, visitor: &mut V) {
    let sign = if view.to_move { 1 } else { -1 };
    let queens = QueensLeft((view.us.pieces[QUEEN] | view.them.pieces[QUEEN]).any());
    visitor.add(TEMPO.at(queens), sign);
}
