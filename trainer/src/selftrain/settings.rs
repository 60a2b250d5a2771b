//! Settings of a self-training: one flat struct, whose fields are the options of `dyad selftrain` and the keys of
//! `settings.json`.
//!
//! [Presets](super::presets) are values of it by method and time; what a user gives is merged over one
//! of them. What nobody changes is a constant. The weights of a training depend on its settings and seed, and not on
//! the number of threads.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dyad_engine::engine::MAX_THREADS;
use dyad_formats::files;
use dyad_formats::input::is_standard_input;
use dyad_formats::score::ScoreSide;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::event::Stage;
use super::generator::HASH;
use crate::arena::matches::MOST_GAMES;
use crate::arena::openings::Variant;
use crate::arena::statistics::Sprt;
use crate::base::group_value::GroupValue;
use crate::base::number::{self, number};
use crate::base::words::{counted, grouped, name_of};
use crate::data::label;
use crate::learn::settings::{ObjectiveName, OptimizerName, TrainingSettings as RunSettings};

/// Range of [`SelfTrainSettings::minutes`]: a year at most.
const MINUTES: RangeInclusive<u64> = 0..=365 * 24 * 60;

/// Settings by the names of their options.
pub type Given = Map<String, Json>;

/// Complete settings. The options without a help text are numbers that seldom need another value; `docs/training.md`
/// lists them.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct SelfTrainSettings {
    /// Train by `regression` to search scores, or by `comparison` of moves [default: regression; comparison with
    /// --games-file]
    #[arg(long, value_enum, hide_default_value = true, default_value_t = Self::default().method)]
    pub method: Method,
    /// Learn from the games of FILE (PGN, also packed) instead of self-play; comparison only
    #[serde(skip_serializing_if = "Option::is_none")]
    #[arg(long, value_name = "FILE")]
    pub games_file: Option<PathBuf>,
    /// Side that the scores in the comments of --games-file are given for: `white` or `mover` [default: scores are not
    /// read]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[arg(long, value_name = "SIDE")]
    pub scores: Option<ScoreSide>,
    /// Starting positions of games and matches
    #[arg(long, value_enum, default_value_t)]
    pub variant: Variant,
    /// Seed of all random draws
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
    /// Nodes per self-play move; a regression starts with them and uses up to four times as many
    #[arg(long, value_parser = number::<u64>(1..), hide_default_value = true, default_value_t = Self::default().nodes)]
    pub nodes: u64,
    /// Nodes of the search that finds a desired move; comparison only
    #[arg(long, value_parser = number::<u64>(1..), value_name = "NODES", hide_default_value = true,
          default_value_t = Self::default().label_nodes)]
    pub label_nodes: u64,
    /// Positions drawn from the games of a generation, at most
    #[arg(long, value_parser = number::<u64>(1..), value_name = "N", hide_default_value = true,
          default_value_t = Self::default().positions)]
    pub positions: u64,
    /// Number of generations; 0 for no limit
    #[arg(long, value_parser = number::<u32>(0..), value_name = "N", default_value_t = Self::default().generations)]
    pub generations: u32,
    /// Minutes after which the training ends; 0 for no limit. Up to 15 make generations small, 240 and more large
    #[arg(long, value_parser = number(MINUTES), value_name = "MINUTES", default_value_t = Self::default().minutes)]
    pub minutes: u64,
    /// Threads [default: one per processor]
    #[arg(long, value_parser = number(1..=MAX_THREADS), value_name = "N", hide_default_value = true,
          default_value_t = Self::default().threads)]
    pub threads: usize,
    /// Games of a match, at most; an odd number is rounded up
    #[arg(long, value_parser = number(1..=MOST_GAMES), value_name = "N", hide_default_value = true,
          default_value_t = Self::default().match_games)]
    pub match_games: u64,
    /// Nodes per move in matches and tuning games
    #[arg(long, value_parser = number::<u64>(1..), value_name = "NODES", hide_default_value = true,
          default_value_t = Self::default().match_nodes)]
    pub match_nodes: u64,
    /// Pairs of games that tune the new weights after two rejected generations; 0 for no tuning; regression only
    #[arg(long, value_parser = number(0..=MOST_GAMES), value_name = "N", hide_default_value = true,
          default_value_t = Self::default().tuning_pairs)]
    pub tuning_pairs: u64,
    /// Games of a long match against the weights that the engine plays with, at most, and of those that measure the
    /// distance; 0 for none
    #[arg(long, value_parser = number(0..=MOST_GAMES), value_name = "N", hide_default_value = true,
          default_value_t = Self::default().long_games)]
    pub long_games: u64,
    /// Nodes per move in the games of --long-games
    #[arg(long, value_parser = number::<u64>(1..), value_name = "NODES", default_value_t = Self::default().long_nodes)]
    pub long_nodes: u64,
    /// SPRT of a match: Elo of H0 and H1, alpha, beta
    #[arg(long, hide = true, num_args = 4, allow_negative_numbers = true, value_parser = number::<f64>(..),
          default_values_t = Self::default().sprt)]
    pub sprt: Vec<f64>,
    /// SPRT of a long match
    #[arg(long, hide = true, num_args = 4, allow_negative_numbers = true, value_parser = number::<f64>(..),
          default_values_t = Self::default().long_sprt)]
    pub long_sprt: Vec<f64>,
    /// Positions drawn from one game, at most
    #[arg(long, hide = true, value_parser = number::<usize>(1..), default_value_t = Self::default().positions_per_game)]
    pub positions_per_game: usize,
    /// Generations whose positions a training uses, including the current one
    #[arg(long, hide = true, value_parser = number::<u32>(1..), default_value_t = Self::default().window)]
    pub window: u32,
    /// Passes over the positions
    #[arg(long, hide = true, value_parser = number::<u32>(1..), default_value_t = Self::default().passes)]
    pub passes: u32,
    /// Positions per update of the weights of a comparison
    #[arg(long, hide = true, value_parser = number::<usize>(0..), default_value_t = Self::default().batch)]
    pub batch: usize,
    /// Weight of the game result in the target of a regression; the rest is the search score
    #[arg(long, hide = true, value_parser = number(0.0..=1.0), default_value_t = Self::default().result_share)]
    pub result_share: f64,
    /// Generation N of a regression plays with min(N, GROWTH) times --nodes. Above 1 the first games are weak, and only
    /// the later half of all generations is used
    #[arg(long, hide = true, value_parser = number::<u32>(1..), default_value_t = Self::default().growth)]
    pub growth: u32,
    /// L2 of the 2-tuples of a regression toward zero, as a number of positions
    #[arg(long, hide = true, value_parser = number(0.0..=1e9), default_value_t = Self::default().pairs_l2)]
    pub pairs_l2: f64,
    /// Smallest margin of the desired move over the second-best one, in centipawns, at which the two are compared
    #[arg(long, hide = true, value_parser = number(label::MARGIN), default_value_t = Self::default().min_margin)]
    pub min_margin: u32,
    /// Number of positions from which a fine-tuning pass follows a comparison training: one pass of the averaged
    /// perceptron of the papers over the same positions. 0 for none
    #[arg(long, hide = true, default_value_t = Self::default().fine_tune_from)]
    pub fine_tune_from: u64,
}

