//! A game: its moves and the keys of its positions, for repetition and the fifty-move rule.

use super::{Board, Move, Square};

/// How a game ended under the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move is checkmated.
    Checkmate,
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// The position has occurred three times.
    Repetition,
    /// 100 plies without capture or pawn move.
    FiftyMoves,
    /// Neither side can checkmate: see [`Board::insufficient_material`].
    InsufficientMaterial,
}

/// A starting position and the moves played from it.
#[derive(Clone, Debug)]
pub struct Game {
    start: Board,
    board: Board,
    moves: Vec<Move>,
    keys: Vec<u64>,
}

impl Game {
    /// A game that starts from `start`.
    pub fn new(start: Board) -> Game {
        Game { start, board: start, moves: Vec::new(), keys: vec![start.key()] }
    }

    /// Makes a legal move.
    pub fn push(&mut self, mv: Move) {
        self.board = self.board.after(mv);
        self.moves.push(mv);
        self.keys.push(self.board.key());
    }

    /// The same game; `chess960` selects the UCI notation of castling, see [`Board::uci`].
    pub fn with_chess960(mut self, chess960: bool) -> Game {
        self.start = self.start.with_chess960(chess960);
        self.board = self.board.with_chess960(chess960);
        self
    }

    /// The starting position.
    pub fn start(&self) -> &Board {
        &self.start
    }

    /// The current position.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The square on which the last move captured.
    pub fn last_capture(&self) -> Option<Square> {
        let (&last, earlier) = self.moves.split_last()?;
        let before = earlier.iter().fold(self.start, |board, &mv| board.after(mv));
        before.is_capture(last).then(|| last.to())
    }

    /// The moves made.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The keys of all positions, the current one last.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// How many times the current position has occurred, including now.
    pub fn repetitions(&self) -> usize {
        let current = self.board.key();
        let reversible = self.board.halfmove_clock() as usize;
        let earlier = self.keys.iter().rev().skip(1).take(reversible);
        1 + earlier.filter(|&&key| key == current).count()
    }

    /// How the game has ended, or `None` while it continues.
    pub fn ending(&self) -> Option<Ending> {
        let board = &self.board;
        if !board.has_legal_move() {
            return Some(if board.in_check() { Ending::Checkmate } else { Ending::Stalemate });
        }
        if board.insufficient_material() {
            return Some(Ending::InsufficientMaterial);
        }
        if board.halfmove_clock() >= 100 {
            return Some(Ending::FiftyMoves);
        }
        (self.repetitions() >= 3).then_some(Ending::Repetition)
    }
}

impl Default for Game {
    fn default() -> Game {
        Game::new(Board::startpos())
    }
}
