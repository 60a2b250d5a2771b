//! A game as it was played, wherever it comes from.

use std::path::PathBuf;

use dyad_engine::board::{Board, Move};

use crate::hash;
use crate::score::{GameResult, Score};

/// A move of a game and what was said of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedMove {
    /// The move.
    pub mv: Move,
    /// The mover's evaluation, from the mover's side.
    pub score: Option<Score>,
    /// Whether it came out of a book.
    pub book: bool,
}

impl PlayedMove {
    /// A move of which only the mover's score is known, if anything.
    pub fn scored(mv: Move, score: Option<Score>) -> PlayedMove {
        PlayedMove { mv, score, book: false }
    }
}

/// The tags of a game that filters look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// Event and time control, as text to find words in.
    pub event: String,
    /// Ratings of White and Black.
    pub ratings: [Option<u32>; 2],
    /// Where it was played.
    pub site: String,
    /// The result tag, where it is one of the three.
    pub result: Option<GameResult>,
    /// White and Black by name.
    pub players: [String; 2],
    /// Whether White and Black are programs, as servers mark them: the title `BOT` (Lichess), `IsComp` (FICS), or the
    /// type `program` of the PGN standard.
    pub programs: [bool; 2],
}

/// A game that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {problem}")]
pub struct BrokenGame {
    /// The file.
    pub path: PathBuf,
    /// The first line of the game.
    pub line: u64,
    /// The players, if known, and the problem.
    pub problem: String,
}

/// A game, replayed and found legal.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// Tags.
    pub tags: Tags,
    /// The position it began with.
    pub start: Board,
    /// The moves.
    pub moves: Vec<PlayedMove>,
    /// How it ended, if it did.
    pub result: Option<GameResult>,
}

impl GameRecord {
    /// Identity of the game: a hash of its start and its moves.
    pub fn hash(&self) -> u64 {
        self.moves.iter().fold(hash::mix(self.start.key()), |hash, played| {
            hash::fold(hash, u64::from(Move::packed(Some(played.mv))))
        })
    }

    /// Every position a move was played in, with the move.
    pub fn positions(&self) -> impl Iterator<Item = (Board, &PlayedMove)> + '_ {
        self.moves.iter().scan(self.start, |board, played| {
            let before = *board;
            *board = before.after(played.mv);
            Some((before, played))
        })
    }
}
