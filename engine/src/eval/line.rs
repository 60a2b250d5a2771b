//! The linear model as search and training use it.
//!
//! Placement is kept along the line of search, the terms of material, pawns and kings are remembered by their
//! keys, the other terms are worked out anew. The backward pass needs no line: a pull on a tapered sum is a pull on each
//! of the position's features, in proportion to its count and shared between middlegame and endgame weight.

use super::accumulator::Accumulator;
use super::cache::Cache;
use super::compiled::{Compiled, Total, unpack};
use super::model::{Model, Share, Step, Trainable};
use super::placement::visit;
use super::taper::{PHASE_MAX, taper};
use super::terms::{Balance, PawnInfo, Shelters, king_key, king_terms, material_terms, pawn_terms, piece_terms};
use super::units::Units;
use super::weights::Weights;
use crate::board::{Board, Color};

/// Pawn structures that are remembered: as many as the second-level cache has room for.
const PAWN_SLOTS: usize = 1 << 12;
/// Pawns with kings that are remembered.
const KING_SLOTS: usize = 1 << 13;
/// Materials that are remembered: a search sees few.
const MATERIAL_SLOTS: usize = 1 << 10;

/// What one thread keeps of the linear model.
pub struct Line {
    placed: Accumulator<Compiled>,
    /// Packed sums of the pawn terms, with what the other terms need to know.
    pawns: Cache<(i64, PawnInfo)>,
    /// Packed sums of the terms of pawns and kings, with what the other terms need to know.
    kings: Cache<(i64, Shelters)>,
    /// Packed sums of the material terms, with what the other terms need to know.
    material: Cache<(i64, Balance)>,
}

impl Line {
    /// The line that begins with `board`.
    pub fn new(compiled: &Compiled, board: &Board) -> Line {
        let mut placed = Accumulator::new();
        placed.reset(compiled, board);
        Line {
            placed,
            pawns: Cache::new(PAWN_SLOTS),
            kings: Cache::new(KING_SLOTS),
            material: Cache::new(MATERIAL_SLOTS),
        }
    }

    /// Middlegame and endgame sums of `board`, where the line stands, from White's side.
    #[inline]
    pub fn sums(&mut self, compiled: &Compiled, board: &Board) -> [i32; 2] {
        let [mg, eg] = self.placed.get(compiled, board).sums;
        if !compiled.has_terms() {
            return [mg, eg];
        }
        let [terms_mg, terms_eg] = unpack(self.terms(compiled, board));
        [mg + terms_mg, eg + terms_eg]
    }

    /// Packed sums of the terms of the whole board.
    #[inline]
    fn terms(&mut self, compiled: &Compiled, board: &Board) -> i64 {
        let (material, balance) = self.material.get(board.material_key(), || {
            let mut total = Total::new(compiled);
            let balance = material_terms(board, &mut total);
            (total.sum(), balance)
        });
        let (pawns, info) = self.pawns.get(board.pawn_key(), || {
            let mut total = Total::new(compiled);
            let info = pawn_terms(board, &mut total);
            (total.sum(), info)
        });
        let (kings, shelters) = self.kings.get(king_key(board), || {
            let mut total = Total::new(compiled);
            let shelters = king_terms(board, info, &mut total);
            (total.sum(), shelters)
        });
        let mut total = Total::new(compiled);
        piece_terms(board, balance, info, shelters, &mut total);
        material + pawns + kings + total.sum()
    }
}

impl Model for Weights {
    type Line = Line;

    fn line(&self, board: &Board) -> Line {
        Line::new(self.linear.compiled(), board)
    }

    fn reset(&self, line: &mut Line, board: &Board) {
        line.placed.reset(self.linear.compiled(), board);
    }

    fn renew(&self, line: &mut Line) {
        line.placed.forget();
        line.pawns.clear();
        line.kings.clear();
        line.material.clear();
    }

    #[inline]
    fn push(&self, line: &mut Line, step: &Step) {
        line.placed.push(self.linear.compiled(), step);
    }

    #[inline]
    fn pop(&self, line: &mut Line) {
        line.placed.pop();
    }

    /// Exactly the tapered sum of the features' integer weights.
    #[inline]
    fn value(&self, line: &mut Line, board: &Board) -> i32 {
        let [mg, eg] = line.sums(self.linear.compiled(), board);
        let value = taper(mg, eg, self.linear.phase(board));
        if board.side_to_move() == Color::White { value } else { -value }
    }

    #[inline]
    fn phase(&self, board: &Board) -> i32 {
        self.linear.phase(board)
    }

    #[inline]
    fn units(&self) -> &Units {
        &self.units
    }

    fn id(&self) -> String {
        Weights::id(self)
    }
}

/// The features of a position, and how its value comes from their weights.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Features and counts, White's positive.
    pub features: Vec<(u32, i32)>,
    /// The share of the middlegame.
    pub alpha: f64,
    /// 1 with White to move, -1 with Black.
    pub sign: f64,
}

impl Trace {
    /// The features of `board`, in the memory of those before.
    pub fn read(&mut self, board: &Board, phase: i32) {
        self.features.clear();
        visit(board, &mut self.features);
        self.alpha = f64::from(phase) / f64::from(PHASE_MAX);
        self.sign = if board.side_to_move() == Color::White { 1.0 } else { -1.0 };
    }

    /// Tells what `pull` brings each feature.
    #[inline]
    pub fn backward(&self, pull: f64, share: Share, mut add: impl FnMut(u32, [f64; 2])) {
        let [mg, eg] = tapered_factors(self.alpha, share).map(|factor| self.sign * pull * factor);
        for &(feature, count) in &self.features {
            add(feature, [mg * f64::from(count), eg * f64::from(count)]);
        }
    }
}

impl Trainable for Weights {
    type Trace = Trace;

    fn parameters(&self) -> usize {
        self.ints().len()
    }

    fn forward(&self, board: &Board, trace: &mut Trace) -> i32 {
        trace.read(board, self.phase(board));
        let value = self.value(self.dot(&trace.features), board);
        if board.side_to_move() == Color::White { value } else { -value }
    }

    #[inline]
    fn backward(&self, trace: &Trace, pull: f64, share: Share, add: impl FnMut(u32, [f64; 2])) {
        trace.backward(pull, share, add);
    }
}

/// How a pull is shared between the middlegame and the endgame weights of a leaf's features: the factors
/// of formulas (7) and (8) of the Chinese chess paper, or those of (4) and (5).
pub fn tapered_factors(alpha: f64, share: Share) -> [f64; 2] {
    let rest = 1.0 - alpha;
    let length = match share {
        Share::Balanced => alpha * alpha + rest * rest,
        Share::Gradient => 1.0,
    };
    [alpha / length, rest / length]
}
