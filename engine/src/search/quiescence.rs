//! [Quiescence search](https://www.chessprogramming.org/Quiescence_Search): captures and promotions until the position
//! is quiet, check evasions until one avoids mate and then only good captures, and quiet checks at the first ply.

use super::history::{NO_PIECE_TO, OrderingContext, destination};
use super::ordering::{MoveSet, Picker, ScoredMove};
use super::tt::{Bound, Entry};
use super::window::Window;
use super::{Search, Stopped};
use crate::board::{Board, Move, Squares, piece_value};
use crate::value::{INFINITE, NONE, TABLEBASE_WIN_IN_MAX, Value, mated_in};

struct QuiescenceNode<'a> {
    board: &'a Board,
    ply: usize,
    /// The current window: alpha rises with the best value.
    window: Window,
    in_check: bool,
    /// Whether quiet checks are searched: at the first ply that is not in check.
    quiet_checks: bool,
    entry: Option<Entry>,
    /// Whether the node is on a principal variation, or was in an earlier search.
    tt_pv: bool,
    /// The static evaluation before corrections; [`NONE`] in check.
    raw_eval: Value,
    best_value: Value,
    best_move: Option<Move>,
    move_count: i32,
}

impl Search<'_> {
    /// The fail-soft value of the current position.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        mut window: Window,
        quiet_checks: bool,
    ) -> Result<Value, Stopped> {
        self.check_limits()?;
        self.enter_node::<PV>();
        if let Some(value) = self.draw_by_rule::<PV>().or_else(|| self.upcoming_repetition(&mut window)) {
            return Ok(value);
        }
        let board = *self.position.board();
        if let Some(value) = self.max_ply_value(&board) {
            return Ok(value);
        }
        let mut node = self.quiescence_node::<PV>(&board, window, quiet_checks);
        if !PV && let Some(value) = node.entry.and_then(|entry| window.cutoff(&entry)) {
            return Ok(value);
        }
        if let Some(value) = self.stand_pat::<PV>(&mut node) {
            return Ok(value);
        }
        self.search_noisy_moves::<PV>(&mut node)?;
        if node.in_check && node.move_count == 0 {
            self.end_pv::<PV>(true);
            return Ok(mated_in(node.ply));
        }
        let value = self.blend_with_beta(&node);
        let bound = if window.fails_high(value) { Bound::Lower } else { Bound::Upper };
        self.store_quiescence(&node, value, bound);
        Ok(value)
    }

    #[inline(always)]
    fn quiescence_node<'b, const PV: bool>(
        &mut self,
        board: &'b Board,
        window: Window,
        quiet_checks: bool,
    ) -> QuiescenceNode<'b> {
        let ply = self.position.ply();
        let entry = self.shared.table.probe(board.key(), ply);
        QuiescenceNode {
            board,
            ply,
            window,
            in_check: board.in_check(),
            quiet_checks,
            entry,
            tt_pv: PV || entry.is_some_and(|entry| entry.pv),
            raw_eval: NONE,
            best_value: -INFINITE,
            best_move: None,
            move_count: 0,
        }
    }

    /// [Stand pat](https://www.chessprogramming.org/Quiescence_Search#Standing_Pat): outside of check the static
    /// evaluation is a lower bound, because the side to move may decline all captures.
    #[inline(always)]
    fn stand_pat<const PV: bool>(&mut self, node: &mut QuiescenceNode) -> Option<Value> {
        if node.in_check {
            self.frame(node.ply).eval = NONE;
            return None;
        }
        let (raw_eval, eval) = self.evaluate(node.board, node.entry.as_ref());
        self.frame(node.ply).eval = eval;
        node.raw_eval = raw_eval;
        // PV nodes ignore the TT value, which has no PV.
        node.best_value = if PV { eval } else { node.entry.map_or(eval, |entry| entry.adjusted_eval(eval)) };
        if node.window.fails_high(node.best_value) {
            if node.entry.is_none() {
                self.store_quiescence(node, node.best_value, Bound::Lower);
            }
            return Some(node.best_value);
        }
        node.window.alpha = node.window.alpha.max(node.best_value);
        None
    }

    #[inline(always)]
    fn search_noisy_moves<const PV: bool>(&mut self, node: &mut QuiescenceNode) -> Result<(), Stopped> {
        let &mut QuiescenceNode { board, ply, in_check, quiet_checks, .. } = node;
        let futility_base = if in_check { -INFINITE } else { node.best_value + self.params().qs_futility };
        // Not without pieces: a king that captures the last enemy piece or pawn turns a lost endgame into a draw, by far
        // more than the piece is worth.
        let may_prune = board.non_pawn_pieces(board.side_to_move()).any();
        let moves = match (in_check, quiet_checks) {
            (true, _) => MoveSet::All,
            (false, true) => MoveSet::NoisyAndChecks,
            (false, false) => MoveSet::Noisy,
        };
        // The context orders quiet moves only.
        let ordering = match moves {
            MoveSet::Noisy => OrderingContext::EMPTY,
            _ => OrderingContext { ply: None, ..self.ordering_context(board, ply) },
        };
        let mut picker = Picker::new(self.arena, moves, self.quiescence_tt_move(node), self.params().qs_see);
        while let Some(ScoredMove { mv, piece_to, .. }) = self.next_move(&mut picker, board, &ordering) {
            node.move_count += 1;
            self.prefetch_tt(mv, piece_to);
            if node.best_value > -TABLEBASE_WIN_IN_MAX {
                if in_check {
                    // Once an evasion avoids mate, losing captures are skipped, and after the next move quiet evasions.
                    picker.skip_quiets();
                    if picker.in_bad_noisy() {
                        break;
                    }
                } else if may_prune && futility_base <= node.window.alpha && delta_pruning(node, mv, futility_base) {
                    node.best_value = node.best_value.max(futility_base);
                    continue;
                } else if node.move_count > self.params().qs_moves && !self.is_forcing(node, mv) {
                    continue;
                }
            }
            self.make(mv, piece_to, !board.is_noisy(mv));
            let value = -self.quiescence::<PV>(node.window.flipped(), quiet_checks && in_check)?;
            self.position.unmake();
            if value > node.best_value {
                node.best_value = value;
                if value > node.window.alpha {
                    node.best_move = Some(mv);
                    if PV {
                        self.extend_pv(mv);
                    }
                    node.window.alpha = value;
                    if node.window.fails_high(value) {
                        break;
                    }
                }
            }
        }
        picker.release(self.arena);
        Ok(())
    }

    /// The TT move, if it is legal and a move that quiescence searches.
    #[inline(always)]
    fn quiescence_tt_move(&self, node: &QuiescenceNode) -> Option<Move> {
        let board = node.board;
        let belongs = |mv| node.in_check || (board.is_noisy(mv) && board.see_ge(mv, self.params().qs_see));
        node.entry?.mv.filter(|&mv| belongs(mv) && board.is_legal(mv))
    }

    /// Whether the move recaptures, promotes or gives check: the move count does not prune such moves.
    fn is_forcing(&self, node: &QuiescenceNode, mv: Move) -> bool {
        let previous = self.earlier(node.ply, 1).piece_to;
        previous != NO_PIECE_TO && destination(previous) == mv.to()
            || mv.promotion().is_some()
            || node.board.gives_check(mv)
    }

    /// The best value. A value that fails high is seldom exact, so it is blended with beta.
    #[inline(always)]
    fn blend_with_beta(&self, node: &QuiescenceNode) -> Value {
        let &QuiescenceNode { window, best_value, .. } = node;
        if window.fails_high(best_value)
            && best_value.abs() < TABLEBASE_WIN_IN_MAX
            && window.beta.abs() < TABLEBASE_WIN_IN_MAX
        {
            let weight = self.params().qs_blend;
            (weight * best_value + (4 - weight) * window.beta) / 4
        } else {
            best_value
        }
    }

    #[inline(always)]
    fn store_quiescence(&self, node: &QuiescenceNode, value: Value, bound: Bound) {
        let &QuiescenceNode { best_move: mv, raw_eval: eval, tt_pv: pv, .. } = node;
        self.shared.table.store(node.board.key(), node.ply, &Entry { mv, value, eval, depth: 0, bound, pv });
    }
}

/// [Delta pruning](https://www.chessprogramming.org/Delta_Pruning): whether a capture cannot raise alpha.
fn delta_pruning(node: &QuiescenceNode, mv: Move, futility_base: Value) -> bool {
    let board = node.board;
    if mv.promotion().is_some() {
        return false;
    }
    let gain = board.captured(mv).map_or(0, piece_value);
    (futility_base + gain <= node.window.alpha || !board.see_ge(mv, 1)) && !board.gives_check(mv)
}
