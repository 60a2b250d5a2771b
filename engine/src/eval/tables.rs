//! The fast tables: what pieces bring, by piece-square, compiled from the weights.
//!
//! Working out the index of every 2-tuple at every move would cost search more than the rest of the
//! evaluation. But the two weights that a pair of pieces brings depend on those two pieces only, so
//! their sum is a table T with one row and one column for each of the 768 piece-squares, and a move is
//! then a row taken away and a row added, over the columns of the pieces on the board.
//!
//! T is odd under color flip and even under left-right mirroring. Both symmetries are exclusive ors of a
//! [`PackedPiece`], so three quarters of the rows need not be stored: a row is asked for by turning its piece to
//! White and files a to d, and every column by the same turn. What is left, 192 rows, is 0.8 MB and stays in the
//! second-level cache, where the whole 768 x 768 (2.4 MB) would not.
//!
//! The tables are filled by running `placement` over boards of one and two pieces, and [`couple`] over two: the definition
//! of the features stays in one place.

use std::sync::LazyLock;

use super::error::{Stage, WeightsError};
use super::layout::PAIRS;
use super::pairs;
use super::placement::placement;
use super::terms::couple;
use super::visitor::Visitor;
use crate::board::{ALL_SQUARES, COLORS, Color, PIECES, PieceSquare};

/// A piece-square packed into 10 bits: color, piece type, square.
pub type PackedPiece = u16;

/// Numbers a [`PackedPiece`] may have; types 6 and 7 do not exist and their columns stay zero.
pub const PACKED_PIECES: usize = 1024;
/// Pads lists: its column is zero, and stays so under every turn.
pub const NO_PIECE: PackedPiece = 7 << 6;

const COLOR_FLIP: PackedPiece = 1 << 9 | 0b111_000;
const MIRROR: PackedPiece = 0b111;
const ROWS: usize = 6 * pairs::ROWS;
/// Rows lie a little further apart than their length, or all entries of a column would compete for
/// the same few cache lines.
const STRIDE: usize = PACKED_PIECES + 16;

/// Opening and endgame weight of an entry.
pub type Entry = [i16; 2];
/// What one piece makes with any other.
pub type Row = [Entry; PACKED_PIECES];

/// Packs a piece-square.
#[inline(always)]
pub fn packed_piece(piece: PieceSquare) -> PackedPiece {
    (piece.color.to_index() << 9 | piece.piece.to_index() << 6 | piece.square.to_index()) as PackedPiece
}

/// The piece-square that was packed.
pub fn piece_of(packed: PackedPiece) -> PieceSquare {
    let (color, kind) = (usize::from(packed >> 9), usize::from(packed >> 6 & 7));
    PieceSquare::new(COLORS[color], PIECES[kind], ALL_SQUARES[usize::from(packed & 63)])
}

fn all_packed_pieces() -> impl Iterator<Item = PackedPiece> {
    (0..PACKED_PIECES as PackedPiece).filter(|packed| packed >> 6 & 7 < 6)
}

/// How a piece's row is stored: as the row of its image, with the columns' images, times a sign.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Number of the stored row.
    pub row: usize,
    /// Exclusive or for columns.
    pub mask: PackedPiece,
    /// Whether the row counts negative.
    pub negative: bool,
}

/// How to find the row of `piece`.
#[inline(always)]
pub fn turn(packed: PackedPiece) -> Turn {
    let negative = packed >> 9 != 0;
    let flip = if negative { COLOR_FLIP } else { 0 };
    let mask = flip | if packed & 0b100 != 0 { MIRROR } else { 0 };
    let turned = usize::from(packed ^ mask);
    Turn { row: turned >> 3 << 2 | turned & 0b11, mask, negative }
}

/// Material and location of every piece-square, from White's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Squares(Box<[[i32; 2]; PACKED_PIECES]>);

impl Squares {
    /// Runs `placement` over boards of one piece.
    pub fn compile(weights: &[[i32; 2]]) -> Squares {
        let mut table = Box::new([[0; 2]; PACKED_PIECES]);
        for packed in all_packed_pieces() {
            let mut sum = Sum { weights, from: 0, sum: [0; 2] };
            placement(&[], piece_of(packed), &mut sum);
            table[usize::from(packed)] = sum.sum;
        }
        Squares(table)
    }

    /// What the piece is worth by itself.
    #[inline(always)]
    pub fn get(&self, packed: PackedPiece) -> [i32; 2] {
        self.0[usize::from(packed) % PACKED_PIECES]
    }
}

/// What any two pieces bring together, from White's side, by their 2-tuples and as a [`couple`]: the rows of T.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows(Vec<Entry>);

impl Rows {
    /// Whether nothing has been compiled, because no two pieces bring anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs `placement` over boards of two pieces.
    pub fn compile(weights: &[[i32; 2]]) -> Result<Rows, WeightsError> {
        let mut rows = Rows(vec![[0; 2]; ROWS * STRIDE]);
        for (piece, other) in stored() {
            rows.set(piece, other, weights)?;
        }
        Ok(rows)
    }

