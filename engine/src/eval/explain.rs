//! The evaluation in words: by group and side, by its heaviest features, by each piece.
//!
//! A linear evaluation can say exactly why it thinks what it thinks: its value is a sum, and every
//! summand has a meaning. This module only arranges and words what a visitor has collected; it computes
//! nothing that search does not compute. All values are from White's side and in pawns as the program
//! shows them elsewhere, so that +1.00 wins half of the games.
//!
//! What both players have alike cancels and says nothing, so reasons are net: pieces and pairs whose mirror image the
//! other player has are left out, and the features of a group count together.

use super::Evaluator;
use super::layout::{GROUPS, Group, HalfSquare, LOCATION, MATERIAL, PAIRS, group_of};
use super::pairs::{self, name, pair};
use super::placement::visit;
use super::terms::terms;
use super::units::{PHASE_MAX, taper};
use super::visitor::Visitor;
use super::weights::Weights;
use crate::board::{ALL_SQUARES, Board, Color, Piece, PieceSquare, Square};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

/// Middlegame and endgame sums.
type Sums = [i64; 2];

/// What a group contributes: White's features, and Black's as they count against White.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Middlegame and endgame sum of White's features.
    pub white: Sums,
    /// Middlegame and endgame sum of Black's features, from White's side.
    pub black: Sums,
}

impl Share {
    /// Both sides together.
    pub fn total(&self) -> Sums {
        [self.white[0] + self.black[0], self.white[1] + self.black[1]]
    }
}

/// A group of features, or two pieces with both their 2-tuples, and what it is worth from White's side in pawns.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What it is, in words.
    pub words: String,
    /// What it is worth.
    pub pawns: f64,
}

/// The value of `board` in centipawns from White's side, as search would see it without searching.
pub fn white_cp(weights: &Arc<Weights>, board: &Board) -> i32 {
    let mut evaluator = Evaluator::new(weights.clone());
    evaluator.reset(board);
    let value = evaluator.evaluate(board);
    let white = if board.side_to_move() == Color::White { value } else { -value };
    weights.units.centipawns(white, weights.phase(board))
}

/// What each group contributes, in the order of the layout.
pub fn shares(weights: &Weights, board: &Board) -> Vec<(&'static Group, Share)> {
    let mut visitor = BySide { weights: weights.ints(), shares: [Share::default(); GROUPS.len()] };
    visit(board, &mut visitor);
    const ALL: &[Group] = &GROUPS;
    ALL.iter().zip(visitor.shares).collect()
}

/// The position's value by group and side; middlegame (mg), endgame (eg) and as it is now.
pub fn table(weights: &Weights, board: &Board) -> String {
    let unit = Unit::new(weights, board);
    let mut rows: Vec<_> = shares(weights, board).into_iter().filter(|(_, share)| *share != Share::default()).collect();
    let sum = rows.iter().fold(Share::default(), |sum, (_, share)| sum.plus(share));
    rows.sort_by_key(|(_, share)| -unit.now(share.total()).abs());
    let mut text = String::new();
    let width = rows.iter().map(|(group, _)| group.name.len()).max().unwrap_or(0).max(8);
    let rule = "-".repeat(width + 3 * 26 + 3);
    let heads = ["White", "Black", "both"].map(|head| format!("| {head:^23} ")).concat();
    let phases = "|       mg      eg     now ".repeat(3);
    let _ = writeln!(text, "{:width$} {heads}\n{:width$} {phases}\n{rule}", "group", "");
    for (name, share) in rows.iter().map(|(group, share)| (group.name, share)) {
        let _ = writeln!(text, "{name:width$} {}", unit.row(share));
    }
    let _ = writeln!(text, "{rule}\n{:width$} {}", "sum", unit.row(&sum));
    let _ = writeln!(
        text,
        "\nPhase: {} % middlegame (mg), {} % endgame (eg). Values in pawns, positive for White.",
        unit.middlegame_percent(),
        100 - unit.middlegame_percent()
    );
    text
}

