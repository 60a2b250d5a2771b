//! The stages of a self-training by regression without files: games, positions, fit and matches of a generation as
//! functions of settings and weights. [`stages`](super::stages) runs them in a folder, the web page in memory.

use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::Game;
use dyad_engine::eval::layout::{GROUPS, MATERIAL, PAIRS, PIECE_SQUARE};
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::game::GameRecord;
use dyad_formats::hash;
use dyad_formats::packed::Packed;
use serde_json::json;

use super::generator::{FILTER_NODES, GeneratorSettings, HASH};
use super::settings::{Method, SelfTrainSettings};
use crate::arena::game_file;
use crate::arena::matches::{Match, MatchPlayer};
use crate::arena::openings::{OpeningSettings, RandomOpenings, opening_filter};
use crate::arena::play::{Adjudication, DrawRule, SearchLimits, WinRule};
use crate::arena::statistics::{Decision, Estimate, Sprt};
use crate::base::context::Context;
use crate::base::group_value::GroupValue;
use crate::base::words::grouped;
use crate::data::positions::Filters;
use crate::data::prepare;
use crate::fit::calibration::pawns_of_e;
use crate::fit::regression::{self as fit, Data, Target};

/// Smallest number of updates in a pass of a regression; the batches of small data sets are smaller.
const FEWEST_UPDATES: usize = 32;
/// Smallest batch.
const SMALLEST_BATCH: usize = 256;

/// Smallest number of positions to train the 2-tuples; with fewer they are frozen, and the other weights learn.
const PAIRS_FROM: usize = 50_000;

/// Learning rate and L2 of the other weights then. With 9,400 positions the result was 177 +- 48 Elo stronger than the
/// piece values; with the values for many positions 72 +- 48 Elo (200 games, 1,000 nodes per move).
const FEW: (f64, f64) = (0.005, 100.0);

/// Adjudication of match games. A limit of five pawns instead of ten overestimated weights by 17 Elo (L24): a match has
/// to measure how often such an advantage wins. Weights of material alone consider most positions even, so draws begin
/// late.
pub(super) const MATCH_ADJUDICATION: Adjudication = Adjudication {
    draw: Some(DrawRule { from: 50, moves: 10, score: 8 }),
    win: Some(WinRule { moves: 4, score: 1_000 }),
    plies: Some(400),
};

/// Largest advantage in the openings of a comparison training, in centipawns: it learns from moves of good play.
const BALANCED: Value = 50;

/// Streams of random numbers, each with its own seed. The numbers enter the seeds: they must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomStream {
    /// Self-play games.
    Games = 0,
    /// Positions of the games.
    Positions = 1,
    /// The order of the positions in a training.
    Training = 2,
    /// The gating match.
    Match = 3,
    /// The second pass of a comparison training.
    FineTuning = 5,
    /// Tuning by games.
    Tuning = 6,
    /// Games against the reference.
    Distance = 7,
    /// The match that decides which weights the engine plays with.
    Proof = 8,
    /// Games against the levels.
    Levels = 9,
}

/// The seed of a stream in a generation.
pub fn seed(settings: &SelfTrainSettings, generation: u32, stream: RandomStream) -> u64 {
    let generation = hash::fold(hash::mix(settings.seed), u64::from(generation));
    hash::fold(generation, stream as u64)
}

/// The games of a generation.
pub fn games(settings: &SelfTrainSettings, generation: u32) -> GeneratorSettings {
    GeneratorSettings {
        games: settings.positions.div_ceil(settings.positions_per_game as u64),
        nodes: settings.nodes_of(generation),
        variant: settings.variant,
        limit: if settings.method == Method::Comparison { BALANCED } else { GeneratorSettings::default().limit },
        seed: seed(settings, generation, RandomStream::Games),
        ..GeneratorSettings::default()
    }
}

/// A game from its text in PGN, if it is complete.
pub fn parse(pgn: &str) -> Option<GameRecord> {
    game_file::parse(pgn.as_bytes().to_vec(), Path::new("a game")).map(|(_, game)| game)
}

/// The positions drawn from the games of a generation.
pub fn positions(settings: &SelfTrainSettings, generation: u32, filters: Filters) -> prepare::PrepareSettings {
    prepare::PrepareSettings {
        filters: Filters { per_game: Some(settings.positions_per_game), ..filters },
        count: Some(settings.positions),
        seed: seed(settings, generation, RandomStream::Positions),
        ..prepare::PrepareSettings::default()
    }
}

/// A regression to the positions of a window. It starts from the initial weights: better ones would already agree with
/// the scores of their own searches.
pub struct WindowFit<'a> {
    settings: fit::FitSettings,
    data: Data,
    generation: u32,
    initial: &'a Weights,
    /// Whether the 2-tuples are frozen.
    pairs_frozen: bool,
}

