//! [Endgame](https://www.chessprogramming.org/Endgame) evaluations and scale factors, after Stockfish: draws, wins that
//! need a plan, and advantages that cannot be won.
//!
//! A sum of weights cannot express that a king must be driven into the right corner, or that two knights cannot mate.
//! Search applies these functions to the linear evaluation when few pieces are left. Training does not, so that the
//! trained value is linear (Tseng, Chen, Wu exclude such functions too, "since their evaluations are absolutely
//! correct").
//!
//! All functions are written for the strong side, which moves up the board; the board is flipped if that is Black.

mod kpk;
#[cfg(test)]
mod tests;

use crate::board::squares::*;
use crate::board::{BitBoard, Board, Color, PIECES, Piece, Square, attacks};
use crate::eval::terms::{BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK};
use std::cmp::Ordering;

/// An endgame evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndgameEval {
    /// Replaces the evaluation, for the side to move. A known win is at least [`KNOWN_WIN`] and below all mates.
    Value(i32),
    /// Scales the evaluation if it favors this color, in units of 1/[`FULL_SCALE`].
    ScaleFactor(Color, i32),
}

pub(crate) const KNOWN_WIN: i32 = 10_000;
/// The scale factor that leaves an evaluation unchanged.
pub(crate) const FULL_SCALE: i32 = 64;

const KNOWN_DRAW: Option<EndgameEval> = Some(EndgameEval::Value(0));

/// Most pieces of an endgame, kings included and pawns not.
const MAX_PIECES: u32 = 8;

/// Scale factors in units of 1/[`FULL_SCALE`].
mod scale {
    /// An advantage that cannot be won.
    pub(crate) const ZERO: i32 = 0;
    /// Opposite bishops without other pieces.
    pub(crate) const OPPOSITE_BISHOPS: i32 = 22;
    /// Added for each passed pawn of the strong side.
    pub(crate) const PER_PASSED_PAWN: i32 = 8;
    pub(crate) const OPPOSITE_BISHOPS_WITH_PIECES: i32 = 52;
    /// The strong side has no pawns and is ahead by at most a bishop, against at most a minor piece.
    pub(crate) const NO_PAWNS_AGAINST_MINOR: i32 = 6;
    /// As [`NO_PAWNS_AGAINST_MINOR`], against more.
    pub(crate) const NO_PAWNS: i32 = 16;
}

/// Values of pawn, knight, bishop, rook and queen in search units, which determine the strong side. A queen is worth
/// less relative to the other pieces than in [`PIECE_VALUES`](crate::board::PIECE_VALUES).
const VALUES: [i32; 5] = [200, 650, 680, 1000, 1900];

/// Largest material value in a known win, which keeps it below mates.
const MAX_MATERIAL: i32 = 9_000;

/// The endgame evaluation of `board`, if it has one. With equal material the strong side is `ahead`, the color that the
/// evaluation favors.
pub(crate) fn probe(board: &Board, ahead: Color) -> Option<EndgameEval> {
    let pieces = board.occupied() & !board.pieces(Piece::Pawn);
    if pieces.popcnt() > MAX_PIECES {
        return None;
    }
    Endgame::new(board, ahead).probe(board)
}

/// The part of a correction that applies to `value`, a static evaluation for the side to move, in units of
/// 1/[`FULL_SCALE`]: 0 where `value` is known, since the errors that a search finds are those of the weights.
pub(crate) fn correction_scale(board: &Board, value: i32) -> i32 {
    let us = board.side_to_move();
    let ahead = if value >= 0 { us } else { !us };
    match probe(board, ahead) {
        Some(EndgameEval::Value(_)) => 0,
        Some(EndgameEval::ScaleFactor(color, scale)) if color == ahead || value == 0 => scale,
        Some(EndgameEval::ScaleFactor(..)) | None => FULL_SCALE,
    }
}

struct EndgameSide {
    pieces: [BitBoard; 6],
    /// Numbers of pawns, knights, bishops, rooks, queens.
    counts: [usize; 5],
    king: Square,
}

