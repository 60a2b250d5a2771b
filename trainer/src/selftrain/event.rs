//! Events of a self-training, the lines of its log, and its result.
//!
//! [`Display`](fmt::Display) of a [`SelfTrainEvent`] is the text that the command line prints and that a GUI receives
//! after `info string train`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::strength::{NODES, Strength};
use crate::arena::matches::{MatchRecord, MatchScore};
use crate::arena::statistics::{Decision, Estimate};
use crate::base::words::{counted, grouped, spoken};

/// The result of a self-training.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfTrainSummary {
    /// How it ended.
    pub end: End,
    /// Completed generations.
    pub generations: u32,
    /// Adopted generations.
    pub adopted: u32,
    /// Absolute path of the best weights; `None` before the first adoption.
    pub best: Option<PathBuf>,
    /// The generation that the engine plays with; 0 for the reference.
    pub playing: u32,
    /// The name of the reference, such as "the built-in weights".
    pub reference: String,
}

/// How a self-training ended. Resuming continues it unless it is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All generations are done.
    Finished,
    /// The time limit was reached.
    OutOfTime,
    /// It was stopped.
    Stopped,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            End::Finished => "finished",
            End::OutOfTime => "time limit reached",
            End::Stopped => "stopped",
        })
    }
}

impl fmt::Display for SelfTrainSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SelfTrainSummary { end, generations, adopted, best, playing, reference } = self;
        write!(f, "{end}: {} done, {adopted} adopted", counted(u64::from(*generations), "generation", "generations"))?;
        best.as_ref().map_or(Ok(()), |best| write!(f, ", best weights {}", best.display()))?;
        match playing {
            0 => write!(f, ", none is proven to beat {reference} yet"),
            playing => write!(f, ", generation {playing} is proven to beat {reference}"),
        }
    }
}

/// The stages of a generation, in order. The [settings](super::settings::SelfTrainSettings::stages) determine which of
/// them a generation has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Self-play of the best weights.
    #[default]
    Games,
    /// Positions are drawn from the games.
    Positions,
    /// A search finds the desired moves.
    Labels,
    /// The method makes new weights.
    Training,
    /// Scale and win-rate model of the new weights.
    Scale,
    /// SPSA over factors of the new weights' families.
    Tuning,
    /// The new weights against the best ones.
    Match,
    /// The best weights against the reference, to measure the distance.
    Distance,
    /// A long match of the best weights against those that the engine plays with.
    Proof,
}

impl Stage {
    /// The unit of [`StageProgress::done`].
    pub fn unit(self) -> &'static str {
        if matches!(self, Stage::Tuning | Stage::Match | Stage::Distance | Stage::Proof) {
            "games"
        } else {
            "positions"
        }
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
            Stage::Distance => "distance",
            Stage::Proof => "long match",
        })
    }
}

/// Progress of a generation: about once a second, and at the start of each stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageProgress {
    /// The current stage.
    pub stage: Stage,
    /// All stages of the generation.
    pub stages: Vec<Stage>,
    /// The generation, from 1.
    pub generation: u32,
    /// Number of generations; 0 for no limit.
    pub generations: u32,
    /// Positions or games of the stage that are done, see [`Stage::unit`].
    pub done: u64,
    /// Positions or games of the stage; 0 if unknown.
    pub of: u64,
    /// The latest move-match accuracy on test positions, 0 to 1.
    pub accuracy: Option<f64>,
    /// Estimated seconds until the stage is done.
    pub seconds_left: Option<f64>,
    /// Score of a match so far.
    pub standing: Option<MatchScore>,
}

