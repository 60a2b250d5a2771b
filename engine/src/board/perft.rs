//! [Perft](https://www.chessprogramming.org/Perft): counts the leaves of the full move tree, to test the move
//! generator.

use super::Board;

/// The number of leaves of the tree of legal moves at this depth.
pub fn perft(board: &Board, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => board.count_moves() as u64,
        _ => {
            let mut nodes = 0;
            board.for_each_legal(|mv| nodes += perft(&board.after(mv), depth - 1));
            nodes
        }
    }
}
