//! The incremental sums of the weights: material, piece-square and pair terms.
//!
//! An update adds a row of the fast tables for each added piece and subtracts one for each removed piece, both over the
//! list of the other pieces.

use super::compiled::Compiled;
use super::kernel::{add, delta, subtract};
use super::piece_list::PieceList;
use super::tables::{PackedPiece, PairTable, packed_piece};
use crate::board::{Board, Delta};

#[derive(Clone, Debug, Default)]
pub(crate) struct PieceSums {
    pieces: PieceList,
    /// Middlegame and endgame sums from White's point of view.
    pub sums: [i32; 2],
}

/// If two positions differ in more pieces than this, a refresh is faster than the difference.
const MOST_DIFFERENT: usize = 10;

impl PieceSums {
    /// Computes the sums of a position from scratch. The old content is ignored.
    pub(crate) fn refresh(&mut self, compiled: &Compiled, board: &Board) {
        self.pieces = PieceList::empty();
        self.sums = [0; 2];
        for piece in board.placed_pieces().map(packed_piece) {
            add(&mut self.sums, compiled.squares.get(piece));
            if !compiled.pairs.is_empty() {
                add(&mut self.sums, delta(&compiled.pairs, &self.pieces, &[], &[piece]));
            }
            self.pieces.add(piece);
        }
    }

    /// As [`PieceSums::refresh`], from the sums of another position. Only the difference is applied: training searches
    /// sibling positions one after another.
    pub(crate) fn refresh_from_old(&mut self, compiled: &Compiled, board: &Board) {
        let mut pieces = PieceList::empty();
        board.placed_pieces().for_each(|piece| pieces.add(packed_piece(piece)));
        let (removed, added) = (self.pieces.without(&pieces), pieces.without(&self.pieces));
        if removed.len() + added.len() > MOST_DIFFERENT {
            self.refresh(compiled, board);
        } else {
            let (removed, added) = (removed.pieces(), added.pieces());
            removed.iter().for_each(|&piece| self.pieces.remove(piece));
            add(&mut self.sums, difference(compiled, &self.pieces, removed, added));
            self.pieces = pieces;
        }
    }

    /// Computes the sums after a move from those `before` it. The old content is ignored.
    pub(crate) fn update(&mut self, compiled: &Compiled, before: &PieceSums, delta: &Delta) {
        // Packs both entries of each array, used or not: faster than a loop over the number of pieces.
        let [removed, added] = delta.padded().map(|pieces| pieces.map(packed_piece));
        let (removed, added) = (&removed[..delta.removed().len()], &added[..delta.added().len()]);
        self.sums = before.sums;
        if !compiled.pairs.is_empty() {
            self.pieces.clone_from(&before.pieces);
            removed.iter().for_each(|&piece| self.pieces.remove(piece));
        }
        add(&mut self.sums, difference(compiled, &self.pieces, removed, added));
        if !compiled.pairs.is_empty() {
            added.iter().for_each(|&piece| self.pieces.add(piece));
        }
    }
}

/// The difference of the sums when pieces are removed and added; `kept` are the others.
#[inline(always)]
fn difference(compiled: &Compiled, kept: &PieceList, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
    let (squares, pairs) = (&compiled.squares, &compiled.pairs);
    let mut sums = [0; 2];
    added.iter().for_each(|&piece| add(&mut sums, squares.get(piece)));
    removed.iter().for_each(|&piece| subtract(&mut sums, squares.get(piece)));
    if !pairs.is_empty() {
        add(&mut sums, delta(pairs, kept, removed, added));
        add(&mut sums, among(pairs, added));
        subtract(&mut sums, among(pairs, removed));
    }
    sums
}

#[inline(always)]
fn among(pairs: &PairTable, pieces: &[PackedPiece]) -> [i32; 2] {
    match *pieces {
        [] | [_] => [0; 2],
        [one, other] => pairs.get(one, other),
        _ => sum_among(pairs, pieces),
    }
}

/// [`among`] for more pieces than a move removes or adds.
#[cold]
fn sum_among(pairs: &PairTable, pieces: &[PackedPiece]) -> [i32; 2] {
    let mut sums = [0; 2];
    for (index, &piece) in pieces.iter().enumerate() {
        pieces[..index].iter().for_each(|&other| add(&mut sums, pairs.get(piece, other)));
    }
    sums
}
