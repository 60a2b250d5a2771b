//! Adam over all features at once.
//!
//! A batch of thousands of positions touches nearly every feature in use, so sparse updates gain nothing here, and the
//! plain method (Kingma and Ba 2015, algorithm 1) needs no step counters by feature.

use dyad_engine::eval::layout::{GROUPS, MATERIAL};

use super::data::FeatureRange;
use super::settings::{FitGroup, FitSettings};
use crate::base::optim;

/// Running means of the gradient and of its square, for middlegame and endgame.
type Moments = [[f64; 2]; 2];

/// The optimizer and its moments, by feature.
pub struct Adam {
    groups: Vec<(std::ops::Range<usize>, FitGroup)>,
    /// The targets of L2 that are not zero: those of material.
    anchor: Vec<[f64; 2]>,
    moments: Vec<Moments>,
    steps: i32,
    positions: f64,
}

const _: () = assert!(MATERIAL.start == 0, "the anchor is looked up by feature");

impl Adam {
    /// A new optimizer for a fit to `positions` training positions. Material is regularized toward `start`, all other
    /// weights toward zero.
    pub fn new(settings: &FitSettings, range: FeatureRange, start: &[[f64; 2]], positions: usize) -> Adam {
        let groups = GROUPS.iter().filter(|group| group.range().end <= range.len());
        Adam {
            groups: groups.map(|group| (group.range(), settings.group(group.name))).collect(),
            anchor: start[MATERIAL.range()].to_vec(),
            moments: vec![[[0.0; 2]; 2]; range.len()],
            steps: 0,
            positions: positions as f64,
        }
    }

    /// Applies one update against the gradient, with rates multiplied by `factor`.
    pub fn step(&mut self, weights: &mut [[f64; 2]], gradient: &[[f64; 2]], factor: f64) {
        self.steps += 1;
        for (range, group) in self.groups.iter().filter(|(_, group)| group.learn) {
            let (update, decay) =
                (optim::Adam::new(factor * group.rate, optim::BETAS, self.steps), group.l2 / self.positions);
            for feature in range.clone() {
                for phase in [0, 1] {
                    let weight = &mut weights[feature][phase];
                    let offset = self.anchor.get(feature).map_or(*weight, |anchor| *weight - anchor[phase]);
                    let slope = gradient[feature][phase] + decay * offset;
                    let [mean, square] = &mut self.moments[feature][phase];
                    *weight -= update.step(mean, square, slope);
                }
            }
        }
    }
}
