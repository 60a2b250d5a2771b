//! Iterative deepening at the root: aspiration windows, several variations, and when to stop.

use super::history::piece_to;
use super::ordering::Scored;
use super::window::Window;
use super::{BEFORE_ROOT, Frame, Info, Outcome, Report, Score, Shared, Stopped, Worker};
use crate::board::{Board, ChessMove, Game};
use crate::platform::sync::lock;
use crate::tablebase::RankedMove;
use crate::time::Signs;
use crate::tt::Bound;
use crate::value::{DECIDED, INFINITE, MAX_PLY, TABLE_WIN, Value, moves_to_mate};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A move of the root position and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    pub(crate) mv: ChessMove,
    /// Value in this iteration, or the lowest when the move did not beat the best.
    pub(crate) value: Value,
    pub(crate) bound: Bound,
    previous_value: Value,
    average: Option<Value>,
    seldepth: usize,
    nodes: u64,
    pub(crate) pv: Vec<ChessMove>,
    /// What the tables say of it, and how they rank it among the others: all alike where they do not know.
    table_value: Option<Value>,
    rank: i32,
}

impl RootMove {
    fn new(mv: ChessMove, ranked: Option<&RankedMove>) -> RootMove {
        RootMove {
            mv,
            table_value: ranked.map(|ranked| ranked.value),
            rank: ranked.map_or(0, |ranked| ranked.rank),
            value: -INFINITE,
            bound: Bound::None,
            previous_value: -INFINITE,
            average: None,
            seldepth: 0,
            nodes: 0,
            pv: vec![mv],
        }
    }
}

/// After so much time bounds are reported too.
const BOUNDS_AFTER: Duration = Duration::from_secs(3);

impl Worker {
    /// Prepares a search of the game's position; false when there is no move to search.
    pub(crate) fn prepare(&mut self, game: &Game, shared: &Shared) -> bool {
        self.set_params(&shared.options.params);
        self.position.reset(game);
        self.arena.clear();
        self.frames.fill(Frame::EMPTY);
        self.histories.clear_low_ply();
        self.nodes = 0;
        self.checkpoint = 0;
        self.completed_depth = 0;
        self.null_move_min_ply = 0;
        let moves = game.board().moves();
        let searchmoves = &shared.limits.searchmoves;
        let wanted = |mv: &&ChessMove| searchmoves.is_empty() || searchmoves.contains(mv);
        let ranked = |mv: ChessMove| shared.root?.moves.iter().find(|ranked| ranked.mv == mv);
        self.root_moves = moves.iter().filter(wanted).map(|&mv| RootMove::new(mv, ranked(mv))).collect();
        self.order_noisy_first(game.board());
        !self.root_moves.is_empty()
    }

    /// Before the first iteration captures and promotions come first: any order would do that keeps to the tables' ranks.
    fn order_noisy_first(&mut self, board: &Board) {
        self.root_moves.sort_by_key(|root| (-root.rank, !board.is_noisy(root.mv)));
    }

    /// Searches deeper and deeper until told to stop or a limit is met.
    pub(crate) fn iterate(&mut self, shared: &Shared) {
        let max_depth =
            shared.limits.depth.map_or(MAX_PLY as i32 - 10, |depth| depth.clamp(1, MAX_PLY as u32 - 10) as i32);
        let multipv = shared.options.multipv.clamp(1, self.root_moves.len());
        let mut stability = Stability::default();
        let mut finished = None;
        for depth in 1..=max_depth {
            // Helpers skip some iterations, so that the threads do not all search the same.
            if self.id > 0
                && depth > 1
                && (depth as usize + self.id).is_multiple_of(4)
                && self.completed_depth + 2 >= depth
            {
                continue;
            }
            self.root_depth = depth;
            for root_move in &mut self.root_moves {
                // A move that is not reached before a stop must not be played for what it was worth before.
                root_move.previous_value = std::mem::replace(&mut root_move.value, -INFINITE);
            }
            for pv_index in 0..multipv {
                self.pv_index = pv_index;
                if self.aspire(shared, depth).is_err() {
                    self.sort_root_moves(pv_index);
                    self.settle(finished);
                    return;
                }
                self.sort_root_moves(0);
            }
            self.completed_depth = depth;
            finished = self.root_moves.first().cloned();
            if self.id > 0 {
                *lock(&shared.findings[self.id - 1]) = Some(self.finding());
            } else {
                shared.nodes[0].store(self.nodes, Relaxed);
                self.report_all(shared, multipv);
                if self.is_enough(shared, &mut stability) {
                    return;
                }
            }
        }
    }

