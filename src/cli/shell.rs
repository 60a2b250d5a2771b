//! `dyad completions`: what a shell wants to know of the arguments.

use clap::{Args, Command};
use clap_complete::Shell;

use super::Outcome;

#[derive(Args)]
pub struct CompletionsArguments {
    /// Shell
    shell: Shell,
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments, mut program: Command) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "dyad", &mut text);
    print!("{}", String::from_utf8(text)?);
    Ok(())
}
