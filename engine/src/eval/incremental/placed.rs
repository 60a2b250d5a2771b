//! The incremental sums of the weights: material, piece-square and pair terms.
//!
//! An update adds a row of the fast tables for each added piece and subtracts one for each removed piece, both over the
//! list of the other pieces.

use super::accumulator::{Incremental, Step};
use super::compiled::Compiled;
use super::kernel::{add, delta, subtract};
use super::piece_list::PieceList;
use super::tables::{PackedPiece, PairTable, packed_piece};
use crate::board::Board;

/// The incremental sums of a position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    pieces: PieceList,
    /// Middlegame and endgame sums from White's point of view.
    pub sums: [i32; 2],
}

/// The pieces that a move removes and adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    removed: [PackedPiece; 2],
    added: [PackedPiece; 2],
    removals: u8,
    additions: u8,
}

/// If two positions differ in more pieces than this, a refresh is faster than the difference.
const MOST_DIFFERENT: usize = 10;

impl Incremental for Compiled {
    type Sums = Placed;
    type Update = Change;

    fn update(&self, step: &Step) -> Option<Change> {
        // Packs both entries of each array, used or not: faster than a loop over the number of pieces.
        let [removed, added] = step.delta.padded().map(|pieces| pieces.map(packed_piece));
        let (removals, additions) = (step.delta.removed().len() as u8, step.delta.added().len() as u8);
        Some(Change { removed, added, removals, additions })
    }

    fn refresh(&self, board: &Board, placed: &mut Placed) {
        placed.pieces = PieceList::empty();
        placed.sums = [0; 2];
        for piece in board.placed_pieces().map(packed_piece) {
            add(&mut placed.sums, self.squares().get(piece));
            if !self.pairs().is_empty() {
                add(&mut placed.sums, delta(self.pairs(), &placed.pieces, &[], &[piece]));
            }
            placed.pieces.add(piece);
        }
    }

    /// Applies the difference only: training searches sibling positions one after another.
    fn refresh_from(&self, board: &Board, placed: &mut Placed) {
        let mut pieces = PieceList::empty();
        board.placed_pieces().for_each(|piece| pieces.add(packed_piece(piece)));
        let (removed, added) = (placed.pieces.without(&pieces), pieces.without(&placed.pieces));
        if removed.len() + added.len() > MOST_DIFFERENT {
            self.refresh(board, placed);
        } else {
            let (removed, added) = (removed.pieces(), added.pieces());
            removed.iter().for_each(|&piece| placed.pieces.remove(piece));
            add(&mut placed.sums, difference(self, &placed.pieces, removed, added));
            placed.pieces = pieces;
        }
    }

    fn apply(&self, change: &Change, before: &Placed, placed: &mut Placed) {
        let removed = &change.removed[..usize::from(change.removals)];
        let added = &change.added[..usize::from(change.additions)];
        placed.sums = before.sums;
        if !self.pairs().is_empty() {
            placed.pieces.clone_from(&before.pieces);
            removed.iter().for_each(|&piece| placed.pieces.remove(piece));
        }
        add(&mut placed.sums, difference(self, &placed.pieces, removed, added));
        if !self.pairs().is_empty() {
            added.iter().for_each(|&piece| placed.pieces.add(piece));
        }
    }
}

/// The difference of the sums when pieces are removed and added; `kept` are the others.
#[inline(always)]
fn difference(compiled: &Compiled, kept: &PieceList, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
    let (squares, pairs) = (compiled.squares(), compiled.pairs());
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

/// The pair terms among these pieces.
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
