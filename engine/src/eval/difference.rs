//! What makes the difference between two positions at the ends of two lines, exactly.
//!
//! Search says that one move is worth more than another. Behind each is a line, and at its end a position whose
//! evaluation is a sum. So the difference of the two values is a sum too: of the features and pairs of pieces that one
//! position has and the other has not. What a sum cannot say has parts of its own, with names: that weights
//! count differently when more pieces are gone (the taper), known endings, roundings, and what search adds to the last
//! position of a line.
//!
//! Let c and C be the counts of a feature in the two positions, w and W its weight tapered by their phases. Then
//! c w - C W = (c - C)(w + W)/2 + (c + C)/2 (w - W): the first summand is the feature's own, and the second, over all
//! features, is what the change of phase makes (the Shapley value of a product). All is counted in whole parts of a
//! search unit ([`FINE`]), so that the parts add up to the difference to the last one, whatever the weights.

use super::evaluator::with_endings;
use super::explain::describe_feature;
use super::layout::{Family, Group, HalfSquare, LOCATION, MATERIAL, PAIRS, group_of};
use super::pairs::{self, name, pair};
use super::terms::terms;
use super::units::{PHASE_MAX, SCALE_ONE};
use super::weights::Weights;
use crate::board::{Board, COLORS, Color, PIECES, Piece, PieceSquare, Square};
use crate::value::Value;
use std::collections::BTreeMap;

/// Parts of a search unit in which everything is counted: twice the denominators of taper and scale.
pub const FINE: i64 = 2 * PHASE_MAX as i64 * SCALE_ONE as i64;

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// In a position that is evaluated.
    Evaluated,
    /// In mate.
    Mate,
    /// In a draw by the rules.
    Draw,
    /// In a position whose result is certain: an endgame table has it, or a mate is found behind it.
    Decided,
}

/// The position at the end of a line, and what search says of the line.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The position.
    pub board: Board,
    /// How the line ends.
    pub end: LineEnd,
    /// The value of the line from White's side, in search units.
    pub value: Value,
}

/// What a part of a difference comes from. Numbers are those of the first position less those of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Pieces of a type: White's less Black's.
    Material(Piece, i32),
    /// A piece on its square: 1 if it stands there in the first position only, -1 if in the second only.
    Square(PieceSquare, i32),
    /// Two pieces, with both their 2-tuples.
    Pair(PieceSquare, PieceSquare, i32),
    /// A feature of the whole board that this color has.
    Feature(usize, Color, i32),
    /// A color has the one feature of a group in the first position and the other in the second. Only topics are told so.
    Instead([usize; 2], Color),
    /// Several features of a group that a color has. Only topics are told so.
    Several(&'static Group, Color),
    /// All weights count more as in the endgame in one position than in the other.
    Phase,
    /// The integers of the evaluation are rounded.
    Rounding,
    /// The evaluation of a position (0 or 1) is replaced or scaled by what is known of its ending.
    Ending(usize),
    /// The line to a position (0 or 1) ends in mate.
    Mate(usize),
    /// The line to a position (0 or 1) ends in a draw.
    Draw(usize),
    /// The result of a line (0 or 1) is certain.
    Decided(usize),
    /// What search adds to the evaluations of the last positions: what it has learned of similar ones, and lines that it
    /// did not follow to the end.
    Search,
}

/// What belongs together for a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Who has more: pieces, and what those that stand in one position only are worth on their squares.
    Material,
    /// Where a piece stands: the squares in the first and in the second position.
    Piece(Color, Piece, [Square; 2]),
    /// A family of features of a color.
    Family(Family, Color),
    /// A part that is not linear.
    Alone(Subject),
}

/// A part of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it comes from.
    pub subject: Subject,
    /// What it adds, in parts ([`FINE`]) of a search unit.
    pub amount: i64,
}

/// What a topic adds, with the heaviest of its parts first.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    /// What it is about.
    pub topic: Topic,
    /// The sum of its parts.
    pub amount: i64,
    /// Its parts.
    pub parts: Vec<Part>,
}

