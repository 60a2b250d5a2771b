//! The principal variation search: one node.
//!
//! [`Worker::alpha_beta`] reads as the list of its steps; each is a function below it, in the same order and under its
//! usual name (see the Chess Programming Wiki). The techniques are common property of today's
//! engines; the forms here were learned from reading about Stockfish, Ethereal, Weiss and Berserk, and the
//! constants are ours (see `params`).
//!
//! The steps are inlined: they were one function, and cost no more than that.

use super::history::{Context, NO_PIECE_TO, butterfly_index, piece_to};
use super::ordering::{Hints, History, KILLER, Kind, Picker, Scored};
use super::pv::Line;
use super::quiescence::{better_guess, cutoff};
use super::window::Window;
use super::{Report, Shared, Stopped, Worker};
use crate::board::{Board, Checks, ChessMove, PIECE_VALUES, Piece, PieceTo, attacks, move_bits};
use crate::params::Params;
use crate::tablebase::Tables;
use crate::tt::{Bound, Entry, pack_move, unpack_move};
use crate::value::{DECIDED, DRAW, INFINITE, MAX_PLY, NONE, Value, mate_in, mated_in};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// After so much time the program is told which root move is searched.
const CURRENT_MOVE_AFTER: Duration = Duration::from_secs(3);

/// A node, as far as it is known before its first move.
struct Node<'a> {
    board: &'a Board,
    ply: usize,
    /// Expected to fail high.
    cut_node: bool,
    in_check: bool,
    /// The move that a singular search leaves out.
    excluded: Option<ChessMove>,
    /// Squares that enemy pawns attack.
    threats: u64,
    /// What the table knows.
    entry: Option<Entry>,
    /// The table's move, if it is legal.
    tt_move: Option<ChessMove>,
    /// It captures or promotes.
    tt_noisy: bool,
    /// On the principal variation, now or once.
    tt_pv: bool,
    /// The static evaluation as the evaluator gave it; [`NONE`] in check.
    raw_eval: Value,
    /// The static evaluation, corrected.
    eval: Value,
    /// The table's value where it says more than the static evaluation.
    guess: Value,
    /// The static evaluation is better than our last one.
    improving: bool,
    /// By how much the static evaluation is worse for the opponent than its own was; far below 0 where nobody knows.
    worsened: Value,
    /// Reduction of the move that led here, in plies.
    reduction: i32,
    /// Double extensions on the way here.
    double_extensions: i32,
}

impl Node<'_> {
    /// Whether the static evaluation is worse for the opponent than its own was.
    fn opponent_worsening(&self, params: &Params) -> bool {
        self.worsened > params.worsening_margin
    }
}

/// A move to be searched.
#[derive(Clone, Copy)]
struct Candidate {
    mv: ChessMove,
    mover: PieceTo,
    score: i32,
    /// It captures or promotes to a queen.
    noisy: bool,
    /// What the histories say of a quiet one.
    history: i32,
    /// Its number, from 1.
    count: usize,
}

/// Moves searched in vain before a cutoff, each with its mover in one word: made anew for every node, they must be
/// nothing but zeros.
struct Tried<const N: usize> {
    moves: [u32; N],
    len: usize,
}

impl<const N: usize> Tried<N> {
    #[inline]
    fn new() -> Tried<N> {
        Tried { moves: [0; N], len: 0 }
    }

