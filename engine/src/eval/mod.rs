//! Evaluation: a tapered sum of weighted features, all of it linear in the weights.
//!
//! What a position has is found by code that names features and counts, never weights ([`placement`],
//! [`terms`]), and hands them to a [`visitor`]. Where a feature's weight lives is one table ([`layout`]).
//! [`weights`] holds the numbers, [`file`](mod@file) reads and writes them, [`tables`] and [`accumulator`] are how
//! search adds them up quickly, and [`Evaluator`] is what search calls.

mod accumulator;
mod cache;
pub mod endgame;
pub mod error;
mod evaluator;
pub mod explain;
pub mod file;
pub mod layout;
pub mod pairs;
pub mod placement;
pub mod tables;
pub mod taper;
pub mod terms;
pub mod visitor;
pub mod weights;
pub mod win_rate;

#[cfg(test)]
mod tests;

pub use error::WeightsError;
pub use evaluator::{Evaluator, MAX_EVALUATION};
pub use placement::{placement, visit};
pub use taper::{PHASE_MAX, taper};
pub use terms::terms;
pub use visitor::Visitor;
pub use weights::{FloatWeights, Weights};
pub use win_rate::WinRate;
