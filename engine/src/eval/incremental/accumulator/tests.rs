//! The accumulator with a table that requests refreshes: tuples of a piece and the zone of a king.

use super::*;
use crate::board::squares::{file, rank, relative_square};
use crate::board::{COLORS, Color, Piece, PieceSquare, sign};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::Cell;

type Weight = [i32; 2];

/// A weight for each piece-square and zone of either king. The zone is the half of the board by files, and whether the
/// king has left its first two ranks. A king that changes its zone changes all tuples.
struct Zones {
    weights: Vec<Weight>,
}

const ZONES: usize = 4 * 2 * 6 * 64;

impl Zones {
    fn random(seed: u64) -> Zones {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut weight = || random.random_range(-20..=20);
        Zones { weights: (0..ZONES).map(|_| [weight(), weight()]).collect() }
    }

    fn zone(board: &Board, color: Color) -> usize {
        let king = relative_square(color, board.king(color));
        usize::from(file(king) >= 4) * 2 + usize::from(rank(king) >= 2)
    }

    fn zones(board: &Board) -> [usize; 2] {
        COLORS.map(|color| Zones::zone(board, color))
    }

    fn add(&self, zones: [usize; 2], piece: PieceSquare, count: i32, sums: &mut Weight) {
        for (king, zone) in COLORS.into_iter().zip(zones) {
            let (own, sign) = (usize::from(piece.color == king), sign(king) * count);
            let square = relative_square(king, piece.square).to_index();
            let index = ((zone * 2 + own) * 6 + piece.piece.to_index()) * 64 + square;
            let [mg, eg] = self.weights[index];
            *sums = [sums[0] + sign * mg, sums[1] + sign * eg];
        }
    }
}

impl Incremental for Zones {
    type Sums = Weight;
    type Update = ([usize; 2], Delta);

    fn update(&self, step: &Step) -> Option<Self::Update> {
        let [before, after] = [step.before, step.after].map(Zones::zones);
        (before == after).then_some((after, *step.delta))
    }

    fn refresh(&self, board: &Board, sums: &mut Weight) {
        *sums = [0; 2];
        board.placed_pieces().for_each(|piece| self.add(Zones::zones(board), piece, 1, sums));
    }

    fn apply(&self, (zones, delta): &Self::Update, before: &Weight, sums: &mut Weight) {
        *sums = *before;
        delta.removed().iter().for_each(|&piece| self.add(*zones, piece, -1, sums));
        delta.added().iter().for_each(|&piece| self.add(*zones, piece, 1, sums));
    }
}

const STARTS: [&str; 4] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/8/8/3q4/8/1B1QK3/8/8 w - - 0 1",
];

/// Walks a tree as a search does, with null moves and positions that are not evaluated.
fn walk(accumulator: &mut Accumulator<Zones>, table: &Zones, board: &Board, depth: usize, random: &mut Pcg64) {
    let check = |accumulator: &mut Accumulator<Zones>| {
        let mut fresh = Weight::default();
        table.refresh(board, &mut fresh);
        assert_eq!(*accumulator.get(table, board), fresh, "{board}");
    };
    if depth == 0 || random.random_bool(0.5) {
        check(accumulator);
    }
    if depth == 0 {
        return;
    }
    let step = |accumulator: &mut Accumulator<Zones>, after: &Board, delta: &Delta, random: &mut Pcg64| {
        accumulator.push(table, &Step { before: board, after, delta });
        walk(accumulator, table, after, depth - 1, random);
        accumulator.pop();
    };
    for &mv in board.moves().iter() {
        let king = board.piece_on(mv.from()) == Some(Piece::King);
        if king || mv.promotion().is_some() || random.random_bool(0.15) {
            let mut after = *board;
            let delta = board.make_move(mv, &mut after);
            step(accumulator, &after, &delta, random);
        }
    }
    if !board.in_check() {
        let mut after = *board;
        board.make_null(&mut after);
        step(accumulator, &after, &Delta::none(), random);
    }
    check(accumulator);
}

#[test]
fn sums_equal_refreshed_ones_at_every_node() {
    let tables = [Zones::random(1), Zones::random(2)];
    let mut accumulator = Accumulator::new();
    for (seed, start) in STARTS.iter().enumerate() {
        let (table, board) = (&tables[seed % 2], Board::from_fen(start).unwrap());
        accumulator.invalidate();
        accumulator.reset(table, &board);
        walk(&mut accumulator, table, &board, 3, &mut Pcg64::seed_from_u64(seed as u64));
    }
}

/// Counts refreshes and updates.
#[derive(Default)]
struct Counting {
    refreshes: Cell<usize>,
    updates: Cell<usize>,
}

impl Incremental for Counting {
    type Sums = u64;
    type Update = u64;

    fn update(&self, step: &Step) -> Option<u64> {
        (Zones::zones(step.before) == Zones::zones(step.after)).then(|| step.after.key())
    }

    fn refresh(&self, board: &Board, key: &mut u64) {
        self.refreshes.set(self.refreshes.get() + 1);
        *key = board.key();
    }

    fn apply(&self, update: &u64, _: &u64, key: &mut u64) {
        self.updates.set(self.updates.get() + 1);
        *key = *update;
    }
}

#[test]
fn only_requested_sums_are_computed_and_only_once() {
    let (table, mut accumulator) = (Counting::default(), Accumulator::new());
    let mut board = Board::from_fen("4k3/8/8/8/8/8/P7/4K3 w - - 0 1").unwrap();
    accumulator.reset(&table, &board);
    let mut play = |accumulator: &mut Accumulator<Counting>, moves: &[&str]| {
        for mv in moves {
            let before = board;
            let delta = before.make_move(before.parse_uci(mv).unwrap(), &mut board);
            accumulator.push(&table, &Step { before: &before, after: &board, delta: &delta });
        }
        let counts = (table.refreshes.get(), table.updates.get());
        assert_eq!(*accumulator.get(&table, &board), board.key());
        assert_eq!(*accumulator.get(&table, &board), board.key());
        (table.refreshes.get() - counts.0, table.updates.get() - counts.1)
    };
    assert_eq!(play(&mut accumulator, &[]), (0, 0));
    assert_eq!(play(&mut accumulator, &["a2a3", "e8e7", "a3a4"]), (0, 3));
    // The white king changes its zone, so the moves after that need no updates.
    assert_eq!(play(&mut accumulator, &["e7e8", "e1d1", "e8e7", "d1c1"]), (1, 0));
    assert_eq!(play(&mut accumulator, &["e7e8"]), (0, 1));
    for _ in 0..8 {
        accumulator.pop();
    }
    accumulator.invalidate();
    let start = Board::from_fen("4k3/8/8/8/8/8/P7/4K3 w - - 0 1").unwrap();
    assert_eq!((*accumulator.get(&table, &start), table.refreshes.get()), (start.key(), 3));
}
