//! The tools of the command line.
//!
//! A tool is a module with its arguments and a `run`, one line in [`Command`] and one arm in [`run`].
//! What a tool decides is in its settings, which are the trainer's own and derive their options.

#[macro_use]
mod output;

mod annotate;
mod average;
mod datagen;
mod experiment;
mod fit;
mod label;
mod level;
mod match_;
mod player;
mod prepare;
mod progress;
mod report;
mod selftrain;
mod settings;
mod shell;
mod train;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dyad_engine::control::Control;
use dyad_engine::engine::MAX_THREADS;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files;
use dyad_formats::input::give_standard_input;
use dyad_formats::weights_file;
use dyad_levels::file::MoveModel;
use dyad_trainer::arena::openings::{self, Opening};
use dyad_trainer::base::number::number;

/// A UCI chess engine that trains its own evaluation.
#[derive(Parser)]
#[command(name = "dyad", version = VERSION, after_help = HELP, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Annotate games: evaluations, mistakes, better lines and the reasons, as PGN and HTML
    Annotate(annotate::Arguments),
    /// Train on self-play games, one generation after another, until stopped
    Selftrain(Box<selftrain::Arguments>),
    /// Train by comparison: the desired move of each sample against its siblings
    Train(Box<train::Arguments>),
    /// Fit weights to the results and scores of samples, without a search (Texel tuning)
    Fit(fit::Arguments),
    /// Generate training data: games of weights against themselves
    Datagen(datagen::Arguments),
    /// Make a sample file from games (PGN) and positions (EPD)
    Prepare(Box<prepare::Arguments>),
    /// Replace the desired moves and scores of a sample file by those of a search
    Label(label::Arguments),
    /// Play a match of two players, each opening with both colors
    Match(Box<match_::Arguments>),
    /// Write an HTML report of a training
    Report(report::Arguments),
    /// Write the weighted mean of several weights files
    Average(average::Arguments),
    /// Train levels that play like human players
    Level(Box<level::Arguments>),
    /// Repeat the experiments of a paper
    Experiment(experiment::Arguments),
    /// Print completions for a shell
    Completions(shell::CompletionsArguments),
    /// Print a manual page, for `man -l -`
    Man(shell::ManArguments),
}

/// The commands of the help, under the headings of what a user wants to do.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Explain", &["annotate"]),
    ("Train", &["selftrain", "train", "fit", "datagen", "prepare", "label"]),
    ("Measure", &["match", "report", "average"]),
    ("Levels and papers", &["level", "experiment"]),
    ("Shell", &["completions", "man"]),
];

/// With the revision, since strength and results differ from one to the next.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("DYAD_REVISION"), ")");

const HELP: &str = "\
Without arguments Dyad speaks UCI on standard input and output, for a chess GUI.
UCI commands given as arguments are carried out in order, for example
  dyad bench
  dyad \"position startpos moves e2e4\" \"go depth 12\"
The command `help` lists them: dyad help
In a browser tab Dyad plays, explains and learns too: docs/browser.md in the repository";

impl Arguments {
    /// Reads the arguments of the program; the help of a tool has the defaults of its settings.
    fn parse_with_defaults() -> Result<Arguments, clap::Error> {
        let matches = Arguments::command_with_defaults().try_get_matches()?;
        Arguments::from_arg_matches(&matches)
    }

    fn command_with_defaults() -> clap::Command {
        let command = Arguments::command();
        let help = help(&command);
        command
            .help_template(help)
            .mut_subcommand("match", |tool| with_default(tool, "nodes", &match_::NODES.to_string()))
            .mut_subcommand("selftrain", selftrain::with_presets)
    }
}

/// Shows the default of an argument that has none of its own.
fn with_default(tool: clap::Command, name: &str, default: &str) -> clap::Command {
    tool.mut_arg(name, |argument| {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        argument.help(format!("{help} [default: {default}]"))
    })
}

