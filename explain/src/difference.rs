//! The difference of two evaluations as a sum of parts, exactly.
//!
//! Each of two lines ends in a position (its leaf) whose evaluation is a sum over features, so the difference of the
//! two values is a sum over the features in which the leaves differ. What is not a sum has parts of its own: the taper
//! between phases, endgame evaluations, rounding, and the corrections of the search.
//!
//! Let c and C be the counts of a feature in the two leaves, w and W its weight tapered by their phases. Then c w - C W
//! = (c - C)(w + W)/2 + (c + C)/2 (w - W): the first summand is the part of the feature, and the second, summed over
//! all features, is the part of the phase. (This is the Shapley value of a product.) Amounts are fixed-point integers,
//! see [`FIXED_POINT`], so that the parts add up to the difference without rounding.

use dyad_engine::board::{Board, COLORS, Color, PIECES, Piece, PieceSquare, Square, sign};
use dyad_engine::eval::layout::{Family, Group, HalfSquare, Kind, MATERIAL, PAIRS, PIECE_SQUARE, group_of};
use dyad_engine::eval::pairs::{self, pair};
use dyad_engine::eval::units::SCALE_ONE;
use dyad_engine::eval::{PHASE_MAX, Weights, terms, with_endgame_knowledge};
use dyad_engine::value::Value;
use std::collections::BTreeMap;

/// One search unit in amounts: twice the product of the denominators of taper and scale.
pub(crate) const FIXED_POINT: i64 = 2 * PHASE_MAX as i64 * SCALE_ONE as i64;

/// How a principal variation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PvEnd {
    /// In a position that is evaluated.
    Evaluated,
    /// In mate.
    Mate,
    /// In a draw by the rules.
    Draw,
}

/// The leaf of a principal variation.
#[derive(Clone, Copy, Debug)]
pub struct PvLeaf {
    /// The position.
    pub board: Board,
    /// How the variation ends.
    pub end: PvEnd,
    /// The value of the variation from White's side, in search units.
    pub value: Value,
}

/// What a part of a difference comes from. Counts are those of the first leaf minus those of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Pieces of a type: White's minus Black's.
    Material(Piece, i32),
    /// A piece on its square: 1 if it stands there in the first leaf only, -1 if in the second only.
    Square(PieceSquare, i32),
    /// Two pieces, with both their 2-tuples.
    Pair(PieceSquare, PieceSquare, i32),
    /// A feature of the whole board that this color has.
    Feature(usize, Color, i32),
    /// A color has the first of two features of a group in the first leaf, the second in the second. Only in topics.
    Instead([usize; 2], Color),
    /// Several features of a group that a color has. Only in topics.
    Several(&'static Group, Color),
    /// The leaves differ in phase, so middlegame and endgame weights count differently.
    Phase,
    /// The evaluation is rounded to integers.
    Rounding,
    /// An endgame evaluation replaces or scales the sum of a leaf (0 or 1).
    Ending(usize),
    /// A variation (0 or 1) ends in mate.
    Mate(usize),
    /// A variation (0 or 1) ends in a draw.
    Draw(usize),
    /// What the search adds to the evaluations of the leaves: correction history, and values of variations that it cut
    /// short.
    Search,
}

/// Parts that belong together for a chess player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Captured and promoted pieces: their values, and their squares.
    Material,
    /// A piece that stands on different squares: in the first leaf and in the second.
    Piece(Color, Piece, [Square; 2]),
    /// A family of features of a color.
    Family(Family, Color),
    /// A part that is not linear in the weights.
    Alone(Subject),
}

/// A part of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it comes from.
    pub subject: Subject,
    /// Its amount; [`FIXED_POINT`] is one search unit.
    pub amount: i64,
}

/// The parts of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicSum {
    /// The topic.
    pub topic: Topic,
    /// The sum of the parts.
    pub amount: i64,
    /// The parts, the largest first.
    pub parts: Vec<Part>,
}

/// The value of the first leaf minus that of the second, in parts.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Each part with its topic.
    entries: Vec<(Topic, Part)>,
    /// The first value minus the second, in search units: the sum of all parts.
    pub value: Value,
}

