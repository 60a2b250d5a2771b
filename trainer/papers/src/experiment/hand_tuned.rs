//! A hand-tuned evaluation, as a baseline for trained weights.
//!
//! Material, piece-square tables and mobility, the features of EVAL0, by formulas: pieces have the values of the
//! original program in Table X of the chess paper, knights and bishops belong in the center, pawns advance, rooks go to
//! the seventh rank, the king hides in the middlegame and comes out in the endgame, and a safe square of mobility is
//! value a few centipawns.

use dyad_engine::board::{PIECES, Piece};
use dyad_engine::eval::layout::{
    HalfSquare, MATERIAL, MOBILITY_BISHOP, MOBILITY_KNIGHT, MOBILITY_QUEEN, MOBILITY_ROOK, PIECE_SQUARE,
};
use dyad_engine::eval::{FloatWeights, Weights, pairs};
use serde_json::json;

use crate::experiment::chess::MATERIAL_OF_PAPER;

/// The weights; without tapering both phases have the mean.
pub(super) fn hand_tuned(tapered: bool) -> Weights {
    let mut floats = FloatWeights::zeros();
    let mut set = |feature: usize, [mg, eg]: [f64; 2]| {
        let both = if tapered { [mg, eg] } else { [(mg + eg) / 2.0; 2] };
        [floats.mg[feature], floats.eg[feature]] = both;
    };
    for (piece, _, [mg, eg, ..]) in MATERIAL_OF_PAPER {
        set(MATERIAL.at(piece), [mg, eg].map(f64::from));
    }
    for row in 0..pairs::ROWS {
        let square = pairs::square_of_row(row);
        let (file, rank) = (square.get_file().to_index(), square.get_rank().to_index());
        for piece in PIECES {
            set(PIECE_SQUARE.at(piece, HalfSquare(row)), on_square(piece, file.min(7 - file), rank));
        }
    }
    // Knight, bishop, rook, queen: value of a safe square, and the usual number of them.
    let groups = [
        (MOBILITY_KNIGHT.range(), [14.0, 14.0], 4.0),
        (MOBILITY_BISHOP.range(), [10.0, 12.0], 6.0),
        (MOBILITY_ROOK.range(), [5.0, 10.0], 7.0),
        (MOBILITY_QUEEN.range(), [3.0, 6.0], 13.0),
    ];
    for (range, [mg, eg], usual) in groups {
        for (squares, feature) in range.enumerate() {
            let more = squares as f64 - usual;
            set(feature, [mg * more, eg * more]);
        }
    }
    Weights::from_floats(&floats, json!({ "by": "formulas", "tapered": tapered })).expect("small finite numbers")
}

/// Piece-square value of a White piece: `edge` is the distance of its file from the edge, 0 to 3.
fn on_square(piece: Piece, edge: usize, rank: usize) -> [f64; 2] {
    // 0 in the corners of the board, 6 in the center.
    let center = (edge + rank.min(7 - rank)) as f64;
    let (forward, edge) = (rank as f64, edge as f64);
    match piece {
        Piece::Pawn => [6.0 * (forward - 1.0) * edge / 3.0, 14.0 * (forward - 1.0)],
        Piece::Knight => [16.0 * (center - 3.0), 14.0 * (center - 3.0)],
        Piece::Bishop => [8.0 * (center - 3.0), 6.0 * (center - 3.0)],
        Piece::Rook => [4.0 * edge + if rank == 6 { 30.0 } else { 0.0 }, if rank == 6 { 30.0 } else { 0.0 }],
        Piece::Queen => [3.0 * (center - 3.0), 8.0 * (center - 3.0)],
        Piece::King => [-14.0 * center - 20.0 * forward, 18.0 * (center - 3.0)],
    }
}
