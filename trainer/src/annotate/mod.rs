//! Game annotation: evaluations, better moves and explanations.
//!
//! Each move is searched with an empty table, and if it was not the engine's choice the two are compared. So
//! annotations do not depend on the number of threads, and finished moves are kept when the annotation is stopped. A
//! mistake gets the better line and an [explanation](dyad_explain::sentence). [`run`] processes files;
//! [`analysis`] a game; [`pgn`] and [`page`] write the output.

pub mod analysis;
pub mod judgement;
pub mod page;
pub mod pgn;
pub mod run;
#[cfg(test)]
mod testing;

pub use run::{AnnotateEvent, AnnotateSettings, AnnotateSummary, annotate};
