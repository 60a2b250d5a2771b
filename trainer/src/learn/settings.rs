//! The settings of a training: everything that decides its result.
//!
//! One struct is filled from the command line, saved in the run folder and in every checkpoint, and written into the
//! weights files as provenance; field, option and key have one name. Two runs with equal settings and equal data give
//! equal weights, bit for bit.

use crate::base::group_value::{GroupValue, by_feature, group_value, groups, is_selected, number_of};
use crate::base::is_default;
use crate::base::number::{self, number};
use crate::base::words::name_of;
use clap::{Args, ValueEnum};
use dyad_engine::value::Value;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// The settings of a training.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct TrainingSettings {
    /// The sample file with training and test positions.
    #[arg(skip)]
    pub samples: PathBuf,
    /// Initial weights: a file, `default` or `material` [default: material]
    #[arg(long, value_name = "WEIGHTS")]
    pub weights: Option<PathBuf>,
    /// Depth of training in plies: 1 is the quiescence leaf of each child
    #[arg(long, value_name = "PLIES", value_parser = number(DEPTH), default_value_t = Self::default().depth)]
    pub depth: u32,
    /// Positions searched with the same weights before one update
    #[arg(long, value_name = "N", value_parser = number(BATCH), default_value_t = Self::default().batch)]
    pub batch: usize,
    /// Iterations over the data at most
    #[arg(long, value_parser = number::<u32>(0..), value_name = "N", default_value_t = Self::default().iterations)]
    pub iterations: u32,
    /// Seed of the shuffles
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
    /// Objective
    #[arg(long, value_enum, default_value_t)]
    pub objective: ObjectiveName,
    /// Margin of the desired move, in units of evaluation; ranking-svm only
    #[arg(long, value_name = "UNITS", value_parser = number(MARGIN), default_value_t = Self::default().margin)]
    pub margin: Value,
    /// Difference of values that is preferred at 73 %, in units of evaluation; logistic only
    #[arg(long, value_name = "UNITS", value_parser = number(POSITIVE), default_value_t = Self::default().temperature)]
    pub temperature: f64,
    /// Weight of the game's result at the desired leaf; logistic only
    #[arg(long, value_name = "WEIGHT", value_parser = number(WEIGHT), default_value_t = Self::default().result_weight)]
    pub result_weight: f64,
    /// Weight of the score at the desired leaf; logistic only
    #[arg(long, value_name = "WEIGHT", value_parser = number(WEIGHT), default_value_t = Self::default().score_weight)]
    pub score_weight: f64,
    /// The value with an expected score of 73 % (odds of e), in units of evaluation; that of the initial weights if it
    /// is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[arg(skip)]
    pub outcome_scale: Option<f64>,
    /// Optimizer
    #[arg(long, value_enum, default_value_t)]
    pub optimizer: OptimizerName,
    /// Learning rate
    #[arg(long, value_parser = number(POSITIVE), default_value_t = Self::default().rate)]
    pub rate: f64,
    /// Factor of the rate for a group of features.
    #[arg(skip)]
    pub rate_factor: Vec<GroupValue>,
    /// L2 of a group of features (a name, PREFIX* or @FAMILY, here and below): each update subtracts --rate times FRACTION of every weight [default: 0]
    #[arg(long, value_name = "GROUP=FRACTION", value_delimiter = ',', value_parser = group_value(0.0..=1.0))]
    pub l2: Vec<GroupValue>,
    /// Groups of features that do not learn
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = groups)]
    pub freeze: Vec<String>,
    /// Span over which the weights are averaged
    #[arg(long, value_name = "SPAN", value_enum, default_value_t)]
    pub averaging: Averaging,
    /// Keep scale and win-rate model of the initial weights
    #[arg(long)]
    pub keep_scale: bool,
    /// Training positions to use [default: all]
    #[arg(long, value_parser = number::<usize>(0..), value_name = "N")]
    pub positions: Option<usize>,
    /// One weight for a feature in all phases, as without tapered evaluation: middlegame and endgame change alike.
    #[serde(skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub untapered: bool,
    /// Continue when the move-match accuracy on the test positions falls
    #[arg(long)]
    pub keep_going: bool,
}

