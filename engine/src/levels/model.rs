//! The move model: P(move | position, rating).
//!
//! Players look to different depths from move to move, the stronger ones further and more often. So the model is a mixture
//! over depths: a share of the moves is chosen by the values after `d` plies, by a softmax in which the value of a move
//! and its cues count. With `u` the utility of move `m` at depth `d` and rating `r`,
//!
//! ```text
//! P(m | r) = sum over d of w_d softmax_m(u_d)
//! u_d(m)   = a_d asinh(v / 150) + b_d tanh(v / 600) + (c + c_d) . cues(m) + s_d e . squares(m)
//! ```
//!
//! where `v` is the move's value at that depth: in a game that is decided, a pawn more or less matters little, which the
//! two curves say in two ways. Who chooses at a glance is drawn by other cues than who calculates: so each depth adds `c_d`
//! to what all have in common, and the squares a piece leaves and reaches count `s_d` times. The shares `w` are a softmax
//! of their own over what the position looks like. Every coefficient is a function of the rating, linear between
//! [`KNOTS`]; `a`, `b` and `s` are kept positive by an exponential. The objective is in the trainer; what a position gives the model to see is here, for both.

use super::analysis::DEPTHS;
use super::cues::{CUES, PLAIN, Scene, phase};
use crate::board::{Board, ChessMove};
use crate::value::{MATE, MATE_IN_MAX, Value};

/// Ratings at which coefficients are given; linear between them, and on to both sides.
pub const KNOTS: [f64; 6] = [800.0, 1200.0, 1600.0, 2000.0, 2400.0, 2800.0];
/// What the shares of the depths depend on: a constant, check, the phase, how many moves there are, how far the best
/// move is ahead after one ply, whether the opponent has just captured, how the game stands by the deepest values, and how
/// far the best move is ahead by the static evaluation and after four plies.
pub const GATES: usize = 9;
/// Coefficients of a value.
pub const SLOPES: usize = 2;
/// Coefficients at one rating.
pub const COEFFICIENTS: usize = FIRST_SCALE + DEPTHS;
/// Where the slopes begin.
const FIRST_SLOPE: usize = DEPTHS * GATES;
/// Where the cues begin.
pub const FIRST_CUE: usize = FIRST_SLOPE + DEPTHS * SLOPES;
/// Where the cues of squares begin.
pub const FIRST_SQUARE: usize = FIRST_CUE + PLAIN;
/// Where what the depths add to the cues begins.
pub const FIRST_DEPTH_CUE: usize = FIRST_CUE + CUES;
/// Where begins how much the squares count at each depth.
pub const FIRST_SCALE: usize = FIRST_DEPTH_CUE + DEPTHS * PLAIN;
/// Parameters of a model: each coefficient at each knot.
pub const PARAMETERS: usize = COEFFICIENTS * KNOTS.len();

/// How much each knot counts at a rating.
#[must_use]
pub fn basis(rating: f64) -> [f64; KNOTS.len()] {
    let last = KNOTS.len() - 2;
    let left = KNOTS.iter().rposition(|&knot| knot <= rating).unwrap_or(0).min(last);
    let share = (rating - KNOTS[left]) / (KNOTS[left + 1] - KNOTS[left]);
    let mut basis = [0.0; KNOTS.len()];
    basis[left] = 1.0 - share;
    basis[left + 1] = share;
    basis
}

/// What the model sees of a move.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its value at each depth, on both curves.
    pub values: [[f32; SLOPES]; DEPTHS],
    /// Numbers and strengths of its cues.
    pub cues: Vec<(u16, f32)>,
}

/// What the model sees of a position.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What the shares of the depths depend on.
    pub gates: [f32; GATES],
    /// The moves.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// What the model sees where the moves have these values, and some bring back a position of the game.
    #[must_use]
    pub fn new(scene: &Scene, moves: &[ChessMove], values: &[[Value; DEPTHS]], repeats: &[bool]) -> Choice {
        let highest = |depth: usize| values.iter().map(|values| values[depth]).max().unwrap_or(0);
        let highest: [Value; DEPTHS] = std::array::from_fn(highest);
        let board: &Board = scene.board;
        let gates = [
            1.0,
            f32::from(u8::from(board.in_check())),
            phase(board) as f32,
            (moves.len() as f32 / 32.0).ln().clamp(-2.0, 1.0),
            lead(values, 1),
            f32::from(u8::from(scene.last_captured)),
            curves(highest[DEPTHS - 1])[1],
            lead(values, 0),
            lead(values, 4),
        ];
        let candidate = |((&mv, values), &repeats): ((&ChessMove, &[Value; DEPTHS]), &bool)| Candidate {
            values: values.map(curves),
            cues: scene.cues(mv, values, &highest, repeats),
        };
        Choice { gates, candidates: moves.iter().zip(values).zip(repeats).map(candidate).collect() }
    }
}

/// How far the best move is ahead of the second best after so many depths, on the first curve; at most 3.
fn lead(values: &[[Value; DEPTHS]], depth: usize) -> f32 {
    let mut of_depth: Vec<Value> = values.iter().map(|values| values[depth]).collect();
    of_depth.sort_unstable_by_key(|&value| -value);
    let best = of_depth.first().copied().unwrap_or(0);
    let second = of_depth.get(1).copied().unwrap_or(best);
    (curves(best)[0] - curves(second)[0]).min(3.0)
}

