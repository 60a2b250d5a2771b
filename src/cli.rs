//! The tools of the command line, as far as they are not UCI commands.
//!
//! A tool is one more subcommand of [`Arguments`] and one more arm in [`run`].

use std::process::ExitCode;

use clap::Parser;

/// A UCI chess engine that trains its own evaluation.
#[derive(Parser)]
#[command(version, after_help = HELP)]
struct Arguments {}

const HELP: &str = "\
Without arguments Dyad speaks UCI on standard input and output, for a chess GUI.
UCI commands given as arguments are carried out in order, for example
  dyad bench
  dyad \"position startpos moves e2e4\" \"go depth 12\"
The command `help` lists them: dyad help";

/// Runs the tool that the arguments of the program name.
pub fn run() -> ExitCode {
    let Arguments {} = Arguments::parse();
    ExitCode::SUCCESS
}
