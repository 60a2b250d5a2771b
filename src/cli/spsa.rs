//! `dyad spsa`: constants of the search and factors of weights, tuned by games.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use dyad_engine::eval::Weights;
use dyad_engine::params::TUNABLES;
use dyad_formats::atomic;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_trainer::arena::play::SearchLimits;
use dyad_trainer::tune::directions::{self, Goal, spsa_parameters};
use dyad_trainer::tune::parameters::{self, Parameter};
use dyad_trainer::tune::run::{MachineSettings, begin, resume};
use dyad_trainer::tune::state::{Settings, State};

use super::match_::{parse_clock, parse_move_time};
use super::progress::Progress;
use super::settings::{self, set};
use super::{Outcome, read_openings, stop_on_interrupt, threads};

#[derive(Args)]
pub struct Arguments {
    /// What is tuned: a file in the form that OpenBench reads, one parameter a line: name, int, value, min, max, c_end,
    /// r_end
    #[arg(required_unless_present_any = ["resume", "list", "directions", "settings"], conflicts_with_all = ["resume", "list"])]
    parameters: Option<PathBuf>,
    /// Folder for the run, made new
    #[arg(long, value_name = "FOLDER", required_unless_present_any = ["resume", "list", "directions"])]
    out: Option<PathBuf>,
    /// Resume the run in this folder; --threads and --checkpoint-seconds may be given with it
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Print the constants of these names in that form, all without one; a name that ends in * stands for all that begin
    /// so
    #[arg(long, value_name = "NAME", num_args = 0.., value_delimiter = ',', conflicts_with_all = ["resume", "out"])]
    list: Option<Vec<String>>,
    /// Print the directions in which --weights can be changed in that form, each with the step that games feel, measured on
    /// positions of this sample file
    #[arg(long, value_name = "SAMPLES", conflicts_with_all = ["parameters", "list", "resume", "out"])]
    directions: Option<PathBuf>,
    /// Trained weights that some of the directions lead to
    #[arg(long, value_name = "FILE", requires = "directions")]
    goal: Option<PathBuf>,
    /// Settings from a JSON file, such as a run's settings.json; the other arguments override it
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Weights that the players evaluate with, or that factors multiply [default: those built in]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    weights: Option<PathBuf>,
    /// Pairs of games
    #[arg(long, conflicts_with = "resume")]
    pairs: Option<u64>,
    /// Pairs played from the same values before they are changed
    #[arg(long, conflicts_with = "resume")]
    batch: Option<u64>,
    /// Share of the pairs, the last ones, over which the values are averaged for the result; 0 for the last values
    #[arg(long, conflicts_with = "resume")]
    average: Option<f64>,
    /// Exponent of the rate
    #[arg(long, conflicts_with = "resume")]
    alpha: Option<f64>,
    /// Exponent of the steps
    #[arg(long, conflicts_with = "resume")]
    gamma: Option<f64>,
    /// Share of all pairs that is added to their number, so that the first rates are small
    #[arg(long, conflicts_with = "resume")]
    a_ratio: Option<f64>,
    /// Seed of signs, rounding and openings
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// Nodes for each move [default: 10000]
    #[arg(long, group = "budget", conflicts_with = "resume")]
    nodes: Option<u64>,
    /// Depth of each search
    #[arg(long, group = "budget", conflicts_with = "resume")]
    depth: Option<u32>,
    /// Time for a game in seconds, as 8+0.08; as 8+0.08@200000 clocks run as if each player searched so many nodes a second
    #[arg(long, group = "budget", conflicts_with = "resume")]
    tc: Option<String>,
    /// Time for each move in seconds
    #[arg(long, group = "budget", value_name = "SECONDS", conflicts_with = "resume")]
    movetime: Option<f64>,
    /// Megabytes of a player's table
    #[arg(long, conflicts_with = "resume")]
    hash: Option<usize>,
    /// Openings: a file of positions or games [default: random openings]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    openings: Option<PathBuf>,
    /// Plies that are taken from the games of an opening file
    #[arg(long, conflicts_with = "resume")]
    plies: Option<usize>,
    /// The share of natural openings among random ones: each move the likelier the better
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["resume", "openings"])]
    natural: Option<f64>,
    /// Games at a time [default: one for each processor]
    #[arg(long)]
    threads: Option<usize>,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    checkpoint_seconds: u64,
}

