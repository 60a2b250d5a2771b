//! Upcoming repetition: can the side to move return to a position of the line?
//!
//! Marcel van Kervinck's cuckoo tables: the key difference of two positions with the same side to move's
//! opponent is the key of one reversible move exactly when that move leads back. All such differences are
//! hashed at two places, so that one or two probes answer.

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

    /// Puts an entry at its first place; the entry it displaces moves to its other one.
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

/// Whether the side to move on `board` has a move that repeats a position of the game.
///
/// `keys` are the keys of all positions of the game and the line, the current one last; `ply` counts those
/// of the line. A position before the root must have occurred twice to count.
#[must_use]
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
        // The difference may as well be a move of the opponent's, which leads here and not back.
        let mover = if occupied.has(a) { a } else { b };
        if board.color_on(mover) != Some(board.side_to_move()) {
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
