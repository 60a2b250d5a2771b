//! Training of the move model, which predicts the move of a player of a given rating: positions of games, the values of
//! their moves, and the training itself.

pub mod prepare;
pub mod records;
pub mod training;

#[cfg(test)]
mod testing;
