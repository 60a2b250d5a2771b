//! `dyad weights quality`: how well weights agree with the scores of engine games, or with results.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::ScoreSide;
use dyad_trainer::base::number::number;
use dyad_trainer::data::positions::{PERCENT, TEST_PERCENT};
use dyad_trainer::fit::auc::{Auc, auc};
use dyad_trainer::fit::quality::{QualitySettings, measure};

use super::{Outcome, Threads, load_weights};

#[derive(Args)]
pub struct Arguments {
    /// Weights: files, `default` or `material`
    #[arg(required = true)]
    weights: Vec<PathBuf>,
    /// Games with scores in their comments, whose held-out part is measured; may be repeated
    #[arg(long, value_name = "FILE", required_unless_present = "auc")]
    games_file: Vec<PathBuf>,
    /// Measure the area under the ROC curve instead: how often a test position of SAMPLES from a game that White won is
    /// valued above one from a game that Black won
    #[arg(long, value_name = "SAMPLES", conflicts_with_all = ["games_file", "scores", "test_percent", "threads"])]
    auc: Option<PathBuf>,
    /// Side that the scores are given for: `white` or `mover` [default: detected from the games]
    #[arg(long, value_name = "SIDE")]
    scores: Option<ScoreSide>,
    /// Percentage of the games that are held out, as in `dyad prepare`
    #[arg(long, value_name = "PERCENT", value_parser = number(PERCENT), default_value_t = TEST_PERCENT)]
    test_percent: f64,
    #[command(flatten)]
    threads: Threads,
}

/// Prints R2 for each weights file, or the area under the curve.
pub fn run(arguments: Arguments) -> Outcome {
    if let Some(path) = &arguments.auc {
        let samples = SampleFile::open(path)?;
        for name in &arguments.weights {
            let Auc { proportion: share, won, lost, games } = auc(&load_weights(name)?, &samples)?;
            let (name, positions) = (name.display(), won + lost);
            let [value, low, high] = [share.value, share.low, share.high].map(|share| 100.0 * share);
            println!(
                "{name}: AUC {value:.2} % ({low:.2} to {high:.2}), {positions} positions of {games} decided games"
            );
        }
        return Ok(());
    }
    let Arguments { games_file: games, scores, test_percent, threads, .. } = arguments;
    let settings = QualitySettings { games, scores, test_percent };
    for path in &arguments.weights {
        let weights = load_weights(path)?;
        let quality = measure(&weights, &settings, threads.count())?;
        println!(
            "{}: R2 {:.4} (k {:.3}), linear part alone {:.4}, {} positions",
            path.display(),
            quality.r2,
            quality.k,
            quality.r2_linear,
            quality.positions
        );
        if quality.broken > 0 {
            eprintln!("{} games could not be read; `dyad prepare` shows where and why", quality.broken);
        }
        if !quality.unread.is_empty() {
            eprintln!("{}", quality.unread);
        }
    }
    Ok(())
}
