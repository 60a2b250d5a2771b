//! What a training tries to reach in one position, as a function of the values of its moves.
//!
//! All objectives here compare the value of the desired move with the values of its siblings, the
//! other legal moves. So an objective needs to know the values and nothing of features, search or
//! weights: it says how far below the desired move a sibling still matters (the search need not be
//! exact below that), what the loss is, and how strongly each value should be pulled up or down, which
//! is the loss's derivative with the sign turned. The rest, from the pull on a value to the change of
//! a weight, is the same for all of them.
//!
//! Losses are in units of evaluation, so that the pulls of all objectives are at most about one and a
//! learning rate means the same for each.

use crate::fit::logistic::{cross_entropy, sigmoid, softplus};
use crate::learn::settings::ObjectiveSettings;
use dyad_engine::value::Value;

/// The values of one position's moves, from the mover's side. The search's are integers, but a loss is
/// defined, and has its derivatives, between them too.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The desired move's.
    pub desired: f64,
    /// Those of the siblings above `desired - window`.
    pub siblings: &'a [f64],
    /// How many siblings there are, with those below.
    pub count: usize,
    /// What the game brought the mover, 0 to 1.
    pub result: Option<f64>,
    /// How a searched score for the mover stood, in the units of the values.
    pub score: Option<f64>,
}

/// What an objective makes of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    /// The loss.
    pub loss: f64,
    /// How strongly the desired move's value is pulled up: minus the loss's derivative by it.
    pub desired: f64,
}

/// The aim of a training.
pub trait Objective: Send + Sync {
    /// Siblings valued above the desired move's value less this have to be known exactly, and with
    /// their leaves. All others have no part in the loss.
    fn window(&self) -> Value;

    /// Whether a change is balanced over the two stages by the factors of formulas (7) and (8), which
    /// make the evaluation change by what was asked. Otherwise it is the loss's true gradient.
    fn balanced(&self) -> bool {
        false
    }

    /// The loss and the pull on the desired move; the pull on each sibling is appended to `siblings`.
    fn pull(&self, values: &Values, siblings: &mut Vec<f64>) -> Pull;
}

/// The objective that settings ask for.
pub fn from_settings(settings: &ObjectiveSettings) -> Box<dyn Objective> {
    match *settings {
        ObjectiveSettings::Perceptron => Box::new(Perceptron),
        ObjectiveSettings::RankingSvm { margin } => Box::new(RankingSvm { margin }),
        ObjectiveSettings::Logistic { temperature, result_weight, score_weight, outcome_scale } => {
            Box::new(Logistic { temperature, result_weight, score_weight, outcome_scale })
        }
        ObjectiveSettings::Listwise {
            temperature,
            move_weight,
            result_weight,
            score_weight,
            bound_weight,
            outcome_scale,
        } => Box::new(Listwise { temperature, move_weight, result_weight, score_weight, bound_weight, outcome_scale }),
    }
}

/// The perceptron of comparison training, formula (3): S are the siblings valued above the desired
/// move, and the desired leaf less the mean of theirs is added to the weights. Its loss is how far S
/// lies above on average.
pub struct Perceptron;

impl Objective for Perceptron {
    fn window(&self) -> Value {
        0
    }

    fn balanced(&self) -> bool {
        true
    }

    fn pull(&self, values: &Values, siblings: &mut Vec<f64>) -> Pull {
        let above = |value: f64| value > values.desired;
        let size = values.siblings.iter().filter(|&&value| above(value)).count();
        if size == 0 {
            siblings.extend(values.siblings.iter().map(|_| 0.0));
            return Pull::default();
        }
        let share = 1.0 / size as f64;
        let mut loss = 0.0;
        for &value in values.siblings {
            let in_s = above(value);
            siblings.push(if in_s { -share } else { 0.0 });
            loss += if in_s { share * (value - values.desired) } else { 0.0 };
        }
        Pull { loss, desired: 1.0 }
    }
}

/// The ranking support vector machine (Joachims 2002), as Paulsen and Fürnkranz (2010) trained chess
/// with it: the desired move shall be ahead of each sibling by a margin, and what is missing counts
/// linearly. Together with L2, which belongs to the optimizer, this is their problem in its primal
/// form; a mean over siblings makes positions with many moves count no more than others.
pub struct RankingSvm {
    /// How far ahead the desired move shall be.
    pub margin: Value,
}

impl Objective for RankingSvm {
    fn window(&self) -> Value {
        self.margin
    }

    fn pull(&self, values: &Values, siblings: &mut Vec<f64>) -> Pull {
        let share = 1.0 / values.count.max(1) as f64;
        let mut pull = Pull::default();
        for &value in values.siblings {
            let missing = f64::from(self.margin) - (values.desired - value);
            let active = if missing > 0.0 { share } else { 0.0 };
            siblings.push(-active);
            pull.desired += active;
            pull.loss += active * missing;
        }
        pull
    }
}

