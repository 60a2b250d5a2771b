//! Pieces, squares and weights on the pages, in pawns.

use dyad_engine::board::{ALL_SQUARES, Color, PIECES, Piece, PieceSquare, Square};
use dyad_engine::eval::layout::{HalfSquare, PIECE_SQUARE};
use dyad_engine::eval::units::SCALE_ONE;
use dyad_engine::eval::{Weights, pairs};
use maud::Markup;

use crate::page::figures::{self, Board};

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

/// How much of a weight is a pawn.
pub(super) fn pawn(weights: &Weights) -> f64 {
    1.0 / weights.pawns(f64::from(weights.units.scale) / f64::from(SCALE_ONE))
}

/// The weight of a feature in pawns.
pub(super) fn in_pawns(weights: &Weights, feature: usize, stage: usize) -> f64 {
    f64::from(weights.ints()[feature][stage]) / pawn(weights)
}

/// The weight of a piece on a square in pawns.
pub(super) fn piece_square(weights: &Weights, piece: Piece, square: Square, stage: usize) -> f64 {
    let row = pairs::row(PieceSquare::new(Color::White, piece, square));
    in_pawns(weights, PIECE_SQUARE.at(piece, HalfSquare(row)), stage)
}

/// Boards of the piece-square weights, or of how they differ from others.
pub(super) fn piece_square_boards(weights: &Weights, other: Option<&Weights>) -> Markup {
    let value = |piece, square, stage| {
        let before = other.map_or(0.0, |other| piece_square(other, piece, square, stage));
        piece_square(weights, piece, square, stage) - before
    };
    let board = |piece: Piece, stage: usize| {
        let values = ALL_SQUARES.map(|square| can_stand(piece, square).then(|| value(piece, square, stage)));
        Board { title: format!("{}, {}", piece_name(piece), STAGES[stage]), values }
    };
    let all: Vec<Board> = [0, 1].into_iter().flat_map(|stage| PIECES.map(|piece| board(piece, stage))).collect();
    figures::boards(&all)
}
