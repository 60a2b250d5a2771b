//! Settings of a self-training: those of all methods, and those of each [`Method`].
//!
//! [Presets](super::presets) are complete settings, and [`Overrides`](super::overrides::Overrides) replace single
//! values. The weights of a training depend on its settings and seed, and not on the number of threads.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, RangeInclusive};
use std::path::PathBuf;
use std::str::FromStr;

use dyad_formats::score::ScoreSide;
use serde::{Deserialize, Serialize};

use super::event::Stage;
use super::self_play::HASH;
use crate::arena::matches::MOST_GAMES;
use crate::arena::openings::{PolicySampler, Variant};
use crate::arena::statistics::{EloModel, Sprt};
use crate::base::number;
use crate::base::parallel::check_threads;
use crate::base::words::{counted, grouped, named};
use crate::data::label;
use crate::learn::settings::{
    GroupSettings, L2Target, ObjectiveSettings, OptimizerSettings, TrainingSettings as RunSettings,
};

/// Range of [`SelfTrainSettings::minutes`]: a year at most.
pub(super) const MINUTES: RangeInclusive<u64> = 0..=365 * 24 * 60;

/// Complete settings. As JSON they are flat, see [`Overrides`](super::overrides::Overrides).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value", into = "serde_json::Value")]
pub struct SelfTrainSettings {
    /// Starting positions of self-play games and matches.
    pub variant: Variant,
    /// Share of [policy-sampled openings](crate::arena::openings::PolicySampler) in matches, and in the games of a
    /// regression; the other openings are random.
    pub policy_openings: f64,
    /// Seed of all random draws.
    pub seed: u64,
    /// Nodes per self-play move; a regression with [`Regression::growth`] starts with them.
    pub nodes: u64,
    /// Positions drawn from the games of a generation, at most.
    pub positions: u64,
    /// Positions drawn from one game, at most.
    pub positions_per_game: usize,
    /// Number of generations whose positions a training uses, including the current one.
    pub window: u32,
    /// Number of generations; 0 for no limit.
    pub generations: u32,
    /// Threads.
    pub threads: usize,
    /// Games of a match, at most; an odd number is rounded up.
    pub match_games: u64,
    /// Nodes per move in matches and in the games of a tuning.
    pub match_nodes: u64,
    /// SPRT of a match: Elo of H0 and H1, alpha, beta.
    pub sprt: [f64; 4],
    /// Interval between two regression matches against generation 0, in generations; 0 for none.
    pub regression_match_every: u32,
    /// Whether to keep scale and WDL model of the initial weights; otherwise the scale is fitted to the game results.
    pub keep_scale: bool,
    /// Pairs of games that tune the new weights by [SPSA](crate::tune); 0 for no tuning.
    pub tuning_pairs: u64,
    /// Nodes per move in the games against the reference and in long matches.
    pub long_nodes: u64,
    /// Most games that measure the distance of new best weights to the reference; 0 for none.
    pub distance_games: u64,
    /// Most games of a long match, which has to prove that new best weights are stronger than those that the engine
    /// plays with; 0 for none, and the engine keeps its weights.
    pub long_games: u64,
    /// SPRT of a long match.
    pub long_sprt: [f64; 4],
    /// Minutes after which a training ends, from its start or resumption; 0 for no limit.
    pub minutes: u64,
    /// The training method.
    pub method: Method,
}

/// The training method, with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// From scores of self-play searches and results of the games.
    Regression(Regression),
    /// By comparison of desired moves with their siblings.
    Comparison(Comparison),
}

/// The name of a [`Method`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// [`Method::Regression`].
    Regression,
    /// [`Method::Comparison`].
    Comparison,
}

impl MethodName {
    /// All methods.
    pub const ALL: [MethodName; 2] = [MethodName::Regression, MethodName::Comparison];
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            MethodName::Regression => "regression",
            MethodName::Comparison => "comparison",
        })
    }
}

impl FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<MethodName, String> {
        named(&MethodName::ALL, text)
    }
}

/// A [regression](crate::fit::regression) of all weights to search scores and game results. Each generation starts from
/// the initial weights again, and its result is interpolated with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regression {
    /// Weight of the game result in the target, 0 to 1; the rest is the search score.
    pub result_share: f64,
    /// Passes over the positions.
    pub passes: u32,
    /// Generation `n` plays with `min(n, growth)` times [`SelfTrainSettings::nodes`]. Above 1 the first games are weak,
    /// and only the later half of all generations is used.
    pub growth: u32,
    /// L2 of the 2-tuples toward zero, as a number of positions.
    pub pairs_l2: f64,
    /// Number of positions at which the interpolation coefficient is one half; 0 for a constant coefficient,
    /// [`Regression::max_interpolation`].
    pub half_at: u64,
    /// Upper bound of the interpolation coefficient: 0 is the initial weights, 1 the result of the regression.
    pub max_interpolation: f64,
    /// Whether to use all positions, [resolved by quiescence](crate::data::leaves); otherwise quiescent positions only.
    pub leaves: bool,
}

