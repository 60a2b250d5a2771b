//! The settings of a fit: everything that decides its result.

use std::collections::BTreeMap;

use dyad_engine::eval::layout;
use dyad_formats::error::Error;
use dyad_formats::packed::{Packed, Sample};
use serde::{Deserialize, Serialize};

use crate::fit::logistic::sigmoid;

/// What the evaluation of a position should predict: a mix of the game's result and the expected score of a search's
/// score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Target {
    /// Weight of the result where there is a score: 1 uses results alone, 0 scores alone.
    pub result_share: f64,
    /// Pawns that multiply the odds of a score by e.
    pub pawns: f64,
}

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
pub struct GroupSettings {
    /// Whether its weights change at all.
    pub learn: bool,
    /// Adam's rate, in logits.
    pub rate: f64,
    /// L2, as a number of positions whose evidence would balance it: the reciprocal of a normal prior's variance in
    /// logits. It pulls toward [`Settings::l2_target`], and material toward its initial weights.
    pub l2: f64,
}

impl GroupSettings {
    /// The defaults of a group. Few positions determine the value of a queen in the middlegame. A position has hundreds
    /// of 2-tuples and most of them are rare: they need a small rate and a strong L2.
    #[must_use]
    pub fn of(name: &str) -> GroupSettings {
        match name {
            "material" => GroupSettings { learn: true, rate: 0.01, l2: 100.0 },
            "pairs" => GroupSettings { learn: true, rate: 0.001, l2: 1_000.0 },
            _ => GroupSettings { learn: true, rate: 0.01, l2: 10.0 },
        }
    }
}

impl Default for GroupSettings {
    fn default() -> GroupSettings {
        GroupSettings::of("")
    }
}

/// What L2 regularizes weights toward. Material is always regularized toward its initial weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum L2Target {
    /// Zero: a weight without data becomes 0.
    #[default]
    Zero,
    /// The initial weights: a weight without data stays as it was.
    Start,
}

/// More positions in a batch than any file has.
const MOST_IN_BATCH: usize = 1_000_000_000;

/// The settings of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// What to predict.
    pub target: Target,
    /// Groups that learn; empty for all.
    pub learn: Vec<String>,
    /// Groups whose settings differ from [`GroupSettings::of`] their name.
    pub groups: BTreeMap<String, GroupSettings>,
    /// What L2 regularizes toward.
    #[serde(rename = "hold")]
    pub l2_target: L2Target,
    /// Epochs at most.
    pub epochs: u32,
    /// Positions in a batch.
    pub batch: usize,
    /// Epochs without a better test loss after which the fit ends.
    pub patience: u32,
    /// Seed of the shuffles.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let (learn, groups) = (Vec::new(), BTreeMap::new());
        let (target, l2_target) = (Target::default(), L2Target::default());
        Settings { target, learn, groups, l2_target, epochs: 12, batch: 16_384, patience: 3, seed: 1 }
    }
}

impl Settings {
    /// The settings of one group.
    #[must_use]
    pub fn group(&self, name: &str) -> GroupSettings {
        let group = self.groups.get(name).copied().unwrap_or_else(|| GroupSettings::of(name));
        let listed = self.learn.is_empty() || self.learn.iter().any(|listed| listed == name);
        GroupSettings { learn: group.learn && listed, ..group }
    }

    /// Makes `change` to the settings of one group.
    pub fn set_group(&mut self, name: &str, change: impl FnOnce(&mut GroupSettings)) {
        change(self.groups.entry(name.to_string()).or_insert_with(|| GroupSettings::of(name)));
    }

    /// Factor of all rates when the fraction `done` of the fit is done: from 1 to a hundredth along a cosine.
    pub(super) fn rate_factor(&self, done: f64) -> f64 {
        0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |problem: String| Err(Error::Settings(problem));
        if !(1..=MOST_IN_BATCH).contains(&self.batch) || self.epochs == 0 {
            return wrong(format!("batch must be 1 to {MOST_IN_BATCH}, epochs at least 1"));
        }
        let Target { result_share, pawns } = self.target;
        if !((0.0..=1.0).contains(&result_share) && pawns > 0.0 && pawns.is_finite()) {
            return wrong(format!("result share {result_share} (0 to 1), pawns {pawns} (above 0)"));
        }
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
