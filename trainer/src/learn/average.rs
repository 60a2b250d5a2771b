//! The average of all weights of a training, computed lazily.
//!
//! The result of the averaged perceptron is the mean of w(0), w(1), ..., w(T), one for each training position, and most
//! positions change none or a few hundred of the features. Summing the vectors would cost a walk over all weights for
//! every position. But a change made at time t is missing from exactly t of the vectors, so
//!
//! ```text
//! w(0) + w(1) + ... + w(T) = (T + 1) w(T) - sum over changes of t * change
//! ```
//!
//! and it is enough to keep the last sum, which costs two additions per changed feature. It is kept in `f64`: products
//! of millions of positions with changes of thousandths stay exact enough that the average agrees with the naive one to
//! a billionth.

use crate::learn::update::UpdateEntry;
use dyad_engine::eval::FloatWeights;
use serde::{Deserialize, Serialize};

/// The running average of the weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Average {
    /// T, the number of positions passed.
    pub time: u64,
    /// Sum of each change times the time of the change.
    #[serde(skip, default = "FloatWeights::zeros")]
    pub missing: FloatWeights,
}

impl Average {
    /// Starts at time 0, with the initial weights in the average.
    pub fn new(features: usize) -> Average {
        Average { time: 0, missing: FloatWeights { mg: vec![0.0; features], eg: vec![0.0; features] } }
    }

    /// Advances the time by `positions` positions. With batches, formula (10), the weights are constant while the batch
    /// is searched, so this precedes [`note`](Average::note).
    pub fn pass(&mut self, positions: u64) {
        self.time += positions;
    }

    /// Records a change of the weights at the current time.
    #[inline]
    pub fn note(&mut self, change: &UpdateEntry) {
        let (i, time) = (change.feature as usize, self.time as f64);
        self.missing.mg[i] += time * change.mg;
        self.missing.eg[i] += time * change.eg;
    }

    /// w*, the average of the weights so far, given the current `weights`.
    pub fn of(&self, weights: &FloatWeights) -> FloatWeights {
        let mean = |now: &[f64], missing: &[f64]| {
            let vectors = (self.time + 1) as f64;
            let mean = |(now, missing): (&f64, &f64)| now - missing / vectors;
            now.iter().zip(missing).map(mean).collect()
        };
        FloatWeights { mg: mean(&weights.mg, &self.missing.mg), eg: mean(&weights.eg, &self.missing.eg) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn lazy_is_naive() {
        const FEATURES: usize = 7;
        let mut random = Pcg64::seed_from_u64(1);
        let mut draw = || random.random_range(-100.0..100.0);
        let mut weights =
            FloatWeights { mg: (0..FEATURES).map(|_| draw()).collect(), eg: (0..FEATURES).map(|_| draw()).collect() };
        let mut average = Average::new(FEATURES);
        let mut sum = weights.clone();
        for t in 1..=1000u32 {
            average.pass(1);
            // Two of three positions change nothing.
            for feature in (0..FEATURES as u32).filter(|f| (t + f) % 3 == 0) {
                let change = UpdateEntry { feature, mg: draw(), eg: draw() };
                average.note(&change);
                weights.mg[feature as usize] += change.mg;
                weights.eg[feature as usize] += change.eg;
            }
            for i in 0..FEATURES {
                sum.mg[i] += weights.mg[i];
                sum.eg[i] += weights.eg[i];
            }
        }
        let lazy = average.of(&weights);
        for i in 0..FEATURES {
            assert!((lazy.mg[i] - sum.mg[i] / 1001.0).abs() < 1e-9);
            assert!((lazy.eg[i] - sum.eg[i] / 1001.0).abs() < 1e-9);
        }
    }
}