impl EndgameSide {
    fn new(board: &Board, color: Color, flip: bool) -> Self {
        let pieces = PIECES.map(|piece| {
            let squares = board.colored(color, piece);
            if flip { squares.flip() } else { squares }
        });
        Self { pieces, counts: std::array::from_fn(|piece| pieces[piece].len()), king: pieces[KING].to_square() }
    }

    fn material(&self, from: usize) -> i32 {
        (from..KING).map(|piece| VALUES[piece] * self.counts[piece] as i32).sum()
    }

    fn is_bare(&self) -> bool {
        self.counts == [0; 5]
    }

    /// The square of the only piece of this type.
    fn square_of(&self, piece: usize) -> Square {
        self.pieces[piece].to_square()
    }

    fn bishops_on_both_colors(&self) -> bool {
        (self.pieces[BISHOP] & DARK_SQUARES).any() && (self.pieces[BISHOP] & !DARK_SQUARES).any()
    }
}

/// A position from the point of view of the strong side.
struct Endgame {
    strong: EndgameSide,
    weak: EndgameSide,
    color: Color,
    strong_to_move: bool,
}

impl Endgame {
    fn new(board: &Board, ahead: Color) -> Self {
        let white = EndgameSide::new(board, Color::White, false);
        let black = EndgameSide::new(board, Color::Black, false);
        let color = match white.material(PAWN).cmp(&black.material(PAWN)) {
            Ordering::Greater => Color::White,
            Ordering::Less => Color::Black,
            Ordering::Equal => ahead,
        };
        let (strong, weak) = match color {
            Color::White => (white, black),
            Color::Black => (EndgameSide::new(board, Color::Black, true), EndgameSide::new(board, Color::White, true)),
        };
        Self { strong, weak, color, strong_to_move: board.side_to_move() == color }
    }

    fn probe(&self, board: &Board) -> Option<EndgameEval> {
        let (strong, weak) = (self.strong.counts, self.weak.counts);
        if self.weak.is_bare() {
            return self.against_bare_king(board);
        }
        match (strong, weak) {
            // Single minor pieces without pawns.
            ([0, 1, 0, 0, 0] | [0, 0, 1, 0, 0], [0, 1, 0, 0, 0] | [0, 0, 1, 0, 0]) => KNOWN_DRAW,
            ([0, 2, 0, 0, 0], [1, 0, 0, 0, 0]) => self.two_knights_against_pawn(),
            ([0, 0, 0, 1, 0], [1, 0, 0, 0, 0]) => self.rook_against_pawn(),
            ([0, 0, 0, 1, 0], [0, 0, 1, 0, 0]) => self.value(drive_to_edge(self.weak.king)),
            ([0, 0, 0, 1, 0], [0, 1, 0, 0, 0]) => self.rook_against_knight(),
            ([0, 0, 0, 0, 1], [1, 0, 0, 0, 0]) => self.queen_against_pawn(),
            ([0, 0, 0, 0, 1], [0, 1, 0, 0, 0] | [0, 0, 1, 0, 0] | [0, 0, 0, 1, 0]) => {
                let drive = drive_to_edge(self.weak.king) + drive_together(self.strong.king, self.weak.king);
                self.value(VALUES[QUEEN] - self.weak.material(KNIGHT) + 2 * drive)
            }
            ([1, 0, 0, 1, 0], [0, 0, 0, 1, 0]) if self.is_drawn_rook_ending() => self.scale(scale::ZERO),
            ([0, 0, 0, 0, 1], [_, 0, 0, 1, 0]) if self.is_rook_fortress() => self.scale(scale::ZERO),
            ([_, 0, 1, 0, 0], [_, 0, 0, 0, 0]) if self.is_wrong_bishop() => self.scale(scale::ZERO),
            ([_, 0, 1, _, _], [_, 0, 1, _, _]) if self.opposite_bishops() => self.scale(self.opposite_bishops_scale()),
            ([0, ..], _) => self.without_pawns(),
            _ => None,
        }
    }

    /// A value for the strong side.
    fn value(&self, value: i32) -> Option<EndgameEval> {
        Some(EndgameEval::Value(if self.strong_to_move { value } else { -value }))
    }

    fn scale(&self, scale: i32) -> Option<EndgameEval> {
        Some(EndgameEval::ScaleFactor(self.color, scale))
    }

