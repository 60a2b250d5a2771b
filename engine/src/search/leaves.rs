//! The search of comparison training, which finds the leaf of the principal variation.
//!
//! After Tesauro's d-ply comparison training (section 2.2 and Fig. 1 of Tseng, Chen and Wu 2018): the full tree to a
//! fixed depth, then quiescence with all check evasions and all captures that do not lose material. The value of a line
//! must be the static evaluation of its leaf and depend on position and weights alone, so this is plain alpha-beta with
//! the uncorrected evaluation: no pruning, reductions, TT cutoffs or histories. Principal variation search, TT moves
//! and killers save nodes without changing the value.

use super::history::OrderingContext;
use super::ordering::{Arena, MoveSet, Picker, ScoredMove, VictimScorer};
use super::position::Position;
use super::pv::PvLine;
use super::tt::{Bound, Entry, Table};
use super::window::Window;
use crate::board::{Board, Move};
use crate::eval::{Evaluator, Weights};
use crate::hash;
use crate::value::{DRAW, INFINITE, MAX_PLY, NONE, Value, mated_in};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How a principal variation ends.
#[derive(Clone, Debug)]
pub enum LeafEnd {
    /// In a quiet position, whose static evaluation is the value.
    Quiet(Board),
    /// In mate or in a draw by the rules.
    Terminal,
    /// The value is outside the window: a bound without a principal variation.
    Bound,
}

/// The result of a leaf search.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Value for the side to move of the searched position, in units of the evaluation.
    pub value: Value,
    /// How the principal variation ends.
    pub end: LeafEnd,
    /// Nodes searched.
    pub nodes: u64,
}

/// The limits of a leaf search.
#[derive(Clone, Copy, Debug)]
pub struct LeafBudget<'a> {
    /// Node limit.
    pub nodes: u64,
    /// Set to stop the search.
    pub stop: &'a AtomicBool,
}

/// Why a leaf search has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The search needs more nodes than its budget, which depends on position and weights alone.
    OutOfNodes,
    /// The search was stopped.
    Stopped,
}

/// Searches positions for the leaves of their principal variations. Each thread has its own.
pub struct LeafSearcher {
    position: Position,
    table: Table,
    arena: Arena,
    pv_lines: Vec<PvLine>,
    killers: Vec<[Option<Move>; 2]>,
    nodes: u64,
    /// Number of nodes at which the limits are checked next.
    checkpoint: u64,
    /// XORed into all keys; a new one for each training position.
    salt: u64,
    /// Whether the table was cleared since [`LeafSearcher::begin_position`].
    cleared: bool,
}

/// Nodes between two checks of the limits.
const CHECK_INTERVAL: u64 = 4096;

impl LeafSearcher {
    /// A searcher with these weights.
    ///
    /// # Panics
    /// Without memory for a table of a megabyte.
    pub fn new(weights: Arc<Weights>) -> LeafSearcher {
        LeafSearcher {
            position: Position::new(Evaluator::new(weights)),
            table: Table::new(1).expect("memory for a table of a megabyte"),
            arena: Arena::new(),
            pv_lines: vec![PvLine::new(); MAX_PLY + 2],
            killers: vec![[None; 2]; MAX_PLY + 2],
            nodes: 0,
            checkpoint: 0,
            salt: 0,
            cleared: false,
        }
    }

