//! Training examples of the move model.

use dyad_engine::board::Move;
use dyad_engine::value::Value;
use dyad_levels::analysis::DEPTHS;
use dyad_levels::features::PositionContext;
use dyad_levels::model::PositionInput;

use crate::levels::prepare::band_of;
use crate::levels::records::{Offsets, Record};

/// A position with the move that was played.
#[derive(Clone, Debug)]
pub struct MoveExample {
    /// Input of the model.
    pub input: PositionInput,
    /// Index of the move played.
    pub played: usize,
    /// Rating of the side to move, on the scale of the model.
    pub rating: f64,
    /// The band of that rating.
    pub band: u32,
    /// Values of the moves, for measurements.
    pub values: Vec<[Value; DEPTHS]>,
    /// Whether it is a test example.
    pub test: bool,
    /// Number of plies before the position.
    pub ply: u32,
    /// Hash of the player.
    pub player: u64,
    /// Hash of the game.
    pub game: u64,
}

impl MoveExample {
    /// The example of a record, with its rating converted to the Lichess scale by `offsets`.
    #[must_use]
    pub fn new(record: &Record, offsets: &Offsets) -> MoveExample {
        let board = &record.board;
        let moves: Vec<Move> = board.moves().iter().copied().collect();
        let values: Vec<[Value; DEPTHS]> = record.values.iter().map(|values| values.map(Value::from)).collect();
        let context =
            PositionContext { board, last: record.last, last_captured: record.last_captured, own: record.own };
        let rating = f64::from(record.rating) + record.pool.offset(offsets);
        MoveExample {
            input: PositionInput::new(&context, &moves, &values, &record.repeats),
            played: record.played,
            rating,
            band: band_of(rating as u32),
            values,
            test: record.test,
            ply: crate::data::positions::ply_of(board),
            player: record.player,
            game: record.game,
        }
    }
}
