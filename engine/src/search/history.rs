//! What earlier cutoffs say of moves, and earlier searches of the static evaluation.
//!
//! Quiet moves are scored by the butterfly history (from, to, and whether enemy pawns attack these squares), the
//! pawn-structure history and the continuation histories of one, two, four and six plies ago, near the root also by
//! the low-ply history, which each search begins anew; captures by piece, square and victim; a counter-move stands for
//! each move before. All are tables of `i16` with *gravity*: an update pulls an entry toward plus or minus its limit by
//! the share that is still missing, so that entries stay bounded and forget. Correction histories are averages of what
//! searches found the static evaluation to be wrong by, keyed by parts of the position.

use crate::board::{Board, COLORS, ChessMove, Color, Piece, PieceTo, Square, move_bits, piece_index, square};
use crate::params::Params;
use crate::platform::prefetch;
use crate::value::Value;

/// Limit of a history entry.
const LIMIT: i32 = 16_384;
/// Limit of a correction entry.
const CORRECTION_LIMIT: i32 = 1_024;
const CORRECTIONS: usize = 16_384;
const PAWN_KEYS: usize = 512;
/// Plies from the root with a history of their own.
const LOW_PLIES: usize = 4;

/// Number of [`PieceTo`] indices; the last is the null move's.
pub(super) const PIECE_TOS: usize = 2 * 6 * 64 + 1;
/// What stands for a null move, or for no move before the root.
pub(super) const NO_PIECE_TO: PieceTo = 768;

/// The [`PieceTo`] of a legal move.
#[inline]
pub(super) fn piece_to(board: &Board, mv: ChessMove) -> PieceTo {
    piece_index(board.side_to_move(), board.piece_on(mv.get_source()).unwrap_or(Piece::Pawn), mv.get_dest())
}

/// The square of a [`PieceTo`].
#[inline]
pub(super) fn destination(mover: PieceTo) -> Square {
    square(usize::from(mover))
}

#[inline]
fn gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let bonus = bonus.clamp(-limit, limit);
    *entry += (bonus - i32::from(*entry) * bonus.abs() / limit) as i16;
}

/// A zeroed table on the heap, never on the stack.
fn table<const N: usize, T: Clone>(zero: T) -> Box<[T; N]> {
    let Ok(table) = vec![zero; N].into_boxed_slice().try_into() else { unreachable!("the length is N") };
    table
}

/// The pieces-to moved one, two, four and six plies ago.
pub(super) type Context = [PieceTo; 4];

/// Histories of one search thread.
pub(super) struct Histories {
    butterfly: Box<[[[i16; 4096]; 4]; 2]>,
    capture: Box<[[i16; 6]; PIECE_TOS]>,
    continuation: Box<[[i16; PIECE_TOS]; PIECE_TOS]>,
    pawn: Box<[[i16; PIECE_TOS]; PAWN_KEYS]>,
    low_ply: Box<[[i16; 4096]; LOW_PLIES]>,
    counter: Box<[Option<ChessMove>; PIECE_TOS]>,
    pawn_correction: Box<[[i16; 2]; CORRECTIONS]>,
    minor_correction: Box<[[i16; 2]; CORRECTIONS]>,
    non_pawn_correction: Box<[[[i16; 2]; 2]; CORRECTIONS]>,
    continuation_correction: Box<[[i16; PIECE_TOS]; PIECE_TOS]>,
}

/// The rows of the histories that score the quiet moves of one node.
pub(super) struct QuietScores<'a> {
    butterfly: &'a [[i16; 4096]; 4],
    pawn: &'a [i16; PIECE_TOS],
    continuation: [&'a [i16; PIECE_TOS]; 4],
    /// Quarters of the continuation histories of four and six plies ago that count.
    quarters: [i32; 2],
    threats: u64,
}

impl QuietScores<'_> {
    /// Score of a quiet move, [packed](move_bits), for ordering.
    #[inline]
    pub(super) fn of(&self, bits: u16, mover: PieceTo) -> i32 {
        let to = usize::from(mover);
        let butterfly = self.butterfly[threatened(bits, self.threats)][from_to(bits)];
        let [one, two, four, six] = self.continuation.map(|row| i32::from(row[to]));
        let [of_four, of_six] = self.quarters;
        i32::from(butterfly) + i32::from(self.pawn[to]) + one + two + of_four * four / 4 + of_six * six / 4
    }
}

