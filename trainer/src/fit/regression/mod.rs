//! Static regression: weights that predict results and scores of quiet positions.
//!
//! Comparison training needs initial weights for its searches, and a baseline. Both come from a simpler fit: the
//! evaluation of a quiet position should predict the result of its game (Texel's tuning method, by Peter Österlund), or
//! the score of an engine's search. The loss is the cross-entropy between the target and 1 / (1 + exp(-z)), where z is
//! the tapered sum of the weights. So z, and with it every weight here, is in logits; the result is scaled and rounded
//! like any other weights.
//!
//! The features of a position take two hundred times the memory of its sample, so they are recomputed in each epoch. A
//! batch is cut into a fixed number of parts whose gradients are summed in order: the result is the same for any number
//! of threads.

mod adam;
mod data;
mod gradient;
mod settings;

pub use data::Data;
use settings::cosine;
pub use settings::{FitGroup, FitSettings, Target};

use dyad_engine::eval::layout::{MATERIAL, PIECE_SQUARE};
use dyad_engine::eval::{FloatWeights, Units, Weights};
use dyad_formats::error::Error;
use serde_json::Value as Json;

use crate::base::context::Context;
use crate::data::schedule::shuffled;
use crate::fit::calibration::{calibrate, calibrate_by_scores, scale_in_units_of};
use adam::Adam;
use data::FeatureRange;
use gradient::LossFunction;

/// The losses of one pass over the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Number of the epoch, from 1.
    pub number: u32,
    /// Mean loss over the batches, each before its update.
    pub train_loss: f64,
    /// Mean loss of the test positions after the epoch; `None` without test positions.
    pub test_loss: Option<f64>,
    /// Whether the test loss is the best so far.
    pub best: bool,
}

/// Progress of a fit.
#[derive(Clone, Debug)]
pub enum FitEvent {
    /// The initial weights, scaled to the data, have this loss on the test positions.
    Start {
        /// Logits for one unit of the weights.
        scale: f64,
        /// The loss; `None` without test positions.
        test_loss: Option<f64>,
    },
    /// Progress within an epoch.
    Progress {
        /// The epoch, from 1.
        epoch: u32,
        /// Positions done in the epoch.
        positions: usize,
    },
    /// An epoch ended.
    Epoch(Epoch),
    /// The weights that it improved, in logits.
    Improved(Box<FloatWeights>),
}

impl FitEvent {
    /// Positions done in all epochs, with `of` positions per epoch; `None` for other events.
    pub fn done(&self, of: u64) -> Option<u64> {
        match self {
            FitEvent::Progress { epoch, positions } => Some(u64::from(epoch - 1) * of + *positions as u64),
            _ => None,
        }
    }
}

/// The result of a fit.
pub struct Fitted {
    /// Weights in logits: the best by test loss.
    pub weights: FloatWeights,
    /// Logits per unit of the initial weights.
    pub unit: f64,
    /// The epochs.
    pub epochs: Vec<Epoch>,
    /// Test loss of the initial weights; `None` without test positions.
    pub start_loss: Option<f64>,
    /// Whether the fit was stopped early.
    pub stopped: bool,
}

impl Fitted {
    /// Test loss of the fitted weights; `None` without test positions.
    pub fn test_loss(&self) -> Option<f64> {
        self.epochs.iter().rfind(|epoch| epoch.best).map_or(self.start_loss, |epoch| epoch.test_loss)
    }

