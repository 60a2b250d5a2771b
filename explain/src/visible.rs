//! What a player sees on a board and names: passed pawns, open files, weak pawns, the safety of a king.
//!
//! Each [`Feature`] can be checked on a position by itself, so that a sentence claims only what is there.

use super::difference::{Topic, TopicSum};
use super::line::{attackers, joined};
use dyad_engine::board::squares::{CENTER, DARK_SQUARES, ahead, behind, file, rank, relative_square};
use dyad_engine::board::{
    BitBoard, Board, COLORS, Color, EMPTY, Move, PAWN_UNITS, PIECES, Piece, Square, Squares, attacks, color_name, each,
    piece_name, square_set,
};
use dyad_engine::eval::layout::Family;
use dyad_engine::eval::terms::{PawnSide, pawn_terms};

/// Something that can be seen on a board, of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A passed pawn.
    Passed(Color, Square),
    /// An isolated pawn.
    Isolated(Color, Square),
    /// Doubled pawns on the file of this square.
    Doubled(Color, Square),
    /// Two bishops against fewer.
    BishopPair(Color),
    /// A rook on an open file, or on a half-open one if `false`.
    RookFile(Color, Square, bool),
    /// A knight or bishop that a pawn defends and no enemy pawn can attack.
    Outpost(Color, Piece, Square),
    /// A king that has left the center, on this square.
    Sheltered(Color, Square),
    /// A king in the center that may no longer castle.
    LostCastling(Color, Square),
    /// Squares next to a king that enemy pieces attack and only the king defends, if anything.
    WeakKingSquares(Color, Vec<Square>),
    /// A file next to a king without a pawn of its side.
    NoShield(Color, Square),
    /// A piece and the squares that it can go to without being taken by a pawn.
    Mobile(Color, Piece, Square, usize),
    /// A piece on a square.
    Stands(Color, Piece, Square),
    /// A pawn in the center.
    CenterPawn(Color, Square),
    /// A piece that is attacked and not defended, or attacked by a less valuable one.
    Attacked(Color, Piece, Square),
}

/// A feature that exists at the end of one line and not at that of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The line that has it: 0 for the better move, 1 for the other.
    pub line: usize,
    /// The feature.
    pub feature: Feature,
    /// What stands in its place at the end of the other line, if that is said.
    pub instead: Option<Feature>,
}

impl Feature {
    /// Whether the position has the feature.
    #[must_use]
    pub fn is_on(&self, board: &Board) -> bool {
        let stands = |color, piece, square| board.colored(color, piece).has(square);
        match *self {
            Feature::Passed(color, square) => passed(board, color).has(square),
            Feature::Isolated(color, square) => isolated(board, color).has(square),
            Feature::Doubled(color, square) => doubled(board, color).has(square),
            Feature::BishopPair(color) => has_bishop_pair(board, color),
            Feature::RookFile(color, square, open) => rook_file(board, color, square) == Some(open),
            Feature::Outpost(color, piece, square) => stands(color, piece, square) && is_outpost(board, color, square),
            Feature::Sheltered(color, square) => board.king(color) == square && is_sheltered(color, square),
            Feature::LostCastling(color, square) => {
                board.king(color) == square && is_central(square) && !board.can_castle(color)
            }
            Feature::WeakKingSquares(color, ref squares) => {
                let weak = weak_king_squares(board, color);
                squares.iter().all(|&square| weak.has(square))
            }
            Feature::NoShield(color, square) => open_shield(board, color).has(square),
            Feature::Mobile(color, piece, square, count) => {
                stands(color, piece, square) && mobility(board, color, piece, square) == count
            }
            Feature::Stands(color, piece, square) => stands(color, piece, square),
            Feature::CenterPawn(color, square) => stands(color, Piece::Pawn, square) && CENTER.has(square),
            Feature::Attacked(color, piece, square) => {
                stands(color, piece, square) && is_attacked(board, color, piece, square)
            }
        }
    }

