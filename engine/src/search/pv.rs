//! Principal variations, kept by the search itself: a triangular table, a line a ply.

use crate::board::{ChessMove, Square};
use crate::value::MAX_PLY;

/// A line of moves, and how it ends.
#[derive(Clone)]
pub(super) struct Line {
    moves: [ChessMove; MAX_PLY],
    len: usize,
    /// Whether the line ends in mate or a draw, not in a static evaluation.
    pub(super) terminal: bool,
}

impl Line {
    pub(super) fn new() -> Line {
        Line { moves: [ChessMove::new(Square::A1, Square::A1, None); MAX_PLY], len: 0, terminal: false }
    }

    pub(super) fn moves(&self) -> &[ChessMove] {
        &self.moves[..self.len]
    }

    /// The line that ends here.
    #[inline]
    pub(super) fn end(&mut self, terminal: bool) {
        self.len = 0;
        self.terminal = terminal;
    }

    /// The line that plays `mv` and continues with `rest`.
    #[inline]
    fn extend(&mut self, mv: ChessMove, rest: &Line) {
        let len = rest.len.min(MAX_PLY - 1);
        self.moves[0] = mv;
        self.moves[1..=len].copy_from_slice(&rest.moves[..len]);
        self.len = len + 1;
        self.terminal = rest.terminal;
    }

    /// The line at `ply` becomes `mv` and the line below.
    #[inline]
    pub(super) fn extend_at(lines: &mut [Line], ply: usize, mv: ChessMove) {
        let (here, below) = lines.split_at_mut(ply + 1);
        here[ply].extend(mv, &below[0]);
    }
}
