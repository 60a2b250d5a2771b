//! `dyad report`: a training on one page.

use std::path::{Path, PathBuf};

use clap::Args;
use dyad_formats::error::Error;
use dyad_formats::files::{OwnFolder, check_output, write_atomic};
use dyad_trainer::learn::folder::REPORT;
use dyad_trainer::report::{RunData, is_foreign, page};

use super::Outcome;

#[derive(Args)]
pub struct Arguments {
    /// Folder of a training
    of: PathBuf,
    /// HTML file to write [default: report.html in the folder]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the page and says where it is.
pub fn run(arguments: &Arguments) -> Outcome {
    let text = page(&RunData::load(&arguments.of)?);
    let output = arguments.out.clone().unwrap_or_else(|| arguments.of.join(REPORT));
    // A link under a name that the user did not choose is not followed.
    let folder = output.parent().filter(|_| arguments.out.is_none());
    let _own = folder.map(OwnFolder::new).transpose()?;
    check_no_file_of(&arguments.of, &output)?;
    if arguments.out.is_none() && !output.is_symlink() && is_foreign(&output) {
        return Err(format!("{} is a file of another program: name the page with --out", output.display()).into());
    }
    check_output(&output, [arguments.of.as_path()])?;
    write_atomic(&output, text.as_bytes()).map_err(Error::file("write", &output))?;
    println!("{}", output.display());
    Ok(())
}

/// Refuses to put the page in the place of what a training has in its folder.
fn check_no_file_of(folder: &Path, output: &Path) -> Result<(), String> {
    let inside =
        folder.canonicalize().is_ok_and(|folder| output.canonicalize().is_ok_and(|path| path.starts_with(folder)));
    let is_page = output.extension().is_some_and(|ending| ending == "html");
    match inside && !is_page {
        true => Err(format!("{} is a file of the training, which would be lost", output.display())),
        false => Ok(()),
    }
}