/// What the low-ply history says of the quiet moves of one node.
pub(super) struct LowPlyScores<'a> {
    table: &'a [i16; 4096],
    /// Sixteenths of it that count.
    sixteenths: i32,
}

impl LowPlyScores<'_> {
    /// Of a quiet move, [packed](move_bits).
    #[inline]
    pub(super) fn of(&self, bits: u16) -> i32 {
        i32::from(self.table[from_to(bits)]) * self.sixteenths / 16
    }
}

/// Squares of a packed move: from, to.
#[inline]
pub(super) fn squares(bits: u16) -> [usize; 2] {
    [usize::from(bits) % 64, usize::from(bits) / 64 % 64]
}

#[inline]
fn from_to(bits: u16) -> usize {
    let [from, to] = squares(bits);
    from * 64 + to
}

#[inline]
fn slot(key: u64) -> usize {
    key as usize % CORRECTIONS
}

impl Histories {
    pub(super) fn new() -> Histories {
        Histories {
            butterfly: table([[0; 4096]; 4]),
            capture: table([0; 6]),
            continuation: table([0; PIECE_TOS]),
            pawn: table([0; PIECE_TOS]),
            low_ply: table([0; 4096]),
            counter: table(None),
            pawn_correction: table([0; 2]),
            minor_correction: table([0; 2]),
            non_pawn_correction: table([[0; 2]; 2]),
            continuation_correction: table([0; PIECE_TOS]),
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.butterfly.fill([[0; 4096]; 4]);
        self.capture.fill([0; 6]);
        self.continuation.fill([0; PIECE_TOS]);
        self.pawn.fill([0; PIECE_TOS]);
        self.clear_low_ply();
        self.counter.fill(None);
        self.pawn_correction.fill([0; 2]);
        self.minor_correction.fill([0; 2]);
        self.non_pawn_correction.fill([[0; 2]; 2]);
        self.continuation_correction.fill([0; PIECE_TOS]);
    }

    /// Forgets what is true of one root position alone.
    pub(super) fn clear_low_ply(&mut self) {
        self.low_ply.fill([0; 4096]);
    }

    /// What the low-ply history says of the moves of a node at this ply, if it keeps them.
    #[inline]
    pub(super) fn low_ply(&self, params: &Params, ply: usize) -> Option<LowPlyScores<'_>> {
        let table = self.low_ply.get(ply)?;
        Some(LowPlyScores { table, sixteenths: params.ordering_low_ply / (1 + ply as i32) })
    }

