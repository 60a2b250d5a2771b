//! Comparison training: leaves of principal variations to better weights.
//!
//! A position's desired move should be valued above its siblings. Each is searched to its leaf ([`leaves`]), the leaves
//! are compared ([`comparison`], [`objective`]) and become a change of the weights ([`gradient`], [`optimizer`],
//! [`average`]). [`workers`] does this for a batch on all threads; [`training`] is the loop, from its [`settings`], its
//! [`examples`] and its [`origin`]; its [`state`] goes through a [`checkpoint`], and [`folder`] and [`log`] are what remains
//! on disk. This room knows [`base`](crate::base), [`data`](crate::data) and, for the units of values,
//! [`fit`](crate::fit).

pub mod average;
pub mod checkpoint;
pub mod comparison;
pub mod error;
pub mod examples;
pub mod folder;
pub mod gradient;
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
pub mod workers;