impl Default for Regression {
    fn default() -> Regression {
        Regression {
            result_share: 0.1,
            passes: 8,
            growth: 4,
            pairs_l2: 1_000.0,
            half_at: 0,
            max_interpolation: 1.0,
            leaves: false,
        }
    }
}

impl Regression {
    /// The interpolation coefficient of a regression over `positions` positions.
    #[must_use]
    pub fn interpolation(&self, positions: u64) -> f64 {
        let by_positions = match self.half_at {
            0 => 1.0,
            half => positions as f64 / (positions as f64 + half as f64),
        };
        self.max_interpolation.min(by_positions)
    }
}

/// The source of the games of a comparison training.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Self-play of the best weights; a deeper search finds the desired moves.
    #[default]
    SelfPlay,
    /// This PGN file, plain or packed; the desired moves are the played moves.
    Games(PathBuf),
}

/// Comparison training from the best weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The source of the games.
    pub source: Source,
    /// Side that the scores in the comments of a file of games are given for; `None` ignores these scores.
    pub scores: Option<ScoreSide>,
    /// The d of d-ply training; 1 for the quiescence leaf of each child.
    pub depth: u32,
    /// Nodes of the search that finds a desired move.
    pub label_nodes: u64,
    /// Positions per update of the weights.
    pub batch: usize,
    /// Passes over the positions.
    pub iterations: u32,
    /// Smallest margin of the desired move over the second-best one, in centipawns, at which the two are compared.
    pub min_margin: u32,
    /// The objective. For a logistic objective the score of 73 % is fitted to the games and replaces the one given
    /// here.
    pub objective: ObjectiveSettings,
    /// The optimizer.
    pub optimizer: OptimizerSettings,
    /// Settings by feature group.
    pub groups: BTreeMap<String, GroupSettings>,
    /// Number of positions from which a fine-tuning pass follows the training: one pass of the averaged perceptron of
    /// the papers over the same positions. 0 for none.
    pub fine_tune_from: u64,
    /// The weights that L2 regularizes toward.
    pub regularize_toward: L2Target,
    /// Whether the learning rate decays to a hundredth during a training.
    pub anneal: bool,
    /// Interpolation coefficient from the base of the best weights (0) to the trained weights (1). Below 1 it is halved
    /// after each rejected generation, three times at most.
    pub interpolation: f64,
}

/// Upper bound of [`SelfTrainSettings::distance_games`] in the option for long games.
pub const MOST_FOR_DISTANCE: u64 = 40;

/// Upper bound of the halvings of [`Comparison::interpolation`].
const MOST_HALVINGS: u32 = 3;
/// Upper bound of the doublings of [`SelfTrainSettings::tuning_pairs`] by rejected generations.
const MOST_DOUBLINGS: u32 = 2;

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison {
            source: Source::SelfPlay,
            scores: None,
            depth: 1,
            label_nodes: 2_000,
            batch: 256,
            iterations: 2,
            min_margin: 15,
            objective: ObjectiveSettings::Logistic {
                temperature: 100.0,
                result_weight: 1.0,
                score_weight: 0.5,
                outcome_scale: 400.0,
            },
            optimizer: OptimizerSettings::adam(),
            groups: BTreeMap::from([("pairs".to_string(), GroupSettings { rate: 0.05, ..GroupSettings::default() })]),
            fine_tune_from: 50_000,
            regularize_toward: L2Target::Zero,
            anneal: false,
            interpolation: 1.0,
        }
    }
}

impl Comparison {
    /// Whether a search finds the desired moves.
    #[must_use]
    pub fn is_labeled(&self) -> bool {
        self.source == Source::SelfPlay
    }

    /// The interpolation coefficient after `rejected` rejected generations in a row.
    #[must_use]
    pub fn interpolation_after(&self, rejected: u32) -> f64 {
        match self.interpolation < 1.0 {
            true => self.interpolation / f64::from(1 << rejected.min(MOST_HALVINGS)),
            false => self.interpolation,
        }
    }

    /// How labels are found.
    #[must_use]
    pub fn labels(&self) -> label::LabelSettings {
        label::LabelSettings {
            nodes: self.label_nodes,
            hash: HASH,
            min_margin: self.min_margin,
            ..label::LabelSettings::default()
        }
    }