    /// Replaces the weights.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.position.evaluator_mut().set_weights(weights);
    }

    /// Resets the move ordering: call it once for each training position, so that results depend on the position and
    /// the weights alone. Searches of one position's children may share it.
    pub fn begin_position(&mut self) {
        // A new salt is cheaper than clearing the table and hides all older entries. It suffices for a single ply,
        // where only the next search probes an entry. In deeper trees older entries would compete for slots, so the
        // first search clears the table.
        self.salt = self.salt.wrapping_add(hash::GOLDEN);
        self.cleared = false;
        self.killers.fill([None; 2]);
    }

    /// Searches `board` with `depth` plies before quiescence in the window (`alpha`, `beta`).
    ///
    /// A value inside the window is exact and comes with its leaf, whose static evaluation from the side to move of
    /// `board` equals the value. Outside the window the value is an upper or a lower bound.
    ///
    /// # Errors
    /// When the budget is used up or the search is stopped. The move ordering may then depend on the time of the stop:
    /// call [`LeafSearcher::begin_position`] before the next search.
    ///
    /// # Panics
    /// If the value is not the evaluation of the leaf.
    pub fn search(
        &mut self,
        board: &Board,
        depth: u32,
        (alpha, beta): (Value, Value),
        budget: &LeafBudget,
    ) -> Result<Leaf, Unfinished> {
        if depth > 1 && !std::mem::replace(&mut self.cleared, true) {
            self.table.clear(1);
        }
        self.position.reset(board, &[board.key()]);
        self.arena.clear();
        self.nodes = 0;
        self.checkpoint = 0;
        let window = Window::new(alpha, beta);
        let open = beta - alpha > 1;
        let value = if open {
            self.alpha_beta::<true>(window, depth, budget)?
        } else {
            self.alpha_beta::<false>(window, depth, budget)?
        };
        let nodes = self.nodes;
        let end = if open && window.contains(value) { self.leaf(board, value) } else { LeafEnd::Bound };
        Ok(Leaf { value, end, nodes })
    }

    /// The moves to the leaf of the last search.
    pub fn line(&self) -> &[Move] {
        self.pv_lines[0].moves()
    }

    /// Walks the principal variation to its leaf.
    fn leaf(&mut self, root: &Board, value: Value) -> LeafEnd {
        let line = &self.pv_lines[0];
        if line.terminal {
            return LeafEnd::Terminal;
        }
        let mut board = *root;
        for &mv in line.moves() {
            board = board.after(mv);
        }
        self.position.reset(&board, &[board.key()]);
        let eval = self.position.evaluate_raw();
        let seen_from_root = if board.side_to_move() == root.side_to_move() { eval } else { -eval };
        assert_eq!(
            seen_from_root, value,
            "the evaluation of the leaf {board} of {root} is not the value of the search"
        );
        LeafEnd::Quiet(board)
    }

    /// The fail-soft value of the current position.
    fn alpha_beta<const PV: bool>(
        &mut self,
        mut window: Window,
        depth: u32,
        budget: &LeafBudget,
    ) -> Result<Value, Unfinished> {
        if depth == 0 {
            return self.quiescence::<PV>(window, budget);
        }
        if let Some(value) = self.enter_node::<PV>(budget)? {
            return Ok(value);
        }
        let ply = self.position.ply();
        let board = *self.position.board();
        let key = board.key() ^ self.salt;
        let tt_move = self.table.probe(key, ply).and_then(|entry| entry.mv).filter(|&mv| board.is_legal(mv));
        self.killers[ply + 1] = [None; 2];
        let context = OrderingContext { killers: self.killers[ply], ..OrderingContext::EMPTY };
        let mut picker = Picker::new(&self.arena, MoveSet::All, tt_move, 0);
        let (mut best, mut best_move, mut count) = (-INFINITE, None, 0);
        while let Some(picked) = picker.next(&mut self.arena, &board, &VictimScorer, &context) {
            let ScoredMove { mv, piece_to, .. } = picked;
            count += 1;
            if depth > 1 {
                self.table.prefetch(board.likely_key_after(mv, piece_to) ^ self.salt);
            }
            self.make(mv);
            let mut value = INFINITE;
            if !PV || count > 1 {
                value = -self.alpha_beta::<false>(Window::null(window.alpha).flipped(), depth - 1, budget)?;
            }
            if PV && value > window.alpha {
                value = -self.alpha_beta::<true>(window.flipped(), depth - 1, budget)?;
            }
            self.position.unmake();
            if value > best {
                best = value;
                if value > window.alpha {
                    best_move = Some(mv);
                    if PV {
                        PvLine::extend_at(&mut self.pv_lines, ply, mv);
                    }
                    if window.fails_high(value) {
                        self.update_killers(&board, ply, mv);
                        break;
                    }
                    window.alpha = value;
                }
            }
        }
        picker.release(&mut self.arena);
        if count == 0 {
            return Ok(self.no_moves::<PV>(&board, ply));
        }
        let entry = Entry { mv: best_move, value: best, eval: NONE, depth: depth as i32, bound: Bound::None, pv: PV };
        self.table.store(key, ply, &entry);
        Ok(best)
    }

    /// Quiescence search: captures, promotions to a queen and check evasions.
    fn quiescence<const PV: bool>(&mut self, mut window: Window, budget: &LeafBudget) -> Result<Value, Unfinished> {
        if let Some(value) = self.enter_node::<PV>(budget)? {
            return Ok(value);
        }
        let ply = self.position.ply();
        let board = *self.position.board();
        let in_check = board.in_check();
        let mut best = -INFINITE;
        if !in_check {
            best = self.position.evaluate_raw();
            if window.fails_high(best) {
                return Ok(best);
            }
            window.alpha = window.alpha.max(best);
        }
        let moves = if in_check { MoveSet::All } else { MoveSet::Noisy };
        let mut picker = Picker::new(&self.arena, moves, None, SEE_THRESHOLD);
        let mut count = 0;
        let context = OrderingContext::EMPTY;
        while let Some(picked) = picker.next(&mut self.arena, &board, &VictimScorer, &context) {
            let mv = picked.mv;
            count += 1;
            self.make(mv);
            let value = -self.quiescence::<PV>(window.flipped(), budget)?;
            self.position.unmake();
            if value > best {
                best = value;
                if value > window.alpha {
                    if PV {
                        PvLine::extend_at(&mut self.pv_lines, ply, mv);
                    }
                    if window.fails_high(value) {
                        break;
                    }
                    window.alpha = value;
                }
            }
        }
        picker.release(&mut self.arena);
        Ok(if in_check && count == 0 { self.no_moves::<PV>(&board, ply) } else { best })
    }

    /// Checks the budget and clears the PV line. Returns a value for draws and at the last ply.
    fn enter_node<const PV: bool>(&mut self, budget: &LeafBudget) -> Result<Option<Value>, Unfinished> {
        if self.nodes >= self.checkpoint {
            self.check_budget(budget)?;
        }
        let ply = self.position.ply();
        let draw = self.position.is_draw() || (ply >= MAX_PLY - 2 && self.position.board().in_check());
        if PV {
            self.pv_lines[ply].end(draw);
        }
        if draw {
            return Ok(Some(DRAW));
        }
        Ok((ply >= MAX_PLY - 2).then(|| self.position.evaluate_raw()))
    }

    #[cold]
    fn check_budget(&mut self, budget: &LeafBudget) -> Result<(), Unfinished> {
        if budget.stop.load(Relaxed) {
            return Err(Unfinished::Stopped);
        }
        if self.nodes > budget.nodes {
            return Err(Unfinished::OutOfNodes);
        }
        self.checkpoint = budget.nodes.saturating_add(1).min(self.nodes + CHECK_INTERVAL);
        Ok(())
    }

    fn make(&mut self, mv: Move) {
        self.position.make(mv);
        self.nodes += 1;
    }

    /// The value of mate or stalemate.
    fn no_moves<const PV: bool>(&mut self, board: &Board, ply: usize) -> Value {
        if PV {
            self.pv_lines[ply].end(true);
        }
        if board.in_check() { mated_in(ply) } else { DRAW }
    }

    fn update_killers(&mut self, board: &Board, ply: usize, mv: Move) {
        let (killers, killer) = (&mut self.killers[ply], Some(mv.unmarked()));
        if !board.is_noisy(mv) && killers[0] != killer {
            *killers = [killer, killers[0]];
        }
    }
}

