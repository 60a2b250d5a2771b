//! Settings and state of a tuning.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use dyad_engine::engine::MAX_HASH;
use serde::{Deserialize, Serialize};

use crate::arena::openings::PolicySampler;
use crate::arena::play::{Adjudication, SearchLimits};
use crate::arena::statistics::MatchResults;
use crate::base::is_default;
use crate::base::number::{self, number};
use crate::tune::parameters::Parameter;
use crate::tune::spsa::{FRACTION, Schedule};

/// Everything that decides the result of a tuning.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct TuningSettings {
    /// The tuned parameters.
    #[arg(skip)]
    pub parameters: Vec<Parameter>,
    /// Weights of the players, and the base of factors and interpolations: a file, `default` or `material` [default:
    /// default]
    #[arg(long, value_name = "WEIGHTS")]
    pub weights: Option<PathBuf>,
    /// Number of pairs, and the decay of perturbations and rates.
    #[command(flatten)]
    pub schedule: Schedule,
    /// Pairs of games played from the same values between two updates
    #[arg(long, value_name = "PAIRS", value_parser = number(BATCH), default_value_t = Self::default().batch)]
    pub batch: u64,
    /// Fraction of the pairs, the last ones, over which the values are averaged for the result; 0 for the final values
    #[arg(long, value_name = "FRACTION", value_parser = number(FRACTION), default_value_t = Self::default().average)]
    pub average: f64,
    /// Seed of signs, rounding and openings
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
    /// Search limits of the players.
    #[arg(skip = Self::default().budget)]
    pub budget: SearchLimits,
    /// Hash of each player, in megabytes
    #[arg(long, value_name = "MEGABYTES", value_parser = number(1..=MAX_HASH), default_value_t = Self::default().hash)]
    pub hash: usize,
    /// Openings: positions (.epd, .fen) or games (.pgn), also packed [default: random openings]
    #[arg(long, value_name = "FILE")]
    pub openings: Option<PathBuf>,
    /// Plies taken from each game of an opening file
    #[arg(long, value_parser = number::<usize>(0..), default_value_t = Self::default().plies)]
    pub plies: usize,
    /// Fraction of random openings that are sampled from a policy: better moves are likelier
    #[serde(skip_serializing_if = "is_default")]
    #[arg(long, value_name = "FRACTION", value_parser = number(FRACTION), default_value_t = Self::default().policy_openings)]
    pub policy_openings: f64,
    /// Adjudication rules.
    #[arg(skip)]
    pub adjudication: Adjudication,
}

/// Range of [`TuningSettings::batch`].
const BATCH: RangeInclusive<u64> = 1..=100_000;

impl Default for TuningSettings {
    fn default() -> TuningSettings {
        TuningSettings {
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
            policy_openings: 0.0,
            adjudication: Adjudication::default(),
        }
    }
}

impl TuningSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// When there are no parameters, or a number is out of its bounds.
    pub fn check(&self) -> Result<(), String> {
        self.schedule.check()?;
        self.adjudication.check()?;
        PolicySampler::check(self.policy_openings)?;
        if self.policy_openings != 0.0 && self.openings.is_some() {
            return Err("policy-openings: it changes nothing with openings of a file".to_string());
        }
        if self.parameters.is_empty() {
            return Err("there are no parameters".to_string());
        }
        number::check("batch", self.batch, &BATCH)?;
        number::check("average", self.average, &FRACTION)?;
        number::check("hash", self.hash, &(1..=MAX_HASH))
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
pub struct TuningState {
    /// Pairs played.
    pub done: u64,
    /// The values, in the order of the parameters.
    pub values: Vec<f64>,
    /// Mean of the values over the pairs played of those that [`TuningSettings::average`] selects.
    pub mean: Mean,
    /// Results of the player with positive signs; both players are equally strong in expectation.
    pub tally: MatchResults,
    /// Earlier values, for curves.
    pub history: Vec<Moment>,
}

impl TuningState {
    /// The state before the first pair.
    pub(super) fn new(parameters: &[Parameter]) -> TuningState {
        let values: Vec<f64> = parameters.iter().map(|parameter| parameter.value).collect();
        let history = vec![Moment { done: 0, values: values.clone() }];
        TuningState { values, history, ..TuningState::default() }
    }

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
