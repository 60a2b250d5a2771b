//! The state of a training between two batches: everything that decides how it continues.

use crate::learn::average::Average;
use crate::learn::optimizer::Optimizer;
use crate::learn::settings::TrainingSettings;
use crate::learn::update::UpdateEntry;
use crate::learn::workers::PositionResult;
use dyad_engine::eval::{FloatWeights, layout};
use serde::{Deserialize, Serialize};

/// The state of a training. Its arrays of weights and moments are not part of its JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingState {
    /// The iteration, from 1; 0 while the initial weights are measured.
    pub iteration: u32,
    /// Positions of the iteration that are done.
    pub done: u64,
    /// Positions that were not skipped, in all iterations.
    pub positions: u64,
    /// Updates in all iterations.
    pub updates: u64,
    /// The current weights, w in the papers.
    #[serde(skip, default = "FloatWeights::zeros")]
    pub weights: FloatWeights,
    /// Accumulator of the averaged weights, w* in the papers.
    pub average: Average,
    /// The optimizer with its moments.
    #[serde(skip)]
    pub optimizer: Optimizer,
    /// Counters since the last report.
    pub report: Counters,
    /// Counters since the iteration began.
    pub iteration_counters: Counters,
    /// Move-match accuracy after the last iteration, if it was measured.
    pub accuracy: Option<f64>,
    /// The iteration with the best move-match accuracy, and that accuracy.
    pub best: (u32, Option<f64>),
    /// Whether the move-match accuracy fell in the last iteration.
    pub fell: bool,
    /// Seconds of training.
    pub seconds: f64,
    /// Length of the log.
    pub log_bytes: u64,
}

/// Counters between two lines of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Positions that were not skipped.
    pub positions: u64,
    /// Positions skipped, for any reason.
    pub skipped: u64,
    /// Positions skipped because they need too many nodes.
    pub over_limit: u64,
    /// Positions with an empty S.
    pub empty: u64,
    /// Siblings in S.
    pub above: u64,
    /// Nodes of the searches that ended, those of skipped positions included.
    pub nodes: u64,
    /// Sum of the losses.
    pub loss: f64,
    /// Seconds of training.
    pub seconds: f64,
}

impl TrainingState {
    /// The state before the initial weights are measured.
    pub fn new(settings: &TrainingSettings, weights: FloatWeights) -> TrainingState {
        TrainingState {
            weights,
            average: Average::new(layout::LEN),
            optimizer: Optimizer::new(settings),
            ..TrainingState::default()
        }
    }

    /// Whether the positions since the last report cross a multiple of `every`: true also after a stop in the middle of
    /// a report.
    pub(super) fn report_is_due(&self, every: u64) -> bool {
        let before = self.done - (self.report.positions + self.report.skipped);
        self.done / every > before / every
    }

    /// Applies a sparse change to the weights.
    pub(super) fn change(&mut self, changes: &[UpdateEntry]) {
        for change in changes {
            self.average.note(change);
            self.weights.mg[change.feature as usize] += change.mg;
            self.weights.eg[change.feature as usize] += change.eg;
        }
    }

    /// All numbers by feature, in a fixed order.
    pub(super) fn arrays(&mut self) -> [&mut [f64]; 7] {
        let TrainingState { weights, average, optimizer, .. } = self;
        let [mean, square] = [&mut optimizer.mean, &mut optimizer.square].map(|moments| moments.as_flattened_mut());
        let missing = &mut average.missing;
        [&mut weights.mg, &mut weights.eg, &mut missing.mg, &mut missing.eg, mean, square, &mut optimizer.clock]
    }
}

impl Counters {
    pub(super) fn count(&mut self, result: &PositionResult) {
        self.nodes += result.nodes;
        let Some(contribution) = &result.contribution else {
            self.skipped += 1;
            self.over_limit += u64::from(result.over_limit);
            return;
        };
        self.positions += 1;
        self.empty += u64::from(contribution.above == 0);
        self.above += u64::from(contribution.above);
        self.loss += contribution.loss;
    }

    pub(super) fn positions_per_second(&self) -> f64 {
        let positions = self.positions + self.skipped;
        if positions == 0 { 0.0 } else { positions as f64 / self.seconds }
    }
}
