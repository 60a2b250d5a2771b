//! The facade: an engine with its table, its threads and its weights, that searches games' positions.

use crate::board::{Board, Game};
use crate::control::Control;
use crate::eval::{Evaluator, Weights};
use crate::search::{Limits, Options, Outcome, Report, Score, Shared, Worker, vote};
use crate::time::Bounds;
use crate::tt::{HashError, Table};
use crate::value::DRAW;
use crossbeam::utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Megabytes of the table before anyone asks for another size.
pub const DEFAULT_HASH: usize = 16;
/// The largest table that can be asked for, in megabytes.
pub const MAX_HASH: usize = 1_048_576;
/// The most threads that can be asked for.
pub const MAX_THREADS: usize = 1024;
/// Stack of a search thread: a line of [`crate::value::MAX_PLY`] nodes needs a good part of it.
const STACK: usize = 16 << 20;

/// An engine: what stays from one search to the next.
pub struct Engine {
    weights: Arc<Weights>,
    table: Table,
    megabytes: usize,
    workers: Vec<Worker>,
}

impl Engine {
    /// An engine with one thread and a table of [`DEFAULT_HASH`] megabytes.
    ///
    /// # Panics
    /// When there is no memory for the table.
    #[must_use]
    pub fn new(weights: Arc<Weights>) -> Engine {
        Engine::with_hash(weights, DEFAULT_HASH).expect("memory for the smallest table")
    }

    /// An engine with one thread and a table of so many megabytes.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn with_hash(weights: Arc<Weights>, megabytes: usize) -> Result<Engine, HashError> {
        let megabytes = megabytes.clamp(1, MAX_HASH);
        let table = Table::new(megabytes)?;
        let workers = vec![Worker::new(0, Evaluator::new(Arc::clone(&weights)))];
        Ok(Engine { weights, table, megabytes, workers })
    }

    /// Makes a new, empty table; the old one stays when that fails.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn set_hash(&mut self, megabytes: usize) -> Result<(), HashError> {
        let megabytes = megabytes.clamp(1, MAX_HASH);
        if megabytes != self.megabytes {
            self.table = Table::new(megabytes)?;
            self.megabytes = megabytes;
        }
        Ok(())
    }

    /// Searches with so many threads from now on.
    pub fn set_threads(&mut self, threads: usize) {
        let threads = threads.clamp(1, MAX_THREADS);
        self.workers.truncate(threads);
        while self.workers.len() < threads {
            let evaluator = Evaluator::new(Arc::clone(&self.weights));
            self.workers.push(Worker::new(self.workers.len(), evaluator));
        }
    }

    /// Number of search threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.len()
    }

    /// Evaluates with other weights from now on; all that was learned with the old ones is forgotten.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        for worker in &mut self.workers {
            worker.evaluator_mut().set_weights(Arc::clone(&weights));
        }
        self.weights = weights;
        self.clear();
    }

    /// The weights in use.
    #[must_use]
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// Forgets all that earlier searches learned.
    pub fn clear(&mut self) {
        self.table.clear(self.workers.len());
        self.workers.iter_mut().for_each(Worker::clear);
    }

    /// Searches the current position of `game` and blocks until the answer may be given: with `infinite` or
    /// `ponder` not before [`Control`] says so. Reports come from the calling thread.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        options: &Options,
        control: &Control,
        report: &mut (dyn FnMut(&Report) + Send),
    ) -> Outcome {
        let bounds = bounds(limits, options);
        let nodes: Vec<_> = self.workers.iter().map(|_| CachePadded::new(AtomicU64::new(0))).collect();
        let shared = Shared {
            table: &self.table,
            control,
            limits,
            options,
            bounds,
            finished: AtomicBool::new(false),
            nodes: &nodes,
            salt: 0,
            reporter: Mutex::new(report),
        };
        let searchable = self.workers.iter_mut().all(|worker| worker.prepare(game, &limits.searchmoves));
        if !searchable {
            control.wait(limits.infinite);
            return game_over(game.board());
        }
        self.table.new_search();
        run(&mut self.workers, &shared);
        let best = vote(&self.workers);
        let worker = &self.workers[best];
        let root_move = &worker.root_moves[0];
        worker.report_final(&shared);
        let (score, _) = worker.describe(root_move.value);
        Outcome {
            best: Some(root_move.mv),
            ponder: root_move.pv.get(1).copied(),
            value: root_move.value,
            score,
            depth: worker.completed_depth as u32,
            nodes: shared.total_nodes(),
            pv: root_move.pv.clone(),
        }
    }
}

/// Worker 0 searches on this thread, the helpers on theirs, until worker 0 ends.
fn run(workers: &mut [Worker], shared: &Shared) {
    let [main, helpers @ ..] = workers else { return };
    std::thread::scope(|scope| {
        for helper in helpers {
            let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || helper.iterate(shared));
            // Without memory for another thread the search goes on with those it has.
            drop(spawned);
        }
        main.iterate(shared);
        shared.control.wait(shared.limits.infinite);
        shared.finished.store(true, Relaxed);
    });
    for (worker, nodes) in workers.iter().zip(shared.nodes) {
        nodes.store(worker.nodes, Relaxed);
    }
}

/// The bounds on time: the shorter ones of move time and clock.
fn bounds(limits: &Limits, options: &Options) -> Option<Bounds> {
    let fixed = limits.movetime.map(|time| Bounds::fixed(time, options.move_overhead));
    let clock = limits.clock.map(|clock| Bounds::new(&clock, options.move_overhead));
    match (fixed, clock) {
        (Some(fixed), Some(clock)) => Some(if fixed.hard <= clock.hard { fixed } else { clock }),
        (fixed, clock) => fixed.or(clock),
    }
    .map(|bounds| Bounds { soft: bounds.soft.max(Duration::from_micros(500)), ..bounds })
}

fn game_over(board: &Board) -> Outcome {
    let (value, score) = if board.in_check() { (-crate::value::MATE, Score::Mate(0)) } else { (DRAW, Score::Cp(0)) };
    Outcome { best: None, ponder: None, value, score, depth: 0, nodes: 0, pv: Vec::new() }
}

/// Leaves of the full tree of legal moves to this depth.
#[must_use]
pub fn perft(board: &Board, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => board.count_moves() as u64,
        _ => {
            let mut nodes = 0;
            board.for_each_legal(|mv| nodes += perft(&board.after(mv), depth - 1));
            nodes
        }
    }
}
