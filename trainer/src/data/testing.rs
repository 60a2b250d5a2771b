//! Positions for tests.

use dyad_engine::board::Board;

use crate::base::hash;
use crate::data::packed::Sample;
use crate::data::score::{GameResult, Score};

/// Positions of a random walk, with every kind of result and score.
pub fn walk(count: usize) -> Vec<Sample> {
    let (mut board, mut word, mut samples) = (Board::startpos(), 1u64, Vec::new());
    while samples.len() < count {
        let moves = board.moves();
        if moves.is_empty() || board.halfmove_clock() > 99 || board.insufficient_material() {
            board = Board::startpos();
            continue;
        }
        word = hash::mix(word);
        let mv = moves[(word % moves.len() as u64) as usize];
        let result = [None, Some(GameResult::BlackWins), Some(GameResult::Draw), Some(GameResult::WhiteWins)];
        samples.push(Sample {
            board,
            desired: Some(mv).filter(|_| word % 7 != 0),
            result: result[(word >> 8 & 3) as usize],
            score: Some(Score::centipawns((word >> 16) as u16 as i16 as f64)).filter(|_| word % 5 != 0),
            test: word % 11 == 0,
            starts_game: board.fullmove_number() == 1,
            decided: word % 3 != 0,
        });
        board = board.after(mv);
    }
    samples
}
