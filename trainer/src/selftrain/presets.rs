//! Presets: complete settings by the initial weights of a training and by its method.
//!
//! `docs/experiments.md` has the measurements.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{GROUPS, MATERIAL, PIECE_SQUARE};
use serde::{Deserialize, Serialize};

use super::settings::{Comparison, Method, MethodName, Regression, SelfTrainSettings};
use crate::arena::openings::Variant;
use crate::base::words::named;
use crate::learn::settings::{GroupSettings, L2Target, ObjectiveSettings, OptimizerSettings};

/// A preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// From the piece values: large steps.
    Scratch,
    /// From weights with more than piece values and piece-square tables: small steps, and matches that detect small
    /// gains.
    Improve,
    /// From the piece values in ten minutes: short generations.
    Coffee,
    /// Eight hours: from the piece values, more positions and longer matches than [`Preset::Scratch`].
    Night,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 4] = [Preset::Scratch, Preset::Improve, Preset::Coffee, Preset::Night];

    /// The preset for a training that starts from `start`.
    #[must_use]
    pub fn of(start: &Weights) -> Preset {
        if knows_more_than_pieces(start) { Preset::Improve } else { Preset::Scratch }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Preset::Scratch => "scratch",
            Preset::Improve => "improve",
            Preset::Coffee => "coffee",
            Preset::Night => "night",
        })
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Preset, String> {
        named(&Preset::ALL, text)
    }
}

impl SelfTrainSettings {
    /// The settings of a preset.
    #[must_use]
    pub fn preset(preset: Preset, method: MethodName) -> SelfTrainSettings {
        match (method, preset) {
            (MethodName::Regression, Preset::Scratch) => regression_from_scratch(),
            (MethodName::Regression, Preset::Improve) => regression_to_improve(),
            (MethodName::Comparison, Preset::Scratch) => comparison_from_scratch(),
            (MethodName::Comparison, Preset::Improve) => comparison_to_improve(),
            (method, Preset::Coffee) => coffee(SelfTrainSettings::preset(Preset::Scratch, method)),
            (method, Preset::Night) => night(SelfTrainSettings::preset(Preset::Scratch, method)),
        }
    }

    /// The settings of a preset, or else of the one for `start`.
    pub(super) fn preset_for(
        start: &Weights,
        preset: Option<Preset>,
        method: MethodName,
    ) -> Result<SelfTrainSettings, String> {
        match (preset, Preset::of(start)) {
            (None, usual) => Ok(SelfTrainSettings::preset(usual, method)),
            (Some(Preset::Coffee), Preset::Improve) => {
                Err("preset coffee: ten minutes are for a training from the piece values; good weights need hours"
                    .into())
            }
            (Some(Preset::Night), Preset::Improve) => {
                Ok(SelfTrainSettings { minutes: NIGHT, ..SelfTrainSettings::preset(Preset::Improve, method) })
            }
            (Some(preset), _) => Ok(SelfTrainSettings::preset(preset, method)),
        }
    }
}

/// Minutes of [`Preset::Night`].
const NIGHT: u64 = 480;

/// Ten minutes. The first generations gain most, so they are short and few games measure them.
fn coffee(scratch: SelfTrainSettings) -> SelfTrainSettings {
    let quarter = scratch.positions / 4;
    let positions = if scratch.method.name() == MethodName::Regression { 2 * quarter } else { quarter };
    SelfTrainSettings { positions, match_games: 100, distance_games: 20, long_games: 200, minutes: 10, ..scratch }
}

/// A night. Later generations gain little and need more positions and games.
fn night(scratch: SelfTrainSettings) -> SelfTrainSettings {
    let positions = 2 * scratch.positions;
    SelfTrainSettings { positions, match_games: 1_000, long_games: 1_000, minutes: NIGHT, ..scratch }
}

