//! The evaluation as search uses it: one evaluator for each thread.
//!
//! A model gives the value that training sees. What is known about endings, and the standard units of search, are
//! applied here, last, for every model and only for search.

use super::endgame::{self, FULL_SCALE, Known};
use super::model::{Model, Step};
use super::weights::Weights;
use crate::board::Board;
use std::sync::Arc;

/// Evaluations stay within this, well below mate scores.
pub const MAX_EVALUATION: i32 = 20_000;

/// Evaluates the positions of a line as it is played and taken back.
pub struct Evaluator<M: Model = Weights> {
    weights: Arc<M>,
    line: M::Line,
}

impl<M: Model> Evaluator<M> {
    /// An evaluator at the initial position.
    pub fn new(weights: Arc<M>) -> Evaluator<M> {
        let line = weights.line(&Board::startpos());
        Evaluator { weights, line }
    }

    /// The weights in use.
    pub fn weights(&self) -> &Arc<M> {
        &self.weights
    }

    /// Takes another model, back at the start of the line.
    pub fn set_weights(&mut self, weights: Arc<M>) {
        weights.renew(&mut self.line);
        self.weights = weights;
    }

    /// Starts a new line.
    pub fn reset(&mut self, board: &Board) {
        self.weights.reset(&mut self.line, board);
    }

    /// Advances to the position after a move.
    #[inline]
    pub fn push(&mut self, step: &Step) {
        self.weights.push(&mut self.line, step);
    }

    /// Goes back to the position before.
    #[inline]
    pub fn pop(&mut self) {
        self.weights.pop(&mut self.line);
    }

    /// The value of `board`, where the line stands, for the side to move: in standard units and with what is
    /// known about endings.
    pub fn evaluate(&mut self, board: &Board) -> i32 {
        let raw = self.evaluate_raw(board);
        with_endings(board, self.weights.units().scaled(raw))
    }

    /// The value of `board`, where the line stands, for the side to move: what the model says and nothing else.
    #[inline]
    pub fn evaluate_raw(&mut self, board: &Board) -> i32 {
        self.weights.value(&mut self.line, board)
    }
}

impl Evaluator {
    /// Middlegame and endgame sums of `board`, where the line stands, from White's side.
    #[inline]
    pub fn sums(&mut self, board: &Board) -> [i32; 2] {
        self.line.sums(self.weights.linear.compiled(), board)
    }
}

/// A value of `board` in standard units, for the side to move, with what is known about endings.
#[inline]
pub(super) fn with_endings(board: &Board, value: i32) -> i32 {
    let ahead = if value >= 0 { board.side_to_move() } else { !board.side_to_move() };
    let value = match endgame::probe(board, ahead) {
        Known::Value(known) => known,
        Known::Scale(color, scale) if color == ahead => value * scale / FULL_SCALE,
        Known::Scale(..) | Known::None => value,
    };
    value.clamp(-MAX_EVALUATION, MAX_EVALUATION)
}
