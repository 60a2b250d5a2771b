//! Pairwise ranking accuracy of weights on the moves of positions.
//!
//! Pairwise training, like the ranking SVM, asks that the desired move is above each of its siblings. Here every such
//! pair of held-out positions is tested, by the values of the leaves as in training. Each pair is an example twice, as
//! the difference of its two positions and as the negative of it, so with a fraction `a` of the pairs above, `t` tied
//! and `b` below, and ties counted as no answer: error = b + t / 2, recall = a, precision = a / (a + b).

use std::sync::Arc;

use dyad_engine::eval::Weights;
use dyad_engine::search::Unfinished;
use dyad_formats::error::Error;
use dyad_formats::packed::Sample;
use dyad_formats::samples::SampleFile;
use serde::{Deserialize, Serialize};

use crate::arena::statistics::Estimate;
use crate::base::context::{Context, Progress};
use crate::base::parallel::ordered_for_each;
use crate::learn::leaves::{Leaves, NODE_LIMIT};

/// The ranking accuracy; fractions are 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Test positions.
    pub positions: u64,
    /// Pairs of a desired move and a sibling.
    pub pairs: u64,
    /// Fraction of wrong answers; ties count one half.
    pub error: f64,
    /// Fraction of pairs with the desired move above.
    pub recall: f64,
    /// Fraction of these among all pairs without ties.
    pub precision: f64,
    /// Move-match accuracy: the fraction of the positions whose desired move is best, divided by ties.
    pub accuracy: Estimate,
}

/// Measures weights on the test positions of a file. Reports the positions done.
///
/// # Errors
/// When the file cannot be read, or the measurement was stopped.
pub fn rank(
    weights: &Arc<Weights>,
    samples: &SampleFile,
    depth: u32,
    context: &mut Context<Progress>,
) -> Result<Ranking, Error> {
    let tests = samples.indices(true);
    let mut progress = Progress { done: 0, of: tests.len() as u64 };
    let tests = tests.into_iter().map(|index| samples.read(index as usize));
    let (mut positions, mut counts, mut matches) = (0, [0u64; 3], [0.0; 2]);
    ordered_for_each(
        context.threads,
        tests,
        || Ok(Leaves::new(Arc::clone(weights), depth, NODE_LIMIT, context.stop.flag())),
        |leaves, sample| count(leaves, &sample?),
        |found: Option<[u64; 3]>| {
            if let Some(found) = found {
                positions += 1;
                counts.iter_mut().zip(found).for_each(|(sum, count)| *sum += count);
                let found = if found[2] == 0 { 1.0 / (1 + found[1]) as f64 } else { 0.0 };
                matches = [matches[0] + found, matches[1] + found * found];
            }
            progress.done += 1;
            (context.on_event)(progress);
            if context.stop.stopped() { Err(Error::Stopped) } else { Ok(()) }
        },
    )?;
    let pairs = counts.iter().sum::<u64>();
    let [above, tied, below] = counts.map(|count| count as f64);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    Ok(Ranking {
        positions,
        pairs,
        error: share(below + tied / 2.0, pairs as f64),
        recall: share(above, pairs as f64),
        precision: share(above, above + below),
        accuracy: mean(matches, positions),
    })
}

/// The mean of independent numbers from their sum and the sum of their squares, with its interval of 95 %.
fn mean([sum, squares]: [f64; 2], count: u64) -> Estimate {
    let count = count.max(1) as f64;
    let value = sum / count;
    let error = 1.96 * ((squares / count - value * value).max(0.0) / count).sqrt();
    Estimate { value, low: value - error, high: value + error }
}

/// The counts of [`Leaves::ranking`]; `None` without a desired move, or if the search takes too long.
fn count(leaves: &mut Leaves, sample: &Sample) -> Result<Option<[u64; 3]>, Error> {
    let Some(desired) = sample.desired else { return Ok(None) };
    match leaves.ranking(&sample.board, desired) {
        Ok(counts) => Ok(Some(counts)),
        Err(Unfinished::Stopped) => Err(Error::Stopped),
        Err(Unfinished::OutOfNodes) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board;
    use dyad_engine::control::Control;
    use dyad_formats::packed::Packed;
    use dyad_formats::samples::SampleWriter;
    use dyad_formats::testing::Temporary;

    /// The best move is above all others, the worst below; moves of equal value are ties.
    #[test]
    fn moves_are_counted_by_hand() {
        let folder = Temporary::folder();
        let path = folder.join("in.samples");
        let measure = |desired: &str| {
            let board = Board::from_fen("7k/8/8/3q4/4P3/8/8/K7 w - - 0 1").unwrap();
            let sample = Sample {
                board,
                desired: Some(board.parse_san(desired).unwrap()),
                result: None,
                score: None,
                test: true,
                starts_game: true,
                has_margin: true,
            };
            let mut writer = SampleWriter::create(&path, serde_json::json!({})).unwrap();
            writer.push(&Packed::new(&sample)).unwrap();
            writer.finish().unwrap();
            let mut context = Context { threads: 1, stop: &Control::new(false), on_event: &mut |_| () };
            rank(&Arc::new(Weights::material()), &SampleFile::open(&path).unwrap(), 1, &mut context).unwrap()
        };
        let best = measure("exd5");
        assert_eq!((best.positions, best.pairs), (1, 3));
        assert_eq!((best.error, best.recall, best.precision, best.accuracy.value), (0.0, 1.0, 1.0, 1.0));
        // The capture is better, the other moves are at most equal.
        let other = measure("Kb1");
        assert_eq!(other.accuracy.value, 0.0);
        assert!(other.recall < 1.0 && other.precision < 1.0 && other.error > 0.0, "{other:?}");
    }
}
