//! Evaluation: a tapered sum of weighted features, linear in the weights.
//!
//! Features are found by code that names features and counts, never weights ([`features`], [`terms`]), and passes them
//! to a [`visitor`]. [`layout`] assigns each feature its index. [`Weights`] are the integers, compiled into tables for
//! the `incremental` update of sums. Search uses an [`Evaluator`], training the [`gradient`].

pub mod endgame;
mod evaluator;
pub mod features;
mod floats;
pub mod gradient;
mod incremental;
pub mod layout;
pub mod pairs;
pub mod terms;
pub mod units;
pub mod visitor;
mod weights;

#[cfg(test)]
pub(crate) mod tests;

pub use evaluator::{Evaluator, with_endgame_knowledge};
pub use features::{incremental_features, visit};
pub use floats::{FloatWeights, WeightsError};
pub use incremental::compiled::{Compiled, PackedSum};
pub use terms::terms;
pub use units::{PHASE_MAX, Units, WinRate, taper};
pub use visitor::Visitor;
pub use weights::{Meta, Weights};
