//! The player instead of the search: a player of limited strength for `UCI_LimitStrength`, or the network of `Model`.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use dyad_engine::engine::AnyEngine;
use dyad_engine::search::Limits;
use dyad_levels::file::{MAX_ELO, MoveModel};
use dyad_levels::player::{LevelPlayer, PlayerProfile};
use dyad_papers::deepchess::network::Network;
use dyad_papers::deepchess::search::ComparisonEngine;

use crate::paths::expand_home;

/// The options of limited strength, and the player.
pub struct Opponent {
    /// `UCI_LimitStrength`.
    pub limited: bool,
    /// `UCI_Elo`.
    pub elo: u32,
    /// `LevelSeed`; 0 for a random seed per game.
    pub seed: u64,
    /// `LevelThinkTime`.
    pub think_time: bool,
    /// The random seed of this game.
    game: u64,
    player: Option<LevelPlayer>,
    /// `Model`; empty for none.
    model: String,
    /// Plays by comparing positions.
    network: Option<ComparisonEngine>,
}

impl Opponent {
    /// The default: the search plays.
    pub fn new() -> Opponent {
        Opponent {
            limited: false,
            elo: MAX_ELO,
            seed: 0,
            think_time: false,
            game: random_seed(),
            player: None,
            model: String::new(),
            network: None,
        }
    }

    /// Draws a new seed, and clears what the network has found.
    pub fn new_game(&mut self) {
        self.game = random_seed();
        self.network.iter_mut().for_each(AnyEngine::clear);
    }

    /// Loads the network of `Model`, or removes it if `file` is empty. The file in use is not loaded again.
    ///
    /// # Errors
    /// When the file cannot be read; the player is unchanged.
    pub fn set_model(&mut self, file: &str) -> Result<(), String> {
        if file == self.model {
            return Ok(());
        }
        self.network = match file {
            "" => None,
            file => {
                let network = Network::load(&expand_home(file)).map_err(|error| error.to_string())?;
                Some(ComparisonEngine::new(Arc::new(network)))
            }
        };
        self.model = file.to_string();
        Ok(())
    }

    /// The player of this search; `None` for the engine. Analysis is never limited, but a network also analyzes.
    pub fn player(&mut self, limits: &Limits) -> Option<&mut dyn AnyEngine> {
        if !self.limited || limits.infinite || limits.mate.is_some() {
            return self.network.as_mut().map(|network| network as &mut dyn AnyEngine);
        }
        let seed = if self.seed == 0 { self.game } else { self.seed };
        let profile = PlayerProfile {
            think_time: self.think_time,
            ..PlayerProfile::with_elo(&MoveModel::embedded(), self.elo.into(), seed)
        };
        let player = match self.player.take() {
            Some(mut player) => {
                player.set_profile(profile);
                player
            }
            None => LevelPlayer::new(profile),
        };
        Some(self.player.insert(player))
    }
}

/// A different seed for each call.
fn random_seed() -> u64 {
    RandomState::new().hash_one(0)
}
