//! Mobility, and what a piece is worth by where it stands among pawns and kings.
//!
//! One walk over our pieces computes what each attacks, counts its safe squares, collects the attack
//! on the enemy king's ring, and visits the terms that need the piece's own attacks. Afterwards our
//! attack maps are complete.

use super::bits::*;
use super::view::*;
use crate::board::{BitBoard, EMPTY, Square, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

/// How much a piece that attacks the king's ring adds to the weight of the attack.
const ATTACK_WEIGHT: [usize; 6] = [0, 8, 5, 4, 1, 0];

const LONG_DIAGONALS: BitBoard = BitBoard(0x8142_2418_1824_4281);

/// Completes the attack maps of us and visits the terms of each of our pieces.
pub fn activity<S: Visitor>(view: &mut View, visitor: &mut S) {
    view.us.pinned = pins(view, visitor);
    let squares = Surroundings::new(view);
    let queens = view.us.men[QUEEN] | view.them.men[QUEEN];
    for at in view.us.men[KNIGHT] {
        let all = attacks::knight(at);
        let attacked = register(view, KNIGHT, at, all);
        visitor.add(MOBILITY_KNIGHT.at((attacked & squares.mobility).len()), 1);
        minor(view, &squares, KNIGHT, at, attacked, visitor);
    }
    for at in view.us.men[BISHOP] {
        let all = attacks::bishop(at, view.occupied & !queens);
        let attacked = register(view, BISHOP, at, all);
        visitor.add(MOBILITY_BISHOP.at((attacked & squares.mobility).len()), 1);
        minor(view, &squares, BISHOP, at, attacked, visitor);
        bishop(view, at, attacked, visitor);
    }
    for at in view.us.men[ROOK] {
        let all = attacks::rook(at, view.occupied & !queens & !view.us.men[ROOK]);
        let attacked = register(view, ROOK, at, all);
        let mobility = (attacked & squares.mobility).len();
        visitor.add(MOBILITY_ROOK.at(mobility), 1);
        rook(view, at, mobility, visitor);
    }
    for at in view.us.men[QUEEN] {
        let all = attacks::queen(at, view.occupied);
        let attacked = register(view, QUEEN, at, all);
        visitor.add(MOBILITY_QUEEN.at((attacked & squares.mobility).len().min(27)), 1);
        queen(view, at, visitor);
    }
    together(view, visitor);
}

/// Squares that every piece of ours looks at in the same way.
struct Surroundings {
    /// Squares where moving to is worth something.
    mobility: BitBoard,
    /// Advanced squares that no enemy pawn will ever attack.
    outposts: BitBoard,
}

impl Surroundings {
    fn new(view: &View) -> Self {
        let (us, them) = (&view.us, &view.them);
        let low_or_blocked = us.men[PAWN] & (view.occupied.south() | rank_set(1) | rank_set(2));
        let excluded = low_or_blocked | us.men[KING] | us.men[QUEEN] | us.pinned | them.attacks[PAWN];
        Self { mobility: !excluded, outposts: (rank_set(3) | rank_set(4) | rank_set(5)) & !them.pawn_span }
    }
}

/// Adds a piece's attacks to the maps; a pinned piece attacks only along the pin.
#[inline(always)]
fn register(view: &mut View, piece: usize, at: Square, squares: BitBoard) -> BitBoard {
    let us = &mut view.us;
    let mut attacked = squares;
    if us.pinned.has(at) {
        attacked &= attacks::line(us.king(), at);
    }
    us.attack(piece, attacked);
    let hits = (attacked & view.them.king_ring).len();
    let attackers = usize::from(hits > 0);
    us.ring.attackers += attackers;
    us.ring.weight += ATTACK_WEIGHT[piece] * attackers;
    us.ring.hits += hits;
    us.ring.by_piece[piece] += hits as i32;
    attacked
}

/// Our men that shield our king from a slider, by their type and the slider's, and enemy men between
/// their slider and our king, which discover an attack by moving; returns the former.
fn pins<S: Visitor>(view: &View, visitor: &mut S) -> BitBoard {
    let (us, them) = (&view.us, &view.them);
    let sliders = [them.men[BISHOP] | them.men[QUEEN], them.men[ROOK] | them.men[QUEEN]];
    let mut pinned = EMPTY;
    shields(us.king(), them, sliders, view.occupied, |shield, slider| {
        let by = them.piece_on(slider) - BISHOP;
        if us.all.has(shield) {
            pinned |= only(shield);
            visitor.add(PINNED.at(us.piece_on(shield) * 3 + by), 1);
        } else if !them.men[KING].has(shield) {
            visitor.add(DISCOVERY.at(them.piece_on(shield) * 3 + by), -1);
        }
    });
    pinned
}

/// Knights and bishops: outposts, shelter behind a pawn, distance to their own king.
#[inline(always)]
fn minor<S: Visitor>(
    view: &View,
    squares: &Surroundings,
    piece: usize,
    at: Square,
    attacked: BitBoard,
    visitor: &mut S,
) {
    let (us, them) = (&view.us, &view.them);
    let kind = piece - KNIGHT;
    if squares.outposts.has(at) {
        let supported = usize::from(us.attacks[PAWN].has(at));
        visitor.add(OUTPOST.at((kind * 2 + supported) * 3 + rank(at) - 3), 1);
    } else {
        let reachable = attacked & squares.outposts & !us.all;
        if reachable.some() {
            let supported = usize::from((reachable & us.attacks[PAWN]).some());
            visitor.add(OUTPOST_REACHABLE.at(kind * 2 + supported), 1);
        }
    }
    let roof = only(at).north();
    visitor.add_if((roof & us.men[PAWN]).some(), MINOR_BEHIND_PAWN.at(kind * 2), 1);
    visitor.add_if((roof & them.men[PAWN]).some(), MINOR_BEHIND_PAWN.at(kind * 2 + 1), 1);
    visitor.add(MINOR_KING_DISTANCE.at(kind * 8 + distance(at, us.king())), 1);
}

/// Bishops and the pawns on their color.
#[inline(always)]
fn bishop<S: Visitor>(view: &View, at: Square, attacked: BitBoard, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let color = if DARK.has(at) { DARK } else { !DARK };
    let own = us.men[PAWN] & color;
    let blocked_center = (us.men[PAWN] & view.occupied.south() & CENTER_FILES).len().min(4);
    let rammed = own & them.men[PAWN].south();
    visitor.add(BISHOP_PAWNS.at(own.len()), 1);
    visitor.add(BISHOP_BLOCKED_CENTER.at(blocked_center), 1);
    visitor.add(BISHOP_RAMMED_PAWNS.at(rammed.len().min(4)), 1);
    visitor.add(BISHOP_ENEMY_PAWNS.at((them.men[PAWN] & color).len()), 1);
    let rays = attacks::diagonals(at);
    visitor.add(BISHOP_XRAY_PAWNS.at((rays & them.men[PAWN]).len().min(5)), 1);
    if LONG_DIAGONALS.has(at) {
        let through = attacks::bishop(at, us.men[PAWN] | them.men[PAWN]) | only(at);
        if (through & CENTER).many() {
            visitor.add(BISHOP_LONG_DIAGONAL.at(usize::from((attacked & CENTER).some())), 1);
        }
    }
}

/// Rooks and the files.
#[inline(always)]
fn rook<S: Visitor>(view: &View, at: Square, mobility: usize, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let column = file_set(file(at));
    let own = us.men[PAWN] & column;
    let enemy = them.men[PAWN] & column;
    let kind = if own.some() {
        if (own & view.occupied.south()).some() { 3 } else { 4 }
    } else if !enemy.some() {
        0
    } else {
        1 + usize::from((enemy & them.attacks[PAWN]).some())
    };
    let near_king = usize::from(file(at).abs_diff(file(them.king())) <= 1);
    visitor.add(ROOK_FILE.at(kind * 2 + near_king), 1);
    if (column & (us.men[QUEEN] | them.men[QUEEN])).some() {
        visitor.add(ROOK_QUEEN_FILE.at(usize::from((column & them.men[QUEEN]).some())), 1);
    }
    if rank(at) == 6 {
        let confines = usize::from(rank(them.king()) == 7);
        let attacks_pawns = usize::from((them.men[PAWN] & rank_set(6)).some());
        visitor.add(ROOK_SEVENTH.at(confines * 2 + attacks_pawns), 1);
    }
    if mobility <= 3 && own.some() && is_shut_in(at, us.king()) {
        visitor.add(ROOK_TRAPPED.at(usize::from(us.can_castle) * 4 + mobility), 1);
    }
}

/// Whether the rook stands between its king and the nearer edge of the board.
fn is_shut_in(rook: Square, king: Square) -> bool {
    let same_wing = (file(rook) < 4) == (file(king) < 4);
    same_wing && edge(file(rook)) < edge(file(king)) && rank(rook) <= 1
}

/// Queens: on an outpost, and against sliders that a single man holds off.
#[inline(always)]
fn queen<S: Visitor>(view: &View, at: Square, visitor: &mut S) {
    let them = &view.them;
    if rank(at) >= 4 && !them.pawn_span.has(at) {
        visitor.add(QUEEN_INFILTRATION.at(0), 1);
    }
    let sliders = [them.men[BISHOP], them.men[ROOK]];
    shields(at, them, sliders, view.occupied, |shield, slider| {
        let by_rook = usize::from(them.men[ROOK].has(slider));
        let own_shield = usize::from(view.us.all.has(shield));
        visitor.add(QUEEN_XRAYED.at(by_rook * 2 + own_shield), 1);
    });
}

/// Terms of several pieces at once.
fn together<S: Visitor>(view: &View, visitor: &mut S) {
    let us = &view.us;
    let bishops = us.men[BISHOP];
    if (bishops & DARK).some() && (bishops & !DARK).some() {
        visitor.add(BISHOP_PAIR.at((us.men[PAWN] | view.them.men[PAWN]).len()), 1);
    }
    let rooks = us.men[ROOK];
    if (rooks & rank_set(6)).many() {
        visitor.add(BATTERY.at(0), 1);
    }
    if (rooks & us.attacks[ROOK]).some() {
        let stacked = (rooks & rooks.fill_north().north()).some();
        visitor.add(BATTERY.at(1 + usize::from(stacked)), 1);
    }
    if (us.men[QUEEN] & us.attacks[BISHOP]).some() {
        visitor.add(BATTERY.at(3), 1);
    }
}