/// The value of the first leaf less that of the second, in parts.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Each part with its topic, as found.
    entries: Vec<(Topic, Part)>,
    /// The first value less the second, from the side that was asked for, in search units.
    value: Value,
}

impl Difference {
    /// The difference between two leaves, as `side` sees it.
    #[must_use]
    pub fn new(weights: &Weights, leaves: [&Leaf; 2], side: Color) -> Difference {
        let mut maker = Maker::new(weights, leaves, pairs::sign(side));
        maker.material();
        maker.placement();
        maker.terms();
        maker.phase();
        maker.corrections();
        Difference { entries: maker.entries, value: pairs::sign(side) * (leaves[0].value - leaves[1].value) }
    }

    /// The first value less the second, in search units: the sum of all parts.
    #[must_use]
    pub fn value(&self) -> Value {
        self.value
    }

    /// All parts, the heaviest first.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::with_capacity(self.entries.len());
        for (_, part) in &self.entries {
            // A pair of two pieces that moved stands under both of them, one right behind the other.
            match parts.last_mut().filter(|last| last.subject == part.subject) {
                Some(last) => last.amount += part.amount,
                None => parts.push(*part),
            }
        }
        sorted(parts)
    }

    /// The parts by topic, the topic that weighs most first.
    #[must_use]
    pub fn topics(&self) -> Vec<Net> {
        let mut nets: Vec<Net> = Vec::new();
        for (topic, part) in &self.entries {
            match nets.iter_mut().find(|net| net.topic == *topic) {
                Some(net) => {
                    net.amount += part.amount;
                    net.parts.push(*part);
                }
                None => nets.push(Net { topic: *topic, amount: part.amount, parts: vec![*part] }),
            }
        }
        for net in &mut nets {
            net.parts = sorted(by_group(std::mem::take(&mut net.parts)));
        }
        nets.retain(|net| net.parts.iter().any(|part| part.amount != 0));
        // Stable, and the parts were found in a fixed order.
        nets.sort_by_key(|net| -net.amount.abs());
        nets
    }

    /// What pieces the first position has more and fewer than the second, as the side sees it, by type from pawn to
    /// queen.
    #[must_use]
    pub fn material(leaves: [&Leaf; 2], side: Color) -> [i32; 5] {
        std::array::from_fn(|index| {
            let net = |leaf: &Leaf| balance(&leaf.board, PIECES[index]);
            pairs::sign(side) * (net(leaves[0]) - net(leaves[1]))
        })
    }
}

/// The parts with those of the same group and color as one: features of a group stand for each other, and what they
/// are worth apart from that says little.
fn by_group(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        let same = |other: &&mut Part| match (other.subject.group(), part.subject.group()) {
            (Some((group, color)), Some(own)) => (group, color) == own,
            _ => false,
        };
        let Some(other) = merged.iter_mut().find(same) else {
            merged.push(part);
            continue;
        };
        other.amount += part.amount;
        other.subject = match (other.subject, part.subject) {
            (Subject::Feature(one, color, 1), Subject::Feature(two, _, -1)) => Subject::Instead([one, two], color),
            (Subject::Feature(one, color, -1), Subject::Feature(two, _, 1)) => Subject::Instead([two, one], color),
            (subject, _) => match subject.group() {
                Some((group, color)) => Subject::Several(group, color),
                None => subject,
            },
        };
    }
    merged
}

fn sorted(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|part| part.amount != 0);
    parts.sort_by_key(|part| -part.amount.abs());
    parts
}

/// White's pieces of a type less Black's.
fn balance(board: &Board, piece: Piece) -> i32 {
    let count = |color| board.colored(color, piece).popcnt() as i32;
    count(Color::White) - count(Color::Black)
}

/// Finds the parts.
struct Maker<'a> {
    weights: &'a Weights,
    leaves: [&'a Leaf; 2],
    /// 1 if White sees it, else -1.
    sign: i32,
    /// Both phases together, which is twice their mean.
    phase: i64,
    entries: Vec<(Topic, Part)>,
}

