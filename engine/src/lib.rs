//! Chess rules, evaluation and search of Dyad.
//!
//! The modules stand in one order, each knowing only those before it: [`board`] (the rules, around the
//! `chess` crate), [`value`], [`eval`], [`position`], `search`, `engine`. Nothing here prints or reads input.

pub mod board;
pub mod eval;
pub mod value;
