//! The player of limited strength that plays instead of the search, for `UCI_LimitStrength`.

use std::hash::{BuildHasher, RandomState};

use dyad_engine::search::Limits;
use dyad_levels::file::{MAX_ELO, MoveModel};
use dyad_levels::player::{LevelPlayer, PlayerProfile};

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
}

impl Opponent {
    /// The default: the search plays.
    pub fn new() -> Opponent {
        Opponent { limited: false, elo: MAX_ELO, seed: 0, think_time: false, game: random_seed(), player: None }
    }

    /// Draws a new seed.
    pub fn new_game(&mut self) {
        self.game = random_seed();
    }

    /// The player of this search; `None` for the engine. Analysis is never limited.
    pub fn player(&mut self, limits: &Limits) -> Option<&mut LevelPlayer> {
        if !self.limited || limits.infinite || limits.mate.is_some() {
            return None;
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