    fn against_bare_king(&self, board: &Board) -> Option<EndgameEval> {
        let strong = &self.strong;
        match strong.counts {
            [0, 0, 0, 0, 0] | [0, 1 | 2, 0, 0, 0] => KNOWN_DRAW,
            [0, 0, _, 0, 0] if !strong.bishops_on_both_colors() => KNOWN_DRAW,
            [1, 0, 0, 0, 0] => self.pawn_against_king(),
            [_, 0, 0 | 1, 0, 0] if self.is_wrong_bishop() => self.scale(scale::ZERO),
            [0, 1, 1, 0, 0] => {
                let corner = drive_to_corner(self.weak.king, strong.pieces[BISHOP]);
                self.win(board, 3 * corner + drive_together(strong.king, self.weak.king))
            }
            [_, _, _, 0, 0] if !self.mates_without_pawns() => None,
            _ => self.win(board, 2 * drive_to_edge(self.weak.king) + drive_together(strong.king, self.weak.king)),
        }
    }

    /// Whether knights and bishops suffice for mate.
    fn mates_without_pawns(&self) -> bool {
        let [_, knights, bishops, ..] = self.strong.counts;
        self.strong.bishops_on_both_colors() || (knights > 0 && bishops > 0) || knights > 2
    }

    /// A known win by driving the king to the edge or corner, unless the position is stalemate.
    fn win(&self, board: &Board, drive: i32) -> Option<EndgameEval> {
        if !self.strong_to_move && !board.in_check() && !board.has_legal_move() {
            return KNOWN_DRAW;
        }
        self.value(KNOWN_WIN + self.strong.material(PAWN).min(MAX_MATERIAL) + drive)
    }

    fn pawn_against_king(&self) -> Option<EndgameEval> {
        let pawn = self.strong.square_of(PAWN);
        if !kpk::is_won(self.strong.king, pawn, self.weak.king, self.strong_to_move) {
            return KNOWN_DRAW;
        }
        let rank = rank(pawn) as i32;
        self.value(KNOWN_WIN + VALUES[PAWN] + 60 * rank)
    }

    /// Two knights mate only while the pawn prevents stalemate: the further advanced the pawn, the lower the value.
    fn two_knights_against_pawn(&self) -> Option<EndgameEval> {
        let pawn = 7 - rank(self.weak.square_of(PAWN)) as i32;
        let drive = drive_to_edge(self.weak.king) + drive_together(self.strong.king, self.weak.king);
        self.value(drive / 2 - 20 * pawn)
    }

