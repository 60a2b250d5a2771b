//! Passed pawns among pieces: how far, what stands in the way, who is near, who comes first.

use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, Square, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits our passed pawns; needs the attack maps of both.
pub fn passed<S: Visitor>(view: &View, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let passed = us.passed;
    if passed.is_empty() {
        return;
    }
    let strongest = strongest(&them.pieces);
    for at in each(passed) {
        let pawn_rank = PawnRank(rank(at));
        let block = square(at.to_index() + 8);
        visitor.add(PASSED_AGAINST.at(strongest, pawn_rank), 1);
        visitor.add(PASSED_OWN_KING.at(pawn_rank, Distance(distance(us.king(), block))), 1);
        visitor.add(PASSED_ENEMY_KING.at(pawn_rank, Distance(distance(them.king(), block))), 1);
        path(view, at, block, visitor);
    }
    if strongest == Strongest::Bare {
        race(view, visitor);
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

/// What the pawn finds on its way, and the rooks behind it.
fn path<S: Visitor>(view: &View, at: Square, block: Square, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let pawn_rank = PawnRank(rank(at));
    let below = (behind(at) & view.occupied).highest();
    let own_rook = (below & (us.pieces[ROOK] | us.pieces[QUEEN])).any();
    let enemy_rook = (below & (them.pieces[ROOK] | them.pieces[QUEEN])).any();
    if own_rook {
        visitor.add(PASSED_ROOK_BEHIND.at(Owner::Own, pawn_rank), 1);
    } else if enemy_rook {
        visitor.add(PASSED_ROOK_BEHIND.at(Owner::Enemy, pawn_rank), 1);
    }
    if view.occupied.has(block) {
        let blocker = if us.all.has(block) {
            Blocker::Own
        } else {
            match them.piece_on(block) {
                KNIGHT | BISHOP => Blocker::Minor,
                KING => Blocker::King,
                _ => Blocker::Heavy,
            }
        };
        visitor.add(PASSED_BLOCKED.at(blocker, pawn_rank), 1);
        return;
    }
    let way = ahead(at);
    let contested = if enemy_rook { way } else { way & (them.attacked | them.all) };
    let safety = if contested.has(block) {
        Way::NextAttacked
    } else if contested.any() {
        Way::LaterAttacked
    } else {
        Way::Safe
    };
    let defended = NextDefended(own_rook || us.attacked.has(block));
    visitor.add(PASSED_PATH.at(safety, defended, pawn_rank), 1);
}

/// The enemy has only king and pawns: a pawn that its king cannot catch, or that our king leads home.
fn race<S: Visitor>(view: &View, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let late = usize::from(!view.to_move);
    for at in each(us.passed) {
        let way = ahead(at);
        let goal = square(56 + file(at));
        let moves = (7 - rank(at)).min(5);
        let kept_off = way & (view.occupied | square_set(them.king()));
        let outrun = kept_off.is_empty() && distance(them.king(), goal) > moves + late;
        let led = (way & us.pieces[KING]).is_empty() && (way & !attacks::king(us.king())).is_empty();
        if outrun || led {
            visitor.add(PASSED_UNSTOPPABLE.at(PawnRank(rank(at))), 1);
            return;
        }
    }
}
