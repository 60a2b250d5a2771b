//! Calibration: the scale of weights and their model of winning chances.
//!
//! Training determines the ratios of the weights, not the meaning of a value. The search compares values with margins
//! in standard units and users read centipawns; for both, +100 centipawns, 360 units, should be the value that wins
//! half of the games. So a model is fitted to values and results: at each phase a game is won with probability s(u v -
//! c) and lost with s(-u v - c), s the logistic function; the rest is drawn. This is an ordered logit (McCullagh 1980),
//! symmetric in the colors; its likelihood is concave, so Newton's method finds the best u and c. In the terms of
//! [`WinRate`], a = c / u and b = 1 / u.
//!
//! One pair (u, c) over all phases gives the scale; pairs by phase give the polynomials, fitted by least squares as in
//! Stockfish's win rate model.

use dyad_engine::eval::units::{MAX_SCALE, SCALE_ONE};
use dyad_engine::eval::{PHASE_MAX, Weights, WinRate};
use dyad_engine::value::WINS_HALF;
use dyad_formats::error::Error;
use dyad_formats::packed::{Packed, Sample};
use dyad_formats::samples::{BLOCK, SampleFile};
use dyad_formats::score::GameResult;

use crate::base::logistic::{Prediction, best_factor, logit, sigmoid};

/// The value that wins half of the games, in search units.
pub const STANDARD_UNIT: f64 = WINS_HALF as f64;

/// Number of phase bins.
const PHASES: usize = 16;
/// A bin with fewer positions is skipped.
const FEWEST: usize = 500;
/// Positions to use at most: more make no difference.
const ENOUGH: usize = 200_000;
/// Values are clamped to this many standard deviations: a game lost from there is an outlier.
const LARGEST: f64 = 8.0;

/// A position's evaluation from White's side, its phase, and the result of the game.
#[derive(Clone, Copy, Debug)]
struct Observation {
    /// Evaluation, in any unit.
    value: f64,
    /// Phase, 0 to [`PHASE_MAX`].
    phase: i32,
    /// Result of the game.
    result: GameResult,
}

/// Sets the scale and the win rate model of weights from the samples with a result. Returns false, and changes nothing,
/// if results do not correlate with values.
///
/// # Errors
/// When a sample is damaged.
pub(crate) fn calibrate<'a>(weights: &mut Weights, samples: impl Iterator<Item = &'a Packed>) -> Result<bool, Error> {
    let Some((scale, win_rate)) = model(&observe(weights, samples)?) else { return Ok(false) };
    (weights.units.scale, weights.units.win_rate) = (scale, win_rate);
    Ok(true)
}

/// Sets the scale of weights by the expected score of their values, and the standard win rate model, which then says
/// how much of the score is draws. Returns false, and changes nothing, if results do not correlate with values.
///
/// Quick games have few draws, and without draws half of the games are won with no advantage at all: by [`calibrate`] a
/// pawn would become a queen. The expected score is robust. It follows the logistic function of the value, and a
/// standard unit is the value with the same expected score as in the standard model.
///
/// # Errors
/// When a sample is damaged.
pub fn calibrate_by_points(weights: &mut Weights, samples: &[Packed]) -> Result<bool, Error> {
    // A starting point close enough to logits for Newton's method.
    let first = 1.0 / STANDARD_UNIT;
    let prediction = |o: Observation| Prediction { z: first * o.value, alpha: 0.0, target: o.result.points() };
    let predictions: Vec<Prediction> = observe(weights, samples.iter())?.into_iter().map(prediction).collect();
    let scale = first * best_factor(&predictions) * odds_of_e(&WinRate::default()) * f64::from(SCALE_ONE);
    if predictions.is_empty() || !(1.0..1e6).contains(&scale) {
        return Ok(false);
    }
    weights.units.scale = scale.round() as i32;
    weights.units.win_rate = WinRate::default();
    Ok(true)
}

