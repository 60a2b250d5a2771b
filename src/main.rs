//! Dyad: a UCI chess engine that trains its own evaluation.
//!
//! Without arguments the program speaks UCI over standard input and output. Arguments that are UCI
//! commands are carried out in order instead (`dyad bench`, `dyad "go perft 5"`), which is how test
//! frameworks use engines; anything else is a tool with options of its own and goes to [`cli`].
//!
//! Printing and reading standard input happen in this package only. Chess is in `dyad-engine`,
//! learning in `dyad-trainer`.

mod bench;
mod browser;
mod cli;
mod display;
mod info;
mod opponent;
mod paths;
mod perft;
mod session;
mod tables;
mod training;
mod uci;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let ended = match arguments.first() {
        None => uci::run_on_stdin(),
        Some(first) if uci::is_command(first) => uci::run_commands(&arguments),
        Some(_) => Ok(cli::run()),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("dyad: cannot start: {error}");
        ExitCode::FAILURE
    })
}
