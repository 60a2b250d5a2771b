//! King safety, linear in its weights.
//!
//! Stockfish's king safety squares a sum of dangers, which no linear training can reach; Table III of
//! Tseng, Chen, Wu shows that this is worth most of its strength. Here the sum is counted in small fixed
//! units and then *looked up*: a table with one weight for each value of a sum is linear in its weights
//! and can take any shape, a square's too. Beside the sum stand its parts, so that a training can
//! correct what the fixed units get wrong.

use super::pawns::PawnInfo;
use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, Board, Color, EMPTY, Piece, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::{TwoSided, Visitor};
use crate::hash::GOLDEN;

/// Units of danger, roughly a tenth of the points that Stockfish sums.
mod unit {
    /// A safe check by knight, bishop, rook, queen; and more than one of the kind.
    pub const SAFE_CHECK: [[i32; 2]; 4] = [[79, 126], [64, 97], [108, 188], [77, 112]];
    /// A piece type that can check, but not safely.
    pub const UNSAFE_CHECK: i32 = 15;
    /// A square of the king's ring that only king or queen defend.
    pub const WEAK_SQUARE: i32 = 18;
    /// An attack on a square of the ring.
    pub const HIT: i32 = 6;
    /// A defender that is pinned.
    pub const PINNED: i32 = 10;
    /// The attacker has no queen.
    pub const NO_QUEEN: i32 = -87;
    /// A knight of the defender stands by its king.
    pub const KNIGHT_DEFENDS: i32 = -10;
    /// A gap in the shelter, an advanced storm.
    pub const SHELTER: i32 = 5;
    /// What brings an ordinary quiet king to the low end of the table.
    pub const BASE: i32 = 40;
    /// Units in one step of the table.
    pub const STEP: i32 = 6;
}

/// Danger of the files beside a king from the rank of the own pawn that shelters it, 0 for none.
const GAP: [i32; 7] = [4, 0, 1, 2, 3, 3, 4];
/// Danger from the rank of the enemy's nearest pawn, 0 for none; seen from the king's side.
const STORM: [i32; 7] = [1, 3, 3, 2, 1, 0, 0];

/// Gaps and storms of the kings' shelters, in units of danger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shelters {
    /// Of White's king.
    pub white: i32,
    /// Of Black's king.
    pub black: i32,
}

/// A key of all that [`king_terms`] depend on: pawns, kings, rights to castle, who has heavy pieces.
#[inline]
pub fn king_key(board: &Board) -> u64 {
    let heavy = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let color = |color: Color| {
        let king = board.king(color).to_index() << 2;
        (king | usize::from((heavy & board.colors(color)).any()) << 1 | usize::from(board.can_castle(color))) as u64
    };
    let kings = color(Color::White) << 8 | color(Color::Black);
    board.pawn_key() ^ (kings + 1).wrapping_mul(GOLDEN)
}

/// Visits the terms of pawns and kings, for both colors.
pub fn king_terms<S: TwoSided>(board: &Board, pawns: &PawnInfo, visitor: &mut S) -> Shelters {
    let mut sides = Side::both(board, pawns);
    let mut view = View::new(board, &mut sides);
    let white = shelter(&view, visitor);
    view.turn(visitor);
    let black = shelter(&view, visitor);
    visitor.turn();
    Shelters { white, black }
}