/// Observations of the samples with a result.
fn observe<'a>(weights: &Weights, samples: impl Iterator<Item = &'a Packed>) -> Result<Vec<Observation>, Error> {
    let mut observations = Vec::new();
    for sample in samples.filter(|sample| sample.has_result()) {
        let sample = sample.unpack().map_err(Error::Settings)?;
        let Some(result) = sample.result else { continue };
        let value = f64::from(weights.value(weights.sums(&sample.board), &sample.board));
        observations.push(Observation { value, phase: weights.phase(&sample.board), result });
    }
    Ok(observations)
}

/// Calibrates weights by the samples of a file that have a result, or a subset of them. Returns false, and changes
/// nothing, if there are too few or results do not correlate with values.
///
/// # Errors
/// When a sample is damaged.
pub fn calibrate_by_file(weights: &mut Weights, samples: &SampleFile) -> Result<bool, Error> {
    let step = samples.samples.len().div_ceil(ENOUGH).max(1);
    let some = samples.samples.chunks(BLOCK).flat_map(|block| block.iter().step_by(step));
    let some: Vec<&Packed> = some.filter(|sample| sample.has_result()).collect();
    if some.len() >= FEWEST { calibrate(weights, some.into_iter()) } else { Ok(false) }
}

/// The score in pawns that multiplies the odds by e, from the samples with a score and a result; that of the standard
/// model if these do not determine it.
///
/// # Errors
/// When a sample is damaged.
pub fn pawns_of_e(samples: &[Packed]) -> Result<f64, Error> {
    let mut predictions = Vec::new();
    for sample in samples.iter().filter(|sample| sample.has_score() && sample.has_result()) {
        let sample = sample.unpack().map_err(Error::Settings)?;
        let (Some(score), Some(result)) = (sample.white_score(), sample.result) else { continue };
        predictions.push(Prediction { z: score.pawns(), alpha: 0.0, target: result.points() });
    }
    let pawns = 1.0 / best_factor(&predictions);
    let standard = odds_of_e(&WinRate::default()) / STANDARD_UNIT;
    Ok(if predictions.len() >= FEWEST && (0.1..10.0).contains(&pawns) { pawns } else { standard })
}

/// Changes the scale of weights. Chances and centipawns of a position stay; the search sees values larger or smaller
/// relative to its margins.
///
/// # Errors
/// When the scale is too small to represent the chances; nothing is changed then.
pub fn set_scale(weights: &mut Weights, scale: i32) -> Result<(), Error> {
    let win_rate = weights.units.win_rate.times(f64::from(scale) / f64::from(weights.units.scale));
    if scale < 1 || !win_rate.is_valid() {
        let fitted = weights.units.scale;
        return Err(Error::Settings(format!(
            "a scale of {scale}/1024 is too small for these weights, whose own is {fitted}: their chances could not be represented"
        )));
    }
    weights.units.win_rate = win_rate;
    weights.units.scale = scale;
    Ok(())
}

/// The value with an expected score of 73 % (odds of e), in the units of the weights.
pub fn expectation_scale(weights: &Weights) -> f64 {
    odds_of_e(&weights.units.win_rate) / factor(weights)
}

/// The same in search units.
fn odds_of_e(win_rate: &WinRate) -> f64 {
    let [win, draw, _] = win_rate.chances(WINS_HALF, PHASE_MAX / 2).map(f64::from);
    let expected = ((win + draw / 2.0) / 1000.0).clamp(0.51, 0.99);
    STANDARD_UNIT / logit(expected)
}

/// 100 centipawns in the units of the weights.
pub fn pawn(weights: &Weights) -> f64 {
    STANDARD_UNIT / factor(weights)
}

/// Search units per unit of the weights.
pub(crate) fn factor(weights: &Weights) -> f64 {
    f64::from(weights.units.scale) / f64::from(SCALE_ONE)
}

/// A scale for weights of which `unit` units are one of those with the scale `scale`: values keep their meaning.
pub(crate) fn scale_in_units_of(scale: i32, unit: f64) -> Result<i32, Error> {
    let kept = (f64::from(scale) / unit).round();
    match (1.0..=f64::from(MAX_SCALE)).contains(&kept) {
        true => Ok(kept as i32),
        false => {
            let problem = format!("the scale would be {kept}/{SCALE_ONE}, which must be 1 to {MAX_SCALE}");
            Err(Error::Settings(problem))
        }
    }
}

