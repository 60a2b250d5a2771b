//! The tools of the command line, as far as they are not UCI commands.
//!
//! A tool is a module with its arguments and a `run`, one line in [`Command`] and one arm in [`run`].
//! What a tool decides is in its settings, which are the trainer's own; the arguments only fill them
//! in, so that a JSON file can say the same ([`settings`]).

#[macro_use]
mod output;

mod annotate;
mod average;
mod calibrate;
mod convert;
mod datagen;
mod experiment;
mod fit;
mod label;
mod level;
mod match_;
mod prepare;
mod progress;
mod quality;
mod renamed;
mod report;
mod selftrain;
mod settings;
mod shell;
mod spsa;
mod suite;
mod train;
mod weights;

use std::any::TypeId;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::levels::file::MoveModel;
use dyad_formats::error::Error;
use dyad_trainer::arena::openings::{self, Opening};
use dyad_trainer::base::parallel::check_threads;

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
    /// Solve test suites: EPD files with known answers, and Lichess puzzles
    Suite(suite::Arguments),
    /// Train on self-play games, one generation after another, until stopped
    Selftrain(Box<selftrain::Arguments>),
    /// Train by comparison: the desired move of each sample against its siblings
    Train(Box<train::Arguments>),
    /// Fit weights to the results and scores of samples, without a search
    Fit(fit::Arguments),
    /// Generate training data: games of weights against themselves
    Datagen(datagen::Arguments),
    /// Make a sample file from games (PGN, viriformat) and positions (EPD, bulletformat)
    Prepare(Box<prepare::Arguments>),
    /// Replace the desired moves and scores of a sample file by those of a search
    Label(label::Arguments),
    /// Convert games between PGN, viriformat, binpack and bulletformat
    Convert(convert::Arguments),
    /// Play a match of two players, each opening with both colors
    Match(Box<match_::Arguments>),
    /// Tune constants of the search or weights by games (SPSA)
    Spsa(Box<spsa::Arguments>),
    /// Write an HTML report of a training, or of weights
    Report(report::Arguments),
    /// Average and measure weights files
    Weights(weights::Arguments),
    /// Train, measure and calibrate levels that play like people; estimate ratings
    Level(Box<level::Arguments>),
    /// Repeat the experiments of a paper, or make the built-in weights
    Experiment(experiment::Arguments),
    /// Print completions for a shell
    Completions(shell::CompletionsArguments),
    /// Print a manual page, for `man -l -`
    Man(shell::ManArguments),
}

/// The commands of the help, under the headings of what a user wants to do.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Explain and solve", &["annotate", "suite"]),
    ("Train", &["selftrain", "train", "fit", "datagen", "prepare", "label", "convert"]),
    ("Measure", &["match", "spsa", "report", "weights"]),
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
The command `help` lists them: dyad help";

impl Arguments {
    /// Reads the arguments of the program. The help of a tool tells the defaults of its settings.
    fn parse_with_defaults() -> Arguments {
        let parsed = Arguments::command_with_defaults().try_get_matches();
        let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches));
        let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        parsed.unwrap_or_else(|error| renamed::advise(error, &words).exit())
    }

    fn command_with_defaults() -> clap::Command {
        let command = Arguments::command();
        let help = help(&command);
        command
            .help_template(help)
            .mut_subcommand("prepare", |tool| {
                settings::tell_defaults(tool, &dyad_trainer::data::prepare::Settings::default())
            })
            .mut_subcommand("label", |tool| {
                settings::tell_defaults(tool, &dyad_trainer::data::label::Settings::default())
            })
            .mut_subcommand("train", |tool| settings::tell_defaults(tool, &train::defaults()))
            .mut_subcommand("fit", |tool| {
                settings::tell_defaults(tool, &dyad_trainer::fit::regression::Settings::default())
            })
            .mut_subcommand("match", |tool| settings::tell_defaults(tool, &match_::defaults()))
            .mut_subcommand("spsa", |tool| {
                settings::tell_defaults(tool, &dyad_trainer::tune::state::Settings::default())
            })
            .mut_subcommand("datagen", |tool| {
                settings::tell_defaults(tool, &dyad_trainer::selftrain::generator::GeneratorSettings::default())
            })
            .mut_subcommand("selftrain", |tool| tool.after_help(selftrain::presets()))
            .mut_subcommands(with_finite_numbers)
    }
}

