//! Why the evaluation is what it is, and why one move is better than another.
//!
//! A linear evaluation is a sum, and every summand has a meaning. [`evaluation`] takes the evaluation of a position
//! apart, [`difference`] the difference of two positions, and [`comparison`] searches two moves and compares the leaves
//! of their principal variations. These three compute numbers; all English sentences are in [`text`].

pub mod comparison;
pub mod difference;
pub mod evaluation;
pub mod text;

pub use comparison::Comparison;
pub use difference::Difference;