/// The template of the help, with the commands in their groups.
fn help(command: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} dyad [COMMAND]\n       dyad [UCI COMMAND]...\n".to_string();
    for (heading, names) in GROUPS {
        text += &format!("\n{heading}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            text += &format!("  {name:<12} {}\n", about.map(ToString::to_string).unwrap_or_default());
        }
    }
    text + "\nOptions:\n{options}{after-help}\n"
}

/// What a tool ends with: nothing, or a sentence for the user.
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Runs the tool that the arguments of the program name.
pub fn run() -> ExitCode {
    give_standard_input(std::io::stdin());
    let command = match Arguments::parse_with_defaults() {
        Ok(arguments) => arguments.command,
        // Also the help and the version, which are no failure.
        Err(error) => {
            output::record(error.print().and_then(|()| std::io::stdout().flush()));
            return status(Ok(()), ExitCode::from(error.exit_code() as u8));
        }
    };
    let outcome = match command {
        Command::Prepare(arguments) => prepare::run(*arguments),
        Command::Label(arguments) => label::run(arguments),
        Command::Train(arguments) => train::run(*arguments),
        Command::Fit(arguments) => fit::run(arguments),
        Command::Average(arguments) => average::run(arguments),
        Command::Datagen(arguments) => datagen::run(arguments),
        Command::Match(arguments) => match_::run(*arguments),
        Command::Selftrain(arguments) => selftrain::run(*arguments),
        Command::Level(arguments) => level::run(*arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments, Arguments::command_with_defaults()),
        Command::Man(arguments) => shell::man(&arguments, Arguments::command_with_defaults()),
        Command::Experiment(arguments) => experiment::run(arguments),
        Command::Annotate(arguments) => annotate::run(arguments),
    };
    status(outcome, ExitCode::SUCCESS)
}

