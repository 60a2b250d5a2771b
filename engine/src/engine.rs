//! The engine: transposition table, threads and weights, which persist between searches.

use crate::board::{Board, Game};
use crate::control::Control;
use crate::eval::{Evaluator, Weights};
use crate::platform::lock;
use crate::search::{HashError, Limits, Options, Outcome, Report, Score, Search, Shared, Table, TimeBounds, Worker};
use crate::value::DRAW;
use crossbeam::utils::CachePadded;
use std::slice::IterMut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope};

/// Megabytes of the transposition table by default.
pub const DEFAULT_HASH: usize = 16;
/// Megabytes of the largest transposition table.
pub const MAX_HASH: usize = 1_048_576;
/// The most search threads.
pub const MAX_THREADS: usize = 1024;
/// Stack of a search thread in bytes, enough for [`crate::value::MAX_PLY`] nodes.
const STACK: usize = 16 << 20;

/// An engine.
///
/// ```
/// use dyad_engine::Engine;
/// use dyad_engine::board::{Board, Game};
/// use dyad_engine::control::Control;
/// use dyad_engine::eval::Weights;
/// use dyad_engine::search::{Limits, Options, Score};
///
/// let mut engine = Engine::with_hash(Weights::embedded(), 16)?;
/// let game = Game::new(Board::from_fen("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1").unwrap());
/// let found = engine.search(&game, &Limits::depth(3), &Options::default(), &Control::new(false), &mut |_| {});
/// assert_eq!(game.board().san(found.best.unwrap()), "Ra8#");
/// assert!(matches!(found.score, Score::Mate(1)));
/// # Ok::<(), dyad_engine::search::HashError>(())
/// ```
pub struct Engine {
    weights: Arc<Weights>,
    table: Table,
    main: Worker,
    /// The workers of the other threads, each made by its own thread when it first searches.
    helpers: Vec<Option<Box<Worker>>>,
}

impl Engine {
    /// Bytes of an entry of the transposition table.
    pub const HASH_ENTRY_BYTES: u64 = Table::ENTRY_BYTES;

    /// An engine with one thread and a table of `megabytes`.
    pub fn with_hash(weights: Arc<Weights>, megabytes: usize) -> Result<Engine, HashError> {
        let table = Table::new(megabytes.clamp(1, MAX_HASH))?;
        let main = Worker::new(0, Evaluator::new(Arc::clone(&weights)));
        Ok(Engine { weights, table, main, helpers: Vec::new() })
    }

    /// Resizes the table, which empties it; without effect if it has that size. After an error the table is as it was,
    /// or empty and no larger than it was.
    pub fn set_hash(&mut self, megabytes: usize) -> Result<(), HashError> {
        let megabytes = megabytes.clamp(1, MAX_HASH);
        if self.table.megabytes() == megabytes { Ok(()) } else { self.table.resize(megabytes) }
    }

    /// Sets the number of search threads.
    pub fn set_threads(&mut self, threads: usize) {
        self.helpers.resize_with(threads.clamp(1, MAX_THREADS) - 1, || None);
    }

    /// Number of search threads.
    pub fn threads(&self) -> usize {
        1 + self.helpers.len()
    }

    /// Replaces the weights and clears the engine.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.main.evaluator_mut().set_weights(Arc::clone(&weights));
        self.weights = weights;
        self.clear();
    }

    /// The weights in use.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// Clears the transposition table and the histories.
    pub fn clear(&mut self) {
        let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.table.clear(self.threads().min(processors));
        self.main.clear();
        self.helpers.fill_with(|| None);
    }

    /// Searches the current position of `game` and blocks until the answer: with `infinite` or `ponder` until
    /// [`Control`] allows it. The reports come from the calling thread; the last one is the answer.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        options: &Options,
        control: &Control,
        report: &mut (dyn FnMut(&Report) + Send),
    ) -> Outcome {
        let bounds = bounds(limits, options);
        let nodes: Vec<_> = (0..self.threads()).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
        let results: Vec<_> = self.helpers.iter().map(|_| Mutex::new(None)).collect();
        let report = Mutex::new(report);
        let on_report = |message: &Report| (*lock(&report))(message);
        let tables = options.tables.as_ref();
        let mut root = tables.and_then(|tables| tables.root_moves(game, &limits.searchmoves));
        if let Some(root) = &mut root
            && options.multipv <= 1
        {
            root.keep_best();
        }
        // With the distance to zeroing known at the root, the search only looks for mates.
        let probe = root.as_ref().is_none_or(|root| !root.by_dtz && root.best().value > DRAW);
        let narrowed = root.as_ref().map(|root| {
            let searchmoves = root.moves.iter().map(|ranked| ranked.mv).collect();
            Limits { searchmoves, ..limits.clone() }
        });
        let limits = narrowed.as_ref().unwrap_or(limits);
        let shared = Shared {
            table: &self.table,
            control,
            game,
            weights: &self.weights,
            limits,
            options,
            tables: tables.filter(|_| probe),
            tb_hits: AtomicU64::new(root.as_ref().map_or(0, |root| root.moves.len() as u64)),
            root_ranks: root.as_ref(),
            bounds,
            finished: AtomicBool::new(false),
            nodes: &nodes,
            nodes_left: AtomicU64::new(limits.nodes.unwrap_or(0)),
            results: &results,
            on_report: &on_report,
        };
        let Some(main) = Search::new(&mut self.main, &shared) else {
            control.wait(limits.infinite);
            let outcome = game_over(game.board());
            shared.report(&Report::Answer(outcome.clone()));
            return outcome;
        };
        self.table.new_search();
        run(main, &mut self.helpers, &shared)
    }
}

