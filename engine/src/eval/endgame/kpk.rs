//! King and pawn against king, solved.
//!
//! For each square of pawn and white king there are two sets of squares: where the black king loses if
//! White is to move, and where it loses if Black is. One step of the retrograde analysis treats all
//! squares of the black king at once, so the whole takes a fraction of a millisecond and is done when the
//! ending first appears. White has the pawn, and it stands on files a to d: other positions are turned.

use crate::board::squares::*;
use crate::board::{ALL_SQUARES, BitBoard, EMPTY, Square, attacks};
use std::sync::OnceLock;

/// Squares of the black king that lose, by place of the pawn (rank from the second, file a to d) and
/// square of the white king.
struct Table {
    white_to_move: Vec<[BitBoard; 64]>,
    black_to_move: Vec<[BitBoard; 64]>,
}

const PAWNS: usize = 6 * 4;

/// Whether the player with the pawn, who moves up the board, wins.
pub fn is_won(king: Square, pawn: Square, enemy: Square, to_move: bool) -> bool {
    let mirror = if file(pawn) > 3 { 7 } else { 0 };
    let [king, pawn, enemy] = [king, pawn, enemy].map(|at| square(at.to_index() ^ mirror));
    let table = table();
    let side = if to_move { &table.white_to_move } else { &table.black_to_move };
    side[place(pawn)][king.to_index()].has(enemy)
}

/// Won positions with either side to move.
#[cfg(test)]
pub fn count_wins() -> usize {
    let table = table();
    table.white_to_move.iter().chain(&table.black_to_move).flatten().map(|set| set.len()).sum()
}

fn place(pawn: Square) -> usize {
    (rank(pawn) - 1) * 4 + file(pawn)
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(solve)
}

fn solve() -> Table {
    let mut table = Table { white_to_move: vec![[EMPTY; 64]; PAWNS], black_to_move: vec![[EMPTY; 64]; PAWNS] };
    // Pawns advance, so those nearest to the eighth rank are solved first and once.
    for place in (0..PAWNS).rev() {
        while table.step(place) {}
    }
    table
}

impl Table {
    /// Adds the wins that follow from those known; whether there were any.
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

    /// With Black to move: every move, and there is one or it is mate, lets White win.
    fn lost_for_black(&self, pawn: Square, king: Square) -> BitBoard {
        let checked = square_set(pawn).pawn_attacks();
        let forbidden = attacks::king(king) | square_set(king);
        let allowed = !(forbidden | checked);
        let refuge = allowed & !self.white_to_move[place(pawn)][king.to_index()];
        let placed = !(forbidden | square_set(pawn));
        let can_move = neighbors(allowed);
        placed & !neighbors(refuge) & (can_move | checked)
    }

    /// With White to move: some move leads to a loss for Black.
    fn won_for_white(&self, pawn: Square, king: Square) -> BitBoard {
        let (place, here) = (place(pawn), king.to_index());
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

/// Squares a king's move away from any of these.
fn neighbors(set: BitBoard) -> BitBoard {
    let row = set | set.adjacent_files();
    set.adjacent_files() | row.north() | row.south()
}
