//! The real searches with models that are not the linear one.

use crate::board::{Board, Game};
use crate::control::Control;
use crate::engine::Engine;
use crate::eval::Trainable;
use crate::eval::model::tests::{network, tuples};
use crate::search::{LeafBudget, LeafEnd, LeafSearcher, Limits, Options, Outcome, Score};
use crate::value::INFINITE;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const POSITIONS: [&str; 4] = [
    "r1bqk2r/p2p1ppp/2n1p3/2p5/1bP1n3/1QN2NP1/PP2PPBP/R1B1K2R w KQkq - 3 9",
    "r2q1rk1/pp2bppp/2n1bn2/3p4/3N4/2N1B1P1/PP2PPBP/R2Q1RK1 b - - 0 11",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "4k3/8/8/3q4/8/1B1QK3/8/8 w - - 0 1",
];

fn search<M: Trainable>(engine: &mut Engine<M>, fen: &str, depth: u32) -> Outcome {
    let game = Game::new(Board::from_fen(fen).unwrap());
    engine.clear();
    engine.search(&game, &Limits::depth(depth), &Options::default(), &Control::new(false), &mut |_| {})
}

fn is_searched_with<M: Trainable>(model: M) {
    let model = Arc::new(model);
    let mut engine = Engine::with_hash(Arc::clone(&model), 1).unwrap();
    for fen in POSITIONS {
        let [first, second] = [0, 1].map(|_| search(&mut engine, fen, 6));
        assert!(first.best.is_some() && first.depth == 6);
        assert_eq!((first.best, first.value, first.nodes), (second.best, second.value, second.nodes), "{fen}");
    }
    // Whatever the model says, a mate is a mate, on one thread and on two.
    let mate_in_two = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1";
    assert_eq!(search(&mut engine, mate_in_two, 6).score, Score::Mate(2));
    engine.set_threads(2);
    assert_eq!(search(&mut engine, mate_in_two, 6).score, Score::Mate(2));
}

/// The value of a leaf search is the model's value of the leaf, worked out without a line.
fn finds_leaves_with<M: Trainable>(model: M) {
    let model = Arc::new(model);
    let (mut searcher, mut trace, never) =
        (LeafSearcher::new(Arc::clone(&model)), M::Trace::default(), AtomicBool::new(false));
    let mut quiet = 0;
    for fen in POSITIONS {
        let board = Board::from_fen(fen).unwrap();
        for depth in 0..3 {
            searcher.begin_position();
            let budget = LeafBudget { nodes: u64::MAX, stop: &never };
            let leaf = searcher.search(&board, depth, (-INFINITE, INFINITE), &budget).unwrap();
            if let LeafEnd::Quiet(end) = leaf.end {
                let sign = if end.side_to_move() == board.side_to_move() { 1 } else { -1 };
                assert_eq!(leaf.value, sign * model.forward(&end, &mut trace), "{fen} at depth {depth}");
                quiet += 1;
            }
        }
    }
    assert!(quiet > 8, "{quiet} of 12 leaves were quiet");
}

#[test]
fn tuples_are_searched_with() {
    is_searched_with(tuples(11));
    finds_leaves_with(tuples(12));
}

#[test]
fn a_network_is_searched_with() {
    is_searched_with(network(13));
    finds_leaves_with(network(14));
}
