//! Comparison training: leaves of principal variations to better weights.
//!
//! A position's desired move should be valued above its siblings. Each is searched to its leaf ([`leaves`]), the leaves
//! are compared ([`comparison`], [`objective`]) and become a change of the weights ([`gradient`], [`optimizer`],
//! [`average`]). [`workers`] does this for a batch on all threads; [`run`] is the loop, with [`settings`],
//! [`checkpoint`], [`log`] and [`folder`] for what remains on disk.

pub mod average;
pub mod checkpoint;
pub mod comparison;
pub mod examples;
pub mod folder;
pub mod gradient;
pub mod leaves;
pub mod log;
pub mod objective;
pub mod optimizer;
pub mod run;
pub mod settings;
pub mod workers;
