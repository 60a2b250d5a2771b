//! Static regression: weights that predict results and scores of quiet positions.
//!
//! Comparison training needs weights to start its searches with, and a yardstick. Both come from a much simpler
//! fit: the evaluation of a quiet position should predict how its game ended (Texel's tuning method,
//! by Peter Österlund), or what an engine's search thought of it. The loss is the cross-entropy
//! between the target and 1 / (1 + exp(-z)), where z is the tapered sum of the weights; so z, and with it
//! every weight in here, is in logits. What leaves is scaled and rounded like any other weights.
//!
//! The features of a position take two hundred times the memory of its sample, so they are found anew in
//! each pass. A batch is cut into a fixed number of parts whose gradients are summed in order: the result
//! is the same for any number of threads.

mod adam;
mod back_off;
mod data;
mod gradient;
mod settings;

pub use data::Data;
pub use settings::{BackOffSettings, GroupSettings, L2Target, Settings, Target};

use std::sync::atomic::{AtomicBool, Ordering};

use dyad_engine::eval::FloatWeights;
use dyad_engine::eval::layout::{MATERIAL, PIECE_SQUARE};

use crate::base::error::Error;
use crate::data::schedule::Order;
use adam::Adam;
use data::Reach;
use gradient::Lesson;

/// What one pass over the data brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// From 1.
    pub number: u32,
    /// Mean loss over the batches, before their steps.
    pub train_loss: f64,
    /// Mean loss of the test positions after the pass; not a number without any.
    pub test_loss: f64,
    /// Whether it is the best so far.
    pub best: bool,
}

/// What happens during a fit.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The weights to start from, scaled to the data, have this loss on the test positions.
    Start {
        /// Logits for one unit of the weights.
        scale: f64,
        /// The loss.
        test_loss: f64,
    },
    /// Positions of a pass so far.
    Progress {
        /// The pass, from 1.
        epoch: u32,
        /// Of it.
        positions: usize,
    },
    /// A pass ended.
    Epoch(&'a Epoch),
}

impl Event<'_> {
    /// Positions of all passes so far, where one has so many: of progress alone.
    #[must_use]
    pub fn done(&self, of: u64) -> Option<u64> {
        match self {
            Event::Progress { epoch, positions } => Some(u64::from(epoch - 1) * of + *positions as u64),
            _ => None,
        }
    }
}

/// The weights found, and how it went.
pub struct Fitted {
    /// Weights in logits: the best by test loss.
    pub weights: FloatWeights,
    /// Logits for one unit of the weights at the start.
    pub unit: f64,
    /// The passes.
    pub epochs: Vec<Epoch>,
    /// The loss of the weights it began with, on the test positions.
    pub start_loss: f64,
    /// Whether it was stopped before it was done.
    pub stopped: bool,
}

impl Fitted {
    /// The test loss of the weights found.
    #[must_use]
    pub fn test_loss(&self) -> f64 {
        self.epochs.iter().rfind(|epoch| epoch.best).map_or(self.start_loss, |epoch| epoch.test_loss)
    }
}

/// Fits weights to data, beginning with `start`.
///
/// # Errors
/// When settings or data do not allow it, and [`Error::Stopped`] when it is stopped before a whole pass: there is nothing
/// then that the data said.
pub fn fit(
    settings: &Settings,
    data: &Data,
    start: &FloatWeights,
    threads: usize,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event<'_>),
) -> Result<Fitted, Error> {
    settings.check()?;
    let lesson = Lesson { target: settings.target, reach: Reach::of(settings, start), threads };
    let (mut model, scale) = lesson.model(data, start)?;
    let start_loss = lesson.loss(&model, &data.test)?;
    report(Event::Start { scale, test_loss: start_loss });

    let mut fitted = Fitted { weights: model.weights(), unit: scale, epochs: Vec::new(), start_loss, stopped: false };
    let mut best_loss = start_loss;
    let shares = [MATERIAL.name, PIECE_SQUARE.name].iter().all(|name| settings.group(name).learn);
    let mut adam = Adam::new(settings, lesson.reach, &model.weights, data.train.len());
    let batches = data.train.len().div_ceil(settings.batch);
    let positions: Vec<u32> = (0..data.train.len() as u32).collect();
    for number in 1..=settings.epochs {
        let order = Order::shuffled(&positions, settings.seed, number);
        let mut loss = 0.0;
        for index in 0..batches {
            let batch = order.slice(index * settings.batch..(index + 1) * settings.batch);
            let (batch_loss, gradient) = lesson.gradient(&model, data, batch)?;
            loss += batch_loss;
            let done = ((number - 1) as usize * batches + index) as f64 / (settings.epochs as usize * batches) as f64;
            adam.step(&mut model.weights, &gradient, settings.schedule(done));
            if shares {
                model.settle();
            }
            model.count_phases()?;
            report(Event::Progress { epoch: number, positions: index * settings.batch + batch.len() });
            if stop.load(Ordering::Relaxed) {
                fitted.stopped = true;
                return if fitted.epochs.is_empty() { Err(Error::Stopped) } else { Ok(fitted) };
            }
        }
        let test_loss = lesson.loss(&model, &data.test)?;
        // Without test positions the last pass is the best there is.
        let best = test_loss.is_nan() || test_loss < best_loss || best_loss.is_nan();
        let epoch = Epoch { number, train_loss: loss / order.len() as f64, test_loss, best };
        report(Event::Epoch(&epoch));
        if best {
            best_loss = test_loss;
            fitted.weights = model.weights();
        }
        fitted.epochs.push(epoch);
        if fitted.epochs.iter().rev().take_while(|epoch| !epoch.best).count() as u32 >= settings.patience {
            break;
        }
    }
    Ok(fitted)
}

#[cfg(test)]
mod tests;
