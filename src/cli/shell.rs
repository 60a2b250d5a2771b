//! `dyad completions` and `dyad man`: what a shell and the manual want to know of the arguments.

use clap::{Args, Command};
use clap_complete::Shell;

use super::Outcome;

#[derive(Args)]
pub struct CompletionsArguments {
    /// Shell
    shell: Shell,
}

#[derive(Args)]
pub struct ManArguments {
    /// Command, such as `match` or `level train` [default: the page of the program]
    command: Vec<String>,
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments, mut program: Command) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "dyad", &mut text);
    print!("{}", String::from_utf8(text)?);
    Ok(())
}

/// Prints a page of the manual.
pub fn man(arguments: &ManArguments, mut program: Command) -> Outcome {
    // The pages of commands have the full usage only then.
    program.build();
    let (mut page, mut title) = (&program, "dyad".to_string());
    for name in &arguments.command {
        page = page.find_subcommand(name).ok_or_else(|| format!("{title}: no command is called '{name}'"))?;
        title += &format!("-{name}");
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(page.clone()).title(title).render(&mut text)?;
    print!("{}", String::from_utf8(text)?);
    Ok(())
}
