//! Upcoming repetition: whether the side to move can return to an earlier position.
//!
//! Marcel van Kervinck's [cuckoo tables](https://www.chessprogramming.org/Repetitions): a move returns to an earlier
//! position if the keys of the two positions differ by the key of that reversible move. The table holds the keys of all
//! reversible moves, each in one of two slots, so that two probes find any of them.

use super::{ALL_SQUARES, Board, COLORS, EMPTY, PIECES, Piece, Square, Squares, attacks, zobrist};
use std::sync::LazyLock;

const SIZE: usize = 8192;

struct Cuckoo {
    keys: Vec<u64>,
    moves: Vec<(Square, Square)>,
}

static CUCKOO: LazyLock<Cuckoo> = LazyLock::new(Cuckoo::new);

fn first(key: u64) -> usize {
    key as usize & (SIZE - 1)
}

fn second(key: u64) -> usize {
    (key >> 16) as usize & (SIZE - 1)
}

impl Cuckoo {
    fn new() -> Cuckoo {
        let mut table = Cuckoo { keys: vec![0; SIZE], moves: vec![(Square::A1, Square::A1); SIZE] };
        for color in COLORS {
            for piece in PIECES.into_iter().filter(|&p| p != Piece::Pawn) {
                for from in ALL_SQUARES {
                    for to in ALL_SQUARES.into_iter().skip(from.to_index() + 1) {
                        if attacks::of(piece, color, from, EMPTY).has(to) {
                            let key = zobrist::piece(color, piece, from)
                                ^ zobrist::piece(color, piece, to)
                                ^ zobrist::black_to_move();
                            table.insert(key, (from, to));
                        }
                    }
                }
            }
        }
        table
    }

    /// Inserts an entry into its first slot; a displaced entry moves to its other slot.
    fn insert(&mut self, mut key: u64, mut mv: (Square, Square)) {
        let mut slot = first(key);
        loop {
            std::mem::swap(&mut self.keys[slot], &mut key);
            std::mem::swap(&mut self.moves[slot], &mut mv);
            if key == 0 {
                return;
            }
            slot = if slot == first(key) { second(key) } else { first(key) };
        }
    }

    fn find(&self, key: u64) -> Option<(Square, Square)> {
        [first(key), second(key)].into_iter().find(|&slot| self.keys[slot] == key).map(|slot| self.moves[slot])
    }
}

/// Whether the side to move has a move that repeats an earlier position.
///
/// `keys` are those of all positions of the game and the search line, the current one last; `ply` is the distance from
/// the root. A position before the root must have occurred twice to count.
pub fn upcoming_repetition(board: &Board, keys: &[u64], ply: usize) -> bool {
    let reversible = (board.halfmove_clock() as usize).min(keys.len() - 1);
    if reversible < 3 {
        return false;
    }
    let current = keys.len() - 1;
    let occupied = board.occupied();
    let cuckoo = &*CUCKOO;
    for distance in (3..=reversible).step_by(2) {
        let key = keys[current] ^ keys[current - distance];
        let Some((a, b)) = cuckoo.find(key) else { continue };
        if (attacks::between(a, b) & occupied).any() {
            continue;
        }
        // The move may be one of the opponent, which leads here and not back.
        let from = if occupied.has(a) { a } else { b };
        if board.color_on(from) != Some(board.side_to_move()) {
            continue;
        }
        if ply >= distance || repeated_before(keys, current - distance) {
            return true;
        }
    }
    false
}

fn repeated_before(keys: &[u64], index: usize) -> bool {
    keys[..index].iter().rev().skip(3).step_by(2).any(|&key| key == keys[index])
}
