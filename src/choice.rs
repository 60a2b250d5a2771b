//! The margin over the second-best move, for the comments of a game.
//!
//! Alpha-beta finds the value of the best move and only proves that the others are not better. So a search that reports
//! the margin searches two lines, as with `MultiPV` 2, and reports the difference of their values in the last iteration
//! that completed both. If the best move of the search is not that of this iteration, because of a stop or of thread
//! voting, no second move is reported.

use std::sync::Arc;

use dyad_engine::board::Board;
use dyad_engine::eval::Weights;
use dyad_engine::search::{BestTwo, Outcome};
use dyad_engine::value::gap;
use dyad_formats::choice::{BEGINNING, Choice};

/// Number of lines that a search needs.
pub const VARIATIONS: usize = 2;

/// The info string about the result of a search with the weights of this id.
pub fn choice_line(best_two: &BestTwo, board: &Board, outcome: &Outcome, weights: u32) -> String {
    let choice = match best_two.lines_of(outcome.best) {
        Some([best, second]) => {
            let behind = gap(best.value, second.value).max(0).unsigned_abs();
            Choice { second: second.pv.first().map(|&mv| (mv, behind)), depth: best.depth, weights }
        }
        None => Choice { second: None, depth: outcome.depth, weights },
    };
    format!("{BEGINNING} {}", choice.text(board))
}

/// A cache of the id of the weights in use, which is a hash of all weights.
#[derive(Default)]
pub struct IdCache(Option<(Arc<Weights>, u32)>);

impl IdCache {
    /// The id of these weights.
    pub fn of(&mut self, weights: &Arc<Weights>) -> u32 {
        match &self.0 {
            Some((cached, id)) if Arc::ptr_eq(cached, weights) => *id,
            _ => {
                let id = u32::from_str_radix(&weights.id(), 16).expect("an id is eight hexadecimal digits");
                self.0 = Some((Arc::clone(weights), id));
                id
            }
        }
    }
}
