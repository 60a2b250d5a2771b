//! Games to weights: the trainer of Dyad.
//!
//! A training takes positions with the moves that were played in them, searches every legal move with
//! the engine's own search, and changes the weights so that the played move's leaf is valued above the
//! others': comparison training after Tseng, Chen and Wu (2018).
//!
//! The rooms, each knowing only those before it: [`base`] (threads, files, errors), [`data`] (games to samples), [`fit`]
//! (weights by regression, scale, quality), [`learn`] (comparison training), [`arena`] (matches and suites),
//! [`selftrain`] (own games, labels, training, a match, and again) and [`report`] (a training on a page). Nothing here
//! prints.

pub mod arena;
pub mod base;
pub mod data;
pub mod fit;
pub mod learn;
pub mod report;
pub mod selftrain;
