//! Objectives: the loss of one position as a function of the values of its moves.
//!
//! Every objective compares the value of the desired move with the values of its siblings, the other legal moves. An
//! objective knows values only, no features, search or weights. It defines the window below the desired move in which a
//! sibling still matters (the search need not be exact below), the loss, and the loss's negative derivative with
//! respect to each value. The chain rule from values to weights is the same for all objectives
//! ([`comparison`](crate::learn::comparison)).
//!
//! Losses are in units of evaluation, so the gradients of all objectives are at most about 1 and a learning rate means
//! the same for each.

use crate::fit::logistic::{cross_entropy, sigmoid, softplus};
use crate::learn::settings::ObjectiveSettings;
use dyad_engine::value::Value;

/// The values of one position's moves, from the side to move. The search returns integers, but the loss and its
/// derivatives are defined between them as well.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// Value of the desired move.
    pub desired: f64,
    /// Values of the siblings above `desired - window`.
    pub siblings: &'a [f64],
    /// Number of siblings, including those below the window.
    pub count: usize,
    /// Result of the game for the side to move, 0 to 1.
    pub result: Option<f64>,
    /// A searched score for the side to move, in the units of the values.
    pub score: Option<f64>,
}

/// The loss of a position and its derivative with respect to the desired move's value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValueGradient {
    /// The loss.
    pub loss: f64,
    /// Minus the derivative of the loss with respect to the desired move's value: positive pushes the value up.
    pub desired: f64,
}

/// The training objective.
pub trait Objective: Send + Sync {
    /// Siblings valued above the desired move's value minus the window need an exact value and a leaf. All others do
    /// not enter the loss.
    fn window(&self) -> Value;

    /// Whether updates are balanced between middlegame and endgame weights by formulas (7) and (8), so that the
    /// evaluation changes by exactly the amount asked for. Otherwise the update follows the true gradient.
    fn balanced(&self) -> bool {
        false
    }

    /// The loss and the negative derivative for the desired move; those for the siblings are appended to `siblings`.
    fn gradient(&self, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient;
}

/// Builds the objective named by the settings.
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

/// The perceptron of comparison training, formula (3): S are the siblings valued above the desired move, and the
/// features of the desired leaf minus the mean of those of S are added to the weights. The loss is the mean excess of
/// S.
pub struct Perceptron;

impl Objective for Perceptron {
    fn window(&self) -> Value {
        0
    }

    fn balanced(&self) -> bool {
        true
    }

    fn gradient(&self, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
        let above = |value: f64| value > values.desired;
        let size = values.siblings.iter().filter(|&&value| above(value)).count();
        if size == 0 {
            siblings.extend(values.siblings.iter().map(|_| 0.0));
            return ValueGradient::default();
        }
        let share = 1.0 / size as f64;
        let mut loss = 0.0;
        for &value in values.siblings {
            let in_s = above(value);
            siblings.push(if in_s { -share } else { 0.0 });
            loss += if in_s { share * (value - values.desired) } else { 0.0 };
        }
        ValueGradient { loss, desired: 1.0 }
    }
}

/// The ranking support vector machine (Joachims 2002), as Paulsen and Fürnkranz (2010) trained chess with it: the
/// desired move should lead each sibling by a margin, and the shortfall counts linearly. Together with L2, which
/// belongs to the optimizer, this is their problem in its primal form. The mean over siblings gives positions with many
/// moves no more weight than others.
pub struct RankingSvm {
    /// Required lead of the desired move.
    pub margin: Value,
}

impl Objective for RankingSvm {
    fn window(&self) -> Value {
        self.margin
    }

    fn gradient(&self, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
        let share = 1.0 / values.count.max(1) as f64;
        let mut gradient = ValueGradient::default();
        for &value in values.siblings {
            let missing = f64::from(self.margin) - (values.desired - value);
            let active = if missing > 0.0 { share } else { 0.0 };
            siblings.push(-active);
            gradient.desired += active;
            gradient.loss += active * missing;
        }
        gradient
    }
}

/// Pairwise logistic comparison: the probability that the desired move is preferred to a sibling is the logistic
/// function of their difference over a temperature. The loss is the negative logarithm of that probability: smooth, and
/// sensitive to siblings that are almost as good, as in minimax tree optimization (Hoki and Kaneko 2014). Times the
/// temperature it converges to the perceptron's loss as the temperature goes to zero.
///
/// The value of the desired leaf can also be fitted to the game's result or to a searched score, by the cross entropy
/// between these and the expected score of the value.
pub struct Logistic {
    /// The difference at which the preference is 73 %.
    pub temperature: f64,
    /// Weight of the game's result.
    pub result_weight: f64,
    /// Weight of the searched score.
    pub score_weight: f64,
    /// The value with an expected score of 73 % (odds of e).
    pub outcome_scale: f64,
}

/// At this many temperatures below the desired move a sibling's gradient is below 0.04 % and is dropped.
const NEGLIGIBLE: f64 = 8.0;

impl Objective for Logistic {
    fn window(&self) -> Value {
        (NEGLIGIBLE * self.temperature).ceil() as Value
    }

