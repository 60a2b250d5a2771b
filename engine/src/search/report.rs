//! Reports of a running search, and its outcome.

use super::tt::Bound;
use crate::board::Move;
use crate::value::Value;
use std::time::Duration;

/// A value for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of the advantage that wins half of the games.
    Cp(i32),
    /// Moves to mate, negative when the side to move is mated.
    Mate(i32),
}

impl Score {
    /// The score of the position before a move as one of the position after it, both from the mover's view: one move of
    /// a mate is made.
    pub fn after_move(self) -> Score {
        match self {
            Score::Mate(moves) if moves > 1 => Score::Mate(moves - 1),
            score => score,
        }
    }
}

/// A principal variation of an iteration.
#[derive(Clone, Debug)]
pub struct Info {
    /// Depth of the iteration.
    pub depth: u32,
    /// Selective depth: the deepest ply of a PV node.
    pub seldepth: u32,
    /// MultiPV index, from 1.
    pub multipv: usize,
    /// Value for the side to move, in search units.
    pub value: Value,
    /// The value for users.
    pub score: Score,
    /// Whether the value is exact or a bound.
    pub bound: Bound,
    /// Expected wins, draws and losses in a thousand games.
    pub wdl: [u32; 3],
    /// Nodes of all threads.
    pub nodes: u64,
    /// Time since the search was accepted.
    pub time: Duration,
    /// Permille of the transposition table in use.
    pub hashfull: u32,
    /// Tablebase hits.
    pub tbhits: u64,
    /// The moves of the variation.
    pub pv: Vec<Move>,
}

/// A message of a running search.
#[derive(Clone, Debug)]
pub enum Report {
    /// A variation.
    Info(Info),
    /// The root move that is searched now.
    CurrentMove {
        /// Depth of the iteration.
        depth: u32,
        /// The move.
        mv: Move,
        /// Its number, from 1.
        number: usize,
    },
    /// The result, reported before the helper threads have ended.
    Answer(Outcome),
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move. None when the game is over.
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// Value for the side to move, in search units.
    pub value: Value,
    /// The value for users.
    pub score: Score,
    /// Plies of the last complete iteration.
    pub depth: u32,
    /// Nodes of all threads.
    pub nodes: u64,
    /// The principal variation.
    pub pv: Vec<Move>,
}
