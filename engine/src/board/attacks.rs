//! Attack sets, from the tables of the `chess` crate.
//!
//! Sliders use [magic bitboards](https://www.chessprogramming.org/Magic_Bitboards), or with the Cargo feature `pext` the
//! instructions [PEXT and PDEP](https://www.chessprogramming.org/BMI2#PEXTBitboards), whose tables are a quarter of the
//! size. AMD's processors before Zen 3 have these in microcode, many times slower than a magic multiplication.

use super::Squares;
use chess::{BitBoard, Color, Piece, Square};

pub use chess::{between, get_king_moves as king, get_knight_moves as knight, line};
/// What a bishop and a rook attack on an empty board.
pub(crate) use chess::{get_bishop_rays as diagonals, get_rook_rays as straights};

// The tables of the crate are constants: without functions of our own each crate has a copy, 800 KB in the page.

/// Squares a bishop attacks from `square` on a board with these pieces.
pub fn bishop(square: Square, occupied: BitBoard) -> BitBoard {
    #[cfg(all(feature = "pext", target_feature = "bmi2"))]
    return chess::get_bishop_moves_bmi(square, occupied);
    #[cfg(not(all(feature = "pext", target_feature = "bmi2")))]
    chess::get_bishop_moves(square, occupied)
}

/// Squares a rook attacks from `square` on a board with these pieces.
pub fn rook(square: Square, occupied: BitBoard) -> BitBoard {
    #[cfg(all(feature = "pext", target_feature = "bmi2"))]
    return chess::get_rook_moves_bmi(square, occupied);
    #[cfg(not(all(feature = "pext", target_feature = "bmi2")))]
    chess::get_rook_moves(square, occupied)
}

/// Squares a queen attacks from `square` on a board with these pieces.
pub fn queen(square: Square, occupied: BitBoard) -> BitBoard {
    bishop(square, occupied) | rook(square, occupied)
}

/// Squares that a pawn of `color` attacks from `square`.
pub fn pawn(color: Color, square: Square) -> BitBoard {
    chess::get_pawn_attacks(square, color, !chess::EMPTY)
}

/// Squares that `pawns` of `color` attack.
pub fn pawns(color: Color, pawns: BitBoard) -> BitBoard {
    match color {
        Color::White => pawns.north().adjacent_files(),
        Color::Black => pawns.south().adjacent_files(),
    }
}

/// Squares that a piece of this type and color attacks from `square` on a board with these pieces.
pub fn of(piece: Piece, color: Color, square: Square, occupied: BitBoard) -> BitBoard {
    match piece {
        Piece::Pawn => pawn(color, square),
        Piece::Knight => knight(square),
        Piece::Bishop => bishop(square, occupied),
        Piece::Rook => rook(square, occupied),
        Piece::Queen => queen(square, occupied),
        Piece::King => king(square),
    }
}
