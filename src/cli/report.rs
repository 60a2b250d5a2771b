//! `dyad report`: a training on one page.

use std::path::PathBuf;

use clap::Args;
use dyad_trainer::base::atomic::write_atomic;
use dyad_trainer::base::error::Error;
use dyad_trainer::learn::folder::REPORT;
use dyad_trainer::report::{RunData, page, parse_focus};

use super::Outcome;

#[derive(Args)]
pub struct Arguments {
    /// The folder of the run
    folder: PathBuf,
    /// Where the page goes [default: report.html in the folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The piece whose pairs are shown, as Nf5
    #[arg(long, default_value = "Nf5")]
    pair: String,
}

/// Writes the page and says where it is.
pub fn run(arguments: &Arguments) -> Outcome {
    let focus = parse_focus(&arguments.pair)?;
    let run = RunData::load(&arguments.folder)?;
    let output = arguments.output.clone().unwrap_or_else(|| arguments.folder.join(REPORT));
    write_atomic(&output, page(&run, focus).as_bytes()).map_err(Error::file("write", &output))?;
    println!("{}", output.display());
    Ok(())
}
