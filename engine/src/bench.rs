//! The searches of `bench`: how fast the search is, and whether it is still the same.
//!
//! A fixed set of positions is searched by one thread to a fixed depth, each from an empty table, so the number of nodes
//! depends on nothing but the code and the weights. It works as a checksum of the search: a change that should not
//! change play must not change it.

use crate::board::{Board, Game};
use crate::control::{Control, Instant};
use crate::engine::Engine;
use crate::eval::Weights;
use crate::search::{HashError, Limits, Options};
use std::sync::Arc;
use std::time::Duration;

/// The depth of the checksum: deep enough that every part of the search is used, and done in a few seconds.
pub const DEPTH: u32 = 13;

const HASH_MEGABYTES: usize = 16;

/// Positions of all phases, two thirds of them from games of engines against themselves.
const POSITIONS: &str = include_str!("bench.fens");

/// Searches the positions; `on_position` receives the FEN and the nodes of each. Returns the nodes and the time of all,
/// or `None` if it was stopped.
pub fn run(
    weights: Arc<Weights>,
    depth: u32,
    control: &Control,
    on_position: &mut dyn FnMut(&str, u64),
) -> Result<Option<(u64, Duration)>, HashError> {
    let mut engine = Engine::with_hash(weights, HASH_MEGABYTES)?;
    let (limits, options) = (Limits::depth(depth), Options::default());
    let (mut nodes, mut time) = (0, Duration::ZERO);
    for fen in POSITIONS.lines() {
        let game = Game::new(Board::from_fen(fen).expect("the positions are tested"));
        engine.clear();
        let start = Instant::now();
        let outcome = engine.search(&game, &limits, &options, control, &mut |_| ());
        time += start.elapsed();
        if control.stopped() {
            return Ok(None);
        }
        nodes += outcome.nodes;
        on_position(fen, outcome.nodes);
    }
    Ok(Some((nodes, time)))
}
