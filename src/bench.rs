//! `bench`: how fast the search is, and whether it is still the same.
//!
//! A fixed set of positions is searched by one thread to a fixed depth, each from an empty table,
//! so the number of nodes depends on nothing but the code and the weights. It works as a checksum
//! of the search: a change that should not change play must not change it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyad_engine::board::{Board, Game};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::search::{Limits, Options};
use serde_json::json;

use crate::display::Say;
use crate::info::nps;

/// Deep enough that every part of the search is used, and done in a few seconds.
const DEPTH: u32 = 13;

const HASH_MEGABYTES: usize = 16;

/// Positions of all phases, two thirds of them from games of engines against themselves.
const POSITIONS: &str = include_str!("bench.fens");

/// Runs the benchmark with the weights of `engine`. The last line is the one that programs read; as JSON it is the only
/// one.
pub fn run(depth: Option<u32>, json: bool, engine: &Engine, control: &Control, say: &mut Say) -> Vec<String> {
    let mut bench = match Engine::with_hash(Arc::clone(engine.weights()), HASH_MEGABYTES) {
        Ok(engine) => engine,
        Err(error) => return vec![format!("info string bench: {error}")],
    };
    let depth = depth.unwrap_or(DEPTH);
    let limits = Limits::depth(depth);
    let options = Options::default();
    let (mut nodes, mut time, mut positions) = (0, Duration::ZERO, Vec::new());
    for (index, fen) in POSITIONS.lines().enumerate() {
        let game = Game::new(Board::from_fen(fen).expect("the positions are tested"));
        bench.clear();
        let start = Instant::now();
        let outcome = bench.search(&game, &limits, &options, control, &mut |_| ());
        time += start.elapsed();
        if control.stopped() {
            return vec!["info string bench stopped".to_string()];
        }
        nodes += outcome.nodes;
        match json {
            true => positions.push(json!({ "fen": fen, "nodes": outcome.nodes })),
            false => say(format!("{:2} {:>10}  {fen}", index + 1, outcome.nodes)),
        }
    }
    if json {
        let (nps, milliseconds) = (nps(nodes, time), time.as_millis() as u64);
        let found =
            json!({ "nodes": nodes, "nps": nps, "milliseconds": milliseconds, "depth": depth, "positions": positions });
        return vec![found.to_string()];
    }
    vec![format!("{nodes} nodes {} nps", nps(nodes, time))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_legal_and_different() {
        let mut keys: Vec<u64> = POSITIONS
            .lines()
            .map(|fen| Board::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}")))
            .map(|board| board.key())
            .collect();
        assert_eq!(keys.len(), 50);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 50);
    }
}