/// The reasons that weigh most when what both players have alike is taken away, heaviest first.
pub fn reasons(weights: &Weights, board: &Board, most: usize) -> Vec<Reason> {
    let unit = Unit::new(weights, board);
    let mut all = pair_reasons(weights, board, &unit);
    all.extend(term_reasons(weights, board, &unit));
    all.retain(|reason| reason.pawns != 0.0);
    all.sort_by(|a, b| b.pawns.abs().total_cmp(&a.pawns.abs()).then_with(|| a.words.cmp(&b.words)));
    all.truncate(most);
    all
}

/// What the evaluation from White's side would lose without each piece, kings left out.
///
/// A piece that White would miss counts positive, one that Black would miss negative. It is the piece's
/// whole contribution: what it is worth alone, with every other piece, and in the terms of the board.
///
/// ```
/// # use dyad_engine::{board::{Board, Square}, eval::{Weights, explain::without_each_piece}};
/// let board = Board::from_fen("4k3/8/8/8/8/8/8/3QK3 w - - 0 1").unwrap();
/// let worth = without_each_piece(&Weights::material(), &board);
/// let [(queen, pawns)] = worth[..] else { panic!("there is one piece beside the kings") };
/// assert!(queen.square == Square::D1 && pawns > 0.0);
/// ```
pub fn without_each_piece(weights: &Weights, board: &Board) -> Vec<(PieceSquare, f64)> {
    let unit = Unit::new(weights, board);
    let whole = weights.sums(board).map(i64::from);
    let pieces = board.placed_pieces().filter(|placed| placed.piece != Piece::King);
    pieces
        .filter_map(|placed| {
            let rest = weights.sums(&without(board, placed.square)?).map(i64::from);
            Some((placed, unit.pawns([whole[0] - rest[0], whole[1] - rest[1]])))
        })
        .collect()
}

/// The 20 heaviest reasons in words, and the board with what each piece contributes.
pub fn explain(weights: &Weights, board: &Board) -> String {
    let mut text = String::from("What weighs most, in pawns from White's side, without what both have alike:\n\n");
    for (number, reason) in reasons(weights, board, 20).iter().enumerate() {
        let _ = writeln!(text, "{:3}. {:+.2}  {}", number + 1, reason.pawns, reason.words);
    }
    text.push_str("\nWhat the evaluation would lose without each piece:\n\n");
    text.push_str(&piece_board(board, &without_each_piece(weights, board)));
    text
}

/// A board with each piece's letter and number.
fn piece_board(board: &Board, values: &[(PieceSquare, f64)]) -> String {
    let values: HashMap<usize, f64> = values.iter().map(|(piece, pawns)| (piece.square.to_index(), *pawns)).collect();
    let rule = format!("   +{}\n", "-------+".repeat(8));
    let mut text = rule.clone();
    for rank in (0..8).rev() {
        let squares = (0..8).map(|file| ALL_SQUARES[rank * 8 + file]);
        let letters: String = squares.clone().map(|at| format!("   {}   |", letter(board, at))).collect();
        let numbers: String = squares
            .map(|at| match values.get(&at.to_index()) {
                Some(pawns) => format!("{pawns:+6.2} |"),
                None => "       |".into(),
            })
            .collect();
        let _ = write!(text, " {} |{letters}\n   |{numbers}\n{rule}", rank + 1);
    }
    let files: String = ('a'..='h').map(|file| format!("    {file}   ")).collect();
    let _ = writeln!(text, "   {}", files.trim_end());
    text
}

/// The FEN letter of the piece on a square, or a space.
fn letter(board: &Board, at: Square) -> char {
    match (board.color_on(at), board.piece_on(at)) {
        (Some(color), Some(piece)) => piece.to_string(color).chars().next().unwrap_or(' '),
        _ => ' ',
    }
}

/// The board without the piece on `square`, if that is a legal position: a king may be left in check by the
/// player to move, and then there is no answer.
fn without(board: &Board, square: Square) -> Option<Board> {
    let fen = board.fen();
    let (_, fields) = fen.split_once(' ')?;
    let mut fields = fields.split(' ');
    let placement: Vec<String> = (0..8)
        .rev()
        .map(|rank| {
            let squares = (0..8).map(|file| ALL_SQUARES[rank * 8 + file]);
            squares.map(|at| if at == square { '1' } else { letter_or_one(board, at) }).collect()
        })
        .collect();
    let (mover, castling) = (fields.next()?, fields.next()?);
    Board::from_fen(&format!("{} {mover} {castling} - 0 1", placement.join("/"))).ok()
}

