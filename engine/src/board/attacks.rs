//! Attack sets, by the `chess` crate's tables.
//!
//! For a slider the crate has tables of 64-bit sets found by multiplication, and where the processor can extract and
//! deposit bits (BMI2) a quarter of that size of 16-bit ones, which stay in a near cache.

use chess::{BitBoard, Color, Square};

pub use chess::{between, line};

/// Squares a knight attacks from `square`.
#[inline]
#[must_use]
pub fn knight(square: Square) -> BitBoard {
    chess::get_knight_moves(square)
}

/// Squares a king attacks from `square`.
#[inline]
#[must_use]
pub fn king(square: Square) -> BitBoard {
    chess::get_king_moves(square)
}

/// Squares a bishop attacks from `square` on a board with these pieces.
#[inline]
#[must_use]
pub fn bishop(square: Square, occupied: BitBoard) -> BitBoard {
    #[cfg(target_feature = "bmi2")]
    return chess::get_bishop_moves_bmi(square, occupied);
    #[cfg(not(target_feature = "bmi2"))]
    chess::get_bishop_moves(square, occupied)
}

/// Squares a rook attacks from `square` on a board with these pieces.
#[inline]
#[must_use]
pub fn rook(square: Square, occupied: BitBoard) -> BitBoard {
    #[cfg(target_feature = "bmi2")]
    return chess::get_rook_moves_bmi(square, occupied);
    #[cfg(not(target_feature = "bmi2"))]
    chess::get_rook_moves(square, occupied)
}

/// Squares a bishop attacks from `square` on an empty board.
#[inline]
#[must_use]
pub fn diagonals(square: Square) -> BitBoard {
    chess::get_bishop_rays(square)
}

/// Squares a rook attacks from `square` on an empty board.
#[inline]
#[must_use]
pub fn straights(square: Square) -> BitBoard {
    chess::get_rook_rays(square)
}

/// Squares a queen attacks from `square` on a board with these pieces.
#[inline]
#[must_use]
pub fn queen(square: Square, occupied: BitBoard) -> BitBoard {
    bishop(square, occupied) | rook(square, occupied)
}

/// Squares that a pawn of `color` attacks from `square`.
#[inline]
#[must_use]
pub fn pawn(color: Color, square: Square) -> BitBoard {
    chess::get_pawn_attacks(square, color, !chess::EMPTY)
}

/// The squares of the a-file.
pub const FILE_A: u64 = 0x0101_0101_0101_0101;
/// The squares of the h-file.
pub const FILE_H: u64 = FILE_A << 7;

/// Squares that any of these `pawns` of `color` attacks.
#[inline]
#[must_use]
pub fn pawns(color: Color, pawns: BitBoard) -> BitBoard {
    let west = pawns.0 & !FILE_A;
    let east = pawns.0 & !FILE_H;
    BitBoard(match color {
        Color::White => (west << 7) | (east << 9),
        Color::Black => (west >> 9) | (east >> 7),
    })
}