    /// The settings of the training that do not depend on the generation.
    #[must_use]
    pub fn training(&self, keep_scale: bool) -> RunSettings {
        RunSettings {
            batch: self.batch,
            iterations: self.iterations,
            objective: self.objective.clone(),
            optimizer: self.optimizer.clone(),
            groups: self.groups.clone(),
            l2_target: self.regularize_toward,
            anneal: self.anneal,
            keep_scale,
            ..self.fine_tuning()
        }
    }

    /// The settings of the fine-tuning pass, those of the papers.
    #[must_use]
    pub fn fine_tuning(&self) -> RunSettings {
        RunSettings { depth: self.depth, iterations: 1, keep_going: true, ..RunSettings::default() }
    }
}

impl Method {
    /// The name of the method.
    #[must_use]
    pub fn name(&self) -> MethodName {
        match self {
            Method::Regression(_) => MethodName::Regression,
            Method::Comparison(_) => MethodName::Comparison,
        }
    }

    /// The stages that make new weights, in order.
    fn stages(&self) -> &'static [Stage] {
        match self {
            Method::Comparison(comparison) if comparison.is_labeled() => {
                &[Stage::Games, Stage::Positions, Stage::Labels, Stage::Training, Stage::Scale]
            }
            Method::Comparison(_) => &[Stage::Positions, Stage::Training, Stage::Scale],
            Method::Regression(_) => &[Stage::Games, Stage::Positions, Stage::Training, Stage::Scale],
        }
    }
}

impl SelfTrainSettings {
    /// The stages of a generation, in order.
    #[must_use]
    pub fn stages(&self, generation: u32) -> Vec<Stage> {
        let mut stages = self.method.stages().to_vec();
        if self.tuning_pairs > 0 {
            stages.push(Stage::Tuning);
        }
        stages.push(Stage::Match);
        if self.regression_match_every > 0 && generation.is_multiple_of(self.regression_match_every) {
            stages.push(Stage::RegressionMatch);
        }
        if self.distance_games > 0 {
            stages.push(Stage::Distance);
        }
        if self.long_games > 0 {
            stages.push(Stage::Proof);
        }
        stages
    }

    /// The nodes per self-play move of a generation.
    #[must_use]
    pub fn nodes_of(&self, generation: u32) -> u64 {
        let growth = match &self.method {
            Method::Regression(regression) => regression.growth.max(1),
            Method::Comparison(_) => 1,
        };
        self.nodes.saturating_mul(u64::from(generation.clamp(1, growth)))
    }

    /// The first generation of the window of `generation`.
    #[must_use]
    pub fn window_start(&self, generation: u32) -> u32 {
        let start = generation.saturating_sub(self.window - 1).max(1);
        match &self.method {
            Method::Regression(regression) if regression.growth > 1 => start.max(generation.div_ceil(2)),
            _ => start,
        }
    }

    /// The pairs of games of a tuning after `rejected` rejected generations in a row. The remaining gain of a
    /// comparison training is smaller then and takes more games to detect; a regression tunes a single parameter.
    #[must_use]
    pub fn tuning_pairs_after(&self, rejected: u32) -> u64 {
        match self.method {
            Method::Regression(_) => self.tuning_pairs,
            Method::Comparison(_) => self.tuning_pairs << rejected.min(MOST_DOUBLINGS),
        }
    }

    /// Checks that a training can run with these settings.
    ///
    /// # Errors
    /// Names a setting that is out of its bounds.
    pub fn check(&self) -> Result<(), String> {
        let counts = [
            ("nodes", self.nodes),
            ("positions", self.positions),
            ("match-nodes", self.match_nodes),
            ("long-nodes", self.long_nodes),
            ("positions-per-game", self.positions_per_game as u64),
            ("window", u64::from(self.window)),
        ];
        at_least_1(&counts)?;
        number::check("match-games", self.match_games, &(1..=MOST_GAMES))?;
        number::check("distance-games", self.distance_games, &(0..=MOST_GAMES))?;
        number::check("long-games", self.long_games, &(0..=MOST_GAMES))?;
        PolicySampler::check(self.policy_openings)?;
        number::check("tuning-pairs", self.tuning_pairs, &(0..=MOST_GAMES))?;
        number::check("minutes", self.minutes, &MINUTES)?;
        check_threads("threads", self.threads)?;
        self.sprt().map_err(|problem| format!("sprt: {problem}"))?;
        self.long_sprt().map_err(|problem| format!("long-sprt: {problem}"))?;
        let interpolation = match &self.method {
            Method::Regression(Regression { result_share, passes, pairs_l2, max_interpolation, .. }) => {
                if !(0.0..=1.0).contains(result_share) || *passes == 0 || !(*pairs_l2 >= 0.0 && pairs_l2.is_finite()) {
                    return Err(format!(
                        "fit: result-share {result_share} (0 to 1), passes {passes} (1 and more), pairs-l2 {pairs_l2} (0 and more)"
                    ));
                }
                *max_interpolation
            }
            Method::Comparison(comparison) => {
                let counts =
                    [("label-nodes", comparison.label_nodes), ("iterations", u64::from(comparison.iterations))];
                at_least_1(&counts)?;
                comparison.labels().check()?;
                comparison.training(self.keep_scale).check()?;
                comparison.interpolation
            }
        };
        number::check("interpolation", interpolation, &(Bound::Excluded(0.0), Bound::Included(1.0)))
    }