impl<'a> Maker<'a> {
    fn new(weights: &'a Weights, leaves: [&'a Leaf; 2], sign: i32) -> Maker<'a> {
        let phase = leaves.iter().map(|leaf| i64::from(weights.phase(&leaf.board))).sum();
        Maker { weights, leaves, sign, phase, entries: Vec::new() }
    }

    fn add(&mut self, topic: Topic, subject: Subject, amount: i64) {
        if amount != 0 {
            self.entries.push((topic, Part { subject, amount: i64::from(self.sign) * amount }));
        }
    }

    /// So many more of a feature, at the mean phase, from White's side.
    fn worth(&self, feature: usize, count: i32) -> i64 {
        let [mg, eg] = self.weights.ints()[feature].map(i64::from);
        let tapered = mg * self.phase + eg * (2 * i64::from(PHASE_MAX) - self.phase);
        tapered * i64::from(self.weights.units.scale) * i64::from(count)
    }

    fn material(&mut self) {
        for piece in PIECES {
            let [first, second] = self.leaves.map(|leaf| balance(&leaf.board, piece));
            let count = first - second;
            self.add(Topic::Material, Subject::Material(piece, count), self.worth(MATERIAL.at(piece), count));
        }
    }

    /// Pieces that stand in one position only: their squares, and their pairs with all others.
    fn placement(&mut self) {
        let boards = self.leaves.map(|leaf| leaf.board.placed_pieces().collect::<Vec<_>>());
        let only = |this: usize| {
            let gone = |piece: &&PieceSquare| !boards[1 - this].contains(piece);
            boards[this].iter().filter(gone).copied().collect::<Vec<_>>()
        };
        let moved = [only(0), only(1)];
        let topics = topics_of(&moved);
        for this in [0, 1] {
            let count = if this == 0 { 1 } else { -1 };
            let topic = |piece: PieceSquare| {
                let place = moved[this].iter().position(|other| *other == piece)?;
                Some(topics[this][place])
            };
            for (place, &piece) in boards[this].iter().enumerate() {
                if let Some(topic) = topic(piece) {
                    let square = LOCATION.at(piece.piece, HalfSquare(pairs::row(piece)));
                    let worth = self.worth(square, count * pairs::sign(piece.color));
                    self.add(topic, Subject::Square(piece, count), worth);
                }
                for &other in &boards[this][..place] {
                    // Each one's view of the other; where one of them has not moved, both views are the other's.
                    let topics = (topic(piece).or(topic(other)), topic(other).or(topic(piece)));
                    let (Some(own), Some(others)) = topics else { continue };
                    let (white, black) = if piece.color == Color::White { (piece, other) } else { (other, piece) };
                    let subject = Subject::Pair(white, black, count);
                    let [view, others_view] = [pair(piece, other), pair(other, piece)]
                        .map(|pair| self.worth(PAIRS.at(pair), count * pair.sign));
                    if own == others {
                        self.add(own, subject, view + others_view);
                    } else {
                        self.add(own, subject, view);
                        self.add(others, subject, others_view);
                    }
                }
            }
        }
    }

    /// Features of the whole board. What both colors gain alike is left out: it cancels.
    fn terms(&mut self) {
        let mut counts: BTreeMap<u32, [i32; 2]> = BTreeMap::new();
        for (leaf, sign) in self.leaves.into_iter().zip([1, -1]) {
            let mut list: Vec<(u32, i32)> = Vec::new();
            terms(&leaf.board, &mut list);
            for (feature, count) in list {
                counts.entry(feature).or_default()[usize::from(count < 0)] += sign * count;
            }
        }
        for (feature, sides) in counts {
            let feature = feature as usize;
            if sides[0] + sides[1] == 0 {
                continue;
            }
            for (color, count) in COLORS.into_iter().zip(sides) {
                let topic = topic_of(group_of(feature), color);
                let subject = Subject::Feature(feature, color, count * pairs::sign(color));
                self.add(topic, subject, self.worth(feature, count));
            }
        }
    }

    fn phase(&mut self) {
        let phases = self.leaves.map(|leaf| i64::from(self.weights.phase(&leaf.board)));
        let sums = self.leaves.map(|leaf| self.weights.sums(&leaf.board).map(i64::from));
        let both = [sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]];
        let amount = (both[0] - both[1]) * (phases[0] - phases[1]) * i64::from(self.weights.units.scale);
        self.add(Topic::Alone(Subject::Phase), Subject::Phase, amount);
    }

    /// From the sums to the evaluations, and from those to the values of the lines.
    fn corrections(&mut self) {
        let (mut rounding, mut search) = (0, 0);
        for (place, leaf) in self.leaves.into_iter().enumerate() {
            let count = if place == 0 { 1 } else { -1 };
            let steps = Steps::of(self.weights, &leaf.board);
            rounding += count * (FINE * i64::from(steps.scaled) - steps.exact);
            let ending = Subject::Ending(place);
            self.add(Topic::Alone(ending), ending, count * FINE * i64::from(steps.value - steps.scaled));
            let rest = count * FINE * i64::from(leaf.value - steps.value);
            let certain = match leaf.end {
                LineEnd::Evaluated => {
                    search += rest;
                    continue;
                }
                LineEnd::Mate => Subject::Mate(place),
                LineEnd::Draw => Subject::Draw(place),
                LineEnd::Decided => Subject::Decided(place),
            };
            self.add(Topic::Alone(certain), certain, rest);
        }
        self.add(Topic::Alone(Subject::Rounding), Subject::Rounding, rounding);
        self.add(Topic::Alone(Subject::Search), Subject::Search, search);
    }
}

