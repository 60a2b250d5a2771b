//! `dyad experiment`: the papers, each by one command.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dyad_papers::experiment::{self, ALL, Experiment, ExperimentEvent, ExperimentSettings};
use dyad_trainer::base::context::{Context, Progress};

use super::progress::ProgressDisplay;
use super::settings::check_resume;
use super::{Outcome, Threads, read_openings, stop_on_interrupt};

#[derive(Args)]
#[command(after_help = names())]
pub struct Arguments {
    #[command(flatten)]
    settings: ExperimentSettings,
    /// Folder for all files of the experiment
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Continue the interrupted experiment in the folder, with its settings
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    threads: Threads,
}

fn names() -> String {
    let line = |Experiment { name, about, needs, .. }: &Experiment| format!("  {name}: {about}; needs {needs}\n");
    format!("Experiments:\n{}", ALL.iter().map(line).collect::<String>())
}

/// Runs an experiment, or what is left of it.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { mut settings, out, resume, threads } = arguments;
    check_resume(resume, &out)?;
    if resume && settings.name.is_empty() {
        settings = experiment::saved_settings(&out)?;
    }
    if let Some(path) = &settings.openings {
        read_openings(path)?;
    }
    let mut progress = ProgressDisplay::new();
    let mut step = String::new();
    let mut on_event = |event: ExperimentEvent| match event {
        ExperimentEvent::Begin(name) => {
            step = name;
            progress.show(|| step.clone());
        }
        ExperimentEvent::Progress(Progress { done, of }) => progress.show(|| {
            let mut line = format!("{step}: {done}");
            if of > 0 {
                write!(line, " of {of}").expect("writing to a string does not fail");
            }
            line
        }),
        ExperimentEvent::Done { hash, seconds } => {
            progress.say(&format!("{step}: {hash} in {seconds:.1} s"));
        }
    };
    let threads = threads.count();
    let mut context = Context { threads, stop: &stop_on_interrupt(), on_event: &mut on_event };
    let steps = experiment::run(&settings, &out, env!("DYAD_REVISION"), &mut context)?;
    drop(progress);
    println!("{}: {steps} steps are done, see {}", settings.name, out.join(experiment::PAGE).display());
    Ok(())
}
