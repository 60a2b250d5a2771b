//! Chess rules, evaluation and search of Dyad.
//!
//! The modules in order, each using only those before it:
//!
//! - [`hash`]: hash functions;
//! - `platform`: clock, hints about memory, priorities;
//! - [`board`]: the rules, with attack tables of the `chess` crate;
//! - [`value`]: search values;
//! - [`eval`]: the evaluation;
//! - [`tablebase`]: Syzygy endgame tables;
//! - [`params`]: the constants of search and time management;
//! - [`control`]: stopping and waiting;
//! - [`search`]: the search; [`engine`]: the state that persists between searches;
//! - [`bench`]: the benchmark.
//!
//! The engine prints nothing, reads no standard input and, tablebases apart, no files.

pub mod bench;
pub mod board;
pub mod control;
pub mod engine;
pub mod eval;
pub mod hash;
pub mod params;
mod platform;
pub mod search;
pub mod tablebase;
pub mod value;

pub use engine::Engine;
