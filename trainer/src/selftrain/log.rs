//! The log of a self-training: one JSON object per line.

use serde::{Deserialize, Serialize};

use super::event::{Distance, Stage};
use super::strength::Strength;
use crate::arena::matches::MatchRecord;

/// A line of `log.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SelfTrainLogLine {
    /// A stage is done.
    Stage {
        /// The stage.
        stage: Stage,
        /// The generation.
        #[serde(rename = "of")]
        generation: u32,
        /// Seconds that the stage took since it began or was resumed.
        #[serde(rename = "took")]
        seconds: f64,
    },
    /// The match of a generation against the best weights ended.
    Generation {
        /// The generation.
        generation: u32,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
        /// Move-match accuracy on test positions, 0 to 1.
        #[serde(rename = "agreement", default)]
        accuracy: Option<f64>,
        /// Whether the new weights were adopted.
        #[serde(default)]
        adopted: bool,
        /// The match.
        #[serde(rename = "match")]
        record: MatchRecord,
    },
    /// The training of a generation changed no weight.
    Unchanged {
        /// The generation.
        #[serde(rename = "unchanged")]
        generation: u32,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
    },
    /// The distance of the best weights to the reference was measured.
    Distance {
        /// The distance.
        distance: Distance,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
    },
    /// The strength of the best weights on the scale of Lichess was measured.
    Strength {
        /// The strength.
        strength: Strength,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
    },
    /// A long match of the best weights against those that the engine plays with ended.
    Proof {
        /// The generation.
        #[serde(rename = "proof")]
        generation: u32,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
        /// Whether the engine plays with the generation now.
        promoted: bool,
        /// The match.
        #[serde(rename = "match")]
        record: MatchRecord,
    },
}
