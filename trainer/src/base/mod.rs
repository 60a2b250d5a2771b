//! Basics for all modules of the trainer.
//!
//! Work on several threads must give the same result as on one, files must survive a crash, and errors must name the
//! problem and its place. This module provides an ordered parallel map, atomic files, folder locks, data hashes and one
//! error type. It uses no other module.

pub mod atomic;
pub mod error;
pub mod hash;
pub mod json_lines;
pub mod lock;
pub mod parallel;
#[cfg(test)]
pub(crate) mod testing;