impl Difference {
    /// The difference of two leaves from the view of `side`.
    pub fn new(weights: &Weights, leaves: [&PvLeaf; 2], side: Color) -> Difference {
        let mut builder = Builder::new(weights, leaves, sign(side));
        builder.material();
        builder.pieces();
        builder.terms();
        builder.phase();
        builder.corrections();
        Difference { entries: builder.entries, value: sign(side) * (leaves[0].value - leaves[1].value) }
    }

    /// The first value minus the second, in the unit of the parts.
    pub fn total(&self) -> i64 {
        FIXED_POINT * i64::from(self.value)
    }

    /// All parts, the largest first.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::with_capacity(self.entries.len());
        for (_, part) in &self.entries {
            // The pair of two pieces that moved has an entry for each of the two, one after the other.
            match parts.last_mut().filter(|last| last.subject == part.subject) {
                Some(last) => last.amount += part.amount,
                None => parts.push(*part),
            }
        }
        sorted(parts)
    }

    /// The parts by topic, the largest topic first.
    pub fn topics(&self) -> Vec<TopicSum> {
        let mut nets: Vec<TopicSum> = Vec::new();
        for (topic, part) in &self.entries {
            match nets.iter_mut().find(|net| net.topic == *topic) {
                Some(net) => {
                    net.amount += part.amount;
                    net.parts.push(*part);
                }
                None => nets.push(TopicSum { topic: *topic, amount: part.amount, parts: vec![*part] }),
            }
        }
        for net in &mut nets {
            net.parts = sorted(by_group(std::mem::take(&mut net.parts)));
        }
        nets.retain(|net| net.parts.iter().any(|part| part.amount != 0));
        nets.sort_by_key(|net| -net.amount.abs());
        nets
    }
}

/// Merges parts of the same group and color: features of a group replace each other, so only their sum is meaningful.
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

/// White's pieces of a type minus Black's.
fn balance(board: &Board, piece: Piece) -> i32 {
    let count = |color| board.colored(color, piece).popcnt() as i32;
    count(Color::White) - count(Color::Black)
}

struct Builder<'a> {
    weights: &'a Weights,
    leaves: [&'a PvLeaf; 2],
    /// 1 from White's view, -1 from Black's.
    sign: i32,
    /// The sum of both phases, twice their mean.
    phase: i64,
    entries: Vec<(Topic, Part)>,
}

