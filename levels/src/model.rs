//! The move model: P(move | position, rating).
//!
//! Players calculate to different depths from move to move, stronger ones deeper and more often. So the model is a
//! mixture over depths: with weight `w_d`, a move is chosen by a softmax over utilities at depth `d`. With `u` the
//! utility of move `m` at rating `r`,
//!
//! ```text
//! P(m | r) = sum over d of w_d softmax_m(u_d)
//! u_d(m)   = a_d asinh(v / 150) + b_d tanh(v / 600) + (c + c_d) . features(m) + s_d e . square_features(m)
//! ```
//!
//! where `v` is the move's value at that depth. Both curves flatten, since a pawn matters little in a decided game. A
//! player who does not calculate reacts to other features than one who does, so each depth adds `c_d` to the common
//! coefficients `c` and scales the square features by `s_d`. The mixture weights `w` are a softmax over [`GATES`]
//! properties of the position. Every coefficient is a linear spline of the rating with the knots [`SPLINE_KNOTS`]; `a`,
//! `b` and `s` are kept positive by an exponential. The training objective is in the trainer.

use super::analysis::DEPTHS;
use super::features::{MOVE_FEATURES, NAMED_FEATURES, PositionContext, phase};
use dyad_engine::board::{Board, Move};
use dyad_engine::value::{MATE, MATE_IN_MAX, Value};

/// Knots of the linear splines: the ratings with a parameter. The outer segments extend beyond the ends.
pub const SPLINE_KNOTS: [f64; 6] = [800.0, 1200.0, 1600.0, 2000.0, 2400.0, 2800.0];
/// Number of inputs of the mixture weights: 1, check, phase, log of the number of moves, margin of the best move after
/// one ply, whether the opponent has just captured, best value at full depth, margin by the static evaluation, margin
/// after four plies.
pub const GATES: usize = 9;
/// Number of curves of a value, each with a coefficient.
pub const VALUE_CURVES: usize = 2;
/// Number of coefficients at one rating.
pub const COEFFICIENTS: usize = FIRST_SQUARE_SCALE + DEPTHS;
/// Index of the first coefficient of a value.
const FIRST_VALUE: usize = DEPTHS * GATES;
/// Index of the first coefficient of a feature.
pub const FIRST_FEATURE: usize = FIRST_VALUE + DEPTHS * VALUE_CURVES;
/// Index of the first coefficient of a square feature.
pub const FIRST_SQUARE_FEATURE: usize = FIRST_FEATURE + NAMED_FEATURES;
/// Index of the first coefficient that a depth adds to a feature.
pub const FIRST_DEPTH_FEATURE: usize = FIRST_FEATURE + MOVE_FEATURES;
/// Index of the first scale of the square features.
pub(crate) const FIRST_SQUARE_SCALE: usize = FIRST_DEPTH_FEATURE + DEPTHS * NAMED_FEATURES;
/// Number of parameters: each coefficient at each knot.
pub const PARAMETERS: usize = COEFFICIENTS * SPLINE_KNOTS.len();

/// Weights of the knots at a rating: the basis functions of the spline.
pub fn basis(rating: f64) -> [f64; SPLINE_KNOTS.len()] {
    let last = SPLINE_KNOTS.len() - 2;
    let left = SPLINE_KNOTS.iter().rposition(|&knot| knot <= rating).unwrap_or(0).min(last);
    let fraction = (rating - SPLINE_KNOTS[left]) / (SPLINE_KNOTS[left + 1] - SPLINE_KNOTS[left]);
    let mut basis = [0.0; SPLINE_KNOTS.len()];
    basis[left] = 1.0 - fraction;
    basis[left + 1] = fraction;
    basis
}

/// Input of the model for a move.
#[derive(Clone, Debug)]
pub struct MoveInput {
    /// The value at each depth, on each curve.
    pub values: [[f32; VALUE_CURVES]; DEPTHS],
    /// Index and value of its features.
    pub features: Vec<(u16, f32)>,
}

