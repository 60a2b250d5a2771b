//! The opponent that `UCI_LimitStrength` asks for: who plays in place of the search.

use std::hash::{BuildHasher, RandomState};

use dyad_engine::levels::file::{HIGHEST, MoveModel};
use dyad_engine::levels::player::{Persona, Player};
use dyad_engine::search::Limits;

/// What the options say about the opponent, and the opponent.
pub struct Opponent {
    /// `UCI_LimitStrength`.
    pub limited: bool,
    /// `UCI_Elo`.
    pub elo: u32,
    /// `LevelSeed`; 0 draws another for each game.
    pub seed: u64,
    /// The seed drawn for this game.
    game: u64,
    player: Option<Player>,
}

impl Opponent {
    /// Nobody plays in place of the search.
    pub fn new() -> Opponent {
        Opponent { limited: false, elo: HIGHEST, seed: 0, game: any_seed(), player: None }
    }

    /// The next game has other draws.
    pub fn new_game(&mut self) {
        self.game = any_seed();
    }

    /// The player of this search, if it is one for a game: an analysis is never limited.
    pub fn player(&mut self, limits: &Limits) -> Option<&mut Player> {
        if !self.limited || limits.infinite || limits.mate.is_some() {
            return None;
        }
        let seed = if self.seed == 0 { self.game } else { self.seed };
        let persona = Persona::with_elo(&MoveModel::embedded(), self.elo.into(), seed);
        let player = match self.player.take() {
            Some(mut player) => {
                player.set_persona(persona);
                player
            }
            None => Player::new(persona),
        };
        Some(self.player.insert(player))
    }
}

/// A seed that is another each time.
fn any_seed() -> u64 {
    RandomState::new().hash_one(0)
}
