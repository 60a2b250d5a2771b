//! Evaluation: a tapered sum of weighted features, all of it linear in the weights.
//!
//! What a position has is found by code that names features and counts, never weights ([`placement`],
//! [`terms`]), and hands them to a [`visitor`]. Where a feature's weight lives is one table ([`layout`]).
//! [`linear`] holds the numbers, [`weights`] adds what they mean, their name and history, [`file`](mod@file) reads and
//! writes all that. [`compiled`], [`tables`] and [`accumulator`] are how search adds the numbers up quickly. [`model`] is
//! what search and training ask of any model, and [`Evaluator`] is what search calls.

pub mod accumulator;
mod cache;
pub mod compiled;
pub mod difference;
pub mod endgame;
pub mod error;
mod evaluator;
pub mod explain;
pub mod file;
pub mod floats;
mod kernel;
pub mod layout;
pub mod line;
pub mod linear;
pub mod model;
pub mod network;
pub mod pairs;
mod piece_list;
mod placed;
pub mod placement;
pub mod tables;
pub mod taper;
pub mod terms;
pub mod units;
pub mod visitor;
pub mod weights;
pub mod win_rate;

#[cfg(test)]
mod tests;

pub use error::WeightsError;
pub use evaluator::{Evaluator, MAX_EVALUATION};
pub use floats::FloatWeights;
pub use linear::Linear;
pub use model::{Model, Trainable};
pub use placement::{placement, visit};
pub use taper::{PHASE_MAX, taper};
pub use terms::terms;
pub use units::Units;
pub use visitor::Visitor;
pub use weights::Weights;
pub use win_rate::WinRate;
