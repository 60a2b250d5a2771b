//! What has to hold for every model, for the linear one and two that share little with it: tuples that must be worked out
//! anew now and then, and a network.

use super::*;
use crate::board::{ALL_SQUARES, BitBoard, COLORS, Color, Piece, PieceSquare, Squares, attacks, each, square_set};
use crate::eval::accumulator::{Accumulator, Incremental};
use crate::eval::network::{Network, PARAMETERS};
use crate::eval::{Evaluator, FloatWeights, Weights, line, taper};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::Cell;
use std::sync::Arc;

type Weight = [i32; 2];

/// The zone of each king with every other piece: half of the board by files, and whether it has left its first two ranks.
/// When a king changes its zone, all tuples are others.
struct Zones {
    weights: Vec<Weight>,
}

const ZONES: usize = 4 * 2 * 6 * 64;

impl Zones {
    fn zone(board: &Board, color: Color) -> usize {
        let square = board.king(color).to_index() ^ if color == Color::White { 0 } else { 56 };
        usize::from(square % 8 >= 4) * 2 + usize::from(square / 8 >= 2)
    }

    /// Tuple and sign of a piece with the king of this color.
    fn tuple(king: Color, zone: usize, piece: PieceSquare) -> (usize, i32) {
        let turn = if king == Color::White { 0 } else { 56 };
        let own = usize::from(piece.color == king);
        let index = ((zone * 2 + own) * 6 + piece.piece.to_index()) * 64 + (piece.square.to_index() ^ turn);
        (index, if king == Color::White { 1 } else { -1 })
    }

    fn add(&self, zones: [usize; 2], piece: PieceSquare, count: i32, sums: &mut Weight) {
        for (color, zone) in COLORS.into_iter().zip(zones) {
            let (index, sign) = Zones::tuple(color, zone, piece);
            let [mg, eg] = self.weights[index];
            *sums = [sums[0] + sign * count * mg, sums[1] + sign * count * eg];
        }
    }

    fn features(board: &Board) -> Vec<(usize, i32)> {
        let zones = COLORS.map(|color| (color, Zones::zone(board, color)));
        board.placed_pieces().flat_map(|piece| zones.map(|(color, zone)| Zones::tuple(color, zone, piece))).collect()
    }
}

impl Incremental for Zones {
    type Entry = Weight;
    type Note = ([usize; 2], Delta);

    fn note(&self, step: &Step) -> Option<Self::Note> {
        let [before, after] = [step.before, step.after].map(|board| COLORS.map(|color| Zones::zone(board, color)));
        (before == after).then_some((after, *step.delta))
    }

    fn refresh(&self, board: &Board, sums: &mut Weight) {
        *sums = [0; 2];
        let zones = COLORS.map(|color| Zones::zone(board, color));
        board.placed_pieces().for_each(|piece| self.add(zones, piece, 1, sums));
    }

    fn follow(&self, (zones, delta): &Self::Note, before: &Weight, sums: &mut Weight) {
        *sums = *before;
        delta.removed().iter().for_each(|&piece| self.add(*zones, piece, -1, sums));
        delta.added().iter().for_each(|&piece| self.add(*zones, piece, 1, sums));
    }
}

/// Attacker with victim and its square. When a line of a piece that stayed opens or closes, everything is worked out anew.
struct Attacks {
    weights: Vec<Weight>,
}

const ATTACKS: usize = 6 * 6 * 64;

impl Attacks {
    /// All tuples in which one of these squares has a part.
    fn features(board: &Board, of: BitBoard) -> Vec<(usize, i32)> {
        let mut features = Vec::new();
        for attacker in board.placed_pieces() {
            let from = square_set(attacker.square);
            let (square, all) = (attacker.square, board.occupied());
            let attacked = attacks::of(attacker.piece, attacker.color, square, all);
            let white = attacker.color == Color::White;
            for victim in attacked & board.colors(!attacker.color) {
                if ((from | square_set(victim)) & of).any() {
                    let kind = board.piece_on(victim).unwrap().to_index();
                    let victim = victim.to_index() ^ if white { 0 } else { 56 };
                    let index = (attacker.piece.to_index() * 6 + kind) * 64 + victim;
                    features.push((index, if white { 1 } else { -1 }));
                }
            }
        }
        features
    }

