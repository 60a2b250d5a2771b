//! The settings of a fit: everything that decides its result.

use std::ops::{Bound, RangeInclusive};

use clap::Args;
use dyad_formats::packed::{Packed, Sample};
use serde::Serialize;

use crate::base::group_value::{GroupValue, group_value, groups, is_selected, number_of};
use crate::base::logistic::sigmoid;
use crate::base::number::number;

/// What the evaluation of a position should predict: a mix of the game's result and the expected score of a search's
/// score.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    pub fn exists(&self, sample: &Packed) -> bool {
        if self.result_share > 0.0 { sample.has_result() } else { sample.has_score() }
    }

    /// The target, from White's side; `None` if the sample lacks it.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitGroup {
    /// Whether its weights change at all.
    pub learn: bool,
    /// Adam's rate, in logits.
    pub rate: f64,
    /// L2, as a number of positions whose evidence would balance it: the reciprocal of a normal prior's variance in
    /// logits. It pulls toward zero, and material toward its initial weights.
    pub l2: f64,
}

/// Factor of all rates when the fraction `done` of a training is done: from 1 to a hundredth along a cosine.
pub(super) fn cosine(done: f64) -> f64 {
    0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

/// The settings of a fit.
#[derive(Clone, Debug, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[group(skip)]
pub struct FitSettings {
    /// What to predict.
    #[serde(flatten)]
    #[command(flatten)]
    pub target: Target,
    /// Groups of features to learn: names, PREFIX* or @FAMILY, here and below [default: all]
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = groups)]
    pub groups: Vec<String>,
    /// Groups of features not to learn
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = groups)]
    pub freeze: Vec<String>,
    /// L2 of a group, as the number of positions whose evidence would balance it [default: material 100, pairs 1000,
    /// others 10]
    #[arg(long, value_name = "GROUP=POSITIONS", value_delimiter = ',', value_parser = group_value(0.0..))]
    pub l2: Vec<GroupValue>,
    /// Learning rate (Adam) of a group, in logits [default: pairs 0.001, others 0.01]
    #[arg(long, value_name = "GROUP=RATE", value_delimiter = ',', value_parser = group_value(0.0..))]
    pub rate: Vec<GroupValue>,
    /// Epochs at most
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..), default_value_t = Self::default().epochs)]
    pub epochs: u32,
    /// Positions in a batch.
    #[arg(skip = Self::default().batch)]
    pub batch: usize,
    /// Epochs without a better test loss after which the fit ends.
    #[arg(skip = Self::default().patience)]
    pub patience: u32,
    /// Seed of the shuffles
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
}

impl Default for FitSettings {
    fn default() -> FitSettings {
        FitSettings {
            target: Target::default(),
            groups: Vec::new(),
            freeze: Vec::new(),
            l2: Vec::new(),
            rate: Vec::new(),
            epochs: 12,
            batch: 16_384,
            patience: 3,
            seed: 1,
        }
    }
}

impl FitSettings {
    /// The settings of one group. Few positions determine the value of a queen in the middlegame. A position has
    /// hundreds of 2-tuples and most of them are rare: they need a small rate and a strong L2.
    pub fn group(&self, name: &str) -> FitGroup {
        let (rate, l2) = match name {
            "material" => (0.01, 100.0),
            "pairs" => (0.001, 1_000.0),
            _ => (0.01, 10.0),
        };
        let is_listed = self.groups.is_empty() || is_selected(&self.groups, name);
        FitGroup {
            learn: is_listed && !is_selected(&self.freeze, name),
            rate: number_of(&self.rate, name).unwrap_or(rate),
            l2: number_of(&self.l2, name).unwrap_or(l2),
        }
    }
}
