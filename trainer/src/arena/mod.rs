//! Matches between players.
//!
//! A match ([`matches`]) plays each opening ([`openings`]) with both colors ([`play`]), writes the games
//! ([`pgn_writer`]) to a file from which it can be resumed ([`game_file`]), and computes statistics of the results
//! ([`statistics`]). This module uses [`base`](crate::base) and [`data`](crate::data), and no training code.

pub mod game_file;
pub mod matches;
pub mod openings;
pub mod pgn_writer;
pub mod play;
mod resumed;
pub mod statistics;
