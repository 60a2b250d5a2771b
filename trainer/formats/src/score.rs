//! Results of games and scores of searches.

use std::fmt;
use std::str::FromStr;

use dyad_engine::board::Color;
use dyad_engine::search;
use serde::{Deserialize, Serialize};

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GameResult {
    /// 0-1
    #[serde(rename = "0-1")]
    BlackWins,
    /// 1/2-1/2
    #[serde(rename = "1/2-1/2")]
    Draw,
    /// 1-0
    #[serde(rename = "1-0")]
    WhiteWins,
}

impl GameResult {
    /// The result of a win of this color.
    pub fn win_of(color: Color) -> GameResult {
        if color == Color::White { GameResult::WhiteWins } else { GameResult::BlackWins }
    }

    /// White's share of the point.
    pub fn points(self) -> f64 {
        match self {
            GameResult::BlackWins => 0.0,
            GameResult::Draw => 0.5,
            GameResult::WhiteWins => 1.0,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GameResult::BlackWins => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::WhiteWins => "1-0",
        })
    }
}

/// The side from which scores in comments are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreSide {
    /// Positive is good for White.
    White,
    /// Positive is good for the side that made the move (Cute Chess, fastchess).
    Mover,
}

impl FromStr for ScoreSide {
    type Err = String;

    fn from_str(text: &str) -> Result<ScoreSide, String> {
        match text {
            "white" => Ok(ScoreSide::White),
            "mover" => Ok(ScoreSide::Mover),
            _ => Err(format!("expected white or mover, found '{text}'")),
        }
    }
}

/// The score of a position in centipawns, with mates near [`Score::MATE`].
///
/// ```
/// # use dyad_formats::score::Score;
/// assert_eq!(Score::centipawns(-35.0).opposite().pawns(), 0.35);
/// assert!(Score::mate(3) > Score::centipawns(5_000.0) && Score::mate(3) < Score::mate(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub i16);

impl Score {
    /// Mate in n is this minus n.
    pub const MATE: i16 = 32_000;
    /// Values beyond this are mates.
    pub const LARGEST: i16 = 30_000;

    /// A value in centipawns, clamped to the range below mates.
    pub fn centipawns(value: f64) -> Score {
        Score(value.round().clamp(-f64::from(Score::LARGEST), f64::from(Score::LARGEST)) as i16)
    }

    /// Mate in `moves`; negative if the side to move is mated.
    pub fn mate(moves: i32) -> Score {
        let distance = moves.unsigned_abs().min(1_000) as i16;
        Score(if moves < 0 { distance - Score::MATE } else { Score::MATE - distance })
    }

    /// Whether this is a mate.
    pub fn is_mate(self) -> bool {
        self.0.abs() > Score::LARGEST
    }

    /// The same value in pawns.
    pub fn pawns(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// The same value from the other side.
    pub fn opposite(self) -> Score {
        Score(-self.0)
    }

    /// White's view of a value as `side`'s, or `side`'s as White's.
    pub fn white_or(self, side: Color) -> Score {
        if side == Color::White { self } else { self.opposite() }
    }
}

impl From<search::Score> for Score {
    fn from(score: search::Score) -> Score {
        match score {
            search::Score::Cp(centipawns) => Score::centipawns(f64::from(centipawns)),
            search::Score::Mate(moves) => Score::mate(moves),
        }
    }
}

/// As match programs write it: `+0.35`, and mates in plies: `+M5` is mate in three moves, `-M4` mated in two.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_mate() {
            true if self.0 > 0 => write!(f, "+M{}", (2 * (Score::MATE - self.0) - 1).max(0)),
            true => write!(f, "-M{}", 2 * (Score::MATE + self.0)),
            false => write!(f, "{:+.2}", self.pawns()),
        }
    }
}
