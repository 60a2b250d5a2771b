//! `dyad prepare`: games and positions to a sample file.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::game::BrokenGame;
use dyad_formats::samples::SampleSummary;
use dyad_trainer::base::context::Context;
use dyad_trainer::data::prepare::{PrepareCounts, PrepareEvent, PreparePass, PrepareSettings, prepare};

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, stop_on_interrupt};

/// Broken games that are shown one by one.
const SHOWN_BROKEN: u64 = 20;

#[derive(Args)]
pub struct Arguments {
    /// Sample file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    settings: PrepareSettings,
}

/// Makes a sample file and says what it holds.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { out, settings, threads } = arguments;
    if settings.inputs.is_empty() {
        return Err("name the games and positions to read: dyad prepare FILE...".into());
    }
    let stop = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let mut broken = 0;
    let mut on_event = |event: PrepareEvent| match event {
        PrepareEvent::Broken(game) => {
            broken += 1;
            show_broken(&progress, &game, broken);
        }
        PrepareEvent::Progress { pass, games, positions } => {
            let (pass, seconds) = (name(pass), progress.elapsed().as_secs());
            progress.show(|| format!("{pass}: {games} games, {positions} positions, {seconds} s"));
        }
    };
    let mut context = Context { threads: threads.count(), stop: &stop, on_event: &mut on_event };
    let (summary, counts) = prepare(&settings, &out, &mut context)?;
    drop(progress);
    if settings.scores.is_some() && counts.scores == 0 {
        eprintln!("warning: no game or line has a score in a form that is known");
    }
    print(&summary, &counts);
    Ok(())
}

/// Reports one of `count` broken games so far.
pub(super) fn show_broken(progress: &ProgressDisplay, game: &BrokenGame, count: u64) {
    if count <= SHOWN_BROKEN {
        progress.say(&game.to_string());
    } else if count == SHOWN_BROKEN + 1 {
        progress.say("further broken games are only counted");
    }
}

fn name(pass: PreparePass) -> &'static str {
    match pass {
        PreparePass::Counting => "counting",
        PreparePass::Writing => "writing",
    }
}

fn print(summary: &SampleSummary, counts: &PrepareCounts) {
    println!("{} games or lines read, {} of them broken", counts.games, counts.broken);
    for (reason, count) in &counts.left_out {
        println!("{count:>10} left out: {}", reason.name());
    }
    println!(
        "{:>10} positions written, {} of them for testing, from {} games; identity {:016x}",
        summary.count, summary.tests, summary.games, summary.identity
    );
}
