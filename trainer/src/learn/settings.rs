//! The settings of a training: everything that decides its result.
//!
//! One struct is read from a JSON file, filled from the command line, saved in the run folder and in every checkpoint,
//! and written into the weights files as provenance. Two runs with equal settings and equal data give equal weights,
//! bit for bit; only [`MachineSettings`] may differ.

use crate::base::is_default;
use crate::base::number::{self, number};
use crate::base::parallel::check_threads;
pub use crate::fit::regression::L2Target;
use crate::fit::regression::cosine;
use clap::{Args, ValueEnum};
use dyad_engine::eval::layout;
use dyad_engine::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    #[serde(rename = "weights")]
    #[arg(long = "weights", value_name = "WEIGHTS")]
    pub start: Option<PathBuf>,
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
    /// The objective.
    #[arg(skip)]
    pub objective: ObjectiveSettings,
    /// The optimizer.
    #[arg(skip)]
    pub optimizer: OptimizerSettings,
    /// Span over which the weights are averaged
    #[serde(rename = "averaging")]
    #[arg(long = "averaging", value_name = "SPAN", value_enum, default_value_t)]
    pub average: Averaging,
    /// What L2 regularizes the weights toward
    #[serde(rename = "regularize-toward")]
    #[arg(long = "regularize-toward", value_name = "TARGET", value_enum, default_value_t)]
    pub l2_target: L2Target,
    /// Let the rate fall along a cosine to a hundredth at the end of the last iteration
    #[arg(long)]
    pub anneal: bool,
    /// Keep scale and win-rate model of the initial weights
    #[arg(long)]
    pub keep_scale: bool,
    /// Learning by group; groups not named here learn without L2.
    #[arg(skip)]
    pub groups: BTreeMap<String, GroupSettings>,
    /// Training positions to use [default: all]
    #[serde(rename = "positions")]
    #[arg(long = "positions", value_parser = number::<usize>(0..), value_name = "N")]
    pub train_positions: Option<usize>,
    /// Test positions to use [default: all]
    #[arg(long, value_parser = number::<usize>(0..), value_name = "N")]
    pub test_positions: Option<usize>,
    /// Skip positions in check
    #[arg(long)]
    pub skip_in_check: bool,
    /// One weight for a feature in all phases, as without tapered evaluation: middlegame and endgame change alike.
    #[serde(skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub untapered: bool,
    /// Node limit of one position, all its moves together; a position that needs more is skipped and counted
    #[arg(long, value_name = "NODES", value_parser = number::<u64>(1..), default_value_t = Self::default().node_limit)]
    pub node_limit: u64,
    /// Continue when the move-match accuracy on the test positions falls
    #[arg(long)]
    pub keep_going: bool,
    /// Positions between two reports
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..), default_value_t = Self::default().report_every)]
    pub report_every: u64,
    /// Test positions for the move-match accuracy of a report; the end of an iteration uses all
    #[arg(long, value_parser = number::<usize>(0..), value_name = "N", default_value_t = Self::default().report_positions)]
    pub report_positions: usize,
    /// Settings without influence on the result.
    #[command(flatten)]
    pub machine: MachineSettings,
}

/// Range of [`TrainingSettings::depth`].
const DEPTH: RangeInclusive<u32> = 1..=16;
/// Range of [`TrainingSettings::batch`].
const BATCH: RangeInclusive<usize> = 1..=LARGEST as usize;
/// Range of rates, temperatures and scales. Values are divided by temperatures and scales, so these are not tiny.
pub const POSITIVE: RangeInclusive<f64> = 1e-6..=LARGEST;
/// Range of the weights of the parts of an objective.
pub const WEIGHT: RangeInclusive<f64> = 0.0..=LARGEST;
/// Range of [`ObjectiveSettings::RankingSvm`]'s margin.
pub const MARGIN: RangeInclusive<Value> = 0..=10_000;

/// Upper bound of the numbers, so that nothing computed from them overflows.
const LARGEST: f64 = 1e7;

/// Settings without influence on the result: they may differ when a training is resumed.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct MachineSettings {
    /// Threads; 0 for one per processor.
    #[arg(skip)]
    pub threads: usize,
    /// Seconds between two checkpoints
    #[arg(long, value_parser = number::<u64>(0..), value_name = "SECONDS", default_value_t = Self::default().checkpoint_seconds)]
    pub checkpoint_seconds: u64,
}