/// A position's evaluation from White's side, step by step.
struct Steps {
    /// The tapered and scaled sum of weights, exactly, in parts of a search unit.
    exact: i64,
    /// The same in search units, rounded as the evaluation rounds it.
    scaled: Value,
    /// With what is known of endings.
    value: Value,
}

impl Steps {
    fn of(weights: &Weights, board: &Board) -> Steps {
        let sums = weights.sums(board);
        let ([mg, eg], phase) = (sums.map(i64::from), i64::from(weights.phase(board)));
        let tapered = mg * phase + eg * (i64::from(PHASE_MAX) - phase);
        let sign = pairs::sign(board.side_to_move());
        let scaled = weights.units.scaled(weights.value(sums, board));
        Steps {
            exact: 2 * tapered * i64::from(weights.units.scale),
            scaled,
            value: sign * with_endings(board, sign * scaled),
        }
    }
}

/// The topics of pieces that stand in one position only: the piece, where the other position has it elsewhere.
fn topics_of(moved: &[Vec<PieceSquare>; 2]) -> [Vec<Topic>; 2] {
    let mut topics = [vec![Topic::Material; moved[0].len()], vec![Topic::Material; moved[1].len()]];
    let mut matched = vec![false; moved[1].len()];
    // A pawn is found again on its file before it is on another.
    for nearest in [true, false] {
        for (place, piece) in moved[0].iter().enumerate() {
            if topics[0][place] != Topic::Material {
                continue;
            }
            let same = |other: &PieceSquare| {
                (other.color, other.piece) == (piece.color, piece.piece)
                    && (!nearest || other.square.get_file() == piece.square.get_file())
            };
            if let Some(other) = (0..moved[1].len()).find(|&at| !matched[at] && same(&moved[1][at])) {
                matched[other] = true;
                let topic = Topic::Piece(piece.color, piece.piece, [piece.square, moved[1][other].square]);
                (topics[0][place], topics[1][other]) = (topic, topic);
            }
        }
    }
    topics
}

/// The topic of a group of terms. Numbers of pieces are material; attacks on a king are about that king.
fn topic_of(group: &Group, color: Color) -> Topic {
    match group.family {
        Family::Material | Family::MaterialPairs => Topic::Material,
        Family::King if is_attack(group) => Topic::Family(Family::King, !color),
        family => Topic::Family(family, color),
    }
}

/// Whether a group about king safety counts what a player does to the enemy's king.
fn is_attack(group: &Group) -> bool {
    const ATTACKS: [&str; 10] = [
        "king_attackers",
        "king_attack",
        "king_attack_by",
        "king_weak_squares",
        "king_danger",
        "safe_checks",
        "unsafe_checks",
        "back_rank",
        "flank_attack",
        "flank_pawnless",
    ];
    ATTACKS.contains(&group.name)
}

