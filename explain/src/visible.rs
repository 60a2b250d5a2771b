//! What a player sees on a board and names: passed pawns, open files, weak pawns, the safety of a king.
//!
//! Each [`Feature`] can be checked on a position by itself, so that a sentence claims only what is there.

use super::difference::{Topic, TopicSum};
use super::motif::in_danger;
use dyad_engine::board::squares::{CENTER_FILES, DARK_SQUARES, ahead, behind, file, rank, relative_square};
use dyad_engine::board::{
    BitBoard, Board, COLORS, Color, EMPTY, Piece, Square, Squares, attacks, color_name, each, square_set,
};
use dyad_engine::eval::layout::Family;
use dyad_engine::eval::terms::{PawnSide, pawn_terms};

/// Something that can be seen on a board, of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A passed pawn.
    Passed(Color, Square),
    /// An isolated pawn that is not passed.
    Isolated(Color, Square),
    /// Doubled pawns on the file of this square.
    Doubled(Color, Square),
    /// Two bishops against fewer.
    BishopPair(Color),
    /// A rook on an open file, or on a half-open one if `false`.
    RookFile(Color, Square, bool),
    /// A knight that a pawn defends and no enemy pawn can attack; far in, it needs no pawn.
    Outpost(Color, Square),
    /// A bishop with few squares behind its own pawns: see [`bad_bishops`].
    BadBishop(Color, Square),
    /// A king that has left the center, on this square.
    Sheltered(Color, Square),
    /// A king in the center that may no longer castle.
    LostCastling(Color, Square),
    /// A file next to a king without a pawn of its side.
    NoShield(Color, Square),
}

/// A feature that exists at the end of one line and not at that of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The line that has it: 0 for the better move, 1 for the other.
    pub line: usize,
    /// The feature.
    pub feature: Feature,
}

impl Feature {
    /// Whether the position has the feature.
    #[must_use]
    pub fn is_on(&self, board: &Board) -> bool {
        match *self {
            Feature::Passed(color, square) => passed(board, color).has(square),
            Feature::Isolated(color, square) => isolated(board, color).has(square),
            Feature::Doubled(color, square) => doubled(board, color).has(square),
            Feature::BishopPair(color) => has_bishop_pair(board, color),
            Feature::RookFile(color, square, open) => rook_file(board, color, square) == Some(open),
            Feature::Outpost(color, square) => outposts(board, color).has(square),
            Feature::BadBishop(color, square) => bad_bishops(board, color).has(square),
            Feature::Sheltered(color, square) => board.king(color) == square && is_sheltered(color, square),
            Feature::LostCastling(color, square) => {
                board.king(color) == square && is_central(square) && !board.can_castle(color)
            }
            Feature::NoShield(color, square) => open_shield(board, color).has(square),
        }
    }

    /// The square to mark on the board.
    #[must_use]
    pub fn square(&self) -> Option<Square> {
        match self {
            Feature::BishopPair(_) => None,
            Feature::Passed(_, square)
            | Feature::Isolated(_, square)
            | Feature::Doubled(_, square)
            | Feature::RookFile(_, square, _)
            | Feature::Outpost(_, square)
            | Feature::BadBishop(_, square)
            | Feature::Sheltered(_, square)
            | Feature::LostCastling(_, square)
            | Feature::NoShield(_, square) => Some(*square),
        }
    }

    /// The feature as a clause.
    #[must_use]
    pub fn clause(&self) -> String {
        let of = |color: &Color| color_name(*color);
        match self {
            Feature::Passed(color, square) => format!("{} has a passed pawn on {square}", of(color)),
            Feature::Isolated(color, square) => format!("{} has an isolated pawn on {square}", of(color)),
            Feature::Doubled(color, square) => {
                format!("{} has doubled pawns on the {}-file", of(color), file_name(*square))
            }
            Feature::BishopPair(color) => format!("{} has the bishop pair", of(color)),
            Feature::RookFile(color, square, open) => {
                let kind = if *open { "open" } else { "half-open" };
                format!("{}'s rook stands on the {kind} {}-file", of(color), file_name(*square))
            }
            Feature::Outpost(color, square) => {
                format!("{}'s knight has {square}, where no pawn can attack it", of(color))
            }
            Feature::BadBishop(color, square) => {
                format!("{} has a bad bishop on {square}, behind own pawns on its color", of(color))
            }
            Feature::Sheltered(color, square) => format!("{}'s king is out of the center on {square}", of(color)),
            Feature::LostCastling(color, _) => format!("{}'s king can no longer castle", of(color)),
            Feature::NoShield(color, square) => {
                format!("no pawn covers {}'s king on the {}-file", of(color), file_name(*square))
            }
        }
    }