impl MachineSettings {
    /// The number of threads.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

impl Default for MachineSettings {
    fn default() -> MachineSettings {
        MachineSettings { threads: 0, checkpoint_seconds: 60 }
    }
}

impl Default for TrainingSettings {
    fn default() -> TrainingSettings {
        TrainingSettings {
            samples: PathBuf::new(),
            start: None,
            depth: 1,
            batch: 50,
            iterations: 20,
            seed: 1,
            objective: ObjectiveSettings::default(),
            optimizer: OptimizerSettings::default(),
            average: Averaging::default(),
            l2_target: L2Target::default(),
            anneal: false,
            keep_scale: false,
            groups: BTreeMap::new(),
            train_positions: None,
            test_positions: None,
            skip_in_check: false,
            untapered: false,
            node_limit: 20_000_000,
            keep_going: false,
            report_every: 50_000,
            report_positions: 2_000,
            machine: MachineSettings::default(),
        }
    }
}

/// Objectives by name, with their parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectiveSettings {
    /// Formula (3).
    #[default]
    Perceptron,
    /// Hinge loss with a margin.
    RankingSvm {
        /// In units of evaluation.
        margin: Value,
    },
    /// Pairwise log loss.
    Logistic {
        /// In units of evaluation.
        temperature: f64,
        /// Weight of the game's result at the desired leaf; 0 for none.
        #[serde(default)]
        result_weight: f64,
        /// Weight of a searched score at the desired leaf; 0 for none.
        #[serde(default)]
        score_weight: f64,
        /// The value with an expected score of 73 % (odds of e).
        #[serde(default = "default_outcome_scale")]
        outcome_scale: f64,
    },
    /// Moves and values in one loss, for fine-tuning good weights.
    Listwise {
        /// In units of evaluation.
        temperature: f64,
        /// Weight of the desired move among its siblings.
        #[serde(default = "one")]
        move_weight: f64,
        /// Weight of the game's result at the desired leaf; 0 for none.
        #[serde(default)]
        result_weight: f64,
        /// Weight of a searched score at the desired leaf; 0 for none.
        #[serde(default)]
        score_weight: f64,
        /// Weight of a searched score as a bound of the siblings; 0 for none.
        #[serde(default)]
        bound_weight: f64,
        /// The value with an expected score of 73 % (odds of e).
        #[serde(default = "default_outcome_scale")]
        outcome_scale: f64,
    },
}

fn one() -> f64 {
    1.0
}

fn default_outcome_scale() -> f64 {
    200.0
}

impl ObjectiveSettings {
    /// The ranking SVM with its defaults.
    #[must_use]
    pub fn ranking_svm() -> ObjectiveSettings {
        ObjectiveSettings::RankingSvm { margin: 100 }
    }

    /// The logistic objective with its defaults: comparisons alone.
    #[must_use]
    pub fn logistic() -> ObjectiveSettings {
        let outcome_scale = default_outcome_scale();
        ObjectiveSettings::Logistic { temperature: 100.0, result_weight: 0.0, score_weight: 0.0, outcome_scale }
    }

    /// The listwise objective with its defaults: moves alone.
    #[must_use]
    pub fn listwise() -> ObjectiveSettings {
        ObjectiveSettings::Listwise {
            temperature: 100.0,
            move_weight: one(),
            result_weight: 0.0,
            score_weight: 0.0,
            bound_weight: 0.0,
            outcome_scale: default_outcome_scale(),
        }
    }
}

/// Optimizers by name, with their parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerSettings {
    /// The gradient times a rate; 1 is the papers'.
    Plain {
        /// The rate.
        rate: f64,
    },
    /// AdaGrad: rates that fall with the gradients a weight has seen.
    AdaGrad {
        /// The rate.
        rate: f64,
    },
    /// Adam, with a step counter per feature.
    Adam {
        /// The rate.
        rate: f64,
        /// Decay of the mean.
        #[serde(default = "default_beta1")]
        beta1: f64,
        /// Decay of the mean square.
        #[serde(default = "default_beta2")]
        beta2: f64,
    },
}

