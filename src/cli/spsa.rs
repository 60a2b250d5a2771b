//! `dyad spsa`: constants of the search and factors of weights, tuned by games.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, Args};
use dyad_engine::params::TUNABLES;
use dyad_formats::error::Error;
use dyad_formats::files;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;
use dyad_trainer::base::context::{Context, Progress};
use dyad_trainer::base::number::number;
use dyad_trainer::tune::directions::{self, TrainedGoal, spsa_parameters};
use dyad_trainer::tune::parameters::{self, Parameter};
use dyad_trainer::tune::run::{self, TuningProgress, begin, resume};
use dyad_trainer::tune::state::TuningSettings;

use super::limits::{Clock, Limits};
use super::match_::has_plies;
use super::progress::ProgressDisplay;
use super::settings::{Given, SettingsFile, check_same};
use super::{Outcome, Threads, read_openings, stop_on_interrupt};

#[derive(Args)]
#[command(mut_args(refused_by_lists))]
pub struct Arguments {
    /// Parameters to tune, one a line as OpenBench reads them: name, int or float, value, min, max, c_end, r_end
    #[arg(required_unless_present_any = ["resume", "list", "list_weights", "settings"])]
    parameters: Option<PathBuf>,
    /// Folder of the run
    #[arg(long, short, value_name = "FOLDER", required_unless_present_any = ["list", "list_weights"])]
    out: Option<PathBuf>,
    /// Resume the run in the folder, with its settings
    #[arg(long)]
    resume: bool,
    /// Print the constants of the search as parameters, those of NAME alone if given; NAME* is a prefix
    #[arg(long, value_name = "NAME", num_args = 0.., value_delimiter = ',', exclusive = true)]
    list: Option<Vec<String>>,
    /// Print parameters that change --weights, with detectable perturbations measured on the positions of SAMPLES
    #[arg(long, value_name = "SAMPLES")]
    list_weights: Option<PathBuf>,
    /// Trained weights that some parameters of --list-weights interpolate to
    #[arg(long, value_name = "WEIGHTS", requires = "list_weights")]
    goal: Option<PathBuf>,
    #[command(flatten)]
    file: SettingsFile,
    #[command(flatten)]
    settings: Given<TuningSettings>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    clock: Clock,
    #[command(flatten)]
    threads: Threads,
    /// Seconds between two checkpoints
    #[arg(long, value_parser = number::<u64>(0..), value_name = "SECONDS", default_value_t = 30)]
    checkpoint_seconds: u64,
}

/// `--list-weights` is refused with the arguments of a tuning, which it does not read; `--list` takes no others at all.
fn refused_by_lists(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "list" | "list_weights" | "goal" | "weights" | "settings" => argument,
        _ => argument.conflicts_with("list_weights"),
    }
}

/// Nodes per move where no limit is given.
pub const NODES: u64 = 10_000;

/// Tunes, from the beginning or from a checkpoint, or lists what can be tuned.
pub fn run(arguments: Arguments) -> Outcome {
    if let Some(names) = &arguments.list {
        print!("{}", list(names)?);
        return Ok(());
    }
    let Some(folder) = arguments.out.clone() else {
        print!("{}", weight_parameters(arguments)?);
        return Ok(());
    };
    let control = stop_on_interrupt();
    let checkpoint = Duration::from_secs(arguments.checkpoint_seconds);
    let mut progress = ProgressDisplay::new();
    let mut on_event = |event: TuningProgress| {
        let elapsed = progress.elapsed();
        progress.show(|| progress_line(&event, elapsed));
    };
    let mut context = Context { threads: arguments.threads.count(), stop: &control, on_event: &mut on_event };
    let ended = match arguments.resume {
        true => {
            arguments.check_resume(&folder)?;
            resume(&folder, checkpoint, &mut context)
        }
        false => begin(&arguments.settings()?, &folder, checkpoint, &mut context),
    };
    drop(progress);
    let summary = ended?;
    let text = std::fs::read_to_string(folder.join("parameters.txt")).unwrap_or_default();
    print!("{text}");
    match summary.finished {
        true => println!("finished: {} pairs, see {}", summary.state.done, folder.join("report.html").display()),
        false => println!("stopped; resume with: dyad spsa --out {} --resume", folder.display()),
    }
    match summary.finished {
        true => Ok(()),
        false => Err("stopped; the tuning is not complete".into()),
    }
}

/// The constants of these names in the form that is read.
fn list(names: &[String]) -> Result<String, String> {
    let is_for = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    if let Some(unknown) = names.iter().find(|pattern| !TUNABLES.iter().any(|tunable| is_for(pattern, tunable.name))) {
        return Err(format!("no search parameter '{unknown}'"));
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|pattern| is_for(pattern, name));
    let listed: Vec<Parameter> =
        TUNABLES.iter().filter(|tunable| wanted(tunable.name)).map(Parameter::constant).collect();
    Ok(lines(&listed))
}

/// Parameters with the values at which they begin.
fn lines(parameters: &[Parameter]) -> String {
    parameters.iter().map(|parameter| format!("{parameter}\n")).collect()
}

/// Parameters that change the weights, in the form that is read.
fn weight_parameters(arguments: Arguments) -> Result<String, Box<dyn std::error::Error>> {
    let Arguments { list_weights, goal, settings, .. } = arguments;
    let weights = settings.settings.weights;
    let weights = weights_file::named(weights.as_deref().unwrap_or(Path::new("default")))?;
    let trained = goal.as_deref().map(weights_file::named).transpose()?;
    let samples = list_weights.ok_or("name the folder of the run: --out FOLDER")?;
    let boards = directions::boards(&SampleFile::open(&samples)?.load()?)?;
    let goal = goal.as_deref().zip(trained.as_deref()).map(|(file, weights)| TrainedGoal { file, weights });
    Ok(lines(&spsa_parameters(&weights, goal, &boards)))
}