/// A line of `log.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SelfTrainLogLine {
    /// A stage is done.
    Stage {
        /// The stage.
        stage: Stage,
        /// The generation.
        #[serde(rename = "of")]
        generation: u32,
        /// Seconds that the stage took since it began or was resumed.
        #[serde(rename = "took")]
        seconds: f64,
    },
    /// The match of a generation against the best weights ended.
    Generation {
        /// The generation.
        generation: u32,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
        /// Move-match accuracy on test positions, 0 to 1.
        #[serde(rename = "agreement", default)]
        accuracy: Option<f64>,
        /// Whether the new weights were adopted.
        #[serde(default)]
        adopted: bool,
        /// The match.
        #[serde(rename = "match")]
        record: MatchRecord,
    },
    /// The training of a generation changed no weight.
    Unchanged {
        /// The generation.
        #[serde(rename = "unchanged")]
        generation: u32,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
    },
    /// The distance of the best weights to the reference was measured.
    Distance {
        /// The distance.
        distance: Distance,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
    },
    /// The strength of the best weights on the scale of Lichess was measured.
    Strength {
        /// The strength.
        strength: Strength,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
    },
    /// A long match of the best weights against those that the engine plays with ended.
    Proof {
        /// The generation.
        #[serde(rename = "proof")]
        generation: u32,
        /// Seconds since the training began, without interruptions.
        seconds: f64,
        /// Whether the engine plays with the generation now.
        promoted: bool,
        /// The match.
        #[serde(rename = "match")]
        record: MatchRecord,
    },
}

/// An event of a self-training.
#[derive(Clone, Debug, PartialEq)]
pub enum SelfTrainEvent {
    /// Progress of a stage.
    Progress(StageProgress),
    /// A line was written to the log; none for the end of a stage.
    Logged(SelfTrainLogLine),
    /// A note for the user.
    Note(String),
}

impl fmt::Display for SelfTrainEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelfTrainEvent::Progress(progress) => progress.fmt(f),
            SelfTrainEvent::Logged(line) => line.fmt(f),
            SelfTrainEvent::Note(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for SelfTrainLogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelfTrainLogLine::Stage { stage, generation, seconds } => {
                write!(f, "generation {generation} {stage} took {}", spoken(*seconds))
            }
            SelfTrainLogLine::Generation { generation, adopted, record, .. } => {
                let outcome = match record.decision {
                    _ if *adopted => "adopted",
                    Some(Decision::H0 | Decision::H1) => "rejected, the best weights stay",
                    _ => "not decided, the best weights stay",
                };
                write!(f, "generation {generation} {outcome}: {}", result(record))
            }
            SelfTrainLogLine::Unchanged { generation, .. } => write!(
                f,
                "generation {generation} changed no weight, no match is played: it takes more positions to learn from"
            ),
            SelfTrainLogLine::Distance { distance, .. } => distance.fmt(f),
            SelfTrainLogLine::Strength { strength: Strength { generation, elo, error, games }, .. } => write!(
                f,
                "generation {generation} plays like a Lichess {elo:.0} +- {error:.0} with {NODES} nodes a move ({games} games)"
            ),
            SelfTrainLogLine::Proof { generation, promoted, record, .. } => {
                let (other, elo) = (&record.names[1], record.elo.text(0));
                match promoted {
                    true => write!(f, "generation {generation} is proven to beat {other}: {elo} Elo"),
                    false => write!(
                        f,
                        "generation {generation} is not proven to beat {other} ({elo} Elo): the engine plays on as before"
                    ),
                }
            }
        }
    }
}

impl StageProgress {
    /// The generation, as "2 of 5".
    pub fn number(&self) -> String {
        match self.generations {
            0 => self.generation.to_string(),
            of => format!("{} of {of}", self.generation),
        }
    }

    /// What is done of the stage, in words; empty if it is unknown.
    pub fn detail(&self) -> String {
        let mut text = match (self.done, self.of) {
            (0, 0) => return String::new(),
            (done, 0) => grouped(done),
            (done, of) => format!("{} of {}", grouped(done), grouped(of)),
        };
        text += &format!(" {}", self.stage.unit());
        if let Some(accuracy) = self.accuracy {
            text += &format!(", accuracy {:.1} %", 100.0 * accuracy);
        }
        if let Some(standing) = self.standing.filter(|standing| standing.tally.games() > 0) {
            text += &format!(", {}", standing.tally.counts());
            text += &standing.llr.map_or(String::new(), |llr| format!(" LLR {llr:+.2}"));
        }
        text
    }
}

