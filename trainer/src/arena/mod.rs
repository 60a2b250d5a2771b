//! Games between engines, and test suites: is one better than the other?
//!
//! A match ([`matches`]) plays each opening ([`openings`]) with both colors ([`play`]), writes the games ([`pgn`]) and
//! says what they prove ([`statistics`]). [`suite`] counts the test positions that an engine solves.

pub mod matches;
pub mod openings;
pub mod pgn;
pub mod play;
pub mod statistics;
pub mod suite;
