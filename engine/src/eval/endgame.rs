//! Endings that are known: exact draws, wins that need a plan, and advantages that cannot be won.
//!
//! A sum of weights does not know that a king must be driven into the right corner, or that two knights
//! do not mate. Search asks here after the linear evaluation, and only with few pieces left. While the
//! leaves of a training are collected nobody asks, so that what is trained stays linear (Tseng, Chen, Wu keep
//! such functions out of the training too, "since their evaluations are absolutely correct").
//!
//! Everything is stated for the stronger player, who moves up the board; a position where Black is
//! stronger is turned upside down first.

mod kpk;
#[cfg(test)]
mod tests;

use crate::board::squares::*;
use crate::board::{BitBoard, Board, Color, PIECES, Piece, Square, attacks};
use std::cmp::Ordering;

/// What is known about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its value from the view of the side to move, instead of the evaluation. Known wins are above
    /// [`KNOWN_WIN`] and below every mate.
    Value(i32),
    /// When the evaluation is good for this color, only so many parts of [`FULL_SCALE`] of it count.
    Scale(Color, i32),
    /// Nothing.
    None,
}

/// The least value of a position that is won by a plan.
pub const KNOWN_WIN: i32 = 10_000;
/// The scale that leaves an evaluation as it is.
pub const FULL_SCALE: i32 = 64;

/// Positions with more pieces than this, kings included, have no entry.
const MOST_PIECES: u32 = 8;

/// Values of pawn, knight, bishop, rook, queen in search units, to tell who is stronger.
const VALUES: [i32; 5] = [200, 650, 680, 1000, 1900];

const PAWN: usize = 0;
const KNIGHT: usize = 1;
const BISHOP: usize = 2;
const ROOK: usize = 3;
const QUEEN: usize = 4;
const KING: usize = 5;

/// Looks up what is known about `board`. With equal material the stronger player is the one whom the evaluation
/// finds `ahead`.
#[inline]
pub fn probe(board: &Board, ahead: Color) -> Known {
    let pieces = board.occupied() & !board.pieces(Piece::Pawn);
    if pieces.popcnt() > MOST_PIECES {
        return Known::None;
    }
    Ending::new(board, ahead).probe(board)
}

/// One player's pieces.
struct Player {
    pieces: [BitBoard; 6],
    /// Numbers of pawns, knights, bishops, rooks, queens.
    counts: [usize; 5],
    king: Square,
}

impl Player {
    fn new(board: &Board, color: Color, turn: bool) -> Self {
        let pieces = PIECES.map(|piece| {
            let squares = board.colored(color, piece);
            if turn { squares.flip() } else { squares }
        });
        Self { pieces, counts: std::array::from_fn(|piece| pieces[piece].len()), king: pieces[KING].to_square() }
    }

    fn value(&self, from: usize) -> i32 {
        (from..KING).map(|piece| VALUES[piece] * self.counts[piece] as i32).sum()
    }

    fn is_bare(&self) -> bool {
        self.counts == [0; 5]
    }

    fn the(&self, piece: usize) -> Square {
        self.pieces[piece].to_square()
    }

    fn bishops_on_both_colors(&self) -> bool {
        (self.pieces[BISHOP] & DARK_SQUARES).any() && (self.pieces[BISHOP] & !DARK_SQUARES).any()
    }
}

/// A position from the side of the stronger player.
struct Ending {
    strong: Player,
    weak: Player,
    /// The stronger player's color on the real board.
    color: Color,
    /// Whether the stronger player is to move.
    strong_moves: bool,
}

impl Ending {
    fn new(board: &Board, ahead: Color) -> Self {
        let white = Player::new(board, Color::White, false);
        let black = Player::new(board, Color::Black, false);
        let color = match white.value(PAWN).cmp(&black.value(PAWN)) {
            Ordering::Greater => Color::White,
            Ordering::Less => Color::Black,
            Ordering::Equal => ahead,
        };
        let (strong, weak) = match color {
            Color::White => (white, black),
            Color::Black => (Player::new(board, Color::Black, true), Player::new(board, Color::White, true)),
        };
        Self { strong, weak, color, strong_moves: board.side_to_move() == color }
    }

