//! `dyad convert`: games between PGN, viriformat, binpack and bulletformat.

use std::path::{Path, PathBuf};

use clap::Args;
use dyad_formats::score::ScoreSide;
use dyad_trainer::arena::convert::{ConvertCounts, ConvertEvent, convert};
use dyad_trainer::base::context::Context;
use dyad_trainer::base::words::counted;

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// Games: PGN (.pgn), plain, packed or in archives, viriformat (.vf), and binpack (.binpack) in builds with that
    /// feature
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File to write; its ending chooses the format: .pgn, .vf, or .bullet for the positions that have a score
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Side that the scores in comments are given for: `white` or `mover` [default: detected from the games, else
    /// mover]
    #[arg(long, value_name = "SIDE")]
    scores: Option<ScoreSide>,
    #[command(flatten)]
    threads: Threads,
}

/// Converts games and says how many.
pub fn run(arguments: &Arguments) -> Outcome {
    let stop = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let inputs: Vec<&Path> = arguments.files.iter().map(PathBuf::as_path).collect();
    let scores = arguments.scores;
    let mut on_event = |event| match event {
        ConvertEvent::Broken(game) => progress.say(&game.to_string()),
        ConvertEvent::Written(counts) => progress.show(|| format!("{} games, {} moves", counts.games, counts.moves)),
    };
    let mut context = Context { threads: arguments.threads.count(), stop: &stop, on_event: &mut on_event };
    let counts = convert(&inputs, &arguments.out, scores, &mut context)?;
    drop(progress);
    let ConvertCounts { games, moves, broken, unfinished, scores: found } = counts;
    if scores.is_some() && found == 0 {
        eprintln!("warning: no move has a score in a form that is known");
    }
    let games = counted(games, "game", "games");
    println!("{games} with {moves} moves or positions written; {broken} broken, {unfinished} without a result");
    Ok(())
}
