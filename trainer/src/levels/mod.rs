//! Which move a player of a given rating plays: positions of games and what their moves are worth, and the training of
//! the model from them.

pub mod calibrate;
pub mod estimate;
pub mod examples;
pub mod measure;
pub mod prepare;
pub mod records;
pub mod style;
pub mod training;

#[cfg(test)]
mod testing;
