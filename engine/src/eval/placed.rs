//! Material, location and 2-tuples of the linear model, kept along a line.
//!
//! A change is a row of the fast tables for each piece that left or came, over the list of the pieces that stayed.

use super::accumulator::Incremental;
use super::compiled::Compiled;
use super::kernel::{add, subtract};
use super::model::Step;
use super::piece_list::PieceList;
use super::tables::{PackedPiece, Rows, packed_piece};
use crate::board::Board;

/// What is kept of a position.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    pieces: PieceList,
    /// Middlegame and endgame sums from White's side.
    pub sums: [i32; 2],
}

/// What a move took away and put down.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    removed: [PackedPiece; 2],
    added: [PackedPiece; 2],
    removals: u8,
    additions: u8,
}

/// With more pieces different than this, all are placed anew.
const MOST_DIFFERENT: usize = 10;

impl Incremental for Compiled {
    type Entry = Placed;
    type Note = Change;

    #[inline]
    fn note(&self, step: &Step) -> Option<Change> {
        // Both of each, which is faster than to ask how many there are.
        let [removed, added] = step.delta.padded().map(|pieces| pieces.map(packed_piece));
        let (removals, additions) = (step.delta.removed().len() as u8, step.delta.added().len() as u8);
        Some(Change { removed, added, removals, additions })
    }

    fn refresh(&self, board: &Board, entry: &mut Placed) {
        entry.pieces = PieceList::empty();
        entry.sums = [0; 2];
        for piece in board.placed_pieces().map(packed_piece) {
            add(&mut entry.sums, self.squares().get(piece));
            if !self.rows().is_empty() {
                add(&mut entry.sums, self.kernel().change(self.rows(), &entry.pieces, &[], &[piece]));
            }
            entry.pieces.add(piece);
        }
    }

    /// A training searches one sibling after another: only what is different is worked out.
    fn reset(&self, board: &Board, entry: &mut Placed) {
        let mut pieces = PieceList::empty();
        board.placed_pieces().for_each(|piece| pieces.add(packed_piece(piece)));
        let (removed, added) = (entry.pieces.without(&pieces), pieces.without(&entry.pieces));
        if removed.len() + added.len() > MOST_DIFFERENT {
            self.refresh(board, entry);
        } else {
            let (removed, added) = (removed.present(), added.present());
            removed.iter().for_each(|&piece| entry.pieces.remove(piece));
            add(&mut entry.sums, difference(self, &entry.pieces, removed, added));
            entry.pieces = pieces;
        }
    }

    #[inline]
    fn follow(&self, change: &Change, before: &Placed, entry: &mut Placed) {
        let removed = &change.removed[..usize::from(change.removals)];
        let added = &change.added[..usize::from(change.additions)];
        entry.sums = before.sums;
        if !self.rows().is_empty() {
            entry.pieces.clone_from(&before.pieces);
            removed.iter().for_each(|&piece| entry.pieces.remove(piece));
        }
        add(&mut entry.sums, difference(self, &entry.pieces, removed, added));
        if !self.rows().is_empty() {
            added.iter().for_each(|&piece| entry.pieces.add(piece));
        }
    }
}

/// What changes when some pieces leave and some come beside those that stayed.
#[inline(always)]
fn difference(compiled: &Compiled, stayed: &PieceList, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
    let (squares, rows) = (compiled.squares(), compiled.rows());
    let mut sums = [0; 2];
    added.iter().for_each(|&piece| add(&mut sums, squares.get(piece)));
    removed.iter().for_each(|&piece| subtract(&mut sums, squares.get(piece)));
    if !rows.is_empty() {
        add(&mut sums, compiled.kernel().change(rows, stayed, removed, added));
        add(&mut sums, among(rows, added));
        subtract(&mut sums, among(rows, removed));
    }
    sums
}

/// What these pieces bring with each other.
#[inline(always)]
fn among(rows: &Rows, pieces: &[PackedPiece]) -> [i32; 2] {
    match *pieces {
        [] | [_] => [0; 2],
        [one, other] => rows.entry(one, other),
        _ => sum_among(rows, pieces),
    }
}

/// The same of more pieces than a move takes or brings.
#[cold]
fn sum_among(rows: &Rows, pieces: &[PackedPiece]) -> [i32; 2] {
    let mut sums = [0; 2];
    for (index, &piece) in pieces.iter().enumerate() {
        pieces[..index].iter().for_each(|&other| add(&mut sums, rows.entry(piece, other)));
    }
    sums
}
