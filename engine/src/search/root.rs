//! [Iterative deepening](https://www.chessprogramming.org/Iterative_Deepening) at the root: aspiration windows,
//! MultiPV, the stop conditions and thread voting.

use super::alpha_beta::MoveInfo;
use super::history::piece_to;
use super::ordering::ScoredMove;
use super::time::TimeFactors;
use super::tt::Bound;
use super::window::Window;
use super::{Info, Outcome, Report, Score, Search, Stopped};
use crate::board::{Board, Move};
use crate::platform::lock;
use crate::tablebase::{RankedMove, RootMoves};
use crate::value::{INFINITE, MAX_PLY, TABLEBASE_WIN, TABLEBASE_WIN_IN_MAX, Value, moves_to_mate};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Depth limit of iterative deepening.
const MAX_DEPTH: i32 = MAX_PLY as i32 - 10;
/// Fail highs and fail lows are reported after this search time.
const BOUNDS_AFTER: Duration = Duration::from_secs(3);
/// Number of previous iterations whose mean value is the reference of the score drop.
const SCORE_DROP_ITERATIONS: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    pub(super) mv: Move,
    /// Value in this iteration; [`-INFINITE`](INFINITE) if the move was not searched or did not raise alpha.
    value: Value,
    bound: Bound,
    /// Depth of the iteration that found the value.
    depth: i32,
    previous_value: Value,
    average: Option<Value>,
    seldepth: usize,
    nodes: u64,
    pv: Vec<Move>,
    tb_value: Option<Value>,
    /// The tablebase rank; 0 for all moves without tablebases.
    rank: i32,
}

impl RootMove {
    fn new(mv: Move, ranked: Option<&RankedMove>) -> RootMove {
        RootMove {
            mv,
            value: -INFINITE,
            bound: Bound::None,
            depth: 1,
            previous_value: -INFINITE,
            average: None,
            seldepth: 0,
            nodes: 0,
            pv: vec![mv],
            tb_value: ranked.map(|ranked| ranked.value),
            rank: ranked.map_or(0, |ranked| ranked.rank),
        }
    }

    /// The legal moves, or those in `searchmoves` if it is not empty, sorted by rank with noisy moves first.
    pub(super) fn all(board: &Board, searchmoves: &[Move], ranks: Option<&RootMoves>) -> Vec<RootMove> {
        let wanted = |mv: &&Move| searchmoves.is_empty() || searchmoves.contains(mv);
        let ranked = |mv: Move| ranks?.moves.iter().find(|ranked| ranked.mv == mv);
        let legal = board.moves();
        let mut moves: Vec<_> = legal.iter().filter(wanted).map(|&mv| RootMove::new(mv, ranked(mv))).collect();
        moves.sort_by_key(|root_move| (-root_move.rank, !board.is_noisy(root_move.mv)));
        moves
    }

    /// The value to report: the tablebase value, unless the search found a mate.
    fn reported(&self, value: Value) -> Value {
        self.tb_value.filter(|_| moves_to_mate(value).is_none()).unwrap_or(value)
    }
}

