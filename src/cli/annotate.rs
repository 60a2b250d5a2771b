//! `dyad annotate`: games explained.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::files::check_outputs;
use dyad_trainer::annotate::{AnnotateEvent, AnnotateSettings, AnnotateSummary, annotate};
use dyad_trainer::base::context::Context;
use dyad_trainer::base::words::counted;

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, load_weights, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    settings: AnnotateSettings,
    /// Weights: a file, `default` or `material`
    #[arg(long, default_value = "default")]
    weights: PathBuf,
    #[command(flatten)]
    threads: Threads,
}

/// Annotates the games and says where they are.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { settings, weights, threads } = arguments;
    check_outputs(settings.outputs(), [weights.as_path()])?;
    let weights = load_weights(&weights)?;
    let control = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let mut on_event = |event| match event {
        AnnotateEvent::Broken(broken) => progress.say(&format!("left out: {broken}")),
        AnnotateEvent::Move { game: [game, games], ply: [ply, plies], mistake_counts } => progress.show(|| {
            format!("game {game} of {games}: {ply} of {plies} half-moves; so far {}", faults_in_words(mistake_counts))
        }),
    };
    let mut context = Context { threads: threads.count(), stop: &control, on_event: &mut on_event };
    let summary = annotate(&settings, &weights, &mut context)?;
    drop(progress);
    report(&settings, &summary);
    if summary.stopped {
        return Err("stopped; what was done is kept".into());
    }
    Ok(())
}

fn report(settings: &AnnotateSettings, summary: &AnnotateSummary) {
    let AnnotateSummary { games, moves, mistake_counts, broken, .. } = summary;
    let left_out = if *broken > 0 { format!(", {broken} left out") } else { String::new() };
    println!(
        "{}: {}{left_out}, {}, {}",
        settings.out().display(),
        counted(*games as u64, "game", "games"),
        counted(*moves as u64, "half-move", "half-moves"),
        faults_in_words(*mistake_counts)
    );
    if let Some(page) = &settings.html {
        println!("{}", page.display());
    }
}

fn faults_in_words([inaccuracies, mistakes, blunders]: [usize; 3]) -> String {
    [
        counted(inaccuracies as u64, "inaccuracy", "inaccuracies"),
        counted(mistakes as u64, "mistake", "mistakes"),
        counted(blunders as u64, "blunder", "blunders"),
    ]
    .join(", ")
}
