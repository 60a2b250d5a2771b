//! All features of a position. The incremental ones are those of a piece on its square and of two pieces.
//!
//! Incremental features are defined by the addition of a piece to the pieces already on the board. A refresh adds the
//! pieces of a position one after another, and an update removes and adds pieces by the same definition, so the two
//! cannot differ.

use super::layout::{HalfSquare, MATERIAL, PAIRS, PIECE_SQUARE};
use super::pairs::{self, pair};
use super::terms::terms;
use super::visitor::Visitor;
use crate::board::{Board, PieceSquare, sign};

/// Visits the features that `piece` adds to `others`: material, piece-square, and its 2-tuples with each of the others.
pub fn incremental_features<V: Visitor>(others: &[PieceSquare], piece: PieceSquare, visitor: &mut V) {
    let sign = sign(piece.color);
    visitor.add(MATERIAL.at(piece.piece), sign);
    visitor.add(PIECE_SQUARE.at(piece.piece, HalfSquare(pairs::row(piece))), sign);
    for &other in others {
        pair_features(piece, other, visitor);
    }
}

pub(crate) fn pair_features<V: Visitor>(one: PieceSquare, other: PieceSquare, visitor: &mut V) {
    let (first, second) = (pair(one, other), pair(other, one));
    visitor.add(PAIRS.at(first), first.sign);
    visitor.add(PAIRS.at(second), second.sign);
}

/// Visits all features of a position.
pub fn visit<V: Visitor>(board: &Board, visitor: &mut V) {
    let pieces: Vec<_> = board.placed_pieces().collect();
    for (count, &piece) in pieces.iter().enumerate() {
        incremental_features(&pieces[..count], piece, visitor);
    }
    terms(board, visitor);
}