    /// After a stop in the middle of an iteration: what is played and told must be proved.
    ///
    /// A move that failed low, or was not searched to the end, gives way to the best one of the last full iteration; one
    /// that failed high is played, but a mate it promises has no line yet and is not told. Where not even the first
    /// iteration was finished, the best of the moves it searched is played, or else the first.
    fn settle(&mut self, finished: Option<RootMove>) {
        let best = &mut self.root_moves[0];
        let unproved = best.value == -INFINITE || best.bound == Bound::Upper;
        if let Some(finished) = finished
            && unproved
        {
            self.root_moves.retain(|root_move| root_move.mv != finished.mv);
            self.root_moves.insert(0, finished);
            self.root_depth = self.completed_depth;
        } else if best.bound == Bound::Lower {
            best.value = best.value.clamp(-TABLE_WIN, TABLE_WIN);
        }
    }

    /// By the tables' ranks, and moves of one rank by value. Stable: those that did not beat the best keep their order.
    fn sort_root_moves(&mut self, start: usize) {
        self.root_moves[start..]
            .sort_by_key(|root_move| (-root_move.rank, -root_move.value, -root_move.previous_value));
    }

    /// One variation of one iteration, with a window around the value expected.
    fn aspire(&mut self, shared: &Shared, depth: i32) -> Result<(), Stopped> {
        self.seldepth = 0;
        let average = self.root_moves[self.pv_index].average;
        let mut delta = self.params.aspiration_delta;
        let mut window = match average {
            Some(value) if depth >= self.params.aspiration_depth && value.abs() < DECIDED => {
                delta += value.abs() / self.params.aspiration_value_divisor;
                Window::new(value - delta, value + delta)
            }
            _ => Window::OPEN,
        };
        let mut reduced = 0;
        loop {
            window = Window::new(window.alpha.max(-INFINITE), window.beta.min(INFINITE));
            let value = self.alpha_beta::<true>(shared, window, (depth - reduced).max(1), false)?;
            self.sort_root_moves(self.pv_index);
            let best = &mut self.root_moves[self.pv_index];
            match window.bound_of(value) {
                Bound::Upper => {
                    window = Window::new(value - delta, (window.alpha + window.beta) / 2);
                    reduced = 0;
                }
                Bound::Lower => {
                    window.beta = value + delta;
                    reduced = (reduced + 1).min(self.params.aspiration_reduction);
                }
                _ => {
                    best.average = Some(best.average.map_or(value, |average| (average + value) / 2));
                    return Ok(());
                }
            }
            // Mates are found with an open window, so that their line is complete.
            if value.abs() >= DECIDED {
                window = Window::OPEN;
                reduced = 0;
            }
            if self.id == 0 && shared.since_start() > BOUNDS_AFTER && shared.options.multipv == 1 {
                shared.nodes[0].store(self.nodes, Relaxed);
                self.report(shared, 0);
            }
            delta = delta * self.params.aspiration_growth / 100 + self.params.aspiration_step;
            if delta > self.params.aspiration_open {
                window = Window::OPEN;
            }
        }
    }

    /// The `index`th move to search in this variation: one of those that the tables rank alike.
    pub(super) fn root_move(&self, board: &Board, index: usize) -> Option<Scored> {
        let rank = self.root_moves.get(self.pv_index)?.rank;
        let root_move = self.root_moves.get(self.pv_index + index).filter(|root_move| root_move.rank == rank)?;
        Some(Scored { mv: root_move.mv, mover: piece_to(board, root_move.mv), score: 0 })
    }

