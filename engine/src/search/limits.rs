//! What a search may spend, and what it is asked for.

use crate::board::ChessMove;
use crate::params::Params;
use crate::tablebase::Tables;
use crate::time::Clock;
use std::num::NonZeroU64;
use std::time::Duration;

/// Limits of one search; the first that is met ends it.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Plies of the deepest iteration.
    pub depth: Option<u32>,
    /// Nodes of all threads together.
    pub nodes: Option<u64>,
    /// Ends when a mate in so many moves is found.
    pub mate: Option<u32>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// That clock runs by nodes, so many a second, and not by time: a search on a clock that is the same on any machine, on
    /// one thread.
    pub nps: Option<NonZeroU64>,
    /// Does not answer before it is told to stop.
    pub infinite: bool,
    /// Was asked to ponder: for whoever makes the [`Control`](crate::control::Control), which the search obeys.
    pub ponder: bool,
    /// Moves to search; all when empty.
    pub searchmoves: Vec<ChessMove>,
}

impl Limits {
    /// A fixed depth.
    #[must_use]
    pub fn depth(depth: u32) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// A fixed number of nodes.
    #[must_use]
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }
}

/// The move overhead of [`Options::default`].
pub const MOVE_OVERHEAD: Duration = Duration::from_millis(10);

/// Settings that hold for all searches.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many best variations are searched.
    pub multipv: usize,
    /// Time lost between the engine and the clock each move.
    pub move_overhead: Duration,
    /// The constants of the search.
    pub params: Params,
    /// Endgame tables, if there are any.
    pub tables: Option<Tables>,
}

impl Default for Options {
    fn default() -> Options {
        Options { multipv: 1, move_overhead: MOVE_OVERHEAD, params: Params::DEFAULT, tables: None }
    }
}
