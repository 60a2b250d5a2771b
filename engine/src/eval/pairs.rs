//! The 2-tuple network's index: which weight two pieces share with their mirror images.
//!
//! A 2-tuple says that a piece of one type stands on one square while another piece stands on another.
//! Taken literally that is 12 x 64 x 12 x 64 weights, of which symmetry leaves far fewer: a pair is as
//! good for Black as its color-flipped image is for White, and a board is as good as its left-right
//! mirror. So the pair is turned until its first piece is White's and on files a to d: 6 own types x 12
//! other pieces give 72 tables, 32 squares of the first piece by the 63 the other can have. (Tseng, Chen
//! and Wu, "Comparison Training of N-Tuple Networks for Chess", section 3.4.)
//!
//! Every ordered pair counts, so two pieces bring two weights, one from each one's view. Everything about
//! that symmetry is here; search sees tables compiled from it, never an index.

use crate::board::{ALL_SQUARES, Color, PIECES, Piece, PieceSquare, Square};

/// Tables of the network: own types by other pieces.
pub const TABLES: usize = 6 * 12;
/// Rows of a table: squares of the first piece, on files a to d.
pub const ROWS: usize = 32;
/// Columns of a table: squares of the other piece, the first piece's left out.
pub const COLUMNS: usize = 63;

/// All places of the network.
const LEN: usize = TABLES * ROWS * COLUMNS;

/// A place in the network, and how it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Own type by other piece, below [`TABLES`].
    pub table: usize,
    /// Square of the first piece, below [`ROWS`].
    pub row: usize,
    /// Square of the other piece, below [`COLUMNS`].
    pub column: usize,
    /// 1 if the first piece is White's, else -1.
    pub sign: i32,
}

impl Pair {
    /// The pair's place among the 2-tuples, which makes it a property of the group of features
    /// [`PAIRS`](super::layout::PAIRS).
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.table * ROWS + self.row) * COLUMNS + self.column
    }
}

/// The pair that `first` makes with `other` from its own view. The squares must differ.
///
/// ```
/// # use dyad_engine::board::{Color, Piece, PieceSquare, Square};
/// # use dyad_engine::eval::pairs::pair;
/// let white = |piece, square| PieceSquare::new(Color::White, piece, square);
/// let black = |piece, square| PieceSquare::new(Color::Black, piece, square);
/// let knight = pair(white(Piece::Knight, Square::F5), black(Piece::King, Square::G8));
/// // Mirrored, it is the same pair; with colors changed too, but it counts for Black.
/// assert_eq!(knight, pair(white(Piece::Knight, Square::C5), black(Piece::King, Square::B8)));
/// let turned = pair(black(Piece::Knight, Square::F4), white(Piece::King, Square::G1));
/// assert_eq!((turned.index(), turned.sign), (knight.index(), -knight.sign));
/// ```
#[inline]
pub fn pair(first: PieceSquare, other: PieceSquare) -> Pair {
    let turn = turn_for(first);
    let square = first.square.to_index() ^ turn;
    let other_square = other.square.to_index() ^ turn;
    debug_assert_ne!(square, other_square);
    let other_piece = other.piece.to_index() + if other.color == first.color { 0 } else { 6 };
    Pair {
        table: first.piece.to_index() * 12 + other_piece,
        row: row_of(square),
        column: other_square - usize::from(other_square > square),
        sign: sign(first.color),
    }
}

/// The first piece and the other of the pair at `index`, with the first piece White's.
///
/// # Panics
/// If `index` is not below the number of pairs.
pub fn pieces_of(index: usize) -> (PieceSquare, PieceSquare) {
    assert!(index < LEN, "there is no pair {index}");
    let (table, row, column) = (index / COLUMNS / ROWS, index / COLUMNS % ROWS, index % COLUMNS);
    let square = square_of_row(row);
    let other_square = ALL_SQUARES[column + usize::from(column >= square.to_index())];
    let other_color = if table % 12 < 6 { Color::White } else { Color::Black };
    (
        PieceSquare::new(Color::White, PIECES[table / 12], square),
        PieceSquare::new(other_color, PIECES[table % 6], other_square),
    )
}

/// A piece as in "white Nf5".
pub fn name(piece: PieceSquare) -> String {
    let color = if piece.color == Color::White { "white" } else { "black" };
    let letter = if piece.piece == Piece::Pawn { String::new() } else { piece.piece.to_string(Color::White) };
    format!("{color} {letter}{}", piece.square)
}