    #[inline]
    fn push(&mut self, mv: ChessMove, mover: PieceTo) {
        if self.len < N {
            self.moves[self.len] = (pack_move(Some(mv)) as u32) << 16 | u32::from(mover);
            self.len += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = (ChessMove, PieceTo)> + '_ {
        let unpacked = |&packed: &u32| Some((unpack_move(u64::from(packed >> 16))?, packed as PieceTo));
        self.moves[..self.len].iter().filter_map(unpacked)
    }
}

impl Worker {
    /// Value of the node at the current ply, fail-soft.
    pub(super) fn alpha_beta<const PV: bool>(
        &mut self,
        shared: &Shared,
        mut window: Window,
        mut depth: i32,
        cut_node: bool,
    ) -> Result<Value, Stopped> {
        if depth <= 0 {
            return self.quiescence::<PV>(shared, window, true);
        }
        self.poll(shared)?;
        let ply = self.position.ply();
        let root = ply == 0;
        if PV {
            self.lines[ply].end(false);
            self.seldepth = self.seldepth.max(ply);
        }
        let board = *self.position.board();
        if !root && let Some(value) = self.end_of_line::<PV>(&board, &mut window) {
            return Ok(value);
        }
        let original_alpha = window.alpha;

        let mut node = self.look_up::<PV>(shared, &board, cut_node);
        if !PV && let Some(value) = self.table_cutoff(&node, window, depth) {
            return Ok(value);
        }
        // What endgame tables say where that decides nothing: on the principal variation the value is kept within it.
        let (mut floor, mut ceiling) = (-INFINITE, INFINITE);
        if let Some((value, bound)) = table_base(shared, &node, depth) {
            match bound {
                _ if decides(window, value, bound) => {
                    remember_table_base(shared, &node, depth, value, bound);
                    return Ok(value);
                }
                Bound::Lower if PV => floor = value,
                Bound::Upper if PV => ceiling = value,
                _ => {}
            }
            window.alpha = window.alpha.max(floor);
        }
        self.evaluate_node(shared, &mut node);
        depth = adjusted_depth::<PV>(&self.params, &node, depth);
        if !PV && let Some(value) = self.prune_node(shared, &node, window, depth)? {
            return Ok(value);
        }

        let context = self.context(ply);
        let killers = self.frame(ply).killers;
        let counter = self.histories.counter(context[0]);
        let hints = Hints { killers, counter, context, threats: node.threats, ply: Some(ply) };
        let mut picker = Picker::new(&self.arena, Kind::All, node.tt_move, 0);
        let full_depth = depth;
        let mut best = floor;
        let mut best_move: Option<Scored> = None;
        let mut count = 0_usize;
        let mut quiets = Tried::<32>::new();
        let mut captures = Tried::<16>::new();
        let has_pieces = board.has_non_pawn_material(board.side_to_move());
        let mut checks: Option<Checks> = None;

        loop {
            let picked = if root {
                self.root_move(&board, count)
            } else {
                picker.next(&mut self.arena, &board, &History(&self.histories, &self.params, &self.derived), &hints)
            };
            let Some(picked) = picked else { break };
            let Scored { mv, mover, .. } = picked;
            if Some(mv) == node.excluded {
                continue;
            }
            count += 1;
            self.prefetch(shared, mv, mover);
            let candidate = self.candidate(&node, &hints, picked, count);
            if root {
                self.announce(shared, mv, count);
            }
            // Once something is better than being mated.
            if !root
                && has_pieces
                && best > -DECIDED
                && self.prune_move(&node, &hints, &candidate, window, depth, &mut picker, &mut checks)
            {
                continue;
            }
            let extension = match self.singular_extension::<PV>(shared, &node, window, depth, &candidate)? {
                ControlFlow::Continue(extension) => extension,
                ControlFlow::Break(value) => {
                    picker.done(&mut self.arena);
                    return Ok(value);
                }
            };

            let nodes_before = self.nodes;
            let frame = self.frame(ply);
            frame.double_extensions = node.double_extensions + i32::from(extension >= 2);
            frame.count = count;
            if !candidate.noisy {
                frame.butterfly = butterfly_index(&board, mv, node.threats);
            }
            self.make(mv, mover, !candidate.noisy);
            let value = self.search_move::<PV>(shared, &node, &hints, window, depth, extension, best, &candidate)?;
            self.position.unmake();

            if root {
                self.update_root_move(mv, value, window, count, self.nodes - nodes_before);
            }
            if value > best {
                best = value;
                if value > window.alpha {
                    best_move = Some(picked);
                    if PV {
                        Line::extend_at(&mut self.lines, ply, mv);
                    }
                    if window.fails_high(value) {
                        self.frame(ply).cutoffs += 1;
                        break;
                    }
                    window.alpha = value;
                    // The other moves have to beat more now, and seldom do.
                    if (self.params.alpha_raise_min_depth..=self.params.alpha_raise_depth).contains(&depth)
                        && value.abs() < DECIDED
                    {
                        depth = (depth - self.params.alpha_raise).max(1);
                    }
                }
            }
            if best_move.is_none_or(|found| found.mv != mv) {
                if candidate.noisy {
                    captures.push(mv, mover);
                } else {
                    quiets.push(mv, mover);
                }
            }
        }
        picker.done(&mut self.arena);
        depth = full_depth;

        if count == 0 {
            if node.excluded.is_some() {
                return Ok(window.alpha);
            }
            if PV {
                self.lines[ply].end(true);
            }
            return Ok(if node.in_check { mated_in(ply) } else { DRAW });
        }
        if let Some(found) = best_move
            && window.fails_high(best)
        {
            self.learn_cutoff(&board, ply, depth, found, &quiets, &captures, &hints);
        } else if best_move.is_none() {
            self.learn_fail_low(ply, depth);
        }
        best = best.min(ceiling);
        // A value far above beta is seldom true.
        if !PV && window.fails_high(best) && best.abs() < DECIDED && window.beta.abs() < DECIDED {
            best = (best * depth + window.beta) / (depth + 1);
        }
        if node.excluded.is_none() {
            let bound = if window.fails_high(best) {
                Bound::Lower
            } else if PV && best > original_alpha {
                Bound::Exact
            } else {
                Bound::Upper
            };
            self.remember(shared, &node, &context, depth, best, bound, best_move.map(|found| found.mv));
        }
        Ok(best)
    }

