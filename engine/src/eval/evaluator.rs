//! The evaluation as search uses it: one evaluator for each thread.
//!
//! Placement is kept along the line of search, the terms of material, pawns and kings are remembered by their
//! keys, the other terms are worked out anew. Together that is the linear evaluation, which is what
//! training sees; what is known about endings is applied last, and only for search.

use super::accumulator::Accumulator;
use super::cache::Cache;
use super::compiled::{Total, unpack};
use super::endgame::{self, FULL_SCALE, Known};
use super::taper::taper;
use super::terms::{Balance, PawnInfo, Shelters, king_key, king_terms, material_terms, pawn_terms, piece_terms};
use super::weights::Weights;
use crate::board::{Board, Color, Delta};
use std::sync::Arc;

/// Evaluations stay within this, well below mate scores.
pub const MAX_EVALUATION: i32 = 20_000;

/// Pawn structures that are remembered: as many as the second-level cache has room for.
const PAWN_SLOTS: usize = 1 << 12;
/// Pawns with kings that are remembered.
const KING_SLOTS: usize = 1 << 13;
/// Materials that are remembered: a search sees few.
const MATERIAL_SLOTS: usize = 1 << 10;

/// Evaluates the positions of a line as it is played and taken back.
#[derive(Clone, Debug)]
pub struct Evaluator {
    weights: Arc<Weights>,
    accumulator: Accumulator,
    /// Packed sums of the pawn terms, with what the other terms need to know.
    pawns: Cache<(i64, PawnInfo)>,
    /// Packed sums of the terms of pawns and kings, with what the other terms need to know.
    kings: Cache<(i64, Shelters)>,
    /// Packed sums of the material terms, with what the other terms need to know.
    material: Cache<(i64, Balance)>,
}

impl Evaluator {
    /// An evaluator at the initial position.
    pub fn new(weights: Arc<Weights>) -> Evaluator {
        let accumulator = Accumulator::new(weights.linear.compiled(), &Board::startpos());
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

    /// Goes on with other weights, back at the position last reset to.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.weights = weights;
        self.accumulator.restart(self.weights.linear.compiled());
        self.pawns.clear();
        self.kings.clear();
        self.material.clear();
    }

    /// Starts a new line.
    pub fn reset(&mut self, board: &Board) {
        self.accumulator.reset(self.weights.linear.compiled(), board);
    }

    /// Goes on to the position after a move that made this change.
    #[inline]
    pub fn push(&mut self, delta: &Delta) {
        self.accumulator.push(delta);
    }

    /// Goes back to the position before.
    #[inline]
    pub fn pop(&mut self) {
        self.accumulator.pop();
    }

    /// The value of `board`, where the line stands, for the side to move: in standard units and with what is
    /// known about endings.
    pub fn evaluate(&mut self, board: &Board) -> i32 {
        let raw = self.evaluate_raw(board);
        let value = self.weights.units.scaled(raw);
        let ahead = if value >= 0 { board.side_to_move() } else { !board.side_to_move() };
        let value = match endgame::probe(board, ahead) {
            Known::Value(known) => known,
            Known::Scale(color, scale) if color == ahead => value * scale / FULL_SCALE,
            Known::Scale(..) | Known::None => value,
        };
        value.clamp(-MAX_EVALUATION, MAX_EVALUATION)
    }

    /// The value of `board`, where the line stands, for the side to move: exactly the tapered sum of its
    /// features' integer weights.
    #[inline]
    pub fn evaluate_raw(&mut self, board: &Board) -> i32 {
        let [mg, eg] = self.sums(board);
        let value = taper(mg, eg, self.weights.phase(board));
        if board.side_to_move() == Color::White { value } else { -value }
    }

    /// Opening and endgame sums of `board`, where the line stands, from White's side.
    #[inline]
    pub fn sums(&mut self, board: &Board) -> [i32; 2] {
        let [mg, eg] = self.accumulator.sums(self.weights.linear.compiled());
        if !self.weights.linear.compiled().has_terms() {
            return [mg, eg];
        }
        let [terms_mg, terms_eg] = unpack(self.terms(board));
        [mg + terms_mg, eg + terms_eg]
    }

    /// Packed sums of the terms of the whole board.
    #[inline]
    fn terms(&mut self, board: &Board) -> i64 {
        let compiled = self.weights.linear.compiled();
        let (material, balance) = self.material.get(board.material_key(), || {
            let mut total = Total::new(compiled);
            let balance = material_terms(board, &mut total);
            (total.sum(), balance)
        });
        let (pawns, info) = self.pawns.get(board.pawn_key(), || {
            let mut total = Total::new(compiled);
            let info = pawn_terms(board, &mut total);
            (total.sum(), info)
        });
        let (kings, shelters) = self.kings.get(king_key(board), || {
            let mut total = Total::new(compiled);
            let shelters = king_terms(board, info, &mut total);
            (total.sum(), shelters)
        });
        let mut total = Total::new(compiled);
        piece_terms(board, balance, info, shelters, &mut total);
        material + pawns + kings + total.sum()
    }
}