    /// What orders the quiet moves of a node. `threats` are squares the enemy's pawns attack.
    #[inline]
    pub(super) fn quiet_scores(
        &self,
        params: &Params,
        board: &Board,
        context: &Context,
        threats: u64,
    ) -> QuietScores<'_> {
        QuietScores {
            butterfly: &self.butterfly[board.side_to_move().to_index()],
            pawn: &self.pawn[board.pawn_key() as usize % PAWN_KEYS],
            continuation: context.map(|earlier| &self.continuation[usize::from(earlier)]),
            quarters: [params.ordering_four, params.ordering_six],
            threats,
        }
    }

    /// What the continuation histories of the last two plies say of a quiet move.
    #[inline]
    pub(super) fn continuation(&self, mover: PieceTo, context: &Context) -> i32 {
        let to = usize::from(mover);
        i32::from(self.continuation[usize::from(context[0])][to])
            + i32::from(self.continuation[usize::from(context[1])][to])
    }

    #[inline]
    pub(super) fn capture(&self, mover: PieceTo, victim: Piece) -> i32 {
        i32::from(self.capture[usize::from(mover)][victim.to_index()])
    }

    pub(super) fn counter(&self, previous: PieceTo) -> Option<ChessMove> {
        self.counter[usize::from(previous)]
    }

    pub(super) fn set_counter(&mut self, previous: PieceTo, mv: ChessMove) {
        self.counter[usize::from(previous)] = Some(mv);
    }

    /// Updates what all histories of quiet moves say of one that was made at this ply.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn update_quiet(
        &mut self,
        board: &Board,
        ply: usize,
        mv: ChessMove,
        mover: PieceTo,
        context: &Context,
        threats: u64,
        bonus: i32,
    ) {
        let to = usize::from(mover);
        self.update_butterfly(butterfly_index(board, mv, threats), bonus);
        gravity(&mut self.pawn[board.pawn_key() as usize % PAWN_KEYS][to], bonus, LIMIT);
        self.update_continuation(mover, context, bonus);
        if let Some(table) = self.low_ply.get_mut(ply) {
            gravity(&mut table[from_to(move_bits(Some(mv)))], bonus, LIMIT);
        }
    }

    /// Updates what the butterfly history says of a move: `entry` is its [`butterfly_index`].
    pub(super) fn update_butterfly(&mut self, entry: u16, bonus: i32) {
        let entry = usize::from(entry);
        gravity(&mut self.butterfly[entry >> 14][entry >> 12 & 3][entry & 4095], bonus, LIMIT);
    }

    pub(super) fn update_continuation(&mut self, mover: PieceTo, context: &Context, bonus: i32) {
        for &earlier in context {
            if earlier != NO_PIECE_TO {
                gravity(&mut self.continuation[usize::from(earlier)][usize::from(mover)], bonus, LIMIT);
            }
        }
    }

    pub(super) fn update_capture(&mut self, mover: PieceTo, victim: Piece, bonus: i32) {
        gravity(&mut self.capture[usize::from(mover)][victim.to_index()], bonus, LIMIT);
    }

    /// What searches of like positions found the static evaluation to be wrong by.
    pub(super) fn correction(&self, params: &Params, board: &Board, context: &Context) -> Value {
        let us = board.side_to_move().to_index();
        let entry = |table: &[[i16; 2]; CORRECTIONS], key| i32::from(table[slot(key)][us]);
        let mut sum = params.correction_pawn * entry(&self.pawn_correction, board.pawn_key());
        sum += params.correction_minor * entry(&self.minor_correction, board.minor_key());
        for color in COLORS {
            sum += params.correction_non_pawn * self.non_pawn_entry(board, color);
        }
        if context[0] != NO_PIECE_TO && context[1] != NO_PIECE_TO {
            let entry = self.continuation_correction[usize::from(context[1])][usize::from(context[0])];
            sum += params.correction_continuation * i32::from(entry);
        }
        sum / (128 * 8)
    }

    /// Asks for what [`Histories::correction`] will look at.
    #[inline]
    pub(super) fn prefetch_correction(&self, board: &Board, context: &Context) {
        prefetch(&self.pawn_correction[slot(board.pawn_key())]);
        prefetch(&self.minor_correction[slot(board.minor_key())]);
        for color in COLORS {
            prefetch(&self.non_pawn_correction[slot(board.nonpawn_key(color))]);
        }
        prefetch(&self.continuation_correction[usize::from(context[1])][usize::from(context[0])]);
    }

    fn non_pawn_entry(&self, board: &Board, color: Color) -> i32 {
        let us = board.side_to_move().to_index();
        i32::from(self.non_pawn_correction[slot(board.nonpawn_key(color))][color.to_index()][us])
    }

    /// Learns that a search of this depth found `error` = value - static evaluation.
    pub(super) fn update_correction(
        &mut self,
        params: &Params,
        board: &Board,
        context: &Context,
        depth: i32,
        error: Value,
    ) {
        let us = board.side_to_move().to_index();
        let max = params.correction_step_max;
        let bonus = (error * depth * params.correction_step / 128).clamp(-max, max);
        let update = |entry: &mut i16| gravity(entry, bonus, CORRECTION_LIMIT);
        update(&mut self.pawn_correction[slot(board.pawn_key())][us]);
        update(&mut self.minor_correction[slot(board.minor_key())][us]);
        for color in COLORS {
            update(&mut self.non_pawn_correction[slot(board.nonpawn_key(color))][color.to_index()][us]);
        }
        if context[0] != NO_PIECE_TO && context[1] != NO_PIECE_TO {
            update(&mut self.continuation_correction[usize::from(context[1])][usize::from(context[0])]);
        }
    }
}

/// Where the butterfly history keeps a quiet move, in one number.
#[inline]
pub(super) fn butterfly_index(board: &Board, mv: ChessMove, threats: u64) -> u16 {
    let bits = move_bits(Some(mv));
    ((board.side_to_move().to_index() << 2 | threatened(bits, threats)) << 12 | from_to(bits)) as u16
}

/// Whether a move's squares are attacked by enemy pawns: two bits.
#[inline]
fn threatened(bits: u16, threats: u64) -> usize {
    let [from, to] = squares(bits).map(|square| (threats >> square & 1) as usize);
    from * 2 + to
}
