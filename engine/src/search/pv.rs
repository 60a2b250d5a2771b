//! Principal variations in a [triangular table](https://www.chessprogramming.org/Triangular_PV-Table): a line for each
//! ply.

use crate::board::Move;
use crate::value::MAX_PLY;

/// A principal variation.
#[derive(Clone)]
pub(super) struct PvLine {
    moves: [Move; MAX_PLY],
    len: usize,
    /// Whether the line ends in mate or a draw, not in a static evaluation.
    pub(super) terminal: bool,
}

impl PvLine {
    pub(super) fn new() -> PvLine {
        PvLine { moves: [Move::default(); MAX_PLY], len: 0, terminal: false }
    }

    pub(super) fn moves(&self) -> &[Move] {
        &self.moves[..self.len]
    }

    /// Clears the line.
    pub(super) fn end(&mut self, terminal: bool) {
        self.len = 0;
        self.terminal = terminal;
    }

    fn extend(&mut self, mv: Move, rest: &PvLine) {
        let len = rest.len.min(MAX_PLY - 1);
        self.moves[0] = mv;
        self.moves[1..=len].copy_from_slice(&rest.moves[..len]);
        self.len = len + 1;
        self.terminal = rest.terminal;
    }

    /// Sets the line at `ply` to `mv` followed by the line at the next ply.
    pub(super) fn extend_at(lines: &mut [PvLine], ply: usize, mv: Move) {
        let (here, below) = lines.split_at_mut(ply + 1);
        here[ply].extend(mv, &below[0]);
    }
}