/// Calibrates an evaluation that was fitted to scores, without results: sets the scale so that one pawn of the scores
/// is one [`STANDARD_UNIT`]. `logits` is one unit of the weights in logits, and `pawns` multiply the odds by e.
pub(crate) fn calibrate_by_scores(weights: &mut Weights, logits: f64, pawns: f64) {
    let scale = logits * pawns * STANDARD_UNIT * f64::from(SCALE_ONE);
    weights.units.scale = scale.round().clamp(1.0, 1e6) as i32;
    weights.units.win_rate = WinRate::default();
}

/// Gives `weights` the scale at which they agree with the scores of the samples as `other` does: both are best
/// multiplied by the same factor. `pawns` multiply the odds of a score by e.
///
/// A fit alone shrinks values, because the best prediction is closer to the mean than its target. The search compares
/// values with margins, and these would become relatively larger with each fit.
///
/// # Errors
/// When a sample is damaged, or scores do not correlate with values.
pub fn scale_like(weights: &mut Weights, other: &Weights, samples: &[Packed], pawns: f64) -> Result<(), Error> {
    let some = samples.iter().step_by(samples.len().div_ceil(ENOUGH).max(1));
    let samples: Vec<_> = some.map(Packed::unpack).collect::<Result<_, _>>().map_err(Error::Settings)?;
    let agreement = |weights: &Weights| {
        let prediction = |sample: &Sample| {
            let target = sigmoid(sample.white_score()?.pawns() / pawns);
            let value = f64::from(weights.value(weights.sums(&sample.board), &sample.board));
            Some(Prediction { z: value * factor(weights) / STANDARD_UNIT, alpha: 0.0, target })
        };
        let predictions: Vec<_> = samples.iter().filter_map(prediction).collect();
        if predictions.is_empty() { f64::NAN } else { best_factor(&predictions) }
    };
    let scale = f64::from(weights.units.scale) * agreement(weights) / agreement(other);
    if !(1.0..1e6).contains(&scale) {
        return Err(Error::Settings("values and scores have too little to do with each other".to_string()));
    }
    set_scale(weights, scale.round() as i32)
}

/// The scale at which [`STANDARD_UNIT`] wins half of the games, and the win rate model of the scaled values; `None` if
/// results do not correlate with values.
fn model(observations: &[Observation]) -> Option<(i32, WinRate)> {
    let all = Curve::fit(observations.iter())?;
    let scale = STANDARD_UNIT / all.even * f64::from(SCALE_ONE);
    if !(1.0..1e6).contains(&scale) {
        return None;
    }
    let scale = scale.round();
    let factor = scale / f64::from(SCALE_ONE);
    let mut points = Vec::new();
    for step in 0..PHASES {
        let inside = |o: &&Observation| (o.phase as usize * PHASES / (PHASE_MAX as usize + 1)) == step;
        let some: Vec<&Observation> = observations.iter().filter(inside).collect();
        if some.len() < FEWEST {
            continue;
        }
        if let Some(curve) = Curve::fit(some.iter().copied()) {
            let phase = some.iter().map(|o| f64::from(o.phase)).sum::<f64>() / some.len() as f64;
            points.push((phase / f64::from(PHASE_MAX), some.len() as f64, factor * curve.even, factor * curve.slope));
        }
    }
    let win_rate = WinRate {
        a: polynomial(points.iter().map(|&(x, weight, a, _)| (x, weight, a)), factor * all.even),
        b: polynomial(points.iter().map(|&(x, weight, _, b)| (x, weight, b)), factor * all.slope),
    };
    let flat = |value: f64| [(factor * value).round().max(1.0) as i32, 0, 0, 0];
    let fallback = WinRate { a: flat(all.even), b: flat(all.slope) };
    Some((scale as i32, if win_rate.is_valid() { win_rate } else { fallback }))
}

/// A win rate at one phase.
struct Curve {
    /// The value that wins half of the games.
    even: f64,
    /// The change of value that multiplies the odds by e.
    slope: f64,
}

