//! Games and positions: from files of any source to samples that can be learned from.
//!
//! PGN and EPD come plain or packed, sometimes broken, with comments in several dialects ([`remark`]). They are read as
//! streams ([`input`], [`pgn`], [`epd`], [`viriformat`], [`bulletformat`] and, with the feature of this name, `binpack`;
//! [`source`] is for games of all forms), replayed by the rules into [`game`]s with [`score`]s and what engines report of
//! a [`choice`], filtered without duplicates ([`positions`], [`prepare`]) and written as [`samples`], [`packed`] in 32
//! bytes a position. [`label`] replaces the moves of a game by those of a search, of this engine or of an [`external`]
//! one, with a [`journal`] of what was found. [`schedule`] says in which order samples are seen. This module knows
//! [`base`](crate::base) alone.

mod archive;
#[cfg(feature = "binpack")]
pub mod binpack;
pub mod bulletformat;
pub mod choice;
pub mod epd;
pub mod external;
pub mod game;
pub mod input;
pub mod journal;
pub mod label;
pub mod leaves;
pub mod packed;
pub mod pgn;
pub mod positions;
pub mod prepare;
pub mod remark;
pub mod samples;
pub mod schedule;
pub mod score;
pub mod source;
#[cfg(test)]
pub(crate) mod testing;
pub mod viriformat;
