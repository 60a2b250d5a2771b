//! Optional settings: those that a user sets in addition to a preset, and the format of `settings.json`.

use std::collections::BTreeMap;

use clap::Args;
use dyad_engine::engine::MAX_THREADS;
use dyad_engine::eval::Weights;
use dyad_formats::score::ScoreSide;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::presets::Preset;
use super::settings::{
    Comparison, MINUTES, MOST_FOR_DISTANCE, Method, MethodName, Regression, SelfTrainSettings, Source,
};
use crate::arena::openings::Variant;
use crate::base::number::number;
use crate::learn::settings::{GroupSettings, L2Target, ObjectiveSettings, OptimizerSettings};

/// Values for some settings of a training; `None` leaves a setting as it is. The fields have the names of the JSON
/// keys; the aliases are those of release 0.2.0.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct Overrides {
    /// Defaults for training from `scratch`, or to `improve` good weights; `coffee` is from scratch in 10 minutes,
    /// `night` takes 8 hours [default: by the initial weights]
    #[arg(long)]
    pub preset: Option<Preset>,
    /// Train by `regression` to search scores, or by `comparison` of moves [default: regression; comparison with
    /// --games-file]
    #[arg(long)]
    pub method: Option<MethodName>,
    /// [`Comparison::source`].
    #[arg(skip)]
    pub source: Option<Source>,
    /// Side that the scores in the comments of --games-file are given for: `white` or `mover` [default: scores are not
    /// read]
    #[arg(long, value_name = "SIDE", requires = "games_file")]
    pub scores: Option<ScoreSide>,
    /// [`SelfTrainSettings::variant`].
    #[arg(skip)]
    pub variant: Option<Variant>,
    /// [`SelfTrainSettings::policy_openings`].
    #[serde(alias = "natural")]
    #[arg(skip)]
    pub policy_openings: Option<f64>,
    /// Seed of all random draws [default: 1]
    #[arg(long, value_parser = number::<u64>(0..))]
    pub seed: Option<u64>,
    /// Depth of training in plies, 1 for the quiescence leaf of each child; comparison only
    #[arg(long, value_parser = number::<u32>(0..), value_name = "PLIES")]
    pub depth: Option<u32>,
    /// Nodes per self-play move
    #[arg(long, value_parser = number::<u64>(0..))]
    pub nodes: Option<u64>,
    /// Nodes of the search that finds a desired move; comparison only
    #[arg(long, value_parser = number::<u64>(0..), value_name = "NODES")]
    pub label_nodes: Option<u64>,
    /// Positions drawn from the games of a generation, at most
    #[arg(long, value_parser = number::<u64>(0..), value_name = "N")]
    pub positions: Option<u64>,
    /// Number of generations; 0 for no limit [default: 0]
    #[arg(long, value_parser = number::<u32>(0..), value_name = "N")]
    pub generations: Option<u32>,
    /// Threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = number(1..=MAX_THREADS))]
    pub threads: Option<usize>,
    /// Positions per update of the weights; comparison only
    #[arg(long, value_parser = number::<usize>(0..), value_name = "N")]
    pub batch: Option<usize>,
    /// Games of a match, at most; an odd number is rounded up
    #[arg(long, value_parser = number::<u64>(0..), value_name = "N")]
    pub match_games: Option<u64>,
    /// Nodes per move in matches and tuning games
    #[arg(long, value_parser = number::<u64>(0..), value_name = "NODES")]
    pub match_nodes: Option<u64>,
    /// [`SelfTrainSettings::sprt`].
    #[arg(skip)]
    pub sprt: Option<[f64; 4]>,
    /// [`SelfTrainSettings::regression_match_every`].
    #[serde(alias = "anchor-every")]
    #[arg(skip)]
    pub regression_match_every: Option<u32>,
    /// [`SelfTrainSettings::positions_per_game`].
    #[arg(skip)]
    pub positions_per_game: Option<usize>,
    /// [`SelfTrainSettings::window`].
    #[arg(skip)]
    pub window: Option<u32>,
    /// [`Comparison::iterations`].
    #[arg(skip)]
    pub iterations: Option<u32>,
    /// [`Comparison::min_margin`].
    #[arg(skip)]
    #[serde(alias = "decided")]
    pub min_margin: Option<u32>,
    /// The settings of a [`Regression`].
    #[arg(skip)]
    pub fit: Option<RegressionOverrides>,
    /// [`Comparison::objective`].
    #[arg(skip)]
    pub objective: Option<ObjectiveSettings>,
    /// [`Comparison::optimizer`].
    #[arg(skip)]
    pub optimizer: Option<OptimizerSettings>,
    /// [`Comparison::groups`].
    #[arg(skip)]
    pub groups: Option<BTreeMap<String, GroupSettings>>,
    /// [`Comparison::fine_tune_from`].
    #[serde(alias = "refine-from")]
    #[arg(skip)]
    pub fine_tune_from: Option<u64>,
    /// [`Comparison::regularize_toward`].
    #[serde(alias = "hold")]
    #[arg(skip)]
    pub regularize_toward: Option<L2Target>,
    /// [`Comparison::anneal`].
    #[arg(skip)]
    pub anneal: Option<bool>,
    /// [`SelfTrainSettings::keep_scale`].
    #[arg(skip)]
    pub keep_scale: Option<bool>,
    /// [`Comparison::interpolation`] or [`Regression::max_interpolation`].
    #[serde(alias = "step")]
    #[arg(skip)]
    pub interpolation: Option<f64>,
    /// Pairs of games that tune the new weights; 0 for no tuning
    #[arg(long, value_parser = number::<u64>(0..), value_name = "N")]
    pub tuning_pairs: Option<u64>,
    /// Nodes per move in the games of --long-games [default: by the preset]
    #[arg(long, value_parser = number::<u64>(0..), value_name = "NODES")]
    pub long_nodes: Option<u64>,
    /// [`SelfTrainSettings::distance_games`].
    #[arg(skip)]
    pub distance_games: Option<u64>,
    /// Games of a long match against the weights that the engine plays with, at most, and of those that measure the
    /// distance; 0 for none [default: by the preset]
    #[serde(alias = "proof-games")]
    #[arg(long, value_parser = number::<u64>(0..), value_name = "N")]
    pub long_games: Option<u64>,
    /// [`SelfTrainSettings::long_sprt`].
    #[serde(alias = "proof-sprt")]
    #[arg(skip)]
    pub long_sprt: Option<[f64; 4]>,
    /// Minutes after which the training ends with a generation; 0 for no limit [default: by the preset]
    #[arg(long, value_parser = number(MINUTES), value_name = "MINUTES")]
    pub minutes: Option<u64>,
}