impl Curve {
    /// The maximum-likelihood curve.
    fn fit<'a>(observations: impl Iterator<Item = &'a Observation> + Clone) -> Option<Curve> {
        let count = observations.clone().count() as f64;
        let spread = (observations.clone().map(|o| o.value * o.value).sum::<f64>() / count).sqrt();
        if spread.is_nan() || spread <= 0.0 {
            return None;
        }
        // With values in units of their spread this start suits any weights.
        let (mut u, mut c) = (1.0, 0.5);
        for _ in 0..100 {
            let (gradient, hessian) = derivatives(observations.clone(), spread, u, c);
            let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
            if determinant <= 0.0 || !determinant.is_finite() {
                return None;
            }
            let du = (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant;
            let dc = (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant;
            // Draws need c > 0, and the iteration must not leave that half-plane.
            let step = if c + dc <= 0.0 { 0.5 * c / -dc } else { 1.0 };
            (u, c) = (u + step * du, c + step * dc);
            if du.abs().max(dc.abs()) < 1e-9 {
                break;
            }
        }
        (u > 1e-6 && c > 0.0).then(|| Curve { even: spread * c / u, slope: spread / u })
    }
}

/// Gradient of the log likelihood in (u, c), and its negative Hessian.
fn derivatives<'a>(
    observations: impl Iterator<Item = &'a Observation>,
    spread: f64,
    u: f64,
    c: f64,
) -> ([f64; 2], [f64; 3]) {
    let (mut gradient, mut hessian) = ([0.0; 2], [1e-9, 0.0, 1e-9]);
    for observation in observations {
        let v = (observation.value / spread).clamp(-LARGEST, LARGEST);
        let (win, loss) = (sigmoid(u * v - c), sigmoid(-u * v - c));
        // The chances are s(x); s' = s (1 - s), and a draw's chance is 1 - win - loss.
        let (dw, dl) = (win * (1.0 - win), loss * (1.0 - loss));
        let (slope, chance) = match observation.result {
            GameResult::WhiteWins => ([dw * v, -dw], win),
            GameResult::BlackWins => ([-dl * v, -dl], loss),
            GameResult::Draw => ([(dl - dw) * v, dw + dl], 1.0 - win - loss),
        };
        let chance = chance.max(1e-12);
        gradient[0] += slope[0] / chance;
        gradient[1] += slope[1] / chance;
        // Fisher information instead of the second derivatives: always positive, and equal in expectation.
        let draw = (1.0 - win - loss).max(1e-12);
        for (slope, chance) in [([dw * v, -dw], win), ([-dl * v, -dl], loss), ([(dl - dw) * v, dw + dl], draw)] {
            let chance = chance.max(1e-12);
            hessian[0] += slope[0] * slope[0] / chance;
            hessian[1] += slope[0] * slope[1] / chance;
            hessian[2] += slope[1] * slope[1] / chance;
        }
    }
    (gradient, hessian)
}

/// Weighted least squares fit of a cubic through points (x, weight, y); of lower degree with few points.
fn polynomial(points: impl Iterator<Item = (f64, f64, f64)> + Clone, otherwise: f64) -> [i32; 4] {
    let degree = match points.clone().count() {
        0 => return [otherwise.round().max(1.0) as i32, 0, 0, 0],
        count => (count - 1).min(3),
    };
    let mut matrix = [[0.0; 5]; 4];
    for (x, weight, y) in points {
        let powers = [1.0, x, x * x, x * x * x];
        for (row, &power) in matrix.iter_mut().zip(&powers) {
            powers.iter().zip(row.iter_mut()).for_each(|(other, sum)| *sum += weight * power * other);
            row[4] += weight * power * y;
        }
    }
    solve(&mut matrix, degree + 1).map(|coefficient| coefficient.round() as i32)
}

