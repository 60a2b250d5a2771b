//! Loss and gradient of weights on samples.

use dyad_engine::board::Board;
use dyad_engine::eval::layout::{LEN, MATERIAL, PIECE_SQUARE};
use dyad_engine::eval::{FloatWeights, PHASE_MAX, Weights};
use dyad_formats::error::Error;
use dyad_formats::packed::{Packed, Sample};
use serde_json::Value as Json;

use super::data::{Data, FeatureRange};
use super::settings::Target;
use crate::base::logistic::{Prediction, best_factor, cross_entropy, mean_loss, sigmoid};
use crate::base::parallel::ordered_for_each;

/// Parts of a batch. The gradient of a part is summed by one thread, and the parts are summed in order.
const PARTS: usize = 16;

/// Positions per chunk when only the loss is computed.
const LOSS_CHUNK: usize = 4_096;

/// Positions used to fit the scale of the initial weights.
const SCALE_POSITIONS: usize = 100_000;

/// The gradient of a batch, middlegame and endgame by feature.
pub type Gradient = Vec<[f64; 2]>;

/// Weights in logits, with the phase model that belongs to them.
pub struct Model {
    /// Middlegame and endgame weight by feature; without the 2-tuples if these are zero and do not learn.
    pub weights: Vec<[f64; 2]>,
    /// The material weights as the search will round them: they determine the phase.
    phases: Weights,
    /// Frequency of each piece on its squares, by piece-square feature; sums to 1 for each piece.
    frequencies: Vec<f64>,
}

impl Model {
    /// Weights multiplied by `scale`; square frequencies are those of `samples`.
    pub fn new(weights: &FloatWeights, scale: f64, range: FeatureRange, samples: &[Packed]) -> Result<Model, Error> {
        let both = weights.mg.iter().zip(&weights.eg).map(|(mg, eg)| [scale * mg, scale * eg]);
        let weights: Vec<[f64; 2]> = both.take(range.len()).collect();
        Ok(Model { phases: phases(&weights)?, weights, frequencies: frequencies(samples)? })
    }

    /// Moves the mean of each piece's square weights into its material weight.
    ///
    /// Any amount moved from all squares of a piece to its material changes no evaluation, but the phase depends on the
    /// material, so the split is fixed here: the squares of a piece have mean 0. This changes both groups, so it is
    /// only for fits in which both learn.
    pub fn center_squares(&mut self) {
        let squares = PIECE_SQUARE.len / MATERIAL.len;
        for piece in 0..MATERIAL.len {
            let rows = PIECE_SQUARE.nth(piece * squares)..PIECE_SQUARE.nth(piece * squares) + squares;
            for phase in [0, 1] {
                let weighted = |row: usize| self.weights[row][phase] * self.frequencies[row - PIECE_SQUARE.start];
                let mean: f64 = rows.clone().map(weighted).sum();
                rows.clone().for_each(|row| self.weights[row][phase] -= mean);
                self.weights[MATERIAL.nth(piece)][phase] += mean;
            }
        }
    }

    /// Recomputes the phase model from the current material weights.
    pub fn update_phases(&mut self) -> Result<(), Error> {
        self.phases = phases(&self.weights)?;
        Ok(())
    }

    /// The weights of all features, zero beyond the range in use.
    pub fn weights(&self) -> FloatWeights {
        let phase = |phase: usize| {
            let known = self.weights.iter().map(|weight| weight[phase]);
            known.chain(std::iter::repeat(0.0)).take(LEN).collect()
        };
        FloatWeights { mg: phase(0), eg: phase(1) }
    }

    /// Fraction of the middlegame of a position.
    fn alpha(&self, board: &Board) -> f64 {
        f64::from(self.phases.phase(board)) / f64::from(PHASE_MAX)
    }
}

fn frequencies(samples: &[Packed]) -> Result<Vec<f64>, Error> {
    // Start at 1, so that no square is impossible.
    let (mut counts, mut features) = (vec![1.0; PIECE_SQUARE.len], Vec::new());
    for sample in samples {
        FeatureRange::Squares.list(&sample.board().map_err(Error::Settings)?, &mut features);
        for &(feature, count) in
            features.iter().filter(|(feature, _)| PIECE_SQUARE.range().contains(&(*feature as usize)))
        {
            counts[feature as usize - PIECE_SQUARE.start] += f64::from(count.abs());
        }
    }
    for squares in counts.chunks_mut(PIECE_SQUARE.len / MATERIAL.len) {
        let all: f64 = squares.iter().sum();
        squares.iter_mut().for_each(|count| *count /= all);
    }
    Ok(counts)
}

fn phases(weights: &[[f64; 2]]) -> Result<Weights, Error> {
    let mut material = FloatWeights::zeros();
    for feature in MATERIAL.range() {
        material.mg[feature] = weights[feature][0];
    }
    Weights::from_floats(&material, Json::Null)
        .map_err(|error| Error::Settings(format!("the pieces lost their value during the fit: {error}")))
}

