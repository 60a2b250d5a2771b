//! A small network, for experiments: a model that shares nothing with the linear one but the seam.
//!
//! Two views of the board, each player's own, go through one layer of the same weights, from piece-squares to
//! [`HIDDEN`] clipped sums; the value is a weighted sum of both, the mover's first. The program plays and trains the
//! linear model only. This one shows what another model takes, can be searched with and trained like it, and is a
//! baseline for whoever asks what a network would bring.
//!
//! Parameters are floats in training and the nearest integers in search, in the same units. In order: the input
//! weights, piece-square by piece-square; the biases; the output weights, the mover's view first.

use super::accumulator::{Accumulator, Incremental};
use super::model::{Model, Share, Step, Trainable};
use super::taper::phase_of_material;
use super::units::Units;
use crate::board::{Board, Color, Delta, PIECE_VALUES, Piece, PieceSquare};

/// Sums of a view.
pub const HIDDEN: usize = 16;
/// A view's piece-squares: own and other, by type and square.
const INPUTS: usize = 2 * 6 * 64;
/// Number of parameters.
pub const PARAMETERS: usize = (INPUTS + 3) * HIDDEN;
/// Sums are held between 0 and this.
const CLIP: i32 = 1024;
/// What the sum of the output is divided by.
const DIVISOR: i32 = 256;
/// Where in the parameters the biases begin.
const BIASES: usize = INPUTS * HIDDEN;
/// Where in the parameters the output weights begin.
const OUTPUTS: usize = BIASES + HIDDEN;

/// The sums of one view.
type View = [i32; HIDDEN];

/// A network, ready to evaluate with.
#[derive(Clone, Debug)]
pub struct Network {
    first: FirstLayer,
    outputs: [View; 2],
    units: Units,
}

/// From piece-squares to sums, for both views.
#[derive(Clone, Debug)]
pub struct FirstLayer {
    inputs: Vec<View>,
    biases: View,
}

impl Network {
    /// Rounds [`PARAMETERS`] floats.
    ///
    /// # Panics
    /// If there are more or fewer.
    #[must_use]
    pub fn new(parameters: &[f64], units: Units) -> Network {
        assert_eq!(parameters.len(), PARAMETERS, "a network has so many parameters");
        let (views, _) = parameters.as_chunks::<HIDDEN>();
        let view = |row: usize| views[row].map(|parameter| parameter.round() as i32);
        let first = FirstLayer { inputs: (0..INPUTS).map(view).collect(), biases: view(INPUTS) };
        Network { first, outputs: [view(INPUTS + 1), view(INPUTS + 2)], units }
    }

    /// The value of the sums of both views, the mover's first.
    fn output(&self, views: [&View; 2]) -> i32 {
        let products = (0..2).flat_map(|view| (0..HIDDEN).map(move |h| (view, h)));
        let sum: i64 =
            products.map(|(view, h)| i64::from(self.outputs[view][h]) * i64::from(clipped(views[view][h]))).sum();
        (sum / i64::from(DIVISOR)) as i32
    }
}

fn clipped(sum: i32) -> i32 {
    sum.clamp(0, CLIP)
}

/// The mover's view first.
fn by_mover<T>([white, black]: [T; 2], board: &Board) -> [T; 2] {
    if board.side_to_move() == Color::White { [white, black] } else { [black, white] }
}

/// The input of a piece in the view of a player.
fn input(view: Color, piece: PieceSquare) -> usize {
    let (other, turn) = (usize::from(piece.color != view), if view == Color::White { 0 } else { 56 });
    (other * 6 + piece.piece.to_index()) * 64 + (piece.square.to_index() ^ turn)
}

impl FirstLayer {
    fn add(&self, piece: PieceSquare, sign: i32, views: &mut [View; 2]) {
        for (view, color) in views.iter_mut().zip([Color::White, Color::Black]) {
            let weights = &self.inputs[input(color, piece)];
            view.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += sign * weight);
        }
    }
}

