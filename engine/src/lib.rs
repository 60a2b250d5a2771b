//! Chess rules, evaluation and search of Dyad.
//!
//! The modules stand in one order, each knowing only those before it: [`board`] (the rules, around the
//! `chess` crate), [`value`], [`eval`], [`tablebase`], [`position`], [`search`] with its table, clock
//! and [`control`],
//! [`engine`] (the facade), [`compare`] (two moves and what makes the difference). Nothing here prints or reads
//! input.

pub mod atomic_file;
pub mod board;
pub mod compare;
pub mod control;
pub mod engine;
pub mod eval;
mod huge_pages;
pub mod levels;
pub mod params;
pub mod position;
mod prefetch;
pub mod regular_file;
pub mod search;
mod sync;
pub mod tablebase;
pub mod time;
pub mod tt;
pub mod value;

#[cfg(test)]
mod tests;

pub use engine::Engine;
