//! Optimizers: from a gradient to a change of the weights.
//!
//! The papers add the gradient itself: plain gradient descent with rate 1. AdaGrad (Duchi, Hazan and Singer 2011) and
//! Adam (Kingma and Ba 2015) divide by the size of the gradients that a weight has seen, so that rare 2-tuples learn as
//! fast as material. All three touch only the features of the gradient. For Adam this means that each feature has a
//! step counter, which advances only when the feature has a gradient: the feature goes through exactly the dense method
//! on the updates that concern it, and the bias correction counts those.
//!
//! L2 would touch every weight at every update. It is weak enough to be collected: once in [`DECAY_EVERY`] updates all
//! weights of a group decay by the amount of that many updates.

use crate::base::optim::{Adam, EPSILON};
use crate::learn::settings::{L2Target, OptimizerSettings, TrainingSettings};
use crate::learn::update::{Update, UpdateEntry};
use dyad_engine::eval::{FloatWeights, layout};

/// Updates between two decays by L2.
pub const DECAY_EVERY: u64 = 100;

/// Turns gradients into changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    settings: OptimizerSettings,
    /// Moments of the gradients.
    pub state: OptimizerState,
}

/// The moments of each feature: empty, or as long as the layout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizerState {
    /// Adam: running means of the gradient, middlegame and endgame.
    pub mean: Vec<[f64; 2]>,
    /// AdaGrad: sums of squares. Adam: running means of squares.
    pub square: Vec<[f64; 2]>,
    /// Adam: number of updates of each feature.
    pub clock: Vec<u32>,
}

impl Optimizer {
    /// A new optimizer for `features` features.
    pub fn new(settings: &OptimizerSettings, features: usize) -> Optimizer {
        let (adagrad, adam) = match settings {
            OptimizerSettings::Plain { .. } => (false, false),
            OptimizerSettings::AdaGrad { .. } => (true, false),
            OptimizerSettings::Adam { .. } => (false, true),
        };
        let length = |needed| if needed { features } else { 0 };
        Optimizer {
            settings: settings.clone(),
            state: OptimizerState {
                mean: vec![[0.0; 2]; length(adam)],
                square: vec![[0.0; 2]; length(adagrad || adam)],
                clock: vec![0; length(adam)],
            },
        }
    }

    /// An optimizer with a saved state.
    pub fn restore(settings: &OptimizerSettings, state: OptimizerState) -> Optimizer {
        Optimizer { settings: settings.clone(), state }
    }

    /// Turns a negative gradient into the change of the weights, in place.
    pub fn step(&mut self, update: &mut Update) {
        let state = &mut self.state;
        match self.settings {
            OptimizerSettings::Plain { rate } => {
                for entry in update {
                    entry.mg *= rate;
                    entry.eg *= rate;
                }
            }
            OptimizerSettings::AdaGrad { rate } => by_phase(update, |i, phase, g| {
                let square = &mut state.square[i][phase];
                *square += g * g;
                rate * g / (square.sqrt() + EPSILON)
            }),
            OptimizerSettings::Adam { rate, beta1, beta2 } => {
                for entry in update.iter() {
                    state.clock[entry.feature as usize] += 1;
                }
                by_phase(update, |i, phase, g| {
                    let adam = Adam::new(rate, [beta1, beta2], state.clock[i] as i32);
                    adam.step(&mut state.mean[i][phase], &mut state.square[i][phase], g)
                });
            }
        }
    }

    fn rate(&self) -> f64 {
        match self.settings {
            OptimizerSettings::Plain { rate }
            | OptimizerSettings::AdaGrad { rate }
            | OptimizerSettings::Adam { rate, .. } => rate,
        }
    }