/// Pairwise logistic comparison: the chance that the desired move is preferred to a sibling is the
/// logistic function of the difference over a temperature, and the loss is that chance's negative
/// logarithm, as in minimax tree optimization (Hoki and Kaneko 2014) smooth, and attentive to siblings
/// that are almost as good. Times its temperature it tends to the perceptron's when that goes to zero.
///
/// The desired leaf's value can be tied to the game's result or to a searched score besides: the
/// cross entropy between those and the expected score that the value stands for.
pub struct Logistic {
    /// The difference at which the preference is 73 %.
    pub temperature: f64,
    /// Weight of the game's result.
    pub result_weight: f64,
    /// Weight of the searched score.
    pub score_weight: f64,
    /// The value that stands for an expected score of 73 %.
    pub outcome_scale: f64,
}

/// This many temperatures below the desired move a sibling's pull is below 0.04 % and is let go.
const NEGLIGIBLE: f64 = 8.0;

impl Objective for Logistic {
    fn window(&self) -> Value {
        (NEGLIGIBLE * self.temperature).ceil() as Value
    }

    fn pull(&self, values: &Values, siblings: &mut Vec<f64>) -> Pull {
        let share = 1.0 / values.count.max(1) as f64;
        let mut pull = Pull::default();
        for &value in values.siblings {
            let x = (value - values.desired) / self.temperature;
            let strength = share * sigmoid(x);
            siblings.push(-strength);
            pull.desired += strength;
            pull.loss += share * self.temperature * softplus(x);
        }
        let score = values.score.map(|score| sigmoid(score / self.outcome_scale));
        for (weight, target) in [(self.result_weight, values.result), (self.score_weight, score)] {
            if let (Some(target), true) = (target, weight > 0.0) {
                let (loss, desired) = outcome(values.desired, target, weight, self.outcome_scale);
                pull.desired += desired;
                pull.loss += loss;
            }
        }
        pull
    }
}

/// Loss and pull of a value that is to stand for an expected score: the cross entropy, in units of evaluation.
fn outcome(value: f64, target: f64, weight: f64, scale: f64) -> (f64, f64) {
    let x = value / scale;
    (weight * scale * cross_entropy(target, x), weight * (target - sigmoid(x)))
}

/// One loss for moves and values, on the scale of values: for training on from good weights.
///
/// *Moves.* The desired move is drawn from all moves with probabilities in proportion to e^(value / temperature), and the
/// loss is the negative logarithm of its own, times the temperature. The temperature is a fixed number of units, so unlike
/// formula (3) the loss is not homogeneous: it does not get smaller when all weights do.
///
/// *Values.* The desired leaf's value is tied to the game's result and to a searched score, as in [`Logistic`]. And no
/// move is worth more than the best: a sibling valued above the searched score of the position is pulled down to it, by
/// the same cross entropy. So every leaf that is searched has its part, and what refutes a bad move is learned from
/// positions where somebody could have played it.
pub struct Listwise {
    /// The difference of values at which one move is e times as likely as another.
    pub temperature: f64,
    /// Weight of the moves' loss.
    pub move_weight: f64,
    /// Weight of the game's result at the desired leaf.
    pub result_weight: f64,
    /// Weight of the searched score at the desired leaf.
    pub score_weight: f64,
    /// Weight of the searched score as a bound of all siblings together.
    pub bound_weight: f64,
    /// The value that stands for an expected score of 73 %.
    pub outcome_scale: f64,
}

impl Objective for Listwise {
    fn window(&self) -> Value {
        (NEGLIGIBLE * self.temperature).ceil() as Value
    }

    fn pull(&self, values: &Values, siblings: &mut Vec<f64>) -> Pull {
        let top = values.siblings.iter().fold(values.desired, |top, &value| top.max(value));
        let odds = |value: f64| ((value - top) / self.temperature).exp();
        let all = odds(values.desired) + values.siblings.iter().map(|&value| odds(value)).sum::<f64>();
        let desired = odds(values.desired) / all;
        let mut pull = Pull::default();
        if !values.siblings.is_empty() {
            pull.desired = self.move_weight * (1.0 - desired);
            pull.loss = self.move_weight * self.temperature * (all.ln() - (values.desired - top) / self.temperature);
        }
        let score = values.score.map(|score| sigmoid(score / self.outcome_scale));
        let share = self.bound_weight / values.count.max(1) as f64;
        for &value in values.siblings {
            let mut strength = -self.move_weight * odds(value) / all;
            if let (Some(bound), Some(score), true) = (score, values.score, share > 0.0)
                && value > score
            {
                // Less its own smallest value, so that it begins at zero.
                let (loss, up) = outcome(value, bound, share, self.outcome_scale);
                pull.loss += loss - outcome(score, bound, share, self.outcome_scale).0;
                strength += up;
            }
            siblings.push(strength);
        }
        for (weight, target) in [(self.result_weight, values.result), (self.score_weight, score)] {
            if let (Some(target), true) = (target, weight > 0.0) {
                let (loss, up) = outcome(values.desired, target, weight, self.outcome_scale);
                pull.desired += up;
                pull.loss += loss;
            }
        }
        pull
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(desired: f64, siblings: &[f64]) -> Values<'_> {
        Values { desired, siblings, count: 5, result: Some(1.0), score: Some(60.0) }
    }

