//! The diary of a training: what the weights learned, in words, each with a little board.
//!
//! Facts are few numbers that a person can check: where a piece stands well, what it is worth, what a feature of the
//! evaluation counts for, the strongest pair. After each fit the diary reports those that changed most since its last report.
//! All values are in pawns, a pawn of the middlegame being 1.

use std::collections::BTreeMap;

use dyad_engine::board::{Board, Color, Piece, PieceSquare, piece_name};
use dyad_engine::eval::layout::{self, Group, MATERIAL, PAIRS};
use dyad_engine::eval::{PHASE_MAX, Weights, pairs, visit};
use dyad_explain::evaluation::without;
use dyad_formats::packed::Packed;
use serde::{Deserialize, Serialize};

use crate::play::letter;
use crate::tables::{pawns, tables};

/// The smallest change that is reported, in pawns. A reported fact whose value falls below it is in doubt.
const SMALLEST: f64 = 0.03;
/// Values of pieces are larger than all others: so much less does their change count.
const PIECE_VALUE: f64 = 0.1;
/// Positions that are looked at, and those of them with a feature from which its value is known.
const POSITIONS: usize = 3_000;
const FEWEST: u32 = 30;

/// A sentence, and what its little board shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The sentence.
    pub text: String,
    #[serde(flatten)]
    picture: Option<Picture>,
}

/// What a little board shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Picture {
    /// The value of a white piece by square, from a1 to h8.
    Squares {
        piece: String,
        values: Vec<f32>,
        /// The best square of the part that the sentence is about.
        at: Option<usize>,
    },
    /// A position, and the squares that matter.
    Position { fen: String, marked: Vec<String> },
    /// Two pieces, by square.
    Pair([(String, String); 2]),
}