    /// The squares to mark on the board.
    #[must_use]
    pub fn squares(&self) -> Vec<Square> {
        match self {
            Feature::BishopPair(_) => vec![],
            Feature::WeakKingSquares(_, squares) => squares.clone(),
            Feature::Passed(_, square)
            | Feature::Isolated(_, square)
            | Feature::Doubled(_, square)
            | Feature::RookFile(_, square, _)
            | Feature::Outpost(_, _, square)
            | Feature::Sheltered(_, square)
            | Feature::LostCastling(_, square)
            | Feature::NoShield(_, square)
            | Feature::Mobile(_, _, square, _)
            | Feature::Stands(_, _, square)
            | Feature::CenterPawn(_, square)
            | Feature::Attacked(_, _, square) => vec![*square],
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
            Feature::Outpost(color, piece, square) => {
                format!("{}'s {} has an outpost on {square}", of(color), piece_name(*piece))
            }
            Feature::Sheltered(color, square) => format!("{}'s king is out of the center on {square}", of(color)),
            Feature::LostCastling(color, square) => {
                format!("{}'s king stays on {square} and can no longer castle", of(color))
            }
            Feature::WeakKingSquares(color, squares) => {
                let names: Vec<String> = squares.iter().map(ToString::to_string).collect();
                format!("{} attacks {} next to {}'s king", of(&!*color), joined(&names), of(color))
            }
            Feature::NoShield(color, square) => {
                format!("no pawn covers {}'s king on the {}-file", of(color), file_name(*square))
            }
            Feature::Mobile(color, piece, square, count) => {
                let squares = if *count == 1 { "square" } else { "squares" };
                let number = if *count == 0 { "no".to_string() } else { count.to_string() };
                format!("{}'s {} on {square} has {number} {squares} safe from pawns", of(color), piece_name(*piece))
            }
            Feature::Stands(color, piece, square) => {
                format!("{}'s {} stands on {square}", of(color), piece_name(*piece))
            }
            Feature::CenterPawn(color, square) => format!("{} has a pawn on {square} in the center", of(color)),
            Feature::Attacked(color, piece, square) => {
                format!("{} attacks the {} on {square}", of(&!*color), piece_name(*piece))
            }
        }
    }
}

impl Reason {
    /// The reason as a clause about the end of its line.
    #[must_use]
    pub fn clause(&self) -> String {
        match (&self.feature, &self.instead) {
            (feature, Some(Feature::Mobile(.., count))) => format!("{} instead of {count}", feature.clause()),
            (Feature::Stands(color, piece, square), Some(Feature::Stands(_, _, other))) => {
                let (color, piece) = (color_name(*color), piece_name(*piece));
                format!("{color}'s {piece} stands on {square}, not on {other}")
            }
            (feature, _) => feature.clause(),
        }
    }

    /// Whether the reason holds: one line's end has the feature, the other's has not.
    #[must_use]
    pub fn holds(&self, leaves: [&Board; 2]) -> bool {
        let [with, without] = [leaves[self.line], leaves[1 - self.line]];
        self.feature.is_on(with)
            && !self.feature.is_on(without)
            && self.instead.as_ref().is_none_or(|instead| instead.is_on(without))
    }
}

