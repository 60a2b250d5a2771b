//! Games to weights: the trainer of Dyad.
//!
//! A training takes positions with the moves that were played in them, searches every legal move with
//! the engine's own search, and changes the weights so that the played move's leaf is valued above the
//! others': comparison training after Tseng, Chen and Wu (2018).

pub mod average;
pub mod checkpoint;
pub mod examples;
pub mod folder;
pub mod gradient;
pub mod log;
pub mod objective;
pub mod optimizer;
pub mod schedule;
pub mod settings;