/// A part of the board where a piece stands well or badly: the piece, whether in the endgame, the part by file and rank
/// from 0, and the sentences for a positive and a negative value.
type Place = (Piece, bool, fn(usize, usize) -> bool, [&'static str; 2]);

fn is_center(file: usize, rank: usize) -> bool {
    (2..6).contains(&file) && (2..6).contains(&rank)
}

#[rustfmt::skip]
const PLACES: [Place; 9] = [
    (Piece::Knight, false, is_center, ["Knights belong in the center", "Knights stand better at the edge than in the center"]),
    (Piece::Bishop, false, is_center, ["Bishops belong in the center", "Bishops stand better at the edge than in the center"]),
    (Piece::Rook, false, |_, rank| rank >= 6,
        ["Rooks belong on the last two ranks", "Rooks should not enter the last two ranks"]),
    (Piece::Queen, false, |_, rank| rank >= 4,
        ["The queen belongs in the enemy's half", "The queen had better stay in her own half"]),
    (Piece::King, false, |_, rank| rank == 0, ["The king is safest on the back rank", "The king may leave the back rank"]),
    (Piece::King, false, |file, rank| rank < 2 && !(3..6).contains(&file),
        ["The king belongs in a corner, where castling brings it", "The king may stay in the middle"]),
    (Piece::King, true, is_center,
        ["In the endgame the king belongs in the center", "In the endgame the king belongs at the edge"]),
    (Piece::Pawn, true, |_, rank| rank >= 5, ["A pawn near promotion is worth more", "A pawn near promotion is worth less"]),
    (Piece::Pawn, false, |file, rank| (3..5).contains(&file) && rank >= 3,
        ["Pawns belong in the center", "Pawns in the center are a burden"]),
];

/// Groups of features whose count is good or bad by itself, with the sentences for a positive and a negative value.
#[rustfmt::skip]
const COUNTED: [(&str, [&str; 2]); 17] = [
    ("pawn_isolated", ["Isolated pawns are no weakness", "Isolated pawns are weak"]),
    ("pawn_doubled", ["Doubled pawns are no weakness", "Doubled pawns are weak"]),
    ("pawn_backward", ["Backward pawns are no weakness", "Backward pawns are weak"]),
    ("pawn_phalanx", ["Pawns side by side are strong", "Pawns side by side are a burden"]),
    ("pawn_supported", ["A pawn that a pawn defends is strong", "A pawn that a pawn defends is a burden"]),
    ("pawn_candidate", ["A pawn that may soon be passed is strong", "A pawn that may soon be passed is a burden"]),
    ("passed_connected", ["Passed pawns next to each other are strong", "Passed pawns next to each other are a burden"]),
    ("passed_unstoppable", ["A pawn that the king cannot catch wins", "A pawn that the king cannot catch is no help"]),
    ("bishop_pair", ["Two bishops are strong together", "Two bishops are no better than their sum"]),
    ("outpost", ["An outpost is a good place for a knight or bishop", "An outpost is no place for a knight or bishop"]),
    ("rook_seventh", ["A rook on the seventh rank is strong", "A rook on the seventh rank is misplaced"]),
    ("rook_trapped", ["A rook shut in by its own king does no harm", "A rook shut in by its own king is bad"]),
    ("pinned", ["A piece pinned to its king is no weakness", "A piece pinned to its king is a weakness"]),
    ("hanging", ["Attack the enemy's undefended pieces", "An attack on an undefended piece leads nowhere"]),
    ("pawn_threat", ["Attack the enemy's pieces with pawns", "A pawn that attacks a piece leads nowhere"]),
    ("safe_checks", ["A check that costs nothing is worth having", "A check that costs nothing leads nowhere"]),
    ("castling", ["Keep the right to castle", "The right to castle is not worth keeping"]),
];

/// The reported values, by fact.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reported(BTreeMap<String, f64>);

/// A fact that may be reported.
struct Candidate {
    key: String,
    value: f64,
    /// The words for a positive and a negative value.
    words: [String; 2],
    picture: Option<Picture>,
    weight: f64,
}

impl Reported {
    /// The values of the pieces of `weights` count as reported.
    #[must_use]
    pub fn new(weights: &Weights) -> Reported {
        Reported(piece_values(weights).map(|fact| (fact.key, fact.value)).collect())
    }

    /// The `most` facts that changed most; `samples` are positions of the games, empty where these are too few to know
    /// what a feature counts for.
    pub fn news(&mut self, weights: &Weights, samples: &[Packed], most: usize) -> Vec<Fact> {
        let change = |reported: &BTreeMap<String, f64>, fact: &Candidate| {
            fact.weight * (fact.value - reported.get(&fact.key).unwrap_or(&0.0)).abs()
        };
        let counted = counted(weights, samples).chain(pair(weights).filter(|_| !samples.is_empty()));
        let mut all: Vec<Candidate> = places(weights)
            .chain(piece_values(weights))
            .chain(counted)
            .filter(|fact| change(&self.0, fact) >= SMALLEST)
            .collect();
        all.sort_by(|a, b| change(&self.0, b).total_cmp(&change(&self.0, a)));
        all.truncate(most);
        // The largest change is reported last: the newest sentence is shown first.
        all.into_iter().rev().map(|fact| self.report(fact)).collect()
    }

    fn report(&mut self, Candidate { key, value, words: [good, bad], picture, .. }: Candidate) -> Fact {
        let before = self.0.insert(key, value);
        let doubted = before.filter(|_| value.abs() < SMALLEST);
        let words = if doubted.unwrap_or(value) >= 0.0 { good } else { bad };
        let text = match before {
            // The value of a piece is in its words.
            _ if words.ends_with('.') => words,
            None => format!("{words} ({}).", signed(value)),
            Some(before) => {
                let lower = || words[..1].to_lowercase() + &words[1..];
                let words = match before {
                    _ if doubted.is_some() => format!("No longer sure: {}", lower()),
                    _ if before * value < 0.0 => format!("It changed its mind: {}", lower()),
                    _ if value.abs() < before.abs() => format!("Less than it thought: {}", lower()),
                    _ => words,
                };
                format!("{words} ({}, it was {}).", signed(value), signed(before))
            }
        };
        Fact { text, picture }
    }
}

fn signed(value: f64) -> String {
    format!("{value:+.2}").replace('-', "\u{2212}")
}

/// Where pieces stand well.
fn places(weights: &Weights) -> impl Iterator<Item = Candidate> {
    let tables = tables(weights);
    PLACES.iter().map(move |(piece, is_endgame, inside, words)| {
        let phase = usize::from(*is_endgame);
        let name = letter(*piece, Color::White);
        let pawn = tables.material["P"][phase].max(0.1);
        let ranks = if *piece == Piece::Pawn { 1..7 } else { 0..8 };
        let squares = || (0..64).filter(|square| ranks.contains(&(square / 8)));
        let mean = |squares: &mut dyn Iterator<Item = usize>| {
            let (sum, count) = squares.fold((0.0_f64, 0.0_f64), |(sum, count), square| {
                (sum + tables.squares[&name][square][phase] / pawn, count + 1.0)
            });
            sum / count.max(1.0)
        };
        let is_inside = |square: &usize| inside(square % 8, square / 8);
        let value = mean(&mut squares().filter(is_inside)) - mean(&mut squares().filter(|square| !is_inside(square)));
        let all = mean(&mut squares());
        let values = (0..64).map(|square| {
            let value: f64 = tables.squares[&name][square][phase] / pawn - all;
            if ranks.contains(&(square / 8)) { (1e3 * value).round() as f32 / 1e3 } else { 0.0 }
        });
        let values: Vec<f32> = values.collect();
        let is_meant = |square: &usize| is_inside(square) == (value >= 0.0);
        let at = squares().filter(is_meant).max_by(|a, b| values[*a].total_cmp(&values[*b]));
        Candidate {
            key: words[0].to_string(),
            value,
            words: words.map(str::to_string),
            picture: Some(Picture::Squares { piece: name, values, at }),
            weight: 1.0,
        }
    })
}

/// A pawn of the middlegame; weights that are not trained yet may have none.
fn pawn(weights: &Weights) -> f64 {
    pawns(weights, weights.ints()[MATERIAL.at(Piece::Pawn)])[0].max(0.1)
}

/// The features of a position.
fn features_of(board: &Board) -> Vec<(u32, i32)> {
    let mut features = Vec::new();
    visit(board, &mut features);
    features
}

/// What pieces are worth.
fn piece_values(weights: &Weights) -> impl Iterator<Item = Candidate> {
    let pawn = pawn(weights);
    [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen].into_iter().map(move |piece| {
        let value = pawns(weights, weights.ints()[MATERIAL.at(piece)])[0] / pawn;
        let words = format!("A {} is worth {value:.1} pawns.", piece_name(piece));
        Candidate {
            key: format!("value of {}", piece_name(piece)),
            value,
            words: [words.clone(), words],
            picture: None,
            weight: PIECE_VALUE,
        }
    })
}

/// What the features of a group count for on average, with a position that has one of them.
fn counted(weights: &Weights, samples: &[Packed]) -> impl Iterator<Item = Candidate> {
    let pawn = pawn(weights);
    let groups: Vec<_> = COUNTED.iter().filter_map(|(name, words)| Some((layout::group(name)?, words))).collect();
    let mut sums = vec![(0.0, 0_u32, None::<Board>); groups.len()];
    let step = samples.len().div_ceil(POSITIONS).max(1);
    for board in samples.iter().step_by(step).filter_map(|sample| sample.board().ok()) {
        let features = features_of(&board);
        let phase = f64::from(weights.phase(&board)) / f64::from(PHASE_MAX);
        for ((group, _), (sum, count, example)) in groups.iter().zip(&mut sums) {
            for (feature, times) in features.iter().filter(|(feature, _)| group.range().contains(&(*feature as usize)))
            {
                let [mg, eg] = pawns(weights, weights.ints()[*feature as usize]);
                *sum += f64::from(times.abs()) * (mg * phase + eg * (1.0 - phase)) / pawn;
                *count += times.unsigned_abs();
                *example = Some(board);
            }
        }
    }
    let known = groups.into_iter().zip(sums).filter(|(_, (_, count, _))| *count >= FEWEST);
    known.map(|((group, words), (sum, count, example))| {
        let words = words.map(str::to_string);
        let picture = example.map(|board| Picture::Position { fen: board.fen(), marked: marked(&board, group) });
        Candidate { key: group.name.to_string(), value: sum / f64::from(count), words, picture, weight: 1.0 }
    })
}

/// The pieces without which a position has fewer features of a group.
fn marked(board: &Board, group: &Group) -> Vec<String> {
    let count = |board: &Board| {
        let of_group =
            features_of(board).into_iter().filter(|(feature, _)| group.range().contains(&(*feature as usize)));
        of_group.map(|(_, times)| times.unsigned_abs()).sum::<u32>()
    };
    let all = count(board);
    let matters = |placed: &PieceSquare| {
        placed.piece != Piece::King && without(board, placed.square).is_some_and(|board| count(&board) < all)
    };
    board.placed_pieces().filter(matters).map(|placed| placed.square.to_string()).collect()
}

/// The strongest 2-tuple.
fn pair(weights: &Weights) -> impl Iterator<Item = Candidate> {
    let size = |index: &usize| weights.ints()[PAIRS.start + index].iter().map(|value| value.abs()).sum::<i32>();
    (0..PAIRS.len).max_by_key(size).into_iter().map(|index| {
        let both = pairs::pieces_of(index);
        let both = [both.0, both.1];
        let pawn = pawn(weights);
        let [mg, eg] = pawns(weights, weights.ints()[PAIRS.start + index]);
        let value = if mg.abs() > eg.abs() { mg } else { eg } / pawn;
        let name = |at: usize| {
            let color = if both[at].color == Color::White { "white" } else { "black" };
            format!("a {color} {} on {}", piece_name(both[at].piece), both[at].square)
        };
        let words = |good: &str| format!("A pair: {} with {} is {good} for White", name(0), name(1));
        Candidate {
            key: format!("pair {index}"),
            value,
            words: [words("good"), words("bad")],
            picture: Some(Picture::Pair(both.map(|at| (at.square.to_string(), letter(at.piece, at.color))))),
            weight: 1.0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_built_in_weights_know_is_reported_once() {
        let mut reported = Reported::new(&Weights::material());
        let weights = Weights::embedded();
        let board = Board::from_fen("r1bq1rk1/pp3ppp/2n2n2/3pN3/3P4/2N5/PP3PPP/R1BQ1RK1 w - - 0 1").unwrap();
        assert_eq!(marked(&board, layout::group("pawn_isolated").unwrap()), ["d4", "d5"]);
        assert!(COUNTED.iter().all(|(name, _)| layout::group(name).is_some()));
        let news = reported.news(&weights, &[], 100);
        let texts: Vec<&str> = news.iter().map(|fact| fact.text.as_str()).collect();
        assert!(texts.iter().any(|text| text.starts_with("Knights belong in the center (+0.")), "{texts:?}");
        assert!(reported.news(&weights, &[], 100).is_empty());
        let news = reported.news(&Weights::material(), &[], 100);
        let is_doubt =
            |fact: &Fact| fact.text.starts_with("No longer sure: knights belong in the center (+0.00, it was +0.");
        assert!(news.iter().any(is_doubt), "{news:?}");
        assert!(Reported::new(&Weights::material()).news(&Weights::material(), &[], 100).is_empty());
    }
}
