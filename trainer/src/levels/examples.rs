//! Training examples of the move model.

use dyad_engine::board::Move;
use dyad_engine::value::Value;
use dyad_levels::analysis::DEPTHS;
use dyad_levels::features::PositionContext;
use dyad_levels::model::PositionInput;

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
    /// Whether it is a test example.
    pub test: bool,
}

impl MoveExample {
    /// The example of a record, with its rating converted to the Lichess scale by `offsets`.
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
            test: record.test,
        }
    }
}