/// The training method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A [regression](crate::fit::regression) of all weights to search scores and game results. Each generation starts
    /// from the values of the pieces again.
    Regression,
    /// Comparison of desired moves with their siblings, from the best weights.
    Comparison,
}

impl Method {
    /// The settings of the method alone.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Method::Regression => &["tuning-pairs", "result-share", "growth", "pairs-l2"],
            Method::Comparison => &["games-file", "scores", "label-nodes", "batch", "min-margin", "fine-tune-from"],
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&name_of(self))
    }
}

impl Default for SelfTrainSettings {
    fn default() -> SelfTrainSettings {
        SelfTrainSettings::of(Method::Regression)
    }
}

/// Most games that measure the distance to the reference.
const DISTANCE_GAMES: u64 = 40;
/// Largest size of a file of settings, in bytes.
const LARGEST: u64 = 1 << 20;

impl SelfTrainSettings {
    /// The settings of a new training: the preset for it, over it the settings in the folder that the user has written,
    /// and over them those that are `given`.
    ///
    /// # Errors
    /// Names a setting that is unknown, that the method does not have, or that is out of its bounds.
    pub fn resolve(folder: &Path, given: &Given) -> Result<SelfTrainSettings, String> {
        let path = folder.join(crate::learn::folder::SETTINGS);
        let mut file = written(&path)?;
        file.retain(|name, _| !given.contains_key(name));
        let mut all = file.clone();
        all.extend(given.clone());
        let games = if all.contains_key("games-file") { Method::Comparison } else { Method::Regression };
        let method = read(&all, "method")?.unwrap_or(games);
        let minutes = read(&all, "minutes")?.unwrap_or_default();
        let of_file = SelfTrainSettings::of(method).sized(minutes).with(&file);
        let settings = of_file.map_err(|error| format!("{}: {error}", path.display()))?.with(given)?;
        settings.check().map(|()| settings)
    }

