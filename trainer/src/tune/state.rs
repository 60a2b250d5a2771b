//! What a tuning is begun with, and where it stands.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::arena::openings::PolicySampler;
use crate::arena::play::{Adjudication, SearchLimits};
use crate::arena::statistics::MatchResults;
use crate::tune::parameters::Parameter;
use crate::tune::spsa::Schedule;

/// Everything that decides what a tuning finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// What is tuned.
    pub parameters: Vec<Parameter>,
    /// What the players evaluate with, what factors multiply and where steps begin; none for the weights built in.
    pub weights: Option<PathBuf>,
    /// How many pairs of games, and how steps and rates fall.
    pub schedule: Schedule,
    /// Pairs played from the same values before they are changed.
    pub batch: u64,
    /// The result is the mean of the values over this share of the pairs, the last ones (Polyak and Juditsky 1992); 0 for the
    /// values after the last.
    pub average: f64,
    /// Seed of signs, rounding and openings.
    pub seed: u64,
    /// What a player may spend.
    pub budget: SearchLimits,
    /// Megabytes of a player's table.
    pub hash: usize,
    /// A file of openings; none for random ones.
    pub openings: Option<PathBuf>,
    /// Plies that are taken from the games of an opening file.
    pub plies: usize,
    /// The share of [natural openings](crate::arena::openings::PolicySampler) among random ones.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub natural: f64,
    /// When games end early.
    pub adjudication: Adjudication,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            parameters: Vec::new(),
            weights: None,
            schedule: Schedule::default(),
            batch: 16,
            average: 0.5,
            seed: 1,
            budget: SearchLimits::Nodes(10_000),
            hash: 8,
            openings: None,
            plies: 16,
            natural: 0.0,
            adjudication: Adjudication::default(),
        }
    }
}

/// Whether a share is of nothing. A tuning of before there were natural openings is the same as one without.
fn is_none_of_them(share: &f64) -> bool {
    *share == 0.0
}

impl Settings {
    /// Says what is wrong with settings that cannot be tuned with.
    ///
    /// # Errors
    /// When there are no parameters, or a number is out of its bounds.
    pub fn check(&self) -> Result<(), String> {
        self.schedule.check()?;
        self.adjudication.check()?;
        PolicySampler::check(self.natural)?;
        if self.parameters.is_empty() {
            return Err("there are no parameters".to_string());
        }
        if !(1..=100_000).contains(&self.batch) {
            return Err(format!("batch must be 1 to 100000, not {}", self.batch));
        }
        if !(0.0..=1.0).contains(&self.average) {
            return Err(format!("average must be 0 to 1, not {}", self.average));
        }
        if self.hash == 0 {
            return Err("hash must be at least 1".to_string());
        }
        Ok(())
    }

    /// Whether the values after this pair, counted from 1, are among those whose mean is the result.
    #[must_use]
    pub fn is_averaged(&self, pair: u64) -> bool {
        let all = self.schedule.pairs as f64;
        pair as f64 > (1.0 - self.average) * all
    }
}

/// Where a tuning stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Pairs played.
    pub done: u64,
    /// The values, in the order of the parameters.
    pub values: Vec<f64>,
    /// Their mean over the pairs that [`Settings::average`] asks for, as far as these were played.
    pub mean: Mean,
    /// Results of the players with the sign on their side: the two are as strong as each other.
    pub tally: MatchResults,
    /// Values at earlier times, for curves.
    pub history: Vec<Moment>,
}

impl State {
    /// What the tuning found: the mean, once there is one.
    #[must_use]
    pub fn result(&self) -> &[f64] {
        if self.mean.count > 0 { &self.mean.values } else { &self.values }
    }
}

/// A mean of values that grows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mean {
    /// Of so many.
    pub count: u64,
    /// The mean.
    pub values: Vec<f64>,
}

impl Mean {
    /// Takes more values in.
    pub fn add(&mut self, values: &[f64]) {
        self.count += 1;
        self.values.resize(values.len(), 0.0);
        for (mean, value) in self.values.iter_mut().zip(values) {
            *mean += (value - *mean) / self.count as f64;
        }
    }
}

/// Values at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Pairs played.
    pub done: u64,
    /// The values.
    pub values: Vec<f64>,
}
