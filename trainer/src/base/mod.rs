//! What every room of the trainer stands on.
//!
//! Work spread over threads must give the same result as on one, files must survive a machine that stops, and errors
//! must say what was wrong and where. The answers are here and nowhere else: an ordered parallel map, atomic files,
//! folders with one owner, hashes of data, one error type. This room knows none of the others.

pub mod atomic;
pub mod error;
pub mod hash;
pub mod json_lines;
pub mod lock;
pub mod parallel;
#[cfg(test)]
pub(crate) mod testing;
