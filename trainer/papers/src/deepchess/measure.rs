//! How often a network ranks the position of a won game above that of a lost one.

use std::time::Instant;

use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_trainer::base::parallel::ordered_for_each;
use dyad_trainer::fit::auc::Proportion;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::deepchess::network::{Bits, Network, chance};
use crate::deepchess::training::{Positions, Split};

/// The measured pair accuracy.
#[derive(Clone, Copy, Debug)]
pub struct PairAccuracy {
    /// The proportion of pairs ordered correctly.
    pub accuracy: Proportion,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of test positions.
    pub positions: usize,
    /// Number of games.
    pub games: usize,
    /// Pairs per second, all threads together.
    pub pairs_per_second: f64,
}

/// Pairs per batch.
const BATCH: u64 = 256;

/// Measures the network on random pairs of test positions.
///
/// # Errors
/// When the samples cannot be read, or have no such positions.
pub fn pair_accuracy(
    network: &Network,
    samples: &SampleFile,
    split: Split,
    pairs: u64,
    seed: u64,
    threads: usize,
) -> Result<PairAccuracy, Error> {
    let positions = Positions::load(samples, split, true)?;
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
    let pairs_per_second = pairs as f64 / begun.elapsed().as_secs_f64().max(1e-9);
    let [won, lost] = positions.games;
    let accuracy = Proportion::of_games(right / pairs.max(1) as f64, won, lost, Some(pairs));
    let (positions, games) = (positions.won.len() + positions.lost.len(), won + lost);
    Ok(PairAccuracy { accuracy, pairs, positions, games, pairs_per_second })
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
        let measure = |network: &Network, threads| {
            let found = pair_accuracy(network, &file, Split::Game, 1000, 3, threads).unwrap();
            (found.pairs, found.positions, found.accuracy)
        };
        let found = measure(&network, 1);
        assert_eq!(found, measure(&network, 2));
        assert!(found.1 > 0 && found.2.low < found.2.value && found.2.value < found.2.high);
        let learned = pair_accuracy(&network, &file, Split::Position, 1000, 3, 1).unwrap();
        assert!(learned.accuracy.value > 0.55, "{learned:?}");
        let nothing = Network::zeros(&Sizes { encoder: vec![3], comparator: vec![2] });
        assert_eq!(measure(&nothing, 1).2.value, 0.5);
    }
}
