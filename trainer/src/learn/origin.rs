//! The positions of a training, and how they are identified when it is resumed: settings name a file, and files can change.

use crate::data::schedule::sample;
use crate::learn::examples::Examples;
use crate::learn::settings::TrainingSettings;
use dyad_formats::error::Error;
use serde::{Deserialize, Serialize};

/// Test positions for the move-match accuracy of a report; the end of an iteration uses all.
const REPORT_POSITIONS: usize = 500;

/// Identity of the samples of a training.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataIdentity {
    /// Checksum of the sample file, as hexadecimal digits.
    pub checksum: String,
    /// Training positions in use.
    pub training: u64,
    /// Test positions in use.
    pub test: u64,
}

/// The positions in use, by index.
pub(super) struct Selection {
    pub training: Vec<u32>,
    pub test: Vec<u32>,
    pub report: Vec<u32>,
    pub identity: DataIdentity,
}

impl Selection {
    /// Selects the positions; the selection does not depend on the seed of the shuffles.
    ///
    /// # Errors
    /// When there are no training positions.
    pub fn new(settings: &TrainingSettings, examples: &dyn Examples) -> Result<Selection, Error> {
        let test = examples.indices(true);
        let training = take(examples.indices(false), settings.positions.unwrap_or(usize::MAX), 1);
        if training.is_empty() {
            return Err(Error::Settings("there are no training positions".into()));
        }
        let identity =
            DataIdentity { checksum: examples.identity(), training: training.len() as u64, test: test.len() as u64 };
        let report = take(test.clone(), REPORT_POSITIONS, 3);
        Ok(Selection { training, test, report, identity })
    }
}

fn take(from: Vec<u32>, n: usize, seed: u64) -> Vec<u32> {
    if n >= from.len() {
        return from;
    }
    sample(from.len(), n, seed).into_iter().map(|i| from[i as usize]).collect()
}
