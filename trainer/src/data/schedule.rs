//! The order of positions.
//!
//! Each iteration visits all training positions once, in an order shuffled by the seed and the number of the iteration.
//! So a training is resumed from two numbers: the iteration and its number of positions done.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// The order of `positions` in iteration `iteration`.
pub fn shuffled(positions: &[u32], seed: u64, iteration: u32) -> Vec<u32> {
    let mut random = Pcg64::seed_from_u64(seed ^ u64::from(iteration) << 32);
    let mut positions = positions.to_vec();
    positions.shuffle(&mut random);
    positions
}

/// Takes `n` of the numbers below `total`, by seed, in ascending order.
pub fn sample(total: usize, n: usize, seed: u64) -> Vec<u32> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut numbers = rand::seq::index::sample(&mut random, total, n.min(total)).into_vec();
    numbers.sort_unstable();
    numbers.into_iter().map(|i| i as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_permutation_known_by_seed_and_iteration() {
        let all: Vec<u32> = (0..1000).collect();
        let order = |seed, iteration| shuffled(&all, seed, iteration);
        let mut sorted = order(7, 1);
        sorted.sort_unstable();
        assert_eq!(sorted, all);
        assert_eq!(order(7, 1), order(7, 1));
        for other in [order(7, 2), order(8, 1), all.clone()] {
            assert_ne!(order(7, 1), other);
        }
    }

    #[test]
    fn samples_are_ascending_and_without_repetition() {
        let sample = sample(100, 30, 5);
        assert_eq!(sample.len(), 30);
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(super::sample(10, 30, 5).len(), 10);
    }
}
