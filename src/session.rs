//! The engine and what its user has chosen: what a job borrows while it runs.
//!
//! Everything here is plain data. The table of options fills it in, and the choice between weights changes it.

use std::path::{Path, PathBuf};

use dyad_engine::engine::Engine;
use dyad_engine::search;

use crate::choice::KnownId;
use crate::opponent::Opponent;
use crate::tables;

/// The engine and what the user has chosen for it: what a job borrows while it runs.
pub struct Session {
    /// Searches with the chosen table, threads and weights.
    pub engine: Engine,
    /// Plays in place of the search when strength is limited.
    pub opponent: Opponent,
    /// Of which training the engine's weights are.
    pub trained: Option<Trained>,
    /// Whether a search has said so in this game.
    pub trained_is_said: bool,
    /// The id of the engine's weights, once it was asked for.
    pub weights_id: KnownId,
    /// The choices that are handed to each search.
    pub settings: SessionSettings,
}

/// The values of options that the engine does not keep itself.
#[derive(Clone, Debug, Default)]
pub struct SessionSettings {
    /// Options of each search.
    pub search: search::Options,
    /// Whether info lines have the chances of win, draw and loss.
    pub show_wdl: bool,
    /// Whether the margin over the second-best move is reported, for the comments of a game.
    pub pgn_comment: bool,
    /// Whether castling is written as the king's capture of its rook.
    pub chess960: bool,
    /// Which endgame tables are wanted.
    pub tables: tables::TablesChoice,
    /// Which weights are wanted.
    pub weights: WeightsChoice,
}

/// Weights of a training that the engine plays with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trained {
    /// The generation.
    pub generation: u32,
    /// Their file.
    pub path: PathBuf,
}

impl Trained {
    /// Whether they are of the training in `folder`.
    pub fn is_of(&self, folder: &Path) -> bool {
        self.path.parent() == Some(folder)
    }
}

/// The name of the engine with the weights that it plays with.
pub fn engine_name(trained: Option<&Trained>) -> String {
    let trained = trained.map_or_else(String::new, |trained| format!(" (trained, generation {})", trained.generation));
    format!("Dyad {}{trained}", env!("CARGO_PKG_VERSION"))
}

/// What the options say about the weights.
#[derive(Clone, Debug, Default)]
pub struct WeightsChoice {
    /// `WeightsFile`; empty for none.
    pub file: String,
    /// `UseTrained`.
    pub use_trained: bool,
    /// `TrainFolder`.
    pub folder: Option<PathBuf>,
}

/// What setting an option has to say to the user, or why it could not be set.
pub type Outcome = Result<Option<String>, String>;
