//! Positions for tests.

use crate::learn::examples::{Example, Examples};
use crate::learn::leaves::{Candidate, Candidates};
use dyad_engine::board::{Board, Move};
use dyad_engine::eval::Weights;
use dyad_engine::eval::gradient::Trace;
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The candidates of an example without a search: each child is its own leaf.
pub fn children(example: &Example, weights: &Weights, window: Value) -> Candidates {
    let candidate = |mv: Move| {
        let leaf = example.board.after(mv);
        Candidate { mv, value: -weights.forward(&leaf, &mut Trace::default()), leaf }
    };
    let desired = candidate(example.desired);
    let moves = example.board.moves();
    let others = moves.iter().filter(|&&mv| mv != example.desired && example.board.after(mv).has_legal_move());
    let siblings = others.map(|&mv| candidate(mv)).filter(|sibling| sibling.value > desired.value - window).collect();
    Candidates { desired, siblings, count: moves.len() - 1 }
}

/// A position with its desired move.
pub fn example(fen: &str, desired: &str) -> Example {
    let board = Board::from_fen(fen).unwrap();
    Example { board, desired: board.parse_uci(desired).unwrap(), result: None, score: None, has_margin: true }
}

/// Positions from random games, up to `plies` plies into them, with random desired moves, results and scores.
pub fn random_examples(n: usize, seed: u64, plies: u32) -> Vec<Example> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut examples = Vec::new();
    while examples.len() < n {
        let mut board = Board::startpos();
        for _ in 0..random.random_range(8..plies) {
            let moves = board.moves();
            if moves.is_empty() {
                break;
            }
            board = board.after(moves[random.random_range(0..moves.len())]);
        }
        let moves = board.moves();
        if moves.len() > 1 {
            let desired = moves[random.random_range(0..moves.len())];
            let result = Some([0.0, 0.5, 1.0][random.random_range(0..3)]);
            let score = Some(random.random_range(-300.0..300.0));
            examples.push(Example { board, desired, result, score, has_margin: true });
        }
    }
    examples
}

/// Examples in memory; one in `test_every` is for testing.
pub struct InMemory {
    /// The examples.
    pub examples: Vec<Example>,
    /// Which are for testing.
    pub test_every: usize,
}

impl Examples for InMemory {
    fn identity(&self) -> String {
        format!("{} in memory", self.examples.len())
    }

    fn indices(&self, test: bool) -> Vec<u32> {
        let all = 0..self.examples.len();
        all.filter(|index| index.is_multiple_of(self.test_every) == test).map(|index| index as u32).collect()
    }

    fn get(&self, index: usize) -> Result<Example, Error> {
        Ok(self.examples[index])
    }
}

/// Examples in memory, with a call before each is read.
pub struct Watched<F> {
    /// The examples.
    pub examples: InMemory,
    /// What is called.
    pub on_get: F,
}

impl<F: Fn() + Sync> Examples for Watched<F> {
    fn identity(&self) -> String {
        self.examples.identity()
    }

    fn indices(&self, test: bool) -> Vec<u32> {
        self.examples.indices(test)
    }

    fn get(&self, index: usize) -> Result<Example, Error> {
        (self.on_get)();
        self.examples.get(index)
    }
}