impl<'a> Builder<'a> {
    fn new(weights: &'a Weights, leaves: [&'a PvLeaf; 2], sign: i32) -> Builder<'a> {
        let phase = leaves.iter().map(|leaf| i64::from(weights.phase(&leaf.board))).sum();
        Builder { weights, leaves, sign, phase, entries: Vec::new() }
    }

    /// Adds a part that is a topic of its own.
    fn add_alone(&mut self, subject: Subject, amount: i64) {
        self.add(Topic::Alone(subject), subject, amount);
    }

    fn add(&mut self, topic: Topic, subject: Subject, amount: i64) {
        if amount != 0 {
            self.entries.push((topic, Part { subject, amount: i64::from(self.sign) * amount }));
        }
    }

    /// The amount of `count` more of a feature at the mean phase, from White's side.
    fn amount(&self, feature: usize, count: i32) -> i64 {
        let [mg, eg] = self.weights.ints()[feature].map(i64::from);
        let tapered = mg * self.phase + eg * (2 * i64::from(PHASE_MAX) - self.phase);
        tapered * i64::from(self.weights.units.scale) * i64::from(count)
    }

    fn material(&mut self) {
        for piece in PIECES {
            let [first, second] = self.leaves.map(|leaf| balance(&leaf.board, piece));
            let count = first - second;
            self.add(Topic::Material, Subject::Material(piece, count), self.amount(MATERIAL.at(piece), count));
        }
    }

    /// Pieces that stand in one leaf only: their squares, and their pairs with all other pieces.
    fn pieces(&mut self) {
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
                    let square = PIECE_SQUARE.at(piece.piece, HalfSquare(pairs::row(piece)));
                    let amount = self.amount(square, count * sign(piece.color));
                    self.add(topic, Subject::Square(piece, count), amount);
                }
                for &other in &boards[this][..place] {
                    // Each 2-tuple goes to the topic of its first piece, or of the other piece if the first has not
                    // moved.
                    let topics = (topic(piece).or(topic(other)), topic(other).or(topic(piece)));
                    let (Some(own), Some(others)) = topics else { continue };
                    let (white, black) = if piece.color == Color::White { (piece, other) } else { (other, piece) };
                    let subject = Subject::Pair(white, black, count);
                    let [view, others_view] = [pair(piece, other), pair(other, piece)]
                        .map(|pair| self.amount(PAIRS.at(pair), count * pair.sign));
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

    /// Features of the whole board. What both colors gain equally cancels and is left out.
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
                let subject = Subject::Feature(feature, color, count * sign(color));
                self.add(topic, subject, self.amount(feature, count));
            }
        }
    }

    fn phase(&mut self) {
        let phases = self.leaves.map(|leaf| i64::from(self.weights.phase(&leaf.board)));
        let sums = self.leaves.map(|leaf| self.weights.sums(&leaf.board).map(i64::from));
        let both = [sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]];
        let amount = (both[0] - both[1]) * (phases[0] - phases[1]) * i64::from(self.weights.units.scale);
        self.add_alone(Subject::Phase, amount);
    }

    /// From sums to evaluations, and from evaluations to the values of the variations.
    fn corrections(&mut self) {
        let (mut rounding, mut search) = (0, 0);
        for (place, leaf) in self.leaves.into_iter().enumerate() {
            let count = if place == 0 { 1 } else { -1 };
            let steps = EvalSteps::of(self.weights, &leaf.board);
            rounding += count * (FIXED_POINT * i64::from(steps.scaled) - steps.exact);
            self.add_alone(Subject::Ending(place), count * FIXED_POINT * i64::from(steps.value - steps.scaled));
            let rest = count * FIXED_POINT * i64::from(leaf.value - steps.value);
            match leaf.end {
                PvEnd::Evaluated => search += rest,
                PvEnd::Mate => self.add_alone(Subject::Mate(place), rest),
                PvEnd::Draw => self.add_alone(Subject::Draw(place), rest),
            }
        }
        self.add_alone(Subject::Rounding, rounding);
        self.add_alone(Subject::Search, search);
    }
}

/// The stages of a position's evaluation, from White's side.
pub(crate) struct EvalSteps {
    /// The tapered and scaled sum of weights before rounding, in fixed point.
    exact: i64,
    /// The same in search units, rounded.
    pub(crate) scaled: Value,
    /// After endgame evaluations and scale factors.
    pub(crate) value: Value,
}

impl EvalSteps {
    pub(crate) fn of(weights: &Weights, board: &Board) -> EvalSteps {
        let sums = weights.sums(board);
        let ([mg, eg], phase) = (sums.map(i64::from), i64::from(weights.phase(board)));
        let tapered = mg * phase + eg * (i64::from(PHASE_MAX) - phase);
        let sign = sign(board.side_to_move());
        let scaled = weights.units.scaled(weights.value(sums, board));
        EvalSteps {
            exact: 2 * tapered * i64::from(weights.units.scale),
            scaled,
            value: sign * with_endgame_knowledge(board, sign * scaled),
        }
    }
}

/// The topics of the pieces that stand in one leaf only: a moved piece if the other leaf has it elsewhere, else
/// material.
fn topics_of(moved: &[Vec<PieceSquare>; 2]) -> [Vec<Topic>; 2] {
    let mut topics = [vec![Topic::Material; moved[0].len()], vec![Topic::Material; moved[1].len()]];
    let mut matched = vec![false; moved[1].len()];
    // The same file first: a pawn is identified by its file.
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

/// The topic of a group. Attacks on a king belong to the safety of that king.
fn topic_of(group: &Group, color: Color) -> Topic {
    match group.family {
        Family::Material | Family::MaterialPairs => Topic::Material,
        family if group.kind == Kind::Attack => Topic::Family(family, !color),
        family => Topic::Family(family, color),
    }
}

impl Subject {
    /// The group and the color of a feature of the whole board.
    fn group(self) -> Option<(&'static Group, Color)> {
        match self {
            Subject::Feature(feature, color, _) => Some((group_of(feature), color)),
            Subject::Instead([feature, _], color) => Some((group_of(feature), color)),
            Subject::Several(group, color) => Some((group, color)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