    /// The settings with those that are `given` in their place.
    ///
    /// # Errors
    /// Names a setting that is unknown, that this training does not have, or that has a wrong value.
    pub fn with(&self, given: &Given) -> Result<SelfTrainSettings, String> {
        let mut all = self.to_json();
        for (name, value) in given {
            if name == "method" && all[name] != *value {
                return Err(format!("method: it is {} in this training, and {value} needs one of its own", all[name]));
            }
            if let Some(problem) = misplaced(name, self.method) {
                return Err(problem);
            }
            let alone = Json::from(Map::from_iter([(name.clone(), value.clone())]));
            serde_json::from_value::<SelfTrainSettings>(alone).map_err(|error| {
                let error = error.to_string();
                if error.starts_with("unknown field") { error } else { format!("{name}: {error}") }
            })?;
            all.insert(name.clone(), value.clone());
        }
        serde_json::from_value(all.into()).map_err(|error| error.to_string())
    }

    /// What `settings.json` holds: the settings, but those of another method.
    pub fn to_json(&self) -> Given {
        let Ok(Json::Object(mut all)) = serde_json::to_value(self) else { unreachable!("the settings are plain data") };
        all.retain(|name, _| misplaced(name, self.method).is_none());
        all
    }

    /// Most games that measure the distance of new best weights to the reference, a tenth of those of a long match; 0
    /// for none.
    pub fn distance_games(&self) -> u64 {
        (self.long_games / 10).min(DISTANCE_GAMES)
    }

    /// Whether new best weights play games against the levels. In a training of seconds these would take most of the time.
    pub fn is_rated(&self) -> bool {
        self.distance_games() >= 20
    }

    /// Whether a search finds the desired moves.
    pub fn is_labeled(&self) -> bool {
        self.method == Method::Comparison && self.games_file.is_none()
    }

    /// How labels are found.
    pub fn labels(&self) -> label::LabelSettings {
        label::LabelSettings { nodes: self.label_nodes, hash: HASH, min_margin: self.min_margin }
    }

    /// The settings of a comparison training that do not depend on the generation. The score of 73 % is fitted
    /// to the games.
    pub fn training(&self) -> RunSettings {
        RunSettings {
            objective: ObjectiveName::Logistic,
            result_weight: 1.0,
            score_weight: 0.5,
            batch: self.batch,
            iterations: self.passes,
            optimizer: OptimizerName::Adam,
            rate_factor: vec![GroupValue::new("pairs", 0.05)],
            ..self.fine_tuning()
        }
    }

    /// The settings of the fine-tuning pass, those of the papers.
    pub fn fine_tuning(&self) -> RunSettings {
        RunSettings { iterations: 1, keep_going: true, ..RunSettings::default() }
    }

