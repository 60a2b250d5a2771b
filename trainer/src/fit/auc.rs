//! How often an evaluation ranks a position of a won game above one of a lost game.
//!
//! Of one position from a game that White won and one from a game that Black won, which is which? An evaluation answers
//! by the greater value. Over all such pairs the fraction of right answers, ties counting one half, is the area under
//! the receiver operating characteristic (Hanley and McNeil 1982), so no pairs need to be drawn. It is comparable with
//! the accuracy of a network that compares positions.

use std::sync::Arc;

use dyad_engine::board::sign;
use dyad_engine::eval::{Evaluator, Weights};
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::GameResult;

use crate::base::Z95;

/// A proportion with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    /// The proportion, 0 to 1.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Proportion {
    /// The proportion of pairs ordered correctly, among `won` won and `lost` lost games, with `drawn` pairs sampled;
    /// `None` for all pairs. The interval is that of Hanley and McNeil; it counts games and not positions, since the
    /// positions of a game share its result.
    #[must_use]
    pub fn of_games(value: f64, won: usize, lost: usize, drawn: Option<u64>) -> Proportion {
        let [won, lost] = [won, lost].map(|games| games.max(1) as f64);
        // At 0 and 1 the formula has no variance: half a pair is taken off.
        let half = 0.5 / (won * lost);
        let p = value.clamp(half, 1.0 - half);
        let (q1, q2) = (p / (2.0 - p), 2.0 * p * p / (1.0 + p));
        let spread = p * (1.0 - p);
        let among = (won - 1.0) * (q1 - p * p) + (lost - 1.0) * (q2 - p * p);
        let variance =
            (spread + among.max(0.0)) / (won * lost) + drawn.map_or(0.0, |pairs| spread / pairs.max(1) as f64);
        let error = Z95 * variance.sqrt();
        Proportion { value, low: (value - error).max(0.0), high: (value + error).min(1.0) }
    }
}

/// The measured area under the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auc {
    /// The proportion of pairs ordered correctly.
    pub proportion: Proportion,
    /// Positions of games that White won.
    pub won: usize,
    /// Positions of games that Black won.
    pub lost: usize,
    /// Games that the positions come from.
    pub games: usize,
}

/// Measures an evaluation, endgame knowledge included, on the test positions of decided games.
///
/// # Errors
/// When the file cannot be read, or has no test positions of games that White won or none of games that Black won.
pub fn auc(model: &Arc<Weights>, samples: &SampleFile) -> Result<Auc, Error> {
    let mut evaluator: Option<Evaluator> = None;
    let (mut values, mut games) = ([Vec::new(), Vec::new()], [0, 0]);
    for index in samples.indices(true) {
        let sample = samples.read(index as usize)?;
        let side = match sample.result {
            Some(GameResult::WhiteWins) => 0,
            Some(GameResult::BlackWins) => 1,
            _ => continue,
        };
        let evaluator = evaluator.get_or_insert_with(|| Evaluator::new(Arc::clone(model)));
        evaluator.reset(&sample.board);
        let value = evaluator.evaluate(&sample.board);
        values[side].push(sign(sample.board.side_to_move()) * value);
        games[side] += usize::from(sample.starts_game);
    }
    let [won, lost] = values;
    if won.is_empty() || lost.is_empty() {
        return Err(Error::Nothing(format!(
            "{} has no test positions of won and of lost games",
            samples.path().display()
        )));
    }
    let share = Proportion::of_games(area(&won, &lost), games[0], games[1], None);
    Ok(Auc { proportion: share, won: won.len(), lost: lost.len(), games: games[0] + games[1] })
}

/// The proportion of pairs in which the first value is greater, ties counting one half.
fn area(won: &[i32], lost: &[i32]) -> f64 {
    let mut lost = lost.to_vec();
    lost.sort_unstable();
    let below =
        |value: i32| lost.partition_point(|&other| other < value) + lost.partition_point(|&other| other <= value);
    let twice: usize = won.iter().map(|&value| below(value)).sum();
    twice as f64 / (2 * won.len() * lost.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area(&[1, 2, 3], &[0, 2]), (1.0 + 1.5 + 2.0) / 6.0);
        assert_eq!(area(&[5], &[5]), 0.5);
        let share = Proportion::of_games(0.8, 50, 50, None);
        assert!(share.low > 0.70 && share.low < 0.73 && share.high > 0.87, "{share:?}");
        assert!(Proportion::of_games(0.8, 50, 50, Some(100)).low < share.low);
    }
}