fn letter_or_one(board: &Board, at: Square) -> char {
    match letter(board, at) {
        ' ' => '1',
        letter => letter,
    }
}

/// Pieces two by two, each with both its 2-tuples, and their squares alone, without those whose mirror image the other
/// player has.
fn pair_reasons(weights: &Weights, board: &Board, unit: &Unit) -> Vec<Reason> {
    let ints = weights.ints();
    let worth = |feature: usize, sign: i32| ints[feature].map(|weight| i64::from(weight * sign));
    let pieces: Vec<PieceSquare> = board.placed_pieces().collect();
    // By the features that it has, with how they count: a mirror image has the same with the other sign.
    let mut reasons: Vec<([usize; 2], [i32; 2], Reason)> = Vec::new();
    for (count, &piece) in pieces.iter().enumerate() {
        let sign = pairs::sign(piece.color);
        let square = LOCATION.at(piece.piece, HalfSquare(pairs::row(piece)));
        let words = format!("{} on its square", name(piece));
        reasons.push(([square; 2], [sign; 2], Reason { words, pawns: unit.pawns(worth(square, sign)) }));
        for &other in &pieces[..count] {
            let mut both = [pair(piece, other), pair(other, piece)].map(|pair| (PAIRS.at(pair), pair.sign));
            both.sort_unstable();
            let [a, b] = both.map(|(feature, sign)| worth(feature, sign));
            let (first, second) = if piece.color == Color::White { (piece, other) } else { (other, piece) };
            let words = format!("{} with {}", name(first), name(second));
            let pawns = unit.pawns([a[0] + b[0], a[1] + b[1]]);
            reasons.push((both.map(|(feature, _)| feature), both.map(|(_, sign)| sign), Reason { words, pawns }));
        }
    }
    let mut kept: Vec<([usize; 2], [i32; 2], Reason)> = Vec::with_capacity(reasons.len());
    for (features, signs, reason) in reasons {
        let image = |other: &([usize; 2], [i32; 2], Reason)| other.0 == features && other.1 == signs.map(|sign| -sign);
        match kept.iter().position(image) {
            Some(image) => drop(kept.remove(image)),
            None => kept.push((features, signs, reason)),
        }
    }
    kept.into_iter().map(|(_, _, reason)| reason).collect()
}

/// Features of the whole board and of the material by their groups, without what both colors have alike.
fn term_reasons(weights: &Weights, board: &Board, unit: &Unit) -> Vec<Reason> {
    let mut list: Vec<(u32, i32)> = Vec::new();
    for piece in board.placed_pieces() {
        list.push((MATERIAL.at(piece.piece) as u32, pairs::sign(piece.color)));
    }
    terms(board, &mut list);
    let mut counts: BTreeMap<usize, i32> = BTreeMap::new();
    for (feature, count) in list {
        *counts.entry(feature as usize).or_default() += count;
    }
    counts.retain(|_, count| *count != 0);
    let mut groups: Vec<(&Group, Vec<(usize, i32)>)> = Vec::new();
    for (feature, count) in counts {
        let group = group_of(feature);
        // What a piece is worth is told for each type.
        match groups.last_mut().filter(|last| *last.0 == *group && *group != MATERIAL) {
            Some((_, features)) => features.push((feature, count)),
            None => groups.push((group, vec![(feature, count)])),
        }
    }
    let worth = |features: &[(usize, i32)]| {
        let sum = |stage: usize| -> i64 {
            let one = |&(feature, count): &(usize, i32)| i64::from(weights.ints()[feature][stage]) * i64::from(count);
            features.iter().map(one).sum()
        };
        unit.pawns([sum(0), sum(1)])
    };
    let reasons = groups.iter().map(|(group, features)| {
        let (white, black): (Vec<_>, Vec<_>) = features.iter().partition(|(_, count)| *count > 0);
        let words = match (&white[..], &black[..]) {
            ([one], []) | ([], [one]) => one_feature(*one),
            ([one], [other]) => format!("{}; {}", one_feature(*one), one_feature(*other)),
            _ => format!("{} (White {:+.2}, Black {:+.2})", group.about, worth(&white), worth(&black)),
        };
        Reason { words, pawns: worth(features) }
    });
    reasons.collect()
}

