//! The starting positions of Chess960 in Reinhard Scharnagl's numbering.
//!
//! The remainders of the number by 4, 4 again and 6 give the light-squared bishop, the dark-squared bishop and the
//! queen's place among the free squares; the rest gives the knights; rook, king and rook fill the other squares. 518 is
//! the standard position. See <https://en.wikipedia.org/wiki/Fischer_random_chess_numbering_scheme>.

use super::{BitBoard, Board, COLORS, Color, Piece, Setup};

/// The number of starting positions.
pub const CHESS960_POSITIONS: u32 = 960;

const STANDARD: u32 = 518;

/// The places of the knights among the five free squares.
const KNIGHTS: [[usize; 2]; 10] = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];

/// The pieces of a starting position from the a-file to the h-file.
fn first_rank(number: u32) -> [Piece; 8] {
    let number = number as usize % CHESS960_POSITIONS as usize;
    let mut rank = [None; 8];
    rank[number % 4 * 2 + 1] = Some(Piece::Bishop);
    rank[number / 4 % 4 * 2] = Some(Piece::Bishop);
    let knights = KNIGHTS[number / 96];
    place(&mut rank, number / 16 % 6, Piece::Queen);
    // The first knight has taken one of the five free squares.
    place(&mut rank, knights[0], Piece::Knight);
    place(&mut rank, knights[1] - 1, Piece::Knight);
    for piece in [Piece::Rook, Piece::King, Piece::Rook] {
        place(&mut rank, 0, piece);
    }
    rank.map(|piece| piece.expect("eight pieces were placed"))
}

/// Places a piece on the free square with this number, counted from 0.
fn place(rank: &mut [Option<Piece>; 8], number: usize, piece: Piece) {
    if let Some(square) = rank.iter_mut().filter(|square| square.is_none()).nth(number) {
        *square = Some(piece);
    }
}

impl Board {
    /// The initial position.
    pub fn startpos() -> Board {
        Board::chess960([STANDARD; 2])
    }

    /// The starting position with these numbers for White and Black, 0 to 959: equal numbers are Chess960, others are
    /// double Chess960.
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