    /// A win if the strong king is in front of the pawn or the weak king is far from it; drawish if the pawn is
    /// advanced and supported by its king.
    fn rook_against_pawn(&self) -> Option<EndgameEval> {
        let (king, enemy) = (self.strong.king, self.weak.king);
        let (rook, pawn) = (self.strong.square_of(ROOK), self.weak.square_of(PAWN));
        let goal = square(file(pawn));
        let steps = |from: Square, to: Square| distance(from, to) as i32;
        let our_move = i32::from(self.strong_to_move);
        let before_pawn = file(king) == file(pawn) && rank(king) < rank(pawn);
        let far = steps(enemy, pawn) >= 3 + i32::from(!self.strong_to_move) && steps(enemy, rook) >= 3;
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

    /// The farther the knight is from its king, the easier it is to win.
    fn rook_against_knight(&self) -> Option<EndgameEval> {
        let apart = distance(self.weak.king, self.weak.square_of(KNIGHT)) as i32;
        self.value(drive_to_edge(self.weak.king) + 12 * apart)
    }

    /// Won, unless the pawn is a rook or bishop pawn on its 7th rank with its king next to it.
    fn queen_against_pawn(&self) -> Option<EndgameEval> {
        let pawn = self.weak.square_of(PAWN);
        let draws = rank(pawn) == 1
            && distance(self.weak.king, pawn) == 1
            && (file_set(file(pawn)) & (file_set(0) | file_set(2) | file_set(5) | file_set(7))).any();
        let drive = drive_together(self.strong.king, self.weak.king);
        self.value(if draws { drive } else { VALUES[QUEEN] - VALUES[PAWN] + drive })
    }

    /// [Wrong bishop](https://www.chessprogramming.org/Wrong_Color_Bishop): all pawns are on one rook file, no bishop
    /// controls the promotion square, and the weak king is on it or next to it.
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

    /// Rook and pawn against rook: the [Philidor](https://en.wikipedia.org/wiki/Philidor_position) and the back-rank
    /// defense.
    fn is_drawn_rook_ending(&self) -> bool {
        let (king, pawn) = (self.strong.king, self.strong.square_of(PAWN));
        let (enemy, defender) = (self.weak.king, self.weak.square_of(ROOK));
        let step = rank(pawn);
        let goal = square(56 + file(pawn));
        if distance(enemy, goal) > 1 {
            return false;
        }
        // Philidor: the weak king on the promotion square or next to it, its rook on its third rank.
        let third_rank = step <= 4 && rank(king) <= 4 && rank(defender) == 5;
        // Against a pawn on the 6th rank the rook checks from behind.
        let checks = step == 5
            && rank(king) + usize::from(self.strong_to_move) <= 5
            && (rank(defender) == 0 || (!self.strong_to_move && file(defender).abs_diff(file(pawn)) >= 3));
        let late =
            step >= 5 && enemy == goal && rank(defender) == 0 && (!self.strong_to_move || distance(king, pawn) >= 2);
        third_rank || checks || late
    }

    /// Fortress against a queen: a rook on its third rank, defended by a pawn, keeps the strong king out.
    fn is_rook_fortress(&self) -> bool {
        let (rook, king) = (self.weak.square_of(ROOK), self.weak.king);
        let defenders = self.weak.pieces[PAWN] & rank_set(6) & attacks::king(king);
        rank(king) >= 6
            && rank(self.strong.king) <= 3
            && rank(rook) == 5
            && (defenders & attacks::pawn(Color::White, rook)).any()
    }

    fn opposite_bishops(&self) -> bool {
        (self.strong.pieces[BISHOP] & DARK_SQUARES).any() != (self.weak.pieces[BISHOP] & DARK_SQUARES).any()
    }

    /// With [opposite bishops](https://www.chessprogramming.org/Bishops_of_Opposite_Colors) extra pawns often do not
    /// suffice.
    fn opposite_bishops_scale(&self) -> i32 {
        let alone = self.strong.material(ROOK) + self.weak.material(ROOK) == 0;
        if !alone {
            return scale::OPPOSITE_BISHOPS_WITH_PIECES;
        }
        let guards = self.weak.pieces[PAWN].flip().fill_north().flip();
        let span = guards | guards.adjacent_files();
        let passed = (self.strong.pieces[PAWN] & !span.south()).len() as i32;
        (scale::OPPOSITE_BISHOPS + scale::PER_PASSED_PAWN * passed).min(FULL_SCALE)
    }

    /// Without pawns the strong side needs an advantage of more than a bishop.
    fn without_pawns(&self) -> Option<EndgameEval> {
        let (strong, weak) = (self.strong.material(KNIGHT), self.weak.material(KNIGHT));
        if strong - weak > VALUES[BISHOP] {
            return None;
        }
        self.scale(match (strong, weak) {
            (strong, _) if strong < VALUES[ROOK] => scale::ZERO,
            (_, weak) if weak <= VALUES[BISHOP] => scale::NO_PAWNS_AGAINST_MINOR,
            _ => scale::NO_PAWNS,
        })
    }
}

/// Bonus for a king near the edge, 0 to 90.
fn drive_to_edge(king: Square) -> i32 {
    let ranks = edge_distance(rank(king)) as i32;
    let files = edge_distance(file(king)) as i32;
    90 - 5 * (ranks * ranks + files * files)
}

/// Bonus for kings close together, 0 to 120.
fn drive_together(one: Square, other: Square) -> i32 {
    140 - 20 * distance(one, other) as i32
}

/// Bonus for a king near a corner of the bishop's color, 0 to 245.
fn drive_to_corner(king: Square, bishop: BitBoard) -> i32 {
    let (rank, file) = (rank(king) as i32, file(king) as i32);
    let corner_distance = if (bishop & DARK_SQUARES).any() {
        (7 - (rank + file - 7).abs()).abs()
    } else {
        (7 - (rank - file).abs()).abs()
    };
    245 - 35 * corner_distance
}
