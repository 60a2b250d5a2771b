//! `dyad match`: games between two players.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dyad_engine::engine::DEFAULT_HASH;
use dyad_engine::eval::Weights;
use dyad_engine::value::MAX_PLY;
use dyad_formats::error::Error;
use dyad_formats::files::check_outputs;
use dyad_trainer::arena::matches::{MOST_GAMES, Match, MatchEnd, MatchGame, MatchRecord, MatchScore};
use dyad_trainer::arena::openings::{self, Opening, OpeningSettings, RandomOpenings, Variant};
use dyad_trainer::arena::pgn_writer::today;
use dyad_trainer::arena::play::{Adjudication, DrawRule, SearchLimits, WinRule};
use dyad_trainer::arena::statistics::{Decision, Sprt};
use dyad_trainer::base::number::number;

use super::player::PlayerSpec;
use super::progress::ProgressDisplay;
use super::settings::check_resume;
use super::{Outcome, Threads, read_openings, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// First player: weights (a file, `default` or `material`), `level:1600` (Elo of Lichess) or `deepchess:FILE` (a
    /// network)
    a: PlayerSpec,
    /// Second player, as the first
    b: PlayerSpec,
    /// Nodes per move
    #[arg(long, value_parser = number::<u64>(1..), conflicts_with = "depth")]
    nodes: Option<u64>,
    /// Depth of each search, in plies
    #[arg(long, value_name = "PLIES", value_parser = number(DEPTH))]
    depth: Option<u32>,
    /// Games at most; an odd number is rounded up
    #[arg(long, value_name = "N", value_parser = number(1..=MOST_GAMES), default_value_t = 1_000)]
    games: u64,
    /// Openings: positions (.epd, .fen) or the first 16 plies of games (.pgn), also packed [default: random openings]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Starting positions of random openings
    #[arg(long, value_enum, default_value_t, conflicts_with = "openings")]
    variant: Variant,
    /// Seed of random openings, and of the order of those of a file
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
    /// Stop when a sequential test of ELO1 against ELO0 has decided, with errors ALPHA and BETA
    #[arg(long, num_args = 4, value_names = ["ELO0", "ELO1", "ALPHA", "BETA"], allow_negative_numbers = true,
          value_parser = number(-10_000.0..=10_000.0))]
    sprt: Option<Vec<f64>>,
    /// Draw from move FROM on, after both scores were within CENTIPAWNS of 0 for MOVES moves
    #[arg(long, value_parser = number(0..=i16::MAX as u32), num_args = 3, value_names = ["FROM", "MOVES", "CENTIPAWNS"])]
    draw_adjudication: Option<Vec<u32>>,
    /// Win after both players agreed on CENTIPAWNS or more for MOVES moves
    #[arg(long, value_parser = number(0..=i16::MAX as u32), num_args = 2, value_names = ["MOVES", "CENTIPAWNS"])]
    win_adjudication: Option<Vec<u32>>,
    /// File for the games (PGN)
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Continue the match whose games --pgn has
    #[arg(long, requires = "pgn")]
    resume: bool,
}

/// Nodes per move.
pub const NODES: u64 = 20_000;
/// Range of depths in plies.
const DEPTH: RangeInclusive<u32> = 1..=MAX_PLY as u32 - 1;

/// Most moves of an adjudication.
const MOST_ADJUDICATION_MOVES: u32 = 10_000;

