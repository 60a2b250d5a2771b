//! The index of the 2-tuple network: the weight that two pieces share with their mirror images.
//!
//! A 2-tuple is a piece on its square together with another piece on another square. That would be 12 x 64 x 12 x 64
//! weights, but symmetric positions have the same value: a pair is as good for Black as its color-flipped image for
//! White, and the board can be mirrored left to right. So a pair is flipped and mirrored until its first piece is
//! White's and on files a to d: 6 own types x 12 other pieces are 72 tables, of 32 squares of the first piece by 63 of
//! the other. (Tseng, Chen and Wu, "Comparison Training of N-Tuple Networks for Chess", section 3.4.)
//!
//! Pairs are ordered, so two pieces have two weights, one with each of them as the first. Search uses tables compiled
//! from these weights and computes no index.

use crate::board::{ALL_SQUARES, Color, PIECES, PieceSquare, Square, color_name, piece_letter, sign};

/// Tables of the network: own types by other pieces.
pub const TABLES: usize = 6 * 12;
/// Rows of a table: squares of the first piece, on files a to d.
pub const ROWS: usize = 32;
/// Columns of a table: squares of the other piece, without that of the first piece.
pub const COLUMNS: usize = 63;

pub(crate) const LEN: usize = TABLES * ROWS * COLUMNS;

/// The index of an ordered pair of pieces, and its sign.
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
    /// The index among the 2-tuples, the features of the group [`PAIRS`](super::layout::PAIRS).
    pub const fn index(self) -> usize {
        (self.table * ROWS + self.row) * COLUMNS + self.column
    }
}

/// The ordered pair of `first` and `other`. The squares must differ.
pub fn pair(first: PieceSquare, other: PieceSquare) -> Pair {
    let flip = symmetry_of(first);
    let square = first.square.to_index() ^ flip;
    let other_square = other.square.to_index() ^ flip;
    debug_assert_ne!(square, other_square);
    let other_piece = other.piece.to_index() + if other.color == first.color { 0 } else { 6 };
    Pair {
        table: first.piece.to_index() * 12 + other_piece,
        row: row_of(square),
        column: other_square - usize::from(other_square > square),
        sign: sign(first.color),
    }
}

/// The two pieces of the pair at `index`; the first is White's.
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

/// The name of a piece-square, as "white Nf5".
pub fn name(piece: PieceSquare) -> String {
    let color = color_name(piece.color).to_lowercase();
    format!("{color} {}{}", piece_letter(piece.piece), piece.square)
}

/// The row of a piece: its square from its owner's point of view, mirrored to files a to d.
pub fn row(piece: PieceSquare) -> usize {
    row_of(piece.square.to_index() ^ symmetry_of(piece))
}

/// The square of a row, on files a to d.
pub fn square_of_row(row: usize) -> Square {
    ALL_SQUARES[row / 4 * 8 + row % 4]
}

/// The symmetry that makes `piece` White's on files a to d, as an exclusive or for square indices: Black's ranks are
/// flipped, files e to h are mirrored.
fn symmetry_of(piece: PieceSquare) -> usize {
    const RANKS: usize = 0b111_000;
    const FILES: usize = 0b000_111;
    let ranks = if piece.color == Color::White { 0 } else { RANKS };
    let files = if piece.square.to_index() & 0b100 == 0 { 0 } else { FILES };
    ranks | files
}

/// The index of a square on files a to d, rank by rank.
const fn row_of(square: usize) -> usize {
    square >> 3 << 2 | square & 0b11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{COLORS, Piece};

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

    /// All pairs of legally placed pieces reach every index but those of pawns on the first and last rank. From files a to d
    /// and White's side, index and pieces determine each other.
    #[test]
    fn placements_reach_all_pairs() {
        let mut reached = vec![0u32; LEN];
        for first in all_pieces() {
            for other in all_pieces().filter(|other| other.square != first.square) {
                let pair = pair(first, other);
                assert!(pair.table < TABLES && pair.row < ROWS && pair.column < COLUMNS);
                reached[pair.index()] += 1;
            }
        }
        for (index, &count) in reached.iter().enumerate() {
            let (first, other) = pieces_of(index);
            let pair = pair(first, other);
            assert_eq!((pair.index(), pair.sign), (index, 1));
            let on_last_rank = |p: PieceSquare| p.piece == Piece::Pawn && matches!(p.square.to_index() / 8, 0 | 7);
            let expected = if on_last_rank(first) || on_last_rank(other) { 0 } else { 4 };
            assert_eq!(count, expected, "{first:?} {other:?}");
        }
    }
}