    fn listwise() -> Listwise {
        Listwise {
            temperature: 40.0,
            move_weight: 0.7,
            result_weight: 0.5,
            score_weight: 0.25,
            bound_weight: 0.8,
            outcome_scale: 200.0,
        }
    }

    fn objectives() -> [Box<dyn Objective>; 4] {
        let logistic = Logistic { temperature: 40.0, result_weight: 0.5, score_weight: 0.25, outcome_scale: 200.0 };
        [Box::new(Perceptron), Box::new(RankingSvm { margin: 70 }), Box::new(logistic), Box::new(listwise())]
    }

    #[test]
    fn pulls_are_finite_differences() {
        const H: f64 = 1e-4;
        // No value stands at a kink of a loss, where there is no derivative.
        let siblings = [130.0, 55.0, -17.0, 90.0, 31.0];
        for (which, objective) in objectives().iter().enumerate() {
            let loss =
                |desired: f64, siblings: &[f64]| objective.pull(&values(desired, siblings), &mut Vec::new()).loss;
            let mut pulls = Vec::new();
            let pull = objective.pull(&values(50.0, &siblings), &mut pulls);
            let numeric = (loss(50.0 - H, &siblings) - loss(50.0 + H, &siblings)) / (2.0 * H);
            assert!((pull.desired - numeric).abs() < 1e-6, "{which}: {pull:?} {numeric}");
            for i in 0..siblings.len() {
                let nudged = |by: f64| {
                    let mut siblings = siblings;
                    siblings[i] += by;
                    loss(50.0, &siblings)
                };
                let numeric = (nudged(-H) - nudged(H)) / (2.0 * H);
                assert!((pulls[i] - numeric).abs() < 1e-6, "{which} {i}: {pulls:?} {numeric}");
            }
        }
    }

    #[test]
    fn siblings_below_the_window_have_no_part() {
        for objective in objectives() {
            let below = 50.0 - f64::from(objective.window()) - 1.0;
            let mut pulls = Vec::new();
            let with = objective.pull(&values(50.0, &[below, 80.0]), &mut pulls);
            let without = objective.pull(&values(50.0, &[80.0]), &mut Vec::new());
            assert!((with.loss - without.loss).abs() < 0.01);
            assert!((with.desired - without.desired).abs() < 1e-3);
            assert!(pulls[0].abs() < 1e-3);
        }
    }

    /// Three equal moves share the probability, and without values to tie them to nothing else pulls.
    #[test]
    fn listwise_probabilities_by_hand() {
        let objective = Listwise { move_weight: 1.0, result_weight: 0.0, score_weight: 0.0, ..listwise() };
        let values = Values { desired: 50.0, siblings: &[50.0, 50.0], count: 2, result: None, score: None };
        let mut pulls = Vec::new();
        let pull = objective.pull(&values, &mut pulls);
        assert!((pull.desired - 2.0 / 3.0).abs() < 1e-12 && (pull.loss - 40.0 * 3f64.ln()).abs() < 1e-9, "{pull:?}");
        assert!(pulls.iter().all(|pull| (pull + 1.0 / 3.0).abs() < 1e-12), "{pulls:?}");
    }

    /// A sibling above the position's score is pulled down to it, one below is not changed; values so large that their
    /// exponentials overflow are no trouble.
    #[test]
    fn no_move_is_worth_more_than_the_best() {
        let objective = Listwise { move_weight: 0.0, result_weight: 0.0, score_weight: 0.0, ..listwise() };
        let mut pulls = Vec::new();
        let pull = objective.pull(&values(50.0, &[59.0, 61.0, 90_000.0]), &mut pulls);
        assert_eq!((pulls[0], pull.desired), (0.0, 0.0));
        assert!(pulls[1] < 0.0 && pulls[2] < pulls[1] && pull.loss.is_finite(), "{pulls:?} {pull:?}");
    }

    /// Unlike formula (3): values times ten are not ten times the loss.
    #[test]
    fn listwise_is_not_homogeneous() {
        let objective = Listwise { result_weight: 0.0, score_weight: 0.0, bound_weight: 0.0, ..listwise() };
        let loss = |factor: f64| objective.pull(&values(50.0 * factor, &[60.0 * factor]), &mut Vec::new()).loss;
        assert!(loss(0.0) > 0.0 && loss(10.0) < 9.0 * loss(1.0));
    }

    #[test]
    fn perceptron_is_formula_3() {
        let mut pulls = Vec::new();
        let pull = Perceptron.pull(&values(50.0, &[51.0, 50.0, 90.0, 49.0]), &mut pulls);
        assert_eq!(pull, Pull { loss: 20.5, desired: 1.0 });
        assert_eq!(pulls, [-0.5, 0.0, -0.5, 0.0]);
    }
}
