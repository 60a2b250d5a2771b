//! Weights as tables, in pawns: piece values, piece-square tables, and one 2-tuple map.

use std::collections::BTreeMap;

use dyad_engine::board::{ALL_SQUARES, Color, PIECES, Piece, PieceSquare, square};
use dyad_engine::eval::layout::{HalfSquare, MATERIAL, PAIRS, PIECE_SQUARE};
use dyad_engine::eval::pairs::{self, pair};
use dyad_engine::eval::{PHASE_MAX, Weights};
use dyad_explain::evaluation::PawnScale;
use serde::Serialize;

use crate::play::{letter, square_named};

/// Middlegame and endgame value.
pub(crate) type Value = [f64; 2];

/// Tables of White's pieces; squares from a1 to h8.
#[derive(Clone, Debug, Serialize)]
pub struct Tables {
    pub(crate) material: BTreeMap<String, Value>,
    pub(crate) squares: BTreeMap<String, Vec<Value>>,
}

/// What two pieces are worth together.
#[derive(Clone, Debug, Serialize)]
pub struct PairMap {
    values: Vec<Option<Value>>,
}

/// A value of weight units in pawns, in middlegame and endgame. Young 2-tuples are fractions of a centipawn, to which the
/// scale rounds.
pub(crate) fn pawns(weights: &Weights, [mg, eg]: [i32; 2]) -> Value {
    const FINER: i64 = 100;
    let pawns = |phase, value: i32| PawnScale { weights, phase }.pawns([FINER * i64::from(value); 2]);
    [(PHASE_MAX, mg), (0, eg)].map(|(phase, value)| pawns(phase, value) / FINER as f64)
}

/// The piece values and piece-square tables.
#[must_use]
pub fn tables(weights: &Weights) -> Tables {
    let of = |feature: usize| pawns(weights, weights.ints()[feature]);
    let name = |piece: Piece| letter(piece, Color::White);
    let squares = |piece: Piece| {
        let at = |square| HalfSquare(pairs::row(PieceSquare::new(Color::White, piece, square)));
        ALL_SQUARES.iter().map(|&square| of(PIECE_SQUARE.at(piece, at(square)))).collect()
    };
    let pieces = PIECES.iter().filter(|piece| **piece != Piece::King);
    Tables {
        material: pieces.map(|&piece| (name(piece), of(MATERIAL.at(piece)))).collect(),
        squares: PIECES.iter().map(|&piece| (name(piece), squares(piece))).collect(),
    }
}

/// What White's `first` piece on a square is worth together with the `other` piece (a letter of FEN) on each square.
///
/// # Errors
/// For letters that are no piece and names that are no square.
pub fn pair_map(weights: &Weights, first: &str, on: &str, other: &str) -> Result<PairMap, String> {
    let piece = |text: &str| {
        let found = PIECES.iter().find(|piece| letter(**piece, Color::White) == text.to_uppercase());
        found.copied().ok_or_else(|| format!("'{text}' is not a piece"))
    };
    let color = if other == other.to_uppercase() { Color::White } else { Color::Black };
    let (first, other) = (PieceSquare::new(Color::White, piece(first)?, square_named(on)?), piece(other)?);
    let value = |at: usize| {
        let other = PieceSquare::new(color, other, square(at));
        let legal = |piece: PieceSquare| piece.piece != Piece::Pawn || (8..56).contains(&piece.square.to_index());
        if other.square == first.square || !legal(other) || !legal(first) {
            return None;
        }
        let both = [pair(first, other), pair(other, first)];
        let sum = |phase: usize| both.iter().map(|pair| weights.ints()[PAIRS.at(*pair)][phase] * pair.sign).sum();
        Some(pawns(weights, [sum(0), sum(1)]))
    };
    Ok(PairMap { values: (0..64).map(value).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_alone_have_material_and_no_squares() {
        let tables = tables(&Weights::material());
        assert!((0.3..1.0).contains(&tables.material["P"][0]), "{:?}", tables.material);
        assert!(tables.material["Q"][0] > tables.material["R"][0]);
        assert!(tables.squares.values().flatten().flatten().all(|value| *value == 0.0));
        assert_eq!(tables.squares.len(), 6);
    }

    #[test]
    fn a_map_has_the_pairs_of_the_built_in_weights() {
        let weights = Weights::embedded();
        let map = pair_map(&weights, "N", "f5", "k").unwrap();
        assert_eq!(map.values.iter().filter(|value| value.is_none()).count(), 1);
        assert!(map.values.iter().flatten().flatten().any(|value| *value != 0.0));
        let pawns = pair_map(&weights, "N", "f5", "P").unwrap();
        assert_eq!(pawns.values.iter().filter(|value| value.is_none()).count(), 17);
        assert!(pair_map(&weights, "X", "f5", "k").is_err());
        assert!(pair_map(&weights, "N", "f9", "k").is_err());
    }
}
