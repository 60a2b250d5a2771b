//! `dyad datagen`: games of weights against themselves, to train on.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::error::Error;
use dyad_formats::files::check_output;
use dyad_trainer::base::context::Context;
use dyad_trainer::selftrain::generator::{GeneratorProgress, GeneratorSettings, generate};

use super::progress::ProgressDisplay;
use super::settings::check_resume;
use super::{Outcome, Threads, load_weights, read_openings, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// File of games (PGN) to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Continue an incomplete file of games
    #[arg(long)]
    resume: bool,
    /// Weights that play: a file, `default` or `material`
    #[arg(long, default_value = "default")]
    weights: PathBuf,
    /// Openings of half of the games: positions (.epd, .fen) or games (.pgn), also packed [default: random moves alone]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    #[command(flatten)]
    settings: GeneratorSettings,
    #[command(flatten)]
    threads: Threads,
}

/// Plays the games.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { out, resume, weights, openings, settings, threads } = arguments;
    check_output(&out, [&weights].into_iter().chain(&openings))?;
    check_resume(resume, &out)?;
    let weights = load_weights(&weights)?;
    let openings = openings.map_or_else(|| Ok(Vec::new()), |path| read_openings(&path))?;
    let stop = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let mut complete = 0;
    let mut on_event = |GeneratorProgress { games, moves }| {
        complete = games;
        let rate = moves as f64 / progress.elapsed().as_secs_f64().max(1e-3);
        progress.show(|| format!("{games} of {} games, {rate:.0} moves/s", settings.games));
    };
    let mut context = Context { threads: threads.count(), stop: &stop, on_event: &mut on_event };
    let played = generate(&settings, &weights, &openings, &out, &mut context);
    drop(progress);
    match played {
        Err(Error::Stopped) => return Err("stopped; add --resume to continue".into()),
        played => played?,
    }
    println!("{complete} games in {}", out.display());
    Ok(())
}
