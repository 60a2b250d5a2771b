//! `dyad average`: several weights files made one.

use std::ops::Bound;
use std::path::PathBuf;

use clap::Args;
use dyad_engine::eval::units::MAX_SCALE;
use dyad_formats::files::check_output;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;
use dyad_trainer::base::number::number;
use dyad_trainer::fit::averaging::{in_units_of_search, mean};
use dyad_trainer::fit::calibration::{calibrate_by_file, set_scale};
use serde_json::json;

use super::fit::{describe, stem};
use super::{Outcome, load_weights};

#[derive(Args)]
pub struct Arguments {
    /// Weights: files, `default` or `material`
    #[arg(required = true)]
    weights: Vec<PathBuf>,
    /// Weight of each file in the mean, in their order, separated by commas [default: equal]
    #[arg(long, value_name = "SHARE", value_delimiter = ',', value_parser = number(SHARE))]
    shares: Vec<f64>,
    /// Sample file with results, to which scale and win rate are fitted [default: scale of the mean, win rate of the
    /// first file]
    #[arg(long)]
    samples: Option<PathBuf>,
    /// Scale in 1/1024, by which search multiplies values; win rate and centipawns stay [default: as fitted, or of the
    /// mean]
    #[arg(long, value_parser = number(1..=MAX_SCALE))]
    scale: Option<i32>,
    /// Weights file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

/// Range of shares.
const SHARE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1e6));

/// Writes the mean of the files.
pub fn run(arguments: Arguments) -> Outcome {
    let shares = arguments.shares()?;
    let inputs = arguments.weights.iter().chain(&arguments.samples);
    check_output(&arguments.out, inputs)?;
    let sets = arguments.weights.iter().map(|path| load_weights(path)).collect::<Result<Vec<_>, _>>()?;
    let of: Vec<_> = sets
        .iter()
        .zip(&shares)
        .map(|(set, share)| json!({ "id": set.id(), "share": share, "made": set.meta.provenance }))
        .collect();
    let pairs: Vec<_> = sets.iter().map(AsRef::as_ref).zip(shares.iter().copied()).collect();
    let samples = arguments.samples.as_deref().map(SampleFile::open).transpose()?;
    let mut made = json!({ "by": "dyad average", "of": of });
    if let Some(samples) = &samples {
        made["samples"] = describe(samples);
    }
    if let Some(scale) = arguments.scale {
        made["scale"] = scale.into();
    }
    let mut weights = in_units_of_search(&mean(&pairs), made)?;
    weights.meta.name = stem(&arguments.out);
    weights.units.win_rate = sets[0].units.win_rate;
    if let Some(samples) = &samples
        && !calibrate_by_file(&mut weights, samples)?
    {
        eprintln!("{}: too little is known of the results; the scale stays", samples.path.display());
    }
    if let Some(scale) = arguments.scale {
        set_scale(&mut weights, scale)?;
    }
    weights_file::save(&weights, &arguments.out)?;
    println!("{} ({}), scale {}/1024", weights.meta.name, weights.id(), weights.units.scale);
    Ok(())
}

impl Arguments {
    fn shares(&self) -> Result<Vec<f64>, String> {
        let count = self.weights.len();
        let shares = if self.shares.is_empty() { vec![1.0; count] } else { self.shares.clone() };
        match shares.len() == count {
            true => Ok(shares),
            false => Err(format!("--shares has {} numbers for {count} files", shares.len())),
        }
    }
}
