//! `dyad report`: a training on one page, or weights on another.

use std::path::{Path, PathBuf};

use clap::Args;
use dyad_formats::error::Error;
use dyad_formats::files::{OwnFolder, check_output, write_atomic};
use dyad_trainer::learn::folder::REPORT;
use dyad_trainer::report::{RunData, is_foreign, page, weights_page};

use super::{Outcome, load_weights};

#[derive(Args)]
pub struct Arguments {
    /// Folder of a training, or weights to explore: a file, `default` or `material`
    of: PathBuf,
    /// HTML file to write [default: report.html in the folder, or NAME.html next to the weights]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the page and says where it is.
pub fn run(arguments: &Arguments) -> Outcome {
    let of = &arguments.of;
    let (default, text) = if of.is_dir() {
        (of.join(REPORT), page(&RunData::load(of)?))
    } else {
        (of.with_extension("html"), weights_page(&display_name(of), &*load_weights(of)?))
    };
    let output = arguments.out.clone().unwrap_or(default);
    // A link under a name that the user did not choose is not followed.
    let folder = output.parent().filter(|_| arguments.out.is_none());
    let _own = folder.map(OwnFolder::new).transpose()?;
    if arguments.of.is_dir() {
        check_no_file_of(&arguments.of, &output)?;
    }
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

/// What the page calls weights: their file and the folder it is in, since many are called `best.json`.
fn display_name(path: &Path) -> String {
    let parts: Vec<_> = path.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}
