//! The log of a training: one JSON object per line.
//!
//! Learning curves are drawn from [`LogLine`]s alone. All numbers except the times depend on settings and data only.
//! [`json_lines`](crate::base::json_lines) writes and reads them.

use crate::base::is_default;
use serde::{Deserialize, Serialize};

/// One line of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// The kind of the line.
    pub kind: LineKind,
    /// The iteration, from 1; 0 in the line about the initial weights.
    pub iteration: u32,
    /// Positions of the iteration that are done, out of [`LogLine::of`].
    pub done: u64,
    /// Positions in an iteration.
    pub of: u64,
    /// Positions of all iterations together, without those skipped.
    pub positions: u64,
    /// Updates of all iterations together.
    pub updates: u64,
    /// Positions skipped since the last line of this kind: one legal move, in check, mates and draws, too many nodes.
    pub skipped: u64,
    /// Of these, the positions that need more nodes than the settings allow.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over_limit: u64,
    /// Mean size of S, the siblings valued above the desired move, since the last line of this kind.
    pub mean_s: f64,
    /// Fraction of the positions with an empty S, over the same span.
    pub empty_s: f64,
    /// Mean loss, over the same span.
    pub loss: f64,
    /// Nodes of all positions, over the same span, for each position that was not skipped. A search that the node limit
    /// ends counts no nodes.
    pub nodes: f64,
    /// Move-match accuracy of the averaged weights on test positions, 0 to 1; `None` without test positions.
    pub accuracy: Option<f64>,
    /// Number of test positions measured.
    pub accuracy_positions: u64,
    /// Middlegame and endgame weight of each piece type from pawn to king, averaged, in the integers of the search
    /// (section 3.3).
    pub material: Vec<[i32; 2]>,
    /// Training positions per second since the last line of this kind.
    pub positions_per_second: f64,
    /// Seconds of training, without the time between a stop and the resumption.
    pub seconds: f64,
    /// The weights file of the iteration, relative to the run folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether these are the best weights so far.
    #[serde(default)]
    pub best: bool,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// The end of a span of `report-every` positions.
    #[default]
    Report,
    /// The end of an iteration; its move-match accuracy is that on all test positions.
    Iteration,
}