/// Visits our king's shelter and comforts: all terms of our king that need no pieces' attacks. Returns its
/// gaps and storms in units for [`attack`].
fn shelter<S: Visitor>(view: &View, visitor: &mut S) -> i32 {
    let (us, them) = (&view.us, &view.them);
    let king = us.king();
    let here = ranks_from(rank(king));
    let own = us.pieces[PAWN] & here & !them.attacks[PAWN];
    let enemy = them.pieces[PAWN] & here;
    let center = file(king).clamp(1, 6);
    let mut units = 0;
    for column in center - 1..=center + 1 {
        let nearest = |pawns: BitBoard| {
            let pawns = pawns & file_set(column);
            if pawns.any() { rank(pawns.to_square()) } else { 0 }
        };
        let (ours, theirs) = (nearest(own), nearest(enemy));
        let (before, at) = (BeforeKing(column == file(king)), EdgeFile(edge_distance(column)));
        visitor.add(SHELTER.at(before, at, NearestPawn(ours)), 1);
        if ours > 0 && theirs == ours + 1 {
            visitor.add(STORM_BLOCKED.at(NearestPawn(theirs)), 1);
        } else {
            visitor.add(STORM_OPEN.at(before, at, NearestPawn(theirs)), 1);
            units += STORM[theirs];
        }
        units += GAP[ours];
    }
    king_file(view, visitor);
    visitor.add(CASTLING.at(CanCastle(us.can_castle)), 1);
    let [own, enemy] = [us, them].map(|side| Distance(distance_to_set(king, side.pieces[PAWN])));
    visitor.add(KING_PAWNS.at(Owner::Own, own), 1);
    visitor.add(KING_PAWNS.at(Owner::Enemy, enemy), 1);
    units
}

/// Open files at the king.
fn king_file<S: Visitor>(view: &View, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let heavy = AgainstHeavy((them.pieces[ROOK] | them.pieces[QUEEN]).any());
    let column = file_set(file(us.king()));
    for (place, files) in [column, column.west(), column.east()].into_iter().enumerate() {
        if files.is_empty() {
            continue;
        }
        let kind = match ((us.pieces[PAWN] & files).any(), (them.pieces[PAWN] & files).any()) {
            (false, false) => OpenFile::Open,
            (false, true) => OpenFile::NoOwn,
            (true, false) => OpenFile::NoEnemy,
            (true, true) => continue,
        };
        visitor.add(KING_FILE.at(heavy, BesideKing(place > 0), kind), 1);
    }
}

/// Visits our attack on their king; `shelter` are the units of its shelter. Needs both attack maps.
pub fn attack<S: Visitor>(view: &View, shelter: i32, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let queen = us.pieces[QUEEN].any();
    let king = them.king();
    let weak = us.attacked & !them.twice & (!them.attacked | them.attacks[KING] | them.attacks[QUEEN]);
    let weak_ring = (weak & them.king_ring).len();
    let checks = checks(view, weak, visitor);
    let flank = flank(view, visitor);

    let (attackers, hits) = (us.ring.attackers(), us.ring.hits());
    visitor.add(KING_ATTACKERS.at(WithQueen(queen), Attackers(attackers)), 1);
    visitor.add(KING_ATTACK.at(WithQueen(queen), RingAttacks(hits)), 1);
    let pawn_hits = (us.attacks[PAWN] & them.king_ring).len() as i32;
    let [_, by_piece @ .., _] = us.ring.by_piece;
    for (by, of_type) in RingAttacker::ALL.into_iter().zip(by_piece.into_iter().chain([pawn_hits])) {
        visitor.add_if(of_type > 0, KING_ATTACK_BY.at(by), of_type);
    }
    visitor.add(KING_WEAK_SQUARES.at(WithQueen(queen), WeakSquares(weak_ring)), 1);

    let defenders = (them.all & them.king_ring & !them.pieces[KING]).len();
    visitor.add(KING_DEFENDERS.at(AgainstQueen(queen), RingDefenders(defenders)), -1);
    let refuge = them.attacks[KING] & !them.all & !us.attacked;
    visitor.add(KING_REFUGE.at(AgainstQueen(queen), FlightSquares(refuge.len())), -1);
    back_rank(view, refuge, visitor);

    let defended_by_knight = them.attacks[KNIGHT].has(king) || (them.attacks[KNIGHT] & them.attacks[KING]).any();
    let danger = (attackers * us.ring.weight()) as i32
        + unit::HIT * hits as i32
        + unit::WEAK_SQUARE * weak_ring as i32
        + unit::PINNED * them.pinned.len() as i32
        + unit::SHELTER * shelter
        + checks
        + flank
        + if queen { 0 } else { unit::NO_QUEEN }
        + if defended_by_knight { unit::KNIGHT_DEFENDS } else { 0 };
    let step = ((danger + unit::BASE) / unit::STEP).max(0);
    visitor.add(KING_DANGER.at(Danger(step as usize)), 1);
}

