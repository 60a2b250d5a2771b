//! The principal variation search: one node.
//!
//! Each step carries its usual name (see the Chess Programming Wiki). The techniques are common property of today's
//! engines; the forms here were learned from reading about Stockfish, Ethereal, Weiss and Berserk, and the
//! constants are ours (see `params`).

use super::history::{NO_PIECE_TO, PieceTo, butterfly_index};
use super::ordering::{Hints, KILLER, Kind, Picker, Scored};
use super::quiescence::{better_guess, cutoff};
use super::{Mode, Report, Shared, Stopped, Worker, params};
use crate::board::{Board, Checks, ChessMove, PIECE_VALUES, Piece, attacks};
use crate::tt::{Bound, Entry, pack_move, unpack_move};
use crate::value::{DRAW, INFINITE, MATE_IN_MAX, MAX_PLY, NONE, Value, mate_in, mated_in};
use std::time::Duration;

/// After so much time the program is told which root move is searched.
const CURRENT_MOVE_AFTER: Duration = Duration::from_secs(3);

/// What pruning and reductions ask of a node, found before its first move.
struct Node {
    cut_node: bool,
    in_check: bool,
    /// The static evaluation is better than our last one.
    improving: bool,
    tt_pv: bool,
    /// The table's move captures or promotes.
    tt_noisy: bool,
    /// How much the static evaluation was corrected.
    correction: Value,
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
    /// Value of the node at the current ply, fail-soft, within the window (`alpha`, `beta`).
    pub(super) fn alpha_beta<M: Mode, const PV: bool>(
        &mut self,
        shared: &Shared,
        mut alpha: Value,
        mut beta: Value,
        mut depth: i32,
        cut_node: bool,
    ) -> Result<Value, Stopped> {
        if depth <= 0 {
            return self.quiescence::<M, PV>(shared, alpha, beta, true);
        }
        self.poll(shared)?;
        let ply = self.position.ply();
        let root = !M::TRAINING && ply == 0;
        if PV {
            self.lines[ply].end(false);
            self.seldepth = self.seldepth.max(ply);
        }
        let board = *self.position.board();
        let in_check = board.in_check();

        if !root {
            if self.position.is_draw() {
                if PV {
                    self.lines[ply].end(true);
                }
                return Ok(self.draw_value::<M>());
            }
            if ply >= MAX_PLY - 2 {
                return Ok(if in_check { DRAW } else { self.static_eval::<M>(&board, NONE).1 });
            }
            if !M::TRAINING {
                // Mate-distance pruning: a shorter mate is known already.
                alpha = alpha.max(mated_in(ply));
                beta = beta.min(mate_in(ply + 1));
                if alpha >= beta {
                    return Ok(alpha);
                }
                // Upcoming repetition: at least a draw is there.
                if alpha < DRAW && self.position.upcoming_repetition() {
                    alpha = self.draw_value::<M>();
                    if alpha >= beta {
                        return Ok(alpha);
                    }
                }
            }
        }
        let original_alpha = alpha;
        let us = board.side_to_move();

        // Transposition table.
        let excluded = self.frame(ply).excluded;
        let key = board.key() ^ shared.salt;
        let entry = if excluded.is_some() { None } else { shared.table.probe(key, ply) };
        let tt_move = if root {
            self.root_moves.get(self.pv_index).map(|root_move| root_move.mv)
        } else {
            entry.and_then(|entry| entry.mv).filter(|&mv| board.is_legal(mv))
        };
        let tt_noisy = tt_move.is_some_and(|mv| board.is_noisy(mv));
        let tt_pv = PV || if excluded.is_some() { self.frame(ply).tt_pv } else { entry.is_some_and(|entry| entry.pv) };
        self.frame(ply).tt_pv = tt_pv;
        let threats = attacks::pawns(!board.side_to_move(), board.colored(!board.side_to_move(), Piece::Pawn)).0;
        if !PV
            && !M::TRAINING
            && let Some(entry) = entry
            && entry.depth >= depth + i32::from(entry.value <= alpha && !cut_node && entry.bound != Bound::Exact)
            && board.halfmove_clock() < 90
            && let Some(value) = cutoff(&entry, alpha, beta)
        {
            if value >= beta
                && let Some(mv) = tt_move
                && !tt_noisy
            {
                let bonus = params::history_bonus(depth);
                let mover = super::history::piece_to(&board, mv);
                let context = self.context(ply);
                self.histories.update_quiet(&board, mv, mover, &context, threats, bonus);
                // The opponent's early quiet move is refuted at once.
                let previous = *self.earlier(ply, 1);
                if previous.quiet && previous.count <= 3 {
                    let context = self.context(ply - 1);
                    let malus = params::history_malus(depth) * params::refuted_malus() / 128;
                    self.histories.update_continuation(previous.mover, &context, -malus);
                }
            }
            return Ok(value);
        }

        // Static evaluation.
        let (raw, eval) = if M::TRAINING || in_check {
            (NONE, NONE)
        } else if excluded.is_some() {
            (self.frame(ply).raw_eval, self.frame(ply).eval)
        } else {
            self.static_eval::<M>(&board, entry.map_or(NONE, |entry| entry.eval))
        };
        let frame = self.frame(ply);
        frame.eval = eval;
        frame.raw_eval = raw;
        let guess = if in_check || M::TRAINING { NONE } else { better_guess(eval, entry.as_ref()) };
        if !M::TRAINING && !in_check && entry.is_none() && excluded.is_none() {
            let known = Entry { mv: None, value: 0, eval: raw, depth: -1, bound: Bound::None, pv: tt_pv };
            shared.table.store(key, ply, &known);
        }
        let (before, before_that) = (self.earlier(ply, 2).eval, self.earlier(ply, 4).eval);
        let improving =
            !in_check && if before != NONE { eval > before } else { before_that == NONE || eval > before_that };
        let previous = *self.earlier(ply, 1);
        let enemy_eval = previous.eval;
        let opponent_worsening = !in_check && enemy_eval != NONE && eval + enemy_eval > 2;
        self.frame(ply + 1).killers = [None; 2];
        self.frame(ply + 2).cutoffs = 0;
        let double_extensions = previous.double_extensions;
        // For what is searched before the first move: the null move, and captures in ProbCut.
        self.frame(ply).double_extensions = double_extensions;

        // What the opponent's quiet move did to the static evaluation is learned at once.
        if !M::TRAINING && !in_check && excluded.is_none() && previous.quiet && enemy_eval != NONE {
            self.histories.update_butterfly(previous.butterfly, params::eval_history(eval + enemy_eval));
        }

        if !M::TRAINING {
            // Hindsight: the move here was reduced, but the opponent's position did not get worse by it.
            if !in_check && !root && previous.reduction >= 3 && !opponent_worsening && enemy_eval != NONE {
                depth += 1;
            }
            // Internal iterative reduction: without a move from the table, or with one of a much shallower search, a
            // node is searched badly anyway.
            let shallow = tt_move.is_none() || entry.is_some_and(|entry| entry.depth + params::iir_gap() <= depth);
            if depth >= params::iir_depth() && shallow && (PV || cut_node) && excluded.is_none() {
                depth -= 1;
            }
        }

        if !M::TRAINING && !PV && !in_check && excluded.is_none() {
            // Reverse futility pruning (static null move).
            if depth <= params::rfp_depth()
                && guess >= beta
                && guess.abs() < MATE_IN_MAX
                && beta > -MATE_IN_MAX
                && guess - params::rfp_margin(depth, improving || opponent_worsening) >= beta
                && (tt_move.is_none() || tt_noisy || !tt_pv)
            {
                return Ok(beta + (guess - beta) / 3);
            }

            // Razoring.
            if depth <= params::razor_depth() && guess + params::razor_margin(depth) < alpha {
                let value = self.quiescence::<M, false>(shared, alpha, alpha + 1, true)?;
                if value <= alpha {
                    return Ok(value);
                }
            }

            // Null move pruning.
            if depth >= params::nmp_depth()
                && self.earlier(ply, 1).mover != NO_PIECE_TO
                && guess >= beta
                && eval >= beta + params::nmp_margin_base() - params::nmp_margin_depth() * depth
                && beta > -MATE_IN_MAX
                && ply >= self.null_move_min_ply
                && board.has_non_pawn_material(us)
            {
                let reduced = depth - params::nmp_reduction(depth, guess - beta);
                self.make_null(shared);
                self.frame(ply).reduction = 0;
                let value = -self.alpha_beta::<M, false>(shared, -beta, -beta + 1, reduced, !cut_node)?;
                self.position.unmake();
                if value >= beta {
                    let value = if value >= MATE_IN_MAX { beta } else { value };
                    // Who has one piece beside king and pawns is often in zugzwang; deep nodes are worth the check.
                    let zugzwang_threatens = board.pieces_beside_pawns(us) <= 1;
                    if (depth < params::nmp_verification_depth() && !zugzwang_threatens) || self.null_move_min_ply > 0 {
                        return Ok(value);
                    }
                    // Verification: in a zugzwang passing would have been the best move.
                    self.null_move_min_ply = ply + (3 * reduced.max(0) / 4) as usize + 1;
                    let verified = self.alpha_beta::<M, false>(shared, beta - 1, beta, reduced, false)?;
                    self.null_move_min_ply = 0;
                    if verified >= beta {
                        return Ok(value);
                    }
                }
            }

            // ProbCut: a good capture that beats beta by a margin in a shallow search will do so in a deep one.
            let prob_beta = beta + params::probcut_margin() - if improving { params::probcut_improving() } else { 0 };
            if depth >= params::probcut_depth()
                && beta.abs() < MATE_IN_MAX
                && !entry.is_some_and(|entry| {
                    entry.depth >= depth - 3 && entry.value < prob_beta && entry.bound != Bound::None
                })
                && let Some(value) = self.probcut::<M>(shared, &board, prob_beta, depth, eval, tt_move, cut_node)?
            {
                shared.table.store(
                    key,
                    ply,
                    &Entry { mv: None, value, eval: raw, depth: depth - 3, bound: Bound::Lower, pv: tt_pv },
                );
                // A mate stays one; other values are less sure by the margin.
                return Ok(if value >= MATE_IN_MAX { value } else { value - (prob_beta - beta) });
            }
        }

        // A bound of the table from nearly as deep a search that lies far beyond beta.
        let far_beta = beta + params::small_probcut_margin();
        if !M::TRAINING
            && !PV
            && excluded.is_none()
            && let Some(entry) = entry
            && entry.bound.is_lower()
            && entry.depth >= depth - 4
            && entry.value >= far_beta
            && entry.value < MATE_IN_MAX
            && beta.abs() < MATE_IN_MAX
        {
            return Ok(far_beta);
        }

        // The moves.
        let context = self.context(ply);
        let hints = Hints {
            killers: self.frame(ply).killers,
            counter: if M::TRAINING { None } else { self.histories.counter(context[0]) },
            context,
            threats,
        };
        let correction = if eval == NONE { 0 } else { (eval - raw).abs() };
        let node = Node { cut_node, in_check, improving, tt_pv, tt_noisy, correction };
        let full_depth = depth;
        let mut picker = Picker::new(&self.arena, Kind::All, tt_move, 0);
        let mut best = -INFINITE;
        let mut best_move: Option<Scored> = None;
        let mut count = 0_usize;
        let mut quiets = Tried::<32>::new();
        let mut captures = Tried::<16>::new();
        let has_pieces = board.has_non_pawn_material(us);
        let mut checks: Option<Checks> = None;

        loop {
            let picked = if root {
                self.root_move(&board, count)
            } else {
                picker.next(&mut self.arena, &board, &self.histories, &hints)
            };
            let Some(Scored { mv, mover, score }) = picked else { break };
            if Some(mv) == excluded {
                continue;
            }
            count += 1;
            self.prefetch(shared, mv);
            let noisy = board.is_noisy(mv);
            // Killers and the table's move come without their history.
            let quiet_history = if M::TRAINING || noisy {
                0
            } else if score < KILLER && !root {
                score
            } else {
                self.histories.quiet_scores(&board, &context, threats).of(mv, mover)
            };
            if root && self.id == 0 && shared.since_start() > CURRENT_MOVE_AFTER {
                shared.report(&Report::CurrentMove {
                    depth: self.root_depth as u32,
                    mv,
                    number: count + self.pv_index,
                });
            }

            // Pruning of single moves, once something is better than being mated. Quiet checks are never pruned.
            if !M::TRAINING && !root && has_pieces && best > -MATE_IN_MAX {
                let reduction = params::lmr(depth, count, !noisy) / 1024;
                let lmr_depth = (depth - reduction + i32::from(improving)).max(0);
                if noisy {
                    if !in_check
                        && lmr_depth <= params::capture_futility_depth()
                        && eval
                            + params::capture_futility_margin(lmr_depth)
                            + board.captured(mv).map_or(0, |victim| PIECE_VALUES[victim.to_index()])
                            <= alpha
                        && mv.get_promotion().is_none()
                        && !board.gives_check(mv)
                    {
                        continue;
                    }
                    if score < i32::MAX && !board.see_ge(mv, -params::see_capture_factor() * depth) {
                        continue;
                    }
                } else if !checks.get_or_insert_with(|| board.checks()).given_by(&board, mv) {
                    // Late move pruning.
                    if count > params::lmp_threshold(depth, improving || opponent_worsening) {
                        picker.skip_quiets();
                        continue;
                    }
                    // History pruning.
                    if lmr_depth <= params::history_pruning_depth()
                        && self.histories.continuation(mover, &context) < -params::history_pruning_factor() * depth
                    {
                        picker.skip_quiets();
                        continue;
                    }
                    // Futility pruning.
                    let futile_depth = (lmr_depth + quiet_history / 16_384).max(0);
                    if !in_check
                        && futile_depth <= params::futility_depth()
                        && eval + params::futility_margin(futile_depth) <= alpha
                    {
                        continue;
                    }
                    if !board.see_ge(mv, -params::see_quiet_factor() * lmr_depth * lmr_depth) {
                        continue;
                    }
                }
            }

            // Singular extension: a move that is better than all others by far is searched deeper.
            let mut extension = 0;
            if !M::TRAINING
                && !root
                && excluded.is_none()
                && Some(mv) == tt_move
                && depth >= params::singular_depth()
                && let Some(entry) = entry
                && entry.depth >= depth - 3
                && entry.bound.is_lower()
                && entry.value.abs() < MATE_IN_MAX
                && ply < 2 * self.root_depth as usize
            {
                let singular_beta = entry.value - params::singular_margin() * depth / 16;
                self.frame(ply).excluded = Some(mv);
                let value =
                    self.alpha_beta::<M, false>(shared, singular_beta - 1, singular_beta, (depth - 1) / 2, cut_node)?;
                self.frame(ply).excluded = None;
                if value < singular_beta {
                    extension = 1;
                    if !PV
                        && value < singular_beta - params::double_margin()
                        && double_extensions < params::double_limit()
                    {
                        extension = 2 + i32::from(!noisy && value < singular_beta - params::triple_margin());
                    }
                } else if singular_beta >= beta && singular_beta.abs() < MATE_IN_MAX {
                    // Multi-cut: without the best move, too, the node fails high.
                    picker.done(&mut self.arena);
                    return Ok(singular_beta);
                } else if entry.value >= beta || cut_node {
                    extension = -2;
                } else if entry.value <= alpha {
                    extension = -1;
                }
            }

            let nodes_before = self.nodes;
            let frame = self.frame(ply);
            frame.double_extensions = double_extensions + i32::from(extension >= 2);
            frame.count = count;
            if !noisy {
                frame.butterfly = butterfly_index(&board, mv, threats);
            }
            self.make(mv, mover, !noisy);
            let new_depth = depth - 1 + extension;
            let mut value = -INFINITE;
            let mut full_search = !PV || count > 1;

            // Late move reductions.
            if !M::TRAINING && depth >= 2 && count > 1 + usize::from(root) && !(noisy && score > 0 && PV && count < 4) {
                let gives_check = self.position.board().in_check();
                let reduction =
                    self.reduction::<PV>(&node, depth, noisy, count, quiet_history, gives_check, &hints, mv);
                let reduced = (new_depth - reduction).clamp(1, new_depth.max(1) + i32::from(PV));
                self.frame(ply).reduction = (new_depth - reduced).max(0);
                value = -self.alpha_beta::<M, false>(shared, -alpha - 1, -alpha, reduced, true)?;
                self.frame(ply).reduction = 0;
                full_search = value > alpha && reduced < new_depth;
                if full_search {
                    let deeper = value > best + params::lmr_deeper() && !root;
                    let shallower = value < best + 16;
                    let again = new_depth + i32::from(deeper) - i32::from(shallower);
                    if again > reduced {
                        value = -self.alpha_beta::<M, false>(shared, -alpha - 1, -alpha, again, !cut_node)?;
                    }
                    full_search = false;
                    if !noisy {
                        let bonus = if value <= alpha {
                            -params::history_malus(new_depth.max(1))
                        } else if value >= beta {
                            params::history_bonus(new_depth.max(1))
                        } else {
                            0
                        };
                        self.histories.update_continuation(mover, &context, bonus / 2);
                    }
                }
            }
            // Zero window, full depth.
            if full_search {
                value = -self.alpha_beta::<M, false>(shared, -alpha - 1, -alpha, new_depth, !cut_node)?;
            }
            // Full window: the first move of a PV node, or a new best one.
            if PV && (count == 1 || value > alpha) {
                value = -self.alpha_beta::<M, true>(shared, -beta, -alpha, new_depth, false)?;
            }
            self.position.unmake();

            if root {
                self.update_root_move(mv, value, (alpha, beta), count, self.nodes - nodes_before);
            }
            if value > best {
                best = value;
                if value > alpha {
                    best_move = Some(Scored { mv, mover, score });
                    if PV {
                        self.extend_line(ply, mv);
                    }
                    if value >= beta {
                        self.frame(ply).cutoffs += 1;
                        break;
                    }
                    alpha = value;
                    // The other moves have to beat more now, and seldom do.
                    if !M::TRAINING && depth > 2 && depth <= params::alpha_raise_depth() && value.abs() < MATE_IN_MAX {
                        depth = (depth - params::alpha_raise()).max(1);
                    }
                }
            }
            if best_move.is_none_or(|found| found.mv != mv) {
                if noisy {
                    captures.push(mv, mover);
                } else {
                    quiets.push(mv, mover);
                }
            }
        }
        picker.done(&mut self.arena);
        depth = full_depth;

        if count == 0 {
            if excluded.is_some() {
                return Ok(alpha);
            }
            if PV {
                self.lines[ply].end(true);
            }
            return Ok(if in_check { mated_in(ply) } else { DRAW });
        }

        if M::TRAINING {
            if best >= beta
                && let Some(found) = best_move
            {
                self.remember_killer(ply, found.mv, &board);
            }
            let found = best_move.map(|found| found.mv);
            shared.table.store(
                key,
                ply,
                &Entry { mv: found, value: best, eval: NONE, depth, bound: Bound::None, pv: PV },
            );
            return Ok(best);
        }

        if let Some(found) = best_move
            && best >= beta
        {
            self.learn_cutoff(&board, ply, depth, found, &quiets, &captures, &hints);
        } else if best_move.is_none() {
            self.learn_fail_low(ply, depth);
        }
        if best >= beta && best.abs() < MATE_IN_MAX && beta.abs() < MATE_IN_MAX && !PV {
            best = (best * depth + beta) / (depth + 1);
        }

        if excluded.is_none() {
            let bound = if best >= beta {
                Bound::Lower
            } else if PV && best > original_alpha {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let found = best_move.map(|found| found.mv);
            // The best of some moves says little of the position.
            let partial = root && (self.pv_index > 0 || !shared.limits.searchmoves.is_empty());
            if !partial {
                shared.table.store(key, ply, &Entry { mv: found, value: best, eval: raw, depth, bound, pv: tt_pv });
            }
            let quiet_best = found.is_none_or(|mv| !board.is_noisy(mv));
            let says_nothing = (bound == Bound::Lower && best <= eval) || (bound == Bound::Upper && best >= eval);
            if !in_check && !partial && quiet_best && !says_nothing && best.abs() < MATE_IN_MAX {
                self.histories.update_correction(&board, &context, depth, best - eval);
            }
        }
        Ok(best)
    }

    /// Searches good captures shallowly for a value of `prob_beta`.
    #[allow(clippy::too_many_arguments)]
    fn probcut<M: Mode>(
        &mut self,
        shared: &Shared,
        board: &Board,
        prob_beta: Value,
        depth: i32,
        eval: Value,
        tt_move: Option<ChessMove>,
        cut_node: bool,
    ) -> Result<Option<Value>, Stopped> {
        let ply = self.position.ply();
        let hints = Hints { killers: [None; 2], counter: None, context: self.context(ply), threats: 0 };
        let threshold = prob_beta - eval;
        let table_move = tt_move.filter(|&mv| board.is_noisy(mv) && board.see_ge(mv, threshold));
        let mut picker = Picker::new(&self.arena, Kind::Noisy, table_move, threshold);
        let mut found = None;
        while let Some(Scored { mv, mover, .. }) = picker.next(&mut self.arena, board, &self.histories, &hints) {
            self.prefetch(shared, mv);
            self.make(mv, mover, false);
            let mut value = -self.quiescence::<M, false>(shared, -prob_beta, -prob_beta + 1, false)?;
            if value >= prob_beta && depth > 4 {
                value = -self.alpha_beta::<M, false>(shared, -prob_beta, -prob_beta + 1, depth - 4, !cut_node)?;
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

    /// How much shallower a late move is searched, in plies.
    #[allow(clippy::too_many_arguments)]
    fn reduction<const PV: bool>(
        &mut self,
        node: &Node,
        depth: i32,
        noisy: bool,
        count: usize,
        history: i32,
        gives_check: bool,
        hints: &Hints,
        mv: ChessMove,
    ) -> i32 {
        let mut reduction = params::lmr(depth, count, !noisy);
        if !PV {
            reduction += params::lmr_not_pv();
        }
        if node.cut_node {
            reduction += params::lmr_cut_node();
        }
        if !node.improving {
            reduction += params::lmr_not_improving();
        }
        if node.tt_pv {
            reduction -= params::lmr_tt_pv();
        }
        if gives_check || node.in_check {
            reduction -= params::lmr_check();
        }
        if node.tt_noisy && !noisy {
            reduction += params::lmr_tt_noisy();
        }
        if hints.killers.contains(&Some(mv)) || hints.counter == Some(mv) {
            reduction -= params::lmr_killer();
        }
        // The position is that after the move: its frame counts the cutoffs of this node's other children, and of their
        // cousins.
        let ply = self.position.ply();
        if ply == 1 {
            reduction -= params::lmr_root();
        }
        if self.frame(ply).cutoffs > 3 {
            reduction += params::lmr_cutoffs();
        }
        reduction -= params::lmr_correction() * node.correction;
        reduction -= history * 1024 / params::lmr_history_divisor();
        reduction / 1024
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
        let (bonus, malus) = (params::history_bonus(depth), params::history_malus(depth));
        let (context, threats) = (&hints.context, hints.threats);
        if board.is_noisy(best.mv) {
            self.histories.update_capture(best.mover, victim(board, best.mv), bonus);
        } else {
            self.remember_killer(ply, best.mv, board);
            if context[0] != NO_PIECE_TO {
                self.histories.set_counter(context[0], best.mv);
            }
            self.histories.update_quiet(board, best.mv, best.mover, context, threats, bonus);
            for (mv, mover) in quiets.iter() {
                self.histories.update_quiet(board, mv, mover, context, threats, -malus);
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
            self.histories.update_continuation(previous.mover, &context, params::history_bonus(depth) / 2);
        }
    }
}

fn victim(board: &Board, mv: ChessMove) -> Piece {
    board.captured(mv).unwrap_or(Piece::Pawn)
}
