//! Passed pawns among pieces: how far, what stands in the way, who is near, who comes first.

use super::bits::*;
use super::view::*;
use crate::board::{BitBoard, Square, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// Visits our passed pawns; needs the attack maps of both.
pub fn passed<S: Visitor>(view: &View, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let passed = us.passed;
    if !passed.some() {
        return;
    }
    let strongest = strongest(&them.men);
    for at in passed {
        let step = rank(at) - 1;
        let block = square(at.to_index() + 8);
        visitor.add(PASSED_AGAINST.at(strongest * 6 + step), 1);
        visitor.add(PASSED_OWN_KING.at(step * 8 + distance(us.king(), block)), 1);
        visitor.add(PASSED_ENEMY_KING.at(step * 8 + distance(them.king(), block)), 1);
        path(view, at, block, visitor);
    }
    if strongest == 0 {
        race(view, visitor);
    }
    visitor.add(PASSED_COUNT.at(passed.len().min(5) - 1), 1);
}

/// 0 without pieces, else 1 for minor pieces, 2 for rooks, 3 with a queen.
fn strongest(men: &[BitBoard; 6]) -> usize {
    if men[QUEEN].some() {
        3
    } else if men[ROOK].some() {
        2
    } else {
        usize::from((men[KNIGHT] | men[BISHOP]).some())
    }
}

/// What the pawn finds on its way, and the rooks behind it.
fn path<S: Visitor>(view: &View, at: Square, block: Square, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let step = rank(at) - 1;
    let below = last(behind(at) & view.occupied);
    let own_rook = (below & (us.men[ROOK] | us.men[QUEEN])).some();
    let enemy_rook = (below & (them.men[ROOK] | them.men[QUEEN])).some();
    if own_rook {
        visitor.add(PASSED_ROOK_BEHIND.at(step), 1);
    } else if enemy_rook {
        visitor.add(PASSED_ROOK_BEHIND.at(6 + step), 1);
    }
    if view.occupied.has(block) {
        let blocker = if us.all.has(block) {
            0
        } else {
            match them.piece_on(block) {
                KNIGHT | BISHOP => 1,
                KING => 3,
                _ => 2,
            }
        };
        visitor.add(PASSED_BLOCKED.at(blocker * 6 + step), 1);
        return;
    }
    let way = ahead(at);
    let contested = if enemy_rook { way } else { way & (them.attacked | them.all) };
    let safety = if contested.has(block) {
        0
    } else if contested.some() {
        1
    } else {
        2
    };
    let defended = usize::from(own_rook || us.attacked.has(block));
    visitor.add(PASSED_PATH.at((safety * 2 + defended) * 6 + step), 1);
}

/// The enemy has only king and pawns: a pawn that its king cannot catch, or that our king leads home.
fn race<S: Visitor>(view: &View, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let late = usize::from(!view.to_move);
    for at in us.passed {
        let way = ahead(at);
        let goal = square(56 + file(at));
        let moves = (7 - rank(at)).min(5);
        let kept_off = way & (view.occupied | only(them.king()));
        let outrun = !kept_off.some() && distance(them.king(), goal) > moves + late;
        let led = !(way & us.men[KING]).some() && (way & !attacks::king(us.king())) == crate::board::EMPTY;
        if outrun || led {
            visitor.add(PASSED_UNSTOPPABLE.at(rank(at) - 1), 1);
            return;
        }
    }
}
