//! Opponents of limited strength, by a model of human moves: which move a player of a given rating plays.
//!
//! [`analysis`] values the moves of a position at several depths, [`features`] describes the moves, [`model`] gives the
//! probability that a player of a rating plays each, [`file`] reads and writes the model, and [`player`] plays by it,
//! at the pace of a person if that is wanted. The trainer trains the model; the built-in one is `weights/levels.json`.

pub mod analysis;
pub mod features;
pub mod file;
pub mod model;
mod pace;
pub mod player;

#[cfg(test)]
mod tests;
