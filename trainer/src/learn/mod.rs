//! Comparison training: better weights from the leaves of principal variations.
//!
//! The desired move of a position should be valued above its siblings. Each move is searched to its leaf ([`leaves`]),
//! the values of the leaves are compared ([`comparison`], [`objective`]), and the gradient becomes an update of the
//! weights ([`update`], [`optimizer`], [`average`]). [`workers`] does this for a batch on all threads. [`training`]
//! is the loop, from its [`settings`], its [`examples`] and its [`origin`]; its [`state`] is saved in a [`checkpoint`];
//! [`folder`] and [`log`] describe what is on disk. This module uses [`base`](crate::base), [`data`](crate::data) and,
//! for the units of values, [`fit`](crate::fit).

pub mod average;
pub mod checkpoint;
pub mod comparison;
pub mod examples;
pub mod folder;
pub mod leaves;
pub mod log;
pub mod objective;
pub mod optimizer;
pub mod origin;
pub mod ranking;
pub mod settings;
pub mod state;
#[cfg(test)]
pub(crate) mod testing;
pub mod training;
pub mod update;
pub mod workers;
