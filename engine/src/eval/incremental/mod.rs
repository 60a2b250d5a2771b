//! Incremental sums of weights, and the tables for fast updates.
//!
//! The `accumulator` stack decides when sums are computed, a table how. The one table in use, `compiled`, sums
//! material, piece-square and pair weights by rows (`tables`, `kernel`) over a list of pieces (`placed`, `piece_list`).
//! A `cache` has the sums of terms that depend on a key alone.

pub(crate) mod accumulator;
pub(crate) mod cache;
pub(crate) mod compiled;
mod kernel;
mod piece_list;
mod placed;
mod tables;
