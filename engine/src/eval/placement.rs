//! Features that are there because of where pieces stand: material, piece-square and 2-tuples.
//!
//! They are stated as what one piece brings beside those already on the board. A position is its pieces
//! placed one after another, and a move takes away what a piece brought and adds what it brings
//! elsewhere, so position and update cannot drift apart.

use super::layout::{HalfSquare, LOCATION, MATERIAL, PAIRS};
use super::pairs::{self, pair};
use super::terms::terms;
use super::visitor::Visitor;
use crate::board::{Board, PieceSquare};

/// What `piece` brings beside `occupants`: its material, its square, and a pair with each of them from
/// both sides.
#[inline]
pub fn placement<S: Visitor>(occupants: &[PieceSquare], piece: PieceSquare, visitor: &mut S) {
    let sign = pairs::sign(piece.color);
    visitor.add(MATERIAL.at(piece.piece), sign);
    visitor.add(LOCATION.at(piece.piece, HalfSquare(pairs::row(piece))), sign);
    occupants.iter().for_each(|&occupant| pair_features(piece, occupant, visitor));
}

/// The 2-tuples of two pieces: one from the view of each.
#[inline]
pub fn pair_features<S: Visitor>(piece: PieceSquare, other: PieceSquare, visitor: &mut S) {
    for pair in [pair(piece, other), pair(other, piece)] {
        visitor.add(PAIRS.at(pair), pair.sign);
    }
}

/// Everything a position has: its pieces placed one after another, and the terms of the whole board.
pub fn visit<S: Visitor>(board: &Board, visitor: &mut S) {
    let pieces: Vec<_> = board.placed_pieces().collect();
    for (count, &piece) in pieces.iter().enumerate() {
        placement(&pieces[..count], piece, visitor);
    }
    terms(board, visitor);
}
