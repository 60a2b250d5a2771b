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
    for &occupant in occupants {
        let (own, other) = (pair(piece, occupant), pair(occupant, piece));
        visitor.add(PAIRS.at(own), own.sign);
        visitor.add(PAIRS.at(other), other.sign);
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
