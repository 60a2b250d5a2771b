//! Search limits as arguments and settings: nodes, depth, a time per move or a clock.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::Args;
use dyad_engine::value::MAX_PLY;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::base::number::{check, number};
use serde::Serialize;

/// Range of times in seconds: no game and no search takes longer than a year.
pub const SECONDS: RangeInclusive<f64> = 0.0..=365.0 * 24.0 * 60.0 * 60.0;

/// Range of depths in plies.
pub const DEPTH: RangeInclusive<u32> = 1..=MAX_PLY as u32 - 1;

/// Limits of a search, of which one can be given.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[group(skip)]
pub struct Limits {
    /// Nodes per move
    #[arg(long, group = "limit", value_parser = number::<u64>(1..))]
    pub nodes: Option<u64>,
    /// Depth of each search, in plies
    #[arg(long, group = "limit", value_name = "PLIES", value_parser = number(DEPTH))]
    pub depth: Option<u32>,
    /// Time per move, in seconds
    #[arg(long, group = "limit", value_name = "SECONDS", value_parser = number(SECONDS))]
    pub movetime: Option<f64>,
}

/// A clock in place of [`Limits`].
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[group(skip)]
pub struct Clock {
    /// Time for a game and increment, in seconds, as 8+0.08; with @NPS, as 8+0.08@200000, clocks run as if each player
    /// searched NPS nodes per second
    #[arg(long, group = "limit", value_name = "BASE+INCREMENT")]
    pub tc: Option<String>,
}

impl Limits {
    /// The limit that is given.
    ///
    /// # Errors
    /// When it is out of its range, or more than one is given.
    pub fn get(&self) -> Result<Option<SearchLimits>, String> {
        let given = [self.nodes.is_some(), self.depth.is_some(), self.movetime.is_some()];
        if given.into_iter().filter(|&given| given).count() > 1 {
            return Err("nodes, depth, movetime: one limit is possible".to_string());
        }
        match *self {
            Limits { nodes: Some(nodes), .. } => {
                check("nodes", nodes, &(1..)).map(|()| Some(SearchLimits::Nodes(nodes)))
            }
            Limits { depth: Some(depth), .. } => {
                check("depth", depth, &DEPTH).map(|()| Some(SearchLimits::Depth(depth)))
            }
            Limits { movetime, .. } => movetime.map(|seconds| parse_move_time(&seconds.to_string())).transpose(),
        }
    }
}

impl Clock {
    /// The clock that is given.
    pub fn get(&self) -> Result<Option<SearchLimits>, String> {
        self.tc.as_deref().map(parse_clock).transpose()
    }
}

/// A clock as `8+0.08`, or as `8+0.08@200000` one that runs by nodes.
pub fn parse_clock(text: &str) -> Result<SearchLimits, String> {
    let (times, nps) = text.split_once('@').map_or((text, None), |(times, nps)| (times, Some(nps)));
    let (base, increment) = times.split_once('+').unwrap_or((times, "0"));
    let nps = nps.map(|nps| nps.parse().map_err(|_| format!("'{nps}' is not a number of nodes per second")));
    Ok(SearchLimits::Clock { base: parse_seconds(base)?, increment: parse_seconds(increment)?, nps: nps.transpose()? })
}

/// A time per move in seconds.
pub fn parse_move_time(text: &str) -> Result<SearchLimits, String> {
    parse_seconds(text).map(SearchLimits::MoveTime)
}

/// A time in seconds, up to a year.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = number(SECONDS)(text).map_err(|error| format!("'{text}': {error} seconds (a year)"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("'{text}': {error}"))
}
