//! Positions with known solutions. [`suite`](super::suite) reads and solves them.

use dyad_engine::board::{Board, Move};
use dyad_engine::search::{Outcome, Score};
use dyad_formats::epd::EpdLine;

/// A position of a suite and its solution.
pub struct Problem {
    /// Its `id`, or its line number.
    pub name: String,
    /// The position.
    pub board: Board,
    /// The solution.
    pub goal: Goal,
    /// Difficulty as a rating; puzzles have one.
    pub rating: Option<u32>,
}

/// What a position asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A move of `best`, if it is not empty, and none of `avoid`.
    Moves {
        /// Moves that solve the position; if empty, any move not in `avoid` does.
        best: Vec<Move>,
        /// Moves that do not solve it.
        avoid: Vec<Move>,
    },
    /// A mate in at most this many moves, found and reported.
    Mate(u32),
    /// Moves with their points.
    Points(Vec<(Move, u32)>),
    /// The first, third, ... of these moves, each found by its own search; the others are the opponent's replies.
    /// Another mating move counts as well.
    Line(Vec<Move>),
}

impl Goal {
    /// Reads the goal of an EPD line.
    pub(super) fn read(line: &EpdLine) -> Result<Goal, String> {
        let points = points_of_moves(line);
        if let Ok(Some((moves, points))) = &points {
            return match points.len() == moves.len() {
                true => Ok(Goal::Points(moves.iter().copied().zip(points.iter().copied()).collect())),
                false => Err(format!("{} points in c8 for {} moves in c9", points.len(), moves.len())),
            };
        }
        if let Some(moves) = line.operand("dm") {
            let moves = moves.parse().ok().filter(|&moves| moves > 0);
            return moves.map(Goal::Mate).ok_or_else(|| "dm: expected a number of moves".to_string());
        }
        if let Some(moves) = line.mate() {
            return Ok(Goal::Mate(moves));
        }
        match (line.moves("bm")?, line.moves("am")?) {
            (None, None) => {
                let nothing = || "no bm, am, dm, or c8 with c9: nothing is asked for".to_string();
                Err(points.err().unwrap_or_else(nothing))
            }
            (best, avoid) => Ok(Goal::Moves { best: best.unwrap_or_default(), avoid: avoid.unwrap_or_default() }),
        }
    }

    /// The moves of the line; empty for other goals.
    #[must_use]
    pub fn line(&self) -> &[Move] {
        match self {
            Goal::Line(moves) => moves,
            Goal::Moves { .. } | Goal::Mate(_) | Goal::Points(_) => &[],
        }
    }

    /// The maximum number of points.
    #[must_use]
    pub fn max_points(&self) -> u32 {
        match self {
            Goal::Points(moves) => moves.iter().map(|(_, points)| *points).max().unwrap_or(0),
            Goal::Moves { .. } | Goal::Mate(_) | Goal::Line(_) => 1,
        }
    }

    /// The points for the outcome of a search or, for a line, for the number of moves followed.
    pub(super) fn points(&self, outcome: &Outcome, followed: usize) -> u32 {
        match self {
            Goal::Moves { best, avoid } => {
                let solves = |mv| (best.is_empty() || best.contains(&mv)) && !avoid.contains(&mv);
                u32::from(outcome.best.is_some_and(solves))
            }
            Goal::Mate(within) => match outcome.score {
                Score::Mate(moves) => u32::from((1..=i64::from(*within)).contains(&i64::from(moves))),
                Score::Cp(_) => 0,
            },
            Goal::Points(moves) => {
                moves.iter().find(|(mv, _)| Some(*mv) == outcome.best).map_or(0, |(_, points)| *points)
            }
            Goal::Line(moves) => u32::from(followed == moves.len()),
        }
    }
}

/// Moves, and the points of each.
type PointsOfMoves = (Vec<Move>, Vec<u32>);

/// The moves of `c9` and the points of `c8`. Both are comments, which hold something else in other files: an error counts
/// only where the line has no other goal.
fn points_of_moves(line: &EpdLine) -> Result<Option<PointsOfMoves>, String> {
    let Some(points) = line.operand("c8") else { return Ok(None) };
    let Some(moves) = line.moves("c9")? else { return Ok(None) };
    let points: Result<Vec<u32>, _> = points.split_whitespace().map(str::parse).collect();
    Ok(Some((moves, points.map_err(|_| "c8: expected points".to_string())?)))
}