fn default_beta1() -> f64 {
    0.9
}

fn default_beta2() -> f64 {
    0.999
}

/// The rate of the papers, and the default of the other optimizers.
const RATE: f64 = 1.0;

impl OptimizerSettings {
    /// AdaGrad with its defaults.
    #[must_use]
    pub fn adagrad() -> OptimizerSettings {
        OptimizerSettings::AdaGrad { rate: RATE }
    }

    /// Adam with its defaults.
    #[must_use]
    pub fn adam() -> OptimizerSettings {
        OptimizerSettings::Adam { rate: RATE, beta1: default_beta1(), beta2: default_beta2() }
    }
}

impl Default for OptimizerSettings {
    fn default() -> OptimizerSettings {
        OptimizerSettings::Plain { rate: RATE }
    }
}

/// The span over which the weights are averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Averaging {
    /// Each iteration alone; the next starts from its average (*Comparison Training for Computer Chinese Chess*, II.C).
    #[default]
    Iteration,
    /// All iterations together; the next continues from the last weights (*Comparison Training of N-Tuple Networks for Chess*, 2.2).
    All,
    /// No average: the last weights are the result.
    Off,
}

/// Learning settings of one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GroupSettings {
    /// Whether its weights change at all.
    pub learn: bool,
    /// L2: each update subtracts the rate times this fraction from every weight.
    pub l2: f64,
    /// Learning rate, as a multiple of the optimizer's.
    pub rate: f64,
}

impl Default for GroupSettings {
    fn default() -> GroupSettings {
        GroupSettings { learn: true, l2: 0.0, rate: 1.0 }
    }
}

impl TrainingSettings {
    /// Reads settings from JSON.
    ///
    /// # Errors
    /// When the text is not valid settings.
    pub fn from_json(text: &[u8]) -> Result<TrainingSettings, String> {
        let settings: TrainingSettings = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        settings.check()?;
        Ok(settings)
    }

    /// The settings as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("settings are plain data")
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The setting that is out of bounds.
    pub fn check(&self) -> Result<(), String> {
        number::check("depth", self.depth, &DEPTH)?;
        if self.machine.threads != 0 {
            check_threads("threads", self.machine.threads)?;
        }
        number::check("batch", self.batch, &BATCH)?;
        number::check("node-limit", self.node_limit, &(1..))?;
        number::check("report-every", self.report_every, &(1..))?;
        match self.objective {
            ObjectiveSettings::Perceptron => {}
            ObjectiveSettings::RankingSvm { margin } => {
                number::check("margin", margin, &MARGIN)?;
            }
            ObjectiveSettings::Logistic { temperature, result_weight, score_weight, outcome_scale } => {
                number::check("temperature", temperature, &POSITIVE)?;
                number::check("outcome-scale", outcome_scale, &POSITIVE)?;
                number::check("result-weight", result_weight, &WEIGHT)?;
                number::check("score-weight", score_weight, &WEIGHT)?;
            }
            ObjectiveSettings::Listwise {
                temperature,
                move_weight,
                result_weight,
                score_weight,
                bound_weight,
                outcome_scale,
            } => {
                number::check("temperature", temperature, &POSITIVE)?;
                number::check("outcome-scale", outcome_scale, &POSITIVE)?;
                number::check("move-weight", move_weight, &WEIGHT)?;
                number::check("result-weight", result_weight, &WEIGHT)?;
                number::check("score-weight", score_weight, &WEIGHT)?;
                number::check("bound-weight", bound_weight, &WEIGHT)?;
            }
        }
        match self.optimizer {
            OptimizerSettings::Plain { rate } | OptimizerSettings::AdaGrad { rate } => {
                number::check("rate", rate, &POSITIVE)?;
            }
            OptimizerSettings::Adam { rate, beta1, beta2 } => {
                number::check("rate", rate, &POSITIVE)?;
                for (name, beta) in [("beta1", beta1), ("beta2", beta2)] {
                    number::check(name, beta, &(0.0..1.0))?;
                }
            }
        }
        for (name, group) in &self.groups {
            number::check(&format!("the rate of {name}"), group.rate, &POSITIVE)?;
            number::check(&format!("the l2 of {name}"), group.l2, &(0.0..=1.0))?;
        }
        match self.groups.keys().find(|name| layout::group(name).is_none()) {
            Some(unknown) => Err(format!(
                "no group of features is called {unknown:?}; there are {}",
                layout::GROUPS.map(|group| group.name).join(", ")
            )),
            None => Ok(()),
        }
    }