/// A feature with whose it is and how often.
fn one_feature((feature, count): (usize, i32)) -> String {
    let owner = if count > 0 { "White" } else { "Black" };
    let times = if count.abs() > 1 { format!(", {} times", count.abs()) } else { String::new() };
    format!("{owner}: {}{times}", describe_feature(feature))
}

/// Any feature in words, as White's.
pub fn describe_feature(feature: usize) -> String {
    let group = group_of(feature);
    group.words(feature - group.start)
}

/// Sums by group and side.
struct BySide<'a> {
    weights: &'a [[i32; 2]],
    shares: [Share; GROUPS.len()],
}

impl Visitor for BySide<'_> {
    fn add(&mut self, feature: usize, count: i32) {
        const ALL: &[Group] = &GROUPS;
        let share = &mut self.shares[ALL.partition_point(|group| group.start + group.len <= feature)];
        let side = if count > 0 { &mut share.white } else { &mut share.black };
        for (sum, weight) in side.iter_mut().zip(self.weights[feature]) {
            *sum += i64::from(weight) * i64::from(count);
        }
    }
}

impl Share {
    fn plus(&self, other: &Share) -> Share {
        let add = |a: Sums, b: Sums| [a[0] + b[0], a[1] + b[1]];
        Share { white: add(self.white, other.white), black: add(self.black, other.black) }
    }
}

/// Turns sums into pawns at the position's phase.
struct Unit<'a> {
    weights: &'a Weights,
    phase: i32,
}

impl<'a> Unit<'a> {
    fn new(weights: &'a Weights, board: &Board) -> Self {
        Self { weights, phase: weights.phase(board) }
    }

    fn now(&self, [mg, eg]: Sums) -> i32 {
        taper(mg as i32, eg as i32, self.phase)
    }

    fn pawns(&self, sums: Sums) -> f64 {
        self.pawns_of(self.now(sums))
    }

    fn pawns_of(&self, value: i32) -> f64 {
        let value = self.weights.units.scaled(value);
        f64::from(self.weights.units.centipawns(value, self.phase)) / 100.0
    }

    fn middlegame_percent(&self) -> i32 {
        (self.phase * 100 + PHASE_MAX / 2) / PHASE_MAX
    }

    fn row(&self, share: &Share) -> String {
        let column = |sums: Sums| {
            let numbers = [sums[0] as i32, sums[1] as i32, self.now(sums)].map(|value| self.pawns_of(value));
            format!("| {:+8.2}{:+8.2}{:+8.2} ", numbers[0], numbers[1], numbers[2])
        };
        [share.white, share.black, share.total()].map(column).concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::layout::{KnightSquares, LEN, MOBILITY_KNIGHT};

    /// Weights by which every feature is worth something.
    fn weights() -> Arc<Weights> {
        let mut ints: Vec<[i32; 2]> = (0..LEN as i32).map(|i| [i % 7 - 3, i % 11 - 5]).collect();
        ints[..6].copy_from_slice(&[[200, 220], [800, 780], [850, 860], [1300, 1350], [2600, 2550], [0, 0]]);
        Arc::new(Weights::from_ints(ints).expect("small weights"))
    }

    fn board(fen: &str) -> Board {
        Board::from_fen(fen).expect("a legal position")
    }

    const MIDDLEGAME: &str = "r1bq1rk1/pp3ppp/2n2n2/3pN3/3P4/2N5/PP3PPP/R1BQ1RK1 w - - 0 1";

    #[test]
    fn groups_add_up_to_the_evaluation() {
        let weights = weights();
        for fen in [MIDDLEGAME, "8/5pk1/6p1/8/3P4/5K2/8/8 b - - 0 1"] {
            let board = board(fen);
            let total = shares(&weights, &board).iter().fold([0; 2], |sum: Sums, (_, share)| {
                let total = share.total();
                [sum[0] + total[0], sum[1] + total[1]]
            });
            assert_eq!(total.map(|sum| sum as i32), weights.sums(&board), "{fen}");
        }
    }

    #[test]
    fn the_table_has_a_line_for_each_group_that_counts() {
        let text = table(&weights(), &board(MIDDLEGAME));
        for name in ["material", "pairs", "mobility_knight", "king_danger", "sum"] {
            assert!(text.lines().any(|line| line.starts_with(name)), "{name}\n{text}");
        }
        let widths: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::len).collect();
        assert!(widths[2..].iter().all(|width| width.abs_diff(widths[2]) <= 1), "{text}");
    }

