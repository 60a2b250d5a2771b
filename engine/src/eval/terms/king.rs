//! [King safety](https://www.chessprogramming.org/King_Safety), linear in its weights.
//!
//! Stockfish squares the king danger, and Table III of Tseng, Chen, Wu shows that most of the strength of its king
//! safety comes from that. A linear evaluation cannot square, but it can use a table: king danger, a sum in fixed
//! units, is the index to a table with one weight for each value. The parts of the sum are features as well, so that
//! training can correct the fixed units.

use super::pawns::PawnInfo;
use super::view::*;
use crate::board::squares::*;
use crate::board::{BitBoard, Board, Color, EMPTY, Piece, attacks};
use crate::eval::layout::*;
use crate::eval::visitor::{SideRelative, Visitor};
use crate::hash::GOLDEN;

/// Units of king danger, roughly a tenth of Stockfish's.
mod unit {
    /// A safe check by knight, bishop, rook, queen: from one square, from several.
    pub(crate) const SAFE_CHECK: [[i32; 2]; 4] = [[79, 126], [64, 97], [108, 188], [77, 112]];
    /// A piece type with unsafe checks only.
    pub(crate) const UNSAFE_CHECK: i32 = 15;
    pub(crate) const WEAK_SQUARE: i32 = 18;
    pub(crate) const RING_ATTACK: i32 = 6;
    pub(crate) const PINNED: i32 = 10;
    /// The attacker has no queen.
    pub(crate) const NO_QUEEN: i32 = -87;
    /// A knight of the defender protects the king or a square next to it.
    pub(crate) const KNIGHT_DEFENDS: i32 = -10;
    /// A unit of [`SHELTER_GAP`](super::SHELTER_GAP) and [`STORM`](super::STORM).
    pub(crate) const SHELTER: i32 = 5;
    /// Divisor of the square of the attacks on the flank.
    pub(crate) const FLANK_ATTACK_DIVISOR: i32 = 25;
    /// Divisor of the defended squares of the flank.
    pub(crate) const FLANK_DEFENSE_DIVISOR: i32 = 2;
    /// Added to the sum, so that a safe king is at the low end of the table.
    pub(crate) const BASE: i32 = 40;
    /// Units per entry of the table.
    pub(crate) const STEP: i32 = 6;
}

/// Gap in the pawn shelter by the rank of the own pawn on a file near the king; 0 without a pawn.
const SHELTER_GAP: [i32; 7] = [4, 0, 1, 2, 3, 3, 4];
/// Pawn storm by the rank of the nearest enemy pawn on a file near the king, from the king's side; 0 without a pawn.
const STORM: [i32; 7] = [1, 3, 3, 2, 1, 0, 0];

/// Shelter gaps plus pawn storms of White's and Black's king, see [`unit::SHELTER`].
pub type Shelters = [i32; 2];

/// A key of all that [`king_terms`] depend on: pawns, kings, castling rights, and which sides have heavy pieces.
pub(crate) fn king_key(board: &Board) -> u64 {
    let heavy = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let color = |color: Color| {
        let king = board.king(color).to_index() << 2;
        (king | usize::from((heavy & board.colors(color)).any()) << 1 | usize::from(board.can_castle(color))) as u64
    };
    let kings = color(Color::White) << 8 | color(Color::Black);
    board.keys().pawns ^ (kings + 1).wrapping_mul(GOLDEN)
}

/// Visits the terms of pawns and kings, for both colors.
pub fn king_terms<V: SideRelative>(board: &Board, pawns: &PawnInfo, visitor: &mut V) -> Shelters {
    let mut sides = Side::both(board, pawns);
    let mut view = View::new(board, &mut sides);
    let white = shelter(&view, visitor);
    view.flip(visitor);
    let black = shelter(&view, visitor);
    visitor.flip_side();
    [white, black]
}

/// Visits the terms of our king that do not depend on attacks of pieces: shelter, pawn storm, open files, castling
/// rights, distance from pawns. Returns shelter gaps plus pawn storm.
fn shelter<V: Visitor>(view: &View, visitor: &mut V) -> i32 {
    let (us, them) = (&view.us, &view.them);
    let king = us.king();
    let here = ranks_from(rank(king));
    let own = us.pieces[PAWN] & here & !them.attacks[PAWN];
    let enemy = them.pieces[PAWN] & here;
    let center = file(king).clamp(1, 6);
    let mut gaps = 0;
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
            gaps += STORM[theirs];
        }
        gaps += SHELTER_GAP[ours];
    }
    king_file(view, visitor);
    visitor.add(CASTLING.at(CanCastle(us.can_castle)), 1);
    let [own, enemy] = [us, them].map(|side| Distance(distance_to_set(king, side.pieces[PAWN])));
    visitor.add(KING_PAWNS.at(Owner::Own, own), 1);
    visitor.add(KING_PAWNS.at(Owner::Enemy, enemy), 1);
    gaps
}