/// Gaussian elimination with pivoting on the first `size` rows and columns; the others are zero.
fn solve(matrix: &mut [[f64; 5]; 4], size: usize) -> [f64; 4] {
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()));
        matrix.swap(column, pivot.unwrap_or(column));
        for row in 0..size {
            if row != column && matrix[column][column] != 0.0 {
                let factor = matrix[row][column] / matrix[column][column];
                let subtracted = matrix[column];
                matrix[row].iter_mut().zip(subtracted).for_each(|(value, other)| *value -= factor * other);
            }
        }
    }
    let mut solution = [0.0; 4];
    for row in 0..size {
        if matrix[row][row].abs() > 1e-12 {
            solution[row] = matrix[row][4] / matrix[row][row];
        }
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::sign;
    use dyad_formats::hash;
    use dyad_formats::score::Score;

    /// Results drawn from a known model, with values in units `unit` times those of the search.
    fn play(model: &WinRate, unit: f64, count: u64) -> Vec<Observation> {
        (0..count)
            .map(|index| {
                let random = |salt| hash::unit(hash::fold(index, salt));
                let phase = (random(1) * f64::from(PHASE_MAX)) as i32;
                let value = (random(2) + random(3) + random(4) - 1.5) * 800.0;
                let chances = model.chances(value as i32, phase).map(|chance| f64::from(chance) / 1000.0);
                let result = match random(5) {
                    r if r < chances[0] => GameResult::WhiteWins,
                    r if r < chances[0] + chances[1] => GameResult::Draw,
                    _ => GameResult::BlackWins,
                };
                Observation { value: value * unit, phase, result }
            })
            .collect()
    }

    /// Scores that follow the logistic function determine their unit; a few samples do not.
    #[test]
    fn scores_and_results_give_the_pawns_of_e() {
        let mut samples = dyad_formats::testing::walk(4_000);
        for (index, sample) in samples.iter_mut().enumerate() {
            let random = |salt| hash::unit(hash::fold(index as u64, salt));
            let white = (random(1) - 0.5) * 6.0;
            let won = random(2) < crate::base::logistic::sigmoid(white / 1.7);
            let mover = f64::from(sign(sample.board.side_to_move())) * white;
            sample.score = Some(Score::centipawns(100.0 * mover));
            sample.result = Some(if won { GameResult::WhiteWins } else { GameResult::BlackWins });
        }
        let packed: Vec<Packed> = samples.iter().map(Packed::new).collect();
        let pawns = pawns_of_e(&packed).unwrap();
        assert!((1.55..1.85).contains(&pawns), "{pawns}");
        assert_eq!(pawns_of_e(&packed[..100]).unwrap(), pawns_of_e(&[]).unwrap());
    }

    /// Equal weights in any unit get the scale of the other set; other weights get a scale at which they agree as well;
    /// without agreement nothing changes.
    #[test]
    fn weights_take_the_scale_of_others() {
        let mut samples = dyad_formats::testing::walk(4_000);
        let other = Weights::embedded();
        for (index, sample) in samples.iter_mut().enumerate() {
            let noise = 600.0 * (hash::unit(hash::mix(index as u64)) - 0.5);
            let value = f64::from(other.value(other.sums(&sample.board), &sample.board)) * factor(&other);
            let mover = f64::from(sign(sample.board.side_to_move())) * value;
            sample.score = Some(Score::centipawns((mover + noise) / 3.6));
        }
        let packed: Vec<Packed> = samples.iter().map(Packed::new).collect();
        for scale in [200, 5_000] {
            let mut weights = Weights::clone(&other);
            weights.units.scale = scale;
            scale_like(&mut weights, &other, &packed, 1.0).unwrap();
            assert!((weights.units.scale - other.units.scale).abs() <= 1, "{}", weights.units.scale);
        }
        let mut pieces = Weights::material();
        scale_like(&mut pieces, &other, &packed, 1.0).unwrap();
        let [ours, theirs] = [&pieces, &*other].map(|weights| {
            let value = samples.iter().map(|s| f64::from(weights.value(weights.sums(&s.board), &s.board)).abs());
            value.sum::<f64>() * factor(weights)
        });
        assert!((0.7..1.3).contains(&(ours / theirs)), "{ours} {theirs}");
        let before = pieces.units;
        assert!(scale_like(&mut pieces, &other, &[], 1.0).is_err());
        assert_eq!(pieces.units, before);
    }

    /// Without draws the scale is that of the expected score: weights whose values predict scores as the standard model
    /// does keep theirs.
    #[test]
    fn expected_scores_give_the_scale_when_draws_are_rare() {
        let mut weights = Weights::material();
        let per_unit = 1.0 / expectation_scale(&weights);
        let samples: Vec<Packed> = dyad_formats::testing::walk(6_000)
            .into_iter()
            .enumerate()
            .map(|(index, sample)| {
                let value = f64::from(weights.value(weights.sums(&sample.board), &sample.board));
                let wins = hash::unit(hash::mix(index as u64)) < crate::base::logistic::sigmoid(value * per_unit);
                let result = if wins { GameResult::WhiteWins } else { GameResult::BlackWins };
                Packed::new(&dyad_formats::packed::Sample { result: Some(result), ..sample })
            })
            .collect();
        for before in [300, 4000] {
            weights.units.scale = before;
            assert!(calibrate_by_points(&mut weights, &samples).unwrap());
            assert!(
                (f64::from(weights.units.scale) / f64::from(SCALE_ONE) - 1.0).abs() < 0.1,
                "{}",
                weights.units.scale
            );
        }
        assert!(!calibrate_by_points(&mut weights, &[]).unwrap());
        // Invalid pieces on every square, and a result.
        let damaged = Packed([255; dyad_formats::packed::SAMPLE_BYTES]);
        assert!(calibrate_by_points(&mut weights, &[damaged]).is_err());
    }

    #[test]
    fn another_scale_keeps_the_chances() {
        let before = Weights::material();
        let mut after = before.clone();
        set_scale(&mut after, 3 * before.units.scale / 2).unwrap();
        for raw in [-900, -75, 40, 400] {
            let [value, larger] = [&before, &after].map(|weights| weights.units.scaled(raw));
            assert!((larger - 3 * value / 2).abs() <= 2, "{value} {larger}");
            assert!(
                (before.units.win_rate.centipawns(value, 0) - after.units.win_rate.centipawns(larger, 0)).abs() <= 1
            );
            let [was, is] = [before.units.win_rate.chances(value, 0), after.units.win_rate.chances(larger, 0)];
            assert!(was.iter().zip(is).all(|(&was, is)| was.abs_diff(is) <= 3), "{was:?} {is:?}");
        }
        for scale in [0, 1] {
            let error = set_scale(&mut after, scale).unwrap_err().to_string();
            assert!(error.contains(&format!("{scale}/1024 is too small")), "{error}");
        }
        assert_eq!(after.units.scale, 3 * before.units.scale / 2);
    }

    #[test]
    fn a_known_model_is_found_again() {
        // Overall 360 units win half of the games, but more are needed in the endgame.
        let known = WinRate { a: [468, -216, 0, 0], b: [126, 72, 0, 0] };
        for unit in [0.5, 1.0, 3.0] {
            let (scale, found) = model(&play(&known, unit, 400_000)).unwrap();
            let factor = unit * f64::from(scale) / f64::from(SCALE_ONE);
            assert!((factor - 1.0).abs() < 0.03, "unit {unit}: scale {scale}");
            for phase in (0..=PHASE_MAX).step_by(1_000) {
                for value in [-720, -180, 0, 90, 540] {
                    let [expected, found] = [known, found].map(|model| model.chances(value, phase));
                    let gap = expected.iter().zip(found).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
                    assert!(gap < 30, "unit {unit} phase {phase} value {value}: {expected:?} {found:?}");
                }
            }
        }
    }

    #[test]
    fn values_without_meaning_are_refused() {
        let noise = play(&WinRate::default(), 0.0, 10_000);
        assert!(model(&noise).is_none());
        assert!(model(&[]).is_none());
    }

    #[test]
    fn few_phases_make_a_flat_model() {
        let mut games = play(&WinRate::default(), 1.0, 50_000);
        games.iter_mut().for_each(|game| game.phase = 5_000);
        let (_, found) = model(&games).unwrap();
        assert_eq!([found.a[1..].to_vec(), found.b[1..].to_vec()].concat(), [0; 6]);
    }
}