/// The row of a single piece: its square as its owner sees it, mirrored to files a to d.
#[inline]
pub fn row(piece: PieceSquare) -> usize {
    row_of(piece.square.to_index() ^ turn_for(piece))
}

/// The square on files a to d that `row` stands for.
pub fn square_of_row(row: usize) -> Square {
    ALL_SQUARES[row / 4 * 8 + row % 4]
}

/// 1 for White, -1 for Black.
#[inline]
pub const fn sign(color: Color) -> i32 {
    match color {
        Color::White => 1,
        Color::Black => -1,
    }
}

/// What turns `piece`, by exclusive or with square indices, into White's on files a to d: ranks are
/// flipped for Black, files when the piece stands on e to h.
#[inline]
fn turn_for(piece: PieceSquare) -> usize {
    const RANKS: usize = 0b111_000;
    const FILES: usize = 0b000_111;
    let ranks = if piece.color == Color::White { 0 } else { RANKS };
    let files = if piece.square.to_index() & 0b100 == 0 { 0 } else { FILES };
    ranks | files
}

/// Squares of files a to d, counted along the ranks.
#[inline]
const fn row_of(square: usize) -> usize {
    square >> 3 << 2 | square & 0b11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::COLORS;

    fn all_pieces() -> impl Iterator<Item = PieceSquare> + Clone {
        COLORS.into_iter().flat_map(|color| {
            PIECES.into_iter().flat_map(move |piece| {
                ALL_SQUARES
                    .into_iter()
                    .filter(move |square| piece != Piece::Pawn || (1..7).contains(&(square.to_index() / 8)))
                    .map(move |square| PieceSquare::new(color, piece, square))
            })
        })
    }

    fn flipped(piece: PieceSquare) -> PieceSquare {
        PieceSquare::new(!piece.color, piece.piece, ALL_SQUARES[piece.square.to_index() ^ 56])
    }

    fn mirrored(piece: PieceSquare) -> PieceSquare {
        PieceSquare { square: ALL_SQUARES[piece.square.to_index() ^ 7], ..piece }
    }

    /// All pairs that two legally placed pieces can make reach exactly the features they should: every
    /// table, every index a legal placement has, and nothing else.
    #[test]
    fn placements_reach_72_tables() {
        let mut reached = vec![0u32; LEN];
        for first in all_pieces() {
            for other in all_pieces().filter(|other| other.square != first.square) {
                let pair = pair(first, other);
                assert!(pair.table < TABLES && pair.row < ROWS && pair.column < COLUMNS);
                reached[pair.index()] += 1;
            }
        }
        let tables = reached.chunks(ROWS * COLUMNS).filter(|table| table.iter().any(|&count| count > 0));
        assert_eq!(tables.count(), 72);
        for (index, &count) in reached.iter().enumerate() {
            let (first, other) = pieces_of(index);
            let on_last_rank = |p: PieceSquare| p.piece == Piece::Pawn && matches!(p.square.to_index() / 8, 0 | 7);
            let expected = if on_last_rank(first) || on_last_rank(other) { 0 } else { 4 };
            assert_eq!(count, expected, "{first:?} {other:?}");
        }
    }

    /// From files a to d and White's side, index and pieces determine each other.
    #[test]
    fn index_is_a_bijection() {
        for index in 0..LEN {
            let (first, other) = pieces_of(index);
            let pair = pair(first, other);
            assert_eq!((pair.index(), pair.sign), (index, 1));
        }
        assert_eq!(LEN, 72 * 32 * 63);
    }

    #[test]
    fn symmetric_images_share_a_weight() {
        for first in all_pieces().step_by(5) {
            for other in all_pieces().filter(|other| other.square != first.square) {
                let original = pair(first, other);
                assert_eq!(pair(mirrored(first), mirrored(other)), original);
                let flip = pair(flipped(first), flipped(other));
                assert_eq!(flip, Pair { sign: -original.sign, ..original });
            }
        }
    }

    #[test]
    fn rows_agree_with_squares() {
        for piece in all_pieces() {
            let square = square_of_row(row(piece));
            assert!(square.to_index() % 8 < 4);
            assert_eq!(row(PieceSquare::new(Color::White, piece.piece, square)), row(piece));
        }
    }
}
