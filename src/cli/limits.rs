//! Search limits as arguments: nodes, depth, a time per move or a clock.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::Args;
use dyad_engine::value::MAX_PLY;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::base::number::number;

/// Range of times in seconds: no game and no search takes longer than a year.
const SECONDS: RangeInclusive<f64> = 0.0..=365.0 * 24.0 * 60.0 * 60.0;

/// Range of depths in plies.
const DEPTH: RangeInclusive<u32> = 1..=MAX_PLY as u32 - 1;

/// Limits of a search, of which one can be given.
#[derive(Args)]
#[group(skip)]
pub struct Limits {
    /// Nodes per move
    #[arg(long, group = "limit", value_parser = number::<u64>(1..))]
    nodes: Option<u64>,
    /// Depth of each search, in plies
    #[arg(long, group = "limit", value_name = "PLIES", value_parser = number(DEPTH))]
    depth: Option<u32>,
    /// Time per move, in seconds
    #[arg(long, group = "limit", value_name = "SECONDS", value_parser = parse_seconds)]
    movetime: Option<Duration>,
    /// Time for a game and increment, in seconds, as 8+0.08; with @NPS, as 8+0.08@200000, clocks run as if each player
    /// searched NPS nodes per second
    #[arg(long, group = "limit", value_name = "BASE+INCREMENT", value_parser = parse_clock)]
    tc: Option<SearchLimits>,
}

impl Limits {
    /// The limit that is given.
    pub fn get(&self) -> Option<SearchLimits> {
        let fixed = self.nodes.map(SearchLimits::Nodes).or(self.depth.map(SearchLimits::Depth));
        fixed.or(self.movetime.map(SearchLimits::MoveTime)).or(self.tc)
    }
}

/// A clock as `8+0.08`, or as `8+0.08@200000` one that runs by nodes.
pub fn parse_clock(text: &str) -> Result<SearchLimits, String> {
    let (times, nps) = text.split_once('@').map_or((text, None), |(times, nps)| (times, Some(nps)));
    let (base, increment) = times.split_once('+').unwrap_or((times, "0"));
    let nps = nps.map(|nps| nps.parse().map_err(|_| format!("'{nps}' is not a number of nodes per second")));
    Ok(SearchLimits::Clock { base: parse_seconds(base)?, increment: parse_seconds(increment)?, nps: nps.transpose()? })
}

/// A time in seconds, up to a year.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = number(SECONDS)(text).map_err(|error| format!("{error} seconds (a year)"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