/// Checks we can give with the next move, safe ones and others; the papers' SPC. Returns danger units.
fn checks<S: Visitor>(view: &View, weak: BitBoard, visitor: &mut S) -> i32 {
    let (us, them) = (&view.us, &view.them);
    let king = them.king();
    let safe = !us.all & (!them.attacked | (weak & us.twice));
    let through = view.occupied & !them.pieces[QUEEN];
    let diagonal = attacks::bishop(king, through);
    let straight = attacks::rook(king, through);
    let lines = [attacks::knight(king), diagonal, straight, diagonal | straight];
    let mut units = 0;
    let mut total = 0;
    for (kind, line) in lines.into_iter().enumerate() {
        let from = line & us.attacks[KNIGHT + kind] & !us.all;
        // A queen's check that the enemy queen parries is no danger.
        let spared = if kind == 3 { them.attacks[QUEEN] } else { EMPTY };
        let safe = from & safe & !spared;
        let more = safe.more_than_one();
        let only_unsafe = from.any() && safe.is_empty();
        total += safe.len();
        units += unit::SAFE_CHECK[kind][usize::from(more)] * i32::from(safe.any())
            + unit::UNSAFE_CHECK * i32::from(only_unsafe);
        let checker = Checker(KNIGHT + kind);
        visitor.add_if(safe.any(), SAFE_CHECKS.at(SafeChecks::By(checker, Several(more))), 1);
        visitor.add_if(only_unsafe, UNSAFE_CHECKS.at(checker, Several(from.more_than_one())), 1);
    }
    visitor.add(SAFE_CHECKS.at(SafeChecks::All(total)), 1);
    units
}

/// Attack and defense of the flank where their king is. Returns danger units.
fn flank<S: Visitor>(view: &View, visitor: &mut S) -> i32 {
    let (us, them) = (&view.us, &view.them);
    let files = flank_files(file(them.king()));
    let camp = files & ranks_from(3);
    let once = us.attacked & camp;
    let attack = once.len() + (once & us.twice & !them.attacks[PAWN]).len();
    let defense = (them.attacked & camp).len();
    visitor.add(FLANK_ATTACK.at(FlankAttacks(attack)), 1);
    visitor.add(FLANK_DEFENSE.at(FlankDefenses(defense)), -1);
    if ((us.pieces[PAWN] | them.pieces[PAWN]) & files).is_empty() {
        visitor.add(FLANK_PAWNLESS.at(), 1);
    }
    (attack * attack) as i32 / 25 - defense as i32 / 2
}

/// The files around a king: three at the edge, else four, on the king's side of the board.
fn flank_files(file: usize) -> BitBoard {
    const ABC: u64 = 0x0707_0707_0707_0707;
    BitBoard(match file {
        0 => ABC,
        1 | 2 => ABC | ABC << 1,
        3 | 4 => ABC << 2 | ABC << 3,
        5 | 6 => ABC << 4 | ABC << 5,
        _ => ABC << 5,
    })
}

/// Their king is shut in on its back rank while we have rooks or a queen.
fn back_rank<S: Visitor>(view: &View, refuge: BitBoard, visitor: &mut S) {
    let (us, them) = (&view.us, &view.them);
    let heavy = us.pieces[ROOK] | us.pieces[QUEEN];
    if rank(them.king()) == 7 && heavy.any() && (refuge & !rank_set(7)).is_empty() {
        let guarded = Guarded((rank_set(7) & (them.attacks[ROOK] | them.attacks[QUEEN])).any());
        visitor.add(BACK_RANK.at(guarded), 1);
    }
}