    fn gradient(&self, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
        let share = 1.0 / values.count.max(1) as f64;
        let mut gradient = ValueGradient::default();
        for &value in values.siblings {
            let x = (value - values.desired) / self.temperature;
            let strength = share * sigmoid(x);
            siblings.push(-strength);
            gradient.desired += strength;
            gradient.loss += share * self.temperature * softplus(x);
        }
        let score = values.score.map(|score| sigmoid(score / self.outcome_scale));
        for (weight, target) in [(self.result_weight, values.result), (self.score_weight, score)] {
            if let (Some(target), true) = (target, weight > 0.0) {
                let (loss, desired) = outcome(values.desired, target, weight, self.outcome_scale);
                gradient.desired += desired;
                gradient.loss += loss;
            }
        }
        gradient
    }
}

/// Cross-entropy loss, in units of evaluation, and negative derivative of a value whose expected score should be
/// `target`.
fn outcome(value: f64, target: f64, weight: f64, scale: f64) -> (f64, f64) {
    let x = value / scale;
    (weight * scale * cross_entropy(target, x), weight * (target - sigmoid(x)))
}

/// One loss for moves and values, in units of evaluation: for fine-tuning good weights.
///
/// *Moves.* The desired move is drawn from all moves with probabilities proportional to e^(value / temperature), and
/// the loss is the negative logarithm of its probability, times the temperature. The temperature is fixed, so unlike
/// formula (3) the loss is not homogeneous: it does not shrink when all weights do.
///
/// *Values.* The value of the desired leaf is fitted to the game's result and to a searched score, as in [`Logistic`].
/// No move is better than the best one, so a sibling valued above the searched score of the position is pushed down to
/// that score, by the same cross entropy. So every searched leaf contributes, and the refutation of a bad move is
/// learned from positions where it could have been played.
pub struct Listwise {
    /// The difference of values at which one move is e times as likely as another.
    pub temperature: f64,
    /// Weight of the loss of the moves.
    pub move_weight: f64,
    /// Weight of the game's result at the desired leaf.
    pub result_weight: f64,
    /// Weight of the searched score at the desired leaf.
    pub score_weight: f64,
    /// Weight of the searched score as an upper bound, shared by all siblings.
    pub bound_weight: f64,
    /// The value with an expected score of 73 % (odds of e).
    pub outcome_scale: f64,
}

impl Objective for Listwise {
    fn window(&self) -> Value {
        (NEGLIGIBLE * self.temperature).ceil() as Value
    }

