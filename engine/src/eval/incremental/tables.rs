//! The fast tables: sums of weights by piece-square and by pair of piece-squares, compiled from the weights.
//!
//! Computing the index of each 2-tuple on each move would cost more than the rest of the evaluation. But the terms of
//! two pieces depend on these two pieces only. So their sum is an entry of a table with a row and a column for each of
//! the 768 piece-squares, and a move subtracts one row and adds another, over the columns of the pieces on the board.
//!
//! A color flip negates an entry, and a left-right mirroring keeps it. Both are an XOR of a [`PackedPiece`], so three
//! quarters of the rows need not be stored: a piece is flipped to White on files a to d, and all columns with it. The
//! remaining 192 rows take 0.8 MB and fit into the L2 cache of a processor; all 768 would take 2.4 MB.
//!
//! The tables are compiled from the definition of the features: [`features`](crate::eval::features) and [`pair_terms`].

use crate::board::{ALL_SQUARES, COLORS, Color, PIECES, PieceSquare};
use crate::eval::features::{incremental_features, pair_features};
use crate::eval::floats::{LIMIT, PHASES, WeightsError};
use crate::eval::pairs;
use crate::eval::terms::pair_terms;
use crate::eval::visitor::WeightedSum;
use std::sync::LazyLock;

/// A piece-square in 10 bits: color, piece type, square.
pub(crate) type PackedPiece = u16;

/// Number of values of a [`PackedPiece`]. Types 6 and 7 do not exist; their columns are zero.
pub(crate) const PACKED_PIECES: usize = 1024;
/// Padding for lists: its column is zero, flipped or not.
pub(crate) const NO_PIECE: PackedPiece = 7 << 6;

const COLOR_FLIP: PackedPiece = 1 << 9 | 0b111_000;
const MIRROR: PackedPiece = 0b111;
const ROWS: usize = 6 * pairs::ROWS;
/// Distance between rows. Without padding, all entries of a column would compete for a few cache lines.
const STRIDE: usize = PACKED_PIECES + 16;

pub(crate) type PairWeight = [i16; 2];
pub(crate) type Row = [PairWeight; PACKED_PIECES];

pub(crate) fn packed_piece(piece: PieceSquare) -> PackedPiece {
    (piece.color.to_index() << 9 | piece.piece.to_index() << 6 | piece.square.to_index()) as PackedPiece
}

pub(crate) fn unpacked_piece(packed: PackedPiece) -> PieceSquare {
    let (color, kind) = (usize::from(packed >> 9), usize::from(packed >> 6 & 7));
    PieceSquare::new(COLORS[color], PIECES[kind], ALL_SQUARES[usize::from(packed & 63)])
}

fn all_packed_pieces() -> impl Iterator<Item = PackedPiece> {
    (0..PACKED_PIECES as PackedPiece).filter(|packed| packed >> 6 & 7 < 6)
}

/// The stored row of a piece: that of the flipped piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredRow {
    /// Number of the stored row.
    pub index: usize,
    /// XORed into the piece and all columns.
    pub flip: PackedPiece,
    /// Whether the entries are negated.
    pub negative: bool,
}

#[inline(always)]
pub(crate) fn stored_row(piece: PackedPiece) -> StoredRow {
    let negative = piece >> 9 != 0;
    let color_flip = if negative { COLOR_FLIP } else { 0 };
    let flip = color_flip | if piece & 0b100 != 0 { MIRROR } else { 0 };
    let flipped = usize::from(piece ^ flip);
    StoredRow { index: flipped >> 3 << 2 | flipped & 0b11, flip, negative }
}

/// Material and piece-square weights, from White's point of view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SquareTable(Box<[[i32; 2]; PACKED_PIECES]>);

impl SquareTable {
    /// Sums the weights by piece-square.
    pub(crate) fn compile(weights: &[[i32; 2]]) -> SquareTable {
        let mut table = Box::new([[0; 2]; PACKED_PIECES]);
        for packed in all_packed_pieces() {
            let mut sum = WeightedSum::new(weights);
            incremental_features(&[], unpacked_piece(packed), &mut sum);
            table[usize::from(packed)] = sum.sums;
        }
        SquareTable(table)
    }

