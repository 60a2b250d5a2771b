//! What a training starts with: initial weights and positions, and how both are identified when it is resumed.
//!
//! Settings name files, and files can change. So a run keeps the identity of its samples and of its initial weights,
//! and is resumed only with the same.

use crate::data::schedule::sample;
use crate::learn::examples::Examples;
use crate::learn::folder::DATA;
use crate::learn::settings::TrainingSettings;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files;
use serde::{Deserialize, Serialize};
use std::path::Path;

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

/// Identity of the files that the settings of a run only name.
#[derive(Serialize, Deserialize)]
pub(super) struct Origin {
    #[serde(flatten)]
    pub data: DataIdentity,
    /// Identity of the initial weights.
    start: String,
}

impl Origin {
    pub fn of(selection: &Selection, start: &Weights) -> Origin {
        Origin { data: selection.identity.clone(), start: start.id() }
    }

    /// Reads the origin of the run in `folder`.
    ///
    /// # Errors
    /// When the file cannot be read or parsed.
    pub fn load(folder: &Path) -> Result<Origin, Error> {
        let path = folder.join(DATA);
        let text = files::read_text(&path).map_err(Error::file("read", &path))?;
        serde_json::from_slice(&text).map_err(|error| Error::content(&path, "the identity", error))
    }

    /// Refuses to resume with other samples or initial weights.
    ///
    /// # Errors
    /// When the samples or the initial weights differ.
    pub fn check(&self, now: &Origin) -> Result<(), Error> {
        check_data(&self.data, &now.data)?;
        if self.start != now.start {
            let Origin { start, .. } = self;
            let problem = format!("the run was begun with the weights {start}; its start is now {}", now.start);
            return Err(Error::Settings(problem));
        }
        Ok(())
    }
}

/// Refuses samples other than those the run was begun with.
///
/// # Errors
/// When `now` differs from `begun`.
pub(super) fn check_data(begun: &DataIdentity, now: &DataIdentity) -> Result<(), Error> {
    if begun == now {
        return Ok(());
    }
    Err(Error::Settings(format!("the run was begun with other samples, {begun:?}; these are {now:?}")))
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
        let all = 0..examples.len() as u32;
        let (test, training): (Vec<u32>, Vec<u32>) = all.partition(|&i| examples.is_test(i as usize));
        let training = take(training, settings.positions.unwrap_or(usize::MAX), 1);
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
