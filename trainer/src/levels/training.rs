//! The training of the move model: the negative log-likelihood of the moves played, by gradient descent.
//!
//! This is comparison training with a listwise softmax over all moves of a position. The gradient is that of a mixture:
//! each depth learns from the positions that it explains. A penalty on differences between neighboring spline knots
//! keeps coefficients smooth in the rating, so that bands share what they cannot learn alone, and a penalty on the size
//! of feature coefficients keeps out unsupported ones. Sums are in a fixed order in 64-bit floats: a training depends
//! on its settings and its records alone.

use dyad_formats::hash;
use dyad_levels::analysis::DEPTHS;
use dyad_levels::features::NAMED_FEATURES;
use dyad_levels::model::{
    COEFFICIENTS, FIRST_DEPTH_FEATURE, FIRST_FEATURE, FIRST_SQUARE_FEATURE, GATES, PARAMETERS, SPLINE_KNOTS,
    SkillLevel, VALUE_CURVES, basis, start,
};

use crate::base::optim::{Adam, BETAS};
use crate::levels::records::{MoveExample, Pool};

/// Epochs.
pub const EPOCHS: u32 = 20;
/// Positions in a batch.
const BATCH: usize = 256;
/// Initial learning rate (Adam), which falls linearly to zero.
const RATE: f64 = 0.02;
/// Penalty on differences of a coefficient between neighboring rating knots, and for squares.
const SMOOTH: f64 = 1e-4;
const SMOOTH_SQUARES: f64 = 3e-4;
/// Penalty on the size of a feature coefficient, and of one for squares.
const SHRINK: f64 = 3e-6;
const SHRINK_SQUARES: f64 = 1e-5;
/// Seed of the shuffles.
const SEED: u64 = 1;

/// The settings of a training, for the file of its model.
pub fn settings() -> serde_json::Value {
    serde_json::json!({
        "epochs": EPOCHS, "batch": BATCH, "rate": RATE, "seed": SEED,
        "smooth": SMOOTH, "smooth-squares": SMOOTH_SQUARES, "shrink": SHRINK, "shrink-squares": SHRINK_SQUARES,
        "board-offset": Pool::Board.offset(), "fics-offset": Pool::Fics.offset(),
        "chess-com-offset": Pool::ChessCom.offset(),
    })
}

/// Means over examples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelQuality {
    /// Number of examples.
    pub count: usize,
    /// Negative log-likelihood of the move played.
    pub loss: f64,
    /// Fraction of the positions in which the likeliest move was played.
    pub accuracy: f64,
}

/// Trains a model. `report` is called after each epoch with its number and mean loss.
pub fn train(examples: &[&MoveExample], mut report: impl FnMut(u32, f64)) -> Vec<f64> {
    let mut parameters = start();
    let (mut means, mut squares) = (vec![0.0; PARAMETERS], vec![0.0; PARAMETERS]);
    let batches = examples.len().div_ceil(BATCH);
    let steps = f64::from(EPOCHS) * batches as f64;
    let mut step = 0;
    for epoch in 0..EPOCHS {
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let seed = hash::fold(SEED, u64::from(epoch));
        order.sort_by_key(|&index| hash::fold(seed, index as u64));
        let mut sum = 0.0;
        for batch in order.chunks(BATCH) {
            let mut gradient = vec![0.0; PARAMETERS];
            for &index in batch {
                sum += add_gradient(&parameters, examples[index], 1.0 / batch.len() as f64, &mut gradient);
            }
            add_penalty(&parameters, &mut gradient);
            let rate = RATE * (1.0 - f64::from(step) / steps);
            step += 1;
            let update = Adam::new(rate, BETAS, step);
            let moments = means.iter_mut().zip(&mut squares);
            for ((parameter, slope), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
                *parameter -= update.step(mean, square, slope);
            }
        }
        report(epoch + 1, sum / examples.len().max(1) as f64);
    }
    parameters
}