/// Plays the match and prints its result.
pub fn run(arguments: Arguments) -> Outcome {
    let control = stop_on_interrupt();
    let played = arguments.to_match()?;
    let Arguments { a, b, openings, .. } = &arguments;
    let inputs = [a.file(), b.file(), openings.as_deref()];
    check_outputs(&arguments.pgn, inputs.into_iter().flatten())?;
    if let Some(path) = &arguments.pgn {
        check_resume(arguments.resume, path)?;
    }
    let mut openings = arguments.openings(&played)?;
    let event = format!("dyad match, seed {}", arguments.seed);
    let (mut games, mut before) = (None, Vec::new());
    if let Some(path) = &arguments.pgn {
        let (file, written, all) = played.continue_file(path, &event, openings)?;
        (games, before, openings) = (Some(file), written, Box::new(all));
    }
    if arguments.resume {
        eprintln!("{} games of this match were played before", before.len());
    }
    let date = today();
    let mut progress = ProgressDisplay::new();
    let mut reasons: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut so_far = MatchScore::default();
    let record = played.play(&before, openings, &control, |game, score| {
        if let Some(file) = &mut games {
            file.write(&played.pgn(game, &event, &date))?;
        }
        so_far = *score;
        *reasons.entry(game.game.reason.words()).or_default() += 1;
        let elapsed = progress.elapsed();
        progress.show(|| progress_line(&played, game, score, elapsed, before.len()));
        Ok(())
    });
    drop(progress);
    let record = record.inspect_err(|_| eprintln!("score so far: {}", so_far.tally))?;
    print!("{}", summary(&record, &reasons, before.len()));
    match (record.end == MatchEnd::Stopped, &arguments.pgn) {
        (false, _) => Ok(()),
        (true, Some(path)) => Err(format!("stopped; --resume continues from {}", path.display()).into()),
        (true, None) => Err("stopped; the match is not complete".into()),
    }
}

impl Arguments {
    fn to_match(&self) -> Result<Match, Box<dyn std::error::Error>> {
        let [mut name_a, mut name_b] = [&self.a, &self.b].map(PlayerSpec::name);
        if name_a == name_b {
            name_a.push_str(" A");
            name_b.push_str(" B");
        }
        let limits = self.depth.map_or(SearchLimits::Nodes(self.nodes.unwrap_or(NODES)), SearchLimits::Depth);
        Ok(Match {
            players: [self.a.player(&name_a)?, self.b.player(&name_b)?],
            limits,
            hash: DEFAULT_HASH,
            pairs: self.games.div_ceil(2),
            threads: self.threads.count(),
            adjudication: self.adjudication()?,
            sprt: self.sprt.as_deref().map(|test| Sprt::new(test[0], test[1], test[2], test[3])).transpose()?,
        })
    }

    fn adjudication(&self) -> Result<Adjudication, String> {
        let draw = self.draw_adjudication.as_deref();
        let win = self.win_adjudication.as_deref();
        // A rule of no moves would end the game before it begins.
        let mut moves = draw.map(|rule| rule[1]).into_iter().chain(win.map(|rule| rule[0]));
        if let Some(moves) = moves.find(|moves| !(1..=MOST_ADJUDICATION_MOVES).contains(moves)) {
            return Err(format!("adjudication takes 1 to {MOST_ADJUDICATION_MOVES} moves, not {moves}"));
        }
        Ok(Adjudication {
            draw: draw.map(|rule| DrawRule { from: rule[0], moves: rule[1], score: rule[2] as i16 }),
            win: win.map(|rule| WinRule { moves: rule[0], score: rule[1] as i16 }),
            plies: None,
        })
    }

    fn openings(&self, played: &Match) -> Result<Box<dyn Iterator<Item = Opening> + Send>, Error> {
        let Some(path) = &self.openings else {
            let filter = openings::opening_filter(Weights::embedded(), openings::FILTER_NODES);
            let settings = OpeningSettings { variant: self.variant, ..OpeningSettings::new(self.seed) };
            return Ok(Box::new(RandomOpenings::new(settings, filter)));
        };
        let mut list = read_openings(path)?;
        openings::shuffle(&mut list, self.seed);
        if (list.len() as u64) < played.pairs {
            eprintln!(
                "{} holds {} openings, which make {} different games at fixed nodes or depth: no more are played",
                path.display(),
                list.len(),
                2 * list.len(),
            );
        }
        Ok(Box::new(list.into_iter()))
    }
}

