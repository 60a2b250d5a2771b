//! The search: principal variation search with iterative deepening, on all threads by [Lazy
//! SMP](https://www.chessprogramming.org/Lazy_SMP).
//!
//! A [`Worker`] is the state that a thread keeps between searches, a [`Search`] is one search by one thread, and
//! [`Shared`] is the state that the threads of a search share: the transposition table, the stop and ponder state of
//! [`Control`], the node counters and the result of each helper. Training has a plain search of its own in `leaves`, in
//! which the value of a line is the static evaluation of its leaf and depends on position and weights alone.

mod alpha_beta;
mod best_two;
mod history;
mod leaves;
mod limits;
mod ordering;
mod position;
mod pv;
mod quiescence;
mod report;
mod root;
mod time;
mod tt;
mod window;

pub use best_two::BestTwo;
pub use leaves::{Leaf, LeafBudget, LeafEnd, LeafSearcher, Unfinished};
pub use limits::{Limits, MOVE_OVERHEAD, Options};
pub(crate) use position::Position;
pub use report::{Info, Outcome, Report, Score};
pub(crate) use root::ThreadResult;
pub use time::{Clock, TimeBounds};
pub(crate) use tt::Table;
pub use tt::{Bound, HashError};

use crate::board::{Board, Game, Move, Piece, PieceTo, attacks};
use crate::control::{Control, Instant};
use crate::eval::endgame::{FULL_SCALE, KNOWN_WIN, correction_scale};
use crate::eval::{Evaluator, Weights};
use crate::params::{DerivedParams, Params};
use crate::tablebase::{RootMoves, Tables};
use crate::value::{DRAW, MAX_PLY, NONE, TABLEBASE_WIN_IN_MAX, Value};
use crossbeam::utils::CachePadded;
use history::{Histories, NO_PIECE_TO, OrderingContext, PreviousMoves};
use ordering::{Arena, HistoryScorer, Picker, ScoredMove};
use pv::PvLine;
use root::RootMove;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tt::Entry;
use window::Window;

/// The search was stopped; the position is not restored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped;

/// The state that the threads of one search share.
pub(crate) struct Shared<'a> {
    pub(crate) table: &'a Table,
    pub(crate) control: &'a Control,
    pub(crate) game: &'a Game,
    /// Those of the workers that are made for this search.
    pub(crate) weights: &'a Arc<Weights>,
    pub(crate) limits: &'a Limits,
    pub(crate) options: &'a Options,
    pub(crate) bounds: Option<TimeBounds>,
    /// Set when worker 0 has finished, to stop the helpers.
    pub(crate) finished: AtomicBool,
    /// Nodes of each worker at its last check of the limits.
    pub(crate) nodes: &'a [CachePadded<AtomicU64>],
    /// The nodes of [`Limits::nodes`] that no worker has taken yet.
    pub(crate) nodes_left: AtomicU64,
    /// The result of each helper after its last complete iteration: worker 0 votes without waiting for the helpers.
    pub(crate) results: &'a [Mutex<Option<ThreadResult>>],
    /// Tablebases, if the search probes them.
    pub(crate) tables: Option<&'a Tables>,
    /// The tablebase ranks of the root moves, if all root moves have one.
    pub(crate) root_ranks: Option<&'a RootMoves>,
    pub(crate) tb_hits: AtomicU64,
    pub(crate) on_report: &'a (dyn Fn(&Report) + Sync),
}

impl Shared<'_> {
    /// Search time before the ponder hit; zero without pondering, None before the hit.
    pub(crate) fn pondered(&self) -> Option<Duration> {
        if self.control.pondering() {
            return None;
        }
        let hit = self.control.hit();
        Some(hit.map_or(Duration::ZERO, |hit| hit.saturating_duration_since(self.control.accepted)))
    }

    /// Search time since `go`, including pondering.
    pub(crate) fn since_start(&self) -> Duration {
        Instant::now().saturating_duration_since(self.control.accepted)
    }

    pub(crate) fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }

    /// Takes nodes for a worker, at most [`CHECK_INTERVAL`] and its part of what is left: all workers together search
    /// no more than the limit. 0 if nothing is left, [`CHECK_INTERVAL`] without a limit.
    fn take_nodes(&self) -> u64 {
        if self.limits.nodes.is_none() {
            return CHECK_INTERVAL;
        }
        let part = |left: u64| left.div_ceil(self.nodes.len() as u64).min(CHECK_INTERVAL);
        let taken = self.nodes_left.fetch_update(Relaxed, Relaxed, |left| Some(left - part(left)));
        taken.map_or(0, part)
    }

    pub(crate) fn report(&self, report: &Report) {
        (self.on_report)(report);
    }
}

