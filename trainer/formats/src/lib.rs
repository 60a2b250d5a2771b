//! Games and positions in files.
//!
//! PGN and EPD come plain or packed, sometimes broken, with comments in several dialects ([`remark`]). They are read as
//! streams ([`input`], [`pgn`], [`epd`], [`entries`]), replayed by the rules into [`game`]s with [`score`]s, and written as
//! [`samples`], [`packed`] in 32 bytes a position. [`error`], [`hash`], [`files`] and [`weights_file`] serve all crates of
//! the trainer. This crate uses the board and never searches.

pub mod entries;
pub mod epd;
pub mod error;
pub mod files;
pub mod game;
pub mod input;
pub mod packed;
pub mod pgn;
pub mod remark;
pub mod samples;
pub mod score;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod weights_file;

pub use dyad_engine::hash;