    /// Draws, the end of the stack, mate-distance pruning and upcoming repetitions. A value where the node ends here.
    #[inline(always)]
    fn end_of_line<const PV: bool>(&mut self, board: &Board, window: &mut Window) -> Option<Value> {
        let ply = self.position.ply();
        if self.position.is_draw() {
            if PV {
                self.lines[ply].end(true);
            }
            return Some(self.draw_value());
        }
        if ply >= MAX_PLY - 2 {
            return Some(if board.in_check() { DRAW } else { self.static_eval(board, NONE).1 });
        }
        // Mate-distance pruning: a shorter mate is known already.
        window.alpha = window.alpha.max(mated_in(ply));
        window.beta = window.beta.min(mate_in(ply + 1));
        if window.is_closed() {
            return Some(window.alpha);
        }
        // Upcoming repetition: at least a draw is there.
        if window.alpha < DRAW && self.position.upcoming_repetition() {
            window.alpha = self.draw_value();
            if window.is_closed() {
                return Some(window.alpha);
            }
        }
        None
    }

    /// What the transposition table knows of the node.
    #[inline(always)]
    fn look_up<'a, const PV: bool>(&mut self, shared: &Shared, board: &'a Board, cut_node: bool) -> Node<'a> {
        let ply = self.position.ply();
        let them = !board.side_to_move();
        let excluded = self.frame(ply).excluded;
        let entry = if excluded.is_some() { None } else { shared.table.probe(board.key(), ply) };
        let tt_move = if ply == 0 {
            self.root_moves.get(self.pv_index).map(|root_move| root_move.mv)
        } else {
            entry.and_then(|entry| entry.mv).filter(|&mv| board.is_legal(mv))
        };
        let tt_pv = PV || if excluded.is_some() { self.frame(ply).tt_pv } else { entry.is_some_and(|entry| entry.pv) };
        self.frame(ply).tt_pv = tt_pv;
        Node {
            board,
            ply,
            cut_node,
            in_check: board.in_check(),
            excluded,
            threats: attacks::pawns(them, board.colored(them, Piece::Pawn)).0,
            entry,
            tt_move,
            tt_noisy: tt_move.is_some_and(|mv| board.is_noisy(mv)),
            tt_pv,
            raw_eval: NONE,
            eval: NONE,
            guess: NONE,
            improving: false,
            worsened: -INFINITE,
            reduction: 0,
            double_extensions: 0,
        }
    }

    /// The table's value, if its search was deep enough and it decides the window.
    #[inline(always)]
    fn table_cutoff(&mut self, node: &Node, window: Window, depth: i32) -> Option<Value> {
        let &Node { board, ply, cut_node, .. } = node;
        let entry = node.entry?;
        // An upper bound where all moves are expected to fail low: it has to come from a ply deeper.
        let deeper = window.fails_low(entry.value) && !cut_node && entry.bound != Bound::Exact;
        if entry.depth < depth + i32::from(deeper) || board.halfmove_clock() as i32 >= self.params.tt_clock {
            return None;
        }
        let value = cutoff(&entry, window)?;
        if window.fails_high(value)
            && let Some(mv) = node.tt_move
            && !node.tt_noisy
        {
            let bonus = self.params.history_bonus(depth);
            let context = self.context(ply);
            self.histories.update_quiet(board, ply, mv, piece_to(board, mv), &context, node.threats, bonus);
            // The opponent's early quiet move is refuted at once.
            let previous = *self.earlier(ply, 1);
            if previous.quiet && previous.count as i32 <= self.params.refuted_count {
                let context = self.context(ply - 1);
                let malus = self.params.history_malus(depth) * self.params.refuted_malus / 128;
                self.histories.update_continuation(previous.mover, &context, -malus);
            }
        }
        Some(value)
    }

    /// Static evaluation, and how it compares with those before.
    #[inline(always)]
    fn evaluate_node(&mut self, shared: &Shared, node: &mut Node) {
        let ply = node.ply;
        let (raw, eval) = if node.in_check {
            (NONE, NONE)
        } else if node.excluded.is_some() {
            (self.frame(ply).raw_eval, self.frame(ply).eval)
        } else {
            self.static_eval(node.board, node.entry.map_or(NONE, |entry| entry.eval))
        };
        let frame = self.frame(ply);
        frame.eval = eval;
        frame.raw_eval = raw;
        (node.raw_eval, node.eval) = (raw, eval);
        node.guess = if node.in_check { NONE } else { better_guess(eval, node.entry.as_ref()) };
        let evaluated = !node.in_check && node.excluded.is_none();
        if evaluated && node.entry.is_none() {
            let known = Entry { mv: None, value: 0, eval: raw, depth: -1, bound: Bound::None, pv: node.tt_pv };
            shared.table.store(node.board.key(), ply, &known);
        }
        let (before, before_that) = (self.earlier(ply, 2).eval, self.earlier(ply, 4).eval);
        node.improving =
            !node.in_check && if before != NONE { eval > before } else { before_that == NONE || eval > before_that };
        let previous = *self.earlier(ply, 1);
        let enemy_eval = previous.eval;
        node.worsened = if node.in_check || enemy_eval == NONE { -INFINITE } else { eval + enemy_eval };
        node.reduction = if enemy_eval != NONE { previous.reduction } else { 0 };
        node.double_extensions = previous.double_extensions;
        self.frame(ply + 1).killers = [None; 2];
        self.frame(ply + 2).cutoffs = 0;
        // For what is searched before the first move: the null move, and captures in ProbCut.
        self.frame(ply).double_extensions = node.double_extensions;
        // What the opponent's quiet move did to the static evaluation is learned at once.
        if evaluated && previous.quiet && enemy_eval != NONE {
            self.histories.update_butterfly(previous.butterfly, self.params.eval_history(node.worsened));
        }
    }

    /// Pruning of the whole node outside the principal variation, in the order of cost.
    #[inline(always)]
    fn prune_node(
        &mut self,
        shared: &Shared,
        node: &Node,
        window: Window,
        depth: i32,
    ) -> Result<Option<Value>, Stopped> {
        if node.excluded.is_some() {
            return Ok(None);
        }
        if !node.in_check {
            if let Some(value) = reverse_futility(&self.params, node, window, depth) {
                return Ok(Some(value));
            }
            if let Some(value) = self.razoring(shared, node, window, depth)? {
                return Ok(Some(value));
            }
            if let Some(value) = self.null_move(shared, node, window, depth)? {
                return Ok(Some(value));
            }
            if let Some(value) = self.probcut(shared, node, window, depth)? {
                return Ok(Some(value));
            }
        }
        Ok(small_probcut(&self.params, node, window, depth))
    }

    /// Razoring: far below alpha, quiescence has to show that there is something to search for.
    #[inline(always)]
    fn razoring(&mut self, shared: &Shared, node: &Node, window: Window, depth: i32) -> Result<Option<Value>, Stopped> {
        if depth > self.params.razor_depth || node.guess + self.params.razor_margin(depth) >= window.alpha {
            return Ok(None);
        }
        let value = self.quiescence::<false>(shared, Window::null(window.alpha), true)?;
        Ok(window.fails_low(value).then_some(value))
    }

    /// Null move pruning: who may pass and still fails high, does so with a move as well.
    #[inline(always)]
    fn null_move(
        &mut self,
        shared: &Shared,
        node: &Node,
        window: Window,
        depth: i32,
    ) -> Result<Option<Value>, Stopped> {
        let &Node { board, ply, guess, .. } = node;
        let us = board.side_to_move();
        let beta = window.beta;
        if depth < self.params.nmp_depth
            || self.earlier(ply, 1).mover == NO_PIECE_TO
            || guess < beta
            || node.eval < beta + self.params.nmp_margin_base - self.params.nmp_margin_depth * depth
            || beta <= -DECIDED
            || ply < self.null_move_min_ply
            || !board.has_non_pawn_material(us)
        {
            return Ok(None);
        }
        let reduced = depth - self.params.nmp_reduction(depth, guess - beta);
        self.make_null(shared);
        self.frame(ply).reduction = 0;
        let value = -self.alpha_beta::<false>(shared, Window::new(-beta, -beta + 1), reduced, !node.cut_node)?;
        self.position.unmake();
        if value < beta {
            return Ok(None);
        }
        let value = if value >= DECIDED { beta } else { value };
        // Who has one piece beside king and pawns is often in zugzwang; deep nodes are worth the check.
        let zugzwang_threatens = board.pieces_beside_pawns(us) as i32 <= self.params.nmp_zugzwang_pieces;
        if (depth < self.params.nmp_verification_depth && !zugzwang_threatens) || self.null_move_min_ply > 0 {
            return Ok(Some(value));
        }
        // Verification: in a zugzwang passing would have been the best move.
        self.null_move_min_ply = ply + (self.params.nmp_verification_share * reduced.max(0) / 4) as usize + 1;
        let verified = self.alpha_beta::<false>(shared, Window::new(beta - 1, beta), reduced, false)?;
        self.null_move_min_ply = 0;
        Ok((verified >= beta).then_some(value))
    }

    /// ProbCut: a good capture that beats beta by a margin in a shallow search will do so in a deep one.
    #[inline(always)]
    fn probcut(&mut self, shared: &Shared, node: &Node, window: Window, depth: i32) -> Result<Option<Value>, Stopped> {
        let beta = window.beta;
        let prob_beta =
            beta + self.params.probcut_margin - if node.improving { self.params.probcut_improving } else { 0 };
        let reduced = depth - self.params.probcut_reduction;
        let refuted = |entry: &Entry| entry.depth > reduced && entry.value < prob_beta && entry.bound != Bound::None;
        if depth < self.params.probcut_depth || beta.abs() >= DECIDED || node.entry.as_ref().is_some_and(refuted) {
            return Ok(None);
        }
        let Some(value) = self.probcut_captures(shared, node, prob_beta, reduced)? else { return Ok(None) };
        let found =
            Entry { mv: None, value, eval: node.raw_eval, depth: reduced + 1, bound: Bound::Lower, pv: node.tt_pv };
        shared.table.store(node.board.key(), node.ply, &found);
        // A mate stays one; other values are less sure by the margin.
        Ok(Some(if value >= DECIDED { value } else { value - (prob_beta - beta) }))
    }

    /// Searches good captures shallowly for a value of `prob_beta`.
    fn probcut_captures(
        &mut self,
        shared: &Shared,
        node: &Node,
        prob_beta: Value,
        reduced: i32,
    ) -> Result<Option<Value>, Stopped> {
        let board = node.board;
        let hints = Hints { killers: [None; 2], counter: None, context: self.context(node.ply), threats: 0, ply: None };
        let threshold = prob_beta - node.eval;
        let table_move = node.tt_move.filter(|&mv| board.is_noisy(mv) && board.see_ge(mv, threshold));
        let mut picker = Picker::new(&self.arena, Kind::Noisy, table_move, threshold);
        let mut found = None;
        while let Some(Scored { mv, mover, .. }) =
            picker.next(&mut self.arena, board, &History(&self.histories, &self.params, &self.derived), &hints)
        {
            self.prefetch(shared, mv, mover);
            self.make(mv, mover, false);
            let window = Window::new(-prob_beta, -prob_beta + 1);
            let mut value = -self.quiescence::<false>(shared, window, false)?;
            if value >= prob_beta && reduced > 0 {
                value = -self.alpha_beta::<false>(shared, window, reduced, !node.cut_node)?;
            }
            self.position.unmake();
            if value >= prob_beta {
                found = Some(value);
                break;
            }
        }
        picker.done(&mut self.arena);
        Ok(found)
    }

    #[inline(always)]
    fn candidate(&self, node: &Node, hints: &Hints, picked: Scored, count: usize) -> Candidate {
        let Scored { mv, mover, score } = picked;
        let noisy = node.board.is_noisy(mv);
        // Killers, the table's move and those of the root come without their history.
        let history = if noisy {
            0
        } else if score < KILLER && node.ply > 0 {
            score
        } else {
            History(&self.histories, &self.params, &self.derived)
                .quiet_scores(node.board, hints)
                .of(move_bits(Some(mv)), mover)
        };
        Candidate { mv, mover, score, noisy, history, count }
    }

    /// In a long search the program hears which root move is searched.
    #[inline(always)]
    fn announce(&self, shared: &Shared, mv: ChessMove, count: usize) {
        if self.id == 0 && shared.since_start() > CURRENT_MOVE_AFTER {
            let number = count + self.pv_index;
            shared.report(&Report::CurrentMove { depth: self.root_depth as u32, mv, number });
        }
    }

    /// Whether a move is not worth a search. Quiet checks always are.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn prune_move(
        &mut self,
        node: &Node,
        hints: &Hints,
        candidate: &Candidate,
        window: Window,
        depth: i32,
        picker: &mut Picker,
        checks: &mut Option<Checks>,
    ) -> bool {
        let &Node { board, in_check, improving, eval, .. } = node;
        let &Candidate { mv, mover, score, noisy, history, count } = candidate;
        let reduction = self.derived.lmr(depth, count, !noisy) / 1024;
        let lmr_depth = (depth - reduction + i32::from(improving)).max(0);
        if noisy {
            // Futility pruning of captures.
            let gain = || board.captured(mv).map_or(0, |victim| PIECE_VALUES[victim.to_index()]);
            if !in_check
                && lmr_depth <= self.params.capture_futility_depth
                && window.fails_low(eval + self.params.capture_futility_margin(lmr_depth) + gain())
                && mv.get_promotion().is_none()
                && !board.gives_check(mv)
            {
                return true;
            }
            // SEE pruning.
            return score < i32::MAX && !board.see_ge(mv, -self.params.see_capture_factor * depth);
        }
        if checks.get_or_insert_with(|| board.checks()).given_by(board, mv) {
            return false;
        }
        // Late move pruning.
        if count > self.params.lmp_threshold(depth, improving || node.opponent_worsening(&self.params)) {
            picker.skip_quiets();
            return true;
        }
        // History pruning.
        if lmr_depth <= self.params.history_pruning_depth
            && self.histories.continuation(mover, &hints.context) < -self.params.history_pruning_factor * depth
        {
            picker.skip_quiets();
            return true;
        }
        // Futility pruning and SEE pruning, where a good history counts as more depth.
        let shifted_depth = (lmr_depth + history * self.params.futility_history / (1 << 20)).max(0);
        if !in_check
            && shifted_depth <= self.params.futility_depth
            && window.fails_low(eval + self.params.futility_margin(shifted_depth))
        {
            return true;
        }
        !board.see_ge(mv, -self.params.see_quiet_factor * shifted_depth * shifted_depth)
    }

    /// Singular extension: a move of the table that is better than all others by far is searched deeper, by the plies
    /// returned. Breaks with a value where the others are too good as well (multi-cut).
    #[inline(always)]
    fn singular_extension<const PV: bool>(
        &mut self,
        shared: &Shared,
        node: &Node,
        window: Window,
        depth: i32,
        candidate: &Candidate,
    ) -> Result<ControlFlow<Value, i32>, Stopped> {
        let &Node { ply, cut_node, .. } = node;
        let &Candidate { mv, noisy, .. } = candidate;
        let Some(entry) = node.entry.filter(|entry| {
            ply > 0
                && node.excluded.is_none()
                && Some(mv) == node.tt_move
                && depth >= self.params.singular_depth
                && entry.depth >= depth - self.params.singular_gap
                && entry.bound.is_lower()
                && entry.value.abs() < DECIDED
                && ply < (self.params.singular_line * self.root_depth) as usize
        }) else {
            return Ok(ControlFlow::Continue(0));
        };
        let singular_beta = entry.value - self.params.singular_margin * depth / 16;
        self.frame(ply).excluded = Some(mv);
        let value = self.alpha_beta::<false>(
            shared,
            Window::new(singular_beta - 1, singular_beta),
            (depth - 1) / self.params.singular_depth_divisor,
            cut_node,
        )?;
        self.frame(ply).excluded = None;
        if value < singular_beta {
            let double = !PV
                && value < singular_beta - self.params.double_margin
                && node.double_extensions < self.params.double_limit;
            let triple = double && !noisy && value < singular_beta - self.params.triple_margin;
            return Ok(ControlFlow::Continue(1 + i32::from(double) + i32::from(triple)));
        }
        // Multi-cut: without the best move, too, the node fails high.
        if window.fails_high(singular_beta) && singular_beta.abs() < DECIDED {
            return Ok(ControlFlow::Break(singular_beta));
        }
        Ok(ControlFlow::Continue(if window.fails_high(entry.value) || cut_node {
            -self.params.singular_cut_reduction
        } else if window.fails_low(entry.value) {
            -self.params.singular_low_reduction
        } else {
            0
        }))
    }

    /// Value of a move that was made: late move reductions, null windows, and the full window where it has to be.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn search_move<const PV: bool>(
        &mut self,
        shared: &Shared,
        node: &Node,
        hints: &Hints,
        window: Window,
        depth: i32,
        extension: i32,
        best: Value,
        candidate: &Candidate,
    ) -> Result<Value, Stopped> {
        let &Candidate { mover, score, noisy, count, .. } = candidate;
        let (ply, root) = (node.ply, node.ply == 0);
        let null = Window::null(window.alpha).flipped();
        let new_depth = depth - 1 + extension;
        let mut value = -INFINITE;
        let mut full_depth = !PV || count > 1;

        // Late move reductions.
        if depth >= self.params.lmr_depth
            && count as i32 > self.params.lmr_count + i32::from(root)
            && !(PV && noisy && score > 0 && count as i32 <= self.params.lmr_good_captures)
        {
            let reduction = self.reduction::<PV>(node, hints, depth, candidate);
            let reduced = (new_depth - reduction).clamp(1, new_depth.max(1) + i32::from(PV));
            self.frame(ply).reduction = (new_depth - reduced).max(0);
            value = -self.alpha_beta::<false>(shared, null, reduced, true)?;
            self.frame(ply).reduction = 0;
            full_depth = false;
            if value > window.alpha && reduced < new_depth {
                let deeper = value > best + self.params.lmr_deeper && !root;
                let shallower = value < best + self.params.lmr_shallower;
                let again = new_depth + i32::from(deeper) - i32::from(shallower);
                if again > reduced {
                    value = -self.alpha_beta::<false>(shared, null, again, !node.cut_node)?;
                }
                if !noisy {
                    let bonus = match window.bound_of(value) {
                        Bound::Upper => -self.params.history_malus(new_depth.max(1)),
                        Bound::Lower => self.params.history_bonus(new_depth.max(1)),
                        _ => 0,
                    };
                    self.histories.update_continuation(mover, &hints.context, bonus * self.params.lmr_history / 128);
                }
            }
        }
        // Null window, full depth.
        if full_depth {
            value = -self.alpha_beta::<false>(shared, null, new_depth, !node.cut_node)?;
        }
        // Full window: the first move of a PV node, or a new best one.
        if PV && (count == 1 || value > window.alpha) {
            value = -self.alpha_beta::<true>(shared, window.flipped(), new_depth, false)?;
        }
        Ok(value)
    }

    /// How much shallower a late move, which was made, is searched, in plies.
    #[inline(always)]
    fn reduction<const PV: bool>(&mut self, node: &Node, hints: &Hints, depth: i32, candidate: &Candidate) -> i32 {
        let &Candidate { mv, noisy, count, history, .. } = candidate;
        let gives_check = self.position.board().in_check();
        let mut reduction = self.derived.lmr(depth, count, !noisy);
        if !PV {
            reduction += self.params.lmr_not_pv;
        }
        if node.cut_node {
            reduction += self.params.lmr_cut_node;
        }
        if !node.improving {
            reduction += self.params.lmr_not_improving;
        }
        if node.tt_pv {
            reduction -= self.params.lmr_tt_pv;
        }
        if gives_check || node.in_check {
            reduction -= self.params.lmr_check;
        }
        if node.tt_noisy && !noisy {
            reduction += self.params.lmr_tt_noisy;
        }
        if hints.killers.contains(&Some(mv)) || hints.counter == Some(mv) {
            reduction -= self.params.lmr_killer;
        }
        if node.ply == 0 {
            reduction -= self.params.lmr_root;
        }
        // The child's frame counts the cutoffs of this node's other children, and of their cousins.
        if self.frame(node.ply + 1).cutoffs > self.params.lmr_cutoff_count {
            reduction += self.params.lmr_cutoffs;
        }
        let correction = if node.eval == NONE { 0 } else { (node.eval - node.raw_eval).abs() };
        reduction -= self.params.lmr_correction * correction;
        reduction -= self.derived.lmr_history(history);
        reduction / 1024
    }

    /// Stores what was found in the table, and learns how wrong the static evaluation was.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn remember(
        &mut self,
        shared: &Shared,
        node: &Node,
        context: &Context,
        depth: i32,
        best: Value,
        bound: Bound,
        found: Option<ChessMove>,
    ) {
        let &Node { board, ply, eval, .. } = node;
        // The best of some moves says little of the position.
        if ply == 0 && (self.pv_index > 0 || !shared.limits.searchmoves.is_empty()) {
            return;
        }
        let entry = Entry { mv: found, value: best, eval: node.raw_eval, depth, bound, pv: node.tt_pv };
        shared.table.store(board.key(), ply, &entry);
        let quiet_best = found.is_none_or(|mv| !board.is_noisy(mv));
        let says_nothing = (bound == Bound::Lower && best <= eval) || (bound == Bound::Upper && best >= eval);
        if !node.in_check && quiet_best && !says_nothing && best.abs() < DECIDED {
            self.histories.update_correction(&self.params, board, context, depth, best - eval);
        }
    }

    fn remember_killer(&mut self, ply: usize, mv: ChessMove, board: &Board) {
        if board.is_noisy(mv) {
            return;
        }
        let killers = &mut self.frame(ply).killers;
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
    }

    /// The best move gains in its histories, those searched before it lose.
    #[allow(clippy::too_many_arguments)]
    fn learn_cutoff(
        &mut self,
        board: &Board,
        ply: usize,
        depth: i32,
        best: Scored,
        quiets: &Tried<32>,
        captures: &Tried<16>,
        hints: &Hints,
    ) {
        let (bonus, malus) = (self.params.history_bonus(depth), self.params.history_malus(depth));
        let (context, threats) = (&hints.context, hints.threats);
        if board.is_noisy(best.mv) {
            self.histories.update_capture(best.mover, victim(board, best.mv), bonus);
        } else {
            self.remember_killer(ply, best.mv, board);
            if context[0] != NO_PIECE_TO {
                self.histories.set_counter(context[0], best.mv);
            }
            self.histories.update_quiet(board, ply, best.mv, best.mover, context, threats, bonus);
            for (mv, mover) in quiets.iter() {
                self.histories.update_quiet(board, ply, mv, mover, context, threats, -malus);
            }
        }
        for (mv, mover) in captures.iter() {
            self.histories.update_capture(mover, victim(board, mv), -malus);
        }
    }

    /// No move was good enough: the opponent's quiet move that led here was a good one.
    fn learn_fail_low(&mut self, ply: usize, depth: i32) {
        let previous = *self.earlier(ply, 1);
        if ply > 0 && previous.quiet && previous.mover != NO_PIECE_TO {
            let context = self.context(ply - 1);
            self.histories.update_continuation(
                previous.mover,
                &context,
                self.params.history_bonus(depth) * self.params.fail_low_bonus / 128,
            );
        }
    }
}

