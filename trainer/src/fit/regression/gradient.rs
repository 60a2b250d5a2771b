//! Loss and gradient of weights on samples.

use dyad_engine::board::Board;
use dyad_engine::eval::layout::{LEN, MATERIAL, PIECE_SQUARE};
use dyad_engine::eval::{FloatWeights, PHASE_MAX, Weights};
use serde_json::Value as Json;

use super::data::{Data, Reach};
use super::settings::Target;
use crate::base::error::Error;
use crate::base::parallel::ordered_for_each;
use crate::data::packed::{Packed, Sample};
use crate::fit::logistic::{Prediction, best_factor, cross_entropy, mean_loss, sigmoid};

/// Parts a batch is cut into. Each part's gradient is summed by one thread, and the parts in order.
const PARTS: usize = 16;

/// Positions summed by one thread when only the loss is wanted.
const LOSS_CHUNK: usize = 4_096;

/// Positions that the scale of the first weights is fitted on.
const SCALE_POSITIONS: usize = 100_000;

/// The gradient of a batch, middlegame and endgame by feature.
pub type Gradient = Vec<[f64; 2]>;

/// Weights in logits, and the stage of positions that belongs to them.
pub struct Model {
    /// Opening and endgame by feature; without the 2-tuples where those have no weight and learn none.
    pub weights: Vec<[f64; 2]>,
    /// The material alone, as search will have it: tells the phase.
    phases: Weights,
    /// How often a piece stands on each of its squares, by location; sums to one for each piece.
    frequencies: Vec<f64>,
}

impl Model {
    /// Weights multiplied by `scale`; pieces stand where they do in `samples`.
    pub fn new(weights: &FloatWeights, scale: f64, reach: Reach, samples: &[Packed]) -> Result<Model, Error> {
        let both = weights.mg.iter().zip(&weights.eg).map(|(mg, eg)| [scale * mg, scale * eg]);
        let weights: Vec<[f64; 2]> = both.take(reach.len()).collect();
        Ok(Model { phases: phases(&weights)?, weights, frequencies: frequencies(samples)? })
    }

    /// Settles what of a piece's worth is its material and what its squares.
    ///
    /// It could as well be in its squares: any amount moved from all of them to its material
    /// changes no evaluation. But the phase is counted with the material, so it is settled here: the squares
    /// of a piece are worth nothing on average. It changes both groups, so it is for weights of which both learn.
    pub fn settle(&mut self) {
        let squares = PIECE_SQUARE.len / MATERIAL.len;
        for piece in 0..MATERIAL.len {
            let rows = PIECE_SQUARE.nth(piece * squares)..PIECE_SQUARE.nth(piece * squares) + squares;
            for stage in [0, 1] {
                let worth = |row: usize| self.weights[row][stage] * self.frequencies[row - PIECE_SQUARE.start];
                let mean: f64 = rows.clone().map(worth).sum();
                rows.clone().for_each(|row| self.weights[row][stage] -= mean);
                self.weights[MATERIAL.nth(piece)][stage] += mean;
            }
        }
    }

    /// Counts the phase with the present weights of the pieces.
    pub fn count_phases(&mut self) -> Result<(), Error> {
        self.phases = phases(&self.weights)?;
        Ok(())
    }

    /// The same weights for all features.
    pub fn weights(&self) -> FloatWeights {
        let stage = |stage: usize| {
            let known = self.weights.iter().map(|weight| weight[stage]);
            known.chain(std::iter::repeat(0.0)).take(LEN).collect()
        };
        FloatWeights { mg: stage(0), eg: stage(1) }
    }

    /// How much of the middlegame a position is.
    fn alpha(&self, board: &Board) -> f64 {
        f64::from(self.phases.phase(board)) / f64::from(PHASE_MAX)
    }
}

fn frequencies(samples: &[Packed]) -> Result<Vec<f64>, Error> {
    // Once on every square, so that none is impossible.
    let (mut counts, mut features) = (vec![1.0; PIECE_SQUARE.len], Vec::new());
    for sample in samples {
        Reach::Squares.list(&sample.board().map_err(Error::Settings)?, &mut features);
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
        .map_err(|error| Error::Settings(format!("the pieces lost their worth during the fit: {error}")))
}

/// Finds the features of a position and its prediction; keeps its memory from one to the next.
struct Predictor<'a> {
    model: &'a Model,
    target: Target,
    reach: Reach,
    features: Vec<(u32, i32)>,
}

impl Predictor<'_> {
    fn predict(&mut self, packed: &Packed) -> Result<Prediction, String> {
        let sample: Sample = packed.unpack()?;
        let target = self.target.of(&sample).ok_or("a sample without the result or score needed")?;
        self.reach.list(&sample.board, &mut self.features);
        let alpha = self.model.alpha(&sample.board);
        let [mg, eg] = self.features.iter().fold([0.0; 2], |[mg, eg], &(feature, count)| {
            let weight = self.model.weights[feature as usize];
            [mg + f64::from(count) * weight[0], eg + f64::from(count) * weight[1]]
        });
        Ok(Prediction { z: alpha * mg + (1.0 - alpha) * eg, alpha, target })
    }
}

/// What is learned and how the work is shared.
pub struct Lesson {
    /// What to predict.
    pub target: Target,
    /// Which features are looked at.
    pub reach: Reach,
    /// Threads.
    pub threads: usize,
}

impl Lesson {
    fn predictor<'a>(&self, model: &'a Model) -> Predictor<'a> {
        Predictor { model, target: self.target, reach: self.reach, features: Vec::with_capacity(1_200) }
    }

    /// Sum of losses over a batch of training positions, and the gradient of their mean.
    pub fn gradient(&self, model: &Model, data: &Data, batch: &[u32]) -> Result<(f64, Gradient), Error> {
        let (mut loss, mut gradient) = (0.0, vec![[0.0; 2]; self.reach.len()]);
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

    /// Loss and gradient of a part of a batch, as sums. Single precision halves the memory that is written
    /// at random, and a part is a thousand positions.
    fn part(&self, model: &Model, data: &Data, part: &[u32]) -> Result<(f64, Vec<[f32; 2]>), String> {
        let mut predictor = self.predictor(model);
        let (mut loss, mut gradient) = (0.0, vec![[0.0f32; 2]; self.reach.len()]);
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

    /// Every prediction, in the order of the samples.
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

    /// Mean loss.
    pub fn loss(&self, model: &Model, samples: &[Packed]) -> Result<f64, Error> {
        let predictions = self.predictions(model, samples)?;
        Ok(mean_loss(&predictions, 1.0))
    }

    /// A model of weights of any unit, scaled to predict best, and the scale.
    pub fn model(&self, data: &Data, weights: &FloatWeights) -> Result<(Model, f64), Error> {
        let step = data.train.len().div_ceil(SCALE_POSITIONS).max(1);
        let some: Vec<Packed> = data.train.iter().step_by(step).copied().collect();
        // The units of evaluation, brought near logits.
        let first = 1.0 / 400.0;
        let model = Model::new(weights, first, self.reach, &some)?;
        let scale = first * best_factor(&self.predictions(&model, &some)?);
        Ok((Model::new(weights, scale, self.reach, &some)?, scale))
    }
}