/// Input of the model for a position.
#[derive(Clone, Debug)]
pub struct PositionInput {
    /// Inputs of the mixture weights.
    pub gates: [f32; GATES],
    /// The moves.
    pub moves: Vec<MoveInput>,
}

impl PositionInput {
    /// The input for these moves with their values; `repeats` if a move repeats a position of the game.
    pub fn new(
        context: &PositionContext,
        moves: &[Move],
        values: &[[Value; DEPTHS]],
        repeats: &[bool],
    ) -> PositionInput {
        let highest = |depth: usize| values.iter().map(|values| values[depth]).max().unwrap_or(0);
        let highest: [Value; DEPTHS] = std::array::from_fn(highest);
        let board: &Board = context.board;
        let gates = [
            1.0,
            f32::from(u8::from(board.in_check())),
            phase(board) as f32,
            (moves.len() as f32 / 32.0).ln().clamp(-2.0, 1.0),
            margin(values, 1),
            f32::from(u8::from(context.last_captured)),
            curves(highest[DEPTHS - 1])[1],
            margin(values, 0),
            margin(values, 4),
        ];
        let input = |((&mv, values), &repeats): ((&Move, &[Value; DEPTHS]), &bool)| MoveInput {
            values: values.map(curves),
            features: context.features(mv, values, &highest, repeats),
        };
        PositionInput { gates, moves: moves.iter().zip(values).zip(repeats).map(input).collect() }
    }
}

/// Margin of the best move over the second best at a depth, on the first curve; at most 3.
fn margin(values: &[[Value; DEPTHS]], depth: usize) -> f32 {
    let mut sorted: Vec<Value> = values.iter().map(|values| values[depth]).collect();
    sorted.sort_unstable_by_key(|&value| -value);
    let best = sorted.first().copied().unwrap_or(0);
    let second = sorted.get(1).copied().unwrap_or(best);
    (curves(best)[0] - curves(second)[0]).min(3.0)
}

fn curves(value: Value) -> [f32; VALUE_CURVES] {
    /// A mate exceeds all other values, nearer mates more.
    const NEAR_MATE: f64 = 12_000.0;
    const PLY: f64 = 100.0;
    let value = match value.abs() {
        ordinary if ordinary < MATE_IN_MAX => f64::from(value).clamp(-6_000.0, 6_000.0),
        mate => f64::from(value.signum()) * (NEAR_MATE - PLY * f64::from(MATE - mate).min(50.0)),
    };
    [(value / 150.0).asinh() as f32, (value / 600.0).tanh() as f32]
}

/// The coefficients of the model at one rating.
#[derive(Clone, Debug)]
pub struct SkillLevel {
    /// As used: values and scales after the exponential, features of a depth with the common coefficient added.
    pub coefficients: Vec<f64>,
}

/// The probabilities of a position, with those of its depths, which training needs.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// Mixture weights of the depths.
    pub depth_weights: [f64; DEPTHS],
    /// For each move: its probability at each depth.
    pub by_depth: Vec<[f64; DEPTHS]>,
    /// The probability of each move.
    pub moves: Vec<f64>,
}

impl SkillLevel {
    /// The coefficients of `parameters` at a rating.
    pub fn new(parameters: &[f64], rating: f64) -> SkillLevel {
        let basis = basis(rating);
        let at = |coefficient: usize| -> f64 {
            let knots = &parameters[coefficient * SPLINE_KNOTS.len()..][..SPLINE_KNOTS.len()];
            knots.iter().zip(basis).map(|(knot, weight)| knot * weight).sum()
        };
        let mut coefficients: Vec<f64> = (0..COEFFICIENTS).map(at).collect();
        for positive in [FIRST_VALUE..FIRST_FEATURE, FIRST_SQUARE_SCALE..COEFFICIENTS] {
            coefficients[positive].iter_mut().for_each(|x| *x = x.exp());
        }
        let (common, of_depths) = coefficients.split_at_mut(FIRST_DEPTH_FEATURE);
        for of_depth in of_depths[..DEPTHS * NAMED_FEATURES].chunks_exact_mut(NAMED_FEATURES) {
            of_depth.iter_mut().zip(&common[FIRST_FEATURE..]).for_each(|(own, common)| *own += common);
        }
        SkillLevel { coefficients }
    }