/// A value on both curves.
fn curves(value: Value) -> [f32; SLOPES] {
    /// Beyond all values that are no mates; a mate is worth more the nearer it is.
    const NEAR_MATE: f64 = 12_000.0;
    const PLY: f64 = 100.0;
    let value = match value.abs() {
        plain if plain < MATE_IN_MAX => f64::from(value).clamp(-6_000.0, 6_000.0),
        mate => f64::from(value.signum()) * (NEAR_MATE - PLY * f64::from(MATE - mate).min(50.0)),
    };
    [(value / 150.0).asinh() as f32, (value / 600.0).tanh() as f32]
}

/// The coefficients at one rating.
#[derive(Clone, Debug)]
pub struct Level {
    /// As they are used: slopes and scales after the exponential, cues of a depth with what all depths have in common.
    pub coefficients: Vec<f64>,
}

/// What a model says of a position, with what a training needs to learn from it.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// Shares of the depths.
    pub shares: [f64; DEPTHS],
    /// For each depth: the probability of each move.
    pub by_depth: Vec<[f64; DEPTHS]>,
    /// The probability of each move.
    pub moves: Vec<f64>,
}

impl Level {
    /// The coefficients of `parameters` at a rating.
    #[must_use]
    pub fn new(parameters: &[f64], rating: f64) -> Level {
        let basis = basis(rating);
        let at = |coefficient: usize| -> f64 {
            let knots = &parameters[coefficient * KNOTS.len()..][..KNOTS.len()];
            knots.iter().zip(basis).map(|(knot, share)| knot * share).sum()
        };
        let mut coefficients: Vec<f64> = (0..COEFFICIENTS).map(at).collect();
        for positive in [FIRST_SLOPE..FIRST_CUE, FIRST_SCALE..COEFFICIENTS] {
            coefficients[positive].iter_mut().for_each(|x| *x = x.exp());
        }
        let (common, of_depths) = coefficients.split_at_mut(FIRST_DEPTH_CUE);
        for of_depth in of_depths[..DEPTHS * PLAIN].chunks_exact_mut(PLAIN) {
            of_depth.iter_mut().zip(&common[FIRST_CUE..]).for_each(|(own, common)| *own += common);
        }
        Level { coefficients }
    }

    /// Index of a share's coefficient.
    #[must_use]
    pub const fn gate(depth: usize, gate: usize) -> usize {
        depth * GATES + gate
    }

    /// Index of a value's coefficient.
    #[must_use]
    pub const fn slope(depth: usize, slope: usize) -> usize {
        FIRST_SLOPE + depth * SLOPES + slope
    }

    /// Index of what a depth adds to a cue that is no square; of a [`Level`], of what the cue counts there.
    #[must_use]
    pub const fn depth_cue(depth: usize, cue: usize) -> usize {
        FIRST_DEPTH_CUE + depth * PLAIN + cue
    }

    /// Index of how much the squares count at a depth.
    #[must_use]
    pub const fn scale(depth: usize) -> usize {
        FIRST_SCALE + depth
    }

    /// The probabilities of the moves.
    #[must_use]
    pub fn predict(&self, choice: &Choice) -> Prediction {
        let c = &self.coefficients;
        let shares = std::array::from_fn(|depth| {
            choice.gates.iter().enumerate().map(|(gate, &x)| c[Level::gate(depth, gate)] * f64::from(x)).sum()
        });
        let shares = softmax(shares);
        let mut by_depth: Vec<[f64; DEPTHS]> =
            choice.candidates.iter().map(|candidate| self.utilities(candidate)).collect();
        for depth in 0..DEPTHS {
            let highest = by_depth.iter().map(|row| row[depth]).fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for row in &mut by_depth {
                row[depth] = (row[depth] - highest).exp();
                sum += row[depth];
            }
            by_depth.iter_mut().for_each(|row| row[depth] /= sum);
        }
        let moves = by_depth.iter().map(|row| row.iter().zip(shares).map(|(p, share)| p * share).sum()).collect();
        Prediction { shares, by_depth, moves }
    }

    fn utilities(&self, candidate: &Candidate) -> [f64; DEPTHS] {
        let c = &self.coefficients;
        let squares = self.squares(candidate);
        let mut utilities = std::array::from_fn(|depth| {
            let [a, b] = candidate.values[depth].map(f64::from);
            c[Level::slope(depth, 0)] * a + c[Level::slope(depth, 1)] * b + c[Level::scale(depth)] * squares
        });
        for &(cue, strength) in candidate.cues.iter().filter(|(cue, _)| usize::from(*cue) < PLAIN) {
            for (depth, utility) in utilities.iter_mut().enumerate() {
                *utility += c[Level::depth_cue(depth, usize::from(cue))] * f64::from(strength);
            }
        }
        utilities
    }

    /// What a move's squares count, before the scale of a depth.
    #[must_use]
    pub fn squares(&self, candidate: &Candidate) -> f64 {
        let squares = candidate.cues.iter().filter(|(cue, _)| usize::from(*cue) >= PLAIN);
        squares.map(|&(cue, x)| self.coefficients[FIRST_CUE + usize::from(cue)] * f64::from(x)).sum()
    }
}

fn softmax(values: [f64; DEPTHS]) -> [f64; DEPTHS] {
    let highest = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let powers = values.map(|value| (value - highest).exp());
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// A model whose parameters are to be learned: deeper values count more, and cues nothing.
#[must_use]
pub fn start() -> Vec<f64> {
    let mut parameters = vec![0.0; PARAMETERS];
    for depth in 0..DEPTHS {
        for slope in 0..SLOPES {
            let at = Level::slope(depth, slope) * KNOTS.len();
            parameters[at..at + KNOTS.len()].fill(0.3 * depth as f64 - 0.2);
        }
    }
    parameters
}
