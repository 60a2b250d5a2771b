//! The order of positions.
//!
//! Each iteration visits all training positions once, in an order shuffled by the seed and the number of the iteration.
//! So a training is resumed from two numbers: the iteration and its number of positions done.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::ops::Range;

/// The order of one iteration's positions.
pub struct Order {
    positions: Vec<u32>,
}

impl Order {
    /// The order of `positions` in iteration `iteration`.
    pub fn shuffled(positions: &[u32], seed: u64, iteration: u32) -> Order {
        let mut random = Pcg64::seed_from_u64(seed ^ u64::from(iteration) << 32);
        let mut positions = positions.to_vec();
        positions.shuffle(&mut random);
        Order { positions }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The positions at `range`, fewer at the end.
    pub fn slice(&self, range: Range<usize>) -> &[u32] {
        &self.positions[range.start.min(self.len())..range.end.min(self.len())]
    }
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
        let order = |seed, iteration| Order::shuffled(&all, seed, iteration).positions;
        let mut sorted = order(7, 1);
        sorted.sort_unstable();
        assert_eq!(sorted, all);
        assert_eq!(order(7, 1), order(7, 1));
        for other in [order(7, 2), order(8, 1), all.clone()] {
            assert_ne!(order(7, 1), other);
        }
    }

    #[test]
    fn slices_end_with_the_data() {
        let order = Order::shuffled(&[1, 2, 3], 1, 1);
        assert_eq!(order.slice(2..4).len(), 1);
        assert_eq!(order.slice(3..5).len(), 0);
        assert_eq!(order.slice(9..12).len(), 0);
    }

    #[test]
    fn samples_are_ascending_and_without_repetition() {
        let sample = sample(100, 30, 5);
        assert_eq!(sample.len(), 30);
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(super::sample(10, 30, 5).len(), 10);
    }
}