/// The template of the help, with the commands in their groups.
fn help(command: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_string();
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
    let outcome = match Arguments::parse_with_defaults().command {
        Command::Prepare(arguments) => prepare::run(*arguments),
        Command::Label(arguments) => label::run(arguments),
        Command::Train(arguments) => train::run(*arguments),
        Command::Fit(arguments) => fit::run(arguments),
        Command::Weights(arguments) => weights::run(arguments),
        Command::Suite(arguments) => suite::run(&arguments),
        Command::Datagen(arguments) => datagen::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Match(arguments) => match_::run(&arguments),
        Command::Spsa(arguments) => spsa::run(&arguments),
        Command::Selftrain(arguments) => selftrain::run(&arguments),
        Command::Level(arguments) => level::run(*arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments, Arguments::command_with_defaults()),
        Command::Man(arguments) => shell::man(&arguments, Arguments::command_with_defaults()),
        Command::Experiment(arguments) => experiment::run(arguments),
        Command::Annotate(arguments) => annotate::run(arguments),
    };
    let lost = || output::failure().map_or(Ok(()), |error| Err(format!("cannot print: {error}").into()));
    match outcome.and_then(|()| lost()) {
        Ok(()) => ExitCode::SUCCESS,
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

/// Threads to use, or jobs at a time: those asked for, or one for each processor. Errors call them `name`.
fn threads(name: &str, asked: Option<usize>) -> Result<usize, String> {
    let threads = asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    check_threads(name, threads).map(|()| threads)
}

/// The weights that an argument names: a file, `default` or `material`. What there is to note about a file goes to
/// standard error.
fn load_weights(name: &Path) -> Result<Arc<Weights>, String> {
    let weights = Weights::named(name).map_err(|error| error.to_string())?;
    for note in &weights.meta.notes {
        eprintln!("{}: {note}", name.display());
    }
    Ok(weights)
}

/// The model in a file, or the one built in.
fn model_or_embedded(path: Option<&Path>) -> Result<Arc<MoveModel>, String> {
    path.map_or_else(|| Ok(MoveModel::embedded()), |path| MoveModel::load(path).map(Arc::new))
}

/// The openings of a file. What cannot be read goes to standard error and is skipped.
fn read_openings(path: &Path, plies: usize) -> Result<Vec<Opening>, Error> {
    openings::read(path, plies, |broken| eprintln!("left out: {broken}"))
}

/// A year: no game and no search takes longer.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Makes all numbers of a tool that may have a fraction finite ones.
fn with_finite_numbers(tool: clap::Command) -> clap::Command {
    let is_fraction = |argument: &clap::Arg| argument.get_value_parser().type_id() == TypeId::of::<f64>();
    tool.mut_subcommands(with_finite_numbers).mut_args(|argument| match is_fraction(&argument) {
        true => argument.value_parser(parse_number),
        false => argument,
    })
}

/// A number for arguments: neither infinite nor `nan`, which the standard reads too.
fn parse_number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("'{text}' is not a finite number"))
}

/// A time in seconds, for arguments.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim().parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.filter(|seconds| *seconds <= LONGEST);
    seconds.ok_or_else(|| format!("'{text}' is not a number of seconds from 0 to a year"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the options of all tools that take numbers with a fraction, behind those of the tools, and how many
    /// numbers.
    fn fractions(tool: &clap::Command, names: &[String]) -> Vec<(Vec<String>, usize)> {
        let is_fraction = |argument: &&clap::Arg| argument.get_value_parser().type_id() == TypeId::of::<f64>();
        let own = tool.get_arguments().filter(is_fraction).filter_map(|argument| {
            let name = format!("--{}", argument.get_long()?);
            let count = argument.get_num_args().map_or(1, |range| range.min_values());
            Some(([names, &[name]].concat(), count))
        });
        let inner =
            tool.get_subcommands().flat_map(|tool| fractions(tool, &[names, &[tool.get_name().into()]].concat()));
        own.chain(inner).collect()
    }

    #[test]
    fn numbers_are_finite() {
        let all = fractions(&Arguments::command_with_defaults(), &["dyad".into()]);
        assert!(all.len() > 20, "{all:?}");
        for (names, count) in all {
            for text in ["nan", "inf", "1e400"] {
                let words = names.iter().map(String::as_str).chain(std::iter::repeat_n(text, count));
                let parsed = Arguments::command_with_defaults().try_get_matches_from(words);
                let kind = parsed.map_err(|error| error.kind()).err();
                assert_eq!(kind, Some(clap::error::ErrorKind::ValueValidation), "{names:?} {text}");
            }
        }
        for text in ["nan", "inf", "1e400", "x", ""] {
            assert!(parse_number(text).is_err() && parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_help_of_a_tool_tells_the_defaults_of_its_settings() {
        let mut command = Arguments::command_with_defaults();
        let mut help = |tool: &str| command.find_subcommand_mut(tool).expect(tool).render_help().to_string();
        let label = dyad_trainer::data::label::Settings::default();
        assert!(help("label").contains(&format!("Nodes for each position [default: {}]", label.nodes)));
        assert!(help("match").contains("Nodes for each move [default: 20000]"));
        let train = help("train");
        assert!(train.contains("What is to be reached [default: perceptron]"), "{train}");
        assert!(train.contains("Seconds between checkpoints [default: 60]"), "{train}");
        assert!(train.contains("how far ahead the desired move must be [default: 100]"), "{train}");
        assert!(train.contains("weight of the score at the desired leaf [default: 0]"), "{train}");
        assert!(train.contains("Learning rate [default: 1]"), "{train}");
        assert!(!train.contains("[default: material as in Table I, all else zero] [default"), "{train}");
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
