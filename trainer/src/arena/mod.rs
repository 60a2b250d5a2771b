//! Matches between players.
//!
//! A match ([`matches`]) plays each opening ([`openings`]) with both colors ([`play`]), writes the games
//! ([`pgn_writer`]), from which it can be resumed, and computes statistics of the results ([`statistics`]). This module
//! uses [`base`](crate::base) and [`data`](crate::data), and no training code.

pub mod matches;
pub mod openings;
pub mod pgn_writer;
pub mod play;
mod resumed;
pub mod statistics;
