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
    /// One of several pawns on a file.
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
    /// What it is.
    pub kind: Kind,
    /// Whose it is.
    pub color: Color,
    /// Where it is; a bishop pair has no place.
    pub square: Option<Square>,
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
    /// The features of a kind and a side on a board.
    fn all(kind: Kind, color: Color, board: &Board) -> Vec<Feature> {
        let king = square_set(board.king(color));
        let squares = match kind {
            Kind::Passed => passed(board, color),
            Kind::Isolated => isolated(board, color),
            Kind::Doubled => doubled(board, color),
            Kind::BishopPair => {
                let pair = Feature { kind, color, square: None };
                return has_bishop_pair(board, color).then_some(pair).into_iter().collect();
            }
            Kind::RookFile(open) => {
                subset(board.colored(color, Piece::Rook), |square| rook_file(board, color, square) == Some(open))
            }
            Kind::Outpost => outposts(board, color),
            Kind::BadBishop => bad_bishops(board, color),
            Kind::Sheltered => subset(king, |square| is_sheltered(color, square)),
            Kind::LostCastling => subset(king, |square| is_central(square) && !board.can_castle(color)),
            Kind::NoShield => open_shield(board, color),
        };
        each(squares).map(|square| Feature { kind, color, square: Some(square) }).collect()
    }

    /// Whether the position has the feature.
    pub fn is_on(&self, board: &Board) -> bool {
        Feature::all(self.kind, self.color, board).contains(self)
    }

    /// The feature as a clause.
    pub fn clause(&self) -> String {
        let side = color_name(self.color);
        let (square, file) =
            self.square.map_or_else(Default::default, |square| (square.to_string(), file_name(square)));
        match self.kind {
            Kind::Passed => format!("{side} has a passed pawn on {square}"),
            Kind::Isolated => format!("{side} has an isolated pawn on {square}"),
            Kind::Doubled => format!("{side} has doubled pawns on the {file}-file"),
            Kind::BishopPair => format!("{side} has the bishop pair"),
            Kind::RookFile(true) => format!("{side}'s rook stands on the open {file}-file"),
            Kind::RookFile(false) => format!("{side}'s rook stands on the half-open {file}-file"),
            Kind::Outpost => format!("{side}'s knight has {square}, where no pawn can attack it"),
            Kind::BadBishop => format!("{side} has a bad bishop on {square}, behind own pawns on its color"),
            Kind::Sheltered => format!("{side}'s king is out of the center on {square}"),
            Kind::LostCastling => format!("{side}'s king can no longer castle"),
            Kind::NoShield => format!("no pawn covers {side}'s king on the {file}-file"),
        }
    }

    /// Whether two features of a side differ in a square of the same file alone, as a passed pawn that advances.
    fn is_like(&self, other: &Feature) -> bool {
        let is_same_file = self.square.map(file) == other.square.map(file);
        std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
            && (is_same_file || self.kind == Kind::BadBishop)
    }
}

impl Reason {
    /// Whether the reason holds: one line's end has the feature, the other's has not.
    pub fn holds(&self, leaves: [&Board; 2]) -> bool {
        self.feature.is_on(leaves[self.line]) && !self.feature.is_on(leaves[1 - self.line])
    }
}

/// Reasons that a topic in favor of the better line can give, the most telling first. `mover` is the side that chooses.
pub(super) fn reasons(topic: &TopicSum, leaves: [&Board; 2], mover: Color) -> Vec<Reason> {
    // A feature that is good for its side counts for the mover in the better line and for the opponent in the other,
    // and a bad one the other way around.
    let of = |color: Color, is_good: bool, kinds: &[Kind]| -> Vec<Reason> {
        let line = usize::from((color == mover) != is_good);
        let [with, without] = [line, 1 - line].map(|line| {
            let found = kinds.iter().flat_map(|&kind| Feature::all(kind, color, leaves[line]));
            let mut found: Vec<Feature> = found.filter(|feature| is_telling(feature, leaves[line])).collect();
            found.sort_by_key(|feature| feature.square.map(|square| square.to_index()));
            found
        });
        let only = with.into_iter().filter(|feature| !without.iter().any(|other| other.is_like(feature)));
        only.map(|feature| Reason { line, feature }).collect()
    };
    match topic.topic {
        Topic::Family(Family::Passed, color) => of(color, true, &[Kind::Passed]),
        Topic::Family(Family::Pawns, color) => {
            let weak = [Kind::Isolated, Kind::Doubled].map(|kind| of(color, false, &[kind])).concat();
            [weak, of(color, true, &[Kind::Passed])].concat()
        }
        Topic::Family(Family::Pieces, color) => [
            of(color, true, &[Kind::RookFile(true), Kind::RookFile(false)]),
            of(color, true, &[Kind::Outpost]),
            of(color, false, &[Kind::BadBishop]),
        ]
        .concat(),
        Topic::Piece(color, Piece::Knight, _) => of(color, true, &[Kind::Outpost]),
        Topic::Family(Family::King, color) => {
            let line = usize::from(color == mover);
            let [own, other] = [line, 1 - line].map(|line| Feature::all(Kind::NoShield, color, leaves[line]));
            let new = own.iter().find(|feature| !other.iter().any(|other| other.is_like(feature)));
            let new = new.filter(|_| own.len() > other.len()).map(|&feature| Reason { line, feature });
            of(color, false, &[Kind::LostCastling]).into_iter().chain(new).collect()
        }
        Topic::Material => COLORS.map(|color| of(color, true, &[Kind::BishopPair])).concat(),
        Topic::Piece(color, Piece::King, places) => {
            let line = usize::from(color != mover);
            let castled = is_sheltered(color, places[line]) && is_central(places[1 - line]);
            let feature = Feature { kind: Kind::Sheltered, color, square: Some(places[line]) };
            castled.then_some(Reason { line, feature }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Of doubled pawns the foremost is named, and castling matters while there are queens.
fn is_telling(feature: &Feature, board: &Board) -> bool {
    let own = board.colored(feature.color, Piece::Pawn);
    match (feature.kind, feature.square) {
        (Kind::Doubled, Some(square)) => (front_span(feature.color, square) & own).is_empty(),
        (Kind::LostCastling, _) => board.pieces(Piece::Queen).any(),
        _ => true,
    }
}

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

fn subset(set: BitBoard, holds: impl Fn(Square) -> bool) -> BitBoard {
    each(set).filter(|&square| holds(square)).fold(EMPTY, |set, square| set | square_set(square))
}

/// Sets of pawns and their attacks, as the evaluation finds them.
fn pawn_side(board: &Board, color: Color) -> PawnSide {
    pawn_terms(board, &mut ())[color.to_index()]
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
    if is_at_home {
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
