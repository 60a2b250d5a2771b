//! `dyad level`: opponents that play like people of a given rating.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::{AtomicFile, check_output};
use dyad_levels::file::{self, MoveModel};
use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::base::number::number;
use dyad_trainer::data::positions::PERCENT;
use dyad_trainer::levels::prepare::{self, RecordSettings};
use dyad_trainer::levels::records::{self, MoveExample};
use dyad_trainer::levels::training;

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Make records from games of human players: positions with the value of each move
    Prepare(Prepare),
    /// Train the move model on records
    Train(Train),
}

#[derive(Args)]
struct Prepare {
    /// Games (PGN, also packed; `-` is standard input)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File of records to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Percentage of the players that are held out for testing
    #[arg(long, value_name = "PERCENT", value_parser = number(PERCENT), default_value_t = 25.0)]
    test_percent: f64,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Args)]
struct Train {
    /// Records of `dyad level prepare`
    records: PathBuf,
    /// Model to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the tool that the arguments name.
pub fn run(arguments: Arguments) -> Outcome {
    match arguments.tool {
        Tool::Prepare(arguments) => prepare(arguments),
        Tool::Train(arguments) => train(arguments),
    }
}

fn prepare(arguments: Prepare) -> Outcome {
    check_output(&arguments.out, &arguments.files)?;
    let settings = RecordSettings { test_percent: arguments.test_percent, ..RecordSettings::default() };
    let control = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let mut on_event = |Progress { done, of }| {
        let rate = done as f64 / progress.elapsed().as_secs_f64().max(1e-3);
        progress.show(|| format!("{done} of {of} positions, {rate:.0} positions/s"));
    };
    let mut context = Context { threads: arguments.threads.count(), stop: &control, on_event: &mut on_event };
    let (files, weights) = (&arguments.files, Weights::embedded());
    let summary = prepare::prepare(&settings, files, &weights, &arguments.out, &mut context)?;
    drop(progress);
    let prepare::RecordCounts { games, broken, left_out, records } = summary;
    println!("{records} positions of {games} games in {} ({broken} games could not be read)", arguments.out.display());
    for (reason, count) in left_out {
        println!("{count:>10} games left out: {}", reason.name());
    }
    Ok(())
}

fn train(arguments: Train) -> Outcome {
    check_output(&arguments.out, [&arguments.records])?;
    // Levels are numbered by games of the built-in model.
    let calibration = MoveModel::embedded().calibration.clone();
    let mut out = AtomicFile::create(&arguments.out).map_err(Error::file("write", &arguments.out))?;
    let (header, records) = records::read(&arguments.records)?;
    let examples: Vec<MoveExample> = records.iter().map(MoveExample::new).collect();
    let learned_from: Vec<&MoveExample> = examples.iter().filter(|example| !example.test).collect();
    if learned_from.is_empty() {
        let (records, held_out) = (arguments.records.display(), examples.len());
        return Err(format!("no training position in {records}, {held_out} of held-out players").into());
    }
    let held_out = || examples.iter().filter(|example| example.test);
    let parameters = training::train(&learned_from, |epoch, loss| {
        eprintln!("pass {epoch} of {}: loss {loss:.4}", training::EPOCHS);
    });
    let parameters: Vec<f64> = parameters.into_iter().map(file::round).collect();
    let quality = training::quality(&parameters, held_out());
    let made = serde_json::json!({
        "records": header, "positions": learned_from.len(), "settings": training::settings(),
        "held-out": { "positions": quality.count, "loss": file::round(quality.loss), "accuracy": file::round(quality.accuracy) },
    });
    let model = MoveModel { name: "levels".to_string(), made, calibration, parameters };
    let written = out.write_all(model.to_json().as_bytes()).and_then(|()| out.commit());
    written.map_err(Error::file("write", &arguments.out))?;
    println!(
        "{} positions learned from; of {} held-out ones: loss {:.4}, accuracy {:.2} %",
        learned_from.len(),
        quality.count,
        quality.loss,
        100.0 * quality.accuracy
    );
    Ok(())
}