/// What endgame tables know of the position.
#[inline(always)]
fn table_base(shared: &Shared, node: &Node, depth: i32) -> Option<(Value, Bound)> {
    let tables = shared.tables?;
    let unknown = node.ply == 0 || node.excluded.is_some() || node.board.halfmove_clock() != 0;
    if unknown || !tables.allow(node.board.occupied().popcnt(), depth) {
        return None;
    }
    probe(shared, tables, node)
}

#[cold]
fn probe(shared: &Shared, tables: &Tables, node: &Node) -> Option<(Value, Bound)> {
    let value = tables.value(node.board, node.ply)?;
    shared.table_hits.fetch_add(1, Relaxed);
    Some(match value {
        DECIDED.. => (value, Bound::Lower),
        _ if value <= -DECIDED => (value, Bound::Upper),
        _ => (value, Bound::Exact),
    })
}

/// Whether a value that is such a bound leaves nothing to search for.
fn decides(window: Window, value: Value, bound: Bound) -> bool {
    match bound {
        Bound::Lower => window.fails_high(value),
        Bound::Upper => window.fails_low(value),
        _ => true,
    }
}

/// The table of positions is asked faster than that of endgames. What it says is true at any depth.
fn remember_table_base(shared: &Shared, node: &Node, depth: i32, value: Value, bound: Bound) {
    let depth = (depth + 6).min(MAX_PLY as i32 - 1);
    let known = Entry { mv: None, value, eval: NONE, depth, bound, pv: node.tt_pv };
    shared.table.store(node.board.key(), node.ply, &known);
}