/// Reasons that a topic in favor of the better line can give, the most telling first. `mover` is the side that chooses.
pub(super) fn reasons(topic: &TopicSum, leaves: [&Board; 2], mover: Color) -> Vec<Reason> {
    let mut found = Vec::new();
    // A feature that is good for its side counts for the mover in the better line and for the opponent in the other.
    let mut good = |color: Color, list: &dyn Fn(&Board) -> Vec<Feature>| {
        let line = usize::from(color != mover);
        let (with, without) = (list(leaves[line]), list(leaves[1 - line]));
        let only = with.into_iter().filter(|feature| !without.contains(feature));
        found.extend(only.map(|feature| Reason { line, feature, instead: None }));
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
            good(color, &|board| {
                let minors = [Piece::Knight, Piece::Bishop].into_iter();
                minors
                    .flat_map(|piece| each(board.colored(color, piece)).map(move |square| (piece, square)))
                    .filter(|&(_, square)| is_outpost(board, color, square))
                    .map(|(piece, square)| Feature::Outpost(color, piece, square))
                    .collect()
            });
        }
        Topic::Family(Family::King, color) => {
            good(!color, &|board| {
                let king = board.king(color);
                let lost = is_central(king) && !board.can_castle(color) && board.pieces(Piece::Queen).any();
                lost.then_some(Feature::LostCastling(color, king)).into_iter().collect()
            });
            let line = usize::from(color == mover);
            let [weak, other] = [line, 1 - line].map(|line| weak_king_squares(leaves[line], color));
            let only = weak & !other;
            if weak.len() > other.len() {
                let feature = Feature::WeakKingSquares(color, each(only).take(3).collect());
                found.push(Reason { line, feature, instead: None });
            }
            let shields = [0, 1].map(|line: usize| open_shield(leaves[line], color));
            let (own, other) = (shields[line], shields[1 - line]);
            if own.len() > other.len() {
                let files = |set: BitBoard| each(set).map(|square| square.get_file()).collect::<Vec<_>>();
                let square = each(own).find(|square| !files(other).contains(&square.get_file()));
                found.extend(square.map(|square| Reason {
                    line,
                    feature: Feature::NoShield(color, square),
                    instead: None,
                }));
            }
        }
        Topic::Family(Family::Mobility, color) => found.extend(mobility_reason(color, leaves, mover)),
        Topic::Family(Family::Space, color) => {
            good(color, &|board| {
                squares(board.colored(color, Piece::Pawn) & CENTER, &|square| Feature::CenterPawn(color, square))
            });
        }
        Topic::Family(Family::Threats, color) => {
            good(color, &|board| attacked_pieces(board, !color));
        }
        Topic::Material => COLORS.into_iter().for_each(|color| {
            good(color, &|board| {
                has_bishop_pair(board, color).then_some(Feature::BishopPair(color)).into_iter().collect()
            });
        }),
        Topic::Piece(color, piece, places) if piece != Piece::Pawn => {
            // The mover's piece stands better in the better line; the opponent's in the other.
            let line = usize::from(color != mover);
            if piece == Piece::King {
                let castled = is_sheltered(color, places[line]) && is_central(places[1 - line]);
                let feature = Feature::Sheltered(color, places[line]);
                found.extend(castled.then_some(Reason { line, feature, instead: None }));
            } else if piece != Piece::Bishop || DARK_SQUARES.has(places[0]) == DARK_SQUARES.has(places[1]) {
                let feature = Feature::Stands(color, piece, places[line]);
                let instead = Some(Feature::Stands(color, piece, places[1 - line]));
                found.push(Reason { line, feature, instead });
            }
        }
        _ => {}
    }
    found
}

/// The piece of a side whose mobility differs most between the ends, where it stands on the same square in both, or is
/// the only one of its type.
fn mobility_reason(color: Color, leaves: [&Board; 2], mover: Color) -> Option<Reason> {
    const LEAST: usize = 3;
    let line = usize::from(color != mover);
    let (with, without) = (leaves[line], leaves[1 - line]);
    let pieces = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen].into_iter();
    let places = pieces.flat_map(|piece| {
        let [own, other] = [with, without].map(|board| board.colored(color, piece));
        let single = (own.len() == 1 && other.len() == 1).then(|| [own, other].map(|set| set.to_square()));
        let same = each(own & other).map(|square| [square, square]);
        single.into_iter().chain(same).map(move |places| (piece, places)).collect::<Vec<_>>()
    });
    let counted = places.map(|(piece, [at, elsewhere])| {
        let more = mobility(with, color, piece, at);
        let fewer = mobility(without, color, piece, elsewhere);
        (piece, at, elsewhere, more, fewer)
    });
    let (piece, at, elsewhere, more, fewer) = counted
        .max_by_key(|&(.., more, fewer)| more as i32 - fewer as i32)
        .filter(|&(.., more, fewer)| more >= fewer + LEAST)?;
    // What limits the mover is said of the move played, what frees a piece of the line where it is free.
    let few = Feature::Mobile(color, piece, elsewhere, fewer);
    let many = Feature::Mobile(color, piece, at, more);
    Some(if fewer <= 2 {
        Reason { line: 1 - line, feature: few, instead: Some(many) }
    } else {
        Reason { line, feature: many, instead: Some(few) }
    })
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
    subset(own, |square| (file_of(square).adjacent_files() & own).is_empty())
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

/// Whether the rook's file is open (`true`) or half-open.
fn rook_file(board: &Board, color: Color, square: Square) -> Option<bool> {
    if !board.colored(color, Piece::Rook).has(square) {
        return None;
    }
    let on_file = |color| (file_of(square) & board.colored(color, Piece::Pawn)).any();
    (!on_file(color)).then(|| !on_file(!color))
}