/// Progress after a game; `before` games were played in earlier runs.
fn progress_line(played: &Match, game: &MatchGame, score: &MatchScore, elapsed: Duration, before: usize) -> String {
    let (done, all) = (game.number + 1, 2 * played.pairs);
    let left = elapsed.as_secs_f64() / (done - before as u64) as f64 * (all - done) as f64;
    let llr = score.llr.map_or_else(String::new, |llr| format!("  LLR {llr:+.2}"));
    format!("game {done} of {all}, {left:.0} s left  {}{llr}", score.tally)
}

fn summary(record: &MatchRecord, reasons: &BTreeMap<&str, u64>, before: usize) -> String {
    let mut text = String::new();
    let mut line =
        |name: &str, value: String| writeln!(text, "{name:<9}{value}").expect("writing to a string does not fail");
    let [a, b] = &record.names;
    let tally = &record.tally;
    line("Match", format!("{a} ({}) - {b} ({}), {}", record.ids[0], record.ids[1], record.limits));
    line("Games", format!("{}: {}", tally.games(), tally.counts()));
    let [low, high] = [record.score.low, record.score.high].map(|score| 100.0 * score);
    line("Score", format!("{:.2} % [{low:.2}, {high:.2}]", 100.0 * record.score.value));
    line("Elo", record.elo.text(1));
    line("nElo", record.normalized_elo.text(1));
    line("LOS", format!("{:.2} %", 100.0 * record.los));
    line("Pairs", format!("{:?} with 0, 1/2, 1, 3/2, 2 points", tally.pentanomial));
    if let (Some(sprt), Some(llr)) = (&record.sprt, record.llr) {
        let (lower, upper) = sprt.bounds();
        let decision = match record.decision {
            Some(Decision::H0) => "H0 is accepted",
            Some(Decision::H1) => "H1 is accepted",
            _ => "not decided",
        };
        line("LLR", format!("{llr:+.2} ({lower:.2}, {upper:.2}), {sprt}: {decision}"));
    }
    let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let counted = if before == 0 { String::new() } else { format!(" (without the {before} games played before)") };
    line("Endings", reasons.join(", ") + &counted);
    let end = match record.end {
        MatchEnd::Decided => "the test has decided",
        MatchEnd::Complete => "all games were played",
        MatchEnd::NoMoreOpenings => "there are no more openings",
        MatchEnd::Stopped => "it was stopped",
    };
    line("Ended", format!("after {:.1} s, because {end}", record.seconds));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn match_of(words: &str) -> Result<Match, String> {
        let line = Line::try_parse_from(["match"].into_iter().chain(words.split_whitespace()));
        line.map_err(|error| error.to_string())?.arguments.to_match().map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_that_are_wrong_are_refused() {
        for (words, expected) in [
            ("--nodes 0", "expected a whole number, at least 1"),
            ("--depth 1000000", "expected a whole number, 1 to 245"),
            ("--nodes 20 --depth 4", "cannot be used with"),
            ("--threads 0", "expected a whole number, 1 to 1024"),
            ("--games 18446744073709551615", "expected a whole number, 1 to"),
            ("--openings a.epd --variant chess960", "cannot be used with"),
            ("--resume", "--pgn"),
            ("--draw-adjudication 40 0 10", "adjudication takes 1 to"),
            ("--win-adjudication 0 600", "adjudication takes 1 to"),
            ("--win-adjudication 4 40000", "expected a whole number, 0 to 32767"),
            ("--sprt 5 0 0.05 0.05", "an SPRT needs elo0 below elo1"),
        ] {
            let error = match_of(&format!("material default {words}")).err().unwrap_or_default();
            assert!(error.contains(expected), "{words}: {error}");
        }
    }

    #[test]
    fn limits_of_both_players() {
        for (words, limits) in [
            ("", SearchLimits::Nodes(20_000)),
            ("--nodes 5", SearchLimits::Nodes(5)),
            ("--depth 5", SearchLimits::Depth(5)),
        ] {
            assert_eq!(match_of(&format!("material level:1600 {words}")).unwrap().limits, limits, "{words}");
        }
    }
}
