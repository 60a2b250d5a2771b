//! Pieces and squares on the pages.

use dyad_engine::board::{Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::PAIRS;
use dyad_engine::eval::pairs::pair;

/// Names of the phases in figures.
pub(super) const STAGES: [&str; 2] = ["middlegame", "endgame"];

/// Whether a piece can stand on a square.
pub(super) fn can_stand(piece: Piece, square: Square) -> bool {
    piece != Piece::Pawn || (8..56).contains(&square.to_index())
}

/// Name of a piece type.
pub(super) fn piece_name(piece: Piece) -> &'static str {
    ["Pawn", "Knight", "Bishop", "Rook", "Queen", "King"][piece.to_index()]
}

/// Letter of a piece type.
pub(super) fn letter(piece: Piece) -> char {
    ['P', 'N', 'B', 'R', 'Q', 'K'][piece.to_index()]
}

/// The pair weight of two pieces for White, in middlegame and endgame: the sum of both 2-tuples, one from each piece's
/// view.
pub(super) fn worth_of_pair(weights: &Weights, one: PieceSquare, other: PieceSquare) -> [i32; 2] {
    let views = [pair(one, other), pair(other, one)];
    [0, 1].map(|stage| views.iter().map(|view| view.sign * weights.ints()[PAIRS.at(*view)][stage]).sum())
}