    /// The decay by L2 for [`DECAY_EVERY`] updates, at `rate_factor` times the rate; empty if no group has L2. Weights
    /// decay toward zero or toward `start`, by the settings.
    pub fn decay(
        &self,
        settings: &TrainingSettings,
        weights: &FloatWeights,
        start: &FloatWeights,
        rate_factor: f64,
    ) -> Update {
        let distance = |weight: f64, start: f64| match settings.l2_target {
            L2Target::Zero => weight,
            L2Target::Start => weight - start,
        };
        let mut changes = Update::new();
        for group in &layout::GROUPS {
            let group_settings = settings.group(group.name);
            if group_settings.l2 == 0.0 || !group_settings.learn {
                continue;
            }
            let kept = (1.0 - rate_factor * self.rate() * group_settings.l2).powi(DECAY_EVERY as i32);
            changes.extend(group.range().filter_map(|i| {
                let mg = distance(weights.mg[i], start.mg[i]) * (kept - 1.0);
                let eg = distance(weights.eg[i], start.eg[i]) * (kept - 1.0);
                let feature = i as u32;
                (mg != 0.0 || eg != 0.0).then_some(UpdateEntry { feature, mg, eg })
            }));
        }
        changes
    }
}

/// Replaces each number of an update by `change(feature, phase, number)`.
fn by_phase(update: &mut Update, mut change: impl FnMut(usize, usize, f64) -> f64) {
    for entry in update {
        let i = entry.feature as usize;
        entry.mg = change(i, 0, entry.mg);
        entry.eg = change(i, 1, entry.eg);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::settings::GroupSettings;

    fn entry(feature: u32, mg: f64, eg: f64) -> UpdateEntry {
        UpdateEntry { feature, mg, eg }
    }

    #[test]
    fn plain_updates_are_the_gradient_times_the_rate() {
        let mut optimizer = Optimizer::new(&OptimizerSettings::Plain { rate: 0.5 }, 4);
        let mut update = vec![entry(3, 2.0, -1.0)];
        optimizer.step(&mut update);
        assert_eq!(update, [entry(3, 1.0, -0.5)]);
    }

    #[test]
    fn adagrad_by_hand() {
        let mut optimizer = Optimizer::new(&OptimizerSettings::AdaGrad { rate: 1.0 }, 4);
        let mut step = |mg| {
            let mut update = vec![entry(1, mg, 0.0)];
            optimizer.step(&mut update);
            assert_eq!(update[0].eg, 0.0);
            update[0].mg
        };
        assert!((step(3.0) - 1.0).abs() < 1e-7);
        assert!((step(4.0) - 0.8).abs() < 1e-7);
    }

    /// A feature that is absent from some updates has the same moments as one that is in all of its own.
    #[test]
    fn adam_counts_updates_by_feature() {
        let settings = OptimizerSettings::Adam { rate: 0.1, beta1: 0.9, beta2: 0.999 };
        let mut optimizer = Optimizer::new(&settings, 4);
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
        let mut settings = TrainingSettings::default();
        let l2 = GroupSettings { l2: 1e-3, ..GroupSettings::default() };
        settings.groups.insert("piece_square".into(), l2);
        let weights = FloatWeights { mg: vec![1.0; layout::LEN], eg: vec![-2.0; layout::LEN] };
        let optimizer = Optimizer::new(&OptimizerSettings::Plain { rate: 1.0 }, layout::LEN);
        let start = FloatWeights { mg: vec![0.5; layout::LEN], eg: vec![-2.0; layout::LEN] };
        let changes = optimizer.decay(&settings, &weights, &start, 1.0);
        assert_eq!(changes.len(), layout::PIECE_SQUARE.len);
        let kept = 0.999f64.powi(100);
        for change in changes {
            assert!(layout::PIECE_SQUARE.range().contains(&(change.feature as usize)));
            assert!((change.mg - (kept - 1.0)).abs() < 1e-12);
            assert!((change.eg + 2.0 * (kept - 1.0)).abs() < 1e-12);
        }
        // Toward the initial weights: weights that equal them do not change.
        settings.l2_target = L2Target::Start;
        for change in optimizer.decay(&settings, &weights, &start, 1.0) {
            assert!((change.mg - 0.5 * (kept - 1.0)).abs() < 1e-12);
            assert_eq!(change.eg, 0.0);
        }
    }
}
