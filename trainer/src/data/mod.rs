//! Games and positions: from files of any source to samples that can be learned from.
//!
//! PGN and EPD come plain or packed, sometimes broken, with comments in several dialects. They are read as streams
//! ([`input`], [`games`], [`epd`]), replayed by the rules, filtered without duplicates ([`positions`], [`prepare`])
//! and written as [`samples`], 32 bytes a position. [`label`] replaces the moves of a game by those of a search, of
//! this engine or of an [`external`] one. [`schedule`] says in which order samples are seen.

pub mod epd;
pub mod external;
pub mod games;
pub mod input;
pub mod label;
pub mod positions;
pub mod prepare;
pub mod samples;
pub mod schedule;
