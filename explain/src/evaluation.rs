//! The evaluation of a position taken apart: by group and side, by its largest contributions, by piece.
//!
//! All values are from White's side. What both players share cancels, so [`reasons`] are net: pieces and pairs are left
//! out if the other player has their mirror image, and the features of a group are summed.

use super::difference::EvalSteps;
use dyad_engine::board::{Board, Color, Piece, PieceSquare, Square, sign};
use dyad_engine::eval::layout::{GROUPS, Group, HalfSquare, MATERIAL, PAIRS, PIECE_SQUARE, group_of};
use dyad_engine::eval::pairs::{self, pair};
use dyad_engine::eval::{PHASE_MAX, Visitor, Weights, taper, terms, visit};
use std::collections::BTreeMap;

/// Middlegame and endgame sums.
pub type Sums = [i64; 2];

/// What a group contributes to the evaluation, from White's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// White's features.
    pub white: Sums,
    /// Black's features: negative if they are good for Black.
    pub black: Sums,
}

impl Contribution {
    /// Both sides together.
    pub fn total(&self) -> Sums {
        add(self.white, self.black)
    }

    pub(super) fn plus(&self, other: &Contribution) -> Contribution {
        Contribution { white: add(self.white, other.white), black: add(self.black, other.black) }
    }
}

fn add(a: Sums, b: Sums) -> Sums {
    [a[0] + b[0], a[1] + b[1]]
}

/// What a part of the evaluation comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A piece on its square.
    Square(PieceSquare),
    /// Two pieces, with both their 2-tuples; White's piece first if the colors differ.
    Pair(PieceSquare, PieceSquare),
    /// Features of a group, with their counts.
    Group {
        /// The group.
        group: &'static Group,
        /// White's features.
        white: Vec<(usize, i32)>,
        /// Black's features.
        black: Vec<(usize, i32)>,
        /// Contributions of White's and Black's features in pawns.
        pawns: [f64; 2],
    },
}

/// A part of the evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What it comes from.
    pub source: Source,
    /// Its contribution in pawns.
    pub pawns: f64,
}

/// The static evaluation of `board` in the centipawns of UCI, of which 100 win half of the games.
pub fn white_centipawns(weights: &Weights, board: &Board) -> i32 {
    weights.units.win_rate.centipawns(EvalSteps::of(weights, board).value, weights.phase(board))
}

/// The contribution of each group, in the order of the layout.
pub fn contributions(weights: &Weights, board: &Board) -> Vec<(&'static Group, Contribution)> {
    let mut visitor = ByGroup { weights: weights.ints(), contributions: [Contribution::default(); GROUPS.len()] };
    visit(board, &mut visitor);
    GROUPS.iter().zip(visitor.contributions).collect()
}

/// The net contributions, the largest first.
pub fn reasons(weights: &Weights, board: &Board) -> Vec<Reason> {
    let scale = PawnScale::new(weights, board);
    let mut all = pair_reasons(weights, board, &scale);
    all.extend(group_reasons(weights, board, &scale));
    all.retain(|reason| reason.pawns != 0.0);
    all.sort_by(|a, b| b.pawns.abs().total_cmp(&a.pawns.abs()));
    all
}

/// The evaluation minus the evaluation without the piece, in pawns, for each piece but the kings.
///
/// This is everything that the piece contributes: alone, with each other piece, and in the terms of the whole board. A
/// piece is left out if the position without it is illegal.
pub fn piece_values(weights: &Weights, board: &Board) -> Vec<(PieceSquare, f64)> {
    let scale = PawnScale::new(weights, board);
    let sums = |board: &Board| weights.sums(board).map(i64::from);
    let whole = sums(board);
    let pieces = board.placed_pieces().filter(|placed| placed.piece != Piece::King);
    pieces
        .filter_map(|placed| {
            let rest = sums(&without(board, placed.square)?);
            Some((placed, scale.pawns([whole[0] - rest[0], whole[1] - rest[1]])))
        })
        .collect()
}

/// The board without the piece on `square`; none if the side to move could then capture the king.
pub fn without(board: &Board, square: Square) -> Option<Board> {
    let mut setup = board.setup();
    setup.pieces[square.to_index()] = None;
    Board::from_setup(&setup).ok()
}

pub(super) fn letter(board: &Board, at: Square) -> Option<char> {
    board.piece_on(at)?.to_string(board.color_on(at)?).chars().next()
}

