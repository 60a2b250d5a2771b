//! How often an evaluation or a network ranks a position of a won game above one of a lost game.
//!
//! Of one position from a game that White won and one from a game that Black won, which is which? An evaluation answers
//! by the greater value. Over all such pairs the fraction of right answers, ties counting one half, is the area under
//! the receiver operating characteristic (Hanley and McNeil 1982), so no pairs need to be drawn. A network is asked
//! about random pairs.

use std::sync::Arc;
use std::time::Instant;

use dyad_engine::board::sign;
use dyad_engine::eval::{Evaluator, Weights};
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_trainer::arena::statistics::Estimate;
use dyad_trainer::base::Z95;
use dyad_trainer::base::parallel::ordered_for_each;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::deepchess::network::{Bits, Network, chance};
use crate::deepchess::training::{Positions, Split};

/// How many pairs of a position of a won game and one of a lost game are ordered correctly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ordered {
    /// In percent.
    pub accuracy: Estimate,
    /// Pairs that were drawn; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Number of test positions.
    pub positions: usize,
    /// Number of their games.
    pub games: usize,
}

/// The percentage of pairs ordered correctly, among `games` won and lost, with `drawn` pairs sampled; `None` for all
/// pairs. The interval is that of Hanley and McNeil; it counts games and not positions, since the positions of a game
/// share its result.
fn percentage(value: f64, games: [usize; 2], drawn: Option<u64>) -> Estimate {
    let [won, lost] = games.map(|games| games.max(1) as f64);
    // At 0 and 1 the formula has no variance: half a pair is taken off.
    let half = 0.5 / (won * lost);
    let p = value.clamp(half, 1.0 - half);
    let (q1, q2) = (p / (2.0 - p), 2.0 * p * p / (1.0 + p));
    let spread = p * (1.0 - p);
    let among = (won - 1.0) * (q1 - p * p) + (lost - 1.0) * (q2 - p * p);
    let variance = (spread + among.max(0.0)) / (won * lost) + drawn.map_or(0.0, |pairs| spread / pairs.max(1) as f64);
    let error = Z95 * variance.sqrt();
    Estimate { value: 100.0 * value, low: 100.0 * (value - error).max(0.0), high: 100.0 * (value + error).min(1.0) }
}

/// Measures an evaluation, endgame knowledge included, on all pairs of test positions.
///
/// # Errors
/// When the file cannot be read, or has no test positions of games that White won or none of games that Black won.
pub fn of_evaluation(weights: &Arc<Weights>, samples: &SampleFile) -> Result<Ordered, Error> {
    let mut evaluator = Evaluator::new(Arc::clone(weights));
    let positions = Positions::load(samples, Split::Game, true, |board| {
        evaluator.reset(board);
        sign(board.side_to_move()) * evaluator.evaluate(board)
    })?;
    let accuracy = percentage(area(&positions.won, &positions.lost), positions.games, None);
    Ok(ordered(&positions, accuracy, None))
}

/// The accuracy on these positions, of `pairs` that were drawn.
fn ordered<T>(positions: &Positions<T>, accuracy: Estimate, pairs: Option<u64>) -> Ordered {
    let Positions { won, lost, games } = positions;
    Ordered { accuracy, pairs, positions: won.len() + lost.len(), games: games.iter().sum() }
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

/// Pairs per batch.
const BATCH: u64 = 256;

/// Measures a network on random pairs of test positions. Also returns the pairs per second, all threads together.
pub fn of_network(
    network: &Network,
    samples: &SampleFile,
    split: Split,
    pairs: u64,
    seed: u64,
    threads: usize,
) -> Result<(Ordered, f64), Error> {
    let positions = Positions::load(samples, split, true, Bits::new)?;
    let batches = (0..pairs.div_ceil(BATCH)).map(|number| (number, BATCH.min(pairs - number * BATCH)));
    let (begun, mut right) = (Instant::now(), 0.0);
    ordered_for_each(
        threads,
        batches,
        || Ok(()),
        |(), (number, size)| Ok::<f64, Error>(answers(network, &positions, size, seed ^ number << 20)),
        |found| {
            right += found;
            Ok(())
        },
    )?;
    let speed = pairs as f64 / begun.elapsed().as_secs_f64().max(1e-9);
    let accuracy = percentage(right / pairs.max(1) as f64, positions.games, Some(pairs));
    Ok((ordered(&positions, accuracy, Some(pairs)), speed))
}

/// Number of pairs ordered correctly among `pairs` random ones.
fn answers(network: &Network, positions: &Positions, pairs: u64, seed: u64) -> f64 {
    let mut random = Pcg64::seed_from_u64(seed);
    let (mut first, mut second, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..pairs {
        let mut draw = |all: &[Bits]| random.random_range(0..all.len());
        let (won, lost) = (&positions.won[draw(&positions.won)], &positions.lost[draw(&positions.lost)]);
        let won_first = random.random_bool(0.5);
        first.push(if won_first { won } else { lost });
        second.push(if won_first { lost } else { won });
        order.push(won_first);
    }
    let trace = network.forward(&first, &second);
    let answer = |(row, &won_first): (usize, &bool)| {
        let answers = trace.answers();
        let chance = chance([answers[(row, 0)], answers[(row, 1)]]);
        if chance == 0.5 { 0.5 } else { f64::from(u8::from((chance > 0.5) == won_first)) }
    };
    order.iter().enumerate().map(answer).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deepchess::network::Sizes;
    use crate::deepchess::training::tests::{samples, settings};
    use crate::deepchess::training::train;
    use dyad_engine::control::Control;
    use dyad_formats::testing::Temporary;
    use dyad_trainer::base::context::Context;

    #[test]
    fn what_was_learned_is_measured() {
        let folder = Temporary::folder();
        let path = samples(&folder, 900);
        let file = SampleFile::open(&path).unwrap();
        let stop = Control::new(false);
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| () };
        let (network, _) = train(&settings(), 7, &file, None, &folder, &mut context).unwrap();
        let measure =
            |network: &Network, split, threads| of_network(network, &file, split, 1000, 3, threads).unwrap().0;
        let found = measure(&network, Split::Game, 1);
        assert_eq!(found, measure(&network, Split::Game, 2));
        let Estimate { value, low, high } = found.accuracy;
        assert!(found.positions > 0 && low < value && value < high);
        assert!(measure(&network, Split::Position, 1).accuracy.value > 55.0);
        let nothing = Network::zeros(&Sizes { encoder: vec![3], comparator: vec![2] });
        assert_eq!(measure(&nothing, Split::Game, 1).accuracy.value, 50.0);
    }

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area(&[1, 2, 3], &[0, 2]), (1.0 + 1.5 + 2.0) / 6.0);
        assert_eq!(area(&[5], &[5]), 0.5);
        let all = percentage(0.8, [50, 50], None);
        assert!(all.low > 70.0 && all.low < 73.0 && all.high > 87.0, "{all:?}");
        assert!(percentage(0.8, [50, 50], Some(100)).low < all.low);
    }
}