/// Values for some settings of a [`Regression`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RegressionOverrides {
    /// [`Regression::result_share`].
    pub result_share: Option<f64>,
    /// [`Regression::passes`].
    pub passes: Option<u32>,
    /// [`Regression::growth`].
    pub growth: Option<u32>,
    /// [`Regression::pairs_l2`].
    #[serde(alias = "pairs")]
    pub pairs_l2: Option<f64>,
    /// [`Regression::half_at`].
    #[serde(alias = "equal-at")]
    pub half_at: Option<u64>,
    /// [`Regression::leaves`].
    pub leaves: Option<bool>,
}

/// The keys of comparison training alone, except `source`.
const OF_COMPARISON: [&str; 12] = [
    "scores",
    "depth",
    "label-nodes",
    "batch",
    "iterations",
    "min-margin",
    "objective",
    "optimizer",
    "groups",
    "fine-tune-from",
    "regularize-toward",
    "anneal",
];
/// Names of the same in release 0.2.0.
const OLD_OF_COMPARISON: [&str; 3] = ["decided", "refine-from", "hold"];
/// The key of regression alone.
const OF_REGRESSION: &str = "fit";
/// The key of [`Overrides::method`].
const METHOD: &str = "method";

impl Overrides {
    /// The requested method, or else the default for the source of the games.
    #[must_use]
    pub fn method(&self) -> MethodName {
        self.method.unwrap_or(match self.source {
            Some(Source::Games(_)) => MethodName::Comparison,
            _ => MethodName::Regression,
        })
    }

