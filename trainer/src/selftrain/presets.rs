//! Presets: complete settings of a training by its method and its time.
//!
//! `docs/experiments.md` has the measurements.

use super::settings::{Method, SelfTrainSettings};
use crate::arena::openings::Variant;

/// Minutes up to which a training is short.
const SHORT: u64 = 15;
/// Minutes from which a training is long.
const LONG: u64 = 240;

impl SelfTrainSettings {
    /// The settings of a training by `method`.
    pub fn of(method: Method) -> SelfTrainSettings {
        match method {
            Method::Regression => regression(),
            Method::Comparison => comparison(),
        }
    }

    /// The settings for a training of `minutes`, 0 for no limit. The first generations gain most, so those of a short
    /// training are small and few games measure them. The later ones of a long training gain little and need more
    /// positions and games.
    pub fn sized(self, minutes: u64) -> SelfTrainSettings {
        let (method, positions, tuning_pairs) = (self.method, self.positions, self.tuning_pairs);
        let sized = SelfTrainSettings { minutes, ..self };
        match minutes {
            1..=SHORT => {
                let part = if method == Method::Regression { 2 } else { 4 };
                SelfTrainSettings {
                    positions: positions / part,
                    match_games: 100,
                    tuning_pairs: tuning_pairs / 3,
                    long_games: 200,
                    ..sized
                }
            }
            LONG.. => SelfTrainSettings { positions: 2 * positions, match_games: 1_000, long_games: 1_000, ..sized },
            _ => sized,
        }
    }
}

/// Comparison training, with few nodes and positions, so that generations are short.
fn comparison() -> SelfTrainSettings {
    SelfTrainSettings {
        method: Method::Comparison,
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
        tuning_pairs: 1_500,
        long_games: 600,
        long_nodes: 20_000,
        sprt: vec![0.0, 40.0, 0.05, 0.05],
        long_sprt: vec![0.0, 20.0, 0.05, 0.05],
        positions_per_game: 16,
        window: 16,
        passes: 2,
        batch: 256,
        result_share: 0.1,
        growth: 4,
        pairs_l2: 1_000.0,
        min_margin: 15,
        fine_tune_from: 50_000,
    }
}

/// Regression.
///
/// The number of positions matters most: each quiescent position of the games is used, with the score of the search
/// that chose its move. The weights keep the initial scale; a scale fitted to the results of games with few nodes,
/// which are seldom drawn, would make values too large for the search.
fn regression() -> SelfTrainSettings {
    SelfTrainSettings {
        method: Method::Regression,
        nodes: 250,
        positions: 200_000,
        match_nodes: 2_500,
        positions_per_game: 64,
        window: 32,
        passes: 8,
        ..comparison()
    }
}
