//! Incremental sums of weights, and the tables for fast updates.
//!
//! The `accumulator` stack decides when `sums` of material, piece-square and pair weights are computed: by rows
//! (`compiled`, `tables`, `kernel`) over a list of pieces (`piece_list`). A `cache` has the sums of terms that depend on a
//! key alone.

pub(crate) mod accumulator;
pub(crate) mod cache;
pub(crate) mod compiled;
mod kernel;
mod piece_list;
mod sums;
mod tables;
