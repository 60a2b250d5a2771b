//! The evaluation of search: each thread has its own evaluator.
//!
//! Piece values, piece-square tables and 2-tuples are updated incrementally; terms of material, pawns and kings are cached
//! by their keys; the other terms are computed in each position. Endgame knowledge and conversion to the units of search
//! come last, and only in search: training uses the tapered sum.

use super::endgame::{self, EndgameEval, FULL_SCALE};
use super::incremental::accumulator::Accumulator;
use super::incremental::cache::Cache;
use super::incremental::compiled::{Compiled, PackedSum, unpack};
use super::terms::{Balance, PawnInfo, Shelters, king_key, king_terms, material_terms, pawn_terms, piece_terms};
use super::weights::Weights;
use crate::board::{Board, Delta, sign};
use std::sync::Arc;

/// Largest absolute value of an evaluation, well below mate scores.
pub(crate) const MAX_EVALUATION: i32 = 20_000;

/// Entries of the pawn cache. The caches are small because their entries and the rows of the 2-tuples displace each other
/// from the caches of the processor.
const PAWN_SLOTS: usize = 1 << 12;
const KING_SLOTS: usize = 1 << 13;
/// Entries of the material cache: a search reaches few material signatures.
const MATERIAL_SLOTS: usize = 1 << 10;

/// Evaluates the current position of a search, which follows moves by [`push`](Evaluator::push) and
/// [`pop`](Evaluator::pop).
pub struct Evaluator {
    weights: Arc<Weights>,
    accumulator: Accumulator,
    // Packed sums of terms, with data for the other terms.
    pawns: Cache<(i64, PawnInfo)>,
    kings: Cache<(i64, Shelters)>,
    material: Cache<(i64, Balance)>,
}

impl Evaluator {
    /// An evaluator at the initial position.
    pub fn new(weights: Arc<Weights>) -> Evaluator {
        let mut accumulator = Accumulator::new();
        accumulator.reset(weights.compiled(), &Board::startpos());
        Evaluator {
            weights,
            accumulator,
            pawns: Cache::new(PAWN_SLOTS),
            kings: Cache::new(KING_SLOTS),
            material: Cache::new(MATERIAL_SLOTS),
        }
    }

    /// The weights in use.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// Changes the weights and returns to the root. All sums become invalid, but keep their memory.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.weights = weights;
        self.accumulator.invalidate();
        self.pawns.invalidate();
        self.kings.invalidate();
        self.material.invalidate();
    }

    /// Makes `board` the root.
    pub fn reset(&mut self, board: &Board) {
        self.accumulator.reset(self.weights.compiled(), board);
    }

    /// Follows a move that changed these pieces; sums are updated when they are needed.
    pub fn push(&mut self, delta: &Delta) {
        self.accumulator.push(delta);
    }

    /// Returns to the position before the last move.
    ///
    /// # Panics
    /// At the root.
    pub fn pop(&mut self) {
        self.accumulator.pop();
    }

    /// The value of `board`, the current position, for the side to move in units of search, with endgame knowledge.
    pub fn evaluate(&mut self, board: &Board) -> i32 {
        let raw = self.evaluate_raw(board);
        with_endgame_knowledge(board, self.weights.units.scaled(raw))
    }

    /// The value of `board`, the current position, for the side to move: the tapered sum of the integer weights alone.
    pub fn evaluate_raw(&mut self, board: &Board) -> i32 {
        let sums = self.sums(board);
        sign(board.side_to_move()) * self.weights.value(sums, board)
    }

    /// Middlegame and endgame sums of `board`, the current position, from White's point of view.
    pub fn sums(&mut self, board: &Board) -> [i32; 2] {
        let compiled = self.weights.compiled();
        let [mg, eg] = self.accumulator.get(compiled, board).sums;
        // Weights of pieces and 2-tuples alone.
        if !compiled.has_terms {
            return [mg, eg];
        }
        let [terms_mg, terms_eg] = unpack(self.terms(board));
        [mg + terms_mg, eg + terms_eg]
    }

    fn terms(&mut self, board: &Board) -> i64 {
        let compiled = self.weights.compiled();
        let keys = board.keys();
        let (material, balance) =
            self.material.get(keys.material, || packed(compiled, |sum| material_terms(board, sum)));
        let (pawns, info) = self.pawns.get(keys.pawns, || packed(compiled, |sum| pawn_terms(board, sum)));
        let (kings, shelters) =
            self.kings.get(king_key(board), || packed(compiled, |sum| king_terms(board, info, sum)));
        let (pieces, ()) = packed(compiled, |sum| piece_terms(board, balance, info, shelters, sum));
        material + pawns + kings + pieces
    }
}

/// The packed sum of terms, and what their function returns.
#[inline(always)]
fn packed<T>(compiled: &Compiled, terms: impl FnOnce(&mut PackedSum) -> T) -> (i64, T) {
    let mut sum = PackedSum::new(compiled);
    let found = terms(&mut sum);
    (sum.sum(), found)
}

/// The value of `board` for the side to move in units of search, replaced or scaled by endgame knowledge.
pub fn with_endgame_knowledge(board: &Board, value: i32) -> i32 {
    let ahead = if value >= 0 { board.side_to_move() } else { !board.side_to_move() };
    let value = match endgame::probe(board, ahead) {
        Some(EndgameEval::Value(known)) => known,
        Some(EndgameEval::ScaleFactor(color, scale)) if color == ahead => value * scale / FULL_SCALE,
        Some(EndgameEval::ScaleFactor(..)) | None => value,
    };
    value.clamp(-MAX_EVALUATION, MAX_EVALUATION)
}