    fn gradient(&self, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
        let top = values.siblings.iter().fold(values.desired, |top, &value| top.max(value));
        let odds = |value: f64| ((value - top) / self.temperature).exp();
        let all = odds(values.desired) + values.siblings.iter().map(|&value| odds(value)).sum::<f64>();
        let desired = odds(values.desired) / all;
        let mut gradient = ValueGradient::default();
        if !values.siblings.is_empty() {
            gradient.desired = self.move_weight * (1.0 - desired);
            gradient.loss =
                self.move_weight * self.temperature * (all.ln() - (values.desired - top) / self.temperature);
        }
        let score = values.score.map(|score| sigmoid(score / self.outcome_scale));
        let share = self.bound_weight / values.count.max(1) as f64;
        for &value in values.siblings {
            let mut strength = -self.move_weight * odds(value) / all;
            if let (Some(bound), Some(score), true) = (score, values.score, share > 0.0)
                && value > score
            {
                // Minus its minimum, so that the loss starts at zero.
                let (loss, up) = outcome(value, bound, share, self.outcome_scale);
                gradient.loss += loss - outcome(score, bound, share, self.outcome_scale).0;
                strength += up;
            }
            siblings.push(strength);
        }
        for (weight, target) in [(self.result_weight, values.result), (self.score_weight, score)] {
            if let (Some(target), true) = (target, weight > 0.0) {
                let (loss, up) = outcome(values.desired, target, weight, self.outcome_scale);
                gradient.desired += up;
                gradient.loss += loss;
            }
        }
        gradient
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
    fn gradients_match_finite_differences() {
        const H: f64 = 1e-4;
        // No value lies at a kink of a loss, where there is no derivative.
        let siblings = [130.0, 55.0, -17.0, 90.0, 31.0];
        for (which, objective) in objectives().iter().enumerate() {
            let loss =
                |desired: f64, siblings: &[f64]| objective.gradient(&values(desired, siblings), &mut Vec::new()).loss;
            let mut gradients = Vec::new();
            let gradient = objective.gradient(&values(50.0, &siblings), &mut gradients);
            let numeric = (loss(50.0 - H, &siblings) - loss(50.0 + H, &siblings)) / (2.0 * H);
            assert!((gradient.desired - numeric).abs() < 1e-6, "{which}: {gradient:?} {numeric}");
            for i in 0..siblings.len() {
                let nudged = |by: f64| {
                    let mut siblings = siblings;
                    siblings[i] += by;
                    loss(50.0, &siblings)
                };
                let numeric = (nudged(-H) - nudged(H)) / (2.0 * H);
                assert!((gradients[i] - numeric).abs() < 1e-6, "{which} {i}: {gradients:?} {numeric}");
            }
        }
    }

    #[test]
    fn siblings_below_the_window_do_not_count() {
        for objective in objectives() {
            let below = 50.0 - f64::from(objective.window()) - 1.0;
            let mut gradients = Vec::new();
            let with = objective.gradient(&values(50.0, &[below, 80.0]), &mut gradients);
            let without = objective.gradient(&values(50.0, &[80.0]), &mut Vec::new());
            assert!((with.loss - without.loss).abs() < 0.01);
            assert!((with.desired - without.desired).abs() < 1e-3);
            assert!(gradients[0].abs() < 1e-3);
        }
    }

    /// Three equal moves have equal probabilities, and without a result or score there is no other gradient.
    #[test]
    fn listwise_probabilities_by_hand() {
        let objective = Listwise { move_weight: 1.0, result_weight: 0.0, score_weight: 0.0, ..listwise() };
        let values = Values { desired: 50.0, siblings: &[50.0, 50.0], count: 2, result: None, score: None };
        let mut gradients = Vec::new();
        let gradient = objective.gradient(&values, &mut gradients);
        assert!(
            (gradient.desired - 2.0 / 3.0).abs() < 1e-12 && (gradient.loss - 40.0 * 3f64.ln()).abs() < 1e-9,
            "{gradient:?}"
        );
        assert!(gradients.iter().all(|gradient| (gradient + 1.0 / 3.0).abs() < 1e-12), "{gradients:?}");
    }

    /// A sibling above the position's score is pushed down, one below is unchanged; values whose exponentials overflow
    /// give finite results.
    #[test]
    fn no_sibling_may_exceed_the_searched_score() {
        let objective = Listwise { move_weight: 0.0, result_weight: 0.0, score_weight: 0.0, ..listwise() };
        let mut gradients = Vec::new();
        let gradient = objective.gradient(&values(50.0, &[59.0, 61.0, 90_000.0]), &mut gradients);
        assert_eq!((gradients[0], gradient.desired), (0.0, 0.0));
        assert!(
            gradients[1] < 0.0 && gradients[2] < gradients[1] && gradient.loss.is_finite(),
            "{gradients:?} {gradient:?}"
        );
    }

    /// Unlike formula (3): ten times the values are not ten times the loss.
    #[test]
    fn listwise_is_not_homogeneous() {
        let objective = Listwise { result_weight: 0.0, score_weight: 0.0, bound_weight: 0.0, ..listwise() };
        let loss = |factor: f64| objective.gradient(&values(50.0 * factor, &[60.0 * factor]), &mut Vec::new()).loss;
        assert!(loss(0.0) > 0.0 && loss(10.0) < 9.0 * loss(1.0));
    }

    #[test]
    fn perceptron_is_formula_3() {
        let mut gradients = Vec::new();
        let gradient = Perceptron.gradient(&values(50.0, &[51.0, 50.0, 90.0, 49.0]), &mut gradients);
        assert_eq!(gradient, ValueGradient { loss: 20.5, desired: 1.0 });
        assert_eq!(gradients, [-0.5, 0.0, -0.5, 0.0]);
    }
}
