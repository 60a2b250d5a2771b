//! The search that comparison training needs: the leaf of the principal variation.
//!
//! After Tesauro's d-ply comparison training (section 2.2 and Fig. 1 of Tseng, Chen and Wu 2018). It is the engine's
//! own search in its training mode: the full tree to a fixed depth, then quiescence; alpha-beta and move
//! ordering save nodes but change no value.

use super::{Frame, Limits, Options, Report, Shared, Train, Worker};
use crate::board::Board;
use crate::control::Control;
use crate::eval::{Evaluator, Weights};
use crate::tt::Table;
use crate::value::Value;
use crossbeam::utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

/// How a principal variation ends.
#[derive(Clone, Debug)]
pub enum LeafEnd {
    /// In a quiet position, whose static evaluation is the value.
    Quiet(Board),
    /// In mate or in a draw by the rules.
    Terminal,
    /// The value lies outside the window: it is a bound, and there is no variation.
    Bound,
}

/// What a leaf search found.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Value for the side to move of the position searched, in units of the evaluation.
    pub value: Value,
    /// How the principal variation ends.
    pub end: LeafEnd,
    /// Nodes searched.
    pub nodes: u64,
}

/// Searches positions for the leaves of their principal variations. One a thread.
pub struct LeafSearcher {
    worker: Worker,
    table: Table,
    control: Control,
    limits: Limits,
    options: Options,
    nodes: [CachePadded<AtomicU64>; 1],
    salt: u64,
    /// Whether the table was emptied since the position began.
    emptied: bool,
}

impl LeafSearcher {
    /// A searcher with these weights.
    ///
    /// # Panics
    /// When there is not a megabyte of memory left.
    #[must_use]
    pub fn new(weights: Arc<Weights>) -> LeafSearcher {
        LeafSearcher {
            worker: Worker::new(0, Evaluator::new(weights)),
            table: Table::new(1).expect("a megabyte for move ordering"),
            control: Control::new(false),
            limits: Limits::default(),
            options: Options::default(),
            nodes: [CachePadded::new(AtomicU64::new(0))],
            salt: 0,
            emptied: false,
        }
    }

    /// Searches with other weights from now on.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.worker.evaluator_mut().set_weights(weights);
    }

    /// Forgets the ordering state: call it once for each training position, so that results depend on the
    /// position and the weights alone. Searches of one position's children may share it.
    pub fn begin_position(&mut self) {
        // Other keys cost less than an empty table, and no entry of another position is found by them: 64 bits never
        // repeat. They are enough for a single ply, where an entry is only ever asked for by the search that follows
        // the one that stored it. Deeper trees have entries that compete for places, also with those of other
        // positions, so there the first search empties the table.
        self.salt = self.salt.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.emptied = false;
        self.worker.frames.fill(Frame::EMPTY);
    }

    /// Searches `board` with `depth` plies before quiescence in the window (`alpha`, `beta`).
    ///
    /// A value inside the window is exact and comes with its leaf; outside it is a bound: at most the value when
    /// not above alpha, at least the value when not below beta. The static evaluation of the leaf, seen from the side
    /// to move of `board`, equals the value (asserted).
    ///
    /// # Panics
    /// When that invariant is broken.
    pub fn search(&mut self, board: &Board, depth: u32, alpha: Value, beta: Value) -> Leaf {
        let LeafSearcher { worker, table, control, limits, options, nodes, salt, emptied } = self;
        if depth > 1 && !std::mem::replace(emptied, true) {
            table.clear(1);
        }
        let mut ignore = |_: &Report| {};
        let shared = Shared {
            table,
            control,
            limits,
            options,
            bounds: None,
            finished: AtomicBool::new(false),
            nodes,
            findings: &[],
            salt: *salt,
            reporter: Mutex::new(&mut ignore),
        };
        worker.position.reset_to(board);
        worker.arena.clear();
        worker.nodes = 0;
        worker.checkpoint = u64::MAX;
        let open = beta - alpha > 1;
        let searched = if open {
            worker.alpha_beta::<Train, true>(&shared, alpha, beta, depth as i32, false)
        } else {
            worker.alpha_beta::<Train, false>(&shared, alpha, beta, depth as i32, false)
        };
        let Ok(value) = searched else { unreachable!("nobody stops a leaf search") };
        let end = if open && alpha < value && value < beta { worker.leaf(board, value) } else { LeafEnd::Bound };
        Leaf { value, end, nodes: worker.nodes }
    }
}

impl Worker {
    /// Walks the principal variation to its leaf.
    fn leaf(&mut self, root: &Board, value: Value) -> LeafEnd {
        let line = &self.lines[0];
        if line.terminal {
            return LeafEnd::Terminal;
        }
        let mut board = *root;
        for &mv in line.moves() {
            board = board.after(mv);
        }
        self.position.reset_to(&board);
        let eval = self.position.evaluate_raw();
        let seen_from_root = if board.side_to_move() == root.side_to_move() { eval } else { -eval };
        assert_eq!(seen_from_root, value, "the leaf {board} of {root} does not carry the value of the search");
        LeafEnd::Quiet(board)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tt::{Bound, Entry};
    use crate::value::INFINITE;

    /// A table that is full of other positions, as it is after some thousands of them, finds the same leaves by the same
    /// nodes as an empty one.
    #[test]
    fn a_full_table_changes_nothing() {
        let mut used = LeafSearcher::new(Weights::embedded());
        let mut key = 1u64;
        for _ in 0..400_000 {
            key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let entry = Entry { mv: None, value: 0, eval: 0, depth: 2, bound: Bound::Lower, pv: false };
            used.table.store(key, 0, &entry);
        }
        let fens = [
            "r1bqk2r/p2p1ppp/2n1p3/2p5/1bP1n3/1QN2NP1/PP2PPBP/R1B1K2R w KQkq - 3 9",
            "r2q1rk1/pp2bppp/2n1bn2/3p4/3N4/2N1B1P1/PP2PPBP/R2Q1RK1 w - - 0 11",
        ];
        for fen in fens {
            let board = Board::from_fen(fen).unwrap();
            let mut fresh = LeafSearcher::new(Weights::embedded());
            used.begin_position();
            fresh.begin_position();
            for &mv in board.moves().iter().take(6) {
                let [used, fresh] = [&mut used, &mut fresh].map(|searcher| {
                    let leaf = searcher.search(&board.after(mv), 3, -INFINITE, INFINITE);
                    (leaf.value, leaf.nodes, format!("{:?}", leaf.end))
                });
                assert_eq!(used, fresh, "{fen} {mv}");
            }
        }
    }
}