    /// Notes the value of a root move that was searched.
    pub(super) fn update_root_move(&mut self, mv: ChessMove, value: Value, window: Window, count: usize, nodes: u64) {
        let seldepth = self.seldepth;
        let Some(root_move) = self.root_moves.iter_mut().find(|root_move| root_move.mv == mv) else { return };
        root_move.nodes += nodes;
        if count == 1 || value > window.alpha {
            root_move.value = value;
            root_move.bound = window.bound_of(value);
            root_move.seldepth = seldepth;
            root_move.pv.clear();
            root_move.pv.push(mv);
            root_move.pv.extend_from_slice(self.lines[1].moves());
        } else {
            root_move.value = -INFINITE;
        }
    }

    fn report_all(&mut self, shared: &Shared, multipv: usize) {
        for index in 0..multipv {
            self.report(shared, index);
        }
    }

    /// Reports the variation of this rank.
    pub(crate) fn report(&self, shared: &Shared, index: usize) {
        shared.report(&Report::Info(self.info(shared, index, &self.root_moves[index], self.root_depth)));
    }

    /// The best move so far.
    fn finding(&self) -> Finding {
        Finding { best: self.root_moves[0].clone(), depth: self.completed_depth }
    }

    /// Decides between this worker and the helpers, and reports what is played: the last line about its variation.
    pub(crate) fn decide(&self, shared: &Shared) -> Outcome {
        let mut findings = vec![self.finding()];
        findings.extend(shared.findings.iter().filter_map(|finding| lock(finding).take()));
        let voted = vote(&findings, self.params.vote_base);
        let Finding { best, depth } = findings.swap_remove(voted);
        let reached = if voted == 0 { self.root_depth } else { depth };
        let info = Info { bound: Bound::Exact, ..self.info(shared, 0, &best, reached) };
        let (value, score) = (info.value, info.score);
        shared.report(&Report::Info(info));
        Outcome {
            best: Some(best.mv),
            ponder: best.pv.get(1).copied(),
            value,
            score,
            depth: depth as u32,
            nodes: shared.total_nodes(),
            pv: best.pv,
        }
    }

    fn info(&self, shared: &Shared, index: usize, root_move: &RootMove, root_depth: i32) -> Info {
        let searched = root_move.value != -INFINITE;
        let value = if searched { root_move.value } else { root_move.previous_value };
        let value = if value == -INFINITE { 0 } else { value };
        let value = shown(root_move, value);
        let depth = if searched { root_depth } else { root_depth - 1 };
        let (score, wdl) = self.describe(value, shared.options.tables.is_some());
        Info {
            depth: depth.max(1) as u32,
            seldepth: root_move.seldepth.max(depth.max(1) as usize) as u32,
            multipv: index + 1,
            value,
            score,
            bound: if root_move.bound == Bound::None { Bound::Exact } else { root_move.bound },
            wdl,
            nodes: shared.total_nodes(),
            time: shared.since_start(),
            hashfull: shared.table.hashfull(),
            tbhits: shared.table_hits.load(Relaxed),
            pv: root_move.pv.clone(),
        }
    }

    /// A value of the root position as a score for people, and the results to expect. Without tables a value below the
    /// mates is an estimate, however large.
    pub(crate) fn describe(&self, value: Value, with_tables: bool) -> (Score, [u32; 3]) {
        let weights = self.position.evaluator().weights();
        let board = self.position.root();
        let phase = weights.phase(board);
        match moves_to_mate(value) {
            // The model knows of games, and games are not lost without the means to win.
            None if board.insufficient_material() => (Score::Cp(0), [0, 1000, 0]),
            // As other engines write it: nearly 200 pawns, less the plies to the tables.
            None if with_tables && value.abs() >= DECIDED => {
                let centipawns = value.signum() * (20_000 - (TABLE_WIN - value.abs()));
                (Score::Cp(centipawns), if value > 0 { [1000, 0, 0] } else { [0, 0, 1000] })
            }
            Some(moves) => (Score::Mate(moves), if moves > 0 { [1000, 0, 0] } else { [0, 0, 1000] }),
            None => (Score::Cp(weights.units.centipawns(value, phase)), weights.units.chances(value, phase)),
        }
    }