/// White's view and Black's.
impl Incremental for FirstLayer {
    type Entry = [View; 2];
    type Note = Delta;

    fn note(&self, step: &Step) -> Option<Delta> {
        Some(*step.delta)
    }

    fn refresh(&self, board: &Board, views: &mut [View; 2]) {
        *views = [self.biases; 2];
        board.placed_pieces().for_each(|piece| self.add(piece, 1, views));
    }

    fn follow(&self, delta: &Delta, before: &[View; 2], views: &mut [View; 2]) {
        *views = *before;
        delta.removed().iter().for_each(|&piece| self.add(piece, -1, views));
        delta.added().iter().for_each(|&piece| self.add(piece, 1, views));
    }
}

impl Model for Network {
    type Line = Accumulator<FirstLayer>;

    fn line(&self, board: &Board) -> Self::Line {
        let mut line = Accumulator::new();
        line.reset(&self.first, board);
        line
    }

    fn reset(&self, line: &mut Self::Line, board: &Board) {
        line.reset(&self.first, board);
    }

    fn renew(&self, line: &mut Self::Line) {
        line.forget();
    }

    fn push(&self, line: &mut Self::Line, step: &Step) {
        line.push(&self.first, step);
    }

    fn pop(&self, line: &mut Self::Line) {
        line.pop();
    }

    fn value(&self, line: &mut Self::Line, board: &Board) -> i32 {
        let [white, black] = line.get(&self.first, board);
        self.output(by_mover([white, black], board))
    }

    /// With the pieces' values of Table I.
    fn phase(&self, board: &Board) -> i32 {
        let pieces = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
        phase_of_material(pieces.map(|p| board.pieces(p).popcnt() as i32 * PIECE_VALUES[p.to_index()]).iter().sum())
    }

    fn units(&self) -> &Units {
        &self.units
    }

    fn id(&self) -> String {
        let mut crc = crc32fast::Hasher::new();
        let mut add = |numbers: &[i32]| numbers.iter().for_each(|number| crc.update(&number.to_le_bytes()));
        add(&[self.units.scale]);
        add(&self.units.win_rate.a);
        add(&self.units.win_rate.b);
        add(self.first.inputs.as_flattened());
        add(&self.first.biases);
        add(self.outputs.as_flattened());
        format!("{:08x}", crc.finalize())
    }
}

/// What the backward pass needs: the views, and the inputs they are made of, the mover's first.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    views: [View; 2],
    inputs: [Vec<usize>; 2],
}

impl Trainable for Network {
    type Trace = Trace;

    fn parameters(&self) -> usize {
        PARAMETERS
    }

    fn forward(&self, board: &Board, trace: &mut Trace) -> i32 {
        let mut views = [[0; HIDDEN]; 2];
        self.first.refresh(board, &mut views);
        trace.views = by_mover(views, board);
        for (inputs, color) in trace.inputs.iter_mut().zip(by_mover([Color::White, Color::Black], board)) {
            inputs.clear();
            inputs.extend(board.placed_pieces().map(|piece| input(color, piece)));
        }
        let [mover, other] = &trace.views;
        self.output([mover, other])
    }

    fn backward(&self, trace: &Trace, pull: f64, _: Share, mut add: impl FnMut(u32, [f64; 2])) {
        let pull = pull / f64::from(DIVISOR);
        for view in 0..2 {
            for h in 0..HIDDEN {
                let sum = trace.views[view][h];
                add((OUTPUTS + view * HIDDEN + h) as u32, [pull * f64::from(clipped(sum)), 0.0]);
                // Beyond the clip nothing changes.
                if (1..CLIP).contains(&sum) {
                    let slope = [pull * f64::from(self.outputs[view][h]), 0.0];
                    add((BIASES + h) as u32, slope);
                    trace.inputs[view].iter().for_each(|input| add((input * HIDDEN + h) as u32, slope));
                }
            }
        }
    }
}