    pub(crate) fn get(&self, packed: PackedPiece) -> [i32; 2] {
        self.0[usize::from(packed) % PACKED_PIECES]
    }
}

/// Weights of two pieces, their 2-tuples and [pair terms](pair_terms), from White's point of view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairTable(Vec<PairWeight>);

impl PairTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sums the weights by pair of piece-squares.
    pub(crate) fn compile(weights: &[[i32; 2]]) -> Result<PairTable, WeightsError> {
        let mut table = PairTable(vec![[0; 2]; ROWS * STRIDE]);
        for (piece, other) in stored() {
            table.set(piece, other, weights)?;
        }
        Ok(table)
    }

    #[cfg(test)]
    pub(crate) fn filled(mut entry: impl FnMut() -> PairWeight) -> PairTable {
        let mut table = PairTable(vec![[0; 2]; ROWS * STRIDE]);
        for row in 0..ROWS {
            for column in all_packed_pieces() {
                table.0[row * STRIDE + usize::from(column)] = entry();
            }
        }
        table
    }

    /// Updates the entries that depend on one 2-tuple weight, by its index among the 2-tuples. With its symmetric
    /// images a pair has eight entries; two are stored, one in the row of each piece.
    pub(crate) fn update(&mut self, index: usize, weights: &[[i32; 2]]) -> Result<(), WeightsError> {
        let (first, other) = pairs::pieces_of(index);
        self.set(first, other, weights)?;
        self.set(other, first, weights)
    }

    /// Updates the entries that depend on weights of pair terms.
    pub(crate) fn update_pair_terms(&mut self, weights: &[[i32; 2]]) -> Result<(), WeightsError> {
        WITH_PAIR_TERMS.iter().try_for_each(|&(piece, other)| self.set(piece, other, weights))
    }

    pub(crate) fn row(&self, index: usize) -> &Row {
        let start = index * STRIDE;
        self.0[start..start + PACKED_PIECES].try_into().expect("the slice has the length of a row")
    }

    pub(crate) fn get(&self, piece: PackedPiece, other: PackedPiece) -> [i32; 2] {
        let StoredRow { index, flip, negative } = stored_row(piece);
        let [mg, eg] = self.row(index)[usize::from(other ^ flip) % PACKED_PIECES].map(i32::from);
        if negative { [-mg, -eg] } else { [mg, eg] }
    }

    fn set(&mut self, piece: PieceSquare, other: PieceSquare, weights: &[[i32; 2]]) -> Result<(), WeightsError> {
        let StoredRow { index, flip, .. } = stored_row(packed_piece(piece));
        let [piece, other] = [piece, other].map(|piece| unpacked_piece(packed_piece(piece) ^ flip));
        let mut sum = WeightedSum::new(weights);
        pair_features(other, piece, &mut sum);
        pair_terms(piece, other, &mut sum);
        let entry = &mut self.0[index * STRIDE + usize::from(packed_piece(other))];
        for (phase, &value) in sum.sums.iter().enumerate() {
            entry[phase] = i16::try_from(value).map_err(|_| {
                let ([piece, other], phase) = ([piece, other].map(pairs::name), PHASES[phase]);
                WeightsError::new(format!(
                    "the {phase} pair weights of {piece} and {other} sum to {value}, outside -{LIMIT} to {LIMIT}"
                ))
            })?;
        }
        Ok(())
    }
}

/// The two pieces of each stored entry, the piece of the row first.
fn stored() -> impl Iterator<Item = (PieceSquare, PieceSquare)> {
    let of_rows = PIECES.into_iter().flat_map(|kind| {
        (0..pairs::ROWS).map(move |row| PieceSquare::new(Color::White, kind, pairs::square_of_row(row)))
    });
    of_rows.flat_map(|piece| {
        let others = all_packed_pieces().map(unpacked_piece).filter(move |other| other.square != piece.square);
        others.map(move |other| (piece, other))
    })
}

static WITH_PAIR_TERMS: LazyLock<Vec<(PieceSquare, PieceSquare)>> = LazyLock::new(|| {
    let has_pair_terms = |&(piece, other): &(PieceSquare, PieceSquare)| {
        let mut features: Vec<(u32, i32)> = Vec::new();
        pair_terms(piece, other, &mut features);
        !features.is_empty()
    };
    stored().filter(has_pair_terms).collect()
});
