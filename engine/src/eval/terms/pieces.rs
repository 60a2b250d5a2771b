//! [Mobility](https://www.chessprogramming.org/Mobility) and piece terms: outposts, bad bishops, rooks on open files,
//! pins, batteries.
//!
//! One loop over our pieces computes the attacks of each piece, its mobility and its attack on the enemy king ring,
//! visits the terms that need its attacks, and completes our attack maps.

use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, Color, EMPTY, Piece, PieceSquare, Square, attacks, sign};
use crate::eval::layout::*;
use crate::eval::visitor::Visitor;

const LONG_DIAGONALS: BitBoard = BitBoard(0x8142_2418_1824_4281);

/// Visits the terms of our pieces and completes our attack maps. As in Stockfish, bishops see through queens, and rooks
/// through queens and own rooks.
pub(crate) fn pieces<V: Visitor>(view: &mut View, visitor: &mut V) {
    view.us.pinned = pins(view, visitor);
    let areas = Areas::new(view);
    let queens = view.us.pieces[QUEEN] | view.them.pieces[QUEEN];
    for at in each(view.us.pieces[KNIGHT]) {
        let all = attacks::knight(at);
        let attacked = add_attacks(view, KNIGHT, at, all);
        visitor.add(MOBILITY_KNIGHT.at(KnightSquares((attacked & areas.mobility).len())), 1);
        minor(view, &areas, KNIGHT, at, attacked, visitor);
    }
    for at in each(view.us.pieces[BISHOP]) {
        let all = attacks::bishop(at, view.occupied & !queens);
        let attacked = add_attacks(view, BISHOP, at, all);
        visitor.add(MOBILITY_BISHOP.at(BishopSquares((attacked & areas.mobility).len())), 1);
        minor(view, &areas, BISHOP, at, attacked, visitor);
        bishop(view, at, attacked, visitor);
    }
    for at in each(view.us.pieces[ROOK]) {
        let all = attacks::rook(at, view.occupied & !queens & !view.us.pieces[ROOK]);
        let attacked = add_attacks(view, ROOK, at, all);
        let mobility = (attacked & areas.mobility).len();
        visitor.add(MOBILITY_ROOK.at(RookSquares(mobility)), 1);
        rook(view, at, mobility, visitor);
    }
    for at in each(view.us.pieces[QUEEN]) {
        let all = attacks::queen(at, view.occupied);
        let attacked = add_attacks(view, QUEEN, at, all);
        visitor.add(MOBILITY_QUEEN.at(QueenSquares((attacked & areas.mobility).len())), 1);
        queen(view, at, visitor);
    }
    bishop_pair_and_batteries(view, visitor);
}

/// Sets of squares for all our pieces.
struct Areas {
    /// The mobility area, as in Stockfish: without squares attacked by enemy pawns, and without our king, queens,
    /// pinned pieces, and pawns that are blocked or on the 2nd or 3rd rank.
    mobility: BitBoard,
    /// [Outposts](https://www.chessprogramming.org/Outposts): advanced squares that no enemy pawn can ever attack.
    outposts: BitBoard,
}

impl Areas {
    fn new(view: &View) -> Self {
        let (us, them) = (&view.us, &view.them);
        let low_or_blocked = us.pieces[PAWN] & (view.occupied.south() | rank_set(1) | rank_set(2));
        let excluded = low_or_blocked | us.pieces[KING] | us.pieces[QUEEN] | us.pinned | them.attacks[PAWN];
        Self { mobility: !excluded, outposts: (rank_set(3) | rank_set(4) | rank_set(5)) & !them.pawn_span }
    }
}

/// Adds a piece's attacks to our attack maps and returns them. A pinned piece attacks only along the pin.
#[inline(always)]
fn add_attacks(view: &mut View, piece: usize, at: Square, squares: BitBoard) -> BitBoard {
    let us = &mut view.us;
    let mut attacked = squares;
    if us.pinned.has(at) {
        attacked &= attacks::line(us.king(), at);
    }
    us.add_attacks(piece, attacked);
    us.ring_attack.add(piece, (attacked & view.them.king_ring).len());
    attacked
}

/// [Pins](https://www.chessprogramming.org/Pin) of our pieces to our king, and discovered-check blockers of the enemy:
/// pieces between their slider and our king. Returns our pinned pieces.
fn pins<V: Visitor>(view: &View, visitor: &mut V) -> BitBoard {
    let (us, them) = (&view.us, &view.them);
    let sliders = [them.pieces[BISHOP] | them.pieces[QUEEN], them.pieces[ROOK] | them.pieces[QUEEN]];
    let mut pinned = EMPTY;
    lone_blockers(us.king(), them, sliders, view.occupied, |blocker, slider| {
        let by = Slider(them.piece_on(slider));
        if us.all.has(blocker) {
            pinned |= square_set(blocker);
            visitor.add(PINNED.at(Target(us.piece_on(blocker)), by), 1);
        } else if !them.pieces[KING].has(blocker) {
            visitor.add(DISCOVERY.at(Target(them.piece_on(blocker)), by), -1);
        }
    });
    pinned
}