#[derive(Clone, Copy)]
struct Frame {
    /// Static evaluation with corrections; [`NONE`] in check.
    eval: Value,
    /// Static evaluation before corrections; [`NONE`] in check.
    raw_eval: Value,
    /// The piece-to of the current move.
    piece_to: PieceTo,
    quiet: bool,
    /// The butterfly index of the current move, if it is quiet.
    butterfly: u16,
    /// The move count of the current move, from 1.
    move_count: usize,
    reduction: i32,
    killers: [Option<Move>; 2],
    /// The move excluded from a singular extension search.
    excluded: Option<Move>,
    /// Double extensions on the path to this ply.
    double_extensions: i32,
    /// Cutoffs at this ply since the node two plies above was entered.
    cutoffs: i32,
    tt_pv: bool,
}

impl Frame {
    const EMPTY: Frame = Frame {
        eval: NONE,
        raw_eval: NONE,
        piece_to: NO_PIECE_TO,
        quiet: false,
        butterfly: 0,
        move_count: 0,
        reduction: 0,
        killers: [None; 2],
        excluded: None,
        double_extensions: 0,
        cutoffs: 0,
        tt_pv: false,
    };
}

/// Frames before the root, for continuation histories of up to six plies ago.
const BEFORE_ROOT: usize = 6;
/// Number of frames; a node writes to the frames of the next two plies.
const FRAMES: usize = BEFORE_ROOT + MAX_PLY + 4;

/// The state that a search thread keeps between searches.
pub(crate) struct Worker {
    id: usize,
    params: Params,
    derived: DerivedParams,
    position: Position,
    histories: Histories,
    arena: Arena,
    frames: Box<[Frame; FRAMES]>,
    pv_lines: Vec<PvLine>,
}

impl Worker {
    pub(crate) fn new(id: usize, evaluator: Evaluator) -> Worker {
        Worker {
            id,
            params: Params::DEFAULT,
            derived: DerivedParams::new(&Params::DEFAULT),
            position: Position::new(evaluator),
            histories: Histories::new(),
            arena: Arena::new(),
            frames: Box::new([Frame::EMPTY; FRAMES]),
            pv_lines: vec![PvLine::new(); MAX_PLY + 2],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.histories.clear();
    }

    pub(crate) fn evaluator_mut(&mut self) -> &mut Evaluator {
        self.position.evaluator_mut()
    }

    fn set_params(&mut self, params: &Params) {
        if self.params != *params {
            self.params = *params;
            self.derived = DerivedParams::new(params);
        }
    }
}

/// One search by one thread.
pub(crate) struct Search<'a> {
    shared: &'a Shared<'a>,
    id: usize,
    params: &'a Params,
    derived: &'a DerivedParams,
    position: &'a mut Position,
    histories: &'a mut Histories,
    arena: &'a mut Arena,
    frames: &'a mut [Frame; FRAMES],
    pv_lines: &'a mut [PvLine],
    root_moves: Vec<RootMove>,
    /// MultiPV index of the line being searched; the root moves before it are the better lines.
    pv_index: usize,
    root_depth: i32,
    completed_depth: i32,
    /// The soft time bound, scaled after each iteration.
    soft_bound: Duration,
    seldepth: usize,
    nodes: u64,
    /// Number of nodes at which the limits are checked next.
    checkpoint: u64,
    /// Number of nodes up to which this worker may search by the limit of nodes.
    nodes_taken: u64,
    /// During the verification search of a null move, null moves are disabled before this ply; 0 otherwise.
    null_move_min_ply: usize,
}

/// Nodes between two checks of the limits.
const CHECK_INTERVAL: u64 = 1024;
/// Nodes of worker 0 in the first iteration that no limit stops: about a millisecond, and far more than an iteration of
/// depth 1 needs in positions of games.
const FIRST_ITERATION_NODES: u64 = 2048;