/// Whether a square on rank 4 to 6, as `color` sees it, is defended by an own pawn and safe from enemy pawns.
fn is_outpost(board: &Board, color: Color, square: Square) -> bool {
    let from_home = rank(relative_square(color, square));
    let [own, enemy] = [color, !color].map(|color| pawn_side(board, color));
    (3..=5).contains(&from_home) && !enemy.span.has(square) && own.attacks.has(square)
}

fn is_central(square: Square) -> bool {
    (3..=5).contains(&file(square))
}

/// Whether a king on its first rank has left the center.
fn is_sheltered(color: Color, square: Square) -> bool {
    rank(relative_square(color, square)) == 0 && matches!(file(square), 0..=2 | 6 | 7)
}

/// Squares next to a king that enemy pieces attack and only the king defends.
fn weak_king_squares(board: &Board, color: Color) -> BitBoard {
    let king = board.king(color);
    let defenders = |square: Square| attackers(board, square, color) & !square_set(king);
    let weak = |square: Square| {
        let enemies = attackers(board, square, !color) & !board.pieces(Piece::King);
        enemies.any() && defenders(square).is_empty() && !board.colors(!color).has(square)
    };
    subset(attacks::king(king), weak)
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

/// Squares that a piece can go to: not occupied by its side, not attacked by enemy pawns, and on the line of its pin, if
/// it is pinned to its king.
fn mobility(board: &Board, color: Color, piece: Piece, square: Square) -> usize {
    let attacked = attacks::of(piece, color, square, board.occupied());
    let by_pawns = pawn_side(board, !color).attacks;
    let reached = attacked & !board.colors(color) & !by_pawns;
    let pin = if is_pinned(board, color, square) { attacks::line(board.king(color), square) } else { !EMPTY };
    (reached & pin).len()
}

/// Whether the piece on this square alone keeps an enemy slider from the king of `color`.
fn is_pinned(board: &Board, color: Color, square: Square) -> bool {
    let (king, occupied) = (board.king(color), board.occupied());
    [Piece::Bishop, Piece::Rook].into_iter().any(|slider| {
        let behind = attacks::of(slider, color, king, occupied & !square_set(square))
            & !attacks::of(slider, color, king, occupied);
        let sliders = board.pieces(slider) | board.pieces(Piece::Queen);
        (behind & sliders & board.colors(!color)).any()
    })
}

fn is_attacked(board: &Board, color: Color, piece: Piece, square: Square) -> bool {
    let enemies = attackers(board, square, !color) & !board.pieces(Piece::King);
    let lesser = PIECES[..piece.to_index()].iter().any(|&other| {
        let is_lesser = PAWN_UNITS[other.to_index()] < PAWN_UNITS[piece.to_index()];
        is_lesser && (enemies & board.pieces(other)).any()
    });
    lesser || enemies.any() && attackers(board, square, color).is_empty()
}

/// Pieces of `color`, without pawns and king, that are attacked and undefended, or attacked by a less valuable piece.
fn attacked_pieces(board: &Board, color: Color) -> Vec<Feature> {
    let pieces =
        board.placed_pieces().filter(|one| one.color == color && !matches!(one.piece, Piece::Pawn | Piece::King));
    pieces
        .filter(|one| is_attacked(board, color, one.piece, one.square))
        .map(|one| Feature::Attacked(color, one.piece, one.square))
        .collect()
}

/// The pieces that a move attacks and that were not attacked before: undefended ones, and more valuable ones.
pub(super) fn new_attacks(board: &Board, mv: Move) -> Vec<(Piece, Square)> {
    let after = board.after(mv);
    let enemy = after.side_to_move();
    let before = attacked_pieces(board, enemy);
    let Some(piece) = after.piece_on(mv.to()).filter(|_| !mv.is_castling()) else { return Vec::new() };
    let reach = attacks::of(piece, !enemy, mv.to(), after.occupied());
    let is_new = |feature: &Feature| !before.contains(feature);
    let new = attacked_pieces(&after, enemy).into_iter().filter(is_new);
    let attacked = new.filter_map(|feature| match feature {
        Feature::Attacked(_, piece, square) if reach.has(square) => Some((piece, square)),
        _ => None,
    });
    attacked.collect()
}
