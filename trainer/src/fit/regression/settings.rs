//! The settings of a fit: everything that decides its result.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};

use clap::{Args, ValueEnum};
use dyad_engine::eval::layout;
use dyad_formats::error::Error;
use dyad_formats::packed::{Packed, Sample};
use serde::{Deserialize, Serialize};

use crate::base::number::{self, number};
use crate::fit::logistic::sigmoid;

/// What the evaluation of a position should predict: a mix of the game's result and the expected score of a search's
/// score.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct Target {
    /// Weight of the game's result against the score, where a position has one: 1 for results alone, 0 for scores alone
    #[arg(long, value_name = "FRACTION", value_parser = number(SHARE), default_value_t = Self::default().result_share)]
    pub result_share: f64,
    /// Pawns of a score that multiply the odds by e
    #[arg(long, value_parser = number(PAWNS), default_value_t = Self::default().pawns)]
    pub pawns: f64,
}

/// Range of [`Target::result_share`].
const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// Range of [`Target::pawns`].
const PAWNS: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1e6));

impl Default for Target {
    fn default() -> Target {
        Target { result_share: 1.0, pawns: 1.2 }
    }
}

impl Target {
    /// Whether a sample has what the target needs; cheaper than unpacking it.
    #[must_use]
    pub fn exists(&self, sample: &Packed) -> bool {
        if self.result_share > 0.0 { sample.has_result() } else { sample.has_score() }
    }

    /// The target, from White's side; `None` if the sample lacks it.
    #[must_use]
    pub fn of(&self, sample: &Sample) -> Option<f64> {
        let expected = sample.white_score().map(|score| sigmoid(score.pawns() / self.pawns));
        let result = sample.result.map(|result| result.points());
        match (result, expected) {
            (Some(result), Some(expected)) => Some(self.result_share * result + (1.0 - self.result_share) * expected),
            (Some(result), None) if self.result_share > 0.0 => Some(result),
            (None, Some(expected)) if self.result_share == 0.0 => Some(expected),
            _ => None,
        }
    }
}

/// Learning settings of one group of features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FitGroupSettings {
    /// Whether its weights change at all.
    pub learn: bool,
    /// Adam's rate, in logits.
    pub rate: f64,
    /// L2, as a number of positions whose evidence would balance it: the reciprocal of a normal prior's variance in
    /// logits. It pulls toward [`FitSettings::l2_target`], and material toward its initial weights.
    pub l2: f64,
}

impl FitGroupSettings {
    /// The defaults of a group. Few positions determine the value of a queen in the middlegame. A position has hundreds
    /// of 2-tuples and most of them are rare: they need a small rate and a strong L2.
    #[must_use]
    pub fn of(name: &str) -> FitGroupSettings {
        match name {
            "material" => FitGroupSettings { learn: true, rate: 0.01, l2: 100.0 },
            "pairs" => FitGroupSettings { learn: true, rate: 0.001, l2: 1_000.0 },
            _ => FitGroupSettings { learn: true, rate: 0.01, l2: 10.0 },
        }
    }
}

impl Default for FitGroupSettings {
    fn default() -> FitGroupSettings {
        FitGroupSettings::of("")
    }
}

/// What L2 regularizes weights toward. Material is always regularized toward its initial weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum L2Target {
    /// Zero: a weight without data becomes 0.
    #[default]
    Zero,
    /// The initial weights: a weight without data stays as it was.
    Start,
}

/// Factor of all rates when the fraction `done` of a training is done: from 1 to a hundredth along a cosine.
pub(crate) fn cosine(done: f64) -> f64 {
    0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

/// Range of [`FitSettings::batch`]: no file has more positions.
const BATCH: RangeInclusive<usize> = 1..=1_000_000_000;

/// The settings of a fit.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct FitSettings {
    /// What to predict.
    #[command(flatten)]
    pub target: Target,
    /// Groups that learn; empty for all.
    #[arg(skip)]
    pub learn: Vec<String>,
    /// Groups whose settings differ from [`FitGroupSettings::of`] their name.
    #[arg(skip)]
    pub groups: BTreeMap<String, FitGroupSettings>,
    /// What L2 regularizes the weights toward; material always toward its initial weights
    #[serde(rename = "regularize-toward")]
    #[arg(long = "regularize-toward", value_name = "TARGET", value_enum, default_value_t)]
    pub l2_target: L2Target,
    /// Epochs at most
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..), default_value_t = Self::default().epochs)]
    pub epochs: u32,
    /// Positions in a batch
    #[arg(long, value_name = "N", value_parser = number(BATCH), default_value_t = Self::default().batch)]
    pub batch: usize,
    /// Epochs without a better test loss after which the fit ends
    #[arg(long, value_parser = number::<u32>(1..), value_name = "EPOCHS", default_value_t = Self::default().patience)]
    pub patience: u32,
    /// Seed of the shuffles
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
}

impl Default for FitSettings {
    fn default() -> FitSettings {
        let (learn, groups) = (Vec::new(), BTreeMap::new());
        let (target, l2_target) = (Target::default(), L2Target::default());
        FitSettings { target, learn, groups, l2_target, epochs: 12, batch: 16_384, patience: 3, seed: 1 }
    }
}

impl FitSettings {
    /// The settings of one group.
    #[must_use]
    pub fn group(&self, name: &str) -> FitGroupSettings {
        let group = self.groups.get(name).copied().unwrap_or_else(|| FitGroupSettings::of(name));
        let listed = self.learn.is_empty() || self.learn.iter().any(|listed| listed == name);
        FitGroupSettings { learn: group.learn && listed, ..group }
    }

    /// Makes `change` to the settings of one group.
    pub fn set_group(&mut self, name: &str, change: impl FnOnce(&mut FitGroupSettings)) {
        change(self.groups.entry(name.to_string()).or_insert_with(|| FitGroupSettings::of(name)));
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |problem: String| Err(Error::Settings(problem));
        let Target { result_share, pawns } = self.target;
        number::check("batch", self.batch, &BATCH)
            .and_then(|()| number::check("epochs", self.epochs, &(1..)))
            .and_then(|()| number::check("patience", self.patience, &(1..)))
            .and_then(|()| number::check("result-share", result_share, &SHARE))
            .and_then(|()| number::check("pawns", pawns, &PAWNS))
            .map_err(Error::Settings)?;
        if let Some(name) = self.groups.keys().chain(&self.learn).find(|name| layout::group(name).is_none()) {
            let known: Vec<&str> = layout::GROUPS.iter().map(|group| group.name).collect();
            return wrong(format!("there is no group of features called {name}; there are {}", known.join(", ")));
        }
        let sound = |rate: f64, l2: f64| [rate, l2].into_iter().all(|number| number >= 0.0 && number.is_finite());
        for (name, group) in &self.groups {
            if !sound(group.rate, group.l2) {
                return wrong(format!("group {name}: rate {} and l2 {} must be 0 or more", group.rate, group.l2));
            }
        }
        Ok(())
    }
}
