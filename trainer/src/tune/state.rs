//! What a tuning is begun with, and where it stands.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::arena::play::{Adjudication, Budget};
use crate::arena::statistics::Tally;
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
    /// Seed of signs, rounding and openings.
    pub seed: u64,
    /// What a player may spend.
    pub budget: Budget,
    /// Megabytes of a player's table.
    pub hash: usize,
    /// A file of openings; none for random ones.
    pub openings: Option<PathBuf>,
    /// Plies that are taken from the games of an opening file.
    pub plies: usize,
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
            seed: 1,
            budget: Budget::Nodes(10_000),
            hash: 8,
            openings: None,
            plies: 16,
            adjudication: Adjudication::default(),
        }
    }
}

impl Settings {
    /// Says what is wrong with settings that cannot be tuned with.
    ///
    /// # Errors
    /// When there are no parameters, or a number is out of its bounds.
    pub fn check(&self) -> Result<(), String> {
        self.schedule.check()?;
        self.adjudication.check()?;
        if self.parameters.is_empty() {
            return Err("there are no parameters".to_string());
        }
        if !(1..=100_000).contains(&self.batch) {
            return Err(format!("batch must be 1 to 100000, not {}", self.batch));
        }
        if self.hash == 0 {
            return Err("hash must be at least 1".to_string());
        }
        Ok(())
    }
}

/// Where a tuning stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Pairs played.
    pub done: u64,
    /// The values, in the order of the parameters.
    pub values: Vec<f64>,
    /// Results of the players with the sign on their side: the two are as strong as each other.
    pub tally: Tally,
    /// Values at earlier times, for curves.
    pub history: Vec<Moment>,
}

/// Values at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Pairs played.
    pub done: u64,
    /// The values.
    pub values: Vec<f64>,
}