/// Comparison training from the piece values, with few nodes and positions, so that generations are short.
fn comparison_from_scratch() -> SelfTrainSettings {
    SelfTrainSettings {
        variant: Variant::Standard,
        policy_openings: 0.0,
        seed: 1,
        nodes: 300,
        positions: 20_000,
        positions_per_game: 16,
        window: 16,
        generations: 0,
        threads: 1,
        match_games: 300,
        match_nodes: 1_000,
        sprt: [0.0, 40.0, 0.05, 0.05],
        regression_match_every: 0,
        keep_scale: false,
        tuning_pairs: 0,
        long_nodes: 20_000,
        distance_games: 40,
        long_games: 600,
        long_sprt: [0.0, 20.0, 0.05, 0.05],
        minutes: 0,
        method: Method::Comparison(Comparison::default()),
    }
}

/// Regression from the piece values.
///
/// The number of positions matters most: each quiescent position of the games is used, with the score of the search
/// that chose its move. The weights keep the initial scale; a scale fitted to the results of games with few nodes,
/// which are seldom drawn, would make values too large for the search.
fn regression_from_scratch() -> SelfTrainSettings {
    SelfTrainSettings {
        nodes: 250,
        positions: 200_000,
        positions_per_game: 64,
        window: 32,
        keep_scale: true,
        method: Method::Regression(Regression::default()),
        ..comparison_from_scratch()
    }
}

/// Regression from good weights.
///
/// A regression from the piece values to the search scores of millions of positions is nearly as strong as the weights
/// that played, and has other errors: the interpolation of both is stronger than either. A match that detects small
/// gains decides (`docs/training.md`).
fn regression_to_improve() -> SelfTrainSettings {
    SelfTrainSettings {
        policy_openings: 0.5,
        nodes: 1_000,
        positions: 1_500_000,
        positions_per_game: 128,
        match_games: 2_000,
        match_nodes: 4_000,
        sprt: [0.0, 10.0, 0.05, 0.05],
        window: 12,
        keep_scale: true,
        tuning_pairs: 500,
        long_games: 2_000,
        long_sprt: [0.0, 10.0, 0.05, 0.05],
        method: Method::Regression(Regression {
            result_share: 0.0,
            growth: 1,
            pairs_l2: 100.0,
            half_at: 15_000_000,
            max_interpolation: 0.67,
            leaves: true,
            ..Regression::default()
        }),
        ..comparison_from_scratch()
    }
}

/// Comparison training from good weights.
///
/// The scale is kept, and SPSA tunes the interpolation with the result of the training. Moves and values of deeper
/// searches are learned by comparison with siblings. Material and tempo are frozen, since comparisons and scores drive
/// both in one direction (`docs/training.md`).
fn comparison_to_improve() -> SelfTrainSettings {
    let frozen = |name: &str| (name.to_string(), GroupSettings { learn: false, ..GroupSettings::default() });
    let pairs = GroupSettings { rate: 0.05, ..GroupSettings::default() };
    SelfTrainSettings {
        nodes: 1_000,
        positions: 50_000,
        match_games: 2_000,
        match_nodes: 2_000,
        sprt: [0.0, 10.0, 0.05, 0.05],
        keep_scale: true,
        tuning_pairs: 3_000,
        long_games: 2_000,
        long_sprt: [0.0, 10.0, 0.05, 0.05],
        method: Method::Comparison(Comparison {
            label_nodes: 5_000,
            min_margin: 0,
            objective: ObjectiveSettings::Listwise {
                temperature: 130.0,
                move_weight: 1.0,
                result_weight: 0.5,
                score_weight: 1.0,
                bound_weight: 1.0,
                outcome_scale: 400.0,
            },
            optimizer: OptimizerSettings::Adam { rate: 0.3, beta1: 0.9, beta2: 0.999 },
            groups: BTreeMap::from([frozen("material"), frozen("tempo"), ("pairs".to_string(), pairs)]),
            fine_tune_from: 0,
            regularize_toward: L2Target::Start,
            anneal: true,
            interpolation: 0.5,
            ..Comparison::default()
        }),
        ..comparison_from_scratch()
    }
}

/// Whether weights have more than piece values and piece-square tables.
pub(super) fn knows_more_than_pieces(weights: &Weights) -> bool {
    let others = GROUPS.iter().filter(|group| ![MATERIAL.start, PIECE_SQUARE.start].contains(&group.start));
    others.flat_map(|group| &weights.ints()[group.range()]).any(|weight| *weight != [0; 2])
}