/// Knights and bishops: outposts, and the pair terms with pawns and king.
#[inline(always)]
fn minor<V: Visitor>(view: &View, areas: &Areas, piece: usize, at: Square, attacked: BitBoard, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let minor = Minor(piece);
    if areas.outposts.has(at) {
        let supported = Supported(us.attacks[PAWN].has(at));
        visitor.add(OUTPOST.at(minor, supported, OutpostRank(rank(at))), 1);
    } else {
        let reachable = attacked & areas.outposts & !us.all;
        if reachable.any() {
            let supported = Supported((reachable & us.attacks[PAWN]).any());
            visitor.add(OUTPOST_REACHABLE.at(minor, supported), 1);
        }
    }
    if !V::SKIPS_PAIR_TERMS {
        for (owner, side) in [(Owner::Own, us), (Owner::Enemy, them)] {
            if !(square_set(at).north() & side.pieces[PAWN]).is_empty() {
                visitor.add(MINOR_BEHIND_PAWN.at(minor, owner), 1);
            }
        }
        visitor.add(MINOR_KING_DISTANCE.at(minor, Distance(distance(us.king(), at))), 1);
    }
}

/// Visits the terms of the groups marked `#[Pair]`, which depend on two pieces alone. Search adds their weights to the
/// 2-tuples of the two pieces, at no cost.
pub(crate) fn pair_terms<V: Visitor>(one: PieceSquare, other: PieceSquare, visitor: &mut V) {
    for (minor, other) in [(one, other), (other, one)] {
        if matches!(minor.piece, Piece::Knight | Piece::Bishop) {
            let flip = if minor.color == Color::White { 0 } else { 0b111_000 };
            let [at, other_at] = [minor, other].map(|piece| square(piece.square.to_index() ^ flip));
            let owner = if other.color == minor.color { Owner::Own } else { Owner::Enemy };
            let kind = Minor(minor.piece.to_index());
            let id = match (owner, other.piece) {
                (_, Piece::Pawn) if other_at.to_index() == at.to_index() + 8 => MINOR_BEHIND_PAWN.at(kind, owner),
                (Owner::Own, Piece::King) => MINOR_KING_DISTANCE.at(kind, Distance(distance(other_at, at))),
                _ => continue,
            };
            visitor.add(id, sign(minor.color));
        }
    }
}

/// Bishops: [bad bishops](https://www.chessprogramming.org/Bad_Bishop), pawns on their diagonals, long diagonals.
#[inline(always)]
fn bishop<V: Visitor>(view: &View, at: Square, attacked: BitBoard, visitor: &mut V) {
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

/// Rooks: [open files](https://www.chessprogramming.org/Rook_on_Open_File), the queen's file, the
/// [7th rank](https://www.chessprogramming.org/Rook_on_Seventh), trapped rooks.
#[inline(always)]
fn rook<V: Visitor>(view: &View, at: Square, mobility: usize, visitor: &mut V) {
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
    if mobility <= 3 && own.any() && is_behind_king(at, us.king()) {
        visitor.add(ROOK_TRAPPED.at(CanCastle(us.can_castle), TrappedSquares(mobility)), 1);
    }
}

/// Whether a rook stands between its king and the nearer edge of the board.
fn is_behind_king(rook: Square, king: Square) -> bool {
    let same_wing = (file(rook) < 4) == (file(king) < 4);
    same_wing && edge_distance(file(rook)) < edge_distance(file(king)) && rank(rook) <= 1
}

/// Queens: infiltration of the enemy camp, and x-ray attacks on them.
#[inline(always)]
fn queen<V: Visitor>(view: &View, at: Square, visitor: &mut V) {
    let them = &view.them;
    if rank(at) >= 4 && !them.pawn_span.has(at) {
        visitor.add(QUEEN_INFILTRATION.at(), 1);
    }
    let sliders = [them.pieces[BISHOP], them.pieces[ROOK]];
    lone_blockers(at, them, sliders, view.occupied, |blocker, slider| {
        let by = XraySlider(if them.pieces[ROOK].has(slider) { ROOK } else { BISHOP });
        visitor.add(QUEEN_XRAYED.at(by, OwnBetween(view.us.all.has(blocker))), 1);
    });
}

/// The [bishop pair](https://www.chessprogramming.org/Bishop_Pair), and
/// [batteries](https://www.chessprogramming.org/Battery).
fn bishop_pair_and_batteries<V: Visitor>(view: &View, visitor: &mut V) {
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
