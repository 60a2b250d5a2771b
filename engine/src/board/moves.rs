//! Moves: their encoding, what they capture, and lists of them on the stack.

use super::{Board, PIECES, Piece, Square, Squares, square};
use arrayvec::ArrayVec;
use std::fmt;

/// A move in 16 bits: origin, destination, promotion and a mark of castling.
///
/// Castling is the king's move to its final square, e1g1 in standard chess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Move(u16);

impl Move {
    const CASTLING: u16 = 1 << 15;
    /// The promotion of short castling when packed.
    const PACKED_CASTLING: u16 = Piece::King as u16;

    /// A move without promotion.
    pub fn new(from: Square, to: Square) -> Move {
        Move(u16::from(from.to_int()) | u16::from(to.to_int()) << 6)
    }

    /// The move with a promotion.
    pub fn with_promotion(self, piece: Piece) -> Move {
        Move(self.0 | (piece as u16) << 12)
    }

    pub(super) fn as_castling(self) -> Move {
        Move(self.0 | Move::CASTLING)
    }

    /// The origin.
    pub fn from(self) -> Square {
        square(usize::from(self.0))
    }

    /// The destination.
    pub fn to(self) -> Square {
        square(usize::from(self.0 >> 6))
    }

    /// The piece that a pawn becomes.
    #[inline(always)]
    pub fn promotion(self) -> Option<Piece> {
        let index = usize::from(self.0 >> 12 & 7);
        // Other pieces never occur: a king stands for them, to which no promotion is legal.
        (index > 0).then(|| PIECES[index.min(Piece::King as usize)])
    }

    /// Whether the move is castling.
    pub fn is_castling(self) -> bool {
        self.0 & Move::CASTLING != 0
    }

    /// The move without the mark of castling: killers and counter-moves compare squares alone.
    pub(crate) fn unmarked(self) -> Move {
        Move(self.0 & !Move::CASTLING)
    }

    /// Origin and destination as an index below 4096.
    pub(crate) fn squares(self) -> usize {
        self.from().to_index() * 64 + self.to().to_index()
    }

    /// All 16 bits, which no legal move has all 0.
    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    /// The move of these [`Move::bits`], legal or not; `None` for 0.
    pub(crate) fn from_bits(bits: u16) -> Option<Move> {
        (bits != 0).then_some(Move(bits))
    }

    /// The move in the 15 bits of files: origin, destination, promotion; 0 without a move. Castling has no mark, but a
    /// king as promotion if the king moves less than two files.
    pub fn packed(mv: Option<Move>) -> u16 {
        let Some(mv) = mv else { return 0 };
        let short = mv.is_castling() && mv.from().to_int().abs_diff(mv.to().to_int()) < 2;
        mv.0 & !Move::CASTLING | if short { Move::PACKED_CASTLING << 12 } else { 0 }
    }

    /// The move that [`Move::packed`] packed, legal or not; `None` for 0 and for an invalid promotion.
    /// [`Board::mark_castling`] restores the mark of castling.
    pub fn unpacked(bits: u16) -> Option<Move> {
        match bits >> 12 {
            Move::PACKED_CASTLING => Some(Move(bits & 0xFFF).as_castling()),
            0..Move::PACKED_CASTLING => Move::from_bits(bits),
            _ => None,
        }
    }
}

/// In coordinates: `e7e8q`. For UCI see [`Board::uci`].
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())?;
        self.promotion().map_or(Ok(()), |piece| write!(f, "{piece}"))
    }
}

impl Board {
    /// Each of these moves, all of them legal one after another, with the position before it.
    pub fn along<'a>(&self, moves: impl IntoIterator<Item = &'a Move>) -> impl Iterator<Item = (Board, Move)> {
        let mut board = *self;
        moves.into_iter().map(move |&mv| {
            let after = board.after(mv);
            (std::mem::replace(&mut board, after), mv)
        })
    }

    /// The piece that `mv` captures.
    pub fn captured(&self, mv: Move) -> Option<Piece> {
        if self.is_en_passant(mv) {
            Some(Piece::Pawn)
        } else if self.lands_on_enemy(mv) {
            self.piece_on(mv.to())
        } else {
            None
        }
    }

    /// Whether `mv` is a capture.
    pub fn is_capture(&self, mv: Move) -> bool {
        self.lands_on_enemy(mv) || self.is_en_passant(mv)
    }

    /// Whether the destination holds an enemy piece. In Chess960 castling it may hold an own one.
    pub(super) fn lands_on_enemy(&self, mv: Move) -> bool {
        self.colors(!self.side_to_move()).has(mv.to())
    }

    /// Whether `mv` is a capture or a promotion to a queen: the moves of quiescence search.
    pub fn is_noisy(&self, mv: Move) -> bool {
        self.is_capture(mv) || mv.promotion() == Some(Piece::Queen)
    }

    /// Whether `mv` is an en passant capture.
    pub fn is_en_passant(&self, mv: Move) -> bool {
        self.en_passant == Some(mv.to())
            && self.pieces(Piece::Pawn).has(mv.from())
            && mv.from().get_file() != mv.to().get_file()
    }
}

/// Upper bound on the legal moves of a position: the known maximum is 218.
const MAX_MOVES: usize = 224;

/// The moves of one position, on the stack.
pub type MoveList = ArrayVec<Move, MAX_MOVES>;
