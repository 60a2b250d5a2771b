//! The network: layers with the ReLU, two copies of the encoder side by side, a comparator on top.
//!
//! The input is 773 bits, of which at most 37 are set, so the first layer is a sum of the rows of those bits; all
//! others are products of matrices, a batch of positions at a time. Both copies of the encoder share their weights: the
//! first and the second positions of all pairs go through it as one batch.

use dyad_engine::board::{Board, Color, Piece};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Bits of a position: 12 kinds of pieces on 64 squares, side to move, four rights to castle.
pub const INPUTS: usize = 773;
/// Answers of the comparator: the first position is the better one for White, or the second.
pub const ANSWERS: usize = 2;

/// The bits of a position that are set, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits(Box<[u16]>);

impl Bits {
    /// Those of a board.
    pub fn new(board: &Board) -> Bits {
        let kind = |placed: dyad_engine::board::PieceSquare| {
            let kind = 6 * placed.color.to_index() + placed.piece.to_index();
            (64 * kind + placed.square.to_index()) as u16
        };
        let mut bits: Vec<u16> = board.placed_pieces().map(kind).collect();
        if board.side_to_move() == Color::White {
            bits.push(768);
        }
        // A castling rook is on one side of its king or the other: the two rights of each color.
        for (at, color) in [(769, Color::White), (771, Color::Black)] {
            for rook in board.castling_rooks() & board.colored(color, Piece::Rook) {
                bits.push(at + u16::from(rook.get_file() < board.king(color).get_file()));
            }
        }
        bits.sort_unstable();
        bits.dedup();
        Bits(bits.into())
    }

    /// Their numbers.
    pub fn set(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|&bit| bit.into())
    }
}

/// A layer: the outputs are inputs times weights plus bias.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// A row for each input, a column for each output.
    pub weights: Array2<f32>,
    /// One for each output.
    pub bias: Array1<f32>,
}

impl Layer {
    /// All zero.
    pub fn zeros(inputs: usize, outputs: usize) -> Layer {
        Layer { weights: Array2::zeros((inputs, outputs)), bias: Array1::zeros(outputs) }
    }

    /// Layers of these inputs and outputs with random weights, whose outputs vary as their inputs do (He et al. 2015).
    pub fn stack(shapes: &[(usize, usize)], seed: u64) -> Vec<Layer> {
        let mut random = Pcg64::seed_from_u64(seed);
        let layer = |&(inputs, outputs): &(usize, usize)| {
            let limit = (6.0 / inputs as f32).sqrt();
            let weights = Array2::from_shape_simple_fn((inputs, outputs), || random.random_range(-limit..limit));
            Layer { weights, bias: Array1::zeros(outputs) }
        };
        shapes.iter().map(layer).collect()
    }

    /// Outputs of a batch of dense inputs, a row each.
    pub fn dense(&self, inputs: ArrayView2<f32>) -> Array2<f32> {
        let mut outputs = self.rows_of_bias(inputs.nrows());
        general_mat_mul(1.0, &inputs, &self.weights, 1.0, &mut outputs);
        outputs
    }

    /// Outputs of a batch of bits.
    pub fn sparse(&self, batch: &[&Bits]) -> Array2<f32> {
        let mut outputs = self.rows_of_bias(batch.len());
        for (mut row, bits) in outputs.rows_mut().into_iter().zip(batch) {
            bits.0.iter().for_each(|&bit| row += &self.weights.row(bit.into()));
        }
        outputs
    }

    fn rows_of_bias(&self, rows: usize) -> Array2<f32> {
        self.bias.broadcast((rows, self.bias.len())).expect("a row can be repeated").to_owned()
    }

    /// Adds the gradient by weights and bias of a loss whose gradient by the outputs is `slope`, for dense inputs.
    pub fn learn_dense(&mut self, inputs: ArrayView2<f32>, slope: ArrayView2<f32>) {
        general_mat_mul(1.0, &inputs.t(), &slope, 1.0, &mut self.weights);
        self.bias += &slope.sum_axis(Axis(0));
    }

    /// The same for bits.
    pub fn learn_sparse(&mut self, batch: &[&Bits], slope: ArrayView2<f32>) {
        for (row, bits) in slope.rows().into_iter().zip(batch) {
            for &bit in &bits.0 {
                let mut weights = self.weights.row_mut(bit.into());
                weights += &row;
            }
        }
        self.bias += &slope.sum_axis(Axis(0));
    }

    /// The gradient by the inputs, of a loss whose gradient by the outputs is `slope`.
    pub fn backward(&self, slope: ArrayView2<f32>) -> Array2<f32> {
        slope.dot(&self.weights.t())
    }

    /// All numbers in a fixed order.
    pub fn numbers(&self) -> impl Iterator<Item = f32> + '_ {
        self.weights.iter().chain(&self.bias).copied()
    }
}

