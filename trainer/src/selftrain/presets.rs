//! Presets: complete settings by the initial weights of a training, its method and its time.
//!
//! `docs/experiments.md` has the measurements.

use std::fmt;

use clap::ValueEnum;
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{GROUPS, MATERIAL, PIECE_SQUARE};
use serde::{Deserialize, Serialize};

use super::settings::{Method, SelfTrainSettings};
use crate::arena::openings::Variant;
use crate::base::words::name_of;

/// A preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// From the piece values: large steps.
    Scratch,
    /// From weights with more than piece values and piece-square tables: small steps, and matches that detect small
    /// gains.
    Improve,
}

impl Preset {
    /// The preset for a training that starts from `start`.
    #[must_use]
    pub fn of(start: &Weights) -> Preset {
        if knows_more_than_pieces(start) { Preset::Improve } else { Preset::Scratch }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&name_of(self))
    }
}

/// Minutes up to which a training is short.
const SHORT: u64 = 15;
/// Minutes from which a training is long.
const LONG: u64 = 240;

impl SelfTrainSettings {
    /// The settings of a preset.
    #[must_use]
    pub fn preset(preset: Preset, method: Method) -> SelfTrainSettings {
        match (method, preset) {
            (Method::Regression, Preset::Scratch) => regression_from_scratch(),
            (Method::Regression, Preset::Improve) => regression_to_improve(),
            (Method::Comparison, Preset::Scratch) => comparison_from_scratch(),
            (Method::Comparison, Preset::Improve) => comparison_to_improve(),
        }
    }

    /// The settings for a training of `minutes`, 0 for no limit. From pieces alone the first generations gain most, so
    /// those of a short training are small and few games measure them. The later ones of a long training gain little
    /// and need more positions and games. From good weights the sizes stay: a small generation gains nothing there.
    #[must_use]
    pub fn sized(self, minutes: u64) -> SelfTrainSettings {
        let (preset, method, positions, tuning_pairs) = (self.preset, self.method, self.positions, self.tuning_pairs);
        let sized = SelfTrainSettings { minutes, ..self };
        match (preset, minutes) {
            (Preset::Scratch, 1..=SHORT) => {
                let part = if method == Method::Regression { 2 } else { 4 };
                SelfTrainSettings {
                    positions: positions / part,
                    match_games: 100,
                    tuning_pairs: tuning_pairs / 3,
                    long_games: 200,
                    ..sized
                }
            }
            (Preset::Scratch, LONG..) => {
                SelfTrainSettings { positions: 2 * positions, match_games: 1_000, long_games: 1_000, ..sized }
            }
            _ => sized,
        }
    }
}

/// Comparison training from the piece values, with few nodes and positions, so that generations are short.
fn comparison_from_scratch() -> SelfTrainSettings {
    SelfTrainSettings {
        method: Method::Comparison,
        preset: Preset::Scratch,
        games_file: None,
        scores: None,
        variant: Variant::Standard,
        seed: 1,
        nodes: 300,
        label_nodes: 2_000,
        positions: 20_000,
        generations: 0,
        minutes: 0,
        threads: 1,
        match_games: 300,
        match_nodes: 1_000,
        tuning_pairs: 0,
        long_games: 600,
        long_nodes: 20_000,
        sprt: vec![0.0, 40.0, 0.05, 0.05],
        long_sprt: vec![0.0, 20.0, 0.05, 0.05],
        policy_openings: 0.0,
        positions_per_game: 16,
        window: 16,
        passes: 2,
        batch: 256,
        interpolation: 1.0,
        result_share: 0.1,
        growth: 4,
        pairs_l2: 1_000.0,
        half_at: 0,
        min_margin: 15,
        fine_tune_from: 50_000,
    }
}

/// Regression from the piece values.
///
/// The number of positions matters most: each quiescent position of the games is used, with the score of the search
/// that chose its move. The weights keep the initial scale; a scale fitted to the results of games with few nodes,
/// which are seldom drawn, would make values too large for the search.
fn regression_from_scratch() -> SelfTrainSettings {
    SelfTrainSettings {
        method: Method::Regression,
        nodes: 250,
        positions: 200_000,
        match_nodes: 2_500,
        tuning_pairs: 1_500,
        positions_per_game: 64,
        window: 32,
        passes: 8,
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
        preset: Preset::Improve,
        nodes: 1_000,
        positions: 1_500_000,
        match_games: 2_000,
        match_nodes: 4_000,
        tuning_pairs: 500,
        long_games: 2_000,
        sprt: vec![0.0, 10.0, 0.05, 0.05],
        long_sprt: vec![0.0, 10.0, 0.05, 0.05],
        policy_openings: 0.5,
        positions_per_game: 128,
        window: 12,
        interpolation: 0.67,
        result_share: 0.0,
        growth: 1,
        pairs_l2: 100.0,
        half_at: 15_000_000,
        ..regression_from_scratch()
    }
}

/// Comparison training from good weights.
///
/// The scale is kept, and SPSA tunes the interpolation with the result of the training.
fn comparison_to_improve() -> SelfTrainSettings {
    SelfTrainSettings {
        preset: Preset::Improve,
        nodes: 1_000,
        label_nodes: 5_000,
        positions: 50_000,
        match_games: 2_000,
        match_nodes: 2_000,
        tuning_pairs: 3_000,
        long_games: 2_000,
        sprt: vec![0.0, 10.0, 0.05, 0.05],
        long_sprt: vec![0.0, 10.0, 0.05, 0.05],
        interpolation: 0.5,
        min_margin: 0,
        fine_tune_from: 0,
        ..comparison_from_scratch()
    }
}

/// Whether weights have more than piece values and piece-square tables.
pub(super) fn knows_more_than_pieces(weights: &Weights) -> bool {
    let others = GROUPS.iter().filter(|group| ![MATERIAL.start, PIECE_SQUARE.start].contains(&group.start));
    others.flat_map(|group| &weights.ints()[group.range()]).any(|weight| *weight != [0; 2])
}
