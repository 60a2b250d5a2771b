//! The search: principal variation search with iterative deepening.
//!
//! A [`Worker`] owns all that one thread writes; what threads share is in [`Shared`]: the table, the stop and ponder state
//! of [`Control`], the node counters, what each helper found. Training has a plain search of its own, in `leaves`: there the
//! value of a line must be the static evaluation of its leaf and depend on the position and the weights alone.

mod alpha_beta;
mod history;
mod leaves;
mod limits;
mod ordering;
mod pv;
mod quiescence;
mod report;
mod root;
mod window;

pub use leaves::{Leaf, LeafBudget, LeafEnd, LeafSearcher, Unfinished};
pub use limits::{Limits, MOVE_OVERHEAD, Options};
pub use report::{Info, Outcome, Report, Score};
pub(crate) use root::{Finding, RootMove};

use crate::board::{ChessMove, Game, PieceTo};
use crate::control::Control;
use crate::eval::Evaluator;
use crate::params::{Derived, Params};
use crate::platform::sync::{Mutex, lock};
use crate::position::Position;
use crate::tablebase::{RootMoves, Tables};
use crate::time::{Bounds, nodes_in, time_of};
use crate::tt::Table;
use crate::value::{MAX_PLY, NONE, Value};
use crossbeam::utils::CachePadded;
use history::{Context, Histories, NO_PIECE_TO};
use ordering::Arena;
use pv::Line;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The search was told to end; the position it stood in is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped;

/// What the threads of one search share.
pub(crate) struct Shared<'a> {
    pub(crate) table: &'a Table,
    pub(crate) control: &'a Control,
    pub(crate) limits: &'a Limits,
    pub(crate) options: &'a Options,
    pub(crate) bounds: Option<Bounds>,
    /// Set when worker 0 has finished: the helpers end.
    pub(crate) finished: AtomicBool,
    /// Nodes of each worker, as of its last look at the clock.
    pub(crate) nodes: &'a [CachePadded<AtomicU64>],
    /// What each helper found in its last full iteration: worker 0 votes without waiting for them to end.
    pub(crate) findings: &'a [Mutex<Option<Finding>>],
    /// Endgame tables, where the search looks into them.
    pub(crate) tables: Option<&'a Tables>,
    /// What the tables say of the root's moves, if they know them all.
    pub(crate) root: Option<&'a RootMoves>,
    /// Positions found in the tables.
    pub(crate) table_hits: AtomicU64,
    pub(crate) reporter: Mutex<&'a mut (dyn FnMut(&Report) + Send)>,
}

impl Shared<'_> {
    /// Time on the clock of this search: from the ponder hit, if there was one, or by the nodes that were counted.
    pub(crate) fn elapsed(&self) -> Duration {
        match self.limits.nps {
            Some(nps) => time_of(self.total_nodes(), nps),
            None => self.control.hit().unwrap_or_else(|| self.control.accepted()).elapsed(),
        }
    }

    pub(crate) fn since_start(&self) -> Duration {
        Instant::now().saturating_duration_since(self.control.accepted())
    }

    pub(crate) fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }

    pub(crate) fn report(&self, report: &Report) {
        let mut reporter = lock(&self.reporter);
        (*reporter)(report);
    }
}

/// What the search keeps of a node of the current line.
#[derive(Clone, Copy)]
struct Frame {
    /// Static evaluation, corrected; [`NONE`] in check.
    eval: Value,
    /// Static evaluation as the evaluator gave it.
    raw_eval: Value,
    /// The piece that moves from here, and where to.
    mover: PieceTo,
    /// Whether the move made here is quiet.
    quiet: bool,
    /// Where the butterfly history keeps that move, if it is quiet.
    butterfly: u16,
    /// How many moves were made here, that one included.
    count: usize,
    killers: [Option<ChessMove>; 2],
    /// Left out by a singular search.
    excluded: Option<ChessMove>,
    /// Double extensions on the way here.
    double_extensions: i32,
    /// Cutoffs of nodes at this ply since its grandparent was entered.
    cutoffs: i32,
    /// How much shallower the move made here is searched, in plies.
    reduction: i32,
    tt_pv: bool,
}

impl Frame {
    const EMPTY: Frame = Frame {
        eval: NONE,
        raw_eval: NONE,
        mover: NO_PIECE_TO,
        quiet: false,
        butterfly: 0,
        count: 0,
        killers: [None; 2],
        excluded: None,
        double_extensions: 0,
        cutoffs: 0,
        reduction: 0,
        tt_pv: false,
    };
}

/// Frames before the root, so that looking back never leaves the stack.
const BEFORE_ROOT: usize = 6;

/// One thread's search.
pub(crate) struct Worker {
    id: usize,
    params: Params,
    derived: Derived,
    position: Position,
    histories: Histories,
    arena: Arena,
    frames: Vec<Frame>,
    lines: Vec<Line>,
    pub(crate) root_moves: Vec<RootMove>,
    /// Root moves before this one are the better variations of a MultiPV search.
    pv_index: usize,
    root_depth: i32,
    pub(crate) completed_depth: i32,
    seldepth: usize,
    pub(crate) nodes: u64,
    /// Look at the clock when this many nodes are done.
    checkpoint: u64,
    /// While a null move is verified none is made before this ply; 0 otherwise.
    null_move_min_ply: usize,
}

