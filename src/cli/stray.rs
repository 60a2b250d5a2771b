//! `dyad stray`: positions as they stand in the tree of a search, from positions of games.

use std::path::PathBuf;

use clap::Args;
use dyad_engine::eval::Weights;
use dyad_trainer::data::samples::SampleFile;
use dyad_trainer::data::stray::stray;

use super::{Outcome, load_weights};

#[derive(Args)]
pub struct Arguments {
    /// The sample file to begin with.
    samples: PathBuf,
    /// The sample file to write.
    #[arg(long, short)]
    out: PathBuf,
    /// Random moves: the fewest and the most.
    #[arg(long, num_args = 2, value_names = ["FEWEST", "MOST"], default_values_t = [1, 3])]
    plies: Vec<u32>,
    /// Positions made of each.
    #[arg(long, default_value_t = 1)]
    copies: u32,
    /// Weights whose quiescence finds the leaves: a file, `default` or `material` [default: those built in].
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Seed of the moves.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Makes the positions.
pub fn run(arguments: &Arguments) -> Outcome {
    let input = SampleFile::open(&arguments.samples)?;
    let weights = match &arguments.weights {
        Some(name) => load_weights(name)?,
        None => Weights::embedded(),
    };
    let [fewest, most] = arguments.plies[..] else { return Err("--plies takes two numbers".into()) };
    let summary = stray(&input, &arguments.out, fewest..=most, arguments.copies, arguments.seed, &weights)?;
    println!(
        "{} positions of {}, {} of them for testing; identity {:016x}",
        summary.count,
        input.len(),
        summary.tests,
        summary.identity
    );
    Ok(())
}