/// Smallest SEE value of captures in quiescence. Trained weights depend on it, so it is not a search parameter.
const SEE_THRESHOLD: i32 = -44;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{EXPLOSIVE, FENS};
    use crate::value::{MATE, MATE_IN_MAX};

    static NEVER: AtomicBool = AtomicBool::new(false);
    const UNLIMITED: LeafBudget = LeafBudget { nodes: u64::MAX, stop: &NEVER };

    /// The minimax value of the full tree with quiescence at its leaves.
    fn minimax(searcher: &mut LeafSearcher, board: &Board, depth: u32) -> Value {
        if depth == 0 || board.insufficient_material() || board.halfmove_clock() >= 100 {
            return searcher.search(board, 0, (-INFINITE, INFINITE), &UNLIMITED).unwrap().value;
        }
        let moves = board.moves();
        if moves.is_empty() {
            return if board.in_check() { -MATE } else { 0 };
        }
        moves
            .iter()
            .map(|&mv| {
                let value = -minimax(searcher, &board.after(mv), depth - 1);
                // A mate is one ply longer from here.
                if value >= MATE_IN_MAX {
                    value - 1
                } else if value <= -MATE_IN_MAX {
                    value + 1
                } else {
                    value
                }
            })
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn leaf_searches_equal_minimax() {
        let weights = Weights::embedded();
        let mut searcher = LeafSearcher::new(Arc::clone(&weights));
        let mut plain = LeafSearcher::new(weights);
        for fen in FENS {
            let board = Board::from_fen(fen).unwrap();
            for depth in 0..=2 {
                searcher.begin_position();
                let mut leaf = |window| searcher.search(&board, depth, window, &UNLIMITED).unwrap();
                let exact = leaf((-INFINITE, INFINITE));
                plain.begin_position();
                assert_eq!(exact.value, minimax(&mut plain, &board, depth), "{fen} depth {depth}");
                assert!(!matches!(exact.end, LeafEnd::Bound), "{fen}");
                // Null windows bound the value.
                let above = leaf((exact.value - 1, exact.value));
                let below = leaf((exact.value, exact.value + 1));
                assert!(above.value >= exact.value && below.value <= exact.value, "{fen} depth {depth}");
            }
        }
    }

    /// A table full of other positions leads to the same leaves and nodes as an empty one.
    #[test]
    fn a_full_table_changes_nothing() {
        let mut used = LeafSearcher::new(Weights::embedded());
        let mut key = 1u64;
        for _ in 0..400_000 {
            key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let entry = Entry { mv: None, value: 0, eval: 0, depth: 2, bound: Bound::Lower, pv: false };
            used.table.store(key, 0, &entry);
        }
        let middlegames = [
            "r1bqk2r/p2p1ppp/2n1p3/2p5/1bP1n3/1QN2NP1/PP2PPBP/R1B1K2R w KQkq - 3 9",
            "r2q1rk1/pp2bppp/2n1bn2/3p4/3N4/2N1B1P1/PP2PPBP/R2Q1RK1 w - - 0 11",
        ];
        for fen in FENS.into_iter().chain(middlegames) {
            let board = Board::from_fen(fen).unwrap();
            let mut fresh = LeafSearcher::new(Weights::embedded());
            used.begin_position();
            fresh.begin_position();
            for &mv in board.moves().iter().take(6) {
                let [used, fresh] = [&mut used, &mut fresh].map(|searcher| {
                    let leaf = searcher.search(&board.after(mv), 3, (-INFINITE, INFINITE), &UNLIMITED).unwrap();
                    (leaf.value, leaf.nodes, format!("{:?}", leaf.end))
                });
                assert_eq!(used, fresh, "{fen} {mv}");
            }
        }
    }

    #[test]
    fn a_search_ends_at_exactly_its_node_limit() {
        let board = Board::from_fen(EXPLOSIVE[2]).unwrap();
        let mut searcher = LeafSearcher::new(Weights::embedded());
        for depth in 0..3 {
            searcher.begin_position();
            let budget = LeafBudget { nodes: 10_000, stop: &NEVER };
            let ended = searcher.search(&board, depth, (-INFINITE, INFINITE), &budget);
            assert_eq!((ended.unwrap_err(), searcher.nodes), (Unfinished::OutOfNodes, 10_001));
        }
        let calm = Board::startpos();
        searcher.begin_position();
        let nodes = searcher.search(&calm, 2, (-INFINITE, INFINITE), &UNLIMITED).unwrap().nodes;
        for (allowed, found) in [(nodes - 1, false), (nodes, true)] {
            searcher.begin_position();
            let budget = LeafBudget { nodes: allowed, stop: &NEVER };
            assert_eq!(searcher.search(&calm, 2, (-INFINITE, INFINITE), &budget).is_ok(), found, "{allowed}");
        }
    }

    #[test]
    fn a_search_stops() {
        let board = Board::from_fen(EXPLOSIVE[2]).unwrap();
        let stop = AtomicBool::new(true);
        let budget = LeafBudget { nodes: u64::MAX, stop: &stop };
        let mut searcher = LeafSearcher::new(Weights::embedded());
        assert_eq!(searcher.search(&board, 0, (-INFINITE, INFINITE), &budget).unwrap_err(), Unfinished::Stopped);
        // In the middle of a search.
        stop.store(false, Relaxed);
        let ended = std::thread::scope(|scope| {
            let searching = scope.spawn(|| searcher.search(&board, 1, (-INFINITE, INFINITE), &budget).map(|_| ()));
            stop.store(true, Relaxed);
            searching.join().unwrap()
        });
        assert_eq!(ended.unwrap_err(), Unfinished::Stopped);
    }
}
