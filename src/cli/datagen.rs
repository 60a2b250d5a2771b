//! `dyad datagen`: games of weights against themselves, to train on.

use std::path::PathBuf;

use clap::Args;
use dyad_engine::eval::Weights;
use dyad_formats::atomic::check_output;
use dyad_trainer::selftrain::generator::{GeneratorSettings, Played, generate};

use super::progress::Progress;
use super::settings::set;
use super::{Outcome, load_weights, read_openings, settings, stop_on_interrupt, threads};

#[derive(Args)]
pub struct Arguments {
    /// The file of games (PGN) to write; an incomplete one is resumed.
    #[arg(long, short)]
    out: PathBuf,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Weights that play: a file, `default` or `material` [default: those built in].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Openings that half of the games begin with: positions (.epd, .fen) or games (.pgn), also packed.
    #[arg(long)]
    openings: Option<PathBuf>,
    /// Games in all.
    #[arg(long)]
    games: Option<u64>,
    /// Nodes of a move, on average.
    #[arg(long)]
    nodes: Option<u64>,
    /// How far a side's nodes in a game may be from that, as a share of it.
    #[arg(long)]
    spread: Option<f64>,
    /// The share of games that begin with natural moves, each the likelier the better, among those that begin without a file.
    #[arg(long)]
    natural: Option<f64>,
    /// The largest advantage of either side in the beginning, in centipawns.
    #[arg(long)]
    limit: Option<i32>,
    /// Seed of all draws.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

/// Plies that are taken from the games of an opening file.
const BOOK_PLIES: usize = 16;

/// Plays the games.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut settings: GeneratorSettings = settings::load(arguments.settings.as_deref(), "datagen")?;
    set(&mut settings.games, &arguments.games);
    set(&mut settings.nodes, &arguments.nodes);
    set(&mut settings.spread, &arguments.spread);
    set(&mut settings.natural, &arguments.natural);
    set(&mut settings.limit, &arguments.limit);
    set(&mut settings.seed, &arguments.seed);
    let inputs = [&arguments.weights, &arguments.openings, &arguments.settings];
    check_output(&arguments.out, inputs.into_iter().flatten().map(PathBuf::as_path))?;
    let weights = match &arguments.weights {
        Some(name) => load_weights(name)?,
        None => Weights::embedded(),
    };
    let openings = match &arguments.openings {
        Some(path) => read_openings(path, BOOK_PLIES)?,
        None => Vec::new(),
    };
    let threads = threads("threads", arguments.threads)?;
    let control = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut report = |Played { games, moves }| {
        let rate = moves as f64 / progress.elapsed().as_secs_f64().max(1e-3);
        progress.show(|| format!("{games} of {} games, {rate:.0} moves/s", settings.games));
    };
    let finished = generate(&settings, &weights, &openings, &arguments.out, threads, &control, &mut report)?;
    drop(progress);
    if !finished {
        return Err("stopped; the same command resumes it".into());
    }
    println!("{} games in {}", settings.games, arguments.out.display());
    Ok(())
}