    /// Rows of such entries, whatever weights they might come from.
    #[cfg(test)]
    pub fn filled(mut entry: impl FnMut() -> Entry) -> Rows {
        let mut rows = Rows(vec![[0; 2]; ROWS * STRIDE]);
        for row in 0..ROWS {
            for column in all_packed_pieces() {
                rows.0[row * STRIDE + usize::from(column)] = entry();
            }
        }
        rows
    }

    /// Brings up to date what depends on the weight of the pair at `index`. Two pieces with their images
    /// fill eight entries of T, of which two are stored, one in each one's row.
    pub fn update(&mut self, index: usize, weights: &[[i32; 2]]) -> Result<(), WeightsError> {
        let (first, other) = pairs::pieces_of(index);
        self.set(first, other, weights)?;
        self.set(other, first, weights)
    }

    /// The stored row with this number.
    #[inline(always)]
    pub fn row(&self, number: usize) -> &Row {
        let start = number * STRIDE;
        self.0[start..start + PACKED_PIECES].try_into().expect("a row is as long as it is sliced")
    }

    /// T of two pieces, from White's side.
    #[inline]
    pub fn entry(&self, a: PackedPiece, b: PackedPiece) -> [i32; 2] {
        let turn = turn(a);
        let [mg, eg] = self.row(turn.row)[usize::from(b ^ turn.mask) % PACKED_PIECES].map(i32::from);
        if turn.negative { [-mg, -eg] } else { [mg, eg] }
    }

    /// Brings up to date what depends on the weights of couples.
    pub fn update_couples(&mut self, weights: &[[i32; 2]]) -> Result<(), WeightsError> {
        COUPLED.iter().try_for_each(|&(piece, other)| self.set(piece, other, weights))
    }

    fn set(&mut self, piece: PieceSquare, other: PieceSquare, weights: &[[i32; 2]]) -> Result<(), WeightsError> {
        let turn = turn(packed_piece(piece));
        let (piece, column) = (piece_of(packed_piece(piece) ^ turn.mask), packed_piece(other) ^ turn.mask);
        let mut sum = Sum { weights, from: PAIRS.start, sum: [0; 2] };
        placement(&[piece], piece_of(column), &mut sum);
        sum.from = 0;
        couple(piece, piece_of(column), &mut sum);
        let entry = &mut self.0[turn.row * STRIDE + usize::from(column)];
        for stage in [0, 1] {
            entry[stage] = i16::try_from(sum.sum[stage]).map_err(|_| WeightsError::PairOverflow {
                piece,
                other: piece_of(column),
                stage: Stage::ALL[stage],
                value: sum.sum[stage],
            })?;
        }
        Ok(())
    }
}

/// The two pieces of each stored entry: that of the row, and that of the column.
fn stored() -> impl Iterator<Item = (PieceSquare, PieceSquare)> {
    let of_rows = PIECES.into_iter().flat_map(|kind| {
        (0..pairs::ROWS).map(move |row| PieceSquare::new(Color::White, kind, pairs::square_of_row(row)))
    });
    of_rows.flat_map(|piece| {
        let others = all_packed_pieces().map(piece_of).filter(move |other| other.square != piece.square);
        others.map(move |other| (piece, other))
    })
}

/// Those of [`stored`] that are a [`couple`].
static COUPLED: LazyLock<Vec<(PieceSquare, PieceSquare)>> = LazyLock::new(|| {
    let is_couple = |&(piece, other): &(PieceSquare, PieceSquare)| {
        let mut features: Vec<(u32, i32)> = Vec::new();
        couple(piece, other, &mut features);
        !features.is_empty()
    };
    stored().filter(is_couple).collect()
});

/// Sums the weights of features that are not below `from`.
struct Sum<'a> {
    weights: &'a [[i32; 2]],
    from: usize,
    sum: [i32; 2],
}

impl Visitor for Sum<'_> {
    #[inline(always)]
    fn add(&mut self, feature: usize, count: i32) {
        if feature >= self.from {
            let [mg, eg] = self.weights[feature];
            self.sum[0] += count * mg;
            self.sum[1] += count * eg;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn men_are_packed_and_unpacked() {
        for packed in all_packed_pieces() {
            assert_eq!(packed_piece(piece_of(packed)), packed);
        }
        assert_eq!(all_packed_pieces().count(), 768);
    }

    #[test]
    fn every_row_is_found_and_turned_to_white_on_files_a_to_d() {
        let mut uses = [0; ROWS];
        for packed in all_packed_pieces() {
            let turn = turn(packed);
            uses[turn.row] += 1;
            let turned = piece_of(packed ^ turn.mask);
            assert_eq!(turned.color, Color::White);
            assert_eq!(turn.row, turned.piece.to_index() * pairs::ROWS + pairs::row(turned));
            assert_eq!(turn.row / pairs::ROWS * pairs::ROWS + pairs::row(piece_of(packed)), turn.row);
            assert_eq!(turn.negative, piece_of(packed).color == Color::Black);
        }
        assert!(uses.iter().all(|&count| count == 4));
    }

    #[test]
    fn nobody_is_nobody_under_every_turn() {
        for mask in [0, COLOR_FLIP, MIRROR, COLOR_FLIP | MIRROR] {
            let turned = NO_PIECE ^ mask;
            assert!(usize::from(turned) < PACKED_PIECES);
            assert_eq!(turned >> 6 & 7, 7);
        }
    }
}