impl<'a> Search<'a> {
    /// Prepares a search of the current position of the game. None if there is no root move.
    pub(crate) fn new(worker: &'a mut Worker, shared: &'a Shared<'a>) -> Option<Search<'a>> {
        let game = shared.game;
        let root_moves = RootMove::all(game.board(), &shared.limits.searchmoves, shared.root_ranks);
        if root_moves.is_empty() {
            return None;
        }
        worker.set_params(&shared.options.params);
        worker.position.reset(game.board(), game.keys());
        worker.arena.clear();
        worker.frames.fill(Frame::EMPTY);
        worker.histories.clear_low_ply();
        let Worker { id, params, derived, position, histories, arena, frames, pv_lines } = worker;
        Some(Search {
            shared,
            id: *id,
            params,
            derived,
            position,
            histories,
            arena,
            frames,
            pv_lines,
            root_moves,
            pv_index: 0,
            root_depth: 0,
            completed_depth: 0,
            soft_bound: Duration::MAX,
            seldepth: 0,
            nodes: 0,
            checkpoint: 0,
            nodes_taken: 0,
            null_move_min_ply: 0,
        })
    }

    /// The parameters: constants that are compiled in, or with the feature `tune` those of the options.
    #[inline(always)]
    fn params(&self) -> &'a Params {
        if cfg!(feature = "tune") { self.params } else { &Params::DEFAULT }
    }

    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + BEFORE_ROOT]
    }

    /// The frame `back` plies above `ply`.
    fn earlier(&self, ply: usize, back: usize) -> &Frame {
        &self.frames[ply + BEFORE_ROOT - back]
    }

    fn previous_moves(&self, ply: usize) -> PreviousMoves {
        [1, 2, 4, 6].map(|back| self.earlier(ply, back).piece_to)
    }

    /// The ordering context of a node, without killers and counter-move.
    fn ordering_context(&self, board: &Board, ply: usize) -> OrderingContext {
        let them = !board.side_to_move();
        let threats = attacks::pawns(them, board.colored(them, Piece::Pawn)).0;
        OrderingContext {
            killers: [None; 2],
            counter: None,
            previous: self.previous_moves(ply),
            threats,
            ply: Some(ply),
        }
    }

    /// The next move of a node, scored by the histories.
    #[inline(always)]
    fn next_move(&mut self, picker: &mut Picker, board: &Board, ordering: &OrderingContext) -> Option<ScoredMove> {
        let scorer = HistoryScorer { histories: self.histories, params: self.params(), derived: self.derived };
        picker.next(self.arena, board, &scorer, ordering)
    }

    fn check_limits(&mut self) -> Result<(), Stopped> {
        if self.nodes >= self.checkpoint { self.check_limits_now() } else { Ok(()) }
    }

    #[cold]
    fn check_limits_now(&mut self) -> Result<(), Stopped> {
        let shared = self.shared;
        shared.nodes[self.id].store(self.nodes, Relaxed);
        let mut over = shared.finished.load(Relaxed) || shared.control.stopped() || self.out_of_time();
        if self.nodes >= self.nodes_taken {
            let taken = shared.take_nodes();
            over |= taken == 0;
            self.nodes_taken = self.nodes + taken.max(1);
        }
        self.checkpoint = self.nodes_taken.min(self.nodes + CHECK_INTERVAL);
        // The first iteration finds a reasonable move in almost no time, unless quiescence explodes. Helpers stop at
        // once and leave the processor to worker 0.
        let grace = self.id == 0 && self.completed_depth == 0 && self.nodes < FIRST_ITERATION_NODES;
        if over && !grace { Err(Stopped) } else { Ok(()) }
    }

    /// Whether the time since the ponder hit reached the hard bound, or pondering alone took the soft bound.
    fn out_of_time(&self) -> bool {
        let shared = self.shared;
        let (Some(bounds), Some(pondered)) = (shared.bounds, shared.pondered()) else { return false };
        pondered >= self.soft_bound || shared.since_start() >= pondered + bounds.hard
    }

    /// Clears the PV line of the node and updates the selective depth.
    #[inline(always)]
    fn enter_node<const PV: bool>(&mut self) {
        self.end_pv::<PV>(false);
        if PV {
            self.seldepth = self.seldepth.max(self.position.ply());
        }
    }

    /// Ends the PV line at the current ply; `terminal` in mate or a draw.
    #[inline(always)]
    fn end_pv<const PV: bool>(&mut self, terminal: bool) {
        if PV {
            self.pv_lines[self.position.ply()].end(terminal);
        }
    }

    /// Sets the PV line at the current ply to `mv` followed by the line at the next ply.
    fn extend_pv(&mut self, mv: Move) {
        PvLine::extend_at(self.pv_lines, self.position.ply(), mv);
    }

    /// A draw by repetition, by insufficient material or by the fifty-move rule.
    #[inline(always)]
    fn draw_by_rule<const PV: bool>(&mut self) -> Option<Value> {
        if !self.position.is_draw() {
            return None;
        }
        self.end_pv::<PV>(true);
        Some(self.draw_value())
    }

    /// [Upcoming repetition](https://www.chessprogramming.org/Repetitions), from Stockfish: if the side to move can
    /// repeat a position, the draw score raises alpha.
    #[inline(always)]
    fn upcoming_repetition(&self, window: &mut Window) -> Option<Value> {
        if window.alpha >= DRAW || !self.position.upcoming_repetition() {
            return None;
        }
        window.alpha = self.draw_value();
        window.is_closed().then_some(window.alpha)
    }

    /// The value of a node at the end of the search stack.
    #[inline(always)]
    fn max_ply_value(&mut self, board: &Board) -> Option<Value> {
        let at_end = self.position.ply() >= MAX_PLY - 2;
        at_end.then(|| if board.in_check() { DRAW } else { self.evaluate(board, None).1 })
    }

    /// Draw-score randomization, from Stockfish: plus or minus 1, to avoid blindness to 3-fold repetitions.
    fn draw_value(&self) -> Value {
        (self.nodes & 2) as Value - 1
    }

    /// The static evaluation before and after corrections.
    fn evaluate(&mut self, board: &Board, entry: Option<&Entry>) -> (Value, Value) {
        let stored = entry.map_or(NONE, |entry| entry.eval);
        let raw_eval = if stored == NONE { self.position.evaluate() } else { stored };
        (raw_eval, self.corrected(board, raw_eval))
    }

    /// The static evaluation, damped by the fifty-move clock and corrected by the correction histories. Known wins are
    /// unchanged: damping would outweigh the progress toward mate. What the endgame knowledge scales down is corrected
    /// by as much less, and what it knows is not corrected.
    fn corrected(&self, board: &Board, raw_eval: Value) -> Value {
        if raw_eval.abs() >= KNOWN_WIN {
            return raw_eval;
        }
        let damped = self.params().damped(raw_eval, board.halfmove_clock());
        let previous = self.previous_moves(self.position.ply());
        let correction = self.histories.correction(self.params(), board, &previous);
        let scale = if correction == 0 { FULL_SCALE } else { correction_scale(board, raw_eval) };
        (damped + correction * scale / FULL_SCALE).clamp(-TABLEBASE_WIN_IN_MAX + 1, TABLEBASE_WIN_IN_MAX - 1)
    }

    fn prefetch_tt(&self, mv: Move, piece_to: PieceTo) {
        self.shared.table.prefetch(self.position.board().likely_key_after(mv, piece_to));
    }

    /// Makes a move at the current ply.
    fn make(&mut self, mv: Move, piece_to: PieceTo, quiet: bool) {
        let ply = self.position.ply();
        let frame = self.frame(ply);
        (frame.piece_to, frame.quiet) = (piece_to, quiet);
        self.position.make(mv);
        self.histories.prefetch_correction(self.position.board(), &self.previous_moves(ply + 1));
        self.nodes += 1;
    }

    fn make_null(&mut self) {
        let ply = self.position.ply();
        let frame = self.frame(ply);
        (frame.piece_to, frame.quiet) = (NO_PIECE_TO, false);
        self.position.make_null();
        self.shared.table.prefetch(self.position.board().key());
        self.nodes += 1;
    }
}

#[cfg(test)]
mod tests;
