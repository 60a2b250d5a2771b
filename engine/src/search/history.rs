//! History tables: scores of moves by their cutoffs so far, and the error of the static evaluation.
//!
//! - Quiet moves: [butterfly history](https://www.chessprogramming.org/Butterfly_Boards) by from, to and whether enemy
//!   pawns attack these squares; pawn-structure history; [continuation
//!   histories](https://www.chessprogramming.org/History_Heuristic#Continuation_History) of one, two, four and six
//!   plies ago; near the root low-ply history, which is cleared for each search.
//! - Captures: capture history by piece, square and victim.
//! - [Counter-moves](https://www.chessprogramming.org/Countermove_Heuristic).
//! - Correction histories: averages of the error of the static evaluation, by pawns, minor pieces, non-pawn pieces and
//!   the last two moves.
//!
//! All entries are `i16` with *gravity*, from Stockfish: an update moves an entry toward plus or minus its limit in
//! proportion to the remaining distance, so that entries stay bounded and old updates fade.

use crate::board::{BitBoard, Board, COLORS, Move, Piece, PieceTo, Square, Squares, piece_index, square};
use crate::params::Params;
use crate::platform::prefetch;
use crate::value::Value;

const HISTORY_MAX: i32 = 16_384;
const CORRECTION_HISTORY_MAX: i32 = 1_024;
/// A correction entry in units of the static evaluation is divided by this, with a weight of 128.
const CORRECTION_SCALE: i32 = 8;
const CORRECTION_HISTORY_SIZE: usize = 16_384;
const PAWN_HISTORY_SIZE: usize = 512;
/// Plies from the root with a low-ply history.
const LOW_PLY_HISTORY_SIZE: usize = 4;

/// Number of [`PieceTo`] indices, [`NO_PIECE_TO`] included.
pub(super) const PIECE_TOS: usize = 2 * 6 * 64 + 1;
/// The index that stands for a null move and for the moves before the root.
pub(super) const NO_PIECE_TO: PieceTo = 2 * 6 * 64;

/// The [`PieceTo`] of a legal move.
pub(super) fn piece_to(board: &Board, mv: Move) -> PieceTo {
    piece_index(board.side_to_move(), board.moved_piece(mv), mv.to())
}

pub(super) fn destination(piece_to: PieceTo) -> Square {
    square(usize::from(piece_to))
}

fn gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let bonus = bonus.clamp(-limit, limit);
    *entry += (bonus - i32::from(*entry) * bonus.abs() / limit) as i16;
}

/// A zeroed table on the heap, never on the stack.
fn table<const N: usize, T: Clone>(zero: T) -> Box<[T; N]> {
    let Ok(table) = vec![zero; N].into_boxed_slice().try_into() else { unreachable!("the length is N") };
    table
}

/// The [`PieceTo`] of the moves one, two, four and six plies ago.
pub(super) type PreviousMoves = [PieceTo; 4];

/// The data of a node that move ordering and histories use.
#[derive(Clone, Copy)]
pub(super) struct OrderingContext {
    pub(super) killers: [Option<Move>; 2],
    pub(super) counter: Option<Move>,
    pub(super) previous: PreviousMoves,
    /// Squares that enemy pawns attack.
    pub(super) threats: u64,
    /// Plies from the root. None, as in quiescence: no threat bonus and no low-ply history.
    pub(super) ply: Option<usize>,
}

impl OrderingContext {
    /// For moves that are ordered without histories.
    pub(super) const EMPTY: OrderingContext =
        OrderingContext { killers: [None; 2], counter: None, previous: [NO_PIECE_TO; 4], threats: 0, ply: None };
}

pub(super) struct Histories {
    butterfly: Box<[[[i16; 4096]; 4]; 2]>,
    capture: Box<[[i16; 6]; PIECE_TOS]>,
    continuation: Box<[[i16; PIECE_TOS]; PIECE_TOS]>,
    pawn: Box<[[i16; PIECE_TOS]; PAWN_HISTORY_SIZE]>,
    low_ply: Box<[[i16; 4096]; LOW_PLY_HISTORY_SIZE]>,
    counter: Box<[Option<Move>; PIECE_TOS]>,
    pawn_correction: Box<[[i16; 2]; CORRECTION_HISTORY_SIZE]>,
    minor_correction: Box<[[i16; 2]; CORRECTION_HISTORY_SIZE]>,
    non_pawn_correction: Box<[[[i16; 2]; 2]; CORRECTION_HISTORY_SIZE]>,
    continuation_correction: Box<[[i16; PIECE_TOS]; PIECE_TOS]>,
}