    fn sums(&self, board: &Board, of: BitBoard) -> Weight {
        Attacks::features(board, of).iter().fold([0; 2], |[mg, eg], &(index, sign)| {
            let weight = self.weights[index];
            [mg + sign * weight[0], eg + sign * weight[1]]
        })
    }

    /// Whether a slider outside of `of` attacks one of these squares.
    fn is_on_a_line(board: &Board, of: BitBoard) -> bool {
        let sliders = board.pieces(Piece::Bishop) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
        let sliders = sliders & !of;
        each(of).any(|square| (board.attackers_to(square, board.occupied()) & sliders).any())
    }
}

impl Incremental for Attacks {
    type Entry = Weight;
    /// The difference of the sums.
    type Note = Weight;

    fn note(&self, step: &Step) -> Option<Weight> {
        let squares =
            |pieces: &[PieceSquare]| pieces.iter().fold(BitBoard::new(0), |all, piece| all | square_set(piece.square));
        let (removed, added) = (squares(step.delta.removed()), squares(step.delta.added()));
        if Attacks::is_on_a_line(step.before, removed) || Attacks::is_on_a_line(step.after, added) {
            return None;
        }
        let (lost, won) = (self.sums(step.before, removed), self.sums(step.after, added));
        Some([won[0] - lost[0], won[1] - lost[1]])
    }

    fn refresh(&self, board: &Board, sums: &mut Weight) {
        *sums = self.sums(board, board.occupied());
    }

    fn follow(&self, change: &Weight, before: &Weight, sums: &mut Weight) {
        *sums = [before[0] + change[0], before[1] + change[1]];
    }
}

/// The linear model with two more tables of tuples.
pub(crate) struct Tuples {
    linear: Weights,
    zones: Zones,
    attacks: Attacks,
}

pub(crate) struct TuplesLine {
    linear: line::Line,
    zones: Accumulator<Zones>,
    attacks: Accumulator<Attacks>,
}

impl Tuples {
    fn extra(&self, board: &Board) -> Vec<(u32, i32)> {
        let first = self.linear.ints().len();
        let zones = Zones::features(board).into_iter().map(|(index, sign)| (first + index, sign));
        let attacks = Attacks::features(board, board.occupied()).into_iter();
        let attacks = attacks.map(|(index, sign)| (first + ZONES + index, sign));
        zones.chain(attacks).map(|(index, sign)| (index as u32, sign)).collect()
    }

    fn weight(&self, feature: u32) -> Weight {
        let feature = feature as usize;
        match feature.checked_sub(self.linear.ints().len()) {
            None => self.linear.ints()[feature],
            Some(index) if index < ZONES => self.zones.weights[index],
            Some(index) => self.attacks.weights[index - ZONES],
        }
    }

    fn tapered(&self, [mg, eg]: Weight, board: &Board) -> i32 {
        let value = taper(mg, eg, self.phase(board));
        if board.side_to_move() == Color::White { value } else { -value }
    }
}

impl Model for Tuples {
    type Line = TuplesLine;

    fn line(&self, board: &Board) -> TuplesLine {
        let mut line =
            TuplesLine { linear: self.linear.line(board), zones: Accumulator::new(), attacks: Accumulator::new() };
        self.reset(&mut line, board);
        line
    }

    fn reset(&self, line: &mut TuplesLine, board: &Board) {
        self.linear.reset(&mut line.linear, board);
        line.zones.reset(&self.zones, board);
        line.attacks.reset(&self.attacks, board);
    }

