//! Games between engines, and test suites: is one better than the other?
//!
//! A match ([`matches`]) plays each opening ([`openings`]) with both colors ([`play`]), writes the games ([`pgn_writer`]), from
//! which it can be resumed, and says what they prove ([`statistics`]). [`suite`] counts the test positions and puzzles that an engine solves;
//! [`convert`](mod@convert) writes games in another form. This room knows [`base`](crate::base) and [`data`](crate::data), and nothing of
//! training.

pub mod convert;
pub mod matches;
pub mod openings;
pub mod outside;
pub mod pgn_writer;
pub mod play;
mod puzzles;
mod resumed;
pub mod statistics;
pub mod suite;