fn progress_line(progress: &TuningProgress, elapsed: Duration) -> String {
    let TuningProgress { pairs: Progress { done, of }, resumed_at, largest_change } = *progress;
    let left = elapsed.as_secs_f64() / (done - resumed_at).max(1) as f64 * (of - done) as f64;
    format!("pair {done} of {of}, {left:.0} s left, largest change {largest_change:.2} c")
}

impl Arguments {
    /// The settings of a new run.
    fn settings(self) -> Result<TuningSettings, Error> {
        let Arguments { parameters, settings, limits, clock, .. } = self;
        let settings = with_the_rest(settings.settings, parameters.as_deref(), &limits, &clock)?;
        if !has_plies(settings.openings.as_deref()) && settings.plies != TuningSettings::default().plies {
            return Err(Error::Settings("plies: it changes nothing without openings from games".to_string()));
        }
        if let Some(path) = &settings.openings {
            read_openings(path, settings.plies)?;
        }
        settings.check().map_err(Error::Settings)?;
        Ok(settings)
    }

    /// Refuses arguments that differ from the settings of the run in `folder`.
    fn check_resume(self, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let saved = run::settings(folder)?;
        let Arguments { parameters, settings, limits, clock, .. } = self;
        let asked = with_the_rest(settings.over(saved.clone()), parameters.as_deref(), &limits, &clock)?;
        Ok(check_same(&serde_json::to_value(&saved)?, &serde_json::to_value(&asked)?, &[])?)
    }
}

/// Settings with the arguments that are read in other forms.
fn with_the_rest(
    mut settings: TuningSettings,
    parameters: Option<&Path>,
    limits: &Limits,
    clock: &Clock,
) -> Result<TuningSettings, Error> {
    if let Some(path) = parameters {
        let text = files::read_text(path).map_err(Error::file("read", path))?;
        let text = String::from_utf8(text).map_err(|error| Error::content(path, "text", error))?;
        settings.parameters =
            parameters::parse(&text).map_err(|problem| Error::content(path, "parameters", problem))?;
    }
    settings.weights = settings.weights.filter(|path| path != Path::new("default"));
    let limit = limits.get().and_then(|limit| Ok(limit.or(clock.get()?))).map_err(Error::Settings)?;
    settings.budget = limit.unwrap_or(settings.budget);
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::super::limits::parse_clock;
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        spsa: Arguments,
    }

    #[test]
    fn what_is_listed_can_be_read() {
        let all = parameters::parse(&list(&[]).unwrap()).unwrap();
        assert_eq!(all.len(), TUNABLES.len());
        let some = parameters::parse(&list(&["rfp_*".into(), "qs_see".into()]).unwrap()).unwrap();
        assert!(some.len() > 3 && some.iter().all(|p| p.name.starts_with("rfp_") || p.name == "qs_see"));
        assert!(list(&["rfp".into()]).unwrap_err().contains("'rfp'"));
    }

    #[test]
    fn arguments_become_settings() {
        let path = std::env::temp_dir().join(format!("dyad-spsa-arguments-{}", std::process::id()));
        std::fs::write(&path, list(&["rfp_*".into()]).unwrap()).unwrap();
        let words =
            ["spsa", path.to_str().unwrap(), "--out", "run", "--pairs", "500", "--gamma", "0.2", "--tc", "8+0.08"];
        let settings = Program::try_parse_from(words).unwrap().spsa.settings().unwrap();
        assert_eq!((settings.schedule.pairs, settings.schedule.gamma), (500, 0.2));
        assert_eq!(settings.budget, parse_clock("8+0.08").unwrap());
        assert_eq!(settings.parameters.len(), parameters::parse(&list(&["rfp_*".into()]).unwrap()).unwrap().len());
        for openings in [&[][..], &["--openings", "a.epd"]] {
            let words = [&words[..], &["--plies", "8"], openings].concat();
            let error = Program::try_parse_from(words).unwrap().spsa.settings().unwrap_err().to_string();
            assert!(error.contains("plies: it changes nothing without openings from games"), "{error}");
        }
        std::fs::write(&path, "rfp_depth, int, 9\n").unwrap();
        let error = Program::try_parse_from(&words[..4]).unwrap().spsa.settings().unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(Program::try_parse_from(["spsa", "--out", "run"]).is_err());
    }

    #[test]
    fn a_list_is_refused_with_what_it_does_not_read() {
        let is_parsed = |words: &str| Program::try_parse_from(["spsa"].into_iter().chain(words.split(' '))).is_ok();
        for list in ["--list", "--list rfp_depth qs_see", "--list-weights a.bin"] {
            assert!(is_parsed(list), "{list}");
            for other in [
                "--out run",
                "--resume",
                "--pairs 3",
                "--nodes 5",
                "--tc 8+0.08",
                "--openings nofile",
                "--threads 2",
                "--checkpoint-seconds 5",
            ] {
                assert!(!is_parsed(&format!("{list} {other}")), "{list} {other}");
            }
        }
        assert!(is_parsed("--list-weights a.bin --goal b.json --weights c.json --settings d.json"));
        for words in
            ["--list --list-weights a.bin", "--list --weights c.json", "x.txt --list", "x.txt --list-weights a.bin"]
        {
            assert!(!is_parsed(words), "{words}");
        }
    }
}
