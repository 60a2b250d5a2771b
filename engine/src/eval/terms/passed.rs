//! [Passed pawns](https://www.chessprogramming.org/Passed_Pawn) among pieces: kings, blockers, safety of the path, and
//! pawn races.

use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, Square, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits the terms of our passed pawns; needs the attack maps of both sides.
pub(crate) fn passed<V: Visitor>(view: &View, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let passed = us.passed;
    if passed.is_empty() {
        return;
    }
    let strongest = strongest(&them.pieces);
    for at in each(passed) {
        let pawn_rank = PawnRank(rank(at));
        let stop = square(at.to_index() + 8);
        visitor.add(PASSED_AGAINST.at(strongest, pawn_rank), 1);
        visitor.add(PASSED_OWN_KING.at(pawn_rank, Distance(distance(us.king(), stop))), 1);
        visitor.add(PASSED_ENEMY_KING.at(pawn_rank, Distance(distance(them.king(), stop))), 1);
        advance(view, at, stop, visitor);
    }
    if strongest == Strongest::Bare {
        unstoppable(view, visitor);
    }
    visitor.add(PASSED_COUNT.at(PassedPawns(passed.len())), 1);
}

fn strongest(pieces: &[BitBoard; 6]) -> Strongest {
    if pieces[QUEEN].any() {
        Strongest::Queen
    } else if pieces[ROOK].any() {
        Strongest::Rook
    } else if (pieces[KNIGHT] | pieces[BISHOP]).any() {
        Strongest::Minor
    } else {
        Strongest::Bare
    }
}

/// The advance of a passed pawn: rooks or queens behind it, the blocker on its stop square, attacks on the squares ahead.
fn advance<V: Visitor>(view: &View, at: Square, stop: Square, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let pawn_rank = PawnRank(rank(at));
    // One behind the pawn reaches every square that the pawn advances over.
    let nearest = (behind(at) & view.occupied).highest();
    let own_behind = (nearest & (us.pieces[ROOK] | us.pieces[QUEEN])).any();
    let enemy_behind = (nearest & (them.pieces[ROOK] | them.pieces[QUEEN])).any();
    if own_behind || enemy_behind {
        let owner = if own_behind { Owner::Own } else { Owner::Enemy };
        visitor.add(PASSED_ROOK_BEHIND.at(owner, pawn_rank), 1);
    }
    if view.occupied.has(stop) {
        let blocker = match them.piece_on(stop) {
            _ if us.all.has(stop) => Blocker::Own,
            KNIGHT | BISHOP => Blocker::Minor,
            KING => Blocker::King,
            _ => Blocker::Heavy,
        };
        visitor.add(PASSED_BLOCKED.at(blocker, pawn_rank), 1);
        return;
    }
    let path = ahead(at);
    let contested = if enemy_behind { path } else { path & (them.attacked | them.all) };
    let safety = if contested.has(stop) {
        PathSafety::NextAttacked
    } else if contested.any() {
        PathSafety::LaterAttacked
    } else {
        PathSafety::Safe
    };
    let defended = NextDefended(own_behind || us.attacked.has(stop));
    visitor.add(PASSED_PATH.at(safety, defended, pawn_rank), 1);
}

/// Against king and pawns: a pawn outside the [square](https://www.chessprogramming.org/Rule_of_the_Square) of their
/// king, or one whose path our king controls. At most one pawn counts, the least advanced.
fn unstoppable<V: Visitor>(view: &View, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let their_tempo = usize::from(!view.to_move);
    for at in each(us.passed) {
        let path = ahead(at);
        let goal = square(56 + file(at));
        // From the second rank the pawn may advance two squares.
        let moves = (7 - rank(at)).min(5);
        let outruns_king = (path & view.occupied).is_empty() && distance(them.king(), goal) > moves + their_tempo;
        let escorted = (path & !attacks::king(us.king())).is_empty();
        if outruns_king || escorted {
            visitor.add(PASSED_UNSTOPPABLE.at(PawnRank(rank(at))), 1);
            return;
        }
    }
}
