//! Where a training stands between two batches: all that decides how it continues.

use crate::learn::average::Average;
use crate::learn::gradient::Entry;
use crate::learn::optimizer::Optimizer;
use crate::learn::settings::{Averaging, Settings};
use crate::learn::workers::Answer;
use dyad_engine::eval::{FloatWeights, layout};

/// Where a training stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The iteration, from 1; 0 while the weights at the start are measured.
    pub iteration: u32,
    /// How many positions of the iteration are done.
    pub done: u64,
    /// Positions that counted, in all iterations.
    pub positions: u64,
    /// Updates in all iterations.
    pub updates: u64,
    /// The weights as they stand, w in the papers.
    pub weights: FloatWeights,
    /// What gives the averaged weights, w* in the papers.
    pub average: Average,
    /// The optimizer with its memory.
    pub optimizer: Optimizer,
    /// Since the last report.
    pub report: Tally,
    /// Since the iteration began.
    pub iteration_tally: Tally,
    /// Move-match accuracy after the last iteration.
    pub accuracy: f64,
    /// The best move-match accuracy, and after which iteration.
    pub best: (u32, f64),
    /// Whether the move-match accuracy fell in the last iteration.
    pub fell: bool,
    /// Seconds spent.
    pub seconds: f64,
    /// Length of the log.
    pub log_bytes: u64,
}

/// What is counted between two lines of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Positions that counted.
    pub positions: u64,
    /// Positions skipped, for whatever reason.
    pub skipped: u64,
    /// Positions skipped because they need too many nodes.
    pub over_limit: u64,
    /// Positions with an empty S.
    pub empty: u64,
    /// Siblings in S.
    pub above: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Sum of the losses.
    pub loss: f64,
    /// Seconds spent.
    pub seconds: f64,
}

impl State {
    /// The state before the weights at the start are measured.
    pub fn new(settings: &Settings, weights: FloatWeights) -> State {
        State {
            iteration: 0,
            done: 0,
            positions: 0,
            updates: 0,
            weights,
            average: Average::new(layout::LEN),
            optimizer: Optimizer::new(&settings.optimizer, layout::LEN),
            report: Tally::default(),
            iteration_tally: Tally::default(),
            accuracy: f64::NAN,
            best: (0, f64::NAN),
            fell: false,
            seconds: 0.0,
            log_bytes: 0,
        }
    }

    /// Whether the positions since the last report reach over a multiple of `every`: also after a stop in the midst of
    /// a report.
    pub(super) fn report_is_due(&self, every: u64) -> bool {
        let before = self.done - (self.report.positions + self.report.skipped);
        self.done / every > before / every
    }

    /// Makes a change now.
    pub(super) fn change(&mut self, changes: &[Entry]) {
        for change in changes {
            self.average.note(change);
            self.weights.mg[change.feature as usize] += change.mg;
            self.weights.eg[change.feature as usize] += change.eg;
        }
    }

    /// w*.
    pub(super) fn averaged(&self, averaging: Averaging) -> FloatWeights {
        match averaging {
            Averaging::Off => self.weights.clone(),
            Averaging::Iteration | Averaging::All => self.average.of(&self.weights),
        }
    }
}

impl Tally {
    pub(super) fn count(&mut self, answer: &Answer) {
        self.nodes += answer.nodes;
        let Some(lesson) = &answer.lesson else {
            self.skipped += 1;
            self.over_limit += u64::from(answer.over_limit);
            return;
        };
        self.positions += 1;
        self.empty += u64::from(lesson.above == 0);
        self.above += u64::from(lesson.above);
        self.loss += lesson.loss;
    }

    pub(super) fn positions_per_second(&self) -> f64 {
        let positions = self.positions + self.skipped;
        if positions == 0 { 0.0 } else { positions as f64 / self.seconds }
    }
}
