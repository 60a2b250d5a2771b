//! Positions for tests.

use dyad_engine::board::{Board, Game};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// Calls `visit` with `count` positions of random games.
pub(crate) fn random_boards(count: usize, seed: u128, mut visit: impl FnMut(&Board)) {
    let mut random = Pcg64Mcg::new(seed);
    let mut seen = 0;
    while seen < count {
        let mut game = Game::default();
        visit(game.board());
        while game.ending().is_none() && seen < count && game.moves().len() < 300 {
            let moves = game.board().moves();
            game.push(moves[(random.next_u64() % moves.len() as u64) as usize]);
            visit(game.board());
            seen += 1;
        }
    }
}