/// The rows of the histories that score the quiet moves of one node.
pub(super) struct QuietScores<'a> {
    butterfly: &'a [[i16; 4096]; 4],
    pawn: &'a [i16; PIECE_TOS],
    continuation: [&'a [i16; PIECE_TOS]; 4],
    /// Weights of the continuation histories of four and six plies ago, in quarters.
    weights: [i32; 2],
    threats: u64,
}

impl QuietScores<'_> {
    /// The sum of the histories of a quiet move.
    pub(super) fn score(&self, mv: Move, piece_to: PieceTo) -> i32 {
        let to = usize::from(piece_to);
        let butterfly = self.butterfly[threat_index(mv, self.threats)][mv.squares()];
        let [one, two, four, six] = self.continuation.map(|row| i32::from(row[to]));
        let [weight_four, weight_six] = self.weights;
        i32::from(butterfly) + i32::from(self.pawn[to]) + one + two + weight_four * four / 4 + weight_six * six / 4
    }
}

fn pawn_history_index(board: &Board) -> usize {
    board.keys().pawns as usize % PAWN_HISTORY_SIZE
}

fn correction_index(key: u64) -> usize {
    key as usize % CORRECTION_HISTORY_SIZE
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

    /// Clears all tables. New ones would cost 2 % of `bench` in page faults.
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

    /// Clears the low-ply history, which is valid for one root position.
    pub(super) fn clear_low_ply(&mut self) {
        self.low_ply.fill([0; 4096]);
    }

    /// The weighted low-ply history of a quiet move; None from [`LOW_PLY_HISTORY_SIZE`] on.
    pub(super) fn low_ply(&self, params: &Params, ply: usize) -> Option<impl Fn(Move) -> i32> {
        let weight = params.ordering_low_ply / (1 + ply as i32);
        self.low_ply.get(ply).map(|table| move |mv: Move| i32::from(table[mv.squares()]) * weight / 16)
    }

    pub(super) fn quiet_scores(&self, params: &Params, board: &Board, context: &OrderingContext) -> QuietScores<'_> {
        QuietScores {
            butterfly: &self.butterfly[board.side_to_move().to_index()],
            pawn: &self.pawn[pawn_history_index(board)],
            continuation: context.previous.map(|previous| &self.continuation[usize::from(previous)]),
            weights: [params.ordering_four, params.ordering_six],
            threats: context.threats,
        }
    }

    pub(super) fn capture(&self, piece_to: PieceTo, victim: Piece) -> i32 {
        i32::from(self.capture[usize::from(piece_to)][victim.to_index()])
    }

    pub(super) fn counter(&self, previous: PieceTo) -> Option<Move> {
        self.counter[usize::from(previous)]
    }

    pub(super) fn set_counter(&mut self, previous: PieceTo, mv: Move) {
        self.counter[usize::from(previous)] = Some(mv.unmarked());
    }

    pub(super) fn update_quiet(
        &mut self,
        board: &Board,
        mv: Move,
        piece_to: PieceTo,
        context: &OrderingContext,
        bonus: i32,
    ) {
        self.update_butterfly(butterfly_index(board, mv, context.threats), bonus);
        gravity(&mut self.pawn[pawn_history_index(board)][usize::from(piece_to)], bonus, HISTORY_MAX);
        self.update_continuation(piece_to, &context.previous, bonus);
        if let Some(table) = context.ply.and_then(|ply| self.low_ply.get_mut(ply)) {
            gravity(&mut table[mv.squares()], bonus, HISTORY_MAX);
        }
    }

    /// Updates the butterfly history at a [`butterfly_index`].
    pub(super) fn update_butterfly(&mut self, index: u16, bonus: i32) {
        let index = usize::from(index);
        gravity(&mut self.butterfly[index >> 14][index >> 12 & 3][index & 4095], bonus, HISTORY_MAX);
    }

    pub(super) fn update_continuation(&mut self, piece_to: PieceTo, previous: &PreviousMoves, bonus: i32) {
        for &previous in previous {
            if previous != NO_PIECE_TO {
                gravity(&mut self.continuation[usize::from(previous)][usize::from(piece_to)], bonus, HISTORY_MAX);
            }
        }
    }

    pub(super) fn update_capture(&mut self, piece_to: PieceTo, victim: Piece, bonus: i32) {
        gravity(&mut self.capture[usize::from(piece_to)][victim.to_index()], bonus, HISTORY_MAX);
    }

    /// The correction of the static evaluation: the weighted sum of the correction histories.
    pub(super) fn correction(&self, params: &Params, board: &Board, previous: &PreviousMoves) -> Value {
        let us = board.side_to_move().to_index();
        let entry = |table: &[[i16; 2]; CORRECTION_HISTORY_SIZE], key| i32::from(table[correction_index(key)][us]);
        let mut sum = params.correction_pawn * entry(&self.pawn_correction, board.keys().pawns);
        sum += params.correction_minor * entry(&self.minor_correction, board.keys().minors);
        for color in COLORS {
            let entry = self.non_pawn_correction[correction_index(board.keys().non_pawns[color.to_index()])]
                [color.to_index()][us];
            sum += params.correction_non_pawn * i32::from(entry);
        }
        if previous[0] != NO_PIECE_TO && previous[1] != NO_PIECE_TO {
            let entry = self.continuation_correction[usize::from(previous[1])][usize::from(previous[0])];
            sum += params.correction_continuation * i32::from(entry);
        }
        sum / (128 * CORRECTION_SCALE)
    }

    /// Prefetches the entries that [`Histories::correction`] reads.
    pub(super) fn prefetch_correction(&self, board: &Board, previous: &PreviousMoves) {
        prefetch(&self.pawn_correction[correction_index(board.keys().pawns)]);
        prefetch(&self.minor_correction[correction_index(board.keys().minors)]);
        for color in COLORS {
            prefetch(&self.non_pawn_correction[correction_index(board.keys().non_pawns[color.to_index()])]);
        }
        prefetch(&self.continuation_correction[usize::from(previous[1])][usize::from(previous[0])]);
    }

    /// Updates the correction histories. `error` is the value of a search to `depth` minus the static evaluation.
    pub(super) fn update_correction(
        &mut self,
        params: &Params,
        board: &Board,
        previous: &PreviousMoves,
        depth: i32,
        error: Value,
    ) {
        let us = board.side_to_move().to_index();
        let max = params.correction_step_max;
        let bonus = (error * depth * params.correction_step / 128).clamp(-max, max);
        let update = |entry: &mut i16| gravity(entry, bonus, CORRECTION_HISTORY_MAX);
        update(&mut self.pawn_correction[correction_index(board.keys().pawns)][us]);
        update(&mut self.minor_correction[correction_index(board.keys().minors)][us]);
        for color in COLORS {
            update(
                &mut self.non_pawn_correction[correction_index(board.keys().non_pawns[color.to_index()])]
                    [color.to_index()][us],
            );
        }
        if previous[0] != NO_PIECE_TO && previous[1] != NO_PIECE_TO {
            update(&mut self.continuation_correction[usize::from(previous[1])][usize::from(previous[0])]);
        }
    }
}

/// The index of a quiet move in the butterfly history: color, threats, from and to.
pub(super) fn butterfly_index(board: &Board, mv: Move, threats: u64) -> u16 {
    ((board.side_to_move().to_index() << 2 | threat_index(mv, threats)) << 12 | mv.squares()) as u16
}

/// Whether enemy pawns attack the from square and the to square of a move, in two bits.
fn threat_index(mv: Move, threats: u64) -> usize {
    let has = |square| usize::from(BitBoard(threats).has(square));
    has(mv.from()) * 2 + has(mv.to())
}
