//! Principal variation search of one node.
//!
//! [`Search::alpha_beta`] lists the steps by number; each of more than a few lines is a function below it, in call order.
//! Most are described in the [Chess Programming Wiki](https://www.chessprogramming.org/Search), and come from Stockfish,
//! Ethereal, Weiss and Berserk. The constants are our own (see [`params`](crate::params)). Steps shared with quiescence
//! search are in the parent module.

use super::history::{NO_PIECE_TO, OrderingContext, butterfly_index, piece_to};
use super::ordering::{KILLER_SCORE, MoveSet, Picker, ScoredMove};
use super::tt::{Bound, Entry};
use super::window::Window;
use super::{Report, Search, Stopped};
use crate::board::{Board, Checks, Move, Piece, PieceTo, Squares, piece_value};
use crate::eval::endgame::correction_scale;
use crate::params::Params;
use crate::tablebase::Tables;
use crate::value::{DRAW, INFINITE, MAX_PLY, NONE, TABLEBASE_WIN_IN_MAX, Value, mate_in, mated_in};
use arrayvec::ArrayVec;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// `info currmove` is sent after this search time.
const CURRENT_MOVE_AFTER: Duration = Duration::from_secs(3);
/// Plies added to the depth of a tablebase value in the TT, since it is valid at any depth.
const TABLEBASE_EXTRA_DEPTH: i32 = 6;

struct Node<'a> {
    board: &'a Board,
    ply: usize,
    /// The current window: alpha rises with the best value.
    window: Window,
    /// Alpha before tablebase values and moves raise it.
    original_alpha: Value,
    depth: i32,
    /// Whether this is an expected [cut-node](https://www.chessprogramming.org/Node_Types), which fails high.
    cut_node: bool,
    in_check: bool,
    /// The move excluded from a singular extension search.
    excluded: Option<Move>,
    /// The entry in the transposition table (TT).
    entry: Option<Entry>,
    /// The TT move, if it is legal; at the root the best move so far.
    tt_move: Option<Move>,
    /// Whether `tt_move` is noisy: a capture or a promotion to a queen.
    tt_noisy: bool,
    /// Whether the node is on a principal variation, or was in an earlier search.
    tt_pv: bool,
    /// Lower bound from the tablebases, at PV nodes.
    tablebase_min: Value,
    /// Upper bound from the tablebases, at PV nodes.
    tablebase_max: Value,
    /// The static evaluation before corrections; [`NONE`] in check.
    raw_eval: Value,
    /// The corrected static evaluation; [`NONE`] in check.
    eval: Value,
    /// The TT value if it is a tighter bound than `eval`, else `eval`.
    tt_adjusted_eval: Value,
    /// Whether `eval` rose since two plies ago, or four if we were in check then; true if neither is known.
    improving: bool,
    /// Our static evaluation plus the opponent's before its last move: positive if the opponent's position got worse.
    /// -[`INFINITE`] if either is missing: at the root, in check, and after a check.
    eval_swing: Value,
    /// Plies by which the opponent's last move was reduced; 0 if `eval_swing` is unknown.
    prior_reduction: i32,
    ordering: OrderingContext,
}

impl Node<'_> {
    /// Whether the opponent's position got worse with its last move.
    fn opponent_worsening(&self, params: &Params) -> bool {
        self.eval_swing > params.worsening_margin
    }
}

#[derive(Clone, Copy)]
pub(super) struct MoveInfo {
    pub(super) mv: Move,
    piece_to: PieceTo,
    score: i32,
    /// Whether it is a capture or a promotion to a queen.
    noisy: bool,
    /// The history score of a quiet move, which late move reductions and futility pruning read; 0 for a noisy one. For
    /// killers, the TT move and root moves the sum of the histories; else the score of the move picker, which adds threats.
    history: i32,
    /// The move count at this node, from 1.
    pub(super) count: usize,
}

struct LoopResult {
    best_value: Value,
    /// The last move that raised alpha.
    best_move: Option<ScoredMove>,
    move_count: usize,
    /// Quiet moves that did not raise alpha.
    quiets: SearchedMoves<32>,
    /// Noisy moves that did not raise alpha.
    noisies: SearchedMoves<16>,
}

impl LoopResult {
    #[inline(always)]
    fn new(best_value: Value) -> LoopResult {
        let (quiets, noisies) = (SearchedMoves::new(), SearchedMoves::new());
        LoopResult { best_value, best_move: None, move_count: 0, quiets, noisies }
    }
}

/// The first `N` quiet or noisy moves searched, which get a history malus if a later move fails high.
type SearchedMoves<const N: usize> = ArrayVec<(Move, PieceTo), N>;