impl fmt::Display for StageProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {} {}", self.number(), self.stage)?;
        let detail = self.detail();
        if !detail.is_empty() {
            write!(f, ": {detail}")?;
        }
        if let Some(left) = self.seconds_left {
            write!(f, ", about {} left", spoken(left))?;
        }
        Ok(())
    }
}

/// The distance of the best weights to the reference, in Elo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Distance {
    /// The generation of the best weights; 0 for the initial weights.
    pub generation: u32,
    /// Name of the reference.
    pub reference: String,
    /// Elo of the best weights against it.
    pub elo: Estimate,
    /// The games behind it; 0 for equal weights.
    pub games: u64,
}

impl Distance {
    /// Largest error in Elo of a distance that is reported as a value.
    pub const FAR: f64 = 150.0;

    /// How strong the weights are compared with the reference.
    pub fn relation(&self) -> String {
        let Distance { generation, reference, elo, games } = self;
        let still = if *generation > 0 { "still " } else { "" };
        match *games {
            0 => format!("as strong as {reference}: the weights are equal"),
            // For a few games that are nearly all lost, the upper end of the interval is more reliable than the value.
            _ if elo.high < 0.0 && elo.error() > Self::FAR => {
                format!("{still}far below {reference}: by more than {:.0} Elo", -elo.high)
            }
            _ if elo.high < 0.0 => {
                format!("{still}{} Elo below {reference}", elo.opposite().text(0).trim_start_matches('+'))
            }
            _ if elo.low > 0.0 => format!("{} Elo above {reference}", elo.text(0).trim_start_matches('+')),
            _ if elo.error() > Self::FAR => format!("not yet comparable with {reference}"),
            _ => format!("about as strong as {reference}: {} Elo", elo.text(0)),
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation {
            0 => write!(f, "the start is {}", self.relation())?,
            generation => write!(f, "generation {generation} is {}", self.relation())?,
        }
        if self.games > 0 { write!(f, " ({} games)", self.games) } else { Ok(()) }
    }
}

/// The result of a match in one line.
fn result(record: &MatchRecord) -> String {
    let (score, elo) = (100.0 * record.score.value, record.elo.text(1));
    let mut text = format!("{} score {score:.1} % Elo {elo}", record.tally.counts());
    if let (Some(llr), Some(sprt)) = (record.llr, &record.sprt) {
        let (lower, upper) = sprt.bounds();
        text += &format!(" LLR {llr:+.2} ({lower:.2} to {upper:.2})");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_of_few_lost_games_is_a_bound() {
        let distance = |generation, [value, low, high]: [f64; 3], games| {
            Distance { generation, reference: "X".to_string(), elo: Estimate { value, low, high }, games }.to_string()
        };
        for (generation, elo, games, expected) in [
            (0, [0.0; 3], 0, "the start is as strong as X: the weights are equal"),
            (0, [-600.0, -1035.0, -159.0], 16, "the start is far below X: by more than 159 Elo (16 games)"),
            (3, [-600.0, -1035.0, -159.0], 16, "generation 3 is still far below X: by more than 159 Elo (16 games)"),
            (6, [-191.0, -310.0, -70.0], 40, "generation 6 is still 191 [+70, +310] Elo below X (40 games)"),
            (7, [-600.0, -1200.0, 0.0], 4, "generation 7 is not yet comparable with X (4 games)"),
            (8, [-30.0, -110.0, 50.0], 40, "generation 8 is about as strong as X: -30 +- 80 Elo (40 games)"),
        ] {
            assert_eq!(distance(generation, elo, games), expected);
        }
    }
}