/// Tunes, from the beginning or from a checkpoint, or lists what can be tuned.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(names) = &arguments.list {
        print!("{}", list(names)?);
        return Ok(());
    }
    if let Some(samples) = &arguments.directions {
        print!("{}", directions_on(samples, arguments)?);
        return Ok(());
    }
    let control = stop_on_interrupt();
    let checkpoint = Duration::from_secs(arguments.checkpoint_seconds);
    let machine = MachineSettings { threads: threads("threads", arguments.threads)?, checkpoint };
    let mut progress = Progress::new();
    let mut begun_at = None;
    let mut show = |settings: &Settings, state: &State| {
        let elapsed = progress.elapsed();
        let from = *begun_at.get_or_insert(state.done.saturating_sub(settings.batch));
        progress.show(|| progress_line(settings, state, from, elapsed));
    };
    let (folder, ended) = match (&arguments.resume, &arguments.out) {
        (Some(folder), _) => (folder, resume(folder, machine, &control, &mut show)),
        (None, Some(folder)) => (folder, begin(&arguments.settings()?, folder, machine, &control, &mut show)),
        (None, None) => unreachable!("one of them is asked for"),
    };
    drop(progress);
    let summary = ended?;
    let text = std::fs::read_to_string(folder.join("parameters.txt")).unwrap_or_default();
    print!("{text}");
    match summary.finished {
        true => println!("finished: {} pairs, see {}", summary.state.done, folder.join("report.html").display()),
        false => println!("stopped; resume with: dyad spsa --resume {}", folder.display()),
    }
    Ok(())
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

/// The directions from the weights, in the form that is read.
fn directions_on(samples: &Path, arguments: &Arguments) -> Result<String, Box<dyn std::error::Error>> {
    let weights = Weights::named(arguments.weights.as_deref().unwrap_or(Path::new("default")))?;
    let trained = arguments.goal.as_deref().map(Weights::named).transpose()?;
    let boards = directions::boards(&SampleFile::open(samples)?.load()?)?;
    let goal = arguments.goal.as_deref().zip(trained.as_deref()).map(|(file, weights)| Goal { file, weights });
    Ok(lines(&spsa_parameters(&weights, goal, &boards)))
}

fn progress_line(settings: &Settings, state: &State, from: u64, elapsed: Duration) -> String {
    let all = settings.schedule.pairs;
    let left = elapsed.as_secs_f64() / (state.done - from).max(1) as f64 * (all - state.done) as f64;
    let moved = settings.parameters.iter().zip(&state.values);
    let moved = moved.map(|(parameter, value)| (value - parameter.value).abs() / parameter.c_end);
    format!("pair {} of {all}, {left:.0} s left, largest change {:.2} c", state.done, moved.fold(0.0, f64::max))
}

impl Arguments {
    fn settings(&self) -> Result<Settings, Error> {
        let mut settings: Settings = settings::load(self.settings.as_deref(), "spsa").map_err(Error::Settings)?;
        if let Some(path) = &self.parameters {
            let text = atomic::read(path).map_err(Error::file("read", path))?;
            let text = String::from_utf8(text).map_err(|error| Error::content(path, "text", error.to_string()))?;
            settings.parameters =
                parameters::parse(&text).map_err(|problem| Error::content(path, "parameters", problem))?;
        }
        settings.weights = self.weights.clone().filter(|path| path != Path::new("default")).or(settings.weights);
        settings.openings = self.openings.clone().or(settings.openings);
        if let Some(path) = &settings.openings {
            read_openings(path, settings.plies)?;
        }
        set(&mut settings.schedule.pairs, &self.pairs);
        set(&mut settings.schedule.alpha, &self.alpha);
        set(&mut settings.schedule.gamma, &self.gamma);
        set(&mut settings.schedule.a_ratio, &self.a_ratio);
        set(&mut settings.batch, &self.batch);
        set(&mut settings.average, &self.average);
        set(&mut settings.seed, &self.seed);
        set(&mut settings.hash, &self.hash);
        set(&mut settings.plies, &self.plies);
        set(&mut settings.natural, &self.natural);
        set(&mut settings.budget, &self.budget().map_err(Error::Settings)?);
        settings.check().map_err(Error::Settings)?;
        Ok(settings)
    }

    fn budget(&self) -> Result<Option<SearchLimits>, String> {
        let clock = self.tc.as_deref().map(parse_clock).transpose()?;
        let move_time = self.movetime.map(|time| parse_move_time(&time.to_string())).transpose()?;
        let nodes = self.nodes.map(|nodes| SearchLimits::Nodes(nodes.max(1)));
        let depth = self.depth.map(|depth| SearchLimits::Depth(depth.max(1)));
        Ok(nodes.or(depth).or(clock).or(move_time))
    }
}

#[cfg(test)]
mod tests {
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
        std::fs::write(&path, "rfp_depth, int, 9\n").unwrap();
        let error = Program::try_parse_from(&words[..4]).unwrap().spsa.settings().unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(Program::try_parse_from(["spsa", "--out", "run"]).is_err());
    }
}
