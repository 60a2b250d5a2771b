//! `dyad train`: settings from the command line, progress on the screen.
//!
//! Settings come from a JSON file, if one is named, and then from the options, which win. Each line of the log is
//! printed. The first Ctrl-C ends the training after the batch with a checkpoint, the second one at once; `--resume`
//! resumes it after either.

use clap::{Args, ValueEnum};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::select;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;
use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::base::number::number;
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::log::{LineKind, LogLine};
use dyad_trainer::learn::settings::{
    GroupSettings, MARGIN, ObjectiveSettings, OptimizerSettings, POSITIVE, TrainingSettings, WEIGHT,
};
use dyad_trainer::learn::training;
use dyad_trainer::learn::training::{TrainingProgress, TrainingSummary};
use dyad_trainer::report::LivePage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::progress::ProgressDisplay;
use super::settings::{Given, SettingsFile, check_same};
use super::{Outcome, Threads, group_number, load_weights, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// Sample file, made by `dyad prepare`
    #[arg(required_unless_present = "resume")]
    samples: Option<PathBuf>,
    /// Folder of the run
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Resume the run in the folder, with its settings; --iterations, --keep-going, --threads and --checkpoint-seconds
    /// may change
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    file: SettingsFile,
    #[command(flatten)]
    settings: Given<TrainingSettings>,
    #[command(flatten)]
    method: MethodArguments,
    #[command(flatten)]
    threads: Threads,
}