    fn renew(&self, line: &mut TuplesLine) {
        self.linear.renew(&mut line.linear);
        line.zones.forget();
        line.attacks.forget();
    }

    fn push(&self, line: &mut TuplesLine, step: &Step) {
        self.linear.push(&mut line.linear, step);
        line.zones.push(&self.zones, step);
        line.attacks.push(&self.attacks, step);
    }

    fn pop(&self, line: &mut TuplesLine) {
        self.linear.pop(&mut line.linear);
        line.zones.pop();
        line.attacks.pop();
    }

    fn value(&self, line: &mut TuplesLine, board: &Board) -> i32 {
        let parts = [
            line.linear.sums(self.linear.linear.compiled(), board),
            *line.zones.get(&self.zones, board),
            *line.attacks.get(&self.attacks, board),
        ];
        self.tapered([0, 1].map(|stage| parts.iter().map(|part| part[stage]).sum()), board)
    }

    fn phase(&self, board: &Board) -> i32 {
        self.linear.phase(board)
    }

    fn units(&self) -> &Units {
        &self.linear.units
    }

    fn id(&self) -> String {
        format!("{} with tuples", self.linear.id())
    }
}

impl Trainable for Tuples {
    type Trace = line::Trace;

    fn parameters(&self) -> usize {
        self.linear.ints().len() + ZONES + ATTACKS
    }

    fn forward(&self, board: &Board, trace: &mut line::Trace) -> i32 {
        trace.read(board, self.phase(board));
        trace.features.extend(self.extra(board));
        let sums = trace.features.iter().fold([0; 2], |[mg, eg], &(feature, count)| {
            let weight = self.weight(feature);
            [mg + count * weight[0], eg + count * weight[1]]
        });
        self.tapered(sums, board)
    }

    fn backward(&self, trace: &line::Trace, pull: f64, share: Share, add: impl FnMut(u32, [f64; 2])) {
        trace.backward(pull, share, add);
    }
}

pub(crate) fn tuples(seed: u64) -> Tuples {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut draw = |count: usize, size: i32| {
        (0..count).map(|_| [random.random_range(-size..=size), random.random_range(-size..=size)]).collect::<Vec<_>>()
    };
    let mut floats = FloatWeights::material();
    for (feature, [mg, eg]) in draw(floats.mg.len(), 30).into_iter().enumerate().skip(6) {
        (floats.mg[feature], floats.eg[feature]) = (f64::from(mg), f64::from(eg));
    }
    Tuples {
        linear: Weights::from_floats(&floats, serde_json::Value::Null).unwrap(),
        zones: Zones { weights: draw(ZONES, 20) },
        attacks: Attacks { weights: draw(ATTACKS, 40) },
    }
}

fn network_parameters(seed: u64) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..PARAMETERS).map(|_| f64::from(random.random_range(-90..=100))).collect()
}

pub(crate) fn network(seed: u64) -> Network {
    Network::new(&network_parameters(seed), Units::default())
}

const STARTS: [&str; 5] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "4k3/8/8/3q4/8/1B1QK3/8/8 w - - 0 1",
];

/// Walks as a search does, null moves and positions that are never evaluated among them.
fn walk<M: Trainable>(
    evaluator: &mut Evaluator<M>,
    trace: &mut M::Trace,
    board: &Board,
    depth: usize,
    random: &mut Pcg64,
) {
    let model = Arc::clone(evaluator.weights());
    let check = |evaluator: &mut Evaluator<M>, trace: &mut M::Trace| {
        let mut fresh = Evaluator::new(Arc::clone(&model));
        fresh.reset(board);
        let value = evaluator.evaluate_raw(board);
        assert_eq!(value, fresh.evaluate_raw(board), "{board}");
        assert_eq!(value, model.forward(board, trace), "{board}");
    };
    if depth == 0 || random.random_bool(0.5) {
        check(evaluator, trace);
    }
    if depth == 0 {
        return;
    }
    let step =
        |evaluator: &mut Evaluator<M>, trace: &mut M::Trace, after: &Board, delta: &Delta, random: &mut Pcg64| {
            evaluator.push(&Step { before: board, after, delta });
            walk(evaluator, trace, after, depth - 1, random);
            evaluator.pop();
        };
    for &mv in board.moves().iter() {
        let king = board.piece_on(mv.get_source()) == Some(Piece::King);
        if king || mv.get_promotion().is_some() || random.random_bool(0.15) {
            let mut after = *board;
            let delta = board.make_move(mv, &mut after);
            step(evaluator, trace, &after, &delta, random);
        }
    }
    if !board.in_check() {
        let mut after = *board;
        board.make_null(&mut after);
        step(evaluator, trace, &after, &Delta::none(), random);
    }
    check(evaluator, trace);
}

