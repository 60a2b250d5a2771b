//! `dyad weights`: weights files averaged and measured.

use clap::{Args, Subcommand};

use super::{Outcome, average, quality, search_error};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Write the weighted mean of several weights files
    Average(average::Arguments),
    /// Measure how well weights predict scores or results of held-out games
    Quality(quality::Arguments),
    /// Measure how far scores of searches are from those of a stronger search
    SearchError(search_error::Arguments),
}

/// Runs the tool that the arguments name.
pub fn run(arguments: Arguments) -> Outcome {
    match arguments.tool {
        Tool::Average(arguments) => average::run(arguments),
        Tool::Quality(arguments) => quality::run(arguments),
        Tool::SearchError(arguments) => search_error::run(arguments),
    }
}