impl Search<'_> {
    /// Iterative deepening until a limit is reached.
    pub(crate) fn iterate(&mut self) {
        let shared = self.shared;
        let max_depth = shared.limits.depth.map_or(MAX_DEPTH, |depth| depth.clamp(1, MAX_DEPTH as u32) as i32);
        let multipv = shared.options.multipv.clamp(1, self.root_moves.len());
        let mut stability = Stability::default();
        let mut completed = Vec::new();
        for depth in 1..=max_depth {
            if self.skips_iteration(depth) {
                continue;
            }
            self.root_depth = depth;
            for root_move in &mut self.root_moves {
                // A move that is not searched before a stop must not keep the value of the last iteration.
                root_move.previous_value = std::mem::replace(&mut root_move.value, -INFINITE);
            }
            for pv_index in 0..multipv {
                self.pv_index = pv_index;
                if self.aspiration_window(depth).is_err() {
                    self.sort_root_moves(pv_index);
                    self.finalize(&completed, multipv);
                    return;
                }
                self.sort_root_moves(0);
            }
            self.completed_depth = depth;
            completed = self.root_moves[..multipv].to_vec();
            if self.id > 0 {
                *lock(&shared.results[self.id - 1]) = Some(self.result());
            } else {
                self.publish_nodes();
                (0..multipv).for_each(|index| self.report(index));
                if self.should_stop(&mut stability) {
                    return;
                }
            }
        }
    }

    /// Whether a helper skips an iteration, so that the threads search different depths.
    fn skips_iteration(&self, depth: i32) -> bool {
        self.id > 0 && depth > 1 && (depth as usize + self.id).is_multiple_of(4) && self.completed_depth + 2 >= depth
    }

    /// Finalizes the root moves after a stop within an iteration: the lines to report, the best first.
    ///
    /// A best move that failed low, or whose search was not completed, is replaced by the best move of the last
    /// complete iteration. A best move that failed high stays; a mate score is capped, because there is no line to the
    /// mate yet. Without a complete iteration the best move searched stays, or else the first root move.
    ///
    /// MultiPV lines that this iteration did not reach keep value and depth of the last complete iteration. If such a
    /// value exceeds that of a line of this iteration, the move failed low against that line, whose value is then its
    /// upper bound.
    fn finalize(&mut self, completed: &[RootMove], multipv: usize) {
        let best = &mut self.root_moves[0];
        let failed = best.value == -INFINITE || best.bound == Bound::Upper;
        if !failed && best.bound == Bound::Lower {
            best.value = best.value.clamp(-TABLEBASE_WIN, TABLEBASE_WIN);
        }
        if completed.is_empty() {
            return;
        }
        let searched = if failed { 0 } else { self.pv_index.max(1) };
        let mut lines = self.root_moves[..searched].to_vec();
        for root_move in completed {
            if lines.len() == multipv {
                break;
            }
            if lines.iter().any(|better| better.mv == root_move.mv) {
                continue;
            }
            let mut root_move = root_move.clone();
            if let Some(last) = lines.last()
                && last.rank == root_move.rank
                && last.value < root_move.value
            {
                if self.pv_index == 0 {
                    // No line of this iteration is complete.
                    lines = completed.to_vec();
                    break;
                }
                (root_move.value, root_move.bound, root_move.depth) = (last.value, Bound::Upper, self.root_depth);
            }
            lines.push(root_move);
        }
        self.root_moves = lines;
    }

    /// Sorts by rank and value. The sort is stable: moves that did not raise alpha keep their order.
    fn sort_root_moves(&mut self, start: usize) {
        self.root_moves[start..]
            .sort_by_key(|root_move| (-root_move.rank, -root_move.value, -root_move.previous_value));
    }

    /// Searches one line of one iteration with an [aspiration
    /// window](https://www.chessprogramming.org/Aspiration_Windows) around the average of its earlier values.
    fn aspiration_window(&mut self, depth: i32) -> Result<(), Stopped> {
        self.seldepth = 0;
        let average = self.root_moves[self.pv_index].average;
        let mut delta = self.params().aspiration_delta;
        let mut window = match average {
            Some(value) if depth >= self.params().aspiration_depth && value.abs() < TABLEBASE_WIN_IN_MAX => {
                delta += value.abs() / self.params().aspiration_value_divisor;
                Window::new(value - delta, value + delta)
            }
            _ => Window::OPEN,
        };
        let mut reduction = 0;
        loop {
            window = Window::new(window.alpha.max(-INFINITE), window.beta.min(INFINITE));
            let value = self.alpha_beta::<true>(window, (depth - reduction).max(1), false)?;
            self.sort_root_moves(self.pv_index);
            match window.bound_of(value) {
                Bound::Upper => {
                    window = Window::new(value - delta, (window.alpha + window.beta) / 2);
                    reduction = 0;
                }
                Bound::Lower => {
                    window.beta = value + delta;
                    reduction = (reduction + 1).min(self.params().aspiration_reduction);
                }
                Bound::Exact | Bound::None => {
                    let best = &mut self.root_moves[self.pv_index];
                    best.average = Some(best.average.map_or(value, |average| (average + value) / 2));
                    return Ok(());
                }
            }
            // A full window finds the complete line to a mate.
            if value.abs() >= TABLEBASE_WIN_IN_MAX {
                window = Window::OPEN;
                reduction = 0;
            }
            if self.id == 0 && self.shared.since_start() > BOUNDS_AFTER && self.shared.options.multipv == 1 {
                self.publish_nodes();
                self.report(0);
            }
            delta = delta * self.params().aspiration_growth / 100 + self.params().aspiration_step;
            if delta > self.params().aspiration_open {
                window = Window::OPEN;
            }
        }
    }

    /// The root move at `index` from the current MultiPV line, if it has the same tablebase rank.
    pub(super) fn root_move(&self, board: &Board, index: usize) -> Option<ScoredMove> {
        let rank = self.root_moves.get(self.pv_index)?.rank;
        let root_move = self.root_moves.get(self.pv_index + index).filter(|root_move| root_move.rank == rank)?;
        Some(ScoredMove { mv: root_move.mv, piece_to: piece_to(board, root_move.mv), score: 0 })
    }

    pub(super) fn update_root_move(&mut self, info: &MoveInfo, value: Value, window: Window, nodes: u64) {
        let seldepth = self.seldepth;
        let Some(root_move) = self.root_moves.iter_mut().find(|root_move| root_move.mv == info.mv) else { return };
        root_move.nodes += nodes;
        if info.count == 1 || value > window.alpha {
            root_move.value = value;
            root_move.bound = window.bound_of(value);
            root_move.depth = self.root_depth;
            root_move.seldepth = seldepth;
            root_move.pv.clear();
            root_move.pv.push(info.mv);
            root_move.pv.extend_from_slice(self.pv_lines[1].moves());
        } else {
            root_move.value = -INFINITE;
        }
    }

    /// Publishes the exact node count of this worker to the other threads.
    pub(crate) fn publish_nodes(&self) {
        self.shared.nodes[self.id].store(self.nodes, Relaxed);
    }

    /// Reports the line at this MultiPV index.
    fn report(&self, index: usize) {
        self.shared.report(&Report::Info(self.info(index, &self.root_moves[index])));
    }

    fn result(&self) -> ThreadResult {
        ThreadResult { best: self.root_moves[0].clone(), depth: self.completed_depth }
    }

    /// Picks the best thread by voting and reports its line again, or all lines of MultiPV.
    pub(crate) fn pick_best_thread(&mut self) -> Outcome {
        let shared = self.shared;
        if self.root_moves[0].value == -INFINITE {
            self.root_moves[0].value = self.static_value();
        }
        let mut results = vec![self.result()];
        let lines = shared.options.multipv.clamp(1, self.root_moves.len());
        if lines == 1 {
            results.extend(shared.results.iter().filter_map(|result| lock(result).take()));
        }
        let voted = vote(&results, self.params().vote_base);
        let ThreadResult { best, depth } = results.swap_remove(voted);
        let info = self.info(0, &best);
        let (value, score) = (info.value, info.score);
        shared.report(&Report::Info(info));
        // If the first iteration was stopped, some moves have no value.
        let searched = |index: &usize| self.root_moves[*index].value != -INFINITE;
        (1..lines).filter(searched).for_each(|index| self.report(index));
        Outcome {
            best: Some(best.mv),
            ponder: self.ponder_move(&best),
            value,
            score,
            depth: depth as u32,
            nodes: shared.total_nodes(),
            pv: best.pv,
        }
    }

    /// The static evaluation of the root position, after the search.
    fn static_value(&mut self) -> Value {
        let root = *self.position.root();
        let evaluator = self.position.evaluator_mut();
        evaluator.reset(&root);
        evaluator.evaluate(&root)
    }

    /// The move to ponder on, from the PV or else from the transposition table.
    fn ponder_move(&self, best: &RootMove) -> Option<Move> {
        best.pv.get(1).copied().or_else(|| {
            let board = self.position.root().after(best.mv);
            let reply = self.shared.table.probe(board.key(), 1)?.mv?;
            board.is_legal(reply).then_some(reply)
        })
    }

    fn info(&self, index: usize, root_move: &RootMove) -> Info {
        let shared = self.shared;
        let value = root_move.reported(root_move.value);
        let (score, wdl) = self.score(value);
        Info {
            depth: root_move.depth as u32,
            seldepth: root_move.seldepth.max(root_move.depth as usize) as u32,
            multipv: index + 1,
            value,
            score,
            bound: if root_move.bound == Bound::None { Bound::Exact } else { root_move.bound },
            wdl,
            nodes: shared.total_nodes(),
            time: shared.since_start(),
            hashfull: shared.table.hashfull(),
            tbhits: shared.tb_hits.load(Relaxed),
            pv: root_move.pv.clone(),
        }
    }

    /// The UCI score and the WDL of a value of the root position. Without tablebases only mate scores are decided.
    fn score(&self, value: Value) -> (Score, [u32; 3]) {
        let weights = self.position.evaluator().weights();
        let board = self.position.root();
        let phase = weights.phase(board);
        let decided = if value > 0 { [1000, 0, 0] } else { [0, 0, 1000] };
        match moves_to_mate(value) {
            // The WDL model does not know insufficient material.
            None if board.insufficient_material() => (Score::Cp(0), [0, 1000, 0]),
            // As in Stockfish: 20,000 centipawns minus the plies to the tablebase win.
            None if self.shared.options.tables.is_some() && value.abs() >= TABLEBASE_WIN_IN_MAX => {
                (Score::Cp(value.signum() * (20_000 - (TABLEBASE_WIN - value.abs()))), decided)
            }
            None => (
                Score::Cp(weights.units.win_rate.centipawns(value, phase)),
                weights.units.win_rate.chances(value, phase),
            ),
            Some(moves) => (Score::Mate(moves), decided),
        }
    }

    /// Whether the search stops after a complete iteration.
    fn should_stop(&mut self, stability: &mut Stability) -> bool {
        let shared = self.shared;
        let best = &self.root_moves[0];
        let factors = stability.time_factors(best, self.nodes);
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
        if bounds.fixed {
            return false;
        }
        let only_move = self.root_moves.len() == 1;
        // A mate counts as proved once the depth exceeds a multiple of its length.
        let proved_mate = moves_to_mate(best.value).is_some_and(|moves| {
            self.root_depth > self.params().time_mate_factor * moves.abs() + self.params().time_mate_base
        });
        self.soft_bound = if only_move || proved_mate {
            bounds.soft / self.params().time_clear_divisor.unsigned_abs()
        } else {
            bounds.adjusted(&factors, self.params())
        };
        !shared.control.pondering() && shared.since_start() >= self.soft_bound
    }
}

