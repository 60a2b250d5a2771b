//! The session: the engine, and the values of options. A running job owns it.
//!
//! All types are plain data. The table of options and the choice of weights set them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use dyad_engine::engine::Engine;
use dyad_engine::search;

use crate::opponent::Opponent;
use crate::tables;

/// The engine and its options.
pub struct Session {
    /// The engine, with hash table, threads and weights.
    pub engine: Engine,
    /// Plays instead of the search if strength is limited.
    pub opponent: Opponent,
    /// The training that the engine's weights are from.
    pub trained: Option<Trained>,
    /// Whether a search of this game has reported `trained`.
    pub trained_reported: bool,
    /// The options of each search.
    pub settings: SessionSettings,
}

/// The values of options that the engine does not keep itself.
#[derive(Clone, Debug, Default)]
pub struct SessionSettings {
    /// Options of each search.
    pub search: search::Options,
    /// `UCI_ShowWDL`.
    pub show_wdl: bool,
    /// `UCI_Chess960`: whether castling is written as the king's capture of its rook.
    pub chess960: bool,
    /// The options of tablebases.
    pub tables: tables::TablesChoice,
    /// The options of weights.
    pub weights: WeightsChoice,
}

/// Weights of a training that the engine plays with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trained {
    /// The generation.
    pub generation: u32,
    /// Their file.
    pub path: PathBuf,
    /// Whether they are proven stronger than the weights that the training measures itself by.
    pub proven: bool,
}

impl Trained {
    /// Whether they are from the training in `folder`.
    pub fn is_of(&self, folder: &Path) -> bool {
        self.path.parent() == Some(folder)
    }
}

/// The name of the engine, with the generation of trained weights.
pub fn engine_name(trained: Option<&Trained>) -> String {
    let trained = trained.map_or_else(String::new, |Trained { generation, proven, .. }| {
        let state = if *proven { "trained" } else { "in training" };
        format!(" ({state}, generation {generation})")
    });
    format!("Dyad {}{trained}", env!("CARGO_PKG_VERSION"))
}

/// Which weights of the training in `TrainFolder` the engine plays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlayTrained {
    /// Those that are proven stronger.
    Proven,
    /// The best ones of the training, whatever their strength.
    Latest,
    /// None.
    Never,
}

/// The options of weights.
#[derive(Clone, Debug, Default)]
pub struct WeightsChoice {
    /// `WeightsFile`; empty for none.
    pub file: String,
    /// `PlayTrained`; `None` until it is set or `uci` sets its default.
    pub play_trained: Option<PlayTrained>,
    /// `TrainFolder`.
    pub folder: Option<PathBuf>,
}

/// The result of setting an option: a note for the user, or the error.
pub type Outcome = Result<Option<String>, String>;