/// Adds the gradient of an example's loss, times `share`, and returns the loss.
fn add_gradient(parameters: &[f64], example: &MoveExample, share: f64, gradient: &mut [f64]) -> f64 {
    let level = SkillLevel::new(parameters, example.rating);
    let basis = basis(example.rating);
    // By the derivative with respect to a coefficient at the example's rating, before its exponential.
    let mut add = |coefficient: usize, slope: f64| {
        for (knot, weight) in basis.iter().enumerate() {
            gradient[coefficient * SPLINE_KNOTS.len() + knot] += share * slope * weight;
        }
    };
    let choice = &example.input;
    let prediction = level.predict(choice);
    let likelihood = prediction.moves[example.played].max(1e-12);
    let chosen = &prediction.by_depth[example.played];
    // Posterior probability of each depth given the move played.
    let responsibility: [f64; DEPTHS] =
        std::array::from_fn(|depth| prediction.depth_weights[depth] * chosen[depth] / likelihood);
    for (depth, (share, responsibility)) in prediction.depth_weights.iter().zip(&responsibility).enumerate() {
        for gate in 0..GATES {
            add(SkillLevel::gate(depth, gate), (share - responsibility) * f64::from(choice.gates[gate]));
        }
    }
    let mut slopes = [[0.0; VALUE_CURVES]; DEPTHS];
    let mut scales = [0.0; DEPTHS];
    for (index, candidate) in choice.moves.iter().enumerate() {
        let played = f64::from(u8::from(index == example.played));
        let squares = level.squares(candidate);
        let changes: [f64; DEPTHS] =
            std::array::from_fn(|depth| responsibility[depth] * (prediction.by_depth[index][depth] - played));
        let (mut together, mut scaled) = (0.0, 0.0);
        for (depth, change) in changes.into_iter().enumerate() {
            together += change;
            scaled += change * level.coefficients[SkillLevel::square_scale(depth)];
            scales[depth] += change * squares;
            for (sum, &value) in slopes[depth].iter_mut().zip(&candidate.values[depth]) {
                *sum += change * f64::from(value);
            }
        }
        for &(feature, x) in &candidate.features {
            let (feature, x) = (usize::from(feature), f64::from(x));
            if feature < NAMED_FEATURES {
                add(FIRST_FEATURE + feature, together * x);
                for (depth, change) in changes.iter().enumerate() {
                    add(SkillLevel::depth_feature(depth, feature), change * x);
                }
            } else {
                add(FIRST_FEATURE + feature, scaled * x);
            }
        }
    }
    for (depth, change) in scales.into_iter().enumerate() {
        let at = SkillLevel::square_scale(depth);
        add(at, change * level.coefficients[at]);
    }
    for (depth, slopes) in slopes.iter().enumerate() {
        for (slope, &change) in slopes.iter().enumerate() {
            let at = SkillLevel::value(depth, slope);
            add(at, change * level.coefficients[at]);
        }
    }
    -likelihood.ln()
}

fn add_penalty(parameters: &[f64], gradient: &mut [f64]) {
    for coefficient in 0..COEFFICIENTS {
        let (smooth, shrink) = match coefficient {
            FIRST_DEPTH_FEATURE.. => (SMOOTH, SHRINK),
            FIRST_SQUARE_FEATURE.. => (SMOOTH_SQUARES, SHRINK_SQUARES),
            FIRST_FEATURE.. => (SMOOTH, SHRINK),
            _ => (SMOOTH, 0.0),
        };
        let knots = coefficient * SPLINE_KNOTS.len()..(coefficient + 1) * SPLINE_KNOTS.len();
        for at in knots.clone() {
            gradient[at] += shrink * parameters[at];
            if at + 1 < knots.end {
                let step = smooth * (parameters[at + 1] - parameters[at]);
                gradient[at] -= step;
                gradient[at + 1] += step;
            }
        }
    }
}

/// The mean quality of a model on examples, each taken at its own rating.
pub fn quality<'a>(parameters: &[f64], examples: impl Iterator<Item = &'a MoveExample>) -> ModelQuality {
    let mut quality = ModelQuality::default();
    for example in examples {
        let moves = SkillLevel::new(parameters, example.rating).predict(&example.input).moves;
        quality.count += 1;
        quality.loss -= moves[example.played].max(1e-12).ln();
        quality.accuracy += f64::from(u8::from(likeliest(&moves) == example.played));
    }
    let count = quality.count.max(1) as f64;
    ModelQuality { loss: quality.loss / count, accuracy: quality.accuracy / count, ..quality }
}

/// The index of the largest number, the first of equal ones.
fn likeliest(numbers: &[f64]) -> usize {
    numbers.iter().enumerate().rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::testing::examples;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let examples = examples();
        let mut parameters = start();
        parameters.iter_mut().enumerate().for_each(|(index, x)| *x += 0.4 * (hash::unit(index as u64) - 0.5));
        let example = &examples[1];
        let mut gradient = vec![0.0; PARAMETERS];
        add_gradient(&parameters, example, 1.0, &mut gradient);
        let loss = |parameters: &[f64]| quality(parameters, [example].into_iter()).loss;
        let touched: Vec<usize> = (0..PARAMETERS).filter(|&index| gradient[index] != 0.0).collect();
        assert!(touched.len() > 150, "{}", touched.len());
        for index in touched {
            let mut moved = parameters.clone();
            let mut at = |shift: f64| {
                moved[index] = parameters[index] + shift;
                loss(&moved)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[index]).abs() < 1e-6, "{index}: {slope} {}", gradient[index]);
        }
    }

    #[test]
    fn training_lowers_the_loss_and_is_always_the_same() {
        let examples = examples();
        let all: Vec<&MoveExample> = examples.iter().collect();
        let trained = train(&all, |_, _| {});
        let before = quality(&start(), examples.iter());
        let after = quality(&trained, examples.iter());
        assert!(after.loss < 0.8 * before.loss && after.accuracy >= before.accuracy, "{before:?} {after:?}");
        assert_eq!(trained, train(&all, |_, _| {}));
    }
}
