//! Games with what the engine thinks of them, and why.
//!
//! Each move is searched by itself with an empty table, and where it was not the engine's choice the two are compared:
//! so a game is annotated alike whatever the number of threads, and what is done when somebody stops it stays. A mistake
//! gets the better line, and one sentence from the exact [difference](dyad_engine::explain::difference) between the two.
//! [`run`] does files; [`analysis`] a game; [`reason`] finds the words; [`pgn`], [`page`] and [`puzzle`] write them down.

pub mod analysis;
pub mod judgement;
pub mod page;
pub mod pgn;
pub mod puzzle;
pub mod reason;
pub mod run;
#[cfg(test)]
mod testing;

pub use run::{Event, Settings, Summary, annotate};
