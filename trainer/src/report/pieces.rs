//! Pieces and squares as all pages show them.

use dyad_engine::board::{Piece, PieceSquare, Square};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::PAIRS;
use dyad_engine::eval::pairs::pair;

/// Both stages, as the figures call them.
pub(super) const STAGES: [&str; 2] = ["middlegame", "endgame"];

/// Whether a piece can ever stand there.
pub(super) fn can_stand(piece: Piece, square: Square) -> bool {
    piece != Piece::Pawn || (8..56).contains(&square.to_index())
}

/// A type of piece in words.
pub(super) fn piece_name(piece: Piece) -> &'static str {
    ["Pawn", "Knight", "Bishop", "Rook", "Queen", "King"][piece.to_index()]
}

/// A type of piece in notation.
pub(super) fn letter(piece: Piece) -> char {
    ['P', 'N', 'B', 'R', 'Q', 'K'][piece.to_index()]
}

/// What two pieces are worth to White beside what each is alone, in middlegame and endgame: both 2-tuples, one from the view
/// of each.
pub(super) fn worth_of_pair(weights: &Weights, one: PieceSquare, other: PieceSquare) -> [i32; 2] {
    let views = [pair(one, other), pair(other, one)];
    [0, 1].map(|stage| views.iter().map(|view| view.sign * weights.ints()[PAIRS.at(*view)][stage]).sum())
}
