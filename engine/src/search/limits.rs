//! Limits and options of a search.

use super::time::Clock;
use crate::board::Move;
use crate::params::Params;
use crate::tablebase::Tables;
use std::time::Duration;

/// Limits of one search; the first one reached ends it.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Depth of the last iteration in plies.
    pub depth: Option<u32>,
    /// Nodes of all threads together.
    pub nodes: Option<u64>,
    /// Ends the search at a mate in this number of moves.
    pub mate: Option<u32>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// Sends the best move only after a stop.
    pub infinite: bool,
    /// Whether to ponder, for the caller that makes the [`Control`](crate::control::Control).
    pub ponder: bool,
    /// Moves to search; all when empty.
    pub searchmoves: Vec<Move>,
}

impl Limits {
    /// A fixed depth.
    pub fn depth(depth: u32) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// A fixed number of nodes.
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }
}

/// The move overhead of [`Options::default`].
pub const MOVE_OVERHEAD: Duration = Duration::from_millis(10);

/// Options of all searches.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of principal variations.
    pub multipv: usize,
    /// Time lost between engine and clock on each move.
    pub move_overhead: Duration,
    /// The parameters of the search.
    pub params: Params,
    /// Tablebases, if any.
    pub tables: Option<Tables>,
}

impl Default for Options {
    fn default() -> Options {
        Options { multipv: 1, move_overhead: MOVE_OVERHEAD, params: Params::DEFAULT, tables: None }
    }
}
