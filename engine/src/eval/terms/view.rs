//! The board from one player's point of view, with the attack maps of both sides.
//!
//! Each term is written once, for "us", whose pawns move up. For Black's terms the board is flipped vertically, one
//! instruction for each bitboard. Black's terms are the same features with the opposite sign, which the visitor knows.

use super::pawns::PawnInfo;
use crate::board::squares::*;
use crate::board::{BitBoard, Board, Color, EMPTY, PIECES, Square, attacks};
use crate::eval::visitor::SideRelative;

pub(crate) const PAWN: usize = 0;
pub(crate) const KNIGHT: usize = 1;
pub(crate) const BISHOP: usize = 2;
pub(crate) const ROOK: usize = 3;
pub(crate) const QUEEN: usize = 4;
pub(crate) const KING: usize = 5;

/// One player's pieces and what they attack.
#[derive(Clone, Copy, Default)]
pub(crate) struct Side {
    /// Pieces by type.
    pub pieces: [BitBoard; 6],
    /// All pieces.
    pub all: BitBoard,
    /// Squares attacked, by type of the attacker.
    pub attacks: [BitBoard; 6],
    /// Squares attacked by any piece.
    pub attacked: BitBoard,
    /// Squares attacked at least twice, Stockfish's `attackedBy2`.
    pub twice: BitBoard,
    /// Pieces pinned to the own king.
    pub pinned: BitBoard,
    /// The king ring: the 3x3 squares around the king, or around the nearest square off the edge, without those that
    /// two own pawns defend.
    pub king_ring: BitBoard,
    /// The attack span of its pawns.
    pub pawn_span: BitBoard,
    /// Its passed pawns.
    pub passed: BitBoard,
    /// The attack on the enemy king ring.
    pub ring_attack: RingAttack,
    /// Whether it has castling rights.
    pub can_castle: bool,
}

/// The attack of a side's pieces, without pawns, on the enemy king ring.
#[derive(Clone, Copy, Default)]
pub(crate) struct RingAttack {
    /// The number of attackers in the lower bits, the sum of their weights from bit `WEIGHT_SHIFT` on, to update both
    /// by one addition.
    attack: u32,
    /// Attacks on squares of the ring by piece type.
    pub by_piece: [i32; 6],
}

impl RingAttack {
    /// The lowest bit of the sum of weights.
    const WEIGHT_SHIFT: u32 = 16;

    /// Weight of an attacker by piece type.
    const WEIGHTS: [u32; 6] = [0, 8, 5, 4, 1, 0];

    /// Adds a piece that attacks `squares` squares of the ring.
    pub(crate) fn add(&mut self, piece: usize, squares: usize) {
        self.attack += if squares > 0 { 1 | Self::WEIGHTS[piece] << Self::WEIGHT_SHIFT } else { 0 };
        self.by_piece[piece] += squares as i32;
    }

    pub(crate) fn attackers(&self) -> usize {
        (self.attack % (1 << Self::WEIGHT_SHIFT)) as usize
    }

    /// Sum of the weights of the attackers.
    pub(crate) fn weight(&self) -> usize {
        (self.attack >> Self::WEIGHT_SHIFT) as usize
    }

    /// Attacks on squares of the ring: a square counts once for each of its attackers.
    pub(crate) fn attacks(&self) -> usize {
        self.by_piece.iter().sum::<i32>() as usize
    }
}

impl Side {
    /// A player's pieces with the attacks of king and pawns. The piece terms add the attacks of the other pieces.
    pub(crate) fn new(board: &Board, color: Color, pawns: &PawnInfo) -> Self {
        let pawns = &pawns[color.to_index()];
        let mut side = Self {
            pieces: PIECES.map(|piece| board.colored(color, piece)),
            all: board.colors(color),
            pawn_span: pawns.span,
            passed: pawns.passed,
            can_castle: board.can_castle(color),
            ..Self::default()
        };
        let king = attacks::king(side.king());
        side.attacks[PAWN] = pawns.attacks;
        side.attacks[KING] = king;
        side.attacked = pawns.attacks | king;
        side.twice = pawns.double_attacks | (pawns.attacks & king);
        side.king_ring = KING_RINGS[side.king().to_index() % 64] & !pawns.double_attacks;
        side
    }

