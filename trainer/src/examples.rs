//! What a training learns from: positions with desired moves, by number.

use crate::games::Score;
use crate::samples::{Sample, SampleFile};
use dyad_engine::board::{Board, ChessMove};
use std::io;

/// A position to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The position.
    pub board: Board,
    /// Its desired move.
    pub desired: ChessMove,
    /// What the game brought the mover, 0 to 1, where it is known.
    pub result: Option<f64>,
    /// A searched score for the mover, in units of evaluation, where there is one.
    pub score: Option<f64>,
    /// Whether the desired move is clearly the best. Where it is not, it is not compared with its siblings: only
    /// result and score teach something, at its leaf.
    pub decided: bool,
}

/// Where the positions come from. All threads read at once.
pub trait Examples: Sync {
    /// What identifies them: equal exactly when all of them are.
    fn identity(&self) -> String;

    /// How many there are, training and test together.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether position `index` is kept for testing.
    fn is_test(&self, index: usize) -> bool;

    /// Position `index`.
    fn get(&self, index: usize) -> io::Result<Example>;
}

impl Example {
    /// The example that a sample is, where a centipawn is worth `centipawn` units of evaluation; nothing for a
    /// sample without a desired move.
    #[must_use]
    pub fn new(sample: &Sample, centipawn: f64) -> Option<Example> {
        let score = |Score(score)| f64::from(score.clamp(-Score::LARGEST, Score::LARGEST)) * centipawn;
        Some(Example {
            board: sample.board,
            desired: sample.desired?,
            result: sample.points(),
            score: sample.score.map(score),
            decided: sample.decided,
        })
    }
}

/// A pawn of the user interface, 100 centipawns, is 200 units of evaluation.
const UNITS_IN_CENTIPAWN: f64 = 2.0;

impl Examples for SampleFile {
    fn identity(&self) -> String {
        format!("{:016x}", self.summary().identity)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn is_test(&self, index: usize) -> bool {
        self.is_test(index)
    }

    fn get(&self, index: usize) -> io::Result<Example> {
        let sample = self.read(index).map_err(io::Error::other)?;
        let no_move = || io::Error::other(format!("sample {index} of {} has no desired move", self.path().display()));
        Example::new(&sample, UNITS_IN_CENTIPAWN).ok_or_else(no_move)
    }
}