    /// The stages of a generation, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let all = [
            (Stage::Games, self.games_file.is_none()),
            (Stage::Positions, true),
            (Stage::Labels, self.is_labeled()),
            (Stage::Training, true),
            (Stage::Scale, true),
            (Stage::Tuning, self.is_tuned()),
            (Stage::Match, true),
            (Stage::Distance, self.distance_games() > 0),
            (Stage::Proof, self.long_games > 0),
        ];
        all.into_iter().filter(|(_, is_used)| *is_used).map(|(stage, _)| stage).collect()
    }

    /// The nodes per self-play move of a generation.
    pub fn nodes_of(&self, generation: u32) -> u64 {
        self.nodes.saturating_mul(u64::from(generation.clamp(1, self.growth())))
    }

    /// The first generation of the window of `generation`.
    pub fn window_start(&self, generation: u32) -> u32 {
        let start = generation.saturating_sub(self.window - 1).max(1);
        if self.growth() > 1 { start.max(generation.div_ceil(2)) } else { start }
    }

    fn growth(&self) -> u32 {
        if self.method == Method::Regression { self.growth.max(1) } else { 1 }
    }

    /// The pairs of games of the tuning of a generation after `rejected` rejected ones in a row. A tuning takes as long as
    /// two generations, which gain more until the training stands still. (L34 and L35 in `docs/experiments.md`)
    pub fn tuning_pairs_of(&self, rejected: u32) -> u64 {
        if self.is_tuned() && rejected % 3 == 2 { self.tuning_pairs } else { 0 }
    }

    fn is_tuned(&self) -> bool {
        self.method == Method::Regression && self.tuning_pairs > 0
    }

    /// Checks that a training can run with these settings.
    ///
    /// # Errors
    /// Names a setting that is out of its bounds.
    pub fn check(&self) -> Result<(), String> {
        self.sprt()?;
        self.long_sprt()?;
        number::check_options(self)?;
        if self.scores.is_some() && self.games_file.is_none() {
            return Err("scores: it changes nothing without games-file".to_string());
        }
        if self.games_file.as_deref().is_some_and(is_standard_input) {
            return Err("games-file: a training reads its games again when it is resumed: name a file".to_string());
        }
        if self.method == Method::Comparison { self.training().check() } else { Ok(()) }
    }

    /// The SPRT of a match.
    ///
    /// # Errors
    /// When its hypotheses or error probabilities are out of order or range.
    pub fn sprt(&self) -> Result<Sprt, String> {
        logistic_sprt("sprt", &self.sprt)
    }

    /// The SPRT of a long match.
    ///
    /// # Errors
    /// When its hypotheses or error probabilities are out of order or range.
    pub fn long_sprt(&self) -> Result<Sprt, String> {
        logistic_sprt("long-sprt", &self.long_sprt)
    }
}

fn logistic_sprt(name: &str, numbers: &[f64]) -> Result<Sprt, String> {
    let &[elo0, elo1, alpha, beta] = numbers else {
        return Err(format!("{name}: expected four numbers, the Elo of H0 and H1, alpha and beta"));
    };
    Sprt::new(elo0, elo1, alpha, beta).map_err(|problem| format!("{name}: {problem}"))
}

