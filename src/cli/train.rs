//! `dyad train`: settings from the command line, progress on the screen.
//!
//! Settings come from a JSON file, if one is named, and then from the options, which win. On a terminal
//! a bar shows where the iteration stands; otherwise, and for every line that goes to the log, a plain
//! line is printed. The first Ctrl-C ends the training after the batch with a checkpoint, the second one
//! at once; either way `dyad train --resume FOLDER` resumes it.

use clap::{Args, ValueEnum};
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::select;
use dyad_formats::samples::SampleFile;
use dyad_trainer::fit::calibration::calibrate_by_file;
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::log::{LineKind, LogLine};
use dyad_trainer::learn::settings::{Averaging, L2Target, ObjectiveSettings, OptimizerSettings, Settings};
use dyad_trainer::learn::training;
use dyad_trainer::learn::training::{Progress, Summary, TrainContext};
use dyad_trainer::report::LivePage;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::settings::set;
use super::{Outcome, load_weights, parse_number, settings, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// The sample file, made by `dyad prepare`
    #[arg(required_unless_present_any = ["resume", "settings"], conflicts_with = "resume")]
    samples: Option<PathBuf>,
    /// Folder for the run, made new
    #[arg(long, value_name = "FOLDER", required_unless_present = "resume")]
    out: Option<PathBuf>,
    /// Resume the run in this folder; with it go --iterations, --keep-going, --threads and --checkpoint-seconds,
    /// which the run keeps
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Settings from a JSON file, such as a run's settings.json; the other arguments override it
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Weights to start from: a file, `default` or `material` [default: material as in Table I, all else zero]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    start: Option<PathBuf>,
    /// d of d-ply training: 1 is the quiescence leaf of each child
    #[arg(long, conflicts_with = "resume")]
    depth: Option<u32>,
    /// Positions for one update
    #[arg(long, conflicts_with = "resume")]
    batch: Option<usize>,
    /// Iterations over the data at most
    #[arg(long)]
    iterations: Option<u32>,
    /// Seed of the shuffles
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// What is to be reached
    #[arg(long, conflicts_with = "resume")]
    objective: Option<ObjectiveName>,
    /// Ranking SVM: how far ahead the desired move must be
    #[arg(long, value_name = "VALUE", conflicts_with = "resume")]
    margin: Option<i32>,
    /// Logistic, listwise: the difference preferred at 73 %
    #[arg(long, value_name = "VALUE", conflicts_with = "resume")]
    temperature: Option<f64>,
    /// Logistic, listwise: weight of the game's result at the desired leaf
    #[arg(long, value_name = "WEIGHT", conflicts_with = "resume")]
    result_weight: Option<f64>,
    /// Logistic, listwise: weight of the score at the desired leaf
    #[arg(long, value_name = "WEIGHT", conflicts_with = "resume")]
    score_weight: Option<f64>,
    /// Logistic, listwise: the value of an expected score of 73 %
    #[arg(long, value_name = "VALUE", conflicts_with = "resume")]
    outcome_scale: Option<f64>,
    /// Listwise: weight of the desired move among its siblings
    #[arg(long, value_name = "WEIGHT", conflicts_with = "resume")]
    move_weight: Option<f64>,
    /// Listwise: weight of the score as a bound of all siblings
    #[arg(long, value_name = "WEIGHT", conflicts_with = "resume")]
    bound_weight: Option<f64>,
    /// Hold the weights by L2 to those at the start, not to zero
    #[arg(long, conflicts_with = "resume")]
    hold_start: bool,
    /// Let the rate fall along a cosine to the end of the last iteration
    #[arg(long, conflicts_with = "resume")]
    anneal: bool,
    /// Keep scale and win rate model of the weights at the start
    #[arg(long, conflicts_with = "resume")]
    keep_scale: bool,
    /// Rates of groups as multiples of the optimizer's, as GROUP=FACTOR
    #[arg(long, value_name = "GROUP=FACTOR", value_delimiter = ',', value_parser = parse_l2, conflicts_with = "resume")]
    group_rate: Vec<(String, f64)>,
    /// How gradients change the weights
    #[arg(long, conflicts_with = "resume")]
    optimizer: Option<OptimizerName>,
    /// Learning rate
    #[arg(long, conflicts_with = "resume")]
    rate: Option<f64>,
    /// Over what the weights are averaged
    #[arg(long, conflicts_with = "resume")]
    average: Option<AverageName>,
    /// Groups of features that do not learn: names, beginnings of names and *, or @FAMILY
    #[arg(long, value_name = "GROUPS", value_delimiter = ',', conflicts_with = "resume")]
    freeze: Vec<String>,
    /// L2 of groups, named as for --freeze, as GROUP=SHARE
    #[arg(long, value_name = "GROUP=SHARE", value_delimiter = ',', value_parser = parse_l2, conflicts_with = "resume")]
    l2: Vec<(String, f64)>,
    /// Training positions to use [default: all]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    positions: Option<usize>,
    /// Test positions to use [default: all]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    tests: Option<usize>,
    /// Leave out positions in check
    #[arg(long, conflicts_with = "resume")]
    skip_in_check: bool,
    /// Continue when the move-match accuracy on the test positions falls
    #[arg(long)]
    keep_going: bool,
    /// A report every so many positions
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    report_every: Option<u64>,
    /// Test positions for a report
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    report_positions: Option<usize>,
    /// Threads [default: one per processor]
    #[arg(long)]
    threads: Option<usize>,
    /// Nodes for one position at most; one that needs more is skipped
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    node_limit: Option<u64>,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS")]
    checkpoint_seconds: Option<u64>,
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AverageName {
    Iteration,
    All,
    Off,
}

/// What the help tells as defaults: the settings, and the numbers of the objectives that they do not name.
pub fn defaults() -> impl Serialize {
    serde_json::json!({
        "settings": Settings::default(),
        "others": [ObjectiveSettings::ranking_svm(), ObjectiveSettings::logistic()],
    })
}

fn parse_l2(text: &str) -> Result<(String, f64), String> {
    let (group, share) = text.split_once('=').ok_or("expected GROUP=SHARE")?;
    Ok((group.to_string(), parse_number(share)?))
}

/// Trains, from the beginning or from a checkpoint.
pub fn run(arguments: Arguments) -> Outcome {
    let stop = stop_on_interrupt();
    let mut screen = Screen::new();
    let folder = arguments.resume.as_deref().or(arguments.out.as_deref()).expect("one of them is asked for");
    let mut page = LivePage::new(folder);
    let mut progress = |progress: &Progress| {
        if let Some(note) = page.hear_training(progress) {
            screen.say(&note);
        }
        screen.show(progress);
    };
    let settings = match &arguments.resume {
        Some(folder) => training::saved_settings(folder)?,
        None => arguments.settings()?,
    };
    let samples = SampleFile::open(&settings.samples)?;
    let start = match &settings.start {
        Some(name) => load_weights(name)?,
        None => Arc::new(Weights::material()),
    };
    let examples = FileExamples::new(&samples, &start);
    let context = TrainContext { examples: &examples, stop: &stop, progress: &mut progress };
    let summary = match (&arguments.resume, &arguments.out) {
        (Some(folder), _) => training::resume(folder, &|settings| arguments.adjust(settings), context),
        (None, Some(folder)) => training::begin(&settings, folder, context),
        (None, None) => unreachable!("one of them is asked for"),
    };
    screen.finish();
    let summary = summary?;
    if summary.finished {
        let mut weights = Weights::load(&summary.file)?;
        if !settings.keep_scale && calibrate_by_file(&mut weights, &samples)? {
            weights.save(&summary.file)?;
            println!("scale and win rate are fitted to the results of the games");
        }
    }
    if let Some(problem) = page.finish() {
        eprintln!("{problem}");
    }
    say_how_it_ended(&summary);
    Ok(())
}

fn say_how_it_ended(summary: &Summary) {
    let folder = summary.file.parent().unwrap_or(Path::new("."));
    let accuracy = summary.accuracy.map_or(String::new(), |a| format!(", accuracy {:.2} %", 100.0 * a));
    if summary.finished {
        println!("finished: iteration {} is the best{accuracy}, {}", summary.best, summary.file.display());
    } else {
        println!("stopped; resume with: dyad train --resume {}", folder.display());
    }
}

impl Arguments {
    fn settings(&self) -> Result<Settings, String> {
        let mut settings: Settings = settings::load(self.settings.as_deref(), "train")?;
        set(&mut settings.samples, &self.samples);
        set(&mut settings.depth, &self.depth);
        set(&mut settings.batch, &self.batch);
        set(&mut settings.seed, &self.seed);
        set(&mut settings.node_limit, &self.node_limit);
        set(&mut settings.report_every, &self.report_every);
        set(&mut settings.report_positions, &self.report_positions);
        settings.start = self.start.clone().or(settings.start);
        settings.train_positions = self.positions.or(settings.train_positions);
        settings.test_positions = self.tests.or(settings.test_positions);
        settings.skip_in_check |= self.skip_in_check;
        settings.objective = self.objective(&settings.objective)?;
        settings.optimizer = self.optimizer(&settings.optimizer);
        settings.average = match self.average {
            None => settings.average,
            Some(AverageName::Iteration) => Averaging::Iteration,
            Some(AverageName::All) => Averaging::All,
            Some(AverageName::Off) => Averaging::Off,
        };
        for groups in &self.freeze {
            for group in select(groups)? {
                settings.groups.entry(group.name.to_string()).or_default().learn = false;
            }
        }
        for (groups, l2) in &self.l2 {
            for group in select(groups)? {
                settings.groups.entry(group.name.to_string()).or_default().l2 = *l2;
            }
        }
        for (groups, rate) in &self.group_rate {
            for group in select(groups)? {
                settings.groups.entry(group.name.to_string()).or_default().rate = *rate;
            }
        }
        if self.hold_start {
            settings.l2_target = L2Target::Start;
        }
        settings.anneal |= self.anneal;
        settings.keep_scale |= self.keep_scale;
        self.adjust(&mut settings);
        settings.check()?;
        match settings.samples.as_os_str().is_empty() {
            true => Err("name a sample file".into()),
            false => Ok(settings),
        }
    }

    /// What may also change when a run is resumed.
    fn adjust(&self, settings: &mut Settings) {
        set(&mut settings.iterations, &self.iterations);
        set(&mut settings.machine.threads, &self.threads);
        set(&mut settings.machine.checkpoint_seconds, &self.checkpoint_seconds);
        settings.keep_going |= self.keep_going;
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
            set(margin, &self.margin);
        } else if self.margin.is_some() {
            return Err("--margin belongs to --objective ranking-svm".into());
        }
        if let ObjectiveSettings::Logistic { temperature, result_weight, score_weight, outcome_scale }
        | ObjectiveSettings::Listwise { temperature, result_weight, score_weight, outcome_scale, .. } =
            &mut objective
        {
            set(temperature, &self.temperature);
            set(result_weight, &self.result_weight);
            set(score_weight, &self.score_weight);
            set(outcome_scale, &self.outcome_scale);
        } else if self.temperature.or(self.result_weight).or(self.score_weight).or(self.outcome_scale).is_some() {
            return Err("a temperature, weights and a scale belong to --objective logistic or listwise".into());
        }
        if let ObjectiveSettings::Listwise { move_weight, bound_weight, .. } = &mut objective {
            set(move_weight, &self.move_weight);
            set(bound_weight, &self.bound_weight);
        } else if self.move_weight.or(self.bound_weight).is_some() {
            return Err("weights of moves and bounds belong to --objective listwise".into());
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
        set(rate, &self.rate);
        optimizer
    }
}

/// Where progress is shown.
struct Screen {
    /// On a terminal only.
    bar: Option<ProgressBar>,
    /// When the bar was last drawn: batches may be short.
    drawn: Instant,
}

impl Screen {
    fn new() -> Screen {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = "{prefix} [{bar:30}] {human_pos}/{human_len}  {msg}";
            let style = ProgressStyle::with_template(style).expect("the template is fixed").progress_chars("=> ");
            ProgressBar::new(0).with_style(style)
        });
        Screen { bar, drawn: Instant::now() }
    }

    fn show(&mut self, progress: &Progress) {
        if let Some(line) = progress.line {
            self.say(&line_text(line));
        }
        let Some(bar) = &self.bar else { return };
        if progress.line.is_some() || self.drawn.elapsed() > Duration::from_millis(200) {
            self.drawn = Instant::now();
            bar.set_prefix(format!("iteration {}/{}", progress.iteration, progress.iterations));
            bar.set_length(progress.of);
            bar.set_position(progress.done);
            bar.set_message(message(progress));
        }
    }

    /// Prints a line that stays.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| println!("{line}")),
            None => println!("{line}"),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn message(progress: &Progress) -> String {
    let pace = progress.positions_per_second;
    let mut message = format!("{pace:.0} positions/s");
    if let Some(accuracy) = progress.accuracy {
        message += &format!("  accuracy {:.2} %", 100.0 * accuracy);
    }
    if pace > 0.0 {
        message += &format!("  left {}", clock((progress.of - progress.done) as f64 / pace));
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

    fn settings_of(arguments: &str) -> Result<Settings, String> {
        let words = std::iter::once("train").chain(arguments.split_whitespace());
        Program::try_parse_from(words).map_err(|e| e.to_string())?.train.settings()
    }

    #[test]
    fn options_become_settings() {
        let settings = settings_of(
            "data.smp --out run --depth 3 --objective logistic --temperature 50 --optimizer adam --rate 0.5 \
             --freeze pairs,location --l2 material=1e-6 --threads 2",
        )
        .unwrap();
        assert_eq!(settings.depth, 3);
        assert_eq!(settings.optimizer, OptimizerSettings::Adam { rate: 0.5, beta1: 0.9, beta2: 0.999 });
        assert!(matches!(settings.objective, ObjectiveSettings::Logistic { temperature: 50.0, .. }));
        assert!(!settings.group("pairs").learn && !settings.group("location").learn);
        assert_eq!(settings.group("material").l2, 1e-6);
        assert_eq!(settings.machine.threads, 2);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in
            ["", "data.smp", "data.smp --out run --margin 3", "data.smp --out run --resume run", "d --out r --l2 x"]
        {
            assert!(settings_of(wrong).is_err(), "{wrong}");
        }
    }
}
