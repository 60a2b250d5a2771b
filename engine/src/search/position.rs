//! The position of a search: a stack of boards, the keys since the start of the game and the incremental evaluation.

use crate::board::{Board, Delta, Move, upcoming_repetition};
use crate::eval::Evaluator;
use crate::value::{MAX_PLY, Value};

/// A position of a game and the moves made from it.
pub(crate) struct Position {
    boards: Vec<Board>,
    ply: usize,
    /// Keys of all positions since the start of the game.
    keys: Vec<u64>,
    /// The indices among the keys of the positions after null moves: no repetition crosses a null move.
    after_null: Vec<usize>,
    evaluator: Evaluator,
}

impl Position {
    /// The initial position, evaluated by `evaluator`.
    pub(crate) fn new(evaluator: Evaluator) -> Position {
        let start = Board::startpos();
        let (boards, keys) = (vec![start; MAX_PLY + 8], vec![start.key()]);
        Position { boards, ply: 0, keys, after_null: Vec::new(), evaluator }
    }

    /// Makes `board` the root. `keys` are those of the game so far, that of `board` last.
    pub(crate) fn reset(&mut self, board: &Board, keys: &[u64]) {
        self.boards[0] = *board;
        self.ply = 0;
        self.keys.clear();
        self.keys.extend_from_slice(keys);
        self.after_null.clear();
        self.evaluator.reset(board);
    }

    /// The evaluator, to change its weights.
    pub(crate) fn evaluator_mut(&mut self) -> &mut Evaluator {
        &mut self.evaluator
    }

    pub(crate) fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    pub(crate) fn board(&self) -> &Board {
        &self.boards[self.ply]
    }

    pub(crate) fn root(&self) -> &Board {
        &self.boards[0]
    }

    /// Plies from the root.
    pub(crate) fn ply(&self) -> usize {
        self.ply
    }

    /// Makes a legal move.
    pub(crate) fn make(&mut self, mv: Move) {
        let (played, rest) = self.boards.split_at_mut(self.ply + 1);
        let delta = played[self.ply].make_move(mv, &mut rest[0]);
        self.advance(&delta);
    }

    /// Makes a null move; the side to move must not be in check.
    pub(crate) fn make_null(&mut self) {
        let (played, rest) = self.boards.split_at_mut(self.ply + 1);
        played[self.ply].make_null(&mut rest[0]);
        self.after_null.push(self.keys.len());
        self.advance(&Delta::none());
    }

    fn advance(&mut self, delta: &Delta) {
        self.ply += 1;
        self.keys.push(self.boards[self.ply].key());
        self.evaluator.push(delta);
    }

    /// Takes back the last move or null move.
    pub(crate) fn unmake(&mut self) {
        self.ply -= 1;
        self.keys.pop();
        if self.after_null.last() == Some(&self.keys.len()) {
            self.after_null.pop();
        }
        self.evaluator.pop();
    }

    /// Static evaluation for the side to move in search units, with endgame knowledge.
    pub(crate) fn evaluate(&mut self) -> Value {
        self.evaluator.evaluate(&self.boards[self.ply])
    }

    /// Static evaluation for the side to move: only the tapered sum of weights.
    pub(crate) fn evaluate_raw(&mut self) -> Value {
        self.evaluator.evaluate_raw(&self.boards[self.ply])
    }

    /// Whether the position is a draw by repetition, by insufficient material or by the fifty-move rule.
    pub(crate) fn is_draw(&self) -> bool {
        let board = self.board();
        if board.halfmove_clock() >= 100 && (!board.in_check() || board.has_legal_move()) {
            return true;
        }
        board.insufficient_material() || self.is_repetition()
    }

    /// The keys of the positions since the last null move, or since the start of the game.
    fn comparable_keys(&self) -> &[u64] {
        &self.keys[self.after_null.last().copied().unwrap_or(0)..]
    }

    /// Whether the position is a repetition: once since the root, or twice since the start of the game.
    pub(crate) fn is_repetition(&self) -> bool {
        let keys = self.comparable_keys();
        let current = keys.len() - 1;
        let reversible = (self.board().halfmove_clock() as usize).min(current);
        let mut earlier = 0;
        for distance in (4..=reversible).step_by(2) {
            if keys[current - distance] == keys[current] {
                earlier += 1;
                if distance <= self.ply || earlier == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// Whether a move of the side to move repeats an earlier position.
    pub(crate) fn upcoming_repetition(&self) -> bool {
        upcoming_repetition(self.board(), self.comparable_keys(), self.ply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Weights;

    #[test]
    fn no_repetition_crosses_a_null_move() {
        let mut position = Position::new(Evaluator::new(Weights::embedded()));
        let board = Board::from_fen("4k3/8/8/8/8/8/8/R3K3 w - - 10 20").unwrap();
        position.reset(&board, &[board.key()]);
        // An empty text is a null move.
        let play = |position: &mut Position, moves: &[&str]| {
            for uci in moves {
                if uci.is_empty() {
                    position.make_null()
                } else {
                    position.make(position.board().parse_uci(uci).unwrap())
                }
            }
        };
        play(&mut position, &["a1a2", "e8e7", "a2a1"]);
        assert!(position.upcoming_repetition());
        play(&mut position, &["e7e8"]);
        assert!(position.is_repetition());
        (0..4).for_each(|_| position.unmake());
        play(&mut position, &["a1a2", "", "a2a1", ""]);
        assert!(!position.is_repetition() && !position.upcoming_repetition());
        (0..4).for_each(|_| position.unmake());
        play(&mut position, &["a1a2", "e8e7", "a2a1", "e7e8"]);
        assert!(position.is_repetition());
    }
}
