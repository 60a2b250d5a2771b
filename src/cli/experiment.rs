//! `dyad experiment`: the papers, and the built-in weights, each by one command.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dyad_papers::experiment::catalog;
use dyad_papers::experiment::plan::{Inputs, Scale};
use dyad_papers::experiment::run::run as run_plan;
use dyad_papers::experiment::work::ExperimentEvent;

use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::base::number::number;

use super::progress::ProgressDisplay;
use super::settings::check_resume;
use super::{Outcome, Threads, read_openings, stop_on_interrupt};

#[derive(Args)]
#[command(after_help = names())]
pub struct Arguments {
    /// Name of the experiment
    name: String,
    /// Size: `tiny` takes seconds and proves nothing, `small` about an hour of one processor, `night` a night of a
    /// few processors, `full` has the paper's numbers
    #[arg(long, value_enum, default_value = "small")]
    size: Size,
    /// Folder for all files of the experiment
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Continue an interrupted experiment in the folder
    #[arg(long)]
    resume: bool,
    /// Games of strong players
    #[arg(long, value_name = "FILE", num_args = 1..)]
    games_file: Vec<PathBuf>,
    /// Games of one rating band, named by the file, the weakest first; may be repeated
    #[arg(long = "band", value_name = "FILE", num_args = 1..)]
    bands: Vec<PathBuf>,
    /// Openings of the matches: positions (.epd, .fen) or games (.pgn), also packed [default: random openings]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Weights, named by their files: for `deepchess` those to measure besides the built-in ones; for `weights-default`
    /// those that play, those in the mean with the fit, and those in the mean without 2-tuples
    #[arg(long, num_args = 1..)]
    weights: Vec<PathBuf>,
    /// Seed of all draws
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    Tiny,
    Small,
    Night,
    Full,
}

fn names() -> String {
    let longest = catalog::ALL.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let line = |entry: &catalog::Entry| format!("  {:<longest$} {}; needs {}\n", entry.name, entry.about, entry.needs);
    let lines: String = catalog::ALL.iter().map(line).collect();
    format!("Experiments:\n{lines}")
}

/// Runs an experiment, or what is left of it.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { name, size, out, resume, games_file: games, bands, openings, weights, seed, threads } = arguments;
    check_resume(resume, &out)?;
    let scale = match size {
        Size::Tiny => Scale::Tiny,
        Size::Small => Scale::Small,
        Size::Night => Scale::Night,
        Size::Full => Scale::Full,
    };
    if let Some(path) = &openings {
        read_openings(path, 1)?;
    }
    let plan = catalog::plan(&name, scale, Inputs { games, bands, openings, weights }, seed)?;
    let mut progress = ProgressDisplay::new();
    let mut step = String::new();
    let mut on_event = |event: ExperimentEvent| match event {
        ExperimentEvent::Begin { step: name, number, of } => {
            step = format!("{number}/{of} {name}");
            progress.show(|| step.clone());
        }
        ExperimentEvent::Progress(Progress { done, of }) => progress.show(|| {
            let mut line = format!("{step}: {done}");
            if of > 0 {
                write!(line, " of {of}").expect("writing to a string does not fail");
            }
            line
        }),
        ExperimentEvent::Done { result, .. } => {
            progress.say(&format!("{step}: {} in {:.1} s", result.hash, result.seconds))
        }
    };
    let threads = threads.count();
    let revision = env!("DYAD_REVISION");
    let mut context = Context { threads, stop: &stop_on_interrupt(), on_event: &mut on_event };
    let results = run_plan(&plan, &out, revision, &mut context)?;
    drop(progress);
    println!("{}: {} steps are done, see {}", plan.name, results.len(), out.join("report.html").display());
    Ok(())
}