    #[test]
    fn reasons_are_in_words_and_sorted() {
        let reasons = reasons(&weights(), &board(MIDDLEGAME), 20);
        assert_eq!(reasons.len(), 20);
        assert!(reasons.windows(2).all(|pair| pair[0].pawns.abs() >= pair[1].pawns.abs()));
        let all = super::reasons(&weights(), &board(MIDDLEGAME), usize::MAX);
        assert!(all.iter().any(|reason| reason.words == "white Ne5 with black Kg8"), "{all:?}");
    }

    /// Where all is alike but the move, nothing but the move weighs anything; a knight more adds its own.
    #[test]
    fn what_both_have_alike_is_left_out() {
        let words = |board: &Board| -> Vec<String> {
            super::reasons(&weights(), board, usize::MAX).into_iter().map(|reason| reason.words).collect()
        };
        let start = words(&Board::startpos());
        assert!(start.iter().all(|words| words.contains("the move")), "{start:?}");
        let moved = words(&board("rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"));
        for expected in ["white Nf3 on its square", "black Ng8 with black Ke8", "white Nf3 with black e7"] {
            assert!(moved.iter().any(|words| words == expected), "{expected} in {moved:?}");
        }
        let cancels = |words: &&String| words.contains("Nb1 on") || words.contains("Qd1 with white Ke1");
        assert_eq!(moved.iter().find(cancels), None);
        let mobility = "White: knight with 5 safe squares; Black: knight with 2 safe squares";
        assert!(moved.iter().any(|words| words == mobility), "{moved:?}");
    }

    #[test]
    fn a_feature_is_told_in_words() {
        assert_eq!(describe_feature(MOBILITY_KNIGHT.at(KnightSquares(3))), "knight with 3 safe squares");
        assert_eq!(describe_feature(PAIRS.start), "white a1 with white b1");
    }

    #[test]
    fn each_piece_is_missed() {
        let material = Arc::new(Weights::material());
        let board = board("4k3/8/8/3q4/8/8/P7/3RK3 w - - 0 1");
        let missed = without_each_piece(&material, &board);
        let value = |square: Square| missed.iter().find(|(piece, _)| piece.square == square).map(|(_, pawns)| *pawns);
        // A pawn of 200 where 360 win half of the games.
        let pawn = value(Square::A2).expect("a pawn");
        assert!((0.3..0.8).contains(&pawn), "{pawn}");
        assert!(value(Square::D5).expect("a queen") < -5.0);
        assert!(value(Square::D1).expect("a rook") > 2.5);
        assert_eq!(value(Square::E1), None);
    }

    #[test]
    fn an_explanation_shows_the_board() {
        let text = explain(&weights(), &board(MIDDLEGAME));
        assert!(text.contains(" 20. ") && !text.contains(" 21. "), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("   +---")).count(), 9);
    }

    #[test]
    fn centipawns_are_whites() {
        let weights = Arc::new(Weights::material());
        let up = "4k3/8/8/8/8/8/PP3PPP/R3K3";
        assert!(white_cp(&weights, &board(&format!("{up} w - - 0 1"))) > 500);
        assert!(white_cp(&weights, &board(&format!("{up} b - - 0 1"))) > 500);
    }
}