fn rectify(outputs: &mut Array2<f32>) {
    outputs.mapv_inplace(|output| output.max(0.0));
}

/// The outputs of each of these layers of Pos2Vec, a row for each position.
pub fn encoded(encoder: &[Layer], batch: &[&Bits]) -> Vec<Array2<f32>> {
    let mut all: Vec<Array2<f32>> = Vec::with_capacity(encoder.len());
    for layer in encoder {
        let mut outputs = match all.last() {
            None => layer.sparse(batch),
            Some(inputs) => layer.dense(inputs.view()),
        };
        rectify(&mut outputs);
        all.push(outputs);
    }
    all
}

/// Multiplies a gradient by the derivative of the ReLU at these outputs: zero where a unit was not active.
pub fn gate(slope: &mut Array2<f32>, outputs: &Array2<f32>) {
    slope.zip_mut_with(outputs, |slope, &output| *slope = if output > 0.0 { *slope } else { 0.0 });
}

/// The sizes of a network's layers, from the first hidden one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of the encoder.
    pub encoder: Vec<usize>,
    /// Of the comparator; the last is [`ANSWERS`].
    pub comparator: Vec<usize>,
}

impl Sizes {
    /// The inputs and outputs of the layers of the encoder and of the comparator.
    pub fn shapes(&self) -> [Vec<(usize, usize)>; 2] {
        let vector = self.encoder.last().copied().unwrap_or(INPUTS);
        [(INPUTS, &self.encoder), (2 * vector, &self.comparator)].map(|(inputs, sizes)| {
            let inputs = [inputs].into_iter().chain(sizes.iter().copied());
            inputs.zip(sizes.iter().copied()).collect()
        })
    }

    /// How many numbers a network of these sizes has.
    pub fn parameters(&self) -> usize {
        self.shapes().iter().flatten().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }
}

/// Two copies of an encoder and a comparator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Pos2Vec.
    pub encoder: Vec<Layer>,
    /// On two of its vectors side by side.
    pub comparator: Vec<Layer>,
}

/// What the layers gave for a batch of pairs, which the backward pass needs.
pub struct Trace {
    /// After each layer of the encoder; the first positions of all pairs, then the second ones.
    encoded: Vec<Array2<f32>>,
    /// What the comparator is given, and what each of its layers gives.
    compared: Vec<Array2<f32>>,
}

impl Trace {
    /// The answers before they are made probabilities, a row for each pair.
    pub fn answers(&self) -> &Array2<f32> {
        self.compared.last().expect("a comparator has layers")
    }
}

impl Network {
    /// Random weights.
    pub fn random(sizes: &Sizes, seed: u64) -> Network {
        let [encoder, comparator] = sizes.shapes();
        Network { encoder: Layer::stack(&encoder, seed), comparator: Layer::stack(&comparator, seed ^ 1) }
    }

    /// A network with nothing but zeros: a gradient before anything is learned.
    pub fn zeros(sizes: &Sizes) -> Network {
        let zeros = |shapes: Vec<(usize, usize)>| {
            shapes.into_iter().map(|(inputs, outputs)| Layer::zeros(inputs, outputs)).collect()
        };
        let [encoder, comparator] = sizes.shapes().map(zeros);
        Network { encoder, comparator }
    }

    /// The sizes of its layers.
    pub fn sizes(&self) -> Sizes {
        let of = |layers: &[Layer]| layers.iter().map(|layer| layer.bias.len()).collect();
        Sizes { encoder: of(&self.encoder), comparator: of(&self.comparator) }
    }

