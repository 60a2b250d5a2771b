//! The evaluation as search uses it: one evaluator for each thread.

use super::accumulator::Accumulator;
use super::taper::taper;
use super::terms::terms;
use super::weights::{Total, Weights, unpack};
use crate::board::{Board, Color, Delta};
use std::sync::Arc;

/// Evaluations stay within this, well below mate scores.
pub const MAX_EVALUATION: i32 = 20_000;

/// Evaluates the positions of a line as it is played and taken back.
#[derive(Clone, Debug)]
pub struct Evaluator {
    weights: Arc<Weights>,
    accumulator: Accumulator,
}

impl Evaluator {
    /// An evaluator at the initial position.
    pub fn new(weights: Arc<Weights>) -> Evaluator {
        let accumulator = Accumulator::new(&weights, &Board::startpos());
        Evaluator { weights, accumulator }
    }

    /// The weights in use.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// Goes on with other weights, back at the position last reset to.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.weights = weights;
        self.accumulator.restart(&self.weights);
    }

    /// Starts a new line.
    pub fn reset(&mut self, board: &Board) {
        self.accumulator.reset(&self.weights, board);
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

    /// The value of `board`, where the line stands, for the side to move, in standard units and with what is known
    /// about endings.
    pub fn evaluate(&mut self, board: &Board) -> i32 {
        let raw = self.evaluate_raw(board);
        let value = self.weights.scaled(raw);
        value.clamp(-MAX_EVALUATION, MAX_EVALUATION)
    }

    /// The value of `board`, where the line stands, for the side to move: exactly the tapered sum of its features'
    /// integer weights.
    #[inline]
    pub fn evaluate_raw(&mut self, board: &Board) -> i32 {
        let [mg, eg] = self.sums(board);
        let value = taper(mg, eg, self.weights.phase(board));
        if board.side_to_move() == Color::White { value } else { -value }
    }

    /// Opening and endgame sums of `board`, where the line stands, from White's side.
    #[inline]
    pub fn sums(&mut self, board: &Board) -> [i32; 2] {
        let [mg, eg] = self.accumulator.sums(&self.weights);
        if !self.weights.has_terms() {
            return [mg, eg];
        }
        let mut total = Total::new(&self.weights);
        terms(board, &mut total);
        let [terms_mg, terms_eg] = unpack(total.sum());
        [mg + terms_mg, eg + terms_eg]
    }
}
