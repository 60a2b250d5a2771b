//! What a search tells while it runs and when it is done; the program makes text of it.

use crate::board::ChessMove;
use crate::tt::Bound;
use crate::value::Value;
use std::time::Duration;

/// A value as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of the advantage that wins half of the games.
    Cp(i32),
    /// Moves to mate, negative when the side to move is mated.
    Mate(i32),
}

/// The state of one variation.
#[derive(Clone, Debug)]
pub struct Info {
    /// Plies of the iteration.
    pub depth: u32,
    /// Plies of the deepest line.
    pub seldepth: u32,
    /// Rank of the variation, from 1.
    pub multipv: usize,
    /// Value for the side to move, in search units.
    pub value: Value,
    /// The value for people.
    pub score: Score,
    /// What the value says.
    pub bound: Bound,
    /// Wins, draws, losses to expect in a thousand games.
    pub wdl: [u32; 3],
    /// Nodes of all threads.
    pub nodes: u64,
    /// Time since the search was accepted.
    pub time: Duration,
    /// Use of the table in a thousand.
    pub hashfull: u32,
    /// Positions found in endgame tables.
    pub tbhits: u64,
    /// The variation.
    pub pv: Vec<ChessMove>,
}

/// A message of a running search.
#[derive(Clone, Debug)]
pub enum Report {
    /// A variation was searched.
    Info(Info),
    /// A root move is about to be searched.
    CurrentMove {
        /// Plies of the iteration.
        depth: u32,
        /// The move.
        mv: ChessMove,
        /// Its number, from 1.
        number: usize,
    },
    /// The search is decided: nothing follows but the end of helping threads, which wait for a processor first.
    Answer(Outcome),
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move; none when the game is over.
    pub best: Option<ChessMove>,
    /// The answer that is expected.
    pub ponder: Option<ChessMove>,
    /// Value for the side to move, in search units.
    pub value: Value,
    /// The value for people.
    pub score: Score,
    /// Plies of the last full iteration.
    pub depth: u32,
    /// Nodes of all threads.
    pub nodes: u64,
    /// The principal variation.
    pub pv: Vec<ChessMove>,
}
