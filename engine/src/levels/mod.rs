//! Opponents of every strength: which move a player of a given rating plays.
//!
//! Not a strong player weakened by chance, but a model of people's choices. [`analysis`] says what the moves of a position
//! are worth at several depths, [`cues`] what people react to in them, and [`model`] with which probability a player of a
//! rating plays each. [`file`] is the model as it is kept, [`player`] plays by it. The model is trained by the trainer; the
//! one that is built in comes from `weights/levels.json`.

pub mod analysis;
pub mod cues;
pub mod file;
pub mod model;
pub mod player;

#[cfg(test)]
mod tests;