/// The exit status: `success`, unless the tool failed or what it printed was lost.
fn status(outcome: Outcome, success: ExitCode) -> ExitCode {
    let lost = || output::failure().map_or(Ok(()), |error| Err(format!("cannot print: {error}").into()));
    match outcome.and_then(|()| lost()) {
        Ok(()) => success,
        Err(error) => {
            eprintln!("dyad: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A control that Ctrl-C stops; a second Ctrl-C ends the program at once.
fn stop_on_interrupt() -> Arc<Control> {
    let control = Arc::new(Control::new(false));
    let stopped = control.clone();
    let installed = ctrlc::set_handler(move || {
        if stopped.stopped() {
            std::process::exit(130);
        }
        eprintln!("stopping; once more to stop at once");
        stopped.stop();
    });
    if let Err(error) = installed {
        eprintln!("Ctrl-C ends the program at once: {error}");
    }
    control
}

/// The threads of a tool.
#[derive(clap::Args)]
#[group(skip)]
struct Threads {
    /// Threads, which do not change results [default: one per processor]
    #[arg(long, value_name = "N", value_parser = number(1..=MAX_THREADS))]
    threads: Option<usize>,
}

impl Threads {
    /// Number of threads: as given, or one per processor.
    fn count(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }
}

/// Reads a file of a move model.
fn load_model(path: &Path) -> Result<MoveModel, String> {
    const MAX_BYTES: u64 = 4 << 20;
    let name = path.display();
    let text = files::read(path, MAX_BYTES).map_err(|error| format!("cannot read {name}: {error}"))?;
    MoveModel::from_json(&text).map_err(|error| format!("{name}: {error}"))
}

/// The model in a file, or the built-in one.
fn model_or_embedded(path: Option<&Path>) -> Result<Arc<MoveModel>, String> {
    path.map_or_else(|| Ok(MoveModel::embedded()), |path| load_model(path).map(Arc::new))
}

/// The weights that an argument names: a file, `default` or `material`. What there is to note about a file goes to
/// standard error.
fn load_weights(name: &Path) -> Result<Arc<Weights>, String> {
    let weights = weights_file::named(name).map_err(|error| match name.exists() {
        true => error.to_string(),
        false => format!("{error}; weights are a file, `default` or `material`"),
    })?;
    for note in &weights.meta.notes {
        eprintln!("{}: {note}", name.display());
    }
    Ok(weights)
}

/// Plies that are taken from the games of an opening file.
const OPENING_PLIES: usize = 16;

/// The openings of a file. What cannot be read goes to standard error and is skipped.
fn read_openings(path: &Path) -> Result<Vec<Opening>, Error> {
    openings::read(path, OPENING_PLIES, |broken| eprintln!("left out: {broken}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::any::TypeId;

    /// The tools with their names in front: those of `level`, not this.
    fn tools(command: &clap::Command, names: &[String]) -> Vec<(Vec<String>, clap::Command)> {
        let inner: Vec<_> = command
            .get_subcommands()
            .flat_map(|tool| tools(tool, &[names, &[tool.get_name().to_string()]].concat()))
            .collect();
        if inner.is_empty() { vec![(names.to_vec(), command.clone())] } else { inner }
    }

    /// Whether an argument takes numbers, by what it makes of words.
    fn takes_numbers(argument: &clap::Arg) -> bool {
        let number = argument.get_value_parser().type_id();
        [TypeId::of::<f64>(), TypeId::of::<u64>(), TypeId::of::<u32>(), TypeId::of::<usize>(), TypeId::of::<i32>()]
            .into_iter()
            .any(|of| number == of)
    }

    #[test]
    fn numbers_are_finite_and_errors_have_the_range() {
        let all = tools(&Arguments::command_with_defaults(), &["dyad".into()]);
        let mut count = 0;
        for (names, tool) in &all {
            for argument in tool.get_arguments().filter(|argument| takes_numbers(argument)) {
                let Some(name) = argument.get_long().map(|name| format!("--{name}")) else { continue };
                let numbers = argument.get_num_args().map_or(1, |range| range.min_values());
                for text in ["nan", "inf", "1e400", "x"] {
                    let words =
                        names.iter().chain([&name]).map(String::as_str).chain(std::iter::repeat_n(text, numbers));
                    let error = Arguments::command_with_defaults().try_get_matches_from(words).unwrap_err();
                    assert_eq!(error.kind(), clap::error::ErrorKind::ValueValidation, "{names:?} {name} {text}");
                    count += 1;
                }
            }
        }
        assert!(count > 100, "{count}");
        let parsed = Arguments::command_with_defaults().try_get_matches_from(["dyad", "train", "--depth", "17"]);
        assert!(parsed.unwrap_err().to_string().contains("'--depth <PLIES>': expected a whole number, 1 to 16"));
    }

    #[test]
    fn every_option_has_help_without_a_full_stop() {
        for (names, tool) in tools(&Arguments::command_with_defaults(), &["dyad".into()]) {
            for argument in tool.get_opts() {
                let name = argument.get_long().unwrap_or_default();
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty() && !help.ends_with('.'), "{names:?} --{name}: {help}");
            }
        }
    }

    #[test]
    fn the_help_of_a_tool_has_the_defaults_of_its_settings() {
        let mut command = Arguments::command_with_defaults();
        let mut help = |tool: &str| command.find_subcommand_mut(tool).expect(tool).render_help().to_string();
        let label = dyad_trainer::data::label::LabelSettings::default();
        assert!(help("label").contains(&format!("Nodes per position [default: {}]", label.nodes)));
        assert!(help("match").contains("Nodes per move [default: 20000]"));
        let train = help("train");
        for default in ["Objective [default: perceptron]", "Learning rate [default: 1]"] {
            assert!(train.contains(default), "{default}: {train}");
        }
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let command = Arguments::command();
        let mut commands: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command_with_defaults().debug_assert();
    }
}
