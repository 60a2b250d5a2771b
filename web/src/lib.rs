//! Dyad in a browser: the engine, its explanations, and self-training from the piece values.
//!
//! [`play`], [`explain`], [`tables`], [`learn`] and [`diary`] are plain Rust, tested without a browser; `exports` has the classes
//! and functions that a page calls. Everything is synchronous and runs in workers, which share nothing: texts are JSON,
//! weights are weights files.

mod diary;
pub mod explain;
mod exports;
mod learn;
pub mod play;
pub mod tables;

use std::sync::Arc;

use dyad_engine::eval::Weights;

/// Reads a weights file.
///
/// # Errors
/// When it is no weights file of this layout.
pub fn weights(file: &[u8]) -> Result<Arc<Weights>, String> {
    Weights::from_json(file).map(Arc::new).map_err(|error| error.to_string())
}
