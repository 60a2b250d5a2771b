//! Why the evaluation is what it is, and why one move is better than another.
//!
//! A linear evaluation is a sum, and every summand has a meaning. [`evaluation`] takes the evaluation of a position
//! apart, [`difference`] the difference of two positions, and [`comparison`] searches two moves and compares the leaves
//! of their principal variations. These three compute numbers; [`text`] prints them. [`sentence`] explains in words why
//! a move is worse than another, by what happens along the lines ([`line`], [`motif`]) and what can be seen on
//! their boards ([`visible`]). [`json`] is for programs.

pub mod comparison;
pub mod difference;
pub mod evaluation;
pub mod json;
pub mod line;
pub mod motif;
pub mod sentence;
pub mod text;
pub mod visible;

#[cfg(test)]
mod testing;

pub use comparison::Comparison;
pub use difference::Difference;