    /// Sets the games of a long match, and at most as many for the distance.
    pub fn set_long_games(&mut self, games: Option<u64>) {
        self.long_games = games;
        self.distance_games = games.map(|games| games.min(MOST_FOR_DISTANCE));
    }

    /// The key of a value that `method` has no setting for.
    #[must_use]
    pub fn misplaced(&self, method: MethodName) -> Option<&'static str> {
        let json = Json::from(self.clone());
        let given = |key: &str| json.get(key).is_some();
        match method {
            MethodName::Comparison => Some(OF_REGRESSION).filter(|key| given(key)),
            MethodName::Regression if matches!(self.source, Some(Source::Games(_))) => Some("source"),
            MethodName::Regression => OF_COMPARISON.into_iter().find(|key| given(key)),
        }
    }
}

/// Only the values that are set.
impl From<Overrides> for Json {
    fn from(overrides: Overrides) -> Json {
        let mut json = serde_json::to_value(overrides).expect("plain data");
        json.get_mut(OF_REGRESSION).into_iter().for_each(drop_nulls);
        drop_nulls(&mut json);
        json
    }
}

fn drop_nulls(json: &mut Json) {
    if let Some(fields) = json.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

/// Replaces a setting if there is a value.
fn put<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

impl SelfTrainSettings {
    /// The settings of a training from `start`: the preset and the method that `overrides` names, or else the preset
    /// for `start` and regression for self-play, comparison for games of a file; and `overrides` laid over it.
    ///
    /// # Errors
    /// Names a setting that the method does not have, or that is out of its bounds.
    pub fn resolve(start: &Weights, overrides: &Overrides) -> Result<SelfTrainSettings, String> {
        let mut settings = SelfTrainSettings::preset_for(start, overrides.preset, overrides.method())?;
        settings.apply(overrides)?;
        settings.check()?;
        Ok(settings)
    }

    /// Replaces the settings that `overrides` has values for. Ignores [`Overrides::preset`].
    ///
    /// # Errors
    /// When `overrides` names another method, or a setting that the method does not have.
    pub fn apply(&mut self, overrides: &Overrides) -> Result<(), String> {
        let method = self.method.name();
        if let Some(other) = overrides.method.filter(|other| *other != method) {
            return Err(format!("method: this training is by {method}, and {other} needs a training of its own"));
        }
        if let Some(key) = overrides.misplaced(method) {
            return Err(format!("{key} {}", misplaced_for(method)));
        }
        let given = overrides.clone();
        put(&mut self.variant, given.variant);
        put(&mut self.policy_openings, given.policy_openings);
        put(&mut self.seed, given.seed);
        put(&mut self.nodes, given.nodes);
        put(&mut self.positions, given.positions);
        put(&mut self.positions_per_game, given.positions_per_game);
        put(&mut self.window, given.window);
        put(&mut self.generations, given.generations);
        put(&mut self.threads, given.threads);
        put(&mut self.match_games, given.match_games);
        put(&mut self.match_nodes, given.match_nodes);
        put(&mut self.sprt, given.sprt);
        put(&mut self.regression_match_every, given.regression_match_every);
        put(&mut self.keep_scale, given.keep_scale);
        put(&mut self.tuning_pairs, given.tuning_pairs);
        put(&mut self.long_nodes, given.long_nodes);
        put(&mut self.distance_games, given.distance_games);
        put(&mut self.long_games, given.long_games);
        put(&mut self.long_sprt, given.long_sprt);
        put(&mut self.minutes, given.minutes);
        match &mut self.method {
            Method::Regression(own) => {
                put(&mut own.max_interpolation, given.interpolation);
                let given = given.fit.unwrap_or_default();
                put(&mut own.result_share, given.result_share);
                put(&mut own.passes, given.passes);
                put(&mut own.growth, given.growth);
                put(&mut own.pairs_l2, given.pairs_l2);
                put(&mut own.half_at, given.half_at);
                put(&mut own.leaves, given.leaves);
            }
            Method::Comparison(own) => {
                put(&mut own.source, given.source);
                own.scores = given.scores.or(own.scores);
                put(&mut own.depth, given.depth);
                put(&mut own.label_nodes, given.label_nodes);
                put(&mut own.batch, given.batch);
                put(&mut own.iterations, given.iterations);
                put(&mut own.min_margin, given.min_margin);
                put(&mut own.objective, given.objective);
                put(&mut own.optimizer, given.optimizer);
                put(&mut own.groups, given.groups);
                put(&mut own.fine_tune_from, given.fine_tune_from);
                put(&mut own.regularize_toward, given.regularize_toward);
                put(&mut own.anneal, given.anneal);
                put(&mut own.interpolation, given.interpolation);
            }
        }
        Ok(())
    }
}

/// Why a setting cannot be used with `method`.
#[must_use]
pub fn misplaced_for(method: MethodName) -> &'static str {
    match method {
        MethodName::Regression => {
            "belongs to comparison training (method comparison), and this training is a regression"
        }
        MethodName::Comparison => "belongs to regression (method regression), and this training is by comparison",
    }
}

