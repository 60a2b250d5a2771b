//! Adam over all features at once.
//!
//! A batch of thousands of positions touches nearly every feature that will ever be touched, so nothing is
//! gained by sparse steps here, and the plain method (Kingma and Ba 2015, algorithm 1) needs no clocks.

use dyad_engine::eval::layout::{GROUPS, MATERIAL};

use super::data::Reach;
use super::settings::{GroupSettings, Hold, Settings};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Running means of the gradient and of its square, by feature and stage.
pub struct Adam {
    groups: Vec<(std::ops::Range<usize>, GroupSettings)>,
    /// What L2 holds weights to, as far as that is not zero.
    anchor: Vec<[f64; 2]>,
    moments: Vec<[[f64; 2]; 2]>,
    steps: i32,
    positions: f64,
}

const _: () = assert!(MATERIAL.start == 0, "the anchor is looked up by feature");

impl Adam {
    /// Has seen nothing yet of so many training positions. What pieces are worth is held to `start`, all
    /// other weights to what [`Settings::hold`] says.
    pub fn new(settings: &Settings, reach: Reach, start: &[[f64; 2]], positions: usize) -> Adam {
        let groups = GROUPS.iter().filter(|group| group.range().end <= reach.len());
        Adam {
            groups: groups.map(|group| (group.range(), settings.group(group.name))).collect(),
            anchor: match settings.hold {
                Hold::Zero => start[MATERIAL.range()].to_vec(),
                Hold::Start => start.to_vec(),
            },
            moments: vec![[[0.0; 2]; 2]; reach.len()],
            steps: 0,
            positions: positions as f64,
        }
    }

    /// Goes one step against the gradient, with rates multiplied by `factor`.
    pub fn step(&mut self, weights: &mut [[f64; 2]], gradient: &[[f64; 2]], factor: f64) {
        self.steps += 1;
        let corrections = [1.0 - BETA1.powi(self.steps), 1.0 - BETA2.powi(self.steps)];
        for (range, group) in self.groups.iter().filter(|(_, group)| group.learn) {
            let (rate, decay) = (factor * group.rate, group.l2 / self.positions);
            for feature in range.clone() {
                for stage in [0, 1] {
                    let weight = &mut weights[feature][stage];
                    let held = self.anchor.get(feature).map_or(*weight, |anchor| *weight - anchor[stage]);
                    let slope = gradient[feature][stage] + decay * held;
                    let [mean, square] = &mut self.moments[feature][stage];
                    *mean = BETA1 * *mean + (1.0 - BETA1) * slope;
                    *square = BETA2 * *square + (1.0 - BETA2) * slope * slope;
                    *weight -= rate * (*mean / corrections[0]) / ((*square / corrections[1]).sqrt() + EPSILON);
                }
            }
        }
    }
}
