//! `dyad weights quality`: how well weights agree with the scores of engine games, or with results.

use std::path::PathBuf;

use clap::Args;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::ScoreSide;
use dyad_trainer::data::positions::TEST_PERCENT;
use dyad_trainer::fit::auc::{Auc, auc};
use dyad_trainer::fit::quality::{QualitySettings, measure};

use super::prepare::Side;
use super::{Outcome, load_weights, threads};

#[derive(Args)]
pub struct Arguments {
    /// Weights: files, `default` or `material`.
    #[arg(required = true)]
    weights: Vec<PathBuf>,
    /// Games with scores in their comments; their held-out part is looked at.
    #[arg(long, required_unless_present = "auc")]
    games: Vec<PathBuf>,
    /// How often a position of a game that White won is valued above one of a game that Black won: the test positions of
    /// this sample file.
    #[arg(long, value_name = "SAMPLES", conflicts_with_all = ["games", "scores"])]
    auc: Option<PathBuf>,
    /// From whose side the scores are given [default: told by the games]
    #[arg(long, value_enum)]
    scores: Option<Side>,
    /// Percent of the games that are held out; the same as in `dyad prepare`.
    #[arg(long, default_value_t = TEST_PERCENT)]
    test_percent: f64,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
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
    let scores = arguments.scores.map(ScoreSide::from);
    let settings = QualitySettings { games: arguments.games, scores, test_percent: arguments.test_percent };
    let threads = threads("threads", arguments.threads)?;
    for path in &arguments.weights {
        let weights = load_weights(path)?;
        let quality = measure(&weights, &settings, threads)?;
        println!(
            "{}: R2 {:.4} (k {:.3}), linear part alone {:.4}, {} positions",
            path.display(),
            quality.r2,
            quality.k,
            quality.r2_linear,
            quality.positions
        );
        if quality.broken > 0 {
            eprintln!("{} games could not be read; `dyad prepare` tells where and why", quality.broken);
        }
    }
    Ok(())
}