/// Best-move stability and score trend over the iterations.
#[derive(Default)]
struct Stability {
    best: Option<Move>,
    /// Iterations since the best move changed.
    iterations: u32,
    values: Vec<Value>,
}

impl Stability {
    fn time_factors(&mut self, best: &RootMove, nodes: u64) -> TimeFactors {
        if self.best == Some(best.mv) {
            self.iterations += 1;
        } else {
            self.best = Some(best.mv);
            self.iterations = 0;
        }
        let recent = &self.values[self.values.len().saturating_sub(SCORE_DROP_ITERATIONS)..];
        let score_drop = match recent {
            [] => 0,
            _ => recent.iter().sum::<Value>() / recent.len() as Value - best.value,
        };
        self.values.push(best.value);
        let node_fraction = best.nodes as f64 / nodes.max(1) as f64;
        TimeFactors { stable_iterations: self.iterations, score_drop, node_fraction }
    }
}

/// The best move of one thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadResult {
    best: RootMove,
    /// Plies of the last complete iteration.
    depth: i32,
}

/// Thread voting, from Stockfish: the index of the best result. Each thread votes for its move with its depth times its
/// value above the lowest one plus `base`. Proved wins and losses take precedence, the shortest first: a value that
/// another thread has found at a smaller depth does not refute them.
fn vote(results: &[ThreadResult], base: Value) -> usize {
    let lowest = results.iter().map(|result| result.best.value).min().unwrap_or(0);
    let weight = |result: &ThreadResult| {
        let value = i64::from(result.best.value - lowest + base);
        value * i64::from(result.depth)
    };
    let votes = |mv: Move| -> i64 { results.iter().filter(|result| result.best.mv == mv).map(weight).sum() };
    let is_lost = |best: &RootMove| best.value <= -TABLEBASE_WIN_IN_MAX && best.bound == Bound::Exact;
    let mut best = 0;
    for (index, result) in results.iter().enumerate().skip(1) {
        let (new, old) = (&result.best, &results[best].best);
        let better = if old.value >= TABLEBASE_WIN_IN_MAX {
            new.value > old.value
        } else if new.value >= TABLEBASE_WIN_IN_MAX {
            true
        } else if is_lost(old) {
            is_lost(new) && new.value < old.value
        } else if is_lost(new) {
            true
        } else {
            (votes(new.mv), weight(result)) > (votes(old.mv), weight(&results[best]))
        };
        if better {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::mated_in;

    /// The value of the best of these results, as (value, bound, depth).
    fn voted(results: &[(Value, Bound, i32)]) -> Value {
        let mv = Board::startpos().moves()[0];
        let results: Vec<_> = results
            .iter()
            .map(|&(value, bound, depth)| ThreadResult {
                best: RootMove { value, bound, ..RootMove::new(mv, None) },
                depth,
            })
            .collect();
        results[vote(&results, 14)].best.value
    }

    #[test]
    fn a_proved_result_outvotes_other_values() {
        let exact = |value, depth| (value, Bound::Exact, depth);
        let (mate, mated) = (-mated_in(4), mated_in(4));
        for proved in [mate, mated] {
            for other in [-900, 0, 900] {
                assert_eq!(voted(&[exact(proved, 3), exact(other, 30)]), proved);
                assert_eq!(voted(&[exact(other, 30), exact(proved, 3)]), proved);
                assert_eq!(voted(&[exact(other, 30), exact(proved, 3), exact(other, 31)]), proved);
            }
        }
        // The shorter mate is the one that is forced.
        assert_eq!(voted(&[exact(mated_in(6), 9), exact(mated, 8), exact(mated_in(6), 9)]), mated);
        assert_eq!(voted(&[exact(-mated_in(6), 9), exact(mate, 8), exact(-mated_in(6), 9)]), mate);
        // An upper bound is no proof.
        assert_eq!(voted(&[(mated, Bound::Upper, 9), exact(-900, 9)]), -900);
    }
}
