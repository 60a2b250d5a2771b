//! Chess rules, evaluation and search of Dyad.
//!
//! The modules stand in one order, each knowing only those before it:
//!
//! - [`hash`]: bits that look random;
//! - [`board`]: the rules, with attack tables of the `chess` crate;
//! - [`value`]: values of a search; [`regular_file`], [`atomic_file`]: which files are read, and how they are replaced;
//! - [`eval`]: the evaluation;
//! - `prefetch`, `huge_pages`: what is asked of memory;
//! - [`tablebase`]: Syzygy endgame tables;
//! - [`position`]: what a search walks;
//! - [`params`]: the constants of search and time management;
//! - `sync`: locks and atomics, which loom replaces in tests;
//! - [`tt`], [`time`], [`control`]: the transposition table, time bounds, and how a search is stopped;
//! - [`search`]: the search; [`engine`]: the facade;
//! - [`compare`]: two moves and what makes the difference;
//! - [`levels`]: opponents of every strength.
//!
//! Nothing here prints or reads standard input.

pub mod atomic_file;
pub mod board;
pub mod compare;
pub mod control;
pub mod engine;
pub mod eval;
pub mod hash;
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

pub use engine::Engine;
