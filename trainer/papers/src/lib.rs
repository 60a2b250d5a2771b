//! The papers behind Dyad, repeated: [`experiment`] runs each of them by one command;
//! [`deepchess`] has the networks of one of them, which compare two positions, and a search with them.

pub mod deepchess;
pub mod experiment;