    /// Factor of all rates in an iteration (from 1), at the fraction `done` of it.
    #[must_use]
    pub fn rate_factor(&self, iteration: u32, done: f64) -> f64 {
        if !self.anneal {
            return 1.0;
        }
        let done = (f64::from(iteration.saturating_sub(1)) + done) / f64::from(self.iterations.max(1));
        cosine(done.min(1.0))
    }

    /// The learning rate of each feature, as a multiple of the optimizer's.
    #[must_use]
    pub fn rates(&self) -> Vec<f64> {
        let groups = layout::GROUPS.iter();
        groups.flat_map(|group| std::iter::repeat_n(self.group(group.name).rate, group.len)).collect()
    }

    /// The settings of the group called `name`.
    pub fn group(&self, name: &str) -> GroupSettings {
        self.groups.get(name).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_and_defaults() {
        let mut settings = TrainingSettings {
            depth: 3,
            objective: ObjectiveSettings::RankingSvm { margin: 50 },
            optimizer: OptimizerSettings::Adam { rate: 0.5, beta1: 0.9, beta2: 0.999 },
            ..TrainingSettings::default()
        };
        settings.groups.insert("pairs".into(), GroupSettings { learn: false, l2: 1e-6, rate: 0.5 });
        assert_eq!(TrainingSettings::from_json(&settings.to_json()), Ok(settings));
        assert_eq!(TrainingSettings::from_json(b"{}"), Ok(TrainingSettings::default()));
    }

    #[test]
    fn groups_have_their_own_rates() {
        let mut settings = TrainingSettings::default();
        settings.groups.insert("pairs".into(), GroupSettings { rate: 0.5, ..GroupSettings::default() });
        let rates = settings.rates();
        assert_eq!(rates.len(), layout::LEN);
        assert_eq!((rates[0], rates[layout::PAIRS.start]), (1.0, 0.5));
    }

    #[test]
    fn errors_name_the_setting() {
        let cases: &[(&str, &str)] = &[
            (r#"{"depth": 0}"#, "depth"),
            (r#"{"batch": 0}"#, "batch"),
            (r#"{"dept": 2}"#, "dept"),
            (r#"{"groups": {"pears": {}}}"#, "pears"),
            (r#"{"optimizer": {"kind": "plain", "rate": -1}}"#, "rate"),
            (r#"{"objective": {"kind": "logistic", "temperature": 0}}"#, "temperature"),
            (r#"{"objective": {"kind": "logistic", "temperature": 1e9}}"#, "temperature"),
            (
                r#"{"objective": {"kind": "logistic", "temperature": 1e-308}}"#,
                "temperature must be 0.000001 to 10000000",
            ),
            (r#"{"objective": {"kind": "listwise", "temperature": 1, "outcome_scale": 1e-9}}"#, "outcome-scale"),
            (r#"{"objective": {"kind": "logistic", "temperature": 1, "result_weight": -5}}"#, "result-weight"),
            (r#"{"objective": {"kind": "logistic", "temperature": 1, "score_weight": 1e300}}"#, "score-weight"),
            (r#"{"groups": {"pairs": {"l2": -1}}}"#, "l2 of pairs"),
            (r#"{"groups": {"pairs": {"l2": 1.5}}}"#, "l2 of pairs"),
            (r#"{"batch": 18446744073709551615}"#, "batch"),
            (r#"{"machine": {"threads": 1025}}"#, "threads must be 1 to 1024, not 1025"),
        ];
        for (text, word) in cases {
            let error = TrainingSettings::from_json(text.as_bytes()).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        let mut settings = TrainingSettings::default();
        settings.groups.insert("pairs".into(), GroupSettings { l2: f64::NAN, ..GroupSettings::default() });
        assert!(settings.check().unwrap_err().contains("not NaN"));
    }
}