    /// Whether two features differ in a square of the same file alone, as a passed pawn that advances.
    fn is_like(&self, other: &Feature) -> bool {
        if let (Feature::BadBishop(..), Feature::BadBishop(..)) = (self, other) {
            return true;
        }
        let same_file = match (self.square(), other.square()) {
            (Some(one), Some(two)) => file(one) == file(two),
            (one, two) => one == two,
        };
        same_file && std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Reason {
    /// Whether the reason holds: one line's end has the feature, the other's has not.
    #[must_use]
    pub fn holds(&self, leaves: [&Board; 2]) -> bool {
        self.feature.is_on(leaves[self.line]) && !self.feature.is_on(leaves[1 - self.line])
    }
}

/// Reasons that a topic in favor of the better line can give, the most telling first. `mover` is the side that chooses.
pub(super) fn reasons(topic: &TopicSum, leaves: [&Board; 2], mover: Color) -> Vec<Reason> {
    let mut found = Vec::new();
    // A feature that is good for its side counts for the mover in the better line and for the opponent in the other.
    let mut good = |color: Color, list: &dyn Fn(&Board) -> Vec<Feature>| {
        let line = usize::from(color != mover);
        let (with, without) = (list(leaves[line]), list(leaves[1 - line]));
        let only = with.into_iter().filter(|feature| !without.iter().any(|other| other.is_like(feature)));
        found.extend(only.map(|feature| Reason { line, feature }));
    };
    let squares = |set: BitBoard, feature: &dyn Fn(Square) -> Feature| each(set).map(feature).collect::<Vec<_>>();
    match topic.topic {
        Topic::Family(Family::Passed, color) => {
            good(color, &|board| squares(passed(board, color), &|square| Feature::Passed(color, square)));
        }
        Topic::Family(Family::Pawns, color) => {
            // Weak pawns are good for the other side.
            good(!color, &|board| squares(isolated(board, color), &|square| Feature::Isolated(color, square)));
            good(!color, &|board| squares(front_doubled(board, color), &|square| Feature::Doubled(color, square)));
            good(color, &|board| squares(passed(board, color), &|square| Feature::Passed(color, square)));
        }
        Topic::Family(Family::Pieces, color) => {
            good(color, &|board| {
                each(board.colored(color, Piece::Rook))
                    .filter_map(|square| Some(Feature::RookFile(color, square, rook_file(board, color, square)?)))
                    .collect()
            });
            good(color, &|board| squares(outposts(board, color), &|square| Feature::Outpost(color, square)));
            // A bad bishop is good for the other side.
            good(!color, &|board| squares(bad_bishops(board, color), &|square| Feature::BadBishop(color, square)));
        }
        Topic::Piece(color, Piece::Knight, _) => {
            good(color, &|board| squares(outposts(board, color), &|square| Feature::Outpost(color, square)));
        }
        Topic::Family(Family::King, color) => {
            good(!color, &|board| {
                let king = board.king(color);
                let lost = is_central(king) && !board.can_castle(color) && board.pieces(Piece::Queen).any();
                lost.then_some(Feature::LostCastling(color, king)).into_iter().collect()
            });
            let line = usize::from(color == mover);
            let shields = [0, 1].map(|line: usize| open_shield(leaves[line], color));
            let (own, other) = (shields[line], shields[1 - line]);
            if own.len() > other.len() {
                let files = |set: BitBoard| each(set).map(|square| square.get_file()).collect::<Vec<_>>();
                let square = each(own).find(|square| !files(other).contains(&square.get_file()));
                found.extend(square.map(|square| Reason { line, feature: Feature::NoShield(color, square) }));
            }
        }
        Topic::Material => COLORS.into_iter().for_each(|color| {
            good(color, &|board| {
                has_bishop_pair(board, color).then_some(Feature::BishopPair(color)).into_iter().collect()
            });
        }),
        Topic::Piece(color, Piece::King, places) => {
            let line = usize::from(color != mover);
            let castled = is_sheltered(color, places[line]) && is_central(places[1 - line]);
            let feature = Feature::Sheltered(color, places[line]);
            found.extend(castled.then_some(Reason { line, feature }));
        }
        _ => {}
    }
    found
}

/// The letter of a square's file.
pub(super) fn file_name(square: Square) -> char {
    square.to_string().chars().next().unwrap_or_default()
}

/// Squares ahead of `square` on its file as `color` sees it.
fn front_span(color: Color, square: Square) -> BitBoard {
    match color {
        Color::White => ahead(square),
        Color::Black => behind(square),
    }
}

/// The squares of a set that a condition holds for.
fn subset(set: BitBoard, holds: impl Fn(Square) -> bool) -> BitBoard {
    each(set).filter(|&square| holds(square)).fold(EMPTY, |set, square| set | square_set(square))
}

/// Sets of pawns and their attacks, as the evaluation finds them.
fn pawn_side(board: &Board, color: Color) -> PawnSide {
    pawn_terms(board, &mut ()).sides[color.to_index()]
}

fn passed(board: &Board, color: Color) -> BitBoard {
    pawn_side(board, color).passed
}

fn file_of(square: Square) -> BitBoard {
    let set = square_set(square);
    set.fill_north() | set.fill_south()
}

fn isolated(board: &Board, color: Color) -> BitBoard {
    let own = board.colored(color, Piece::Pawn);
    subset(own & !passed(board, color), |square| (file_of(square).adjacent_files() & own).is_empty())
}

fn doubled(board: &Board, color: Color) -> BitBoard {
    let own = board.colored(color, Piece::Pawn);
    subset(own, |square| (file_of(square) & own).more_than_one())
}

/// One pawn for each file with doubled pawns: the foremost.
fn front_doubled(board: &Board, color: Color) -> BitBoard {
    let own = board.colored(color, Piece::Pawn);
    let doubled = doubled(board, color);
    subset(own, |square| doubled.has(square) && (front_span(color, square) & own).is_empty())
}

fn has_bishop_pair(board: &Board, color: Color) -> bool {
    let two = |color| {
        let bishops = board.colored(color, Piece::Bishop);
        (bishops & DARK_SQUARES).any() && (bishops & !DARK_SQUARES).any()
    };
    two(color) && !two(!color)
}

/// Whether the rook's file is open (`true`) or half-open. A rook that has not left its corner is not placed there.
fn rook_file(board: &Board, color: Color, square: Square) -> Option<bool> {
    let is_at_home = rank(relative_square(color, square)) == 0 && matches!(file(square), 0 | 7);
    if is_at_home || !board.colored(color, Piece::Rook).has(square) {
        return None;
    }
    let on_file = |color| (file_of(square) & board.colored(color, Piece::Pawn)).any();
    (!on_file(color)).then(|| !on_file(!color))
}

/// Knights on rank 4 to 6, as `color` sees it, that a pawn defends and no enemy pawn can attack.
fn outposts(board: &Board, color: Color) -> BitBoard {
    let [own, enemy] = [color, !color].map(|color| pawn_side(board, color));
    subset(board.colored(color, Piece::Knight), |square| {
        let from_home = rank(relative_square(color, square));
        let is_held = own.attacks.has(square) || from_home == 5 && !in_danger(board, square);
        (3..=5).contains(&from_home) && !enemy.span.has(square) && is_held
    })
}

/// Bishops with at most four squares and four own pawns on their color, two of them on files c to f and blocked by enemy pawns.
fn bad_bishops(board: &Board, color: Color) -> BitBoard {
    let (occupied, enemy) = (board.occupied(), board.colored(!color, Piece::Pawn));
    subset(board.colored(color, Piece::Bishop), |square| {
        let shade = if DARK_SQUARES.has(square) { DARK_SQUARES } else { !DARK_SQUARES };
        let pawns = board.colored(color, Piece::Pawn) & shade;
        let ahead = match color {
            Color::White => enemy.south(),
            Color::Black => enemy.north(),
        };
        let reach = attacks::of(Piece::Bishop, color, square, occupied) & !board.colors(color);
        pawns.len() >= 4 && (pawns & ahead & CENTER_FILES).more_than_one() && reach.len() <= 4
    })
}

fn is_central(square: Square) -> bool {
    (3..=5).contains(&file(square))
}

/// Whether a king on its first rank has left the center.
fn is_sheltered(color: Color, square: Square) -> bool {
    rank(relative_square(color, square)) == 0 && matches!(file(square), 0..=2 | 6 | 7)
}

/// For each file of a castled king and next to it without an own pawn: its square on the king's rank. Empty without
/// an enemy queen.
fn open_shield(board: &Board, color: Color) -> BitBoard {
    let king = board.king(color);
    if board.colored(!color, Piece::Queen).is_empty() || is_central(king) {
        return EMPTY;
    }
    let near = square_set(king).adjacent_files() | square_set(king);
    let own = board.colored(color, Piece::Pawn);
    subset(near, |square| (file_of(square) & own).is_empty())
}
