//! Games and positions, in files of all formats.
//!
//! PGN and EPD come plain or packed, sometimes broken, with comments in several dialects ([`remark`]). They are read as
//! streams ([`input`], [`pgn`], [`epd`], [`viriformat`], [`bulletformat`] and, with the feature of this name,
//! `binpack`; [`source`] is for games of all formats), replayed by the rules into [`game`]s with [`score`]s and the
//! [`choice`] of an engine, and written as [`samples`], [`packed`] in 32 bytes a position. [`error`], [`hash`],
//! [`files`] and [`weights_file`] serve all crates of the trainer. This crate uses the board and never searches.

mod archive;
#[cfg(feature = "binpack")]
pub mod binpack;
pub mod bulletformat;
pub mod choice;
pub mod epd;
pub mod error;
pub mod files;
pub mod game;
pub mod hash;
pub mod input;
pub mod packed;
pub mod pgn;
pub mod remark;
pub mod samples;
pub mod score;
pub mod source;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod viriformat;
pub mod weights_file;
