//! How well an evaluation agrees with the scores of engine searches.
//!
//! The measure is explained variance. Over quiet positions of engine games (the side to move is not in check, the move
//! played neither captures nor promotes, the score is below ten pawns) let t = 1 / (1 + exp(-score / 1.2)) from White's
//! side, the score in pawns, y the static evaluation, and p = 1 / (1 + exp(-k y)) with the k that fits best; then R2 =
//! 1 - mean((p - t)^2) / var(t). The unit of y only scales k: by convention it is 200 search units, so that all k are
//! comparable. Only held-out games count. They are drawn as for every sample file, so weights trained on prepared files
//! of the same games have not seen them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::board::sign;
use dyad_engine::eval::{Evaluator, Weights};
use dyad_formats::error::Error;
use dyad_formats::game::{GameRecord, Unread};
use dyad_formats::packed::Sample;
use dyad_formats::pgn::{GameText, GameTexts, check_side, side_of_scores};
use dyad_formats::score::ScoreSide;

use crate::base::parallel::ordered_for_each;
use crate::data::positions::{Filters, check_percent, is_held_out};
use crate::fit::logistic::sigmoid;

/// Pawns that multiply the odds by e.
const SCORE_PAWNS: f64 = 1.2;
/// Scores of at least this are skipped, in pawns.
const LARGEST_SCORE: f64 = 10.0;
/// Search units per unit of y.
const UNIT: f64 = 200.0;
const GAMES_IN_BATCH: usize = 64;

/// The games to measure on.
#[derive(Clone, Debug)]
pub struct QualitySettings {
    /// PGN files with scores.
    pub games: Vec<PathBuf>,
    /// Point of view of the scores; `None` to detect it in each file.
    pub scores: Option<ScoreSide>,
    /// Percentage of the games that are held out; the others are not used.
    pub test_percent: f64,
}

/// The measured quality.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Positions.
    pub positions: usize,
    /// Fraction of the variance explained by the evaluation used in the search, endgame knowledge included.
    pub r2: f64,
    /// The k that fits best.
    pub k: f64,
    /// Fraction explained by the tapered sum alone, which is what is trained.
    pub r2_linear: f64,
    /// Games that could not be read.
    pub broken: u64,
    /// What the games have in a form that is not known.
    pub unread: Unread,
}

/// A target, the evaluation and its linear part, all from White's side.
type Point = [f64; 3];

/// Measures weights on the held-out games.
///
/// # Errors
/// When a file cannot be read, its scores are given from another side or from one that cannot be found, or the held-out
/// games have no quiet position with a score.
pub fn measure(weights: &Arc<Weights>, settings: &QualitySettings, threads: usize) -> Result<Quality, Error> {
    check_percent(settings.test_percent)?;
    if let Some(side) = settings.scores {
        check_side(settings.games.iter().map(PathBuf::as_path), side)?;
    }
    let (mut points, mut broken, mut not_read): (Vec<Point>, u64, Unread) = (Vec::new(), 0, Unread::default());
    for path in &settings.games {
        let (broken_here, unread) = points_of(path, weights, settings, threads, &mut points)?;
        broken += broken_here;
        not_read += unread;
    }
    let unread = if broken > 0 { format!(" ({broken} games could not be read)") } else { String::new() };
    if points.is_empty() {
        return Err(Error::Settings(format!("no held-out game has a quiet position with a score{unread}")));
    }
    let targets: Vec<f64> = points.iter().map(|point| point[0]).collect();
    if targets.iter().all(|target| *target == targets[0]) {
        let all = targets.len();
        return Err(Error::Settings(format!("all {all} scores are the same: there is nothing to explain{unread}")));
    }
    let column = |column: usize| points.iter().map(|point| point[column]).collect::<Vec<f64>>();
    let (r2, k) = explained(&targets, &column(1));
    let (r2_linear, _) = explained(&targets, &column(2));
    Ok(Quality { positions: points.len(), r2, k, r2_linear, broken, unread: not_read })
}

fn unclear(path: &Path) -> Error {
    let problem = "the side of the scores cannot be found in the games: give it with --scores white or --scores mover";
    Error::content(path, "the scores", problem.to_string())
}