/// Hindsight and internal iterative reduction.
#[inline(always)]
fn adjusted_depth<const PV: bool>(params: &Params, node: &Node, mut depth: i32) -> i32 {
    // Hindsight: the move here was reduced, but the opponent's position did not get worse by it.
    if !node.in_check
        && node.ply > 0
        && node.reduction >= params.hindsight_reduction
        && !node.opponent_worsening(params)
    {
        depth += 1;
    }
    // Or it made that much worse: less will do to show it.
    if node.reduction >= params.hindsight_less && depth >= 2 && node.worsened > params.hindsight_margin {
        depth -= 1;
    }
    // Internal iterative reduction: without a move from the table, or with one of a much shallower search, a
    // node is searched badly anyway.
    let shallow = node.tt_move.is_none() || node.entry.is_some_and(|entry| entry.depth + params.iir_gap <= depth);
    if depth >= params.iir_depth && shallow && (PV || node.cut_node) && node.excluded.is_none() {
        depth -= 1;
    }
    depth
}

/// Reverse futility pruning (static null move): so far above beta that no shallow search comes below.
#[inline(always)]
fn reverse_futility(params: &Params, node: &Node, window: Window, depth: i32) -> Option<Value> {
    let (guess, beta) = (node.guess, window.beta);
    let futile = depth <= params.rfp_depth
        && guess >= beta
        && guess.abs() < DECIDED
        && beta > -DECIDED
        && guess - params.rfp_margin(depth, node.improving || node.opponent_worsening(params)) >= beta
        && (node.tt_move.is_none() || node.tt_noisy || !node.tt_pv);
    futile.then(|| beta + (guess - beta) / params.rfp_return_divisor)
}

/// Small ProbCut: a bound of the table from nearly as deep a search that lies far beyond beta.
#[inline(always)]
fn small_probcut(params: &Params, node: &Node, window: Window, depth: i32) -> Option<Value> {
    let far_beta = window.beta + params.small_probcut_margin;
    let entry = node.entry?;
    let far = entry.bound.is_lower()
        && entry.depth >= depth - params.small_probcut_gap
        && entry.value >= far_beta
        && entry.value < DECIDED
        && window.beta.abs() < DECIDED;
    far.then_some(far_beta)
}

fn victim(board: &Board, mv: ChessMove) -> Piece {
    board.captured(mv).unwrap_or(Piece::Pawn)
}
