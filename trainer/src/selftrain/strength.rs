//! Strength on a scale that people know: the rating on Lichess, from games against the [levels](dyad_levels).
//!
//! The weights play with so few nodes that what they have learned is felt: with more, the values of the pieces alone
//! beat most people.

use std::sync::Arc;

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_levels::file::{MAX_ELO, MIN_ELO, MoveModel};
use dyad_levels::player::{LevelPlayer, PlayerProfile};
use serde::{Deserialize, Serialize};

use super::recipe::{self, RandomStream};
use super::settings::SelfTrainSettings;
use crate::arena::matches::{Match, MatchGame, MatchPlayer};
use crate::arena::statistics::{Points, score_of_elo};
use crate::base::Z95;

/// Nodes of a move.
pub const NODES: u64 = 20;
/// Pairs of games.
pub const PAIRS: u64 = 8;
/// The first level, and the step while all games are won or lost.
const FIRST: f64 = 1_500.0;
const STEP: f64 = 200.0;

/// A finished pair of games: the level, and the points of the weights.
pub type Pair = (u32, [Points; 2]);

/// A rating, in Elo of Lichess.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Strength {
    /// The generation that it is the rating of.
    pub generation: u32,
    /// Elo.
    pub elo: f64,
    /// Half the width of its 95 % interval.
    pub error: f64,
    /// The games behind it.
    pub games: u64,
}

impl Strength {
    /// The rating of the piece values, the same for every training.
    pub const PIECE_VALUES: Strength = Strength { generation: 0, elo: 1_440.0, error: 70.0, games: 144 };

    /// The rating at which the expected points against the levels are the points made. `None` if all games are won or
    /// all are lost: that would be a bound.
    pub fn of(generation: u32, pairs: &[Pair]) -> Option<Strength> {
        let expected = |elo: f64, level: &u32| score_of_elo(elo - f64::from(*level));
        let points: f64 = pairs.iter().flat_map(|(_, points)| points).map(|points| points.halves() as f64 / 2.0).sum();
        if points <= 0.0 || points >= 2.0 * pairs.len() as f64 {
            return None;
        }
        let (mut low, mut high) = (-2_000.0, 6_000.0);
        while high - low > 0.5 {
            let middle = f64::midpoint(low, high);
            let sum: f64 = pairs.iter().map(|(level, _)| 2.0 * expected(middle, level)).sum();
            if sum < points { low = middle } else { high = middle }
        }
        let per_elo = std::f64::consts::LN_10 / 400.0;
        let variance = |(level, _): &Pair| {
            let score = expected(low, level);
            2.0 * score * (1.0 - score) * per_elo * per_elo
        };
        let information: f64 = pairs.iter().map(variance).sum();
        Some(Strength { generation, elo: low, error: Z95 / information.sqrt(), games: 2 * pairs.len() as u64 })
    }
}

/// The level of the next pair: as strong as the weights themselves, as far as is known.
pub fn next_level(pairs: &[Pair], known: Option<f64>) -> u32 {
    let elo = match (Strength::of(0, pairs), pairs.last()) {
        (Some(strength), _) => strength.elo,
        // All games are won, or all are lost.
        (None, Some((_, points))) => {
            let levels = pairs.iter().map(|(level, _)| f64::from(*level));
            if points[0] == Points::Win { levels.fold(0.0, f64::max) + STEP } else { levels.fold(9e9, f64::min) - STEP }
        }
        (None, None) => known.unwrap_or(FIRST),
    };
    ((elo / 50.0).round() * 50.0).clamp(MIN_ELO.into(), MAX_ELO.into()) as u32
}

/// The match of a generation's pair of games with this number against a level.
pub fn match_with_level(
    settings: &SelfTrainSettings,
    weights: &Arc<Weights>,
    level: u32,
    (generation, number): (u32, u64),
) -> Match {
    let players = ["best", "level"].map(|name| (name.to_string(), Arc::clone(weights)));
    let mut played = recipe::match_of(settings, &players, NODES, 2, None);
    let seed = u64::from(generation) << 32 | number;
    let profile = PlayerProfile::with_elo(&MoveModel::embedded(), level.into(), seed);
    let make = move || LevelPlayer::new(profile.clone());
    played.players[1] = MatchPlayer::other("level", format!("level {level}"), make);
    played
}

/// Measures the strength of weights by `count` pairs of games; `known` is what is known of it, in Elo. `None` if all games
/// are won or lost, or if it was stopped.
///
/// # Errors
/// When the games cannot be played.
pub fn measure(
    settings: &SelfTrainSettings,
    weights: &Arc<Weights>,
    generation: u32,
    (known, count): (Option<f64>, u64),
    stop: &Control,
) -> Result<Option<Strength>, Error> {
    let openings = recipe::openings(settings, recipe::seed(settings, generation, RandomStream::Levels), weights);
    let mut pairs = Vec::new();
    for (number, opening) in (0..count).zip(openings) {
        let level = next_level(&pairs, known);
        match match_with_level(settings, weights, level, (generation, number)).play_pair(number, &opening, stop) {
            Err(Error::Stopped) => return Ok(None),
            games => pairs.push((level, games?.each_ref().map(MatchGame::points))),
        }
    }
    Ok(Strength::of(generation, &pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_follows_the_results() {
        assert_eq!(next_level(&[], None), 1_500);
        assert_eq!(next_level(&[], Some(1_212.0)), 1_200);
        let won = [(1_500, [Points::Win; 2])];
        assert_eq!((next_level(&won, None), Strength::of(1, &won)), (1_700, None));
        assert_eq!(next_level(&[(1_500, [Points::Loss; 2])], None), 1_300);
        let even = [(1_500, [Points::Win, Points::Loss]), (1_500, [Points::Draw; 2])];
        let Strength { elo, error, games, .. } = Strength::of(1, &even).unwrap();
        assert!((elo - 1_500.0).abs() < 1.0 && (300.0..400.0).contains(&error), "{elo} {error}");
        assert_eq!((games, next_level(&even, None)), (4, 1_500));
    }

    /// Good weights are stronger than the values of the pieces.
    #[test]
    fn strengths_are_measured() {
        let settings = SelfTrainSettings::default();
        let elo = |weights: &Arc<Weights>| {
            let found = measure(&settings, weights, 1, (Some(1_800.0), 3), &Control::new(false)).unwrap();
            found.map_or(9e9, |strength| strength.elo)
        };
        let (material, good) = (elo(&Arc::new(Weights::material())), elo(&Weights::embedded()));
        assert!(good > material, "{good} {material}");
    }
}
