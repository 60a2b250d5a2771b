//! The gradient contribution of a position.
//!
//! An objective gives the gradient with respect to the values: up for the desired move, down for its siblings. A value
//! is the evaluation of a leaf, so the chain rule continues to the weights of the leaf's features, in proportion to
//! their counts and, since the evaluation is tapered, to the fractions alpha and 1 - alpha of middlegame and endgame:
//! formulas (4) and (5) of the Chinese chess paper. A change along this gradient moves the value by less than asked
//! for, by half in the middle between the phases. Formulas (7) and (8) divide by alpha^2 + (1 - alpha)^2, and formula
//! (9) shows that the change is then exact. alpha is that of each leaf, as in section 3.1 of the chess paper.
//!
//! With the perceptron's gradient, 1 for the desired leaf and -1/|S| for those in S, the sum over the leaves is the
//! update of formula (3).

use crate::learn::examples::Example;
use crate::learn::leaves::{Candidate, Candidates};
use crate::learn::objective::{Objective, Values};
use crate::learn::settings::TrainingSettings;
use crate::learn::update::{Update, UpdateSum};
use dyad_engine::board::Color;
use dyad_engine::eval::Weights;
use dyad_engine::eval::gradient::{GradientScaling, Trace};
use dyad_engine::eval::layout::LEN;
use dyad_engine::value::Value;

/// The gradient contribution of one position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contribution {
    /// The loss before the update.
    pub loss: f64,
    /// Size of S, the number of siblings valued above the desired move.
    pub above: u32,
    /// The negative gradient of the loss.
    pub update: Update,
}