/// Computes the features and the prediction of positions, reusing its memory.
struct Predictor<'a> {
    model: &'a Model,
    target: Target,
    range: FeatureRange,
    features: Vec<(u32, i32)>,
}

impl Predictor<'_> {
    fn predict(&mut self, packed: &Packed) -> Result<Prediction, String> {
        let sample: Sample = packed.unpack()?;
        let target = self.target.of(&sample).ok_or("a sample without the result or score needed")?;
        self.range.list(&sample.board, &mut self.features);
        let alpha = self.model.alpha(&sample.board);
        let [mg, eg] = self.features.iter().fold([0.0; 2], |[mg, eg], &(feature, count)| {
            let weight = self.model.weights[feature as usize];
            [mg + f64::from(count) * weight[0], eg + f64::from(count) * weight[1]]
        });
        Ok(Prediction { z: alpha * mg + (1.0 - alpha) * eg, alpha, target })
    }
}

/// The loss of a fit: its target, features and threads.
pub struct LossFunction {
    /// What to predict.
    pub target: Target,
    /// Features in use.
    pub range: FeatureRange,
    /// Threads.
    pub threads: usize,
}

impl LossFunction {
    fn predictor<'a>(&self, model: &'a Model) -> Predictor<'a> {
        Predictor { model, target: self.target, range: self.range, features: Vec::with_capacity(1_200) }
    }

    /// Sum of the losses of a batch of training positions, and the gradient of their mean.
    pub fn gradient(&self, model: &Model, data: &Data, batch: &[u32]) -> Result<(f64, Gradient), Error> {
        let (mut loss, mut gradient) = (0.0, vec![[0.0; 2]; self.range.len()]);
        let share = 1.0 / batch.len() as f64;
        ordered_for_each(
            self.threads,
            batch.chunks(batch.len().div_ceil(PARTS)),
            || Ok(()),
            |(), part| self.part(model, data, part),
            |(part_loss, part)| {
                loss += part_loss;
                for (sum, part) in gradient.iter_mut().zip(part) {
                    sum[0] += f64::from(part[0]) * share;
                    sum[1] += f64::from(part[1]) * share;
                }
                Ok(())
            },
        )
        .map_err(Error::Settings)?;
        Ok((loss, gradient))
    }

    /// Loss and gradient of a part of a batch, as sums. Single precision halves the memory that is written at random,
    /// and a part is only a thousand positions.
    fn part(&self, model: &Model, data: &Data, part: &[u32]) -> Result<(f64, Vec<[f32; 2]>), String> {
        let mut predictor = self.predictor(model);
        let (mut loss, mut gradient) = (0.0, vec![[0.0f32; 2]; self.range.len()]);
        for &index in part {
            let Prediction { z, alpha, target } = predictor.predict(&data.train[index as usize])?;
            loss += cross_entropy(target, z);
            let slope = sigmoid(z) - target;
            let (mg, eg) = ((slope * alpha) as f32, (slope * (1.0 - alpha)) as f32);
            for &(feature, count) in &predictor.features {
                let sum = &mut gradient[feature as usize];
                sum[0] += count as f32 * mg;
                sum[1] += count as f32 * eg;
            }
        }
        Ok((loss, gradient))
    }

    /// All predictions, in the order of the samples.
    pub fn predictions(&self, model: &Model, samples: &[Packed]) -> Result<Vec<Prediction>, Error> {
        let mut all = Vec::with_capacity(samples.len());
        ordered_for_each(
            self.threads,
            samples.chunks(LOSS_CHUNK),
            || Ok(self.predictor(model)),
            |predictor, chunk| chunk.iter().map(|sample| predictor.predict(sample)).collect::<Result<Vec<_>, _>>(),
            |chunk| {
                all.extend(chunk);
                Ok(())
            },
        )
        .map_err(Error::Settings)?;
        Ok(all)
    }

    /// Mean loss; `None` without samples.
    pub fn loss(&self, model: &Model, samples: &[Packed]) -> Result<Option<f64>, Error> {
        let predictions = self.predictions(model, samples)?;
        Ok((!predictions.is_empty()).then(|| mean_loss(&predictions, 1.0)))
    }

    /// A model of weights of any unit, scaled to the smallest loss, and the scale.
    pub fn model(&self, data: &Data, weights: &FloatWeights) -> Result<(Model, f64), Error> {
        let step = data.train.len().div_ceil(SCALE_POSITIONS).max(1);
        let some: Vec<Packed> = data.train.iter().step_by(step).copied().collect();
        // A starting point: evaluation units close to logits.
        let first = 1.0 / 400.0;
        let model = Model::new(weights, first, self.range, &some)?;
        let scale = first * best_factor(&self.predictions(&model, &some)?);
        Ok((Model::new(weights, scale, self.range, &some)?, scale))
    }
}