impl Search<'_> {
    /// The [fail-soft](https://www.chessprogramming.org/Fail-Soft) value of the current position, searched to `depth`.
    pub(super) fn alpha_beta<const PV: bool>(
        &mut self,
        mut window: Window,
        depth: i32,
        cut_node: bool,
    ) -> Result<Value, Stopped> {
        debug_assert!(-INFINITE <= window.alpha && window.alpha < window.beta && window.beta <= INFINITE, "{window:?}");
        debug_assert!(PV || window.beta == window.alpha + 1, "{window:?}");
        debug_assert!(!(PV && cut_node) && self.position.ply() < MAX_PLY);
        if depth <= 0 {
            return self.quiescence::<PV>(window, true);
        }
        self.check_limits()?;
        self.enter_node::<PV>();
        let board = *self.position.board();
        let root = self.position.ply() == 0;
        // 1 to 3. Draws by rule and the end of the stack; mate distance pruning; upcoming repetition.
        if !root
            && let Some(value) = self
                .draw_by_rule::<PV>()
                .or_else(|| self.max_ply_value(&board))
                .or_else(|| self.mate_distance_pruning(&mut window))
                .or_else(|| self.upcoming_repetition(&mut window))
        {
            return Ok(value);
        }

        // 4 and 5. The transposition table, the tablebases.
        let mut node = self.new_node::<PV>(&board, window, depth, cut_node);
        if !PV && let Some(value) = self.tt_cutoff(&node) {
            return Ok(value);
        }
        if let Some(value) = self.probe_tablebases::<PV>(&mut node) {
            return Ok(value);
        }
        // 6. The static evaluation and its trend.
        self.static_eval(&mut node);
        self.eval_trend(&mut node);
        // 7. What children and grandchildren read is reset.
        self.frame(node.ply).double_extensions = self.earlier(node.ply, 1).double_extensions;
        self.frame(node.ply + 1).killers = [None; 2];
        self.frame(node.ply + 2).cutoffs = 0;
        // 8 and 9. The depth: hindsight, internal iterative reduction.
        self.hindsight_adjustment(&mut node);
        self.internal_iterative_reduction::<PV>(&mut node);
        // 10 to 14. Reverse futility, razoring, null move, ProbCut, small ProbCut.
        if !PV && node.excluded.is_none() {
            if !node.in_check {
                if let Some(value) = self.reverse_futility(&node) {
                    return Ok(value);
                }
                if let Some(value) = self.razoring(&node)? {
                    return Ok(value);
                }
                if let Some(value) = self.null_move_pruning(&node)? {
                    return Ok(value);
                }
                if let Some(value) = self.probcut(&node)? {
                    return Ok(value);
                }
            }
            if let Some(value) = self.small_probcut(&node) {
                return Ok(value);
            }
        }

        // 15 to 18. The move loop: pruning of moves, singular extension, reduction and search of each.
        let mut result = LoopResult::new(node.tablebase_min);
        if let Some(multi_cut) = self.search_moves::<PV>(&mut node, &mut result)? {
            return Ok(multi_cut);
        }
        if result.move_count == 0 {
            return Ok(self.no_moves::<PV>(&node));
        }
        // 19 and 20. Histories; the value and its entry in the transposition table.
        self.update_histories(&node, &result);
        let value = Self::final_value::<PV>(&node, &result);
        if node.excluded.is_none() {
            self.store_result::<PV>(&node, &result, value);
        }
        Ok(value)
    }

    /// [Mate distance pruning](https://www.chessprogramming.org/Mate_Distance_Pruning): a cutoff if no mate from here
    /// is shorter than one already found.
    #[inline(always)]
    fn mate_distance_pruning(&self, window: &mut Window) -> Option<Value> {
        let ply = self.position.ply();
        window.alpha = window.alpha.max(mated_in(ply));
        window.beta = window.beta.min(mate_in(ply + 1));
        window.is_closed().then_some(window.alpha)
    }

    /// Creates the node and probes the [transposition table](https://www.chessprogramming.org/Transposition_Table).
    #[inline(always)]
    fn new_node<'b, const PV: bool>(
        &mut self,
        board: &'b Board,
        window: Window,
        depth: i32,
        cut_node: bool,
    ) -> Node<'b> {
        let ply = self.position.ply();
        let excluded = self.frame(ply).excluded;
        let entry = if excluded.is_some() { None } else { self.shared.table.probe(board.key(), ply) };
        let tt_move = if ply == 0 {
            self.root_moves.get(self.pv_index).map(|root_move| root_move.mv)
        } else {
            entry.and_then(|entry| entry.mv).filter(|&mv| board.is_legal(mv))
        };
        let was_pv = if excluded.is_some() { self.frame(ply).tt_pv } else { entry.is_some_and(|entry| entry.pv) };
        let tt_pv = PV || was_pv;
        self.frame(ply).tt_pv = tt_pv;
        Node {
            board,
            ply,
            window,
            original_alpha: window.alpha,
            depth,
            cut_node,
            in_check: board.in_check(),
            excluded,
            entry,
            tt_move,
            tt_noisy: tt_move.is_some_and(|mv| board.is_noisy(mv)),
            tt_pv,
            tablebase_min: -INFINITE,
            tablebase_max: INFINITE,
            raw_eval: NONE,
            eval: NONE,
            tt_adjusted_eval: NONE,
            improving: false,
            eval_swing: -INFINITE,
            prior_reduction: 0,
            ordering: self.ordering_context(board, ply),
        }
    }

    /// TT cutoff: returns the value of the entry if its depth and bound suffice, except at a high fifty-move clock. A
    /// quiet TT move that fails high gets a history bonus.
    #[inline(always)]
    fn tt_cutoff(&mut self, node: &Node) -> Option<Value> {
        let &Node { board, ply, window, depth, .. } = node;
        let entry = node.entry?;
        if entry.depth < depth || board.halfmove_clock() as i32 >= self.params().tt_clock {
            return None;
        }
        let value = window.cutoff(&entry)?;
        if window.fails_high(value)
            && let Some(mv) = node.tt_move
            && !node.tt_noisy
        {
            let bonus = self.params().history_bonus(depth);
            self.histories.update_quiet(board, mv, piece_to(board, mv), &node.ordering, bonus);
            // Extra malus for an early quiet move of the previous ply.
            let previous = *self.earlier(ply, 1);
            if previous.quiet && previous.move_count as i32 <= self.params().refuted_count {
                let previous_moves = self.previous_moves(ply - 1);
                let malus = self.params().history_malus(depth) * self.params().refuted_malus / 128;
                self.histories.update_continuation(previous.piece_to, &previous_moves, -malus);
            }
        }
        Some(value)
    }

    /// [Syzygy tablebases](https://www.chessprogramming.org/Syzygy_Bases): returns the value if it is exact or causes a
    /// cutoff; else it bounds the value of a PV node.
    #[inline(always)]
    fn probe_tablebases<const PV: bool>(&mut self, node: &mut Node) -> Option<Value> {
        let tables = self.shared.tables?;
        let skip = node.ply == 0 || node.excluded.is_some() || node.board.halfmove_clock() != 0;
        if skip || !tables.allow(node.board.occupied().popcnt(), node.depth) {
            return None;
        }
        let (value, bound) = self.probe_wdl(tables, node)?;
        let cutoff = match bound {
            Bound::Lower => node.window.fails_high(value),
            Bound::Upper => node.window.fails_low(value),
            Bound::Exact | Bound::None => true,
        };
        if cutoff {
            // The next visit gets a TT cutoff, which is faster than a tablebase probe.
            let depth = (node.depth + TABLEBASE_EXTRA_DEPTH).min(MAX_PLY as i32 - 1);
            let entry = Entry { mv: None, value, eval: NONE, depth, bound, pv: node.tt_pv };
            self.shared.table.store(node.board.key(), node.ply, &entry);
            return Some(value);
        }
        if PV {
            match bound {
                Bound::Lower => node.tablebase_min = value,
                _ => node.tablebase_max = value,
            }
        }
        node.window.alpha = node.window.alpha.max(node.tablebase_min);
        None
    }

    /// The WDL value: a win is a lower bound and a loss an upper bound, because mate values exceed them.
    #[cold]
    fn probe_wdl(&self, tables: &Tables, node: &Node) -> Option<(Value, Bound)> {
        let value = tables.value(node.board, node.ply)?;
        self.shared.tb_hits.fetch_add(1, Relaxed);
        Some(match value {
            TABLEBASE_WIN_IN_MAX.. => (value, Bound::Lower),
            _ if value <= -TABLEBASE_WIN_IN_MAX => (value, Bound::Upper),
            _ => (value, Bound::Exact),
        })
    }

    /// [Static evaluation](https://www.chessprogramming.org/Evaluation). A singular extension search reuses it.
    #[inline(always)]
    fn static_eval(&mut self, node: &mut Node) {
        let ply = node.ply;
        if node.in_check {
            (self.frame(ply).raw_eval, self.frame(ply).eval) = (NONE, NONE);
            return;
        }
        if node.excluded.is_some() {
            (node.raw_eval, node.eval) = (self.frame(ply).raw_eval, self.frame(ply).eval);
            node.tt_adjusted_eval = node.eval;
            return;
        }
        let (raw_eval, eval) = self.evaluate(node.board, node.entry.as_ref());
        (node.raw_eval, node.eval) = (raw_eval, eval);
        (self.frame(ply).raw_eval, self.frame(ply).eval) = (raw_eval, eval);
        node.tt_adjusted_eval = node.entry.map_or(eval, |entry| entry.adjusted_eval(eval));
        if node.entry.is_none() {
            // Stores the evaluation alone, for the next visit.
            let entry = Entry { mv: None, value: 0, eval: raw_eval, depth: -1, bound: Bound::None, pv: node.tt_pv };
            self.shared.table.store(node.board.key(), ply, &entry);
        }
    }

    /// [Improving](https://www.chessprogramming.org/Improving) and the evaluation swing, which updates the butterfly
    /// history of the opponent's last move if it was quiet.
    #[inline(always)]
    fn eval_trend(&mut self, node: &mut Node) {
        let &mut Node { ply, eval, .. } = node;
        if node.in_check {
            return;
        }
        let [two_plies_ago, four_plies_ago] = [2, 4].map(|back| self.earlier(ply, back).eval);
        let earlier_eval = if two_plies_ago == NONE { four_plies_ago } else { two_plies_ago };
        node.improving = earlier_eval == NONE || eval > earlier_eval;
        let previous = *self.earlier(ply, 1);
        if previous.eval == NONE {
            return;
        }
        // Used once: not again by a verification or singular extension search of this node.
        node.prior_reduction = std::mem::take(&mut self.frame(ply - 1).reduction);
        node.eval_swing = eval + previous.eval;
        if node.excluded.is_none() && previous.quiet {
            let bonus = self.params().eval_history(node.eval_swing);
            self.histories.update_butterfly(previous.butterfly, bonus);
        }
    }

    /// Hindsight adjustment, from Stockfish: takes back part of the prior reduction if the opponent is not worsening,
    /// or reduces further if the evaluation swung far in our favor.
    #[inline(always)]
    fn hindsight_adjustment(&self, node: &mut Node) {
        let params = self.params();
        if node.prior_reduction >= params.hindsight_reduction && !node.opponent_worsening(params) {
            node.depth += 1;
        }
        if node.prior_reduction >= params.hindsight_less && node.depth >= 2 && node.eval_swing > params.hindsight_margin
        {
            node.depth -= 1;
        }
    }

    /// [Internal iterative reduction](https://www.chessprogramming.org/Internal_Iterative_Reductions): reduces a node
    /// without a TT move, or with one from a much shallower search.
    #[inline(always)]
    fn internal_iterative_reduction<const PV: bool>(&self, node: &mut Node) {
        let shallow = |entry: Entry| entry.depth + self.params().iir_gap <= node.depth;
        if node.depth >= self.params().iir_depth
            && (PV || node.cut_node)
            && node.excluded.is_none()
            && (node.tt_move.is_none() || node.entry.is_some_and(shallow))
        {
            node.depth -= 1;
        }
    }

    /// [Reverse futility pruning](https://www.chessprogramming.org/Reverse_Futility_Pruning), also called static null
    /// move pruning: at low depth, an evaluation that exceeds beta by a margin is assumed to fail high.
    #[inline(always)]
    fn reverse_futility(&self, node: &Node) -> Option<Value> {
        let &Node { depth, tt_adjusted_eval, window: Window { beta, .. }, .. } = node;
        let params = self.params();
        let improving = node.improving || node.opponent_worsening(params);
        let prune = depth <= params.rfp_depth
            && tt_adjusted_eval >= beta
            && tt_adjusted_eval.abs() < TABLEBASE_WIN_IN_MAX
            && beta > -TABLEBASE_WIN_IN_MAX
            && tt_adjusted_eval - params.rfp_margin(depth, improving) >= beta
            && (node.tt_move.is_none() || node.tt_noisy || !node.tt_pv);
        prune.then(|| beta + (tt_adjusted_eval - beta) / params.rfp_return_divisor)
    }

    /// [Razoring](https://www.chessprogramming.org/Razoring): if the evaluation is far below alpha, a quiescence search
    /// that fails low ends the node.
    #[inline(always)]
    fn razoring(&mut self, node: &Node) -> Result<Option<Value>, Stopped> {
        let &Node { window, depth, .. } = node;
        if depth > self.params().razor_depth
            || node.tt_adjusted_eval + self.params().razor_margin(depth) >= window.alpha
        {
            return Ok(None);
        }
        let value = self.quiescence::<false>(window, true)?;
        Ok(window.fails_low(value).then_some(value))
    }

    /// [Null move pruning](https://www.chessprogramming.org/Null_Move_Pruning): if a null move fails high at reduced
    /// depth, so will the best move.
    #[inline(always)]
    fn null_move_pruning(&mut self, node: &Node) -> Result<Option<Value>, Stopped> {
        let &Node { board, ply, depth, window: Window { beta, .. }, .. } = node;
        let us = board.side_to_move();
        if depth < self.params().nmp_depth
            || self.earlier(ply, 1).piece_to == NO_PIECE_TO
            || node.tt_adjusted_eval < beta
            || node.eval < beta + self.params().nmp_margin_base - self.params().nmp_margin_depth * depth
            || beta <= -TABLEBASE_WIN_IN_MAX
            || ply < self.null_move_min_ply
            || board.non_pawn_pieces(us).is_empty()
        {
            return Ok(None);
        }
        let reduced_depth = depth - self.params().nmp_reduction(depth, node.tt_adjusted_eval - beta);
        self.make_null();
        let value = -self.alpha_beta::<false>(Window::null(-beta), reduced_depth, !node.cut_node)?;
        self.position.unmake();
        if value < beta {
            return Ok(None);
        }
        // Mate and tablebase wins after a null move are unproven.
        let value = if value >= TABLEBASE_WIN_IN_MAX { beta } else { value };
        // Not verified at low depth with enough pieces that zugzwang is unlikely, nor inside a verification.
        let zugzwang_likely = board.non_pawn_pieces(us).popcnt() as i32 <= self.params().nmp_zugzwang_pieces;
        if (depth < self.params().nmp_verification_depth && !zugzwang_likely) || self.null_move_min_ply > 0 {
            return Ok(Some(value));
        }
        // Verification search, with null move pruning disabled before `null_move_min_ply`.
        self.null_move_min_ply = ply + (self.params().nmp_verification_share * reduced_depth.max(0) / 4) as usize + 1;
        let verified = self.alpha_beta::<false>(Window::null(beta - 1), reduced_depth, false)?;
        self.null_move_min_ply = 0;
        Ok((verified >= beta).then_some(value))
    }

    /// [ProbCut](https://www.chessprogramming.org/ProbCut): a capture that exceeds beta by a margin at reduced depth is
    /// assumed to fail high at full depth.
    #[inline(always)]
    fn probcut(&mut self, node: &Node) -> Result<Option<Value>, Stopped> {
        let beta = node.window.beta;
        let margin = self.params().probcut_margin - if node.improving { self.params().probcut_improving } else { 0 };
        let probcut_beta = beta + margin;
        let reduced_depth = node.depth - self.params().probcut_reduction;
        let tt_below =
            |entry: Entry| entry.depth > reduced_depth && entry.value < probcut_beta && entry.bound != Bound::None;
        if node.depth < self.params().probcut_depth
            || beta.abs() >= TABLEBASE_WIN_IN_MAX
            || node.entry.is_some_and(tt_below)
        {
            return Ok(None);
        }
        let Some((mv, value)) = self.probcut_move(node, probcut_beta, reduced_depth)? else { return Ok(None) };
        let (mv, eval) = (Some(mv), node.raw_eval);
        let entry = Entry { mv, value, eval, depth: reduced_depth + 1, bound: Bound::Lower, pv: node.tt_pv };
        self.shared.table.store(node.board.key(), node.ply, &entry);
        Ok(Some(if value >= TABLEBASE_WIN_IN_MAX { value } else { value - margin }))
    }

    /// The first noisy move that reaches `probcut_beta` in quiescence and then at reduced depth, and its value.
    fn probcut_move(
        &mut self,
        node: &Node,
        probcut_beta: Value,
        reduced_depth: i32,
    ) -> Result<Option<(Move, Value)>, Stopped> {
        let board = node.board;
        let see_threshold = probcut_beta - node.eval;
        let tt_move = node.tt_move.filter(|&mv| board.is_noisy(mv) && board.see_ge(mv, see_threshold));
        let mut picker = Picker::new(self.arena, MoveSet::Noisy, tt_move, see_threshold);
        let mut found = None;
        while let Some(ScoredMove { mv, piece_to, .. }) = self.next_move(&mut picker, board, &node.ordering) {
            self.prefetch_tt(mv, piece_to);
            self.make(mv, piece_to, false);
            let window = Window::null(-probcut_beta);
            let mut value = -self.quiescence::<false>(window, false)?;
            if value >= probcut_beta && reduced_depth > 0 {
                value = -self.alpha_beta::<false>(window, reduced_depth, !node.cut_node)?;
            }
            self.position.unmake();
            if value >= probcut_beta {
                found = Some((mv, value));
                break;
            }
        }
        picker.release(self.arena);
        Ok(found)
    }

    /// Small ProbCut, from Stockfish: a TT lower bound far above beta from a slightly shallower search fails high.
    #[inline(always)]
    fn small_probcut(&self, node: &Node) -> Option<Value> {
        let probcut_beta = node.window.beta + self.params().small_probcut_margin;
        let entry = node.entry?;
        let cut = entry.bound.is_lower()
            && entry.depth >= node.depth - self.params().small_probcut_gap
            && entry.value >= probcut_beta
            && entry.value < TABLEBASE_WIN_IN_MAX
            && node.window.beta.abs() < TABLEBASE_WIN_IN_MAX;
        cut.then_some(probcut_beta)
    }

    /// The move loop. Returns a value only for a [multi-cut](https://www.chessprogramming.org/Multi-Cut).
    #[inline(always)]
    fn search_moves<const PV: bool>(
        &mut self,
        node: &mut Node,
        result: &mut LoopResult,
    ) -> Result<Option<Value>, Stopped> {
        let &mut Node { board, ply, depth, .. } = node;
        let root = ply == 0;
        let may_prune = !root && board.non_pawn_pieces(board.side_to_move()).any();
        // Now, since a verification search of this node may change them.
        node.ordering.killers = self.frame(ply).killers;
        node.ordering.counter = self.histories.counter(node.ordering.previous[0]);
        let mut picker = Picker::new(self.arena, MoveSet::All, node.tt_move, 0);
        let mut checks = None;
        let mut multi_cut = None;
        loop {
            let picked = if root {
                self.root_move(board, result.move_count)
            } else {
                self.next_move(&mut picker, board, &node.ordering)
            };
            let Some(picked) = picked else { break };
            if Some(picked.mv) == node.excluded {
                continue;
            }
            result.move_count += 1;
            self.prefetch_tt(picked.mv, picked.piece_to);
            let info = self.move_info(node, picked, result.move_count);
            if root {
                self.report_current_move(&info);
            }
            if may_prune
                && result.best_value > -TABLEBASE_WIN_IN_MAX
                && self.prune_move(node, &info, &mut picker, &mut checks)
            {
                continue;
            }
            let extension = match self.singular_extension::<PV>(node, &info)? {
                ControlFlow::Continue(extension) => extension,
                ControlFlow::Break(value) => {
                    multi_cut = Some(value);
                    break;
                }
            };
            let nodes_before = self.nodes;
            self.make_move(node, &info, extension);
            let value = self.search_move::<PV>(node, &info, extension, result.best_value)?;
            self.position.unmake();
            if root {
                self.update_root_move(&info, value, node.window, self.nodes - nodes_before);
            }
            if value > result.best_value {
                result.best_value = value;
                if value > node.window.alpha {
                    result.best_move = Some(picked);
                    if PV {
                        self.extend_pv(picked.mv);
                    }
                    if node.window.fails_high(value) {
                        self.frame(ply).cutoffs += 1;
                        break;
                    }
                    self.raise_alpha(node, value);
                }
            }
            if result.best_move.is_none_or(|best| best.mv != info.mv) {
                // The last ones of a long list get no malus.
                let searched = (info.mv, info.piece_to);
                let _ = if info.noisy { result.noisies.try_push(searched) } else { result.quiets.try_push(searched) };
            }
        }
        picker.release(self.arena);
        // `raise_alpha` reduces the remaining moves, not the node.
        node.depth = depth;
        Ok(multi_cut)
    }

    /// The data of a move that pruning, extensions and reductions use.
    #[inline(always)]
    fn move_info(&self, node: &Node, picked: ScoredMove, count: usize) -> MoveInfo {
        let ScoredMove { mv, piece_to, score } = picked;
        let noisy = node.board.is_noisy(mv);
        // The scores of killers, the TT move and root moves are not histories.
        let history = if noisy {
            0
        } else if score < KILLER_SCORE && node.ply > 0 {
            score
        } else {
            let scores = self.histories.quiet_scores(self.params(), node.board, &node.ordering);
            scores.score(mv, piece_to)
        };
        MoveInfo { mv, piece_to, score, noisy, history, count }
    }

    #[inline(always)]
    fn report_current_move(&self, info: &MoveInfo) {
        if self.id == 0 && self.shared.since_start() > CURRENT_MOVE_AFTER {
            let number = info.count + self.pv_index;
            self.shared.report(&Report::CurrentMove { depth: self.root_depth as u32, mv: info.mv, number });
        }
    }

    /// Shallow-depth pruning: whether to skip the move. A quiet check is not pruned itself, but is dropped with the rest
    /// where the remaining quiet moves are skipped; `checks` caches the squares from which checks are given.
    #[inline(always)]
    fn prune_move(&self, node: &Node, info: &MoveInfo, picker: &mut Picker, checks: &mut Option<Checks>) -> bool {
        let &Node { board, depth, .. } = node;
        let reduction = self.derived.lmr(depth, info.count, !info.noisy) / 1024;
        let lmr_depth = (depth - reduction + i32::from(node.improving)).max(0);
        if info.noisy {
            return self.capture_futility_pruning(node, info, lmr_depth)
                || (Some(info.mv) != node.tt_move
                    && !board.see_ge(info.mv, -self.params().see_capture_factor * depth));
        }
        if checks.get_or_insert_with(|| board.checks()).given_by(board, info.mv) {
            return false;
        }
        if self.late_move_pruning(node, info) || self.history_pruning(node, info, lmr_depth) {
            picker.skip_quiets();
            return true;
        }
        // A good history raises the LMR depth, a bad one lowers it.
        let lmr_depth = (lmr_depth + info.history * self.params().futility_history / (1 << 20)).max(0);
        self.futility_pruning(node, lmr_depth)
            || !board.see_ge(info.mv, -self.params().see_quiet_factor * lmr_depth * lmr_depth)
    }

    /// [Futility pruning](https://www.chessprogramming.org/Futility_Pruning) of captures.
    #[inline(always)]
    fn capture_futility_pruning(&self, node: &Node, info: &MoveInfo, lmr_depth: i32) -> bool {
        let &Node { board, eval, .. } = node;
        let gain = || board.captured(info.mv).map_or(0, piece_value);
        !node.in_check
            && lmr_depth <= self.params().capture_futility_depth
            && node.window.fails_low(eval + self.params().capture_futility_margin(lmr_depth) + gain())
            && info.mv.promotion().is_none()
            && !board.gives_check(info.mv)
    }

    /// [Late move pruning](https://www.chessprogramming.org/Futility_Pruning#MoveCountBasedPruning), also called move
    /// count based pruning.
    #[inline(always)]
    fn late_move_pruning(&self, node: &Node, info: &MoveInfo) -> bool {
        let improving = node.improving || node.opponent_worsening(self.params());
        info.count > self.params().lmp_threshold(node.depth, improving)
    }

    /// [History pruning](https://www.chessprogramming.org/History_Leaf_Pruning) by the score of the move picker: the
    /// quiet moves that follow score lower.
    #[inline(always)]
    fn history_pruning(&self, node: &Node, info: &MoveInfo, lmr_depth: i32) -> bool {
        lmr_depth <= self.params().history_pruning_depth
            && info.score < -self.params().history_pruning_factor * node.depth
    }

    /// [Futility pruning](https://www.chessprogramming.org/Futility_Pruning) of quiet moves.
    #[inline(always)]
    fn futility_pruning(&self, node: &Node, lmr_depth: i32) -> bool {
        !node.in_check
            && lmr_depth <= self.params().futility_depth
            && node.window.fails_low(node.eval + self.params().futility_margin(lmr_depth))
    }

    /// [Singular extension](https://www.chessprogramming.org/Singular_Extensions): the plies by which to extend a TT
    /// move that is much better than all others, or negative, to reduce a move that is not. Breaks with the value of a
    /// multi-cut.
    #[inline(always)]
    fn singular_extension<const PV: bool>(
        &mut self,
        node: &Node,
        info: &MoveInfo,
    ) -> Result<ControlFlow<Value, i32>, Stopped> {
        let &Node { ply, depth, window, cut_node, .. } = node;
        let Some(entry) = node.entry.filter(|entry| {
            ply > 0
                && node.excluded.is_none()
                && Some(info.mv) == node.tt_move
                && depth >= self.params().singular_depth
                && entry.depth >= depth - self.params().singular_gap
                && entry.bound.is_lower()
                && entry.value.abs() < TABLEBASE_WIN_IN_MAX
                && ply < (self.params().singular_line * self.root_depth) as usize
        }) else {
            return Ok(ControlFlow::Continue(0));
        };
        let singular_beta = entry.value - self.params().singular_margin * depth / 16;
        let singular_depth = (depth - 1) / self.params().singular_depth_divisor;
        self.frame(ply).excluded = Some(info.mv);
        let value = self.alpha_beta::<false>(Window::null(singular_beta - 1), singular_depth, cut_node)?;
        self.frame(ply).excluded = None;
        if value < singular_beta {
            let double = !PV
                && value < singular_beta - self.params().double_margin
                && self.earlier(ply, 1).double_extensions < self.params().double_limit;
            let triple = double && !info.noisy && value < singular_beta - self.params().triple_margin;
            return Ok(ControlFlow::Continue(1 + i32::from(double) + i32::from(triple)));
        }
        // Multi-cut: another move fails high as well.
        if window.fails_high(singular_beta) && singular_beta.abs() < TABLEBASE_WIN_IN_MAX {
            return Ok(ControlFlow::Break(singular_beta));
        }
        // Negative extensions.
        Ok(ControlFlow::Continue(if window.fails_high(entry.value) || cut_node {
            -self.params().singular_cut_reduction
        } else if window.fails_low(entry.value) {
            -self.params().singular_low_reduction
        } else {
            0
        }))
    }

    /// Makes a move of the move loop and records it in the search stack.
    #[inline(always)]
    fn make_move(&mut self, node: &Node, info: &MoveInfo, extension: i32) {
        let double_extensions = self.earlier(node.ply, 1).double_extensions + i32::from(extension >= 2);
        let frame = self.frame(node.ply);
        frame.double_extensions = double_extensions;
        frame.move_count = info.count;
        if !info.noisy {
            frame.butterfly = butterfly_index(node.board, info.mv, node.ordering.threats);
        }
        self.make(info.mv, info.piece_to, !info.noisy);
    }

    /// [Principal variation search](https://www.chessprogramming.org/Principal_Variation_Search) of the move just made:
    /// a null window search, and at PV nodes a full window search of the first move and of moves that raise alpha.
    #[inline(always)]
    fn search_move<const PV: bool>(
        &mut self,
        node: &Node,
        info: &MoveInfo,
        extension: i32,
        best_value: Value,
    ) -> Result<Value, Stopped> {
        let new_depth = node.depth - 1 + extension;
        let mut value = -INFINITE;
        if self.may_reduce::<PV>(node, info) {
            value = self.late_move_reduction::<PV>(node, info, new_depth, best_value)?;
        } else if !PV || info.count > 1 {
            let null_window = Window::null(node.window.alpha).flipped();
            value = -self.alpha_beta::<false>(null_window, new_depth, !node.cut_node)?;
        }
        if PV && (info.count == 1 || value > node.window.alpha) {
            value = -self.alpha_beta::<true>(node.window.flipped(), new_depth, false)?;
        }
        Ok(value)
    }

    /// Whether the move gets a late move reduction.
    #[inline(always)]
    fn may_reduce<const PV: bool>(&self, node: &Node, info: &MoveInfo) -> bool {
        let count = info.count as i32;
        let promising_capture = PV && info.noisy && info.score > 0 && count <= self.params().lmr_good_captures;
        node.depth >= self.params().lmr_depth
            && count > self.params().lmr_count + i32::from(node.ply == 0)
            && !promising_capture
    }

    /// [Late move reductions](https://www.chessprogramming.org/Late_Move_Reductions): a null window search at reduced
    /// depth, and a re-search at about full depth if it raises alpha.
    #[inline(always)]
    fn late_move_reduction<const PV: bool>(
        &mut self,
        node: &Node,
        info: &MoveInfo,
        new_depth: i32,
        best_value: Value,
    ) -> Result<Value, Stopped> {
        let &Node { ply, window, .. } = node;
        let null_window = Window::null(window.alpha).flipped();
        let reduction = self.reduction::<PV>(node, info);
        let reduced_depth = (new_depth - reduction).clamp(1, new_depth.max(1) + i32::from(PV));
        self.frame(ply).reduction = (new_depth - reduced_depth).max(0);
        let mut value = -self.alpha_beta::<false>(null_window, reduced_depth, true)?;
        self.frame(ply).reduction = 0;
        if value > window.alpha && reduced_depth < new_depth {
            let deeper = value > best_value + self.params().lmr_deeper && ply > 0;
            let shallower = value < best_value + self.params().lmr_shallower;
            let depth = new_depth + i32::from(deeper) - i32::from(shallower);
            if depth > reduced_depth {
                value = -self.alpha_beta::<false>(null_window, depth, !node.cut_node)?;
            }
            // The latest result updates the continuation histories.
            if !info.noisy {
                let bonus = match window.bound_of(value) {
                    Bound::Upper => -self.params().history_malus(new_depth.max(1)),
                    Bound::Lower => self.params().history_bonus(new_depth.max(1)),
                    Bound::Exact | Bound::None => 0,
                };
                let bonus = bonus * self.params().lmr_history / 128;
                self.histories.update_continuation(info.piece_to, &node.ordering.previous, bonus);
            }
        }
        Ok(value)
    }

    /// The late move reduction of the move just made, in plies.
    #[inline(always)]
    fn reduction<const PV: bool>(&mut self, node: &Node, info: &MoveInfo) -> i32 {
        let &MoveInfo { mv, noisy, .. } = info;
        let gives_check = self.position.board().in_check();
        let mut reduction = self.derived.lmr(node.depth, info.count, !noisy);
        // Killers and counter-moves are stored without the castling flag.
        let refutation = Some(mv.unmarked());
        let is_refutation = node.ordering.killers.contains(&refutation) || node.ordering.counter == refutation;
        // Many cutoffs at the next ply.
        let cutoffs = self.frame(node.ply + 1).cutoffs > self.params().lmr_cutoff_count;
        let params = self.params();
        reduction += i32::from(!PV) * params.lmr_not_pv;
        reduction += i32::from(node.cut_node) * params.lmr_cut_node;
        reduction += i32::from(!node.improving) * params.lmr_not_improving;
        reduction += i32::from(node.tt_noisy && !noisy) * params.lmr_tt_noisy;
        reduction += i32::from(cutoffs) * params.lmr_cutoffs;
        reduction -= i32::from(node.tt_pv) * params.lmr_tt_pv;
        reduction -= i32::from(gives_check || node.in_check) * params.lmr_check;
        reduction -= i32::from(is_refutation) * params.lmr_killer;
        reduction -= i32::from(node.ply == 0) * params.lmr_root;
        let correction = if node.eval == NONE { 0 } else { (node.eval - node.raw_eval).abs() };
        reduction -= params.lmr_correction * correction;
        reduction -= params.history_reduction(info.history);
        reduction / 1024
    }

    /// Raises alpha and reduces the remaining moves, which are now less likely to raise it.
    #[inline(always)]
    fn raise_alpha(&self, node: &mut Node, value: Value) {
        node.window.alpha = value;
        let depths = self.params().alpha_raise_min_depth..=self.params().alpha_raise_depth;
        if depths.contains(&node.depth) && value.abs() < TABLEBASE_WIN_IN_MAX {
            node.depth = (node.depth - self.params().alpha_raise).max(1);
        }
    }

    /// The value without legal moves: mate or stalemate, or alpha if the only legal move is excluded.
    fn no_moves<const PV: bool>(&mut self, node: &Node) -> Value {
        if node.excluded.is_some() {
            return node.window.alpha;
        }
        self.end_pv::<PV>(true);
        if node.in_check { mated_in(node.ply) } else { DRAW }
    }

    /// The [history heuristic](https://www.chessprogramming.org/History_Heuristic).
    #[inline(always)]
    fn update_histories(&mut self, node: &Node, result: &LoopResult) {
        match result.best_move {
            Some(best) if node.window.fails_high(result.best_value) => self.update_cutoff(node, result, best),
            // The value may be that of the tablebases.
            None if result.best_value > node.original_alpha => {}
            Some(_) => {}
            None => self.update_fail_low(node),
        }
    }

    /// A bonus for the move that failed high, and a malus for those searched before it: all noisy ones, and the quiet ones
    /// before a quiet move.
    fn update_cutoff(&mut self, node: &Node, result: &LoopResult, best: ScoredMove) {
        let &Node { board, depth, ref ordering, .. } = node;
        let (bonus, malus) = (self.params().history_bonus(depth), self.params().history_malus(depth));
        let victim = |mv| board.captured(mv).unwrap_or(Piece::Pawn);
        if board.is_noisy(best.mv) {
            self.histories.update_capture(best.piece_to, victim(best.mv), bonus);
        } else {
            self.update_killers(node.ply, best.mv);
            if ordering.previous[0] != NO_PIECE_TO {
                self.histories.set_counter(ordering.previous[0], best.mv);
            }
            self.histories.update_quiet(board, best.mv, best.piece_to, ordering, bonus);
            for &(mv, piece_to) in &result.quiets {
                self.histories.update_quiet(board, mv, piece_to, ordering, -malus);
            }
        }
        for &(mv, piece_to) in &result.noisies {
            self.histories.update_capture(piece_to, victim(mv), -malus);
        }
    }

    /// [Killer moves](https://www.chessprogramming.org/Killer_Heuristic).
    fn update_killers(&mut self, ply: usize, mv: Move) {
        let killers = &mut self.frame(ply).killers;
        let killer = Some(mv.unmarked());
        if killers[0] != killer {
            *killers = [killer, killers[0]];
        }
    }

    /// A bonus for the opponent's last move, if quiet, after a fail low.
    fn update_fail_low(&mut self, node: &Node) {
        let previous = *self.earlier(node.ply, 1);
        if node.ply > 0 && previous.quiet && previous.piece_to != NO_PIECE_TO {
            let previous_moves = self.previous_moves(node.ply - 1);
            let bonus = self.params().history_bonus(node.depth) * self.params().fail_low_bonus / 128;
            self.histories.update_continuation(previous.piece_to, &previous_moves, bonus);
        }
    }

    /// The best value, capped by the tablebases. Outside PV nodes a value that fails high is seldom exact, so it is blended
    /// with beta.
    #[inline(always)]
    fn final_value<const PV: bool>(node: &Node, result: &LoopResult) -> Value {
        let &Node { window, depth, .. } = node;
        let value = result.best_value.min(node.tablebase_max);
        if !PV
            && window.fails_high(value)
            && value.abs() < TABLEBASE_WIN_IN_MAX
            && window.beta.abs() < TABLEBASE_WIN_IN_MAX
        {
            (value * depth + window.beta) / (depth + 1)
        } else {
            value
        }
    }

    /// Stores the result in the transposition table and updates the [correction
    /// histories](https://www.chessprogramming.org/Static_Evaluation_Correction_History).
    #[inline(always)]
    fn store_result<const PV: bool>(&mut self, node: &Node, result: &LoopResult, value: Value) {
        let &Node { board, ply, depth, eval, .. } = node;
        // With MultiPV or `searchmoves` this is the value of some root moves only.
        if ply == 0 && (self.pv_index > 0 || !self.shared.limits.searchmoves.is_empty()) {
            return;
        }
        // Without a best move a value above alpha is that of the tablebases, a lower bound.
        let bound = if node.window.fails_high(value) || (result.best_move.is_none() && value > node.original_alpha) {
            Bound::Lower
        } else if PV && value > node.original_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        let mv = result.best_move.map(|best| best.mv);
        let entry = Entry { mv, value, eval: node.raw_eval, depth, bound, pv: node.tt_pv };
        self.shared.table.store(board.key(), ply, &entry);
        let quiet = mv.is_none_or(|mv| !board.is_noisy(mv));
        // If the static evaluation satisfies the bound, its error is unknown.
        let in_bound = (bound == Bound::Lower && eval >= value) || (bound == Bound::Upper && eval <= value);
        if !node.in_check
            && quiet
            && !in_bound
            && value.abs() < TABLEBASE_WIN_IN_MAX
            && correction_scale(board, node.raw_eval) > 0
        {
            let previous = &node.ordering.previous;
            self.histories.update_correction(self.params(), board, previous, depth, value - eval);
        }
    }
}