fn kept_values_are_fresh_values<M: Trainable>(models: [M; 2]) {
    let models = models.map(Arc::new);
    let mut evaluator = Evaluator::new(Arc::clone(&models[0]));
    for (seed, start) in STARTS.iter().enumerate() {
        let board = Board::from_fen(start).unwrap();
        // Also after a change of the model in the middle of a line.
        evaluator.set_weights(Arc::clone(&models[seed % 2]));
        evaluator.reset(&board);
        walk(&mut evaluator, &mut M::Trace::default(), &board, 3, &mut Pcg64::seed_from_u64(seed as u64));
    }
}

#[test]
fn tuples_that_are_refreshed_equal_fresh_ones_at_every_node() {
    kept_values_are_fresh_values([tuples(1), tuples(2)]);
}

#[test]
fn a_network_equals_a_fresh_one_at_every_node() {
    kept_values_are_fresh_values([network(1), network(2)]);
}

#[test]
fn the_linear_model_equals_a_fresh_one_at_every_node() {
    kept_values_are_fresh_values([tuples(3).linear, tuples(4).linear]);
}

/// A table that counts what it is asked for.
#[derive(Default)]
struct Counting {
    refreshed: Cell<usize>,
    followed: Cell<usize>,
}

impl Incremental for Counting {
    type Entry = u64;
    type Note = u64;

    fn note(&self, step: &Step) -> Option<u64> {
        let crossed = COLORS.iter().any(|&color| Zones::zone(step.before, color) != Zones::zone(step.after, color));
        (!crossed).then(|| step.after.key())
    }

    fn refresh(&self, board: &Board, key: &mut u64) {
        self.refreshed.set(self.refreshed.get() + 1);
        *key = board.key();
    }

    fn follow(&self, note: &u64, _: &u64, key: &mut u64) {
        self.followed.set(self.followed.get() + 1);
        *key = *note;
    }
}

/// Nothing is worked out that nobody asks for, and a refresh happens once, where it is asked for.
#[test]
fn an_accumulator_works_out_what_is_asked_for_and_no_more() {
    let (table, mut accumulator) = (Counting::default(), Accumulator::new());
    let mut board = Board::from_fen("4k3/8/8/8/8/8/P7/4K3 w - - 0 1").unwrap();
    accumulator.reset(&table, &board);
    let mut play = |accumulator: &mut Accumulator<Counting>, moves: &[&str]| {
        for mv in moves {
            let before = board;
            let delta = before.make_move(before.parse_uci(mv).unwrap(), &mut board);
            accumulator.push(&table, &Step { before: &before, after: &board, delta: &delta });
        }
        let counts = (table.refreshed.get(), table.followed.get());
        assert_eq!(*accumulator.get(&table, &board), board.key());
        assert_eq!(*accumulator.get(&table, &board), board.key());
        (table.refreshed.get() - counts.0, table.followed.get() - counts.1)
    };
    assert_eq!(play(&mut accumulator, &[]), (0, 0));
    assert_eq!(play(&mut accumulator, &["a2a3", "e8e7", "a3a4"]), (0, 3));
    // The white king crosses to the other half, and the moves after that need not be followed.
    assert_eq!(play(&mut accumulator, &["e7e8", "e1d1", "e8e7", "d1c1"]), (1, 0));
    assert_eq!(play(&mut accumulator, &["e7e8"]), (0, 1));
    for _ in 0..8 {
        accumulator.pop();
    }
    accumulator.forget();
    let start = Board::from_fen("4k3/8/8/8/8/8/P7/4K3 w - - 0 1").unwrap();
    assert_eq!((*accumulator.get(&table, &start), table.refreshed.get()), (start.key(), 3));
}

