//! A game: the positions so far, for repetition and the fifty-move rule.

use super::{Board, ChessMove};

/// How a game ended by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// The position stands for the third time.
    Repetition,
    /// A hundred plies without capture or pawn move.
    FiftyMoves,
    /// Neither side can mate.
    InsufficientMaterial,
}

/// A starting position and the moves played from it.
#[derive(Clone)]
pub struct Game {
    start: Board,
    board: Board,
    moves: Vec<ChessMove>,
    keys: Vec<u64>,
}

impl Game {
    /// A game that begins here.
    #[must_use]
    pub fn new(start: Board) -> Game {
        Game { start, board: start, moves: Vec::new(), keys: vec![start.key()] }
    }

    /// Plays a legal move.
    pub fn push(&mut self, mv: ChessMove) {
        self.board = self.board.after(mv);
        self.moves.push(mv);
        self.keys.push(self.board.key());
    }

    /// The same game, whose moves are written as UCI wants them in Chess960, or not.
    #[must_use]
    pub fn with_chess960(mut self, chess960: bool) -> Game {
        self.start = self.start.with_chess960(chess960);
        self.board = self.board.with_chess960(chess960);
        self
    }

    /// The position the game began with.
    #[must_use]
    pub fn start(&self) -> &Board {
        &self.start
    }

    /// The current position.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The moves played.
    #[must_use]
    pub fn moves(&self) -> &[ChessMove] {
        &self.moves
    }

    /// Keys of all positions, the current one last.
    #[must_use]
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// How often the current position has stood on the board, this time included.
    #[must_use]
    pub fn repetitions(&self) -> usize {
        let current = self.board.key();
        let reversible = self.board.halfmove_clock() as usize;
        let earlier = self.keys.iter().rev().skip(1).take(reversible);
        1 + earlier.filter(|&&key| key == current).count()
    }

    /// How the game has ended, if it has.
    ///
    /// ```
    /// # use dyad_engine::board::{Board, Ending, Game};
    /// let mut game = Game::new(Board::startpos());
    /// for san in ["f3", "e5", "g4", "Qh4"] {
    ///     assert_eq!(game.ending(), None);
    ///     game.push(game.board().parse_san(san).unwrap());
    /// }
    /// assert_eq!(game.ending(), Some(Ending::Checkmate));
    /// ```
    #[must_use]
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
