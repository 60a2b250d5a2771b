//! The log of a training: one JSON object a line.
//!
//! Whoever draws learning curves reads [`LogLine`]s and nothing else. All numbers but the times depend
//! on settings and data alone. [`json_lines`](crate::base::json_lines) writes and reads them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// What the line ends.
    pub kind: LineKind,
    /// The iteration, from 1; 0 in the one line about the weights at the start.
    pub iteration: u32,
    /// Positions of the iteration that are done, of [`LogLine::of`].
    pub done: u64,
    /// Positions in an iteration.
    pub of: u64,
    /// Positions of all iterations together that counted: those done, less those skipped.
    pub positions: u64,
    /// Updates of all iterations together.
    pub updates: u64,
    /// Skipped since the last line of this kind: one legal move, in check, mates and draws, too many nodes.
    pub skipped: u64,
    /// Of these, the positions that need more nodes than the settings allow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub over_limit: u64,
    /// Mean size of S, the siblings valued above the desired move, since the last line of this kind.
    pub mean_s: f64,
    /// Share of the positions with an empty S, ditto.
    pub empty_s: f64,
    /// Mean loss, ditto.
    pub loss: f64,
    /// Mean nodes searched for a position, ditto.
    pub nodes: f64,
    /// Move-match accuracy on test positions, 0 to 1, of the averaged weights; none without test positions.
    #[serde(rename = "agreement")]
    pub accuracy: Option<f64>,
    /// On how many test positions.
    #[serde(rename = "agreement_positions")]
    pub accuracy_positions: u64,
    /// Euclidean norm of the weights as they stand, middlegame and endgame, by group.
    pub norms: BTreeMap<String, [f64; 2]>,
    /// Middlegame and endgame weight of each piece type from pawn to king, averaged, in the search's
    /// integers (section 3.3).
    pub material: Vec<[i32; 2]>,
    /// Training positions per second since the last line of this kind.
    pub positions_per_second: f64,
    /// Seconds since the training began, without those between a stop and its resumption.
    pub seconds: f64,
    /// The weights file of the iteration, relative to the run folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether these are the best weights so far.
    #[serde(default)]
    pub best: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// A stretch of positions.
    #[default]
    Report,
    /// An iteration; its move-match accuracy is that on all test positions.
    Iteration,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs that users have are drawn by later versions, and scripts read them.
    #[test]
    fn the_names_of_the_fields_stay() {
        let line = LogLine { accuracy: Some(0.25), accuracy_positions: 7, ..LogLine::default() };
        let value = serde_json::to_value(&line).unwrap();
        assert_eq!((&value["agreement"], &value["agreement_positions"]), (&0.25.into(), &7.into()));
        assert_eq!(serde_json::from_value::<LogLine>(value).unwrap(), line);
    }
}
