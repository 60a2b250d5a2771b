//! The starting positions of Chess960, by their numbers.
//!
//! Reinhard Scharnagl's numbering, the usual one: the number divided by 4 leaves the light-squared bishop, by
//! 4 again the dark-squared one, by 6 the queen's place among the free squares; the rest says where the
//! knights stand, and rook, king and rook fill what is left. Number 518 is the standard position.

use super::{BitBoard, Board, COLORS, Color, Piece, Setup};

/// How many starting positions there are.
pub const CHESS960_POSITIONS: u32 = 960;

/// The number of the standard starting position.
const STANDARD: u32 = 518;

/// The knights' places among the five free squares.
const KNIGHTS: [[usize; 2]; 10] = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];

/// The first rank of a position, from the a-file.
fn first_rank(number: u32) -> [Piece; 8] {
    let number = number as usize % CHESS960_POSITIONS as usize;
    let mut rank = [None; 8];
    rank[number % 4 * 2 + 1] = Some(Piece::Bishop);
    rank[number / 4 % 4 * 2] = Some(Piece::Bishop);
    let knights = KNIGHTS[number / 96];
    place(&mut rank, number / 16 % 6, Piece::Queen);
    // The second knight's place is counted without the first one.
    place(&mut rank, knights[0], Piece::Knight);
    place(&mut rank, knights[1] - 1, Piece::Knight);
    for piece in [Piece::Rook, Piece::King, Piece::Rook] {
        place(&mut rank, 0, piece);
    }
    rank.map(|piece| piece.expect("eight pieces were placed"))
}

/// Places a piece on the free square of this number.
fn place(rank: &mut [Option<Piece>; 8], number: usize, piece: Piece) {
    if let Some(square) = rank.iter_mut().filter(|square| square.is_none()).nth(number) {
        *square = Some(piece);
    }
}

impl Board {
    /// The initial position.
    #[must_use]
    pub fn startpos() -> Board {
        Board::chess960([STANDARD; 2])
    }

    /// A starting position of Chess960 by the numbers of White's and Black's first rank, from 0 to 959: equal ones for
    /// Chess960, any two for double Chess960.
    #[must_use]
    pub fn chess960(numbers: [u32; 2]) -> Board {
        let mut pieces = [None; 64];
        for (color, number) in COLORS.into_iter().zip(numbers) {
            let (first, pawns) = if color == Color::White { (0, 8) } else { (56, 48) };
            for (file, piece) in first_rank(number).into_iter().enumerate() {
                pieces[first + file] = Some((piece, color));
                pieces[pawns + file] = Some((Piece::Pawn, color));
            }
        }
        let setup = Setup {
            pieces,
            side_to_move: Color::White,
            castling: BitBoard(!0),
            en_passant: None,
            halfmove_clock: 0,
            fullmove_number: 1,
        };
        Board::from_setup(&setup).expect("all starting positions are valid")
    }
}
