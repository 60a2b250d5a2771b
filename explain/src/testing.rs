//! Positions and comparisons for tests.

use crate::comparison::Comparison;
use dyad_engine::board::{Board, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::LEN;
use dyad_engine::search::{Limits, Options};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// Every feature has a weight.
pub(crate) fn strange_weights() -> Weights {
    let mut ints: Vec<[i32; 2]> = (0..LEN as i32).map(|i| [i % 7 - 3, i % 11 - 5]).collect();
    ints[..6].copy_from_slice(&[[200, 220], [800, 780], [850, 860], [1300, 1350], [2600, 2550], [0, 0]]);
    Weights::from_ints(ints).expect("small weights")
}

pub(crate) fn board(fen: &str) -> Board {
    Board::from_fen(fen).expect("a legal position")
}

/// The game of these moves, in UCI or SAN.
pub(crate) fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::new(board(fen));
    moves.split_whitespace().for_each(|text| game.push(read(game.board(), text)));
    game
}

fn read(board: &Board, text: &str) -> Move {
    board.parse_uci(text).or_else(|_| board.parse_san(text)).expect("a legal move")
}

/// Two moves of a game after a search.
pub(crate) fn compare(game: &Game, moves: [&str; 2], nodes: u64) -> Comparison {
    let moves = moves.map(|text| read(game.board(), text));
    let (limits, options, control) = (Limits::nodes(nodes), Options::default(), Control::new(false));
    Comparison::search(&mut engine(), game, moves, &limits, &options, &control).expect("both moves are searched")
}

pub(crate) fn engine() -> Engine {
    Engine::with_hash(Weights::embedded(), 1).expect("a megabyte")
}

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
