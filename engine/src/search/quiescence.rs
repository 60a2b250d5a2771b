//! Quiescence: captures until the position is quiet, and every evasion of a check.

use super::history::{NO_PIECE_TO, destination};
use super::ordering::{Hints, History, Kind, Picker};
use super::pv::Line;
use super::window::Window;
use super::{Shared, Stopped, Worker};
use crate::board::{Board, ChessMove, PIECE_VALUES, Piece, attacks};
use crate::tt::{Bound, Entry};
use crate::value::{DECIDED, DRAW, INFINITE, MAX_PLY, NONE, Value, mated_in};

impl Worker {
    /// Value of the node when only noisy moves are looked at, and with `checks` quiet checks too: at the
    /// first ply that is not an evasion.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        shared: &Shared,
        mut window: Window,
        checks: bool,
    ) -> Result<Value, Stopped> {
        self.poll(shared)?;
        let ply = self.position.ply();
        if PV {
            self.lines[ply].end(false);
            self.seldepth = self.seldepth.max(ply);
        }
        if self.position.is_draw() {
            if PV {
                self.lines[ply].end(true);
            }
            return Ok(self.draw_value());
        }
        // Upcoming repetition: at least a draw is there.
        if window.alpha < DRAW && self.position.upcoming_repetition() {
            window.alpha = self.draw_value();
            if window.is_closed() {
                return Ok(window.alpha);
            }
        }
        let board = *self.position.board();
        let in_check = board.in_check();
        if ply >= MAX_PLY - 2 {
            return Ok(if in_check { DRAW } else { self.static_eval(&board, NONE).1 });
        }

        // Transposition table.
        let key = board.key();
        let entry = shared.table.probe(key, ply);
        if !PV
            && let Some(entry) = entry
            && let Some(value) = cutoff(&entry, window)
        {
            return Ok(value);
        }
        let tt_pv = PV || entry.is_some_and(|entry| entry.pv);

        // Stand pat.
        let (raw, eval) =
            if in_check { (NONE, NONE) } else { self.static_eval(&board, entry.map_or(NONE, |e| e.eval)) };
        self.frame(ply).eval = eval;
        let mut best = -INFINITE;
        if !in_check {
            // On the principal variation a stored value would stand in for the line that proves it.
            best = if PV { eval } else { better_guess(eval, entry.as_ref()) };
            if window.fails_high(best) {
                if entry.is_none() {
                    let stand = Entry { mv: None, value: best, eval: raw, depth: 0, bound: Bound::Lower, pv: tt_pv };
                    shared.table.store(key, ply, &stand);
                }
                return Ok(best);
            }
            window.alpha = window.alpha.max(best);
        }
        let futility = if in_check { -INFINITE } else { best + self.params.qs_futility };

        // The moves.
        let table_move = entry.and_then(|entry| entry.mv).filter(|&mv| {
            (in_check || (board.is_noisy(mv) && board.see_ge(mv, self.params.qs_see))) && board.is_legal(mv)
        });
        let kind = if in_check {
            Kind::All
        } else if checks {
            Kind::NoisyAndChecks
        } else {
            Kind::Noisy
        };
        // Only quiet moves ask for them.
        let (context, threats) = if kind == Kind::Noisy {
            ([NO_PIECE_TO; 4], 0)
        } else {
            let them = !board.side_to_move();
            (self.context(ply), attacks::pawns(them, board.colored(them, Piece::Pawn)).0)
        };
        let hints = Hints { killers: [None; 2], counter: None, context, threats, ply: None };
        let mut picker = Picker::new(&self.arena, kind, table_move, self.params.qs_see);
        let mut best_move = None;
        let mut count = 0;
        while let Some(picked) =
            picker.next(&mut self.arena, &board, &History(&self.histories, &self.params, &self.derived), &hints)
        {
            count += 1;
            let mv = picked.mv;
            self.prefetch(shared, mv, picked.mover);
            if best > -DECIDED {
                if in_check {
                    // One evasion that holds is enough of the quiet ones.
                    picker.skip_quiets();
                    if picker.in_bad_noisy() {
                        break;
                    }
                } else if futility <= window.alpha && hopeless(&board, mv, futility, window.alpha) {
                    best = best.max(futility);
                    continue;
                } else if count > self.params.qs_moves && !self.stands_out(&board, mv) {
                    continue;
                }
            }
            self.make(mv, picked.mover, !board.is_noisy(mv));
            let value = -self.quiescence::<PV>(shared, window.flipped(), checks && in_check)?;
            self.position.unmake();
            if value > best {
                best = value;
                if value > window.alpha {
                    best_move = Some(mv);
                    if PV {
                        Line::extend_at(&mut self.lines, ply, mv);
                    }
                    window.alpha = value;
                    if window.fails_high(value) {
                        break;
                    }
                }
            }
        }
        picker.done(&mut self.arena);

        if in_check && count == 0 {
            if PV {
                self.lines[ply].end(true);
            }
            return Ok(mated_in(ply));
        }
        if window.fails_high(best) && best.abs() < DECIDED && window.beta.abs() < DECIDED {
            let share = self.params.qs_blend;
            best = (share * best + (4 - share) * window.beta) / 4;
        }
        let bound = if window.fails_high(best) { Bound::Lower } else { Bound::Upper };
        shared.table.store(key, ply, &Entry { mv: best_move, value: best, eval: raw, depth: 0, bound, pv: tt_pv });
        Ok(best)
    }

    /// Whether a capture is looked at however many came before it: it recaptures, promotes or gives check.
    #[inline]
    fn stands_out(&self, board: &Board, mv: ChessMove) -> bool {
        let previous = self.earlier(self.position.ply(), 1).mover;
        previous != NO_PIECE_TO && destination(previous) == mv.get_dest()
            || mv.get_promotion().is_some()
            || board.gives_check(mv)
    }

    /// The static evaluation, as the evaluator gives it (or the table remembers it) and as the search uses it.
    #[inline]
    pub(super) fn static_eval(&mut self, board: &Board, remembered: Value) -> (Value, Value) {
        let raw = if remembered == NONE { self.position.evaluate() } else { remembered };
        (raw, self.corrected(board, raw))
    }

    /// The evaluation damped as the fifty-move rule nears and corrected by what searches found.
    #[inline]
    fn corrected(&self, board: &Board, raw: Value) -> Value {
        let ply = self.position.ply();
        let damped = self.derived.damped(raw, board.halfmove_clock());
        let correction = self.histories.correction(&self.params, board, &self.context(ply));
        (damped + correction).clamp(-DECIDED + 1, DECIDED - 1)
    }
}

/// The stored value if it decides the window.
#[inline]
pub(super) fn cutoff(entry: &Entry, window: Window) -> Option<Value> {
    let decides = (entry.bound.is_lower() && window.fails_high(entry.value))
        || (entry.bound.is_upper() && window.fails_low(entry.value));
    decides.then_some(entry.value)
}

/// The stored value where it says more than the static evaluation.
#[inline]
pub(super) fn better_guess(eval: Value, entry: Option<&Entry>) -> Value {
    match entry {
        Some(entry)
            if (entry.bound.is_lower() && entry.value > eval) || (entry.bound.is_upper() && entry.value < eval) =>
        {
            entry.value
        }
        _ => eval,
    }
}

/// Whether a capture cannot bring the value back to alpha.
#[inline]
fn hopeless(board: &Board, mv: ChessMove, futility: Value, alpha: Value) -> bool {
    if mv.get_promotion().is_some() {
        return false;
    }
    let gain = board.captured(mv).map_or(0, |piece| PIECE_VALUES[piece.to_index()]);
    (futility + gain <= alpha || !board.see_ge(mv, 1)) && !board.gives_check(mv)
}
