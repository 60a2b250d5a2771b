//! Settings and state of a tuning.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::arena::openings::PolicySampler;
use crate::arena::play::{Adjudication, SearchLimits};
use crate::arena::statistics::MatchResults;
use crate::tune::parameters::Parameter;
use crate::tune::spsa::Schedule;

/// Everything that decides the result of a tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The tuned parameters.
    pub parameters: Vec<Parameter>,
    /// The weights of the players and the base of factors and interpolations; `None` for the built-in weights.
    pub weights: Option<PathBuf>,
    /// Number of pairs, and the decay of perturbations and rates.
    pub schedule: Schedule,
    /// Pairs played from the same values between two updates.
    pub batch: u64,
    /// The result is the mean of the values over this fraction of the pairs, the last ones (Polyak and Juditsky 1992);
    /// 0 for the final values.
    pub average: f64,
    /// Seed of signs, rounding and openings.
    pub seed: u64,
    /// Search limits of the players.
    pub budget: SearchLimits,
    /// Hash of each player, in megabytes.
    pub hash: usize,
    /// A file of openings; `None` for random ones.
    pub openings: Option<PathBuf>,
    /// Plies taken from the games of an opening file.
    pub plies: usize,
    /// Fraction of random openings that are [sampled from a policy](crate::arena::openings::PolicySampler).
    #[serde(skip_serializing_if = "is_zero")]
    pub natural: f64,
    /// Adjudication rules.
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

/// Skips the default, so that settings files written before the field existed keep their checksum.
fn is_zero(fraction: &f64) -> bool {
    *fraction == 0.0
}

impl Settings {
    /// Checks the settings.
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

    /// Whether the values after this pair (from 1) enter the mean.
    #[must_use]
    pub fn is_averaged(&self, pair: u64) -> bool {
        let all = self.schedule.pairs as f64;
        pair as f64 > (1.0 - self.average) * all
    }
}

/// The state of a tuning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Pairs played.
    pub done: u64,
    /// The values, in the order of the parameters.
    pub values: Vec<f64>,
    /// Mean of the values over the pairs played of those that [`Settings::average`] selects.
    pub mean: Mean,
    /// Results of the player with positive signs; both players are equally strong in expectation.
    pub tally: MatchResults,
    /// Earlier values, for curves.
    pub history: Vec<Moment>,
}

impl State {
    /// The tuned values: the mean, or the current values before there is one.
    #[must_use]
    pub fn result(&self) -> &[f64] {
        if self.mean.count > 0 { &self.mean.values } else { &self.values }
    }
}

/// A running mean of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mean {
    /// Number of terms.
    pub count: u64,
    /// The mean.
    pub values: Vec<f64>,
}

impl Mean {
    /// Adds values.
    pub fn add(&mut self, values: &[f64]) {
        self.count += 1;
        self.values.resize(values.len(), 0.0);
        for (mean, value) in self.values.iter_mut().zip(values) {
            *mean += (value - *mean) / self.count as f64;
        }
    }
}

/// Values after a number of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Pairs played.
    pub done: u64,
    /// The values.
    pub values: Vec<f64>,
}
