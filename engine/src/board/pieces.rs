//! Colors and piece types: their order, names and values; pieces on squares, and what a move changes of them.

use super::{Color, Piece, Square};

/// The six piece types in the order of their indices.
pub const PIECES: [Piece; 6] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen, Piece::King];

/// Both colors in the order of their indices.
pub const COLORS: [Color; 2] = [Color::White, Color::Black];

/// Piece values in search units, by piece index: Table I of Tseng, Chen and Wu (2018). Static exchange evaluation, move
/// ordering and the initial weights use them.
pub const PIECE_VALUES: [i32; 6] = [200, 800, 850, 1300, 2600, 0];

/// Piece values in pawns, as chess players count, by piece index.
pub const PAWN_UNITS: [i32; 6] = [1, 3, 3, 5, 9, 0];

/// The value of a piece in search units: see [`PIECE_VALUES`].
pub fn piece_value(piece: Piece) -> i32 {
    PIECE_VALUES[piece.to_index()]
}

/// Names of the piece types, by index.
pub const PIECE_NAMES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];

/// The name of a piece type: see [`PIECE_NAMES`].
pub fn piece_name(piece: Piece) -> &'static str {
    PIECE_NAMES[piece.to_index()]
}

/// The type of a piece by its letter in FEN, in either case.
pub(super) fn piece_of_letter(letter: char) -> Option<Piece> {
    "pnbrqk".find(letter.to_ascii_lowercase()).map(|index| PIECES[index])
}

/// The letter of a piece type in algebraic notation; empty for a pawn.
pub(crate) fn piece_letter(piece: Piece) -> String {
    if piece == Piece::Pawn { String::new() } else { piece.to_string(Color::White) }
}

/// "White" or "Black".
pub fn color_name(color: Color) -> &'static str {
    ["White", "Black"][color.to_index()]
}

/// 1 for White, -1 for Black: converts values between White's view and the view of `color`.
pub const fn sign(color: Color) -> i32 {
    match color {
        Color::White => 1,
        Color::Black => -1,
    }
}

/// A piece on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceSquare {
    /// The color of the piece.
    pub color: Color,
    /// The type of the piece.
    pub piece: Piece,
    /// The square it stands on.
    pub square: Square,
}

impl PieceSquare {
    /// A piece on a square.
    pub fn new(color: Color, piece: Piece, square: Square) -> PieceSquare {
        PieceSquare { color, piece, square }
    }
}

/// The pieces that a move removed from their squares and added to others, at most two each.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    removed: [PieceSquare; 2],
    added: [PieceSquare; 2],
    removals: u8,
    additions: u8,
}

impl Delta {
    /// No changes: a null move.
    pub fn none() -> Delta {
        let unused = PieceSquare::new(Color::White, Piece::Pawn, Square::A1);
        Delta { removed: [unused; 2], added: [unused; 2], removals: 0, additions: 0 }
    }

    /// The pieces that left their squares.
    pub fn removed(&self) -> &[PieceSquare] {
        &self.removed[..usize::from(self.removals)]
    }

    /// The pieces on their new squares.
    pub fn added(&self) -> &[PieceSquare] {
        &self.added[..usize::from(self.additions)]
    }

    /// Removed and added pieces with their unused entries: see [`Delta::removed`] and [`Delta::added`] for the counts.
    pub(crate) fn padded(&self) -> [[PieceSquare; 2]; 2] {
        [self.removed, self.added]
    }

    pub(super) fn remove(&mut self, placed: PieceSquare) {
        self.removed[usize::from(self.removals)] = placed;
        self.removals += 1;
    }

    pub(super) fn add(&mut self, placed: PieceSquare) {
        self.added[usize::from(self.additions)] = placed;
        self.additions += 1;
    }
}

/// A colored piece and a square, its origin or its destination, as an index below 768.
pub type PieceTo = u16;

pub(crate) fn piece_index(color: Color, piece: Piece, square: Square) -> PieceTo {
    ((color.to_index() * 6 + piece.to_index()) * 64 + square.to_index()) as PieceTo
}
