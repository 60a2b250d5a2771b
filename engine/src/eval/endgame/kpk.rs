//! King and pawn against king: a [bitbase](https://www.chessprogramming.org/KPK) by retrograde analysis.
//!
//! For each square of the pawn and of the white king it has the set of squares on which the black king loses, one set
//! for White and one for Black to move. An iteration treats all squares of the black king at once, so the bitbase takes
//! a fraction of a millisecond and is computed on first use. White has the pawn, on files a to d: other positions are
//! flipped and mirrored.

use crate::board::squares::*;
use crate::board::{ALL_SQUARES, BitBoard, EMPTY, Square, attacks};
use std::sync::LazyLock;

/// Squares on which the black king loses, by index of the pawn (see [`pawn_index`]) and square of the white king.
struct Bitbase {
    white_to_move: Vec<[BitBoard; 64]>,
    black_to_move: Vec<[BitBoard; 64]>,
}

/// Pawn squares: 6 ranks by files a to d.
const PAWNS: usize = 6 * 4;

/// Whether the side with the pawn, which moves up the board, wins; `to_move` is whether that side is to move.
pub(crate) fn is_won(king: Square, pawn: Square, enemy: Square, to_move: bool) -> bool {
    let mirror = if file(pawn) > 3 { 7 } else { 0 };
    let [king, pawn, enemy] = [king, pawn, enemy].map(|at| square(at.to_index() ^ mirror));
    let side = if to_move { &BITBASE.white_to_move } else { &BITBASE.black_to_move };
    side[pawn_index(pawn)][king.to_index()].has(enemy)
}

#[cfg(test)]
pub(crate) fn count_wins() -> usize {
    BITBASE.white_to_move.iter().chain(&BITBASE.black_to_move).flatten().map(|set| set.len()).sum()
}

fn pawn_index(pawn: Square) -> usize {
    (rank(pawn) - 1) * 4 + file(pawn)
}

static BITBASE: LazyLock<Bitbase> = LazyLock::new(solve);

fn solve() -> Bitbase {
    let mut bitbase = Bitbase { white_to_move: vec![[EMPTY; 64]; PAWNS], black_to_move: vec![[EMPTY; 64]; PAWNS] };
    // Pawns advance, so pawns on higher ranks are solved first.
    for place in (0..PAWNS).rev() {
        while bitbase.step(place) {}
    }
    bitbase
}

impl Bitbase {
    /// One iteration for a pawn square: adds the wins that follow from those found so far. Returns whether there are
    /// any.
    fn step(&mut self, place: usize) -> bool {
        let pawn = square(8 + place / 4 * 8 + place % 4);
        let mut changed = false;
        for king in ALL_SQUARES {
            if king == pawn {
                continue;
            }
            let at = king.to_index();
            let lost = self.lost_for_black(pawn, king);
            changed |= lost != self.black_to_move[place][at];
            self.black_to_move[place][at] = lost;
        }
        for king in ALL_SQUARES {
            if king == pawn {
                continue;
            }
            let won = self.won_for_white(pawn, king);
            changed |= won != self.white_to_move[place][king.to_index()];
            self.white_to_move[place][king.to_index()] = won;
        }
        changed
    }

    /// Lost squares with Black to move: checkmate, or there are legal moves and all of them lose.
    fn lost_for_black(&self, pawn: Square, king: Square) -> BitBoard {
        let checked = square_set(pawn).pawn_attacks();
        let forbidden = attacks::king(king) | square_set(king);
        let allowed = !(forbidden | checked);
        let safe = allowed & !self.white_to_move[pawn_index(pawn)][king.to_index()];
        let placed = !(forbidden | square_set(pawn));
        let can_move = neighbors(allowed);
        placed & !neighbors(safe) & (can_move | checked)
    }

    /// Won squares with White to move: a move leads to a lost square.
    fn won_for_white(&self, pawn: Square, king: Square) -> BitBoard {
        let (place, here) = (pawn_index(pawn), king.to_index());
        let mut won = EMPTY;
        for next in attacks::king(king) & !square_set(pawn) {
            won |= self.black_to_move[place][next.to_index()];
        }
        let ahead = square(pawn.to_index() + 8);
        if ahead != king {
            if rank(pawn) == 6 {
                let guarded = attacks::king(king).has(ahead);
                won |= if guarded { !square_set(ahead) } else { !(attacks::king(ahead) | square_set(ahead)) };
            } else {
                won |= self.black_to_move[place + 4][here];
                if rank(pawn) == 1 && ahead.to_index() + 8 != here {
                    won |= self.black_to_move[place + 8][here] & !square_set(ahead);
                }
            }
        }
        let legal = !(attacks::king(king) | square_set(king) | square_set(pawn) | square_set(pawn).pawn_attacks());
        won & legal
    }
}

/// Squares one king move away from any of `set`.
fn neighbors(set: BitBoard) -> BitBoard {
    let row = set | set.adjacent_files();
    set.adjacent_files() | row.north() | row.south()
}
