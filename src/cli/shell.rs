//! `dyad completions` and `dyad man`: what a shell and the manual want to know of the arguments.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

use super::Outcome;

#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

#[derive(Args)]
pub struct ManArguments {
    /// A tool; the program itself without one
    tool: Option<String>,
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments, mut program: Command) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "dyad", &mut text);
    Ok(io::stdout().write_all(&text)?)
}

/// Prints a page of the manual.
pub fn man(arguments: &ManArguments, mut program: Command) -> Outcome {
    // So that the page of a tool knows whose it is.
    program.build();
    let (page, title) = match &arguments.tool {
        None => (program, "dyad".to_string()),
        Some(name) => {
            let tool = program.find_subcommand(name).ok_or_else(|| format!("there is no tool {name}"))?;
            (tool.clone(), format!("dyad-{name}"))
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).title(title).render(&mut text)?;
    Ok(io::stdout().write_all(&text)?)
}