/// Nodes between two looks at the clock.
const CHECK_INTERVAL: u64 = 1024;
/// Nodes that the first iteration may take whatever the limits say: a millisecond, and far more than it needs in positions
/// of games.
const FIRST_ITERATION: u64 = 2048;

impl Worker {
    pub(crate) fn new(id: usize, evaluator: Evaluator) -> Worker {
        Worker {
            id,
            params: Params::DEFAULT,
            derived: Derived::new(&Params::DEFAULT),
            position: Position::new(&Game::default(), evaluator),
            histories: Histories::new(),
            arena: Arena::new(),
            frames: vec![Frame::EMPTY; MAX_PLY + BEFORE_ROOT + 4],
            lines: vec![Line::new(); MAX_PLY + 2],
            root_moves: Vec::new(),
            pv_index: 0,
            root_depth: 0,
            completed_depth: 0,
            seldepth: 0,
            nodes: 0,
            checkpoint: 0,
            null_move_min_ply: 0,
        }
    }

    /// Searches with these constants from now on.
    fn set_params(&mut self, params: &Params) {
        if self.params != *params {
            self.params = *params;
            self.derived = Derived::new(params);
        }
    }

    /// Forgets what earlier searches learned.
    pub(crate) fn clear(&mut self) {
        self.histories.clear();
    }

    pub(crate) fn evaluator_mut(&mut self) -> &mut Evaluator {
        self.position.evaluator_mut()
    }

    #[inline]
    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + BEFORE_ROOT]
    }

    /// The frame `back` plies before `ply`.
    #[inline]
    fn earlier(&self, ply: usize, back: usize) -> &Frame {
        &self.frames[ply + BEFORE_ROOT - back]
    }

    #[inline]
    fn context(&self, ply: usize) -> Context {
        [1, 2, 4, 6].map(|back| self.earlier(ply, back).mover)
    }

    /// Whether the search must end. Looks at the clock now and then.
    #[inline]
    fn poll(&mut self, shared: &Shared) -> Result<(), Stopped> {
        if self.nodes >= self.checkpoint { self.check_limits(shared) } else { Ok(()) }
    }

    #[cold]
    fn check_limits(&mut self, shared: &Shared) -> Result<(), Stopped> {
        shared.nodes[self.id].store(self.nodes, Relaxed);
        self.checkpoint = self.nodes + CHECK_INTERVAL;
        let mut over = shared.finished.load(Relaxed) || shared.control.stopped() || self.out_of_time(shared);
        if self.id == 0
            && let Some(limit) = shared.limits.nodes
        {
            let done = shared.total_nodes();
            over |= done >= limit;
            self.checkpoint = self.nodes + limit.saturating_sub(done).clamp(1, CHECK_INTERVAL);
        }
        if let (Some(nps), Some(bounds)) = (shared.limits.nps, shared.bounds) {
            let left = nodes_in(bounds.hard.saturating_sub(shared.elapsed()), nps);
            self.checkpoint = self.checkpoint.min(self.nodes + left.max(1));
        }
        // The first iteration takes no time worth saving, and gives a move with a reason; but where quiescence explodes it
        // would not end. Helpers leave at once, and their processor to worker 0.
        let needed = self.id == 0 && self.completed_depth == 0 && self.nodes < FIRST_ITERATION;
        if over && !needed { Err(Stopped) } else { Ok(()) }
    }

    fn out_of_time(&self, shared: &Shared) -> bool {
        shared.bounds.is_some_and(|bounds| !shared.control.pondering() && shared.elapsed() >= bounds.hard)
    }

    /// Asks for the table's entry of the position after `mv`: the earlier, the less the node below waits for it.
    #[inline]
    fn prefetch(&self, shared: &Shared, mv: ChessMove, mover: PieceTo) {
        shared.table.prefetch(self.position.board().likely_key_after(mv, mover));
    }

    /// Plays a move of the node at the current ply.
    #[inline]
    fn make(&mut self, mv: ChessMove, mover: PieceTo, quiet: bool) {
        let ply = self.position.ply();
        let frame = self.frame(ply);
        frame.mover = mover;
        frame.quiet = quiet;
        self.position.make(mv);
        self.histories.prefetch_correction(self.position.board(), &self.context(ply + 1));
        self.nodes += 1;
    }

    fn make_null(&mut self, shared: &Shared) {
        let ply = self.position.ply();
        let frame = self.frame(ply);
        frame.mover = NO_PIECE_TO;
        frame.quiet = false;
        self.position.make_null();
        shared.table.prefetch(self.position.board().key());
        self.nodes += 1;
    }

    /// A draw, blurred by one unit so that repetitions are not all alike to the search.
    #[inline]
    fn draw_value(&self) -> Value {
        (self.nodes & 2) as Value - 1
    }
}

#[cfg(test)]
mod tests;
