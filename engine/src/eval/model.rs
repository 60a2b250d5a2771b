//! The seam between a model of evaluation and all that uses one.
//!
//! Search asks for the value of a position thousands of times a second and tells what every move changed, so that a
//! model can keep sums along the line. Training asks for the value of a leaf once and then pulls on it. Matches and
//! measurements want a name and what values mean. [`Model`] and [`Trainable`] are these wishes and nothing more; the
//! linear model ([`Weights`](super::Weights)) is one of those that fulfil them. Users are generic over the model, so
//! that its code is compiled into theirs, as if there were no seam.

use super::units::Units;
use crate::board::{Board, Delta};

/// A move, or a null move, of a line.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The position before it.
    pub before: &'a Board,
    /// The position after it.
    pub after: &'a Board,
    /// The pieces that left and came.
    pub delta: &'a Delta,
}

/// What search, matches and measurements need of a model.
pub trait Model: Send + Sync + 'static {
    /// What one thread keeps: sums of the positions of a line, caches.
    type Line: Send;

    /// What is kept of the line that begins with `board`.
    fn line(&self, board: &Board) -> Self::Line;

    /// Begins a new line at `board`. What is worth keeping of the old one may be kept.
    fn reset(&self, line: &mut Self::Line, board: &Board);

    /// Takes over what another model of this type kept, of which only the memory is of use: nothing is known, and the line
    /// stands where it began.
    fn renew(&self, line: &mut Self::Line);

    /// Advances by a move. It may only be noted: most positions are never evaluated.
    fn push(&self, line: &mut Self::Line, step: &Step);

    /// Goes back to the position before.
    ///
    /// # Panics
    /// If there is none.
    fn pop(&self, line: &mut Self::Line);

    /// The value of `board`, where the line stands, for the side to move, in the model's own units and as it is trained.
    /// The same position has the same value on every line.
    fn value(&self, line: &mut Self::Line, board: &Board) -> i32;

    /// How much of the middlegame is left, in parts of [`PHASE_MAX`](super::PHASE_MAX): the WDL model depends on it.
    fn phase(&self, board: &Board) -> i32;

    /// From the model's values to those of search, and what they mean.
    fn units(&self) -> &Units;

    /// A name for exactly what it plays.
    fn id(&self) -> String;
}

/// How a pull on a value is shared out to parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// By the slope of the value: the gradient.
    Gradient,
    /// By the slope, divided by the squares of the shares of middlegame and endgame. Then the value of a feature changes by
    /// as much as the pull in every phase. Models without phases take the gradient.
    Balanced,
}

/// What training needs of a model: a value that can be pulled on.
///
/// Parameters come in pairs, of middlegame and endgame; a model without phases leaves the second ones alone.
pub trait Trainable: Model {
    /// What the backward pass needs of the forward pass.
    type Trace: Default + Send;

    /// How many pairs of parameters there are.
    fn parameters(&self) -> usize;

    /// The value of `board`, the same as [`Model::value`], without a line; `trace` is overwritten.
    fn forward(&self, board: &Board, trace: &mut Self::Trace) -> i32;

    /// Tells `add` what `pull` times the slope of the value is for each pair of parameters. The same pair may come more
    /// than once.
    fn backward(&self, trace: &Self::Trace, pull: f64, share: Share, add: impl FnMut(u32, [f64; 2]));
}

#[cfg(test)]
pub(crate) mod tests;
