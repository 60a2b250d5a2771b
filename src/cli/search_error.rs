//! `dyad weights search-error`: how far scores of searches are from those of a stronger search.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::samples::SampleFile;
use dyad_trainer::fit::search_error::search_errors;

use super::Outcome;

/// Thousandths of a squared point: search errors are 1 to 100 of these.
const THOUSANDTHS: f64 = 1e3;

#[derive(Args)]
pub struct Arguments {
    /// Samples labeled by the searches to judge (`dyad label --weights A.json --nodes 60000`); all are compared with the
    /// first
    #[arg(required = true)]
    samples: Vec<PathBuf>,
    /// The same samples labeled by a stronger search, with results of their games
    #[arg(long, value_name = "SAMPLES")]
    judge: PathBuf,
}

/// Prints the search error of each file in thousandths of a squared point.
pub fn run(arguments: Arguments) -> Outcome {
    let judge = SampleFile::open(&arguments.judge)?;
    let files = arguments.samples.iter().map(|path| SampleFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    let errors = search_errors(&judge, &files)?;
    for (file, found) in files.iter().zip(&errors) {
        let [mean, error, even, odd, difference, by] = [
            found.mean.value,
            found.mean.error,
            found.halves[0],
            found.halves[1],
            found.difference.value,
            found.difference.error,
        ]
        .map(|value| THOUSANDTHS * value);
        println!(
            "{}: search error {mean:.3} +- {error:.3} (halves {even:.3}, {odd:.3}), {difference:+.3} +- {by:.3} to the \
             first, {} positions of {} games",
            file.path().display(),
            found.positions,
            found.games
        );
    }
    if errors.len() > 1 {
        println!("in thousandths of a squared point, +- one standard error; smaller is better");
    }
    Ok(())
}