    /// Whether the search should end after a finished iteration.
    fn is_enough(&self, shared: &Shared, stability: &mut Stability) -> bool {
        let best = &self.root_moves[0];
        let signs = stability.signs(best, self.nodes);
        if shared.control.stopped() {
            return true;
        }
        if let (Some(limit), Some(moves)) = (shared.limits.mate, moves_to_mate(best.value))
            && moves.unsigned_abs() <= limit
            && best.bound == Bound::Exact
        {
            return true;
        }
        let Some(bounds) = shared.bounds else { return false };
        if shared.control.pondering() || bounds.fixed {
            return false;
        }
        let elapsed = shared.elapsed();
        let clear = bounds.soft / self.params.time_clear_divisor.unsigned_abs();
        if self.root_moves.len() == 1 && shared.limits.searchmoves.is_empty() {
            return elapsed >= clear;
        }
        // A mate that is proved to a multiple of its length needs no more thought.
        if moves_to_mate(best.value).is_some_and(|moves| {
            self.root_depth > self.params.time_mate_factor * moves.abs() + self.params.time_mate_base
        }) {
            return elapsed >= clear;
        }
        elapsed >= bounds.adjusted(&signs, &self.params)
    }
}

/// The value of a root move as it is told: what the tables say, unless the search has found a mate.
fn shown(root_move: &RootMove, value: Value) -> Value {
    root_move.table_value.filter(|_| moves_to_mate(value).is_none()).unwrap_or(value)
}

/// How the best move and its value moved from one iteration to the next.
#[derive(Default)]
struct Stability {
    best: Option<ChessMove>,
    iterations: u32,
    values: Vec<Value>,
}

impl Stability {
    fn signs(&mut self, best: &RootMove, nodes: u64) -> Signs {
        if self.best == Some(best.mv) {
            self.iterations += 1;
        } else {
            self.best = Some(best.mv);
            self.iterations = 0;
        }
        let recent = &self.values[self.values.len().saturating_sub(4)..];
        let drop = match recent {
            [] => 0,
            _ => recent.iter().sum::<Value>() / recent.len() as Value - best.value,
        };
        self.values.push(best.value);
        let best_share = best.nodes as f64 / nodes.max(1) as f64;
        Signs { stable_iterations: self.iterations, drop, best_share }
    }
}

/// The best move of one worker: its vote.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) best: RootMove,
    /// Plies of the last full iteration.
    pub(crate) depth: i32,
}

/// The finding that is played: by depth and value, each voting for its own move. The first is that of worker 0.
pub(crate) fn vote(findings: &[Finding], base: Value) -> usize {
    let lowest = findings.iter().map(|finding| finding.best.value).min().unwrap_or(0);
    let weight = |finding: &Finding| {
        let value = i64::from(finding.best.value - lowest + base);
        value * i64::from(finding.depth)
    };
    let votes = |mv: ChessMove| -> i64 { findings.iter().filter(|finding| finding.best.mv == mv).map(weight).sum() };
    let mut best = 0;
    for (index, finding) in findings.iter().enumerate().skip(1) {
        let (new, old) = (&finding.best, &findings[best].best);
        let better = if old.value >= DECIDED {
            new.value > old.value
        } else if new.value >= DECIDED {
            true
        } else if new.value <= -DECIDED || old.value <= -DECIDED {
            new.value > old.value
        } else {
            (votes(new.mv), weight(finding)) > (votes(old.mv), weight(&findings[best]))
        };
        if better {
            best = index;
        }
    }
    best
}

const _: () = assert!(BEFORE_ROOT >= 6, "context and improving look up to six plies back");
