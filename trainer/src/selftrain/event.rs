//! What a self-training has from outside, and what it tells while it runs and when it ends.
//!
//! [`Display`](fmt::Display) of an [`Event`] is the one text that the command line prints and a GUI gets behind
//! `info string train`.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::arena::matches::{MatchRecord, MatchScore};

/// What a self-training has from outside.
pub struct Surroundings<'a> {
    /// Set by whoever wants it to end: it does within about a second, and everything is kept.
    pub stop: &'a AtomicBool,
    /// Hears of what happens, on the thread of the caller.
    pub report: &'a mut dyn FnMut(&Event),
}

/// How a self-training ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whether all generations are done, rather than stopped on request.
    pub finished: bool,
    /// Generations that are done.
    pub generations: u32,
    /// How many of them were adopted.
    pub adopted: u32,
    /// The best weights, an absolute path; none before a generation was adopted.
    pub best: Option<PathBuf>,
}

/// What a generation goes through, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Games of the best weights against themselves.
    Games,
    /// Positions drawn from the games.
    Positions,
    /// Desired moves found by search.
    Labels,
    /// Comparison training.
    Training,
    /// The scale and the win rate of the new weights.
    Scale,
    /// Games that say how far the weights go along the directions of the training, and others.
    Tuning,
    /// New weights against the best.
    Match,
    /// The best weights against the oldest.
    Anchor,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 8] = [
        Stage::Games,
        Stage::Positions,
        Stage::Labels,
        Stage::Training,
        Stage::Scale,
        Stage::Tuning,
        Stage::Match,
        Stage::Anchor,
    ];

    /// What is counted while it goes on.
    #[must_use]
    pub fn unit(self) -> &'static str {
        if matches!(self, Stage::Tuning | Stage::Match | Stage::Anchor) { "games" } else { "positions" }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Games => "self-play",
            Stage::Positions => "drawing positions",
            Stage::Labels => "labels",
            Stage::Training => "training",
            Stage::Scale => "scale",
            Stage::Tuning => "tuning",
            Stage::Match => "match",
            Stage::Anchor => "anchor match",
        })
    }
}

/// How far a generation is. Told about once a second, and at the beginning of each stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// The generation, from 1.
    pub generation: u32,
    /// Of so many; 0 for no end.
    pub generations: u32,
    /// Positions or games of the stage that are done, see [`Stage::unit`].
    pub done: u64,
    /// Of so many; 0 where nobody knows.
    pub of: u64,
    /// The same per second in this stage.
    pub positions_per_second: f64,
    /// Move-match accuracy on test positions, 0 to 1: the latest that was measured.
    pub accuracy: Option<f64>,
    /// Seconds until the stage is done, by what was done so far.
    pub seconds_left: Option<f64>,
    /// A match so far.
    pub standing: Option<MatchScore>,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// So far.
    Progress(Progress),
    /// A match ended.
    Match {
        /// The generation.
        generation: u32,
        /// Whether it was played against the oldest weights instead of the best.
        anchor: bool,
        /// Score, Elo with its interval, log-likelihood ratio.
        record: MatchRecord,
    },
    /// The new weights won: they are the best now.
    Adopted {
        /// The generation.
        generation: u32,
        /// Their file, an absolute path; it will hold every later best too.
        path: PathBuf,
        /// The match they won.
        record: MatchRecord,
    },
    /// The new weights did not win: the best stay. What was made of the generation is kept.
    Rejected {
        /// The generation.
        generation: u32,
        /// The match they did not win.
        record: MatchRecord,
    },
    /// Something a user should know.
    Note(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Progress(progress) => progress.fmt(f),
            Event::Match { generation, anchor, record } => {
                let against = if *anchor { "match against the oldest" } else { "match" };
                write!(f, "generation {generation} {against}: {}", result(record))
            }
            Event::Adopted { generation, path, .. } => {
                write!(f, "generation {generation} adopted: {}", path.display())
            }
            Event::Rejected { generation, .. } => {
                write!(f, "generation {generation} rejected: it did not win its match, the best weights stay")
            }
            Event::Note(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {}", self.generation)?;
        if self.generations > 0 {
            write!(f, " of {}", self.generations)?;
        }
        write!(f, " {}", self.stage)?;
        if self.done == 0 && self.of == 0 {
            return Ok(());
        }
        write!(f, " {}", self.done)?;
        if self.of > 0 {
            write!(f, " of {}", self.of)?;
        }
        write!(f, " {} {:.1}/s", self.stage.unit(), self.positions_per_second)?;
        if let Some(accuracy) = self.accuracy {
            write!(f, " accuracy {:.1} %", 100.0 * accuracy)?;
        }
        if let Some(standing) = &self.standing {
            write!(f, " +{} ={} -{}", standing.tally.wins, standing.tally.draws, standing.tally.losses)?;
            if let Some(llr) = standing.llr {
                write!(f, " LLR {llr:+.2}")?;
            }
        }
        if let Some(left) = self.seconds_left {
            write!(f, " {left:.0} s left")?;
        }
        Ok(())
    }
}

/// A match in a line.
fn result(record: &MatchRecord) -> String {
    let tally = &record.tally;
    let mut text = format!(
        "+{} ={} -{} score {:.1} % Elo {:+.1} +- {:.1}",
        tally.wins,
        tally.draws,
        tally.losses,
        100.0 * record.score.value,
        record.elo.value,
        record.elo.error()
    );
    if let (Some(llr), Some(sprt)) = (record.llr, &record.sprt) {
        let (lower, upper) = sprt.bounds();
        text += &format!(" LLR {llr:+.2} ({lower:.2} to {upper:.2})");
    }
    text
}