/// A position's value, by `value`, changes by as much as the backward pass says when a parameter does.
fn check_slopes<M: Trainable>(model: &M, board: &Board, value: impl Fn(u32, usize, f64) -> f64) {
    let mut trace = M::Trace::default();
    let forward = f64::from(model.forward(board, &mut trace));
    assert!((value(0, 0, 0.0) - forward).abs() < 1.0, "{board}");
    let mut slopes = std::collections::BTreeMap::new();
    model.backward(&trace, 2.0, Share::Gradient, |parameter, [first, second]| {
        let sum = slopes.entry(parameter).or_insert([0.0; 2]);
        *sum = [sum[0] + first, sum[1] + second];
    });
    assert!(slopes.keys().all(|&parameter| (parameter as usize) < model.parameters()));
    let every = 1 + slopes.len() / 60;
    for (&parameter, slope) in slopes.iter().step_by(every) {
        for stage in [0, 1] {
            const H: f64 = 0.25;
            let numeric = (value(parameter, stage, H) - value(parameter, stage, -H)) / H;
            assert!((slope[stage] - numeric).abs() < 1e-6, "{board} {parameter} {stage}: {} {numeric}", slope[stage]);
        }
    }
}

#[test]
fn slopes_of_tuples_are_those_of_the_value() {
    let model = tuples(5);
    for start in STARTS {
        let board = Board::from_fen(start).unwrap();
        let mut trace = line::Trace::default();
        model.forward(&board, &mut trace);
        check_slopes(&model, &board, |parameter, stage, by| {
            let mut sums = [0.0; 2];
            for &(feature, count) in &trace.features {
                let mut weight = model.weight(feature).map(f64::from);
                weight[stage] += if feature == parameter { by } else { 0.0 };
                sums = [0, 1].map(|stage| sums[stage] + f64::from(count) * weight[stage]);
            }
            trace.sign * (trace.alpha * sums[0] + (1.0 - trace.alpha) * sums[1])
        });
    }
}

#[test]
fn slopes_of_a_network_are_those_of_its_value() {
    let parameters = network_parameters(6);
    let model = Network::new(&parameters, Units::default());
    for start in STARTS {
        let board = Board::from_fen(start).unwrap();
        check_slopes(&model, &board, |parameter, stage, by| {
            let mut parameters = parameters.clone();
            parameters[parameter as usize] += if stage == 0 { by } else { 0.0 };
            plainly(&parameters, &board)
        });
    }
}

/// A network's value in floats, written down from its definition.
fn plainly(parameters: &[f64], board: &Board) -> f64 {
    const HIDDEN: usize = crate::eval::network::HIDDEN;
    let mut value = 0.0;
    for (view, color) in [board.side_to_move(), !board.side_to_move()].into_iter().enumerate() {
        for h in 0..HIDDEN {
            let mut sum = parameters[768 * HIDDEN + h];
            for square in ALL_SQUARES {
                let (Some(piece), Some(owner)) = (board.piece_on(square), board.color_on(square)) else { continue };
                let side = usize::from(owner != color);
                let square = if color == Color::White { square.to_index() } else { square.to_index() ^ 56 };
                sum += parameters[((side * 6 + piece.to_index()) * 64 + square) * HIDDEN + h];
            }
            value += parameters[(769 + view) * HIDDEN + h] * sum.clamp(0.0, 1024.0);
        }
    }
    value / 256.0
}