/// Range of [`TrainingSettings::depth`].
const DEPTH: RangeInclusive<u32> = 1..=16;
/// Range of [`TrainingSettings::batch`].
const BATCH: RangeInclusive<usize> = 1..=LARGEST as usize;
/// Range of rates, temperatures and scales. Values are divided by temperatures and scales, so these are not tiny.
const POSITIVE: RangeInclusive<f64> = 1e-6..=LARGEST;
/// Range of the weights of the parts of an objective.
const WEIGHT: RangeInclusive<f64> = 0.0..=LARGEST;
/// Range of [`TrainingSettings::margin`].
const MARGIN: RangeInclusive<Value> = 0..=10_000;

/// Upper bound of the numbers, so that nothing computed from them overflows.
const LARGEST: f64 = 1e7;

impl Default for TrainingSettings {
    fn default() -> TrainingSettings {
        TrainingSettings {
            samples: PathBuf::new(),
            weights: None,
            depth: 1,
            batch: 50,
            iterations: 20,
            seed: 1,
            objective: ObjectiveName::default(),
            margin: 100,
            temperature: 100.0,
            result_weight: 0.0,
            score_weight: 0.0,
            outcome_scale: None,
            optimizer: OptimizerName::default(),
            // That of the papers.
            rate: 1.0,
            rate_factor: Vec::new(),
            l2: Vec::new(),
            freeze: Vec::new(),
            averaging: Averaging::default(),
            keep_scale: false,
            positions: None,
            untapered: false,
            keep_going: false,
        }
    }
}

/// The [objectives](crate::learn::objective::Objective) by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveName {
    /// Formula (3).
    #[default]
    Perceptron,
    /// Hinge loss with a margin.
    RankingSvm,
    /// Pairwise log loss.
    Logistic,
}

/// The [optimizers](crate::learn::optimizer) by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerName {
    /// The gradient times the rate, as in the papers.
    #[default]
    Plain,
    /// Adam, with a step counter per feature.
    Adam,
}

/// The span over which the weights are averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Averaging {
    /// Each iteration alone; the next starts from its average (*Comparison Training for Computer Chinese Chess*, II.C).
    #[default]
    Iteration,
    /// All iterations together; the next continues from the last weights (*Comparison Training of N-Tuple Networks for
    /// Chess*, 2.2).
    All,
}

