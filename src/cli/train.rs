//! `dyad train`: settings from the command line, progress on the screen.
//!
//! Each line of the log is printed. The first Ctrl-C ends the training after the batch with a checkpoint, the second one
//! at once; `--resume` resumes it after either.

use clap::Args;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;
use dyad_trainer::base::context::Context;
use dyad_trainer::fit::calibration::calibrate_by_file;
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::folder::holds_run;
use dyad_trainer::learn::log::{LineKind, LogLine};
use dyad_trainer::learn::settings::TrainingSettings;
use dyad_trainer::learn::training;
use dyad_trainer::learn::training::{TrainingProgress, TrainingSummary};
use dyad_trainer::report::LivePage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::progress::{ProgressDisplay, clock};
use super::settings::Given;
use super::{Outcome, Threads, load_weights, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// Sample file, made by `dyad prepare`
    #[arg(required_unless_present = "resume")]
    samples: Option<PathBuf>,
    /// Folder of the run
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Resume the run in the folder, with its settings; --iterations, --keep-going and --threads may change
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    settings: Given<TrainingSettings>,
    #[command(flatten)]
    threads: Threads,
}

/// Trains, from the beginning or from a checkpoint.
pub fn run(arguments: Arguments) -> Outcome {
    let stop = stop_on_interrupt();
    let mut display = ProgressDisplay::new();
    let (folder, is_resumed, threads) = (arguments.out.clone(), arguments.resume, arguments.threads.count());
    match (holds_run(&folder), is_resumed) {
        (true, false) => return Err(format!("{} holds a run already", folder.display()).into()),
        (false, true) => return Err(format!("{} is not the folder of a run", folder.display()).into()),
        _ => {}
    }
    let mut page = LivePage::new(&folder);
    let mut on_event = |progress: TrainingProgress| {
        if let Some(note) = page.on_progress(&progress) {
            display.print(&note.to_string());
        }
        if let Some(line) = &progress.line {
            display.print(&line_text(line));
        }
        display.show(|| message(&progress));
    };
    let settings = if is_resumed { arguments.resumed()? } else { arguments.settings()? };
    let samples = SampleFile::open(&settings.samples)?;
    let start = match &settings.weights {
        Some(name) => load_weights(name)?,
        None => Arc::new(Weights::material()),
    };
    let examples = FileExamples { file: &samples, start: &start };
    let mut context = Context { threads, stop: &stop, on_event: &mut on_event };
    let summary = training::train(&settings, &folder, &examples, &mut context);
    drop(display);
    let summary = summary?;
    if summary.finished && !settings.keep_scale {
        let mut weights = weights_file::load(&summary.file)?;
        if calibrate_by_file(&mut weights, &samples)? {
            weights_file::save(&weights, &summary.file)?;
            println!("scale and win rate are fitted to the results of the games");
        }
    }
    if let Some(problem) = page.finish() {
        eprintln!("{problem}");
    }
    say_how_it_ended(&summary);
    match summary.finished {
        true => Ok(()),
        false => Err("stopped; the training is not complete".into()),
    }
}

fn say_how_it_ended(summary: &TrainingSummary) {
    let folder = summary.file.parent().unwrap_or(Path::new("."));
    let accuracy = summary.accuracy.map_or(String::new(), |a| format!(", accuracy {:.2} %", 100.0 * a));
    if summary.finished {
        println!("finished: iteration {} is the best{accuracy}, {}", summary.best, summary.file.display());
    } else {
        println!("stopped; resume with: dyad train --out {} --resume", folder.display());
    }
}

impl Arguments {
    /// The settings of a new run.
    fn settings(self) -> Result<TrainingSettings, String> {
        let settings = TrainingSettings { samples: self.samples.unwrap_or_default(), ..self.settings.settings };
        settings.check().map(|()| settings)
    }

    /// The settings of the run in the folder, with the arguments that may change it.
    fn resumed(self) -> Result<TrainingSettings, Error> {
        let mut asked = self.settings.over(training::saved_settings(&self.out)?);
        asked.samples = self.samples.unwrap_or(asked.samples);
        Ok(asked)
    }
}

fn message(progress: &TrainingProgress) -> String {
    let TrainingProgress { iteration, iterations, done, of, positions_per_second: pace, .. } = progress;
    let mut message = format!("iteration {iteration}/{iterations}  {done} of {of} positions  {pace:.0}/s");
    if let Some(accuracy) = progress.accuracy {
        message += &format!("  accuracy {:.2} %", 100.0 * accuracy);
    }
    if *pace > 0.0 {
        message += &format!("  left {}", clock((of - done) as f64 / pace));
    }
    message
}

/// A line of the log for people.
fn line_text(line: &LogLine) -> String {
    let mut text = match line.kind {
        LineKind::Iteration => format!("iteration {}  done", line.iteration),
        LineKind::Report => format!("iteration {}  {} of {} positions", line.iteration, line.done, line.of),
    };
    if line.positions_per_second > 0.0 {
        text += &format!(
            "  {:.0}/s  mean |S| {:.2}  empty {:.1} %  loss {:.1}",
            line.positions_per_second,
            line.mean_s,
            100.0 * line.empty_s,
            line.loss
        );
    }
    if line.over_limit > 0 {
        text += &format!("  {} skipped with too many nodes", line.over_limit);
    }
    if let Some(accuracy) = line.accuracy {
        text += &format!("  accuracy {:.2} % of {}", 100.0 * accuracy, line.accuracy_positions);
    }
    text += &format!("  time {}", clock(line.seconds));
    if line.kind == LineKind::Report && line.positions_per_second > 0.0 {
        text += &format!("  left {}", clock((line.of - line.done) as f64 / line.positions_per_second));
    }
    if line.best {
        text += "  best";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use dyad_trainer::base::group_value::GroupValue;
    use dyad_trainer::learn::settings::{ObjectiveName, OptimizerName};

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        train: Arguments,
    }

    fn settings_of(arguments: &str) -> Result<TrainingSettings, String> {
        let words = std::iter::once("train").chain(arguments.split_whitespace());
        Program::try_parse_from(words).map_err(|e| e.to_string())?.train.settings()
    }

    #[test]
    fn options_become_settings() {
        let settings = settings_of(
            "data.smp --out run --depth 3 --objective logistic --temperature 50 --optimizer adam --rate 0.5 \
             --freeze pairs,tempo --l2 material=1e-6",
        )
        .unwrap();
        assert_eq!((settings.samples.as_path(), settings.depth), (Path::new("data.smp"), 3));
        assert_eq!((settings.optimizer, settings.rate), (OptimizerName::Adam, 0.5));
        assert_eq!((settings.objective, settings.temperature), (ObjectiveName::Logistic, 50.0));
        assert_eq!(settings.freeze, ["pairs", "tempo"]);
        assert_eq!(settings.l2, [GroupValue::new("material", 1e-6)]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in [
            "",
            "data.smp",
            "data.smp --out run --margin 3",
            "d --out r --l2 x",
            "d --out r --l2 pairs=2",
            "d --out r --rate 3 --l2 pairs=1",
            "d --out r --freeze pears",
        ] {
            assert!(settings_of(wrong).is_err(), "{wrong}");
        }
    }
}
