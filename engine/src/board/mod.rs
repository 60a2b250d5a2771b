//! The rules of chess, on the types and attack tables of the `chess` crate.
//!
//! The board of that crate accepts positions that corrupt its memory, has no clocks, repetition or Chess960, hashes
//! illegal en passant squares and trusts every move. The [`Board`] here is always a valid position, and makes only
//! moves that were generated or tested. Only this module knows how castling is encoded, so all else works unchanged in
//! Chess960.

pub mod attacks;
mod castling;
mod checks;
mod chess960;
mod cuckoo;
mod fen;
mod game;
mod generate;
mod legality;
mod make;
mod moves;
mod notation;
mod pieces;
mod see;
pub mod squares;
pub(crate) mod zobrist;

pub use checks::Checks;
pub use chess::{ALL_SQUARES, BitBoard, Color, EMPTY, File, Piece, Rank, Square};
pub use chess960::CHESS960_POSITIONS;
pub use cuckoo::upcoming_repetition;
pub use fen::{Setup, quote};
pub use game::{Ending, Game};
pub use moves::{Move, MoveList};
pub use notation::{San, SanError};
pub use pieces::{
    COLORS, Delta, PAWN_UNITS, PIECE_NAMES, PIECE_VALUES, PIECES, PieceSquare, PieceTo, color_name, piece_name,
    piece_value, sign,
};
pub(crate) use pieces::{piece_index, piece_letter};
pub use squares::{Squares, each, square, square_set};
pub(crate) use zobrist::{material_count, material_unit};

use squares::DARK_SQUARES;
use std::fmt;

/// Why a text or a setup is no valid position, or a text no legal move of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BoardError(String);

/// A valid position with its clocks and keys.
#[derive(Clone, Copy)]
pub struct Board {
    /// By piece type, both colors.
    pieces: [BitBoard; 6],
    colors: [BitBoard; 2],
    /// Pieces that give check to the side to move.
    checkers: BitBoard,
    /// Pieces of the side to move that alone stand between its king and an enemy slider.
    pinned: BitBoard,
    keys: zobrist::Keys,
    /// Rooks that may castle.
    castling: BitBoard,
    side_to_move: Color,
    /// Notation of castling; not part of the position.
    chess960: bool,
    en_passant: Option<Square>,
    halfmove: u16,
    fullmove: u16,
}

impl Board {
    /// All pieces on the board.
    pub fn placed_pieces(&self) -> impl Iterator<Item = PieceSquare> + '_ {
        COLORS.into_iter().flat_map(move |color| {
            PIECES.into_iter().flat_map(move |piece| {
                each(self.colored(color, piece)).map(move |square| PieceSquare::new(color, piece, square))
            })
        })
    }

    /// The side to move.
    pub fn side_to_move(&self) -> Color {
        self.side_to_move
    }

    /// The move number from 1, which increases after Black's move.
    pub fn fullmove_number(&self) -> u32 {
        u32::from(self.fullmove)
    }

    /// Plies since the last capture or pawn move.
    pub fn halfmove_clock(&self) -> u32 {
        u32::from(self.halfmove)
    }

    /// The target of en passant captures, if one is legal.
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// All occupied squares.
    pub fn occupied(&self) -> BitBoard {
        self.colors[0] | self.colors[1]
    }

    /// Pieces of this type, of both colors.
    pub fn pieces(&self, piece: Piece) -> BitBoard {
        self.pieces[piece.to_index()]
    }

    /// Pieces of this color.
    pub fn colors(&self, color: Color) -> BitBoard {
        self.colors[color.to_index()]
    }

    /// Pieces of this color and type.
    pub fn colored(&self, color: Color, piece: Piece) -> BitBoard {
        self.colors(color) & self.pieces(piece)
    }

    /// The square of this color's king.
    pub fn king(&self, color: Color) -> Square {
        self.colored(color, Piece::King).to_square()
    }

    /// The type of the piece on `square`.
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        // Computes the bits of the index plus one: a search through the types has unpredictable branches.
        const PACKED_PIECES: [Option<Piece>; 8] = [
            None,
            Some(Piece::Pawn),
            Some(Piece::Knight),
            Some(Piece::Bishop),
            Some(Piece::Rook),
            Some(Piece::Queen),
            Some(Piece::King),
            None,
        ];
        let bit = |set: BitBoard| (set.0 >> square.to_index() & 1) as usize;
        let [pawns, knights, bishops, rooks, queens, kings] = PIECES.map(|piece| self.pieces(piece));
        let one = bit(pawns | bishops | queens);
        let two = bit(knights | bishops | kings);
        let four = bit(rooks | queens | kings);
        PACKED_PIECES[one | two << 1 | four << 2]
    }

    /// The type of the piece that a legal move moves: the king if it is castling.
    #[inline(always)]
    pub fn moved_piece(&self, mv: Move) -> Piece {
        let piece = self.piece_on(mv.from());
        debug_assert!(piece.is_some(), "{mv:?} moves no piece of {}", self.fen());
        piece.unwrap_or(Piece::King)
    }

    /// The color of the piece on `square`.
    pub fn color_on(&self, square: Square) -> Option<Color> {
        COLORS.into_iter().find(|&color| self.colors(color).has(square))
    }

    /// Pieces that give check to the side to move.
    pub fn checkers(&self) -> BitBoard {
        self.checkers
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.checkers().any()
    }

    /// Pieces of the side to move that are pinned to its king.
    pub(crate) fn pinned(&self) -> BitBoard {
        self.pinned
    }

    /// Zobrist key of the position, without the clocks.
    pub fn key(&self) -> u64 {
        self.keys.all
    }

    pub(crate) fn keys(&self) -> &zobrist::Keys {
        &self.keys
    }

    /// Knights, bishops, rooks and queens of this color.
    pub(crate) fn non_pawn_pieces(&self, color: Color) -> BitBoard {
        self.colors(color) & !(self.pieces(Piece::Pawn) | self.pieces(Piece::King))
    }

    /// Whether checkmate is impossible: bare kings, a single minor piece, or only bishops on squares of one color.
    pub fn insufficient_material(&self) -> bool {
        let strong = self.pieces(Piece::Pawn) | self.pieces(Piece::Rook) | self.pieces(Piece::Queen);
        if strong.any() {
            return false;
        }
        let bishops = self.pieces(Piece::Bishop);
        let dark = bishops & DARK_SQUARES;
        self.occupied().len() <= 3 || (self.pieces(Piece::Knight).is_empty() && (dark.is_empty() || dark == bishops))
    }
}

impl PartialEq for Board {
    fn eq(&self, other: &Board) -> bool {
        PIECES.into_iter().all(|piece| self.pieces(piece) == other.pieces(piece))
            && COLORS.into_iter().all(|color| self.colors(color) == other.colors(color))
            && self.side_to_move() == other.side_to_move()
            && self.castling == other.castling
            && self.en_passant == other.en_passant
            && self.halfmove == other.halfmove
            && self.fullmove == other.fullmove
    }
}

impl Eq for Board {}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({})", self.fen())
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fen())
    }
}

#[cfg(test)]
pub(crate) mod tests;