impl<'a> WindowFit<'a> {
    /// Prepares the fit of a generation.
    ///
    /// # Errors
    /// When there is no position to learn from.
    pub fn new(
        own: &SelfTrainSettings,
        generation: u32,
        samples: &[Packed],
        initial: &'a Weights,
    ) -> Result<WindowFit<'a>, Error> {
        let target = Target { result_share: own.result_share, pawns: pawns_of_e(samples)? };
        let (mut data, usual) = (Data::of(samples, &target)?, fit::FitSettings::default());
        let pairs_frozen = data.train.len() < PAIRS_FROM;
        if pairs_frozen {
            // So few test positions measure nothing: the match decides.
            let tests = std::mem::take(&mut data.test);
            data.train.extend(tests);
        }
        let mut settings = fit::FitSettings {
            target,
            epochs: own.passes,
            // No early stopping: the last steps are the smallest.
            patience: own.passes,
            batch: (data.train.len() / FEWEST_UPDATES).clamp(SMALLEST_BATCH, usual.batch),
            seed: seed(own, generation, RandomStream::Training),
            ..usual
        };
        if pairs_frozen {
            let (rate, l2) = FEW;
            settings.freeze.push(PAIRS.name.to_string());
            settings.rate.push(GroupValue::new("*", rate));
            settings.l2.push(GroupValue::new("*", l2));
        }
        settings.l2.push(GroupValue::new(PAIRS.name, own.pairs_l2));
        Ok(WindowFit { settings, data, generation, initial, pairs_frozen })
    }

    /// Only the values of the pieces and of their squares learn, and freely: a first look at what few games teach.
    pub fn of_squares(mut self) -> Self {
        let names = GROUPS.iter().map(|group| group.name);
        let others = names.filter(|name| ![MATERIAL.name, PIECE_SQUARE.name].contains(name));
        self.settings.freeze = others.map(str::to_string).collect();
        self.settings.l2 = vec![GroupValue::new("*", 20.0)];
        self
    }

    /// A note for the user if the 2-tuples are frozen.
    pub fn note(&self) -> Option<String> {
        let [count, needed] = [self.data.train.len(), PAIRS_FROM].map(|count| grouped(count as u64));
        self.pairs_frozen.then(|| {
            format!("{count} positions to fit: pieces, squares and terms learn; pairs of pieces need {needed}")
        })
    }

    /// Positions to learn from.
    pub fn positions(&self) -> u64 {
        self.data.train.len() as u64
    }

    /// Passes over the positions.
    pub fn passes(&self) -> u32 {
        self.settings.epochs
    }

    /// Fits weights.
    ///
    /// # Errors
    /// When the result is no valid weights, or when it is stopped.
    pub fn run(&self, context: &mut Context<'_, fit::FitEvent>) -> Result<Weights, Error> {
        let WindowFit { settings, data, generation, initial: start, .. } = self;
        let fitted = fit::fit(settings, data, &FloatWeights::from(*start), context)?;
        if fitted.stopped {
            return Err(Error::Stopped);
        }
        let made = json!({
            "by": "dyad selftrain",
            "generation": generation,
            "positions": data.train.len(),
            "settings": settings,
            "loss": [fitted.start_loss, fitted.test_loss()],
            "of": start.id(),
        });
        // With the units of the initial weights all generations have the same piece values. A scale fitted to search
        // scores of the weights themselves could grow from generation to generation.
        let mut weights = Weights::from_floats(&fitted.weights, made)?;
        weights.units = start.units;
        Ok(weights)
    }
}

/// Two players of a match, with their names.
pub type Players = [(String, Arc<Weights>); 2];

/// A match of a generation with `nodes` nodes per move.
pub fn match_of(settings: &SelfTrainSettings, players: &Players, nodes: u64, games: u64, sprt: Option<Sprt>) -> Match {
    Match {
        players: players.each_ref().map(|(name, weights)| MatchPlayer::new(name, Arc::clone(weights))),
        limits: SearchLimits::Nodes(nodes),
        hash: HASH,
        pairs: games.div_ceil(2),
        threads: settings.threads,
        adjudication: MATCH_ADJUDICATION,
        sprt,
    }
}

/// The openings of a match; `other` are the weights of the second player.
pub fn openings(
    settings: &SelfTrainSettings,
    seed: u64,
    other: &Arc<Weights>,
) -> RandomOpenings<impl FnMut(&Game) -> Value + Send + use<>> {
    let random = OpeningSettings { variant: settings.variant, ..OpeningSettings::new(seed) };
    RandomOpenings::new(random, opening_filter(Arc::clone(other), FILTER_NODES))
}

/// The test that ends the games against the reference early if the weights are far weaker.
pub const DISTANCE_SPRT: Sprt = Sprt { elo0: -200.0, elo1: 0.0, alpha: 0.05, beta: 0.05 };

/// Whether a match proves that the first player is stronger: the SPRT accepted H1, or the whole interval is above zero
/// after the last game.
pub fn proves(decision: Option<Decision>, elo: &Estimate) -> bool {
    match decision {
        Some(Decision::H1) => true,
        Some(Decision::H0) => false,
        _ => elo.low > 0.0,
    }
}
