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

/// What can be seen on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A passed pawn.
    Passed,
    /// An isolated pawn that is not passed.
    Isolated,
    /// Doubled pawns on the file of the square.
    Doubled,
    /// Two bishops against fewer.
    BishopPair,
    /// A rook on an open file, or on a half-open one if `false`.
    RookFile(bool),
    /// A knight that a pawn defends and no enemy pawn can attack; far in, it needs no pawn.
    Outpost,
    /// A bishop with few squares behind its own pawns: see [`bad_bishops`].
    BadBishop,
    /// A king that has left the center.
    Sheltered,
    /// A king in the center that may no longer castle.
    LostCastling,
    /// A file next to a king without a pawn of its side.
    NoShield,
}

/// Something that can be seen on a board, of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// What.
    pub kind: Kind,
    /// Whose.
    pub color: Color,
    /// Where; that of a pair of bishops is that of its king.
    place: Square,
}

/// A feature that exists at the end of one line and not at that of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The line that has it: 0 for the better move, 1 for the other.
    pub line: usize,
    /// The feature.
    pub feature: Feature,
}

impl Feature {
    /// What a side has on a square.
    #[must_use]
    pub fn new(kind: Kind, color: Color, place: Square) -> Feature {
        Feature { kind, color, place }
    }

    /// Whether the position has the feature.
    #[must_use]
    pub fn is_on(&self, board: &Board) -> bool {
        let Feature { kind, color, place } = *self;
        match kind {
            Kind::Passed => passed(board, color).has(place),
            Kind::Isolated => isolated(board, color).has(place),
            Kind::Doubled => doubled(board, color).has(place),
            Kind::BishopPair => has_bishop_pair(board, color),
            Kind::RookFile(open) => rook_file(board, color, place) == Some(open),
            Kind::Outpost => outposts(board, color).has(place),
            Kind::BadBishop => bad_bishops(board, color).has(place),
            Kind::Sheltered => board.king(color) == place && is_sheltered(color, place),
            Kind::LostCastling => board.king(color) == place && is_central(place) && !board.can_castle(color),
            Kind::NoShield => open_shield(board, color).has(place),
        }
    }

    /// The square to mark on the board.
    #[must_use]
    pub fn square(&self) -> Option<Square> {
        (self.kind != Kind::BishopPair).then_some(self.place)
    }

    /// The feature as a clause.
    #[must_use]
    pub fn clause(&self) -> String {
        let (of, square, file) = (color_name(self.color), self.place, file_name(self.place));
        match self.kind {
            Kind::Passed => format!("{of} has a passed pawn on {square}"),
            Kind::Isolated => format!("{of} has an isolated pawn on {square}"),
            Kind::Doubled => format!("{of} has doubled pawns on the {file}-file"),
            Kind::BishopPair => format!("{of} has the bishop pair"),
            Kind::RookFile(true) => format!("{of}'s rook stands on the open {file}-file"),
            Kind::RookFile(false) => format!("{of}'s rook stands on the half-open {file}-file"),
            Kind::Outpost => format!("{of}'s knight has {square}, where no pawn can attack it"),
            Kind::BadBishop => format!("{of} has a bad bishop on {square}, behind own pawns on its color"),
            Kind::Sheltered => format!("{of}'s king is out of the center on {square}"),
            Kind::LostCastling => format!("{of}'s king can no longer castle"),
            Kind::NoShield => format!("no pawn covers {of}'s king on the {file}-file"),
        }
    }

    /// Whether two features differ in a square of the same file alone, as a passed pawn that advances.
    fn is_like(&self, other: &Feature) -> bool {
        let is_anywhere = matches!(self.kind, Kind::BadBishop | Kind::BishopPair);
        std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
            && (is_anywhere || file(self.place) == file(other.place))
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
    let of = |kind: Kind, color: Color, set: BitBoard| {
        each(set).map(|square| Feature::new(kind, color, square)).collect::<Vec<_>>()
    };
    match topic.topic {
        Topic::Family(Family::Passed, color) => {
            good(color, &|board| of(Kind::Passed, color, passed(board, color)));
        }
        Topic::Family(Family::Pawns, color) => {
            // Weak pawns are good for the other side.
            good(!color, &|board| of(Kind::Isolated, color, isolated(board, color)));
            good(!color, &|board| of(Kind::Doubled, color, front_doubled(board, color)));
            good(color, &|board| of(Kind::Passed, color, passed(board, color)));
        }
        Topic::Family(Family::Pieces, color) => {
            good(color, &|board| {
                let on_file = |square| {
                    let kind = Kind::RookFile(rook_file(board, color, square)?);
                    Some(Feature::new(kind, color, square))
                };
                each(board.colored(color, Piece::Rook)).filter_map(on_file).collect()
            });
            good(color, &|board| of(Kind::Outpost, color, outposts(board, color)));
            // A bad bishop is good for the other side.
            good(!color, &|board| of(Kind::BadBishop, color, bad_bishops(board, color)));
        }
        Topic::Piece(color, Piece::Knight, _) => {
            good(color, &|board| of(Kind::Outpost, color, outposts(board, color)));
        }
        Topic::Family(Family::King, color) => {
            good(!color, &|board| {
                let lost = Feature::new(Kind::LostCastling, color, board.king(color));
                let is_lost = lost.is_on(board) && board.pieces(Piece::Queen).any();
                is_lost.then_some(lost).into_iter().collect()
            });
            let line = usize::from(color == mover);
            let shields = [0, 1].map(|line: usize| open_shield(leaves[line], color));
            let (own, other) = (shields[line], shields[1 - line]);
            if own.len() > other.len() {
                let files = |set: BitBoard| each(set).map(|square| square.get_file()).collect::<Vec<_>>();
                let square = each(own).find(|square| !files(other).contains(&square.get_file()));
                found
                    .extend(square.map(|square| Reason { line, feature: Feature::new(Kind::NoShield, color, square) }));
            }
        }
        Topic::Material => COLORS.into_iter().for_each(|color| {
            good(color, &|board| {
                let pair = Feature::new(Kind::BishopPair, color, board.king(color));
                pair.is_on(board).then_some(pair).into_iter().collect()
            });
        }),
        Topic::Piece(color, Piece::King, places) => {
            let line = usize::from(color != mover);
            let castled = is_sheltered(color, places[line]) && is_central(places[1 - line]);
            let feature = Feature::new(Kind::Sheltered, color, places[line]);
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
