//! Files: only regular ones are read and replaced, and replacing one is atomic.

mod atomic;
mod regular;

pub use atomic::{AtomicFile, intended_name, write_atomic};
pub use regular::{OwnFolder, open, output_path, read};