/// Each piece on its square and each pair of pieces, without those whose mirror image the other player has.
fn pair_reasons(weights: &Weights, board: &Board, scale: &PawnScale) -> Vec<Reason> {
    let ints = weights.ints();
    let value = |feature: usize, sign: i32| ints[feature].map(|weight| i64::from(weight * sign));
    let pieces: Vec<PieceSquare> = board.placed_pieces().collect();
    // Keyed by the features and their signs: a mirror image has the same features with opposite signs.
    let mut reasons: Vec<([usize; 2], [i32; 2], Reason)> = Vec::new();
    for (count, &piece) in pieces.iter().enumerate() {
        let sign = sign(piece.color);
        let square = PIECE_SQUARE.at(piece.piece, HalfSquare(pairs::row(piece)));
        let reason = Reason { source: Source::Square(piece), pawns: scale.pawns(value(square, sign)) };
        reasons.push(([square; 2], [sign; 2], reason));
        for &other in &pieces[..count] {
            let mut both = [pair(piece, other), pair(other, piece)].map(|pair| (PAIRS.at(pair), pair.sign));
            both.sort_unstable();
            let [a, b] = both.map(|(feature, sign)| value(feature, sign));
            let (first, second) = if piece.color == Color::White { (piece, other) } else { (other, piece) };
            let reason = Reason { source: Source::Pair(first, second), pawns: scale.pawns(add(a, b)) };
            reasons.push((both.map(|(feature, _)| feature), both.map(|(_, sign)| sign), reason));
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

/// The material and the features of the whole board by group, without those that both colors have.
fn group_reasons(weights: &Weights, board: &Board, scale: &PawnScale) -> Vec<Reason> {
    let mut list: Vec<(u32, i32)> = Vec::new();
    for piece in board.placed_pieces() {
        list.push((MATERIAL.at(piece.piece) as u32, sign(piece.color)));
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
        // Each piece type is a reason of its own.
        match groups.last_mut().filter(|last| *last.0 == *group && *group != MATERIAL) {
            Some((_, features)) => features.push((feature, count)),
            None => groups.push((group, vec![(feature, count)])),
        }
    }
    let value = |features: &[(usize, i32)]| {
        let one = |&(feature, count): &(usize, i32)| {
            weights.ints()[feature].map(|weight| i64::from(weight) * i64::from(count))
        };
        scale.pawns(features.iter().map(one).fold([0; 2], add))
    };
    let reasons = groups.into_iter().map(|(group, features)| {
        let pawns = value(&features);
        let (white, black): (Vec<_>, Vec<_>) = features.into_iter().partition(|(_, count)| *count > 0);
        let sides = [value(&white), value(&black)];
        Reason { source: Source::Group { group, white, black, pawns: sides }, pawns }
    });
    reasons.collect()
}

/// Sums by group and side.
struct ByGroup<'a> {
    weights: &'a [[i32; 2]],
    contributions: [Contribution; GROUPS.len()],
}

impl Visitor for ByGroup<'_> {
    fn add(&mut self, feature: usize, count: i32) {
        let group = GROUPS.partition_point(|group| group.start + group.len <= feature);
        let contribution = &mut self.contributions[group];
        let side = if count > 0 { &mut contribution.white } else { &mut contribution.black };
        for (sum, weight) in side.iter_mut().zip(self.weights[feature]) {
            *sum += i64::from(weight) * i64::from(count);
        }
    }
}

/// Converts sums to pawns at the phase of a position.
pub struct PawnScale<'a> {
    /// The weights.
    pub weights: &'a Weights,
    /// The phase, from 0 (endgame) to [`PHASE_MAX`] (middlegame).
    pub phase: i32,
}

impl<'a> PawnScale<'a> {
    /// The scale at the phase of a position.
    pub fn new(weights: &'a Weights, board: &Board) -> Self {
        Self { weights, phase: weights.phase(board) }
    }

    /// The tapered value in weight units.
    pub(super) fn tapered(&self, [mg, eg]: Sums) -> i32 {
        taper(mg as i32, eg as i32, self.phase)
    }

    /// The tapered value in pawns.
    pub fn pawns(&self, sums: Sums) -> f64 {
        self.pawns_of(self.tapered(sums))
    }

    pub(super) fn pawns_of(&self, value: i32) -> f64 {
        self.weights.pawns(f64::from(self.weights.units.scaled(value)))
    }

    pub(super) fn middlegame_percent(&self) -> i32 {
        (self.phase * 100 + PHASE_MAX / 2) / PHASE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::board;

    #[test]
    fn every_piece_has_a_value() {
        let material = Weights::material();
        let board = board("4k3/8/8/3q4/8/8/P7/3RK3 w - - 0 1");
        let values = piece_values(&material, &board);
        let value = |square: Square| values.iter().find(|(piece, _)| piece.square == square).map(|(_, pawns)| *pawns);
        let pawn = value(Square::A2).expect("a pawn");
        assert!((0.3..1.5).contains(&pawn), "{pawn}");
        let queen = value(Square::D5).expect("a queen");
        assert!((-10.0..-8.5).contains(&queen), "{queen}");
        assert!(value(Square::D1).expect("a rook") > 4.0);
        assert_eq!(value(Square::E1), None);
    }

    #[test]
    fn centipawns_are_whites() {
        for side in ["w", "b"] {
            let board = board(&format!("4k3/8/8/8/8/8/PP3PPP/R3K3 {side} - - 0 1"));
            assert!(white_centipawns(&Weights::material(), &board) > 500, "{side}");
        }
    }
}