/// Compares the candidates of positions; one per thread, for the scratch memory.
pub struct Comparer {
    objective: Objective,
    /// Whether each parameter learns.
    learns: Vec<bool>,
    /// Whether middlegame and endgame weights change alike.
    untapered: bool,
    sum: UpdateSum,
    trace: Trace,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Comparer {
    /// A comparer for `objective`; the settings say which groups learn.
    pub fn new(objective: Objective, settings: &TrainingSettings) -> Comparer {
        Comparer {
            objective,
            learns: settings.learns(),
            untapered: settings.untapered,
            sum: UpdateSum::new(LEN),
            trace: Trace::default(),
            values: Vec::new(),
            slopes: Vec::new(),
        }
    }

    /// The window of the objective.
    pub fn window(&self) -> Value {
        self.objective.window()
    }

    /// The gradient contribution of `example`, from candidates searched with `weights`.
    pub fn compare(&mut self, example: &Example, candidates: &Candidates, weights: &Weights) -> Contribution {
        let desired = &candidates.desired;
        self.values.clear();
        self.values.extend(candidates.siblings.iter().map(|sibling| f64::from(sibling.value)));
        self.slopes.clear();
        let values = Values {
            desired: f64::from(desired.value),
            siblings: &self.values,
            count: candidates.count,
            result: example.result,
            score: example.score,
        };
        let slope = self.objective.gradient(&values, &mut self.slopes);
        let above = candidates.siblings.iter().filter(|sibling| sibling.value > desired.value).count() as u32;
        let mover = example.board.side_to_move();
        self.add(mover, desired, slope.desired, weights);
        for (i, sibling) in candidates.siblings.iter().enumerate() {
            self.add(mover, sibling, self.slopes[i], weights);
        }
        Contribution { loss: slope.loss, above, update: self.sum.take() }
    }

    /// Adds the gradient of a candidate's value times `slope`.
    fn add(&mut self, mover: Color, candidate: &Candidate, slope: f64, weights: &Weights) {
        if slope == 0.0 {
            return;
        }
        let Candidate { mv, value, leaf } = candidate;
        let sign = if leaf.side_to_move() == mover { 1 } else { -1 };
        let evaluation = sign * weights.forward(leaf, &mut self.trace);
        assert_eq!(evaluation, *value, "the value searched for {mv} is not that of its leaf, {leaf}");
        let Comparer { learns, sum, trace, untapered, .. } = self;
        // With one weight for both phases formula (2) holds unchanged: the two parts of the gradient sum to the slope.
        let balanced = self.objective.is_balanced() && !*untapered;
        let scaling = if balanced { GradientScaling::Balanced } else { GradientScaling::Exact };
        trace.backward(f64::from(sign) * slope, scaling, |parameter, [mg, eg]| {
            if learns[parameter as usize] {
                let [mg, eg] = if *untapered { [mg + eg; 2] } else { [mg, eg] };
                sum.add(parameter, mg, eg);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::settings::ObjectiveName;
    use crate::learn::testing::{children, example, random_examples};
    use dyad_engine::board::{Board, Color, Piece, PieceSquare, Square, sign};
    use dyad_engine::eval::layout::{LEN, MATERIAL};
    use dyad_engine::eval::{FloatWeights, PHASE_MAX, incremental_features, visit};

    fn contribution(example: &Example, weights: &Weights, settings: &TrainingSettings) -> Contribution {
        let objective = Objective::new(settings, 200.0);
        let candidates = children(example, weights, objective.window());
        Comparer::new(objective, settings).compare(example, &candidates, weights)
    }

    /// White's pawn can take a knight or a rook, the queen takes a queen, all other moves take nothing. The children
    /// are the leaves. With Table I, scaled and rounded to queen 2522, rook 1261, knight 776 and pawn 194, their values
    /// are
    ///
    /// exd5: Q+R+P - q-r = 194;  exf5: Q+R+P - q-n = 679;  Qxb8: Q+R+P - n-r = 1940;  others: -582.
    ///
    /// So if exd5 is desired, S = {exf5, Qxb8}. Their non-pawn material is 7566, 7081 and 5820.
    #[test]
    fn one_update_by_hand() {
        let example = example("1q4k1/8/8/3n1r2/4P3/8/7Q/R5K1 w - - 0 1", "e4d5");
        let contribution = contribution(&example, &Weights::material(), &TrainingSettings::default());
        assert_eq!(contribution.above, 2);
        assert_eq!(contribution.loss, f64::from((679 - 194) + (1940 - 194)) / 2.0);

        let alpha = |material: f64| (material - 3915.0) / 11343.0;
        let opening = |a: f64| a / (a * a + (1.0 - a) * (1.0 - a));
        let endgame = |a: f64| (1.0 - a) / (a * a + (1.0 - a) * (1.0 - a));
        let [d5, f5, b8] = [7566.0, 7081.0, 5820.0].map(alpha);
        let change = |feature: usize| {
            let entry = contribution.update.iter().find(|entry| entry.feature as usize == feature);
            entry.map_or([0.0; 2], |entry| [entry.mg, entry.eg])
        };
        // White's pieces minus Black's: after exd5, after exf5, after Qxb8.
        let counts = [
            (Piece::Pawn, [1.0, 1.0, 1.0]),
            (Piece::Knight, [0.0, -1.0, -1.0]),
            (Piece::Bishop, [0.0, 0.0, 0.0]),
            (Piece::Rook, [0.0, 1.0, 0.0]),
            (Piece::Queen, [0.0, 0.0, 1.0]),
        ];
        for (piece, [best, first, second]) in counts {
            let by_hand = |o: &dyn Fn(f64) -> f64| best * o(d5) - (first * o(f5) + second * o(b8)) / 2.0;
            let [mg, eg] = change(MATERIAL.at(piece));
            assert!((mg - by_hand(&opening)).abs() < 1e-12, "{piece:?}: {mg}");
            assert!((eg - by_hand(&endgame)).abs() < 1e-12, "{piece:?}: {eg}");
        }
        // The pawn is on d5 only in the desired leaf, and the others have no mirror image of it.
        let mut features: Vec<(u32, i32)> = Vec::new();
        incremental_features(&[], PieceSquare::new(Color::White, Piece::Pawn, Square::D5), &mut features);
        let [mg, eg] = change(features.last().expect("a pawn has a square feature").0 as usize);
        assert!((mg - opening(d5)).abs() < 1e-12 && (eg - endgame(d5)).abs() < 1e-12);
    }

    /// With colors flipped the gradient is the same.
    #[test]
    fn black_learns_what_white_learns() {
        let white = example("1q4k1/8/8/3n1r2/4P3/8/7Q/R5K1 w - - 0 1", "e4d5");
        let black = example("r5k1/7q/8/4p3/3N1R2/8/8/1Q4K1 b - - 0 1", "e5d4");
        let learn = |example| {
            let mut contribution = contribution(example, &Weights::material(), &TrainingSettings::default());
            contribution.update.sort_by_key(|entry| entry.feature);
            contribution
        };
        let (white, black) = (learn(&white), learn(&black));
        assert_eq!((white.above, white.loss, white.update.len()), (black.above, black.loss, black.update.len()));
        for (w, b) in white.update.iter().zip(&black.update) {
            assert_eq!(w.feature, b.feature);
            assert!((w.mg - b.mg).abs() < 1e-12 && (w.eg - b.eg).abs() < 1e-12);
        }
    }

    /// Without tapering the weights of both phases change by the slope, by formula (2).
    #[test]
    fn untapered_weights_stay_equal_in_both_phases() {
        let example = example("1q4k1/8/8/3n1r2/4P3/8/7Q/R5K1 w - - 0 1", "e4d5");
        let settings = TrainingSettings { untapered: true, ..TrainingSettings::default() };
        let contribution = contribution(&example, &Weights::material(), &settings);
        let queen = MATERIAL.at(Piece::Queen);
        assert!(
            contribution.update.iter().all(|entry| (entry.mg - entry.eg).abs() < 1e-12),
            "{:?}",
            contribution.update
        );
        let queen = contribution.update.iter().find(|entry| entry.feature as usize == queen).unwrap();
        // Half of S has one queen more than the desired leaf.
        assert!((queen.mg + 0.5).abs() < 1e-12, "{queen:?}");
    }

    /// The objectives with a true gradient, against finite differences of the loss in single weights.
    #[test]
    fn gradients_are_finite_differences() {
        let logistic = TrainingSettings {
            objective: ObjectiveName::Logistic,
            temperature: 50.0,
            result_weight: 0.3,
            score_weight: 0.2,
            ..TrainingSettings::default()
        };
        let svm = TrainingSettings { objective: ObjectiveName::RankingSvm, ..TrainingSettings::default() };
        for example in random_examples(12, 3, 100) {
            check_gradient(&example, &Weights::material(), &svm);
            check_gradient(&example, &Weights::material(), &logistic);
        }
    }

    fn check_gradient(example: &Example, weights: &Weights, settings: &TrainingSettings) {
        const H: f64 = 1e-3;
        let objective = Objective::new(settings, 200.0);
        if !example.board.after(example.desired).has_legal_move() {
            return;
        }
        let candidates = children(example, weights, objective.window());
        let loss = |floats: &FloatWeights| {
            let value =
                |candidate: &Candidate| value_of(&candidate.leaf, example.board.side_to_move(), floats, weights);
            let siblings: Vec<f64> = candidates.siblings.iter().map(value).collect();
            let values = Values {
                desired: value(&candidates.desired),
                siblings: &siblings,
                count: candidates.count,
                result: example.result,
                score: example.score,
            };
            objective.gradient(&values, &mut Vec::new()).loss
        };
        let mut floats = FloatWeights::from(weights);
        let contribution = contribution(example, weights, settings);
        assert_eq!(contribution.update.iter().filter(|entry| entry.feature as usize >= LEN).count(), 0);
        for entry in contribution.update.iter().step_by(1 + contribution.update.len() / 40) {
            let i = entry.feature as usize;
            for (phase, slope) in [(0, entry.mg), (1, entry.eg)] {
                let mut nudged = |by: f64| {
                    let weights = if phase == 0 { &mut floats.mg } else { &mut floats.eg };
                    let before = weights[i];
                    weights[i] = before + by;
                    let loss = loss(&floats);
                    let weights = if phase == 0 { &mut floats.mg } else { &mut floats.eg };
                    weights[i] = before;
                    loss
                };
                let numeric = (nudged(-H) - nudged(H)) / (2.0 * H);
                // Table I values many moves alike; a hinge exactly at its kink has no derivative, and
                // none of these positions has one there.
                assert!((slope - numeric).abs() < 1e-5, "feature {i} phase {phase}: {slope} {numeric}");
            }
        }
    }

    fn value_of(leaf: &Board, mover: Color, floats: &FloatWeights, weights: &Weights) -> f64 {
        let mut features = Vec::new();
        visit(leaf, &mut features);
        let [mg, eg] = floats.dot(&features);
        let alpha = f64::from(weights.phase(leaf)) / f64::from(PHASE_MAX);
        let white = alpha * mg + (1.0 - alpha) * eg;
        f64::from(sign(mover)) * white
    }
}
