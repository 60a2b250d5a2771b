//! `dyad label`: desired moves and scores by search.

use std::path::PathBuf;

use clap::Args;
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::atomic::check_output;
use dyad_formats::error::Error;
use dyad_formats::samples::{SampleFile, Summary};
use dyad_trainer::data::journal::journal_name;
use dyad_trainer::data::label::{Job, Outside, OwnEngine, Settings, label};
use dyad_trainer::external::client::Program;

use super::progress::Progress;
use super::{Outcome, load_weights, settings, stop_on_interrupt, threads};

#[derive(Args)]
pub struct Arguments {
    /// The sample file to label.
    samples: PathBuf,
    /// The sample file to write.
    #[arg(long, short)]
    out: PathBuf,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Nodes for each position.
    #[arg(long)]
    nodes: Option<u64>,
    /// Megabytes of hash of each thread.
    #[arg(long)]
    hash: Option<usize>,
    /// Centipawns by which the best move must be ahead of the second, or the position counts as undecided; 0 asks for
    /// no second move [default: 0].
    #[arg(long, conflicts_with = "engine")]
    decided: Option<u32>,
    /// Weights to search with: a file, or `material` [default: those built in].
    #[arg(long, conflicts_with = "engine")]
    weights: Option<PathBuf>,
    /// Another UCI engine to search with.
    #[arg(long)]
    engine: Option<PathBuf>,
    /// An option of that engine, as NAME=VALUE.
    #[arg(long = "option", value_parser = named_text, requires = "engine")]
    options: Vec<(String, String)>,
    /// Seconds that engine may take for a position.
    #[arg(long)]
    timeout: Option<u64>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

fn named_text(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_string(), value.to_string()))
}

/// Labels a sample file; a job that was stopped is resumed when it is called again.
pub fn run(arguments: Arguments) -> Outcome {
    let mut settings: Settings = settings::load(arguments.settings.as_deref(), "label")?;
    settings.nodes = arguments.nodes.unwrap_or(settings.nodes);
    settings.hash = arguments.hash.unwrap_or(settings.hash);
    settings.decided = arguments.decided.unwrap_or(settings.decided);
    settings.timeout = arguments.timeout.unwrap_or(settings.timeout);
    if let Some(path) = arguments.engine {
        settings.program = Some(Program { path, options: arguments.options });
    }
    let inputs = [&arguments.settings, &arguments.weights].into_iter().flatten().map(PathBuf::as_path);
    check_output(&arguments.out, inputs)?;
    let input = SampleFile::open(&arguments.samples)?;
    let stop = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut first = None;
    let mut report = |done: usize, of: usize| {
        let new = done - *first.get_or_insert(done - 1);
        let rate = new as f64 / progress.elapsed().as_secs_f64().max(1e-3);
        let left = ((of - done) as f64 / rate) as u64;
        progress.show(|| format!("{done} of {of} positions, {rate:.0} positions/s, {left} s left"));
    };
    let mut job = Job { threads: threads("threads", arguments.threads)?, stop: &stop, report: &mut report };
    let labeled = match settings.program.clone() {
        Some(program) => {
            let by = program.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            label(&input, &arguments.out, &settings, &by, || Ok(Outside::new(program.clone(), &settings)), &mut job)
        }
        None => {
            let weights = match &arguments.weights {
                Some(name) => load_weights(name)?,
                None => Weights::embedded(),
            };
            let control = Control::new(false);
            let by = format!("dyad with {} {}", weights.meta.name, weights.id());
            label(
                &input,
                &arguments.out,
                &settings,
                &by,
                || OwnEngine::new(weights.clone(), &settings, &control),
                &mut job,
            )
        }
    };
    drop(progress);
    if let Err(Error::Stopped) = labeled {
        let journal = journal_name(&arguments.out);
        return Err(format!("stopped; the labels so far are kept in {}", journal.display()).into());
    }
    print(&labeled?, input.len());
    Ok(())
}

fn print(summary: &Summary, read: usize) {
    println!(
        "{} of {read} positions labeled, {} of them for testing; identity {:016x}",
        summary.count, summary.tests, summary.identity
    );
}
