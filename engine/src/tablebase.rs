//! Syzygy endgame tables: win, draw or loss (WDL), and the plies to the next capture or pawn move (DTZ).
//! <https://www.chessprogramming.org/Syzygy_Bases>
//!
//! This module says what a search makes of the tables; `syzygy` reads them. A build without the Cargo feature
//! `syzygy`, as the page for a browser is, has `none` in its place.

use crate::board::{Board, COLORS, Game, Move};
use crate::value::{DRAW, TABLEBASE_WIN, Value};
use std::fmt;
use std::sync::Arc;

#[cfg(not(feature = "syzygy"))]
mod none;
#[cfg(feature = "syzygy")]
mod syzygy;

#[cfg(not(feature = "syzygy"))]
pub use none::Tablebase;
#[cfg(feature = "syzygy")]
pub use syzygy::Tablebase;

impl fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tablebase({} files, {} pieces)", self.files(), self.pieces())
    }
}

impl Tablebase {
    /// Whether the position may be in a table: few pieces and no castling rights.
    fn covers(&self, board: &Board) -> bool {
        board.occupied().popcnt() <= self.pieces() && COLORS.iter().all(|&color| !board.can_castle(color))
    }
}

/// Tables with the settings of a search.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The tables.
    pub base: Arc<Tablebase>,
    /// Minimum depth of a probe at the maximum number of pieces; with fewer pieces every depth probes.
    pub depth: i32,
    /// Maximum number of pieces of a probed position.
    pub pieces: u32,
    /// Whether the fifty-move rule applies.
    pub fifty_moves: bool,
}

/// The root moves as ranked by the tables, best first; never empty.
#[derive(Clone, Debug)]
pub(crate) struct RootMoves {
    pub(crate) moves: Vec<RankedMove>,
    /// Whether the ranks come from DTZ, so that the search makes progress without probes.
    pub(crate) by_dtz: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedMove {
    pub(crate) mv: Move,
    /// Higher is better; moves of equal rank are not ordered.
    pub(crate) rank: i32,
    pub(crate) value: Value,
}

impl RootMoves {
    pub(crate) fn best(&self) -> RankedMove {
        self.moves[0]
    }

    /// Removes all moves below the best rank.
    pub(crate) fn keep_best(&mut self) {
        let best = self.best().rank;
        self.moves.retain(|ranked| ranked.rank == best);
    }
}

/// Rank of a safe win; lower ranks are closer to the fifty-move rule. As in Stockfish's root probing.
const SAFE_WIN: i32 = 1 << 18;

impl Tables {
    /// Probes all tables at any depth, under the fifty-move rule.
    pub fn new(base: Arc<Tablebase>) -> Tables {
        Tables { base, depth: 1, pieces: u32::MAX, fifty_moves: true }
    }

    /// Whether to probe a position with this many pieces at this depth.
    pub(crate) fn allow(&self, pieces: u32, depth: i32) -> bool {
        let max = self.max_pieces();
        pieces < max || (pieces == max && depth >= self.depth)
    }

    fn max_pieces(&self) -> u32 {
        self.pieces.min(self.base.pieces())
    }

    /// The search value of a position `ply` plies from the root.
    pub(crate) fn value(&self, board: &Board, ply: usize) -> Option<Value> {
        let wdl = self.base.wdl(board)?;
        Some(match wdl.abs() {
            0 => DRAW,
            // A draw, but above or below others, whose random part is smaller.
            1 if self.fifty_moves => DRAW + 2 * wdl,
            _ => wdl.signum() * (TABLEBASE_WIN - ply as Value),
        })
    }

    /// The legal moves by rank, or those in `among` if it is not empty; `None` if a probe fails.
    pub(crate) fn root_moves(&self, game: &Game, among: &[Move]) -> Option<RootMoves> {
        let board = game.board();
        if board.occupied().popcnt() > self.max_pieces() || !self.base.covers(board) {
            return None;
        }
        let wanted = |mv: &&Move| among.is_empty() || among.contains(mv);
        let moves: Vec<Move> = board.moves().iter().filter(wanted).copied().collect();
        let ranked = |rank: &dyn Fn(Move) -> Option<i32>| -> Option<Vec<RankedMove>> {
            let ranked = |mv, rank| RankedMove { mv, rank, value: self.root_value(rank) };
            moves.iter().map(|&mv| Some(ranked(mv, rank(mv)?))).collect()
        };
        let repeated = has_repeated(game);
        let by_dtz = ranked(&|mv| self.rank(game, mv, repeated));
        let (is_by_dtz, by_wdl) = (by_dtz.is_some(), || ranked(&|mv| self.rank_by_wdl(board, mv)));
        let mut moves = by_dtz.or_else(by_wdl)?;
        moves.sort_by_key(|ranked| -ranked.rank);
        (!moves.is_empty()).then_some(RootMoves { moves, by_dtz: is_by_dtz })
    }

    /// Rank of a move by DTZ: by the result, and by plies if the fifty-move rule may interfere. After a repetition wins
    /// are ranked by plies too, or else the winner might shuffle among moves of one rank.
    fn rank(&self, game: &Game, mv: Move, repeated: bool) -> Option<i32> {
        let after = game.board().after(mv);
        let clock = game.board().halfmove_clock() as i32;
        let reversible = game.keys().iter().rev().take(after.halfmove_clock() as usize);
        let repetitions = reversible.filter(|&&key| key == after.key()).count();
        let mates = after.in_check() && !after.has_legal_move();
        // Plies to the next capture or pawn move, negative if we lose; above 100 for a draw by the fifty-move rule.
        let dtz = if mates {
            1
        } else if after.halfmove_clock() == 0 {
            // By the result for the opponent, a win first.
            [-1, -101, 0, 101, 1][(2 - self.base.wdl(&after)?) as usize]
        } else if repetitions >= 2 || (self.fifty_moves && after.halfmove_clock() >= 100) {
            0
        } else {
            let dtz = -self.base.most_plies(&after)?;
            dtz + dtz.signum()
        };
        Some(match dtz {
            1.. if dtz + clock <= 99 && !repeated => SAFE_WIN,
            1.. => SAFE_WIN - (dtz + clock),
            0 => 0,
            // Losses are equal unless a draw by the fifty-move rule is in sight.
            _ if clock - 2 * dtz < 100 => -SAFE_WIN,
            _ => clock - dtz - SAFE_WIN,
        })
    }

    fn rank_by_wdl(&self, board: &Board, mv: Move) -> Option<i32> {
        let wdl = -self.base.wdl(&board.after(mv))?;
        let safe = if wdl.abs() == 1 { SAFE_WIN - 101 } else { SAFE_WIN };
        Some(wdl.signum() * safe)
    }

    /// The value of a rank: a win or loss up to a hundred plies, else a draw with a small value toward the winning side,
    /// which grows as a win comes near.
    fn root_value(&self, rank: i32) -> Value {
        let safe = if self.fifty_moves { SAFE_WIN - 100 } else { 1 };
        match rank {
            0 => DRAW,
            _ if rank >= safe => TABLEBASE_WIN,
            _ if rank <= -safe => -TABLEBASE_WIN,
            _ => rank.signum() * (rank.abs() - (SAFE_WIN - 200)).max(3),
        }
    }
}

/// Whether a position has occurred twice since the last capture or pawn move.
fn has_repeated(game: &Game) -> bool {
    let reversible = game.board().halfmove_clock() as usize + 1;
    let keys: Vec<u64> = game.keys().iter().rev().take(reversible).copied().collect();
    keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key))
}

#[cfg(all(test, feature = "syzygy"))]
mod tests;