impl TrainingSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// The setting that is out of bounds, or that changes nothing with the others.
    pub fn check(&self) -> Result<(), String> {
        number::check_options(self)?;
        // No options: only a file can have them.
        let in_range = number(POSITIVE);
        let outcome_scale = self.outcome_scale.map(|scale| ("outcome-scale", scale));
        for (name, value) in self.rate_factor.iter().map(|of| ("rate-factor", of.number)).chain(outcome_scale) {
            in_range(&value.to_string()).map_err(|error| format!("{name}: {error}"))?;
        }
        // One update must not take a weight beyond zero.
        if let Some(GroupValue { groups, number }) = self.l2.iter().find(|value| self.rate * value.number >= 1.0) {
            return Err(format!("l2: {number} for {groups} times the rate {} must be below 1", self.rate));
        }
        self.check_objective()
    }

    /// Refuses settings that the objective does not have.
    fn check_objective(&self) -> Result<(), String> {
        use ObjectiveName::{Logistic, RankingSvm};
        let usual = TrainingSettings::default();
        for (name, differs, objective) in [
            ("margin", self.margin != usual.margin, RankingSvm),
            ("temperature", self.temperature != usual.temperature, Logistic),
            ("result-weight", self.result_weight != usual.result_weight, Logistic),
            ("score-weight", self.score_weight != usual.score_weight, Logistic),
        ] {
            if differs && objective != self.objective {
                return Err(format!("{name}: it changes nothing without the objective {}", name_of(&objective)));
            }
        }
        Ok(())
    }

    /// The learning rate of each feature, as a multiple of [`TrainingSettings::rate`].
    pub fn rates(&self) -> Vec<f64> {
        by_feature(|name| number_of(&self.rate_factor, name).unwrap_or(1.0))
    }

    /// Whether each feature learns.
    pub fn learns(&self) -> Vec<bool> {
        by_feature(|name| !is_selected(&self.freeze, name))
    }

    /// The L2 of the group `name`; 0 if it does not learn.
    pub fn l2_of(&self, name: &str) -> f64 {
        number_of(&self.l2, name).filter(|_| !is_selected(&self.freeze, name)).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::eval::layout;

    #[test]
    fn json_round_trip_and_defaults() {
        let settings = TrainingSettings {
            depth: 3,
            objective: ObjectiveName::RankingSvm,
            margin: 50,
            optimizer: OptimizerName::Adam,
            rate: 0.5,
            l2: vec![GroupValue::new("pairs", 1e-6)],
            freeze: vec!["@king".to_string()],
            ..TrainingSettings::default()
        };
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<TrainingSettings>(&text).unwrap(), settings);
        assert_eq!(serde_json::from_str::<TrainingSettings>("{}").unwrap(), TrainingSettings::default());
    }

    #[test]
    fn groups_have_their_own_rates() {
        let rate_factor = vec![GroupValue::new("pairs", 0.5)];
        let l2 = vec![GroupValue::new("*", 0.1)];
        let freeze = vec!["tempo".to_string()];
        let settings = TrainingSettings { rate_factor, l2, freeze, ..TrainingSettings::default() };
        let rates = settings.rates();
        assert_eq!(rates.len(), layout::LEN);
        assert_eq!((rates[0], rates[layout::PAIRS.start]), (1.0, 0.5));
        assert_eq!((settings.l2_of("pairs"), settings.l2_of("tempo")), (0.1, 0.0));
        assert!(settings.learns()[0] && !settings.learns()[layout::TEMPO.start]);
    }

    #[test]
    fn errors_name_the_setting() {
        let cases: &[(&str, &str)] = &[
            (r#"{"depth": 0}"#, "depth"),
            (r#"{"batch": 0}"#, "batch"),
            (r#"{"dept": 2}"#, "dept"),
            (r#"{"freeze": ["pears"]}"#, "pears"),
            (r#"{"rate": -1}"#, "rate"),
            (r#"{"objective": "logistic", "temperature": 0}"#, "temperature"),
            (r#"{"objective": "logistic", "temperature": 1e9}"#, "temperature"),
            (
                r#"{"objective": "logistic", "temperature": 1e-308}"#,
                "temperature <UNITS>': expected a number, 0.000001 to 10000000",
            ),
            (r#"{"objective": "logistic", "result-weight": -5}"#, "result-weight"),
            (r#"{"objective": "logistic", "score-weight": 1e300}"#, "score-weight"),
            (r#"{"objective": "logistic", "outcome-scale": 1e-9}"#, "outcome-scale"),
            (r#"{"rate-factor": ["pairs=-1"]}"#, "rate-factor"),
            (r#"{"l2": ["pairs=-1"]}"#, "--l2 <GROUP=FRACTION>': expected a number, 0 to 1"),
            (r#"{"l2": ["pairs=1.5"]}"#, "--l2"),
            (r#"{"l2": ["pairs=NaN"]}"#, "'NaN' is not a number"),
            (r#"{"rate": 3, "l2": ["piece_square=1"]}"#, "l2: 1 for piece_square times the rate 3 must be below 1"),
            (r#"{"batch": 18446744073709551615}"#, "batch"),
            (r#"{"margin": 3}"#, "margin: it changes nothing without the objective ranking-svm"),
            (r#"{"temperature": 3}"#, "temperature: it changes nothing without the objective logistic"),
            (r#"{"objective": "ranking-svm", "score-weight": 1}"#, "score-weight: it changes nothing"),
        ];
        for (text, word) in cases {
            let settings = serde_json::from_str(text).map_err(|error| error.to_string());
            let error = settings.and_then(|settings: TrainingSettings| settings.check()).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