/// "White" or "Black".
#[must_use]
pub fn color_name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// "pawn" to "king".
#[must_use]
pub fn piece_name(piece: Piece) -> &'static str {
    super::layout::PIECE_NAMES[piece.to_index()]
}

impl Subject {
    /// Whether the sum of weights has it, and not what is done with the sum.
    #[must_use]
    pub fn is_linear(self) -> bool {
        matches!(self, Subject::Material(..) | Subject::Square(..) | Subject::Pair(..)) || self.group().is_some()
    }

    /// The group and the color of features of the whole board.
    fn group(self) -> Option<(&'static Group, Color)> {
        match self {
            Subject::Feature(feature, color, _) => Some((group_of(feature), color)),
            Subject::Instead([feature, _], color) => Some((group_of(feature), color)),
            Subject::Several(group, color) => Some((group, color)),
            _ => None,
        }
    }

    /// It in words; `moves` are the moves that the two lines begin with.
    #[must_use]
    pub fn words(self, moves: [&str; 2]) -> String {
        let standing = |count: i32| moves[usize::from(count < 0)];
        match self {
            Subject::Material(piece, count) => {
                let (color, count) = (if count > 0 { Color::White } else { Color::Black }, count.abs());
                let plural = if count == 1 { "" } else { "s" };
                format!("after {}: {count} more {}{plural} for {}", moves[0], piece_name(piece), color_name(color))
            }
            Subject::Square(piece, count) => format!("after {}: {} on its square", standing(count), name(piece)),
            Subject::Pair(first, second, count) => {
                format!("after {}: {} with {}", standing(count), name(first), name(second))
            }
            Subject::Feature(feature, color, count) => {
                let times = if count.abs() > 1 { format!(", {} times", count.abs()) } else { String::new() };
                let words = describe_feature(feature);
                format!("after {}: {}: {words}{times}", standing(count), color_name(color))
            }
            Subject::Instead(features, color) => {
                let [first, second] = features.map(describe_feature);
                format!("{}: {first} rather than {second}", color_name(color))
            }
            Subject::Several(group, color) => format!("{}: {}", color_name(color), group.about),
            Subject::Phase => "not linear: the stage of the game differs, endgame weights count more or less".into(),
            Subject::Rounding => "not linear: the integers of the evaluation are rounded".into(),
            Subject::Ending(place) => {
                format!("not linear: what is known of the ending after {}, in place of the sum", moves[place])
            }
            Subject::Mate(place) => format!("not linear: the line of {} ends in mate", moves[place]),
            Subject::Draw(place) => format!("not linear: the line of {} ends in a draw", moves[place]),
            Subject::Decided(place) => format!("not linear: the line of {} is decided", moves[place]),
            Subject::Search => {
                "not linear: corrections by search, which knows similar positions and more than one line".into()
            }
        }
    }
}

impl Topic {
    /// It in words; `moves` are the moves that the two lines begin with.
    #[must_use]
    pub fn words(self, moves: [&str; 2]) -> String {
        match self {
            Topic::Material => "material".into(),
            Topic::Piece(color, piece, [first, second]) => {
                format!("{}'s {} on {first} rather than {second}", color_name(color), piece_name(piece))
            }
            Topic::Family(family, color) => {
                let color = color_name(color);
                match family {
                    Family::Mobility => format!("mobility of {color}'s pieces"),
                    Family::Pawns => format!("{color}'s pawn structure"),
                    Family::Passed => format!("{color}'s passed pawns"),
                    Family::Pieces => format!("{color}'s pieces among the pawns (outposts, files, pins)"),
                    Family::Threats => format!("{color}'s threats"),
                    Family::King => format!("safety of {color}'s king"),
                    Family::Space => format!("{color}'s space and the center"),
                    Family::Lead => format!("what {color} can make of a lead"),
                    Family::Material | Family::MaterialPairs | Family::Location | Family::Pairs => {
                        format!("{color}'s {}", family.name())
                    }
                }
            }
            Topic::Alone(subject) => subject.words(moves),
        }
    }
}

#[cfg(test)]
mod tests;