    fn probe(&self, board: &Board) -> Known {
        let (strong, weak) = (self.strong.counts, self.weak.counts);
        if self.weak.is_bare() {
            return self.against_bare_king(board);
        }
        match (strong, weak) {
            // Neither side can force anything, whatever the pawns of the others may say.
            ([0, 1, 0, 0, 0] | [0, 0, 1, 0, 0], [0, 1, 0, 0, 0] | [0, 0, 1, 0, 0]) => Known::Value(0),
            ([0, 2, 0, 0, 0], [1, 0, 0, 0, 0]) => self.two_knights_against_pawn(),
            ([0, 0, 0, 1, 0], [1, 0, 0, 0, 0]) => self.rook_against_pawn(),
            ([0, 0, 0, 1, 0], [0, 0, 1, 0, 0]) => self.value(drive_to_edge(self.weak.king)),
            ([0, 0, 0, 1, 0], [0, 1, 0, 0, 0]) => self.rook_against_knight(),
            ([0, 0, 0, 0, 1], [1, 0, 0, 0, 0]) => self.queen_against_pawn(),
            ([0, 0, 0, 0, 1], [0, 0, 0, 1, 0]) => {
                let drive = drive_to_edge(self.weak.king) + drive_together(self.strong.king, self.weak.king);
                self.value(VALUES[QUEEN] - VALUES[ROOK] + 2 * drive)
            }
            ([1, 0, 0, 1, 0], [0, 0, 0, 1, 0]) if self.is_drawn_rook_ending() => self.scale(0),
            ([0, 0, 0, 0, 1], [_, 0, 0, 1, 0]) if self.is_rook_fortress() => self.scale(0),
            ([_, 0, 1, 0, 0], [_, 0, 0, 0, 0]) if self.is_wrong_bishop() => self.scale(0),
            ([_, 0, 1, _, _], [_, 0, 1, _, _]) if self.opposite_bishops() => self.scale(self.opposite_bishops_scale()),
            ([0, ..], _) => self.without_pawns(),
            _ => Known::None,
        }
    }

    /// A value given for the stronger player.
    fn value(&self, value: i32) -> Known {
        Known::Value(if self.strong_moves { value } else { -value })
    }

    fn scale(&self, scale: i32) -> Known {
        Known::Scale(self.color, scale)
    }

    fn against_bare_king(&self, board: &Board) -> Known {
        let strong = &self.strong;
        match strong.counts {
            [0, 0, 0, 0, 0] | [0, 1 | 2, 0, 0, 0] => Known::Value(0),
            [0, 0, _, 0, 0] if !strong.bishops_on_both_colors() => Known::Value(0),
            [1, 0, 0, 0, 0] => self.pawn_against_king(),
            [_, 0, 0 | 1, 0, 0] if self.is_wrong_bishop() => self.scale(0),
            [0, 1, 1, 0, 0] => {
                let corner = drive_to_corner(self.weak.king, strong.pieces[BISHOP]);
                self.win(board, 3 * corner + drive_together(strong.king, self.weak.king))
            }
            [_, _, _, 0, 0] if !self.mates_without_pawns() => Known::None,
            _ => self.win(board, 2 * drive_to_edge(self.weak.king) + drive_together(strong.king, self.weak.king)),
        }
    }

    fn mates_without_pawns(&self) -> bool {
        let [_, knights, bishops, ..] = self.strong.counts;
        self.strong.bishops_on_both_colors() || (knights > 0 && bishops > 0) || knights > 2
    }

    /// A win by driving the bare king, unless it is stalemate.
    fn win(&self, board: &Board, drive: i32) -> Known {
        if !self.strong_moves && !board.in_check() && !board.has_legal_move() {
            return Known::Value(0);
        }
        self.value(KNOWN_WIN + self.strong.value(PAWN).min(9_000) + drive)
    }

    fn pawn_against_king(&self) -> Known {
        let pawn = self.strong.the(PAWN);
        if !kpk::is_won(self.strong.king, pawn, self.weak.king, self.strong_moves) {
            return Known::Value(0);
        }
        let rank = rank(pawn) as i32;
        self.value(KNOWN_WIN + VALUES[PAWN] + 60 * rank)
    }

    /// Two knights can mate only while a blocked pawn prevents stalemate; the sooner it is far, the less.
    fn two_knights_against_pawn(&self) -> Known {
        let pawn = 7 - rank(self.weak.the(PAWN)) as i32;
        let drive = drive_to_edge(self.weak.king) + drive_together(self.strong.king, self.weak.king);
        self.value(drive / 2 - 20 * pawn)
    }

    /// The king in front of the pawn wins, as does a far enemy king; an advanced pawn with its king draws.
    fn rook_against_pawn(&self) -> Known {
        let (king, enemy) = (self.strong.king, self.weak.king);
        let (rook, pawn) = (self.strong.the(ROOK), self.weak.the(PAWN));
        let goal = square(file(pawn));
        let steps = |from: Square, to: Square| distance(from, to) as i32;
        let our_move = i32::from(self.strong_moves);
        let before_pawn = file(king) == file(pawn) && rank(king) < rank(pawn);
        let far = steps(enemy, pawn) >= 3 + i32::from(!self.strong_moves) && steps(enemy, rook) >= 3;
        let advanced = rank(enemy) <= 2 && steps(enemy, pawn) == 1 && rank(king) >= 3;
        let value = if before_pawn || far {
            VALUES[ROOK] - 10 * steps(king, pawn)
        } else if advanced && steps(king, pawn) > 2 + our_move {
            80 - 8 * steps(king, pawn)
        } else {
            let next = square(pawn.to_index().saturating_sub(8));
            200 - 8 * (steps(king, next) - steps(enemy, next) - steps(pawn, goal))
        };
        self.value(value)
    }