/// All settings as values.
impl From<SelfTrainSettings> for Overrides {
    fn from(settings: SelfTrainSettings) -> Overrides {
        let method = settings.method.name();
        let common = Overrides {
            method: Some(method),
            variant: Some(settings.variant).filter(|variant| !variant.is_standard()),
            policy_openings: Some(settings.policy_openings),
            seed: Some(settings.seed),
            nodes: Some(settings.nodes),
            positions: Some(settings.positions),
            positions_per_game: Some(settings.positions_per_game),
            window: Some(settings.window),
            generations: Some(settings.generations),
            threads: Some(settings.threads),
            match_games: Some(settings.match_games),
            match_nodes: Some(settings.match_nodes),
            sprt: Some(settings.sprt),
            regression_match_every: Some(settings.regression_match_every),
            keep_scale: Some(settings.keep_scale),
            tuning_pairs: Some(settings.tuning_pairs),
            long_nodes: Some(settings.long_nodes),
            distance_games: Some(settings.distance_games),
            long_games: Some(settings.long_games),
            long_sprt: Some(settings.long_sprt),
            minutes: Some(settings.minutes),
            ..Overrides::default()
        };
        match settings.method {
            Method::Regression(own) => Overrides {
                interpolation: Some(own.max_interpolation),
                fit: Some(RegressionOverrides {
                    result_share: Some(own.result_share),
                    passes: Some(own.passes),
                    growth: Some(own.growth),
                    pairs_l2: Some(own.pairs_l2),
                    half_at: Some(own.half_at),
                    leaves: Some(own.leaves),
                }),
                ..common
            },
            Method::Comparison(own) => Overrides {
                source: Some(own.source),
                scores: own.scores,
                depth: Some(own.depth),
                label_nodes: Some(own.label_nodes),
                batch: Some(own.batch),
                iterations: Some(own.iterations),
                min_margin: Some(own.min_margin),
                objective: Some(own.objective),
                optimizer: Some(own.optimizer),
                groups: Some(own.groups),
                fine_tune_from: Some(own.fine_tune_from),
                regularize_toward: Some(own.regularize_toward),
                anneal: Some(own.anneal),
                interpolation: Some(own.interpolation),
                ..common
            },
        }
    }
}