/// Appends the points of a file; returns the number of games that could not be read, and what is not read of others.
fn points_of(
    path: &Path,
    weights: &Arc<Weights>,
    settings: &QualitySettings,
    threads: usize,
    points: &mut Vec<Point>,
) -> Result<(u64, Unread), Error> {
    let side = match settings.scores {
        Some(side) => side,
        None => side_of_scores(path)?.ok_or_else(|| unclear(path))?,
    };
    let mut texts = GameTexts::open(path)?;
    let batches = std::iter::from_fn(move || {
        let batch: Vec<_> = texts.by_ref().take(GAMES_IN_BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    });
    let (mut broken, mut unread) = (0, Unread::default());
    ordered_for_each(
        threads,
        batches,
        || Ok::<_, Error>(Evaluator::new(weights.clone())),
        |evaluator, batch: Vec<Result<GameText, Error>>| {
            let (mut points, mut broken, mut unread) = (Vec::new(), 0, Unread::default());
            for text in batch {
                match text?.parse(Some(side)) {
                    Ok(game) => {
                        points_of_game(&game, evaluator, settings, &mut points);
                        unread += game.unread;
                    }
                    Err(_) => broken += 1,
                }
            }
            Ok((points, broken, unread))
        },
        |(batch, more_broken, more_unread)| {
            points.extend(batch);
            broken += more_broken;
            unread += more_unread;
            Ok(())
        },
    )?;
    Ok((broken, unread))
}

fn points_of_game(game: &GameRecord, evaluator: &mut Evaluator, settings: &QualitySettings, points: &mut Vec<Point>) {
    if !is_held_out(game.hash(), settings.test_percent) {
        return;
    }
    let filters =
        Filters { scored: true, largest_score: Some(LARGEST_SCORE), quiet: true, forced: true, ..Filters::default() };
    for candidate in filters.positions(game, true, |_| ()) {
        if let Ok(Sample { board, score: Some(score), .. }) = candidate.sample.unpack() {
            let sign = f64::from(sign(board.side_to_move()));
            let target = sigmoid(sign * score.pawns() / SCORE_PAWNS);
            evaluator.reset(&board);
            let value = f64::from(evaluator.evaluate(&board)) / UNIT;
            let raw = evaluator.evaluate_raw(&board);
            let linear = f64::from(evaluator.weights().units.scaled(raw)) / UNIT;
            points.push([target, sign * value, sign * linear]);
        }
    }
}

/// R2 of the best k, and that k.
pub(super) fn explained(targets: &[f64], values: &[f64]) -> (f64, f64) {
    let count = targets.len() as f64;
    let mean = targets.iter().sum::<f64>() / count;
    let variance = targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / count;
    let error = |k: f64| {
        let squares = targets.iter().zip(values).map(|(target, value)| (sigmoid(k * value) - target).powi(2));
        squares.sum::<f64>() / count
    };
    let k = golden_section(0.0, 4.0, error);
    (1.0 - error(k) / variance, k)
}

/// The minimum of a unimodal function.
fn golden_section(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut fa, mut fb) = (function(a), function(b));
    while high - low > 1e-4 {
        if fa < fb {
            (high, b, fb) = (b, a, fa);
            a = high - ratio * (high - low);
            fa = function(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + ratio * (high - low);
            fb = function(b);
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::hash;

    #[test]
    fn explained_variance_of_known_noise() {
        let values: Vec<f64> = (0..20_000).map(|i| hash::unit(hash::mix(i)) * 6.0 - 3.0).collect();
        let noise = |i: usize| (hash::unit(hash::mix(i as u64 ^ 0xABCD)) - 0.5) * 0.2;
        let targets: Vec<f64> = values.iter().enumerate().map(|(i, v)| sigmoid(0.8 * v) + noise(i)).collect();
        let (r2, k) = explained(&targets, &values);
        let mean = targets.iter().sum::<f64>() / 20_000.0;
        let variance = targets.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 20_000.0;
        let expected = 1.0 - 0.2f64.powi(2) / 12.0 / variance;
        assert!((r2 - expected).abs() < 0.002, "{r2} {expected}");
        assert!((k - 0.8).abs() < 0.01, "{k}");
        assert!(explained(&targets, &vec![0.0; 20_000]).0.abs() < 0.01);
    }
}