    /// The layers in their order.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.encoder.iter().chain(&self.comparator)
    }

    /// The layers in their order.
    pub fn layers_mut(&mut self) -> impl Iterator<Item = &mut Layer> {
        self.encoder.iter_mut().chain(&mut self.comparator)
    }

    /// Numbers in the vector of a position.
    pub fn vector(&self) -> usize {
        self.encoder.last().map_or(INPUTS, |layer| layer.bias.len())
    }

    /// The vectors of positions, a row each.
    pub fn encode(&self, batch: &[&Bits]) -> Array2<f32> {
        encoded(&self.encoder, batch).pop().expect("an encoder has layers")
    }

    fn compared(&self, vectors: Array2<f32>) -> Vec<Array2<f32>> {
        let mut all = vec![vectors];
        for (number, layer) in self.comparator.iter().enumerate() {
            let mut outputs = layer.dense(all[number].view());
            if number + 1 < self.comparator.len() {
                rectify(&mut outputs);
            }
            all.push(outputs);
        }
        all
    }

    /// The answers for pairs of vectors, before they are made probabilities.
    pub fn compare(&self, vectors: Array2<f32>) -> Array2<f32> {
        self.compared(vectors).pop().expect("a comparator has layers")
    }

    /// The forward pass for pairs of positions.
    pub fn forward(&self, first: &[&Bits], second: &[&Bits]) -> Trace {
        let encoded = encoded(&self.encoder, &[first, second].concat());
        let vectors = encoded.last().expect("an encoder has layers");
        let (one, other) = vectors.view().split_at(Axis(0), first.len());
        let compared = self.compared(concatenate(Axis(1), &[one, other]).expect("both have a row for each pair"));
        Trace { encoded, compared }
    }

    /// Adds to `gradient` that by all weights, of a loss whose gradient by the answers is `slope`.
    pub fn backward(
        &self,
        first: &[&Bits],
        second: &[&Bits],
        trace: &Trace,
        slope: Array2<f32>,
        gradient: &mut Network,
    ) {
        let mut slope = slope;
        for (number, layer) in self.comparator.iter().enumerate().rev() {
            gradient.comparator[number].learn_dense(trace.compared[number].view(), slope.view());
            slope = layer.backward(slope.view());
            if number > 0 {
                gate(&mut slope, &trace.compared[number]);
            }
        }
        let (pairs, vector) = (first.len(), self.vector());
        let (left, right) = slope.view().split_at(Axis(1), vector);
        let mut slope = concatenate(Axis(0), &[left, right]).expect("both halves are as wide");
        debug_assert_eq!(slope.nrows(), 2 * pairs);
        for (number, layer) in self.encoder.iter().enumerate().rev() {
            gate(&mut slope, &trace.encoded[number]);
            match number {
                0 => gradient.encoder[0].learn_sparse(&[first, second].concat(), slope.view()),
                _ => {
                    gradient.encoder[number].learn_dense(trace.encoded[number - 1].view(), slope.view());
                    slope = layer.backward(slope.view());
                }
            }
        }
    }
}

/// The probability that the first position is the better one for White, by the two answers.
pub fn chance(answers: [f32; 2]) -> f32 {
    1.0 / (1.0 + (answers[1] - answers[0]).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boards() -> [Board; 4] {
        [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k3/8/8/8/8/8/8/4K2R b Kq - 0 1",
            "8/8/4k3/8/3P4/4K3/8/8 w - - 0 1",
            "6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1",
        ]
        .map(|fen| Board::from_fen(fen).unwrap())
    }

    #[test]
    fn a_position_is_773_bits() {
        let bits = boards().map(|board| Bits::new(&board));
        assert_eq!(bits[0].0.len(), 32 + 1 + 4);
        assert_eq!(&bits[0].0[32..], [768, 769, 770, 771, 772]);
        // Two kings, two rooks, no move of White's, one right each: White's to the king's side, Black's to the other.
        assert_eq!(bits[1].0.len(), 6);
        assert_eq!(&bits[1].0[4..], [769, 772]);
        assert_eq!(bits[2].0.len(), 4);
    }

    /// The gradient of a loss, against finite differences.
    #[test]
    fn the_backward_pass_is_the_slope() {
        let sizes = Sizes { encoder: vec![7, 5], comparator: vec![6, 2] };
        let mut network = Network::random(&sizes, 3);
        let boards = boards();
        let bits: Vec<Bits> = boards.iter().map(Bits::new).collect();
        let (first, second) = ([&bits[0], &bits[1]], [&bits[2], &bits[3]]);
        // The answers weighted by fixed numbers, which are the gradient by the answers then.
        let slope = Array2::from_shape_vec((2, 2), vec![0.5, -1.0, 2.0, 0.25]).unwrap();
        let loss = |network: &Network| f64::from((network.forward(&first, &second).answers() * &slope).sum());
        let mut gradient = Network::zeros(&sizes);
        let trace = network.forward(&first, &second);
        network.backward(&first, &second, &trace, slope.clone(), &mut gradient);
        let slopes: Vec<f32> = gradient.layers().flat_map(Layer::numbers).collect();
        let active: Vec<usize> = (0..slopes.len()).filter(|&index| slopes[index] != 0.0).collect();
        assert!(active.len() > 60, "{}", active.len());
        for &index in active.iter().step_by(1 + active.len() / 60) {
            const H: f32 = 1e-3;
            let mut nudged = |by: f32| {
                {
                    let mut numbers =
                        network.layers_mut().flat_map(|layer| layer.weights.iter_mut().chain(&mut layer.bias));
                    *numbers.nth(index).unwrap() += by;
                }
                loss(&network)
            };
            let up = nudged(H);
            let down = nudged(-2.0 * H);
            nudged(H);
            let numeric = (up - down) / f64::from(2.0 * H);
            assert!((numeric - f64::from(slopes[index])).abs() < 0.01, "{index}: {numeric} {}", slopes[index]);
        }
    }

    #[test]
    fn chances_are_those_of_a_softmax() {
        assert_eq!(chance([1.0, 1.0]), 0.5);
        assert!(chance([3.0, 0.0]) > 0.95 && chance([-200.0, 200.0]) >= 0.0);
    }
}