    /// A knight far from its king can be hunted.
    fn rook_against_knight(&self) -> Known {
        let apart = distance(self.weak.king, self.weak.the(KNIGHT)) as i32;
        self.value(drive_to_edge(self.weak.king) + 12 * apart)
    }

    /// Won unless a rook's or bishop's pawn on the seventh rank has its king beside it.
    fn queen_against_pawn(&self) -> Known {
        let pawn = self.weak.the(PAWN);
        let draws = rank(pawn) == 1
            && distance(self.weak.king, pawn) == 1
            && (file_set(file(pawn)) & (file_set(0) | file_set(2) | file_set(5) | file_set(7))).any();
        let drive = drive_together(self.strong.king, self.weak.king);
        self.value(if draws { drive } else { VALUES[QUEEN] - VALUES[PAWN] + drive })
    }

    /// Rook's pawns whose last square the bishop (if any) does not control, with the enemy king there.
    fn is_wrong_bishop(&self) -> bool {
        let pawns = self.strong.pieces[PAWN];
        let file_a = (pawns & !file_set(0)).0 == 0;
        if !file_a && (pawns & !file_set(7)).any() {
            return false;
        }
        let corner = square(if file_a { 56 } else { 63 });
        let bishop = self.strong.pieces[BISHOP];
        let guarded = bishop.any() && DARK_SQUARES.has(corner) == (bishop & DARK_SQUARES).any();
        !guarded && distance(self.weak.king, corner) <= 1
    }

    /// Rook and pawn against rook: the defenses of Philidor and on the back rank, by their geometry.
    fn is_drawn_rook_ending(&self) -> bool {
        let (king, pawn) = (self.strong.king, self.strong.the(PAWN));
        let (enemy, defender) = (self.weak.king, self.weak.the(ROOK));
        let step = rank(pawn);
        let goal = square(56 + file(pawn));
        if distance(enemy, goal) > 1 {
            return false;
        }
        // Philidor: the king holds the queening square, the rook the rank that king and pawn want.
        let third_rank = step <= 4 && rank(king) <= 4 && rank(defender) == 5;
        // When the pawn has come to the sixth rank, the rook checks from behind.
        let checks = step == 5
            && rank(king) + usize::from(self.strong_moves) <= 5
            && (rank(defender) == 0 || (!self.strong_moves && file(defender).abs_diff(file(pawn)) >= 3));
        let late =
            step >= 5 && enemy == goal && rank(defender) == 0 && (!self.strong_moves || distance(king, pawn) >= 2);
        third_rank || checks || late
    }

    /// A rook that a pawn defends on its third rank keeps the enemy king out for ever.
    fn is_rook_fortress(&self) -> bool {
        let (rook, king) = (self.weak.the(ROOK), self.weak.king);
        let defenders = self.weak.pieces[PAWN] & rank_set(6) & attacks::king(king);
        rank(king) >= 6
            && rank(self.strong.king) <= 3
            && rank(rook) == 5
            && (defenders & attacks::pawn(Color::White, rook)).any()
    }

    fn opposite_bishops(&self) -> bool {
        (self.strong.pieces[BISHOP] & DARK_SQUARES).any() != (self.weak.pieces[BISHOP] & DARK_SQUARES).any()
    }

    /// Bishops that never meet: a few pawns more are often not enough.
    fn opposite_bishops_scale(&self) -> i32 {
        let alone = self.strong.value(ROOK) + self.weak.value(ROOK) == 0;
        if !alone {
            return 52;
        }
        let guards = self.weak.pieces[PAWN].flip().fill_north().flip();
        let span = guards | guards.adjacent_files();
        let passed = (self.strong.pieces[PAWN] & !span.south()).len() as i32;
        (22 + 8 * passed).min(FULL_SCALE)
    }

    /// Without pawns a player needs more than a bishop's advantage to win.
    fn without_pawns(&self) -> Known {
        let (strong, weak) = (self.strong.value(KNIGHT), self.weak.value(KNIGHT));
        if strong - weak > VALUES[BISHOP] {
            return Known::None;
        }
        self.scale(match (strong, weak) {
            (..1000, _) => 0,
            (_, ..=680) => 6,
            _ => 16,
        })
    }
}

/// More for a king nearer to the edge, 0 to 90.
fn drive_to_edge(king: Square) -> i32 {
    let ranks = edge_distance(rank(king)) as i32;
    let files = edge_distance(file(king)) as i32;
    90 - 5 * (ranks * ranks + files * files)
}

/// More for kings closer together, 0 to 120.
fn drive_together(one: Square, other: Square) -> i32 {
    140 - 20 * distance(one, other) as i32
}

/// More for a king nearer to a corner of the bishop's color, 0 to 245.
fn drive_to_corner(king: Square, bishop: BitBoard) -> i32 {
    let (rank, file) = (rank(king) as i32, file(king) as i32);
    let corner_distance = if (bishop & DARK_SQUARES).any() {
        (7 - (rank + file - 7).abs()).abs()
    } else {
        (7 - (rank - file).abs()).abs()
    };
    245 - 35 * corner_distance
}
