//! What a training is begun with: its start, its positions, and how both are known again when it is resumed.
//!
//! Settings name files, and files can change. So a run keeps the identity of its samples and of its start, and is only
//! resumed with the same.

use crate::base::atomic;
use crate::data::schedule::sample;
use crate::learn::error::TrainError;
use crate::learn::examples::Examples;
use crate::learn::folder::Folder;
use crate::learn::settings::Settings;
use dyad_engine::eval::{FloatWeights, Weights, WeightsError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What identifies the samples of a training.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataIdentity {
    /// Checksum of the sample file, as hexadecimal digits.
    pub checksum: String,
    /// Training positions in use.
    pub training: u64,
    /// Test positions in use.
    pub test: u64,
}

/// What a run was begun with, as far as its settings only name it.
#[derive(Serialize, Deserialize)]
pub(super) struct Origin {
    #[serde(flatten)]
    data: DataIdentity,
    /// The identity of the weights at the start.
    start: String,
}

impl Origin {
    pub fn of(selection: &Selection, start: &Start) -> Origin {
        Origin { data: selection.identity.clone(), start: start.id() }
    }

    /// What the run in `folder` was begun with.
    ///
    /// # Errors
    /// When its file cannot be read, or is of another form.
    pub fn load(folder: &Folder) -> Result<Origin, TrainError> {
        let path = folder.data();
        let text = atomic::read(&path).map_err(|e| TrainError::File(path.clone(), e))?;
        serde_json::from_slice(&text).map_err(|e| TrainError::Refused(format!("{}: {e}", path.display())))
    }

    /// Refuses to resume with something else.
    ///
    /// # Errors
    /// When the samples or the weights at the start are others.
    pub fn check(&self, now: &Origin) -> Result<(), TrainError> {
        check_data(&self.data, &now.data)?;
        if self.start != now.start {
            let Origin { start, .. } = self;
            let problem = format!("the run was begun with the weights {start}; its start is now {}", now.start);
            return Err(TrainError::Refused(problem));
        }
        Ok(())
    }
}

/// Refuses other samples than those a run was begun with.
///
/// # Errors
/// When `now` is not what was `begun` with.
pub(super) fn check_data(begun: &DataIdentity, now: &DataIdentity) -> Result<(), TrainError> {
    if begun == now {
        return Ok(());
    }
    Err(TrainError::Refused(format!("the run was begun with other samples, {begun:?}; these are {now:?}")))
}

/// The weights a training starts from.
pub(super) struct Start(Option<Arc<Weights>>);

impl Start {
    /// The weights that settings name, or the worth of the pieces.
    ///
    /// # Errors
    /// When the file cannot be read or used.
    pub fn new(settings: &Settings) -> Result<Start, TrainError> {
        Ok(Start(settings.start.as_deref().map(Weights::named).transpose()?))
    }

    pub fn floats(&self) -> FloatWeights {
        self.0.as_deref().map_or_else(FloatWeights::material, FloatWeights::from)
    }

    /// What is trained, with the name and the units of these.
    ///
    /// Weights are scaled to the phase when they are rounded. With `keep_scale` the scale of search makes up for it, so that
    /// a value means what it did while they were trained; without, the scale is to be fitted anyway.
    ///
    /// # Errors
    /// When the numbers make no weights: the pieces are worth nothing, or one is too large.
    pub fn finish(
        &self,
        floats: &FloatWeights,
        keep_scale: bool,
        made: serde_json::Value,
    ) -> Result<Weights, WeightsError> {
        let mut trained = Weights::from_floats(floats, made)?;
        trained.meta.name = "trained".to_string();
        if let Some(start) = &self.0 {
            trained.units = start.units;
        }
        if keep_scale {
            let gamma = floats.gamma()? / self.floats().gamma()?;
            trained.units.scale = (f64::from(trained.units.scale) / gamma).round().max(1.0) as i32;
        }
        Ok(trained)
    }

    pub fn id(&self) -> String {
        self.0.as_deref().map_or_else(|| Weights::material().id(), Weights::id)
    }
}

/// The positions in use.
pub(super) struct Selection {
    pub training: Vec<u32>,
    pub test: Vec<u32>,
    pub report: Vec<u32>,
    pub identity: DataIdentity,
}

impl Selection {
    /// Which positions are used does not depend on the seed of the shuffles.
    ///
    /// # Errors
    /// When there is none to learn from.
    pub fn new(settings: &Settings, examples: &dyn Examples) -> Result<Selection, TrainError> {
        let all = 0..examples.len() as u32;
        let (test, training): (Vec<u32>, Vec<u32>) = all.partition(|&i| examples.is_test(i as usize));
        let training = take(training, settings.train_positions, 1);
        let test = take(test, settings.test_positions, 2);
        if training.is_empty() {
            return Err(TrainError::Refused("there are no training positions".into()));
        }
        let identity =
            DataIdentity { checksum: examples.identity(), training: training.len() as u64, test: test.len() as u64 };
        let report = take(test.clone(), Some(settings.report_positions), 3);
        Ok(Selection { training, test, report, identity })
    }
}

fn take(from: Vec<u32>, n: Option<usize>, seed: u64) -> Vec<u32> {
    match n {
        Some(n) if n < from.len() => sample(from.len(), n, seed).into_iter().map(|i| from[i as usize]).collect(),
        _ => from,
    }
}