/// Open and half-open files near the king.
fn king_file<V: Visitor>(view: &View, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let heavy = AgainstHeavy((them.pieces[ROOK] | them.pieces[QUEEN]).any());
    let column = file_set(file(us.king()));
    for (index, file) in [column, column.west(), column.east()].into_iter().enumerate() {
        if file.is_empty() {
            continue;
        }
        let kind = match ((us.pieces[PAWN] & file).any(), (them.pieces[PAWN] & file).any()) {
            (false, false) => OpenFile::Open,
            (false, true) => OpenFile::NoOwn,
            (true, false) => OpenFile::NoEnemy,
            (true, true) => continue,
        };
        visitor.add(KING_FILE.at(heavy, BesideKing(index > 0), kind), 1);
    }
}

/// Visits our attack on their king; needs the attack maps of both sides. `shelter` is the result of [`shelter`] for
/// their king.
pub(crate) fn attack<V: Visitor>(view: &View, shelter: i32, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let queen = us.pieces[QUEEN].any();
    let king = them.king();
    let weak = us.attacked & !them.twice & (!them.attacked | them.attacks[KING] | them.attacks[QUEEN]);
    let weak_ring = (weak & them.king_ring).len();
    let checks = checks(view, weak, visitor);
    let flank = flank(view, visitor);

    let (attackers, ring_attacks) = (us.ring_attack.attackers(), us.ring_attack.attacks());
    visitor.add(KING_ATTACKERS.at(WithQueen(queen), Attackers(attackers)), 1);
    visitor.add(KING_ATTACK.at(WithQueen(queen), RingAttacks(ring_attacks)), 1);
    let pawn_attacks = (us.attacks[PAWN] & them.king_ring).len() as i32;
    let [_, by_piece @ .., _] = us.ring_attack.by_piece;
    for (by, of_type) in RingAttacker::ALL.into_iter().zip(by_piece.into_iter().chain([pawn_attacks])) {
        visitor.add_if(of_type > 0, KING_ATTACK_BY.at(by), of_type);
    }
    visitor.add(KING_WEAK_SQUARES.at(WithQueen(queen), WeakSquares(weak_ring)), 1);

    let defenders = (them.all & them.king_ring & !them.pieces[KING]).len();
    visitor.add(KING_DEFENDERS.at(AgainstQueen(queen), RingDefenders(defenders)), -1);
    let escapes = them.attacks[KING] & !them.all & !us.attacked;
    visitor.add(KING_ESCAPES.at(AgainstQueen(queen), EscapeSquares(escapes.len())), -1);
    back_rank(view, escapes, visitor);

    let knight_defends = them.attacks[KNIGHT].has(king) || (them.attacks[KNIGHT] & them.attacks[KING]).any();
    let danger = (attackers * us.ring_attack.weight()) as i32
        + unit::RING_ATTACK * ring_attacks as i32
        + unit::WEAK_SQUARE * weak_ring as i32
        + unit::PINNED * them.pinned.len() as i32
        + unit::SHELTER * shelter
        + checks
        + flank
        + if queen { 0 } else { unit::NO_QUEEN }
        + if knight_defends { unit::KNIGHT_DEFENDS } else { 0 };
    let step = ((danger + unit::BASE) / unit::STEP).max(0);
    visitor.add(KING_DANGER.at(Danger(step as usize)), 1);
}

/// Safe and unsafe checks with our next move (the papers' SPC). Returns units of danger.
fn checks<V: Visitor>(view: &View, weak: BitBoard, visitor: &mut V) -> i32 {
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
        // A queen check where their queen can capture is harmless.
        let harmless = if kind == 3 { them.attacks[QUEEN] } else { EMPTY };
        let safe = from & safe & !harmless;
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

/// Attack and defense of the flank of their king. Returns units of danger.
fn flank<V: Visitor>(view: &View, visitor: &mut V) -> i32 {
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
    (attack * attack) as i32 / unit::FLANK_ATTACK_DIVISOR - defense as i32 / unit::FLANK_DEFENSE_DIVISOR
}

/// The flank of a king by its file: three or four files.
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

/// Back-rank weakness: their king has no escape square off its back rank, and we have a rook or queen.
fn back_rank<V: Visitor>(view: &View, escapes: BitBoard, visitor: &mut V) {
    let (us, them) = (&view.us, &view.them);
    let heavy = us.pieces[ROOK] | us.pieces[QUEEN];
    if rank(them.king()) == 7 && heavy.any() && (escapes & !rank_set(7)).is_empty() {
        let guarded = Guarded((rank_set(7) & (them.attacks[ROOK] | them.attacks[QUEEN])).any());
        visitor.add(BACK_RANK.at(guarded), 1);
    }
}
