//! `dyad fit`: weights from the results and scores of positions.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dyad_engine::board::PIECE_NAMES;
use dyad_engine::control::Control;
use dyad_engine::eval::layout::MATERIAL;
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::error::Error;
use dyad_formats::files::{AtomicFile, check_output};
use dyad_formats::samples::SampleFile;
use dyad_trainer::base::context::Context;
use dyad_trainer::fit::calibration::scale_like;
use dyad_trainer::fit::regression;
use dyad_trainer::fit::regression::{Data, Epoch, FitEvent, FitSettings, Fitted};
use serde_json::{Value as Json, json};

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, load_weights, stop_on_interrupt};

const STOPPED: &str = "stopped before the first pass was complete: nothing is written";

#[derive(Args)]
pub struct Arguments {
    /// Sample files, as `dyad prepare` makes them
    #[arg(required = true)]
    samples: Vec<PathBuf>,
    /// Weights file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Initial weights: a file, `default` or `material` [default: material]
    #[arg(long)]
    weights: Option<PathBuf>,
    #[command(flatten)]
    settings: FitSettings,
    /// Learn from the quiescence leaves with these weights, so that all positions not in check are used [default: the
    /// positions as they are; --quiescent of prepare selects them]
    #[arg(long, value_name = "WEIGHTS")]
    leaves: Option<PathBuf>,
    /// Keep scale and win-rate model of the initial weights
    #[arg(long)]
    keep_scale: bool,
    /// Set the scale so that values relate to the scores as those of WEIGHTS do
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "keep_scale")]
    scale_like: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

/// Fits weights and writes them.
pub fn run(arguments: Arguments) -> Outcome {
    let Arguments { samples, out, weights, settings, leaves, .. } = arguments;
    let others = [&weights, &leaves, &arguments.scale_like].into_iter().flatten();
    check_output(&out, samples.iter().chain(others))?;
    let start = weights.map_or_else(|| Ok(Arc::new(Weights::material())), |name| load_weights(&name))?;
    let other = arguments.scale_like.as_deref().map(load_weights).transpose()?;
    let leaves = leaves.as_deref().map(load_weights).transpose()?.map(Arc::new);
    let mut file = AtomicFile::create(&out).map_err(Error::file("write", &out))?;
    let files = samples.iter().map(|path| SampleFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    let threads = arguments.threads.count();
    let stop = stop_on_interrupt();
    let mut data = Data::of(files.iter().flat_map(|file| &file.samples), &settings.target)?;
    if let Some(weights) = &leaves {
        data = match data.at_leaves(weights, threads, &stop) {
            Err(Error::Stopped) => return Err(STOPPED.into()),
            data => data?,
        };
    }
    println!("{} training and {} test positions", data.train.len(), data.test.len());

    let fitted = match fit(&settings, &data, &start, threads, &stop) {
        Err(Error::Stopped) => return Err(STOPPED.into()),
        fitted => fitted?,
    };
    let made = json!({
        "by": "dyad fit",
        "data": files.iter().map(describe).collect::<Vec<_>>(),
        "settings": settings,
        "leaves": leaves.map(|weights| weights.id()),
        "parent": json!({ "name": start.meta.name, "id": start.id(), "made": start.meta.provenance }),
        "measured": {
            "train": data.train.len(),
            "test": data.test.len(),
            "start_loss": fitted.start_loss.map(rounded),
            "test_loss": fitted.test_loss().map(rounded),
            "epochs": fitted.epochs.len(),
            "stopped": fitted.stopped,
        },
    });
    let (kept, pawns) = (arguments.keep_scale.then_some(start.units), settings.target.pawns);
    let (mut weights, is_calibrated) = fitted.calibrated(made, kept, &data, pawns)?;
    weights.meta.name = stem(&out);
    if !is_calibrated {
        eprintln!("results and evaluations do not correlate: a pawn of the scores becomes a pawn");
    }
    if let Some(other) = &other {
        scale_like(&mut weights, other, &data.train, pawns)?;
    }
    file.write_all(&weights.to_json()).and_then(|()| file.commit()).map_err(Error::file("write", &out))?;
    print(&weights, &fitted);
    match fitted.stopped {
        true => Err(format!("stopped; {} has the best weights so far", out.display()).into()),
        false => Ok(()),
    }
}

fn fit(settings: &FitSettings, data: &Data, start: &Weights, threads: usize, stop: &Control) -> Result<Fitted, Error> {
    let mut progress = ProgressDisplay::new();
    let positions = data.train.len();
    let mut on_event = |event: FitEvent| match event {
        FitEvent::Start { scale, test_loss } => {
            let loss = words(test_loss);
            progress.say(&format!("start: test loss {loss}, one unit is {scale:.6} logits"));
        }
        FitEvent::Improved(_) => {}
        FitEvent::Progress { epoch, positions: done } => progress.show(|| {
            let all = event.done(positions as u64).unwrap_or_default();
            format!("pass {epoch}: {done} of {positions} positions ({all} in all)")
        }),
        FitEvent::Epoch(Epoch { number, train_loss, test_loss, best }) => {
            let mark = if best { " *" } else { "" };
            let seconds = progress.elapsed().as_secs();
            let test_loss = words(test_loss);
            progress.say(&format!("pass {number}: loss {train_loss:.5}, test loss {test_loss}{mark} ({seconds} s)"));
        }
    };
    let mut context = Context { threads, stop, on_event: &mut on_event };
    regression::fit(settings, data, &FloatWeights::from(start), &mut context)
}

/// A file of samples in the provenance of weights.
pub fn describe(file: &SampleFile) -> Json {
    let summary = &file.summary;
    json!({
        "file": file.path.file_name().map(|name| name.to_string_lossy()),
        "samples": summary.count,
        "identity": format!("{:016x}", summary.identity),
        "made": summary.settings,
    })
}

/// The name of weights: that of their file.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "weights".to_string(), |name| name.to_string_lossy().into_owned())
}

fn rounded(loss: f64) -> f64 {
    (loss * 1e6).round() / 1e6
}

/// A loss with five digits, or `unknown` without test positions.
fn words(loss: Option<f64>) -> String {
    loss.map_or_else(|| "unknown".to_string(), |loss| format!("{loss:.5}"))
}

fn print(weights: &Weights, fitted: &Fitted) {
    if fitted.stopped {
        println!("stopped after {} passes: these are the best weights so far", fitted.epochs.len());
    }
    println!("weights {} ({}), scale {}/1024", weights.meta.name, weights.id(), weights.units.scale);
    println!("test loss {} at first, {} now", words(fitted.start_loss), words(fitted.test_loss()));
    if !fitted.epochs.iter().any(|epoch| epoch.best) {
        println!("no pass made it smaller: these are the weights it started from");
    }
    println!(
        "won half of the games at {:?}, softness {:?} (cubic in the phase)",
        weights.units.win_rate.a, weights.units.win_rate.b
    );
    for (index, name) in PIECE_NAMES[..5].iter().enumerate() {
        let [mg, eg] = weights.ints()[MATERIAL.nth(index)];
        println!("{name:>7} {mg:5} {eg:5}");
    }
}