/// What `settings.json` holds.
impl From<SelfTrainSettings> for Json {
    fn from(settings: SelfTrainSettings) -> Json {
        Overrides::from(settings).into()
    }
}

/// Parses `settings.json`. Release 0.2.0 and earlier wrote no method: a training with a `fit` was a regression, whose
/// file has the keys of comparison training as well, without an effect. A missing key has the value that it had in the
/// release that wrote the file.
impl TryFrom<Json> for SelfTrainSettings {
    type Error = String;

    fn try_from(mut saved: Json) -> Result<SelfTrainSettings, String> {
        drop_nulls(&mut saved);
        let fields = saved.as_object_mut().ok_or("expected an object")?;
        fields.remove("follow-start");
        let has_fit = fields.contains_key(OF_REGRESSION);
        if has_fit && !fields.contains_key(METHOD) {
            fields.retain(|key, _| !OF_COMPARISON.iter().chain(&OLD_OF_COMPARISON).any(|other| other == key));
        }
        let overrides: Overrides = serde_json::from_value(saved).map_err(|error| error.to_string())?;
        let usual = if has_fit { MethodName::Regression } else { MethodName::Comparison };
        let mut settings = SelfTrainSettings {
            method: match overrides.method.unwrap_or(usual) {
                MethodName::Regression => Method::Regression(Regression::default()),
                MethodName::Comparison => Method::Comparison(Comparison::default()),
            },
            ..SelfTrainSettings::preset(Preset::Scratch, MethodName::Comparison)
        };
        settings.apply(&overrides)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Overrides {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Some settings have another name in the files of release 0.2.0.
    #[test]
    fn settings_are_read_by_either_name() {
        for (old, new, value) in [
            ("natural", "policy-openings", "0.25"),
            ("anchor-every", "regression-match-every", "7"),
            ("decided", "min-margin", "7"),
            ("refine-from", "fine-tune-from", "7"),
            ("hold", "regularize-toward", "\"start\""),
            ("step", "interpolation", "0.25"),
            ("proof-games", "long-games", "7"),
            ("proof-sprt", "long-sprt", "[0.0, 7.0, 0.1, 0.1]"),
        ] {
            let [old, new] = [old, new].map(|name| parse(&format!("{{\"{name}\": {value}}}")));
            assert!(old == new && old != Overrides::default(), "{value}");
        }
        assert_eq!(parse(r#"{"fit": {"equal-at": 7}}"#), parse(r#"{"fit": {"half-at": 7}}"#));
        assert_eq!(parse(r#"{"fit": {"pairs": 7.0}}"#), parse(r#"{"fit": {"pairs-l2": 7.0}}"#));
    }

    /// A value is obeyed, the preset's own value included, and nothing else changes; or it is refused by its name.
    #[test]
    fn every_setting_is_obeyed_or_refused() {
        let regression = [
            (r#"{"fit": {"result-share": 0.25}}"#, "result-share"),
            (r#"{"fit": {"passes": 9}}"#, "passes"),
            (r#"{"fit": {"growth": 2}}"#, "growth"),
            (r#"{"fit": {"pairs-l2": 5.0}}"#, "pairs-l2"),
            (r#"{"fit": {"half-at": 7}}"#, "half-at"),
            (r#"{"fit": {"leaves": true}}"#, "leaves"),
        ];
        let comparison = [
            (r#"{"scores": "white"}"#, "scores"),
            (r#"{"depth": 3}"#, "depth"),
            (r#"{"label-nodes": 77}"#, "label-nodes"),
            (r#"{"batch": 77}"#, "batch"),
            (r#"{"iterations": 7}"#, "iterations"),
            (r#"{"min-margin": 7}"#, "min-margin"),
            (r#"{"objective": {"kind": "perceptron"}}"#, "objective"),
            (r#"{"optimizer": {"kind": "plain", "rate": 0.5}}"#, "optimizer"),
            (r#"{"groups": {}}"#, "groups"),
            (r#"{"fine-tune-from": 7}"#, "fine-tune-from"),
            (r#"{"regularize-toward": "start"}"#, "regularize-toward"),
            (r#"{"anneal": true}"#, "anneal"),
        ];
        let common = [
            (r#"{"variant": "chess960"}"#, "variant"),
            (r#"{"policy-openings": 0.25}"#, "policy-openings"),
            (r#"{"seed": 7}"#, "seed"),
            (r#"{"nodes": 300}"#, "nodes"),
            (r#"{"positions": 20001}"#, "positions"),
            (r#"{"positions-per-game": 7}"#, "positions-per-game"),
            (r#"{"window": 7}"#, "window"),
            (r#"{"generations": 7}"#, "generations"),
            (r#"{"threads": 7}"#, "threads"),
            (r#"{"match-games": 76}"#, "match-games"),
            (r#"{"match-nodes": 77}"#, "match-nodes"),
            (r#"{"sprt": [0.0, 5.0, 0.1, 0.1]}"#, "sprt"),
            (r#"{"regression-match-every": 7}"#, "regression-match-every"),
            (r#"{"interpolation": 0.25}"#, "interpolation"),
            (r#"{"tuning-pairs": 7}"#, "tuning-pairs"),
            (r#"{"long-nodes": 7}"#, "long-nodes"),
            (r#"{"distance-games": 7}"#, "distance-games"),
            (r#"{"long-games": 7}"#, "long-games"),
            (r#"{"long-sprt": [0.0, 7.0, 0.1, 0.1]}"#, "long-sprt"),
            (r#"{"minutes": 7}"#, "minutes"),
        ];
        let keep_scale = |method| match method {
            MethodName::Regression => (r#"{"keep-scale": false}"#, "keep-scale"),
            MethodName::Comparison => (r#"{"keep-scale": true}"#, "keep-scale"),
        };
        for method in MethodName::ALL {
            let plain = SelfTrainSettings::preset(Preset::Scratch, method);
            let (own, other) = match method {
                MethodName::Regression => (&regression[..], &comparison[..]),
                MethodName::Comparison => (&comparison[..], &regression[..]),
            };
            for (text, key) in own.iter().chain(&common).copied().chain([keep_scale(method)]) {
                let mut changed = plain.clone();
                changed.apply(&parse(text)).unwrap();
                let json = Json::from(changed.clone());
                let mut expected = Json::from(plain.clone());
                for (name, value) in Json::from(parse(text)).as_object().unwrap() {
                    match value.as_object().filter(|_| name == OF_REGRESSION) {
                        Some(values) => values.iter().for_each(|(name, value)| expected["fit"][name] = value.clone()),
                        None => expected[name] = value.clone(),
                    }
                }
                assert!(json.to_string().contains(&format!("\"{key}\"")), "{json}");
                assert_eq!(json, expected, "{text}");
                // Given again, it changes nothing, and the file has all of it.
                let again = SelfTrainSettings::try_from(json).unwrap();
                assert_eq!(again, changed, "{text}");
                assert!(key == "nodes" || changed != plain, "{text}");
            }
            for (text, _) in other {
                let error = plain.clone().apply(&parse(text)).unwrap_err();
                let key = parse(text).misplaced(method).unwrap();
                assert!(error.starts_with(key) && error.contains("this training is "), "{error}");
            }
        }
        let games = parse(r#"{"source": {"games": "a.pgn"}, "method": "regression"}"#);
        let error = SelfTrainSettings::resolve(&Weights::material(), &games).unwrap_err();
        assert!(error.starts_with("source belongs to comparison training"), "{error}");
        let error = SelfTrainSettings::preset(Preset::Improve, MethodName::Regression)
            .apply(&parse(r#"{"method": "comparison"}"#));
        assert!(error.unwrap_err().starts_with("method: this training is by regression"));
        let default = parse(r#"{"nodes": 300}"#);
        assert_eq!(SelfTrainSettings::resolve(&Weights::material(), &default).unwrap().nodes, 300);
        assert_eq!(SelfTrainSettings::resolve(&Weights::embedded(), &default).unwrap().nodes, 300);
        assert!(serde_json::from_str::<Overrides>(r#"{"follow-start": false}"#).is_err());
    }

    #[test]
    fn start_games_and_method_choose_the_preset() {
        let (good, material) = (Weights::embedded(), Weights::material());
        let games = || Overrides { source: Some(Source::Games("games.pgn".into())), ..Overrides::default() };
        let comparison = || Overrides { method: Some(MethodName::Comparison), ..Overrides::default() };
        let from_file = |preset| {
            let mut settings = SelfTrainSettings::preset(preset, MethodName::Comparison);
            let Method::Comparison(own) = &mut settings.method else { panic!("a comparison") };
            own.source = Source::Games("games.pgn".into());
            settings
        };
        for (start, overrides, expected) in [
            (&material, Overrides::default(), SelfTrainSettings::preset(Preset::Scratch, MethodName::Regression)),
            (&*good, Overrides::default(), SelfTrainSettings::preset(Preset::Improve, MethodName::Regression)),
            (&material, comparison(), SelfTrainSettings::preset(Preset::Scratch, MethodName::Comparison)),
            (&*good, comparison(), SelfTrainSettings::preset(Preset::Improve, MethodName::Comparison)),
            (&material, games(), from_file(Preset::Scratch)),
            (&*good, games(), from_file(Preset::Improve)),
            (&*good, Overrides { preset: Some(Preset::Scratch), ..games() }, from_file(Preset::Scratch)),
        ] {
            assert_eq!(SelfTrainSettings::resolve(start, &overrides), Ok(expected), "{overrides:?}");
        }
    }

    /// The settings of runs that release 0.2.0 began.
    #[test]
    fn settings_of_earlier_releases_are_read() {
        let fitted = include_str!("../../../tests/data/selftrain-0.2.0-fit.json");
        let settings: SelfTrainSettings = serde_json::from_str(fitted).unwrap();
        let improve = SelfTrainSettings::preset(Preset::Improve, MethodName::Regression);
        // It had no long matches, which are those of a training from the piece values now.
        let scratch = SelfTrainSettings::preset(Preset::Scratch, MethodName::Regression);
        let expected = SelfTrainSettings {
            seed: 5,
            threads: 2,
            generations: 2,
            regression_match_every: 5,
            long_games: scratch.long_games,
            long_sprt: scratch.long_sprt,
            ..improve
        };
        assert_eq!(settings, expected);
        assert!(!Json::from(settings).to_string().contains("label-nodes"));
        let compared = include_str!("../../../tests/data/selftrain-0.2.0-comparison.json");
        let settings: SelfTrainSettings = serde_json::from_str(compared).unwrap();
        let Method::Comparison(Comparison { source, depth, label_nodes, batch, .. }) = &settings.method else {
            panic!("{settings}")
        };
        assert_eq!((settings.nodes, settings.sprt, settings.match_games), (300, [-10.0, 30.0, 0.05, 0.05], 120));
        assert_eq!((source, depth, label_nodes, batch), (&Source::SelfPlay, &2, &2_000, &256));
        // Release 0.1.0 knew fewer keys.
        let settings: SelfTrainSettings =
            serde_json::from_str(r#"{"source": "self-play", "nodes": 77, "fit": {"passes": 3}}"#).unwrap();
        assert_eq!(settings.method, Method::Regression(Regression { passes: 3, ..Regression::default() }));
        assert_eq!((settings.nodes, settings.keep_scale), (77, false));
    }
}
