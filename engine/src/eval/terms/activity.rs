//! Mobility, and what a piece is worth by where it stands among pawns and kings.
//!
//! One walk over our pieces computes what each attacks, counts its safe squares, collects the attack
//! on the enemy king's ring, and visits the terms that need the piece's own attacks. Afterwards our
//! attack maps are complete.

use std::ops::Range;

use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, Color, EMPTY, Piece, PieceSquare, Square, attacks};
use crate::eval::layout::*;
use crate::eval::pairs;
use crate::eval::visitor::Visitor;

const LONG_DIAGONALS: BitBoard = BitBoard(0x8142_2418_1824_4281);

/// Completes the attack maps of us and visits the terms of each of our pieces.
pub fn activity<S: Visitor>(view: &mut View, visitor: &mut S) {
    view.us.pinned = pins(view, visitor);
    let squares = Surroundings::new(view);
    let queens = view.us.pieces[QUEEN] | view.them.pieces[QUEEN];
    for at in each(view.us.pieces[KNIGHT]) {
        let all = attacks::knight(at);
        let attacked = register(view, KNIGHT, at, all);
        visitor.add(MOBILITY_KNIGHT.at(KnightSquares((attacked & squares.mobility).len())), 1);
        minor(view, &squares, KNIGHT, at, attacked, visitor);
    }
    for at in each(view.us.pieces[BISHOP]) {
        let all = attacks::bishop(at, view.occupied & !queens);
        let attacked = register(view, BISHOP, at, all);
        visitor.add(MOBILITY_BISHOP.at(BishopSquares((attacked & squares.mobility).len())), 1);
        minor(view, &squares, BISHOP, at, attacked, visitor);
        bishop(view, at, attacked, visitor);
    }
    for at in each(view.us.pieces[ROOK]) {
        let all = attacks::rook(at, view.occupied & !queens & !view.us.pieces[ROOK]);
        let attacked = register(view, ROOK, at, all);
        let mobility = (attacked & squares.mobility).len();
        visitor.add(MOBILITY_ROOK.at(RookSquares(mobility)), 1);
        rook(view, at, mobility, visitor);
    }
    for at in each(view.us.pieces[QUEEN]) {
        let all = attacks::queen(at, view.occupied);
        let attacked = register(view, QUEEN, at, all);
        visitor.add(MOBILITY_QUEEN.at(QueenSquares((attacked & squares.mobility).len())), 1);
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
        let low_or_blocked = us.pieces[PAWN] & (view.occupied.south() | rank_set(1) | rank_set(2));
        let excluded = low_or_blocked | us.pieces[KING] | us.pieces[QUEEN] | us.pinned | them.attacks[PAWN];
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
    us.ring.add(piece, (attacked & view.them.king_ring).len());
    attacked
}

/// Our pieces that shield our king from a slider, by their type and the slider's, and discovered-check blockers: enemy
/// pieces between their slider and our king, which give check by moving away. Returns the former.
fn pins<S: Visitor>(view: &View, visitor: &mut S) -> BitBoard {
    let (us, them) = (&view.us, &view.them);
    let sliders = [them.pieces[BISHOP] | them.pieces[QUEEN], them.pieces[ROOK] | them.pieces[QUEEN]];
    let mut pinned = EMPTY;
    shields(us.king(), them, sliders, view.occupied, |shield, slider| {
        let by = Slider(them.piece_on(slider));
        if us.all.has(shield) {
            pinned |= square_set(shield);
            visitor.add(PINNED.at(Target(us.piece_on(shield)), by), 1);
        } else if !them.pieces[KING].has(shield) {
            visitor.add(DISCOVERY.at(Target(them.piece_on(shield)), by), -1);
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
    let minor = Minor(piece);
    if squares.outposts.has(at) {
        let supported = Supported(us.attacks[PAWN].has(at));
        visitor.add(OUTPOST.at(minor, supported, OutpostRank(rank(at))), 1);
    } else {
        let reachable = attacked & squares.outposts & !us.all;
        if reachable.any() {
            let supported = Supported((reachable & us.attacks[PAWN]).any());
            visitor.add(OUTPOST_REACHABLE.at(minor, supported), 1);
        }
    }
    if !S::KNOWS_COUPLES {
        for (owner, side) in [(Owner::Own, us), (Owner::Enemy, them)] {
            for pawn in each(square_set(at).north() & side.pieces[PAWN]) {
                minor_with(minor, at, owner, PAWN, pawn, 1, visitor);
            }
        }
        minor_with(minor, at, Owner::Own, KING, us.king(), 1, visitor);
    }
}

/// What a minor piece makes with one other piece, wherever all others stand: a pawn right before it, its king.
fn minor_with<S: Visitor>(
    minor: Minor,
    at: Square,
    owner: Owner,
    other: usize,
    other_at: Square,
    sign: i32,
    visitor: &mut S,
) {
    match (owner, other) {
        (_, PAWN) if other_at.to_index() == at.to_index() + 8 => visitor.add(MINOR_BEHIND_PAWN.at(minor, owner), sign),
        (Owner::Own, KING) => visitor.add(MINOR_KING_DISTANCE.at(minor, Distance(distance(other_at, at))), sign),
        _ => {}
    }
}

/// Features of [`couple`].
pub const COUPLES: Range<usize> = MINOR_BEHIND_PAWN.start..MINOR_KING_DISTANCE.range().end;

/// Visits the terms of two pieces that depend on nothing else, White's counting positive. They are among those of
/// [`activity`]; but search has them with the 2-tuples of both pieces, where they cost nothing.
pub fn couple<S: Visitor>(one: PieceSquare, other: PieceSquare, visitor: &mut S) {
    for (minor, other) in [(one, other), (other, one)] {
        if matches!(minor.piece, Piece::Knight | Piece::Bishop) {
            let turn = if minor.color == Color::White { 0 } else { 0b111_000 };
            let [at, other_at] = [minor, other].map(|piece| square(piece.square.to_index() ^ turn));
            let owner = if other.color == minor.color { Owner::Own } else { Owner::Enemy };
            let [kind, other] = [minor, other].map(|piece| piece.piece.to_index());
            minor_with(Minor(kind), at, owner, other, other_at, pairs::sign(minor.color), visitor);
        }
    }
}

/// Bishops and the pawns on their color.
#[inline(always)]
fn bishop<S: Visitor>(view: &View, at: Square, attacked: BitBoard, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let color = if DARK_SQUARES.has(at) { DARK_SQUARES } else { !DARK_SQUARES };
    let own = us.pieces[PAWN] & color;
    let blocked_center = (us.pieces[PAWN] & view.occupied.south() & CENTER_FILES).len();
    let rammed = own & them.pieces[PAWN].south();
    visitor.add(BISHOP_PAWNS.at(OwnPawns(own.len())), 1);
    visitor.add(BISHOP_BLOCKED_CENTER.at(FewOwnPawns(blocked_center)), 1);
    visitor.add(BISHOP_RAMMED_PAWNS.at(FewOwnPawns(rammed.len())), 1);
    visitor.add(BISHOP_ENEMY_PAWNS.at(EnemyPawns((them.pieces[PAWN] & color).len())), 1);
    let rays = attacks::diagonals(at);
    visitor.add(BISHOP_XRAY_PAWNS.at(DiagonalPawns((rays & them.pieces[PAWN]).len())), 1);
    if LONG_DIAGONALS.has(at) {
        let through = attacks::bishop(at, us.pieces[PAWN] | them.pieces[PAWN]) | square_set(at);
        if (through & CENTER).more_than_one() {
            visitor.add(BISHOP_LONG_DIAGONAL.at(SeesCenter((attacked & CENTER).any())), 1);
        }
    }
}

/// Rooks and the files.
#[inline(always)]
fn rook<S: Visitor>(view: &View, at: Square, mobility: usize, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let column = file_set(file(at));
    let own = us.pieces[PAWN] & column;
    let enemy = them.pieces[PAWN] & column;
    let kind = if own.any() {
        if (own & view.occupied.south()).any() { RookFile::BehindBlocked } else { RookFile::BehindOwn }
    } else if enemy.is_empty() {
        RookFile::Open
    } else if (enemy & them.attacks[PAWN]).any() {
        RookFile::HalfOpenDefended
    } else {
        RookFile::HalfOpen
    };
    let near_king = NearKing(file(at).abs_diff(file(them.king())) <= 1);
    visitor.add(ROOK_FILE.at(kind, near_king), 1);
    if (column & (us.pieces[QUEEN] | them.pieces[QUEEN])).any() {
        let owner = if (column & them.pieces[QUEEN]).any() { Owner::Enemy } else { Owner::Own };
        visitor.add(ROOK_QUEEN_FILE.at(owner), 1);
    }
    if rank(at) == 6 {
        let confines = ConfinesKing(rank(them.king()) == 7);
        let against_pawns = AgainstPawns((them.pieces[PAWN] & rank_set(6)).any());
        visitor.add(ROOK_SEVENTH.at(confines, against_pawns), 1);
    }
    if mobility <= 3 && own.any() && is_shut_in(at, us.king()) {
        visitor.add(ROOK_TRAPPED.at(CanCastle(us.can_castle), TrappedSquares(mobility)), 1);
    }
}

/// Whether the rook stands between its king and the nearer edge of the board.
fn is_shut_in(rook: Square, king: Square) -> bool {
    let same_wing = (file(rook) < 4) == (file(king) < 4);
    same_wing && edge_distance(file(rook)) < edge_distance(file(king)) && rank(rook) <= 1
}

/// Queens: on an outpost, and against sliders that a single piece holds off.
#[inline(always)]
fn queen<S: Visitor>(view: &View, at: Square, visitor: &mut S) {
    let them = &view.them;
    if rank(at) >= 4 && !them.pawn_span.has(at) {
        visitor.add(QUEEN_INFILTRATION.at(), 1);
    }
    let sliders = [them.pieces[BISHOP], them.pieces[ROOK]];
    shields(at, them, sliders, view.occupied, |shield, slider| {
        let by = XraySlider(if them.pieces[ROOK].has(slider) { ROOK } else { BISHOP });
        visitor.add(QUEEN_XRAYED.at(by, OwnBetween(view.us.all.has(shield))), 1);
    });
}

/// Terms of several pieces at once.
fn together<S: Visitor>(view: &View, visitor: &mut S) {
    let us = &view.us;
    let bishops = us.pieces[BISHOP];
    if (bishops & DARK_SQUARES).any() && (bishops & !DARK_SQUARES).any() {
        visitor.add(BISHOP_PAIR.at(AllPawns((us.pieces[PAWN] | view.them.pieces[PAWN]).len())), 1);
    }
    let rooks = us.pieces[ROOK];
    if (rooks & rank_set(6)).more_than_one() {
        visitor.add(BATTERY.at(Battery::RooksOnSeventh), 1);
    }
    if (rooks & us.attacks[ROOK]).any() {
        let stacked = (rooks & rooks.fill_north().north()).any();
        visitor.add(BATTERY.at(if stacked { Battery::RooksOnFile } else { Battery::RooksOnRank }), 1);
    }
    if (us.pieces[QUEEN] & us.attacks[BISHOP]).any() {
        visitor.add(BATTERY.at(Battery::QueenBishop), 1);
    }
}
