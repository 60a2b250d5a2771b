//! The sums that search updates from move to move, and the tables that make an update cheap.
//!
//! An `accumulator` decides when sums are computed, a table how. The one table in use, `compiled`, sums material,
//! piece-square and pair weights by rows (`tables`, `kernel`) over a list of pieces (`placed`, `piece_list`). A `cache`
//! holds the sums of terms that depend on a key alone.

pub(crate) mod accumulator;
pub(crate) mod cache;
pub(crate) mod compiled;
mod kernel;
mod piece_list;
mod placed;
mod tables;
