//! How long a generation takes, about.

use std::sync::Arc;
use std::time::Instant;

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{Limits, Options};

use super::settings::{Comparison, Method, Regression, SelfTrainSettings};

/// Generations that a training learns from, in the first hour.
const MOST_GENERATIONS: u32 = 5;
/// Nodes of the search that measures the speed.
const NODES: u64 = if cfg!(test) { 1_000 } else { 60_000 };
/// Plies of a game.
const PLIES: f64 = 90.0;
/// Nodes that take as long as a position in one pass of a regression, and of a comparison training.
const REGRESSION_NODES: f64 = 12.0;
const COMPARISON_NODES: f64 = 150.0;

/// Seconds of a generation, once the numbers that grow have grown.
pub(super) fn seconds(settings: &SelfTrainSettings, weights: &Arc<Weights>) -> f64 {
    nodes(settings) / nodes_per_second(weights) / settings.threads as f64
}

/// Nodes of a generation; a half of the matches and a few games of the long ones are counted.
fn nodes(settings: &SelfTrainSettings) -> f64 {
    let positions = settings.positions as f64;
    let games = |games: f64, nodes: u64| games * PLIES * nodes as f64;
    let own_games = positions / settings.positions_per_game as f64;
    let training = match &settings.method {
        Method::Regression(Regression { growth, passes, .. }) => {
            let generations = f64::from(settings.window.min(MOST_GENERATIONS));
            let fit = f64::from(*passes) * positions * generations * REGRESSION_NODES;
            games(own_games, settings.nodes_of(*growth)) + fit
        }
        Method::Comparison(own) => {
            let Comparison { label_nodes, iterations, depth, .. } = own;
            let passes = f64::from(*iterations) * f64::from(settings.window.min(MOST_GENERATIONS));
            let training = positions * passes * COMPARISON_NODES * f64::from(3u32.pow(depth.saturating_sub(1).min(9)));
            match own.is_labeled() {
                true => games(own_games, settings.nodes) + positions * *label_nodes as f64 + training,
                false => training,
            }
        }
    };
    let tuning = games(2.0 * settings.tuning_pairs as f64, settings.match_nodes);
    let matches = games(settings.match_games as f64 / 2.0, settings.match_nodes);
    training + tuning + matches + games(settings.distance_games as f64 / 2.0, settings.long_nodes)
}

fn nodes_per_second(weights: &Arc<Weights>) -> f64 {
    let mut engine = Engine::new(weights.clone());
    let begun = Instant::now();
    engine.search(&Game::default(), &Limits::nodes(NODES), &Options::default(), &Control::new(false), &mut |_| ());
    NODES as f64 / begun.elapsed().as_secs_f64().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftrain::{MethodName, Preset};

    #[test]
    fn more_work_takes_longer() {
        let of = |preset, method| nodes(&SelfTrainSettings::preset(preset, method));
        for method in MethodName::ALL {
            let [coffee, scratch, night, improve] =
                [Preset::Coffee, Preset::Scratch, Preset::Night, Preset::Improve].map(|preset| of(preset, method));
            assert!(coffee < scratch && scratch < night && scratch < improve, "{method}");
        }
    }
}