/// Stops the helpers on drop, also after a panic of worker 0.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Searches with worker 0 on this thread and with the helpers on theirs.
fn run(mut main: Search, helpers: &mut [Option<Box<Worker>>], shared: &Shared) -> Outcome {
    thread::scope(|scope| {
        start(scope, 1, helpers.iter_mut(), shared);
        let finish = Finish(&shared.finished);
        main.iterate();
        shared.control.wait(shared.limits.infinite);
        drop(finish);
        main.publish_nodes();
        let outcome = main.pick_best_thread();
        shared.report(&Report::Answer(outcome.clone()));
        outcome
    })
}

/// Memory that must be free for a new worker, about twice what its histories and caches take.
const WORKER_BYTES: usize = 8 << 20;

/// Starts the first of the helpers, with number `id`, which starts the next as soon as it runs: with more threads than
/// processors the excess starts late or never and does not keep worker 0 from its clock.
fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    id: usize,
    mut helpers: IterMut<'env, Option<Box<Worker>>>,
    shared: &'env Shared<'env>,
) {
    let Some(helper) = helpers.next() else { return };
    let body = move || {
        if shared.finished.load(Relaxed) {
            return;
        }
        start(scope, id + 1, helpers, shared);
        if helper.is_none() && Vec::<u8>::new().try_reserve_exact(WORKER_BYTES).is_err() {
            return;
        }
        let make = || Box::new(Worker::new(id, Evaluator::new(Arc::clone(shared.weights))));
        let worker = helper.get_or_insert_with(make);
        if let Some(mut search) = Search::new(worker, shared) {
            search.iterate();
        }
    };
    // Without memory for another thread, or for what it owns, the search continues with fewer.
    drop(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body));
}

/// The time bounds: the shorter of move time and clock. None without either.
pub fn bounds(limits: &Limits, options: &Options) -> Option<TimeBounds> {
    let fixed = limits.movetime.map(|time| TimeBounds::fixed(time, options.move_overhead));
    let clock = limits.clock.map(|clock| TimeBounds::new(&clock, options.move_overhead, &options.params));
    match (fixed, clock) {
        (Some(fixed), Some(clock)) => Some(if fixed.hard <= clock.hard { fixed } else { clock }),
        (fixed, clock) => fixed.or(clock),
    }
}

/// The outcome of a search of a position without legal moves.
pub fn game_over(board: &Board) -> Outcome {
    let (value, score) = if board.in_check() { (-crate::value::MATE, Score::Mate(0)) } else { (DRAW, Score::Cp(0)) };
    Outcome { best: None, ponder: None, value, score, depth: 0, nodes: 0, pv: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Clock;
    use std::time::Duration;

    #[test]
    fn the_shorter_of_clock_and_move_time_bounds_the_search() {
        let clock = Some(Clock { remaining: Duration::from_secs(10), ..Clock::default() });
        let movetime = |seconds| Some(Duration::from_secs(seconds));
        let fixed = |clock, movetime| {
            let limits = Limits { clock, movetime, ..Limits::default() };
            bounds(&limits, &Options::default()).map(|bounds| bounds.fixed)
        };
        assert_eq!(fixed(clock, movetime(60)), Some(false));
        assert_eq!(fixed(clock, movetime(1)), Some(true));
        assert_eq!(fixed(None, movetime(60)), Some(true));
        assert_eq!(fixed(None, None), None);
    }
}