/// Objective, optimizer and groups, as the settings have them in types of their own.
#[derive(Args)]
struct MethodArguments {
    /// Objective [default: perceptron]
    #[arg(long)]
    objective: Option<ObjectiveName>,
    /// Margin of the desired move, in units of evaluation; ranking-svm only [default: 100]
    #[arg(long, value_name = "UNITS", value_parser = number(MARGIN))]
    margin: Option<i32>,
    /// Difference of values that is preferred at 73 %, in units of evaluation; logistic and listwise only [default:
    /// 100]
    #[arg(long, value_name = "UNITS", value_parser = number(POSITIVE))]
    temperature: Option<f64>,
    /// Weight of the game's result at the desired leaf; logistic and listwise only [default: 0]
    #[arg(long, value_name = "WEIGHT", value_parser = number(WEIGHT))]
    result_weight: Option<f64>,
    /// Weight of the score at the desired leaf; logistic and listwise only [default: 0]
    #[arg(long, value_name = "WEIGHT", value_parser = number(WEIGHT))]
    score_weight: Option<f64>,
    /// Value with an expected score of 73 %, in units of evaluation; logistic and listwise only [default: 200]
    #[arg(long, value_name = "UNITS", value_parser = number(POSITIVE))]
    outcome_scale: Option<f64>,
    /// Weight of the desired move among its siblings; listwise only [default: 1]
    #[arg(long, value_name = "WEIGHT", value_parser = number(WEIGHT))]
    move_weight: Option<f64>,
    /// Weight of the score as a bound of all siblings; listwise only [default: 0]
    #[arg(long, value_name = "WEIGHT", value_parser = number(WEIGHT))]
    bound_weight: Option<f64>,
    /// Optimizer [default: plain]
    #[arg(long)]
    optimizer: Option<OptimizerName>,
    /// Learning rate [default: 1]
    #[arg(long, value_parser = number(POSITIVE))]
    rate: Option<f64>,
    /// Factor of --rate for a group of features: a name, PREFIX* or @FAMILY, here and below [default: 1]
    #[arg(long, value_name = "GROUP=FACTOR", value_delimiter = ',', value_parser = group_number(POSITIVE))]
    rate_factor: Vec<(String, f64)>,
    /// L2 of a group: each update subtracts --rate times FRACTION of every weight [default: 0]
    #[arg(long, value_name = "GROUP=FRACTION", value_delimiter = ',', value_parser = group_number(0.0..=1.0))]
    weight_decay: Vec<(String, f64)>,
    /// Groups of features that do not learn
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    freeze: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ObjectiveName {
    Perceptron,
    RankingSvm,
    Logistic,
    Listwise,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OptimizerName {
    Plain,
    Adagrad,
    Adam,
}

/// Trains, from the beginning or from a checkpoint.
pub fn run(arguments: Arguments) -> Outcome {
    let stop = stop_on_interrupt();
    let mut display = ProgressDisplay::with_bar();
    let (folder, is_resumed) = (arguments.out.clone(), arguments.resume);
    let mut page = LivePage::new(&folder);
    let mut on_event = |progress: TrainingProgress| {
        if let Some(note) = page.on_progress(&progress) {
            display.print(&note.to_string());
        }
        if let Some(line) = &progress.line {
            display.print(&line_text(line));
        }
        display.show_part(Progress { done: progress.done, of: progress.of }, || message(&progress));
    };
    let settings = if is_resumed { arguments.resumed()? } else { arguments.settings()? };
    let samples = SampleFile::open(&settings.samples)?;
    let start = match &settings.start {
        Some(name) => load_weights(name)?,
        None => Arc::new(Weights::material()),
    };
    let examples = FileExamples::new(&samples, &start);
    let mut context = Context { threads: settings.machine.thread_count(), stop: &stop, on_event: &mut on_event };
    let summary = match is_resumed {
        true => training::resume(&folder, &|saved| saved.clone_from(&settings), &examples, &mut context),
        false => training::begin(&settings, &folder, &examples, &mut context),
    };
    drop(display);
    let summary = summary?;
    if summary.finished && !settings.keep_scale {
        let (weights, is_calibrated) = summary.calibrated(&samples)?;
        if is_calibrated {
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
        self.method.over(self.settings.settings, self.samples, &self.threads)
    }

    /// The settings of the run in the folder, with the arguments that may change it.
    fn resumed(self) -> Result<TrainingSettings, Box<dyn std::error::Error>> {
        let saved = training::saved_settings(&self.out)?;
        let asked = self.method.over(self.settings.over(saved.clone()), self.samples, &self.threads)?;
        let free = ["iterations", "keep-going", "machine"];
        check_same(&serde_json::to_value(&saved)?, &serde_json::to_value(&asked)?, &free)?;
        Ok(asked)
    }
}

impl MethodArguments {
    /// Settings with the arguments laid over them.
    fn over(
        &self,
        mut settings: TrainingSettings,
        samples: Option<PathBuf>,
        threads: &Threads,
    ) -> Result<TrainingSettings, String> {
        settings.samples = samples.unwrap_or(settings.samples);
        settings.machine.threads = threads.threads.unwrap_or(settings.machine.threads);
        settings.objective = self.objective(&settings.objective)?;
        settings.optimizer = self.optimizer(&settings.optimizer);
        let mut set = |groups: &str, change: &dyn Fn(&mut GroupSettings)| -> Result<(), String> {
            select(groups)?.iter().for_each(|group| change(settings.groups.entry(group.name.to_string()).or_default()));
            Ok(())
        };
        for groups in &self.freeze {
            set(groups, &|group| group.learn = false)?;
        }
        for (groups, l2) in &self.weight_decay {
            set(groups, &|group| group.l2 = *l2)?;
        }
        for (groups, factor) in &self.rate_factor {
            set(groups, &|group| group.rate = *factor)?;
        }
        settings.check()?;
        Ok(settings)
    }

    fn objective(&self, given: &ObjectiveSettings) -> Result<ObjectiveSettings, String> {
        let mut objective = match self.objective {
            None => given.clone(),
            Some(ObjectiveName::Perceptron) => ObjectiveSettings::Perceptron,
            Some(ObjectiveName::RankingSvm) => ObjectiveSettings::ranking_svm(),
            Some(ObjectiveName::Logistic) => ObjectiveSettings::logistic(),
            Some(ObjectiveName::Listwise) => ObjectiveSettings::listwise(),
        };
        if let ObjectiveSettings::RankingSvm { margin } = &mut objective {
            *margin = self.margin.unwrap_or(*margin);
        } else if self.margin.is_some() {
            return Err("--margin belongs to --objective ranking-svm".into());
        }
        if let ObjectiveSettings::Logistic { temperature, result_weight, score_weight, outcome_scale }
        | ObjectiveSettings::Listwise { temperature, result_weight, score_weight, outcome_scale, .. } =
            &mut objective
        {
            *temperature = self.temperature.unwrap_or(*temperature);
            *result_weight = self.result_weight.unwrap_or(*result_weight);
            *score_weight = self.score_weight.unwrap_or(*score_weight);
            *outcome_scale = self.outcome_scale.unwrap_or(*outcome_scale);
        } else if self.temperature.or(self.result_weight).or(self.score_weight).or(self.outcome_scale).is_some() {
            return Err("--temperature, --result-weight, --score-weight and --outcome-scale belong to --objective logistic or listwise".into());
        }
        if let ObjectiveSettings::Listwise { move_weight, bound_weight, .. } = &mut objective {
            *move_weight = self.move_weight.unwrap_or(*move_weight);
            *bound_weight = self.bound_weight.unwrap_or(*bound_weight);
        } else if self.move_weight.or(self.bound_weight).is_some() {
            return Err("--move-weight and --bound-weight belong to --objective listwise".into());
        }
        Ok(objective)
    }

    fn optimizer(&self, given: &OptimizerSettings) -> OptimizerSettings {
        let mut optimizer = match self.optimizer {
            None => given.clone(),
            Some(OptimizerName::Plain) => OptimizerSettings::default(),
            Some(OptimizerName::Adagrad) => OptimizerSettings::adagrad(),
            Some(OptimizerName::Adam) => OptimizerSettings::adam(),
        };
        let (OptimizerSettings::Plain { rate }
        | OptimizerSettings::AdaGrad { rate }
        | OptimizerSettings::Adam { rate, .. }) = &mut optimizer;
        *rate = self.rate.unwrap_or(*rate);
        optimizer
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

/// Seconds as h:mm:ss.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

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
             --freeze pairs,piece_square --weight-decay material=1e-6 --threads 2",
        )
        .unwrap();
        assert_eq!(settings.depth, 3);
        assert_eq!(settings.optimizer, OptimizerSettings::Adam { rate: 0.5, beta1: 0.9, beta2: 0.999 });
        assert!(matches!(settings.objective, ObjectiveSettings::Logistic { temperature: 50.0, .. }));
        assert!(!settings.group("pairs").learn && !settings.group("piece_square").learn);
        assert_eq!(settings.group("material").l2, 1e-6);
        assert_eq!(settings.machine.threads, 2);
    }

    /// Each option of the objective, the optimizer and the groups reaches its setting.
    #[test]
    fn every_option_of_the_method_reaches_its_setting() {
        let json = |options: &str| serde_json::to_value(settings_of(&format!("d --out r {options}")).unwrap()).unwrap();
        for (options, pointer, expected) in [
            ("--objective perceptron", "/objective/kind", serde_json::json!("perceptron")),
            ("--objective ranking-svm --margin 7", "/objective/margin", 7.into()),
            ("--objective logistic --temperature 7", "/objective/temperature", 7.0.into()),
            ("--objective logistic --result-weight 7", "/objective/result_weight", 7.0.into()),
            ("--objective logistic --score-weight 7", "/objective/score_weight", 7.0.into()),
            ("--objective listwise --outcome-scale 7", "/objective/outcome_scale", 7.0.into()),
            ("--objective listwise --move-weight 7", "/objective/move_weight", 7.0.into()),
            ("--objective listwise --bound-weight 7", "/objective/bound_weight", 7.0.into()),
            ("--optimizer adagrad", "/optimizer/kind", "ada-grad".into()),
            ("--optimizer adam --rate 7", "/optimizer/rate", 7.0.into()),
            ("--rate-factor tempo=0.5", "/groups/tempo/rate", 0.5.into()),
            ("--weight-decay tempo=0.5", "/groups/tempo/l2", 0.5.into()),
            ("--freeze tempo", "/groups/tempo/learn", false.into()),
            ("--threads 7", "/machine/threads", 7.into()),
        ] {
            assert_eq!(json(options).pointer(pointer), Some(&expected), "{options}");
        }
        assert_eq!(json("")["samples"], "d");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in [
            "",
            "data.smp",
            "data.smp --out run --margin 3",
            "d --out r --weight-decay x",
            "d --out r --weight-decay pairs=2",
        ] {
            assert!(settings_of(wrong).is_err(), "{wrong}");
        }
    }
}
