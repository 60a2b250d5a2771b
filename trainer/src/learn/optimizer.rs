//! Optimizers: from a gradient to a change of the weights.
//!
//! The papers add the gradient itself: plain gradient descent with rate 1. Adam (Kingma and Ba 2015) divides by the size
//! of the gradients that a weight has seen, so that rare 2-tuples learn as fast as material. Both touch only the features
//! of the gradient. For Adam this means that each feature has a step counter, which advances only when the feature has a
//! gradient: the feature goes through exactly the dense method on the updates that concern it, and the bias correction
//! counts those.
//!
//! L2 would touch every weight at every update. It is weak enough to be collected: once in [`DECAY_EVERY`] updates all
//! weights of a group decay by the amount of that many updates.

use crate::base::optim::{Adam, BETAS};
use crate::learn::settings::{OptimizerName, TrainingSettings};
use crate::learn::update::{Update, UpdateEntry};
use dyad_engine::eval::FloatWeights;
use dyad_engine::eval::layout::{GROUPS, LEN};

/// Updates between two decays by L2.
pub const DECAY_EVERY: u64 = 100;

/// Turns gradients into changes. The plain optimizer has no moments; those of Adam are by feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optimizer {
    rate: f64,
    /// Running means of the gradient, middlegame and endgame.
    pub(super) mean: Vec<[f64; 2]>,
    /// Running means of its square.
    pub(super) square: Vec<[f64; 2]>,
    /// Number of updates of each feature.
    pub(super) clock: Vec<f64>,
}

impl Optimizer {
    /// A new optimizer.
    pub fn new(settings: &TrainingSettings) -> Optimizer {
        let length = match settings.optimizer {
            OptimizerName::Plain => 0,
            OptimizerName::Adam => LEN,
        };
        Optimizer {
            rate: settings.rate,
            mean: vec![[0.0; 2]; length],
            square: vec![[0.0; 2]; length],
            clock: vec![0.0; length],
        }
    }

    /// Turns a negative gradient into the change of the weights, in place.
    pub fn step(&mut self, update: &mut Update) {
        for UpdateEntry { feature, mg, eg } in update {
            let i = *feature as usize;
            let Some(clock) = self.clock.get_mut(i) else {
                *mg *= self.rate;
                *eg *= self.rate;
                continue;
            };
            *clock += 1.0;
            let adam = Adam::new(self.rate, BETAS, *clock as i32);
            for (phase, number) in [mg, eg].into_iter().enumerate() {
                *number = adam.step(&mut self.mean[i][phase], &mut self.square[i][phase], *number);
            }
        }
    }

    /// The decay by L2 for [`DECAY_EVERY`] updates; empty if no group has L2.
    pub fn decay(&self, settings: &TrainingSettings, weights: &FloatWeights) -> Update {
        let mut changes = Update::new();
        for group in GROUPS {
            let l2 = settings.l2_of(group.name);
            if l2 == 0.0 {
                continue;
            }
            let lost = (1.0 - self.rate * l2).powi(DECAY_EVERY as i32) - 1.0;
            changes.extend(group.range().filter_map(|i| {
                let (mg, eg) = (weights.mg[i] * lost, weights.eg[i] * lost);
                (mg != 0.0 || eg != 0.0).then_some(UpdateEntry { feature: i as u32, mg, eg })
            }));
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::group_value::GroupValue;
    use crate::base::optim::EPSILON;
    use dyad_engine::eval::layout;

    fn entry(feature: u32, mg: f64, eg: f64) -> UpdateEntry {
        UpdateEntry { feature, mg, eg }
    }

    fn optimizer(optimizer: OptimizerName, rate: f64) -> Optimizer {
        Optimizer::new(&TrainingSettings { optimizer, rate, ..TrainingSettings::default() })
    }

    #[test]
    fn plain_updates_are_the_gradient_times_the_rate() {
        let mut update = vec![entry(3, 2.0, -1.0)];
        optimizer(OptimizerName::Plain, 0.5).step(&mut update);
        assert_eq!(update, [entry(3, 1.0, -0.5)]);
    }

    /// A feature that is absent from some updates has the same moments as one that is in all of its own.
    #[test]
    fn adam_counts_updates_by_feature() {
        let mut optimizer = optimizer(OptimizerName::Adam, 0.1);
        let gradients = [1.0, -0.5, 0.25, 2.0];
        let (mut mean, mut square) = (0.0, 0.0);
        for (n, g) in gradients.into_iter().enumerate() {
            optimizer.step(&mut vec![entry(0, 1.0, 1.0)]);
            let mut update = vec![entry(2, 0.0, g)];
            optimizer.step(&mut update);
            mean = 0.9 * mean + 0.1 * g;
            square = 0.999 * square + 0.001 * g * g;
            let t = n as i32 + 1;
            let (m, v): (f64, f64) = (mean / (1.0 - 0.9f64.powi(t)), square / (1.0 - 0.999f64.powi(t)));
            assert!((update[0].eg - 0.1 * m / (v.sqrt() + EPSILON)).abs() < 1e-12);
            assert_eq!(update[0].mg, 0.0);
        }
    }

    #[test]
    fn l2_decays_the_groups_that_have_it() {
        let l2 = vec![GroupValue::new("piece_square", 1e-3)];
        let settings = TrainingSettings { l2, ..TrainingSettings::default() };
        let weights = FloatWeights { mg: vec![1.0; LEN], eg: vec![-2.0; LEN] };
        let changes = optimizer(OptimizerName::Plain, 1.0).decay(&settings, &weights);
        assert_eq!(changes.len(), layout::PIECE_SQUARE.len);
        let kept = 0.999f64.powi(100);
        for change in changes {
            assert!(layout::PIECE_SQUARE.range().contains(&(change.feature as usize)));
            assert!((change.mg - (kept - 1.0)).abs() < 1e-12);
            assert!((change.eg + 2.0 * (kept - 1.0)).abs() < 1e-12);
        }
    }
}