    /// The SPRT of a match.
    ///
    /// # Errors
    /// When its hypotheses or error probabilities are out of order or range.
    pub fn sprt(&self) -> Result<Sprt, String> {
        logistic_sprt(self.sprt)
    }

    /// The SPRT of a long match.
    ///
    /// # Errors
    /// When its hypotheses or error probabilities are out of order or range.
    pub fn long_sprt(&self) -> Result<Sprt, String> {
        logistic_sprt(self.long_sprt)
    }
}

fn logistic_sprt([elo0, elo1, alpha, beta]: [f64; 4]) -> Result<Sprt, String> {
    Sprt::new(elo0, elo1, alpha, beta, EloModel::Logistic)
}

/// Refuses a count of 0.
fn at_least_1(counts: &[(&str, u64)]) -> Result<(), String> {
    match counts.iter().find(|(_, count)| *count == 0) {
        Some((name, _)) => Err(format!("{name} must be at least 1")),
        None => Ok(()),
    }
}

/// The numbers a training runs with, for a user.
impl fmt::Display for SelfTrainSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = grouped(self.nodes);
        write!(f, "{}: ", self.method.name())?;
        match &self.method {
            Method::Regression(Regression { growth, .. }) => {
                write!(f, "{nodes} nodes a move")?;
                if *growth > 1 {
                    write!(f, " ({} from generation {growth} on)", grouped(self.nodes_of(*growth)))?;
                }
                write!(f, ", {} positions a generation", grouped(self.positions))?;
            }
            Method::Comparison(Comparison { source, depth, label_nodes, batch, .. }) => {
                if *source == Source::SelfPlay {
                    write!(f, "{nodes} nodes a move, {} nodes a label, ", grouped(*label_nodes))?;
                }
                let positions = grouped(self.positions);
                write!(f, "{positions} positions a generation, depth {depth}, batches of {}", grouped(*batch as u64))?;
            }
        }
        if self.tuning_pairs > 0 {
            write!(f, ", tuning by {} games", grouped(2 * self.tuning_pairs))?;
        }
        let (games, match_nodes) = (grouped(2 * self.match_games.div_ceil(2)), grouped(self.match_nodes));
        write!(f, ", matches of at most {games} games at {match_nodes} nodes a move")?;
        if self.minutes > 0 {
            write!(f, ", {} minutes", grouped(self.minutes))?;
        }
        match self.generations {
            0 => (),
            1 => write!(f, ", 1 generation")?,
            generations => write!(f, ", {} generations", grouped(generations.into()))?,
        }
        write!(f, ", {}", counted(self.threads as u64, "thread", "threads"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftrain::presets::Preset;

    fn regression(preset: Preset) -> SelfTrainSettings {
        SelfTrainSettings::preset(preset, MethodName::Regression)
    }

    fn comparison() -> SelfTrainSettings {
        SelfTrainSettings::preset(Preset::Scratch, MethodName::Comparison)
    }

    #[test]
    fn a_method_has_its_own_stages() {
        use Stage::{Distance, Games, Labels, Match, Positions, Proof, RegressionMatch, Scale, Training, Tuning};
        assert_eq!(regression(Preset::Scratch).stages(1), [Games, Positions, Training, Scale, Match, Distance, Proof]);
        let improve = [Games, Positions, Training, Scale, Tuning, Match, Distance, Proof];
        assert_eq!(regression(Preset::Improve).stages(5), improve);
        let all = [Games, Positions, Labels, Training, Scale, Tuning, Match, RegressionMatch, Distance, Proof];
        let every_5 = SelfTrainSettings {
            regression_match_every: 5,
            ..SelfTrainSettings::preset(Preset::Improve, MethodName::Comparison)
        };
        assert_eq!(every_5.stages(10), all);
        let method = Method::Comparison(Comparison { source: Source::Games("a.pgn".into()), ..Comparison::default() });
        let games = SelfTrainSettings { method, distance_games: 0, long_games: 0, ..comparison() };
        assert_eq!(games.stages(1), [Positions, Training, Scale, Match]);
        assert!(!comparison().stages(5).contains(&RegressionMatch));
    }

    #[test]
    fn nodes_and_window_grow_with_the_generations() {
        let scratch = SelfTrainSettings { nodes: 100, window: 4, ..regression(Preset::Scratch) };
        assert_eq!([1, 2, 4, 5, 90].map(|generation| scratch.nodes_of(generation)), [100, 200, 400, 400, 400]);
        assert_eq!([1, 2, 3, 4, 7, 8, 20].map(|generation| scratch.window_start(generation)), [1, 1, 2, 2, 4, 5, 17]);
        let improve = SelfTrainSettings { window: 4, ..regression(Preset::Improve) };
        assert_eq!([1, 9].map(|generation| improve.nodes_of(generation)), [1_000, 1_000]);
        assert_eq!([1, 4, 5, 20].map(|generation| improve.window_start(generation)), [1, 1, 2, 17]);
        let compared = SelfTrainSettings { method: comparison().method, ..scratch };
        assert_eq!([1, 9].map(|generation| compared.nodes_of(generation)), [100, 100]);
        assert_eq!([1, 4, 5, 20].map(|generation| compared.window_start(generation)), [1, 1, 2, 17]);
    }

    #[test]
    fn tunings_of_a_comparison_double_twice() {
        let pairs = |rejected| SelfTrainSettings { tuning_pairs: 300, ..comparison() }.tuning_pairs_after(rejected);
        assert_eq!([0, 1, 2, 3, 9].map(pairs), [300, 600, 1_200, 1_200, 1_200]);
        assert_eq!(regression(Preset::Improve).tuning_pairs_after(2), 500);
        let error = SelfTrainSettings { tuning_pairs: u64::MAX, ..comparison() }.check().unwrap_err();
        assert!(error.starts_with("tuning-pairs must be"), "{error}");
    }

    #[test]
    fn interpolation_coefficients() {
        let half = Comparison { interpolation: 0.5, ..Comparison::default() };
        let coefficients: Vec<f64> = (0..6).map(|rejected| half.interpolation_after(rejected)).collect();
        assert_eq!(coefficients, [0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0625]);
        assert_eq!(Comparison::default().interpolation_after(2), 1.0);
        let Method::Regression(improve) = regression(Preset::Improve).method else { panic!("a regression") };
        let percent = [1, 3, 20, 40].map(|count| (100.0 * improve.interpolation(5_000_000 * count)).round());
        assert_eq!(percent, [25.0, 50.0, 67.0, 67.0]);
        assert_eq!(Regression::default().interpolation(1), 1.0);
        for interpolation in [0.0, 1.5, f64::NAN] {
            let method = Method::Comparison(Comparison { interpolation, ..Comparison::default() });
            let error = SelfTrainSettings { method, ..comparison() }.check().unwrap_err();
            assert!(error.starts_with("interpolation must be"), "{error}");
        }
        for (wrong, word) in [
            (Regression { result_share: 1.5, ..Regression::default() }, "result-share 1.5"),
            (Regression { pairs_l2: -1.0, ..Regression::default() }, "pairs-l2 -1"),
        ] {
            let settings = SelfTrainSettings { method: Method::Regression(wrong), ..regression(Preset::Scratch) };
            assert!(settings.check().unwrap_err().contains(word));
        }
    }

    #[test]
    fn the_numbers_are_reported() {
        assert_eq!(
            regression(Preset::Scratch).to_string(),
            "regression: 250 nodes a move (1,000 from generation 4 on), 200,000 positions a generation, matches of at most \
             300 games at 1,000 nodes a move, 1 thread"
        );
        let improve = SelfTrainSettings { threads: 2, generations: 3, match_games: 9, ..regression(Preset::Improve) };
        assert_eq!(
            improve.to_string(),
            "regression: 1,000 nodes a move, 1,500,000 positions a generation, tuning by 1,000 games, matches of at most 10 \
             games at 4,000 nodes a move, 3 generations, 2 threads"
        );
        assert_eq!(
            comparison().to_string(),
            "comparison: 300 nodes a move, 2,000 nodes a label, 20,000 positions a generation, depth 1, batches of 256, \
             matches of at most 300 games at 1,000 nodes a move, 1 thread"
        );
    }
}
