//! Writes the weights that come from formulas: `cargo run -p dyad-engine --example starting_weights FOLDER`
//! makes `material.json` (the paper's Table I) and `psq.json` (tapered piece-square values by rule of thumb).

use dyad_engine::board::Piece;
use dyad_engine::eval::layout::{LOCATION, MATERIAL};
use dyad_engine::eval::pairs::{ROWS, square_of_row};
use dyad_engine::eval::{FloatWeights, Weights};
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder should the weights go to?")?);
    let mut material = Weights::material();
    material.made = json!({"method": "Table I of Tseng, Chen and Wu (2018), scaled as in section 3.3"});
    material.save(&folder.join("material.json"))?;
    let made = json!({"method": "rule of thumb: centrality, advanced pawns, king at home and later in the center"});
    let mut squares = Weights::from_floats(&piece_squares(), made)?;
    squares.name = "psq".to_string();
    squares.save(&folder.join("psq.json"))?;
    Ok(())
}

fn piece_squares() -> FloatWeights {
    const MATERIAL_VALUES: [[f64; 2]; 6] =
        [[165.0, 225.0], [800.0, 700.0], [850.0, 760.0], [1230.0, 1300.0], [2550.0, 2400.0], [0.0, 0.0]];
    let mut weights = FloatWeights::zeros();
    for (kind, [mg, eg]) in MATERIAL_VALUES.into_iter().enumerate() {
        (weights.mg[MATERIAL.at(kind)], weights.eg[MATERIAL.at(kind)]) = (mg, eg);
        for row in 0..ROWS {
            let square = square_of_row(row).to_index();
            let feature = LOCATION.at(kind * ROWS + row);
            [weights.mg[feature], weights.eg[feature]] = location(kind, (square / 8) as f64, (square % 8) as f64);
        }
    }
    weights
}

/// Opening and endgame worth of a square: `rank` from 0 to 7, `file` from 0 to 3.
fn location(kind: usize, rank: f64, file: f64) -> [f64; 2] {
    const KNIGHT: usize = Piece::Knight as usize;
    const BISHOP: usize = Piece::Bishop as usize;
    const ROOK: usize = Piece::Rook as usize;
    const QUEEN: usize = Piece::Queen as usize;
    const KING: usize = Piece::King as usize;
    // From -3 in a corner to 3 in the center.
    let central = file + rank.min(7.0 - rank) - 3.0;
    let developed = if rank == 0.0 { -1.0 } else { 0.0 };
    match kind {
        KNIGHT => [20.0 * central + 8.0 * rank.min(5.0) + 15.0 * developed - 20.0, 18.0 * central],
        BISHOP => [9.0 * central + 25.0 * developed + 5.0, 8.0 * central],
        ROOK => [6.0 * file + if rank == 6.0 { 20.0 } else { 0.0 } - 8.0, 2.0 * rank - 7.0],
        QUEEN => [3.0 * central - 2.0 * rank, 11.0 * central + 3.0 * rank],
        KING => {
            let home = if rank == 0.0 && file < 3.0 { 15.0 } else { 0.0 };
            [home - 28.0 * rank.min(4.0) - 16.0 * (file - 1.0).abs(), 22.0 * central + 5.0 * rank]
        }
        _ => {
            let advance = rank - 1.0;
            [
                5.0 * advance + 9.0 * file * f64::from(u8::from((2.0..5.0).contains(&rank))) - 8.0,
                advance * advance * 6.0 - 3.0 * file,
            ]
        }
    }
}