    /// White's and Black's sides.
    pub(crate) fn both(board: &Board, pawns: &PawnInfo) -> [Self; 2] {
        [Color::White, Color::Black].map(|color| Self::new(board, color, pawns))
    }

    /// The type of the piece on `square`, which must be one of this side's.
    pub(crate) fn piece_on(&self, square: Square) -> usize {
        let is = |piece: usize| usize::from(self.pieces[piece].has(square));
        is(KNIGHT) + 2 * is(BISHOP) + 3 * is(ROOK) + 4 * is(QUEEN) + 5 * is(KING)
    }

    pub(crate) fn king(&self) -> Square {
        self.pieces[KING].to_square()
    }

    #[inline(always)]
    pub(crate) fn add_attacks(&mut self, piece: usize, squares: BitBoard) {
        self.twice |= self.attacked & squares;
        self.attacked |= squares;
        self.attacks[piece] |= squares;
    }

    fn flip(&mut self) {
        self.pieces = self.pieces.map(BitBoard::flip);
        self.attacks = self.attacks.map(BitBoard::flip);
        self.all = self.all.flip();
        self.attacked = self.attacked.flip();
        self.twice = self.twice.flip();
        self.pinned = self.pinned.flip();
        self.king_ring = self.king_ring.flip();
        self.pawn_span = self.pawn_span.flip();
        self.passed = self.passed.flip();
    }
}

/// The board from our point of view.
pub(crate) struct View<'a> {
    pub us: &'a mut Side,
    pub them: &'a mut Side,
    pub occupied: BitBoard,
    /// Whether we are to move.
    pub to_move: bool,
}

impl<'a> View<'a> {
    /// White's view.
    pub(crate) fn new(board: &Board, [white, black]: &'a mut [Side; 2]) -> Self {
        Self { us: white, them: black, occupied: board.occupied(), to_move: board.side_to_move() == Color::White }
    }

    /// Flips to the other player's view, and the visitor with it.
    pub(crate) fn flip(&mut self, visitor: &mut impl SideRelative) {
        std::mem::swap(&mut self.us, &mut self.them);
        self.us.flip();
        self.them.flip();
        self.occupied = self.occupied.flip();
        self.to_move = !self.to_move;
        visitor.flip_side();
    }
}

/// The 3x3 squares around each king square, or around the nearest square off the edge.
static KING_RINGS: [BitBoard; 64] = {
    const THREE_BY_THREE: u64 = 0x0007_0707;
    let mut rings = [EMPTY; 64];
    let mut king = 0;
    while king < 64 {
        let (file, rank) = (inside(king % 8), inside(king / 8));
        rings[king] = BitBoard(THREE_BY_THREE << (8 * (rank - 1) + file - 1));
        king += 1;
    }
    rings
};

/// The nearest file or rank that is not on the edge.
const fn inside(line: usize) -> usize {
    match line {
        0 => 1,
        7 => 6,
        _ => line,
    }
}

/// Calls `found` for each piece of either color that is the only one between `target` and one of `side`'s sliders
/// (diagonal and straight ones), with the square of the slider.
#[inline(always)]
pub(crate) fn lone_blockers(
    target: Square,
    side: &Side,
    sliders: [BitBoard; 2],
    occupied: BitBoard,
    mut found: impl FnMut(Square, Square),
) {
    let diagonal = attacks::diagonals(target) & sliders[0];
    let straight = attacks::straights(target) & sliders[1];
    for slider in each((diagonal | straight) & side.all) {
        let between = attacks::between(target, slider) & occupied;
        if between.any() && !between.more_than_one() {
            found(between.to_square(), slider);
        }
    }
}