/// The settings that a user has written; none without a file.
fn written(path: &Path) -> Result<Given, String> {
    if !path.exists() {
        return Ok(Given::new());
    }
    let text = files::read(path, LARGEST).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A setting of those that are given.
fn read<T: DeserializeOwned>(given: &Given, name: &str) -> Result<Option<T>, String> {
    let value = given.get(name).cloned().map(serde_json::from_value);
    value.transpose().map_err(|error| format!("{name}: {error}"))
}

/// Why a training by `method` does not have a setting.
fn misplaced(name: &str, method: Method) -> Option<String> {
    let other = match method {
        Method::Regression => Method::Comparison,
        Method::Comparison => Method::Regression,
    };
    other
        .keys()
        .contains(&name)
        .then(|| format!("{name} belongs to a training by {other} (method {other}), and this one is by {method}"))
}

/// The numbers a training runs with, for a user.
impl fmt::Display for SelfTrainSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = grouped(self.nodes);
        write!(f, "{}: ", self.method)?;
        match self.method {
            Method::Regression => {
                write!(f, "{nodes} nodes a move")?;
                if self.growth > 1 {
                    write!(f, " ({} from generation {} on)", grouped(self.nodes_of(self.growth)), self.growth)?;
                }
                write!(f, ", {} positions a generation", grouped(self.positions))?;
            }
            Method::Comparison => {
                if self.is_labeled() {
                    write!(f, "{nodes} nodes a move, {} nodes a label, ", grouped(self.label_nodes))?;
                }
                write!(f, "{} positions a generation", grouped(self.positions))?;
            }
        }
        if self.is_tuned() {
            write!(f, ", tuning by {} games where it stands still", grouped(2 * self.tuning_pairs))?;
        }
        let (games, match_nodes) = (grouped(2 * self.match_games.div_ceil(2)), grouped(self.match_nodes));
        write!(f, ", matches of at most {games} games at {match_nodes} nodes a move")?;
        if self.minutes > 0 {
            write!(f, ", {}", counted(self.minutes, "minute", "minutes"))?;
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
    use serde_json::json;

    fn given(json: Json) -> Given {
        json.as_object().unwrap().clone()
    }

    fn resolve(json: Json) -> Result<SelfTrainSettings, String> {
        SelfTrainSettings::resolve(Path::new("/nowhere"), &given(json))
    }

    #[test]
    fn a_method_has_its_own_stages() {
        use Stage::{Distance, Games, Labels, Match, Positions, Proof, Scale, Training, Tuning};
        let own = [Games, Positions, Training, Scale, Tuning, Match, Distance, Proof];
        assert_eq!(SelfTrainSettings::default().stages(), own);
        let comparison = SelfTrainSettings::of(Method::Comparison);
        assert_eq!(comparison.stages(), [Games, Positions, Labels, Training, Scale, Match, Distance, Proof]);
        let games = SelfTrainSettings { games_file: Some("a.pgn".into()), long_games: 0, ..comparison };
        assert_eq!(games.stages(), [Positions, Training, Scale, Match]);
    }

    #[test]
    fn nodes_and_window_grow_with_the_generations() {
        let scratch = SelfTrainSettings { nodes: 100, window: 4, ..SelfTrainSettings::default() };
        assert_eq!([1, 2, 4, 5, 90].map(|generation| scratch.nodes_of(generation)), [100, 200, 400, 400, 400]);
        assert_eq!([1, 2, 3, 4, 7, 8, 20].map(|generation| scratch.window_start(generation)), [1, 1, 2, 2, 4, 5, 17]);
        let compared = SelfTrainSettings { method: Method::Comparison, ..scratch };
        assert_eq!([1, 9].map(|generation| compared.nodes_of(generation)), [100, 100]);
        assert_eq!([1, 4, 5, 20].map(|generation| compared.window_start(generation)), [1, 1, 2, 17]);
    }

    #[test]
    fn a_regression_is_tuned_where_it_stands_still() {
        let scratch = SelfTrainSettings::default();
        let tuned: Vec<u32> = (0..10).filter(|&rejected| scratch.tuning_pairs_of(rejected) == 1_500).collect();
        assert_eq!(tuned, [2, 5, 8]);
        assert_eq!(SelfTrainSettings::of(Method::Comparison).tuning_pairs_of(2), 0);
    }

    #[test]
    fn settings_are_checked() {
        let own = |name: &str| {
            if Method::Regression.keys().contains(&name) { Method::Regression } else { Method::Comparison }
        };
        for (name, value, expected) in [
            ("nodes", json!(0), "nodes"),
            ("threads", json!(200_000), "'200000' for '--threads <N>': expected a whole number, 1 to 1024"),
            ("tuning-pairs", json!(u64::MAX), "'--tuning-pairs <N>': expected a whole number, 0 to "),
            ("min-margin", json!(6_000_000), "min-margin"),
            ("sprt", json!([5.0, 0.0, 0.05, 0.05]), "sprt"),
            ("sprt", json!([0.0, 5.0]), "sprt: expected four numbers"),
            ("scores", json!("white"), "scores: it changes nothing without games-file"),
        ] {
            let settings = SelfTrainSettings::of(own(name)).with(&given(json!({ name: value }))).unwrap();
            let error = settings.check().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn games_of_the_distance_follow_from_those_of_the_long_match() {
        let of = |long_games| SelfTrainSettings { long_games, ..SelfTrainSettings::default() }.distance_games();
        assert_eq!([0, 9, 10, 200, 600, 2_000].map(of), [0, 0, 1, 20, 40, 40]);
    }

    /// A value is obeyed, the preset's own value included, and nothing else changes; or it is refused by its name.
    #[test]
    fn every_setting_is_obeyed_or_refused() {
        let other = json!({
            "method": "comparison", "games-file": "a.pgn", "scores": "white", "variant": "chess960",
            "seed": 7, "nodes": 300, "label-nodes": 77, "positions": 20001, "batch": 77,
            "generations": 7, "minutes": 7, "threads": 7, "match-games": 76, "match-nodes": 77, "tuning-pairs": 7,
            "long-games": 7, "long-nodes": 7, "sprt": [0.0, 5.0, 0.1, 0.1], "long-sprt": [0.0, 7.0, 0.1, 0.1],
            "positions-per-game": 7, "window": 7, "passes": 9,
            "result-share": 0.25, "growth": 2, "pairs-l2": 5.0, "min-margin": 7, "fine-tune-from": 7,
        });
        for &method in Method::value_variants() {
            let plain = SelfTrainSettings::of(method);
            for (name, value) in other.as_object().unwrap() {
                let alone = given(json!({ name: value }));
                let changed = plain.with(&alone);
                if name == "method" {
                    assert_eq!(changed.is_ok(), plain.to_json()[name] == *value, "{changed:?}");
                    continue;
                }
                if let Some(problem) = misplaced(name, method) {
                    assert_eq!(changed, Err(problem));
                    continue;
                }
                let changed = changed.unwrap_or_else(|error| panic!("{error}"));
                let mut expected = plain.to_json();
                expected.insert(name.clone(), value.clone());
                assert_eq!(changed.to_json(), expected);
                // Given again, it changes nothing, and the file has all of it.
                assert_eq!(changed.with(&changed.to_json()), Ok(changed));
            }
            assert_eq!(
                serde_json::from_value::<SelfTrainSettings>(plain.to_json().into()).unwrap().to_json(),
                plain.to_json()
            );
        }
        let count = serde_json::to_value(SelfTrainSettings::default()).unwrap().as_object().unwrap().len();
        assert_eq!(
            other.as_object().unwrap().len(),
            count + 2,
            "games-file and scores are not written at their default"
        );
        let plain = SelfTrainSettings::default();
        for (text, expected) in [
            (json!({ "node": 1 }), "unknown field `node`, expected one of `method`, "),
            (json!({ "nodes": "x" }), "nodes: invalid type"),
            (json!({ "nodes": -1 }), "nodes: invalid value"),
            (json!({ "batch": 2 }), "batch belongs to a training by comparison (method comparison)"),
            (json!({ "method": "comparison" }), "method: it is \"regression\" in this training"),
        ] {
            let error = plain.with(&given(text)).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn games_method_and_minutes_choose_the_preset() {
        let comparison = SelfTrainSettings::of(Method::Comparison);
        let from_file = SelfTrainSettings { games_file: Some("games.pgn".into()), ..comparison.clone() };
        for (given, expected) in [
            (json!({}), SelfTrainSettings::default()),
            (json!({ "method": "comparison" }), comparison),
            (json!({ "games-file": "games.pgn" }), from_file),
        ] {
            assert_eq!(resolve(given), Ok(expected));
        }
        let size = |minutes: u64| {
            let settings = resolve(json!({ "minutes": minutes })).unwrap();
            (settings.positions, settings.match_games, settings.long_games, settings.distance_games())
        };
        let (short, usual, long) = ((100_000, 100, 200, 20), (200_000, 300, 600, 40), (400_000, 1_000, 1_000, 40));
        assert_eq!([0, 10, 15, 16, 240, 480].map(size), [usual, short, short, usual, long, long]);
        let own = resolve(json!({ "minutes": 10, "positions": 7 })).unwrap();
        assert_eq!((own.positions, own.match_games), (7, 100));
        let error = resolve(json!({ "games-file": "a.pgn", "method": "regression" })).unwrap_err();
        assert!(error.starts_with("games-file belongs to a training by comparison"), "{error}");
    }

    #[test]
    fn the_numbers_are_reported() {
        assert_eq!(
            SelfTrainSettings::default().to_string(),
            "regression: 250 nodes a move (1,000 from generation 4 on), 200,000 positions a generation, tuning by 3,000 \
             games where it stands still, matches of at most 300 games at 2,500 nodes a move, 1 thread"
        );
        let comparison = SelfTrainSettings::of(Method::Comparison);
        let comparison = SelfTrainSettings { threads: 2, generations: 3, match_games: 9, ..comparison };
        assert_eq!(
            comparison.to_string(),
            "comparison: 300 nodes a move, 2,000 nodes a label, 20,000 positions a generation, \
             matches of at most 10 games at 1,000 nodes a move, 3 generations, 2 threads"
        );
    }
}
