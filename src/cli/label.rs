//! `dyad label`: desired moves and scores by search.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::files::check_output;
use dyad_formats::samples::{SampleFile, SampleSummary};
use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::data::label::{LabelSettings, label};

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, load_weights, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// Sample file to label
    samples: PathBuf,
    /// Sample file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Weights to search with: a file, `default` or `material`
    #[arg(long, default_value = "default")]
    weights: PathBuf,
    #[command(flatten)]
    settings: LabelSettings,
    #[command(flatten)]
    threads: Threads,
}

/// Labels a sample file.
pub fn run(arguments: Arguments) -> Outcome {
    check_output(&arguments.out, [&arguments.weights])?;
    let settings = arguments.settings;
    let weights = load_weights(&arguments.weights)?;
    let input = SampleFile::open(&arguments.samples)?;
    let stop = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let mut on_event = |Progress { done, of }| {
        let rate = done as f64 / progress.elapsed().as_secs_f64().max(1e-3);
        let left = ((of - done) as f64 / rate) as u64;
        progress.show(|| format!("{done} of {of} positions, {rate:.0} positions/s, {left} s left"));
    };
    let mut context = Context { threads: arguments.threads.count(), stop: &stop, on_event: &mut on_event };
    let labeled = label(&input, &arguments.out, &weights, &settings, &mut context);
    drop(progress);
    print(&labeled?, input.samples.len());
    Ok(())
}

fn print(summary: &SampleSummary, read: usize) {
    println!(
        "{} of {read} positions labeled, {} of them for testing; identity {:016x}",
        summary.count, summary.tests, summary.identity
    );
}
