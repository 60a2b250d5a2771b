//! `dyad suite`: how many positions of test suites the engine solves.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dyad_engine::control::Control;
use dyad_engine::engine::{MAX_HASH, MAX_THREADS};
use dyad_engine::eval::Weights;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::arena::problem::{Goal, Problem};
use dyad_trainer::arena::suite::{Answer, SuiteSettings, class, read, sample, solve};
use dyad_trainer::base::number::number;

use super::limits::Limits;
use super::progress::ProgressDisplay;
use super::{Outcome, Threads, load_weights, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// Suites: EPD files with bm, am, dm, or with c8 and c9 (Strategic Test Suite), and Lichess puzzle files; also
    /// packed
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// At most N positions of each suite and N puzzles of each 200 rating points, evenly spread over the file [default:
    /// all]
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..))]
    sample: Option<usize>,
    #[command(flatten)]
    limits: Limits,
    /// Weights: a file, `default` or `material`
    #[arg(long, default_value = "default")]
    weights: PathBuf,
    /// Hash of each search, in megabytes
    #[arg(long, value_name = "MEGABYTES", value_parser = number(1..=MAX_HASH), default_value_t = 64)]
    hash: usize,
    /// Threads of each search; --threads is the number of searches at a time
    #[arg(long, value_name = "N", value_parser = number(1..=MAX_THREADS), default_value_t = 1)]
    search_threads: usize,
    #[command(flatten)]
    threads: Threads,
    /// List the positions that were not solved
    #[arg(long)]
    missed: bool,
}

/// Seconds of each search where no limit is given.
pub const SECONDS: u64 = 1;

/// Solves the suites and prints a line for each.
pub fn run(arguments: &Arguments) -> Outcome {
    let settings = SuiteSettings {
        budget: arguments.limits.get()?.unwrap_or(SearchLimits::MoveTime(Duration::from_secs(SECONDS))),
        hash: arguments.hash,
        threads: arguments.search_threads,
        concurrency: arguments.threads.count(),
    };
    let weights = load_weights(&arguments.weights)?;
    // All files are read before the first search, so that a faulty one is reported at once.
    let mut suites = Vec::new();
    for path in &arguments.suites {
        let problems = read(path, |error| eprintln!("left out: {error}"))?;
        let chosen = match arguments.sample {
            Some(most) => sample(problems, most),
            None => problems,
        };
        suites.push((path, chosen));
    }
    let control = stop_on_interrupt();
    for (path, problems) in suites {
        println!("{}", solve_one(path, &problems, &weights, &settings, &control, arguments.missed)?);
    }
    Ok(())
}

fn solve_one(
    path: &Path,
    problems: &[Problem],
    weights: &Arc<Weights>,
    settings: &SuiteSettings,
    control: &Control,
    missed: bool,
) -> Result<String, dyad_formats::error::Error> {
    let mut progress = ProgressDisplay::new();
    let mut score = Score::default();
    let mut classes: BTreeMap<u32, (RangeInclusive<u32>, Score)> = BTreeMap::new();
    solve(problems, weights, settings, control, |problem, answer| {
        score.add(answer);
        if let Some(class) = class(problem) {
            classes.entry(*class.start()).or_insert_with(|| (class, Score::default())).1.add(answer);
        }
        if missed && !answer.is_full() {
            progress.say(&miss(problem, answer));
        }
        progress.show(|| format!("{}: {} of {}, {score}", path.display(), score.positions, problems.len()));
    })?;
    drop(progress);
    let mut text = format!("{}: {score}, {}", path.display(), settings.budget);
    for (ratings, score) in classes.into_values() {
        text += &format!("\n  rating {} to {}: {score}", ratings.start(), ratings.end());
    }
    Ok(text)
}

/// A position that was not solved: what was answered, and what was asked for.
fn miss(problem: &Problem, answer: &Answer) -> String {
    let followed = &problem.goal.line()[..answer.followed];
    let board = followed.iter().fold(problem.board, |board, &mv| board.after(mv));
    let list = |moves: &[_]| moves.iter().map(|&mv| board.san(mv)).collect::<Vec<_>>().join(" ");
    let wanted = match &problem.goal {
        Goal::Moves { best, avoid } if best.is_empty() => format!("not {}", list(avoid)),
        Goal::Moves { best, .. } => list(best),
        Goal::Mate(moves) => format!("mate in {moves}"),
        Goal::Line(moves) => list(&[moves[answer.followed]]),
        Goal::Points(moves) => list(
            &moves.iter().filter(|(_, points)| *points == answer.max_points).map(|(mv, _)| *mv).collect::<Vec<_>>(),
        ),
    };
    let played = answer.best.map_or_else(|| "no move".to_string(), |mv| board.san(mv));
    let after = match answer.followed {
        0 => String::new(),
        count => format!(" after {count} moves"),
    };
    format!("{}: {played} ({} of {} points), wanted {wanted}{after}", problem.name, answer.points, answer.max_points)
}

/// The score of the answers so far.
#[derive(Default)]
struct Score {
    positions: usize,
    solved: usize,
    points: u64,
    max_points: u64,
}

impl Score {
    fn add(&mut self, answer: &Answer) {
        self.positions += 1;
        self.solved += usize::from(answer.is_full());
        self.points += u64::from(answer.points);
        self.max_points += u64::from(answer.max_points);
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |part: f64, all: f64| 100.0 * part / all.max(1.0);
        let solved = percent(self.solved as f64, self.positions as f64);
        write!(f, "{} of {} solved ({solved:.1} %)", self.solved, self.positions)?;
        // If every solution has one point, the points repeat the number of solved positions.
        if self.max_points > self.positions as u64 {
            let points = percent(self.points as f64, self.max_points as f64);
            write!(f, ", {} of {} points ({points:.1} %)", self.points, self.max_points)?;
        }
        Ok(())
    }
}
