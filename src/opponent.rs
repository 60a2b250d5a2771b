//! Who plays in place of the search: the opponent that `UCI_LimitStrength` asks for, or the network of `Model`.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use dyad_engine::engine::AnyEngine;
use dyad_engine::levels::file::{MAX_ELO, MoveModel};
use dyad_engine::levels::player::{LevelPlayer, PlayerProfile};
use dyad_engine::search::Limits;
use dyad_papers::deepchess::network::Network;
use dyad_papers::deepchess::search::ComparisonEngine;

/// What the options say about the opponent, and the opponent.
pub struct Opponent {
    /// `UCI_LimitStrength`.
    pub limited: bool,
    /// `UCI_Elo`.
    pub elo: u32,
    /// `LevelSeed`; 0 draws another for each game.
    pub seed: u64,
    /// `LevelThinkTime`.
    pub think_time: bool,
    /// The seed drawn for this game.
    game: u64,
    player: Option<LevelPlayer>,
    /// Plays by comparing positions.
    network: Option<ComparisonEngine>,
}

impl Opponent {
    /// The search plays.
    pub fn new() -> Opponent {
        Opponent {
            limited: false,
            elo: MAX_ELO,
            seed: 0,
            think_time: false,
            game: any_seed(),
            player: None,
            network: None,
        }
    }

    /// The next game has other draws.
    pub fn new_game(&mut self) {
        self.game = any_seed();
    }

    /// Takes the network in a file for player; none if there is no file.
    ///
    /// # Errors
    /// When the file cannot be read; the player stays.
    pub fn set_model(&mut self, file: &str) -> Result<(), String> {
        self.network = match file {
            "" => None,
            file => {
                let network = Network::load(Path::new(file)).map_err(|error| error.to_string())?;
                Some(ComparisonEngine::new(Arc::new(network)))
            }
        };
        Ok(())
    }

    /// The player of this search, if it is not the engine. An analysis is never limited, but a network analyzes too.
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

/// A seed that is another each time.
fn any_seed() -> u64 {
    RandomState::new().hash_one(0)
}