    /// The weights, rounded, with their provenance, and with the scale and win rate that the results of the data give or,
    /// if the initial weights had the units `kept`, with those: a value keeps its meaning. Where results do not determine
    /// the scale, a pawn of the scores becomes a pawn, and the second value is false; `pawns` multiply the odds of a score
    /// by e.
    ///
    /// # Errors
    /// When the weights cannot be scaled or a sample is damaged.
    pub fn calibrated(
        &self,
        provenance: Json,
        kept: Option<Units>,
        data: &Data,
        pawns: f64,
    ) -> Result<(Weights, bool), Error> {
        let mut weights = Weights::from_floats(&self.weights, provenance)?;
        let gamma = self.weights.gamma()?;
        if let Some(units) = kept {
            weights.units = Units { scale: scale_in_units_of(units.scale, self.unit * gamma)?, ..units };
            return Ok((weights, true));
        }
        let is_calibrated = calibrate(&mut weights, data.train.iter().chain(&data.test))?;
        if !is_calibrated {
            calibrate_by_scores(&mut weights, 1.0 / gamma, pawns);
        }
        Ok((weights, is_calibrated))
    }
}

/// Fits weights to data, from the initial weights `start`.
///
/// # Errors
/// When the data do not allow it, when the fit diverges, and [`Error::Stopped`] if stopped within the first
/// epoch.
pub fn fit(
    settings: &FitSettings,
    data: &Data,
    start: &FloatWeights,
    context: &mut Context<FitEvent>,
) -> Result<Fitted, Error> {
    let objective =
        LossFunction { target: settings.target, range: FeatureRange::of(settings, start), threads: context.threads };
    let (mut model, scale) = objective.model(data, start)?;
    let start_loss = objective.loss(&model, &data.test)?;
    (context.on_event)(FitEvent::Start { scale, test_loss: start_loss });

    let mut fitted = Fitted { weights: model.weights(), unit: scale, epochs: Vec::new(), start_loss, stopped: false };
    let mut best_loss = start_loss;
    let both_learn = [MATERIAL.name, PIECE_SQUARE.name].iter().all(|name| settings.group(name).learn);
    let mut adam = Adam::new(settings, objective.range, &model.weights, data.train.len());
    let batches = data.train.len().div_ceil(settings.batch);
    let positions: Vec<u32> = (0..data.train.len() as u32).collect();
    for number in 1..=settings.epochs {
        let order = shuffled(&positions, settings.seed, number);
        let mut loss = 0.0;
        for (index, batch) in order.chunks(settings.batch).enumerate() {
            let (batch_loss, gradient) = objective.gradient(&model, data, batch)?;
            loss += finite(batch_loss, number)?;
            let done = ((number - 1) as usize * batches + index) as f64 / (settings.epochs as usize * batches) as f64;
            adam.step(&mut model.weights, &gradient, cosine(done));
            if both_learn {
                model.center_squares();
            }
            model.update_phases()?;
            (context.on_event)(FitEvent::Progress { epoch: number, positions: index * settings.batch + batch.len() });
            if context.stop.stopped() {
                fitted.stopped = true;
                return if fitted.epochs.is_empty() { Err(Error::Stopped) } else { Ok(fitted) };
            }
        }
        let test_loss = objective.loss(&model, &data.test)?.map(|loss| finite(loss, number)).transpose()?;
        // Without test positions the last epoch is the best.
        let best = test_loss.zip(best_loss).is_none_or(|(loss, best)| loss < best);
        let epoch = Epoch { number, train_loss: loss / order.len() as f64, test_loss, best };
        (context.on_event)(FitEvent::Epoch(epoch));
        if best {
            best_loss = test_loss;
            fitted.weights = model.weights();
            (context.on_event)(FitEvent::Improved(Box::new(fitted.weights.clone())));
        }
        fitted.epochs.push(epoch);
        if fitted.epochs.iter().rev().take_while(|epoch| !epoch.best).count() as u32 >= settings.patience {
            break;
        }
    }
    Ok(fitted)
}

/// A loss of the epoch with this number.
///
/// # Errors
/// When it is not finite: the fit diverged.
fn finite(loss: f64, epoch: u32) -> Result<f64, Error> {
    match loss.is_finite() {
        true => Ok(loss),
        false => Err(Error::Settings(format!("the fit diverged in pass {epoch}: lower the rate of the groups"))),
    }
}

#[cfg(test)]
mod tests;
