//! Estimates the duration of generations from their nodes and a measured speed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{Limits, Options};

use super::generator::HASH;
use super::settings::{Method, SelfTrainSettings};
use crate::base::parallel::ordered_for_each;
use crate::base::words::spoken;

/// A generation of the first hour from which the window and the nodes of a preset no longer grow.
const GROWN: u32 = 10;
/// Duration of the first measurement.
const MOMENT: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 300 });
/// Most nodes of a search in the measurement, so that one search does not take all of its time.
const MOST_NODES: u64 = 20_000;
/// Plies of a game.
const PLIES: u64 = 110;
/// Nodes that take as long as a position in one pass of a regression.
const REGRESSION_NODES: f64 = 12.0;
/// Nodes that take as long as a position in one pass of a comparison training.
const COMPARISON_NODES: f64 = 150.0;

/// The speed of a training.
pub(super) struct Speed {
    nodes_per_second: f64,
}

impl Speed {
    /// Measures the speed of this machine at its current load by short games on all threads.
    pub fn measure(settings: &SelfTrainSettings, weights: &Arc<Weights>) -> Speed {
        let nodes = settings.nodes.min(MOST_NODES);
        let begun = Instant::now();
        let (mut moves, end) = (0, begun + MOMENT);
        let state = || Engine::with_hash(weights.clone(), HASH);
        let play = |engine: &mut Engine, _| Ok(moves_until(end, engine, nodes));
        let played = ordered_for_each(settings.threads, 0..settings.threads, state, play, |count| {
            moves += count;
            Ok(())
        });
        // The training itself reports a lack of memory for the hash tables.
        played.ok();
        let nodes_per_second = (moves.max(1) * nodes) as f64 / begun.elapsed().as_secs_f64();
        Speed { nodes_per_second }
    }

    /// The speed of a generation that took `elapsed`.
    pub fn of(settings: &SelfTrainSettings, generation: u32, elapsed: Duration) -> Speed {
        Speed { nodes_per_second: nodes(settings, generation) / elapsed.as_secs_f64().max(1e-3) }
    }

    /// The duration of a generation and of later ones, for the user.
    pub fn spoken(&self, settings: &SelfTrainSettings, generation: u32) -> String {
        let last = if settings.generations == 0 { GROWN } else { settings.generations.min(GROWN) };
        let [first, later] = [generation, generation.max(last)].map(|number| self.seconds(settings, number));
        match later < 1.5 * first {
            true => format!("about {} a generation", spoken(later)),
            false => format!("about {} for generation {generation}, {} for later ones", spoken(first), spoken(later)),
        }
    }

    fn seconds(&self, settings: &SelfTrainSettings, generation: u32) -> f64 {
        nodes(settings, generation) / self.nodes_per_second
    }
}

/// Plays moves until `end`, and returns their number.
fn moves_until(end: Instant, engine: &mut Engine, nodes: u64) -> u64 {
    let (mut game, mut moves) = (Game::default(), 0);
    while Instant::now() < end {
        let limits = Limits::nodes(nodes);
        let outcome = engine.search(&game, &limits, &Options::default(), &Control::new(false), &mut |_| ());
        moves += 1;
        match outcome.best {
            Some(mv) if game.ending().is_none() && game.moves().len() < PLIES as usize => game.push(mv),
            _ => {
                game = Game::default();
                engine.clear();
            }
        }
    }
    moves
}

/// Nodes of a generation, with half of the games of a match and of a distance measurement, which SPRTs end early.
fn nodes(settings: &SelfTrainSettings, generation: u32) -> f64 {
    let positions = settings.positions as f64;
    let games = |games: f64, nodes: u64| games * (PLIES as f64 * nodes as f64);
    let own_games = positions / settings.positions_per_game as f64;
    let window = f64::from(generation + 1 - settings.window_start(generation));
    let passes = f64::from(settings.passes) * window;
    let training = match settings.method {
        Method::Regression => games(own_games, settings.nodes_of(generation)) + passes * positions * REGRESSION_NODES,
        Method::Comparison => {
            let depth = f64::from(3u32.pow(settings.depth.saturating_sub(1).min(9)));
            let training = positions * passes * COMPARISON_NODES * depth;
            match settings.is_labeled() {
                true => games(own_games, settings.nodes) + positions * settings.label_nodes as f64 + training,
                false => training,
            }
        }
    };
    let tuning = games(2.0 * settings.tuning_pairs_of(generation, 0) as f64, settings.match_nodes);
    let matches = games(settings.match_games as f64 / 2.0, settings.match_nodes);
    training + tuning + matches + games(settings.distance_games() as f64 / 2.0, settings.long_nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftrain::Preset;

    #[test]
    fn more_work_takes_longer() {
        for method in Method::ALL {
            let scratch = SelfTrainSettings::preset(Preset::Scratch, method);
            assert!([1, 2, 4].map(|number| nodes(&scratch, number)).is_sorted(), "{method}");
            let [coffee, night] = [10, 480].map(|minutes| nodes(&scratch.clone().sized(minutes), GROWN));
            let improve = nodes(&SelfTrainSettings::preset(Preset::Improve, method), GROWN);
            let scratch = nodes(&scratch, GROWN);
            assert!(coffee < scratch && scratch < night && scratch < improve, "{method}");
        }
    }

    /// Nodes of a game above 2^64.
    #[test]
    fn twice_the_nodes_take_twice_as_long() {
        for method in Method::ALL {
            let of = |nodes| {
                let preset = SelfTrainSettings::preset(Preset::Scratch, method);
                super::nodes(&SelfTrainSettings { nodes, match_nodes: nodes, long_nodes: nodes, ..preset }, GROWN)
            };
            let [once, twice] = [1, 2].map(|times| of(times * 100_000_000_000_000_000));
            assert!((twice / once - 2.0).abs() < 1e-6, "{method}: {once} {twice}");
        }
    }

    #[test]
    fn a_generation_corrects_the_speed() {
        let settings =
            SelfTrainSettings { nodes: 10, ..SelfTrainSettings::preset(Preset::Scratch, Method::Regression) };
        assert!(Speed::measure(&settings, &Weights::embedded()).nodes_per_second > 0.0);
        let speed = Speed::of(&settings, 1, Duration::from_secs(30));
        assert!((speed.seconds(&settings, 1) - 30.0).abs() < 1e-9);
        let times = speed.spoken(&settings, 1);
        assert!(
            times.starts_with("about 30 seconds for generation 1, ") && times.ends_with(" for later ones"),
            "{times}"
        );
        assert!(speed.spoken(&settings, GROWN).ends_with(" a generation"));
    }
}