    /// Index of a gate's coefficient.
    pub const fn gate(depth: usize, gate: usize) -> usize {
        depth * GATES + gate
    }

    /// Index of the coefficient of a value on a curve.
    pub const fn value(depth: usize, curve: usize) -> usize {
        FIRST_VALUE + depth * VALUE_CURVES + curve
    }

    /// Index of the coefficient that a depth adds to a named feature; in a [`SkillLevel`], of their sum.
    pub const fn depth_feature(depth: usize, feature: usize) -> usize {
        FIRST_DEPTH_FEATURE + depth * NAMED_FEATURES + feature
    }

    /// Index of the scale of the square features at a depth.
    pub const fn square_scale(depth: usize) -> usize {
        FIRST_SQUARE_SCALE + depth
    }

    /// The probabilities of the moves.
    pub fn predict(&self, position: &PositionInput) -> Prediction {
        let c = &self.coefficients;
        let gates = std::array::from_fn(|depth| {
            position.gates.iter().enumerate().map(|(gate, &x)| c[SkillLevel::gate(depth, gate)] * f64::from(x)).sum()
        });
        let depth_weights = softmax(gates);
        let mut by_depth: Vec<[f64; DEPTHS]> = position.moves.iter().map(|input| self.utilities(input)).collect();
        for depth in 0..DEPTHS {
            let highest = by_depth.iter().map(|row| row[depth]).fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for row in &mut by_depth {
                row[depth] = (row[depth] - highest).exp();
                sum += row[depth];
            }
            by_depth.iter_mut().for_each(|row| row[depth] /= sum);
        }
        let moves =
            by_depth.iter().map(|row| row.iter().zip(depth_weights).map(|(p, weight)| p * weight).sum()).collect();
        Prediction { depth_weights, by_depth, moves }
    }

    fn utilities(&self, input: &MoveInput) -> [f64; DEPTHS] {
        let c = &self.coefficients;
        let squares = self.squares(input);
        let mut utilities = std::array::from_fn(|depth| {
            let [a, b] = input.values[depth].map(f64::from);
            c[SkillLevel::value(depth, 0)] * a
                + c[SkillLevel::value(depth, 1)] * b
                + c[SkillLevel::square_scale(depth)] * squares
        });
        for &(feature, x) in input.features.iter().filter(|(feature, _)| usize::from(*feature) < NAMED_FEATURES) {
            for (depth, utility) in utilities.iter_mut().enumerate() {
                *utility += c[SkillLevel::depth_feature(depth, usize::from(feature))] * f64::from(x);
            }
        }
        utilities
    }

    /// The sum of a move's square features, without the scale of a depth.
    pub fn squares(&self, input: &MoveInput) -> f64 {
        let squares = input.features.iter().filter(|(feature, _)| usize::from(*feature) >= NAMED_FEATURES);
        squares.map(|&(feature, x)| self.coefficients[FIRST_FEATURE + usize::from(feature)] * f64::from(x)).sum()
    }
}

fn softmax(values: [f64; DEPTHS]) -> [f64; DEPTHS] {
    let highest = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let powers = values.map(|value| (value - highest).exp());
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// Initial parameters for training: deeper values count more, and features nothing.
pub fn start() -> Vec<f64> {
    let mut parameters = vec![0.0; PARAMETERS];
    for depth in 0..DEPTHS {
        for curve in 0..VALUE_CURVES {
            let at = SkillLevel::value(depth, curve) * SPLINE_KNOTS.len();
            parameters[at..at + SPLINE_KNOTS.len()].fill(0.3 * depth as f64 - 0.2);
        }
    }
    parameters
}
