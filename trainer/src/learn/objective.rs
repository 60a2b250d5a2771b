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

use crate::base::logistic::{cross_entropy, sigmoid, softplus};
use crate::learn::settings::{ObjectiveName, TrainingSettings};
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// The perceptron of comparison training, formula (3): S are the siblings valued above the desired move, and the
    /// features of the desired leaf minus the mean of those of S are added to the weights. The loss is the mean excess
    /// of S.
    Perceptron,
    /// The ranking support vector machine (Joachims 2002), as Paulsen and Fürnkranz (2010) trained chess with it: the
    /// desired move should lead each sibling by a margin, and the shortfall counts linearly. Together with L2, which
    /// belongs to the optimizer, this is their problem in its primal form. The mean over siblings gives positions with
    /// many moves no more weight than others.
    RankingSvm {
        /// Required lead of the desired move.
        margin: Value,
    },
    /// Pairwise logistic comparison: the probability that the desired move is preferred to a sibling is the logistic
    /// function of their difference over a temperature. The loss is the negative logarithm of that probability: smooth,
    /// and sensitive to siblings that are almost as good, as in minimax tree optimization (Hoki and Kaneko 2014). Times
    /// the temperature it converges to the perceptron's loss as the temperature goes to zero.
    Logistic {
        /// The difference at which the preference is 73 %.
        temperature: f64,
        /// What the value of the desired leaf is fitted to.
        outcome: Outcome,
    },
}

/// The fit of the value of a desired leaf to the game's result and to a searched score, by the cross entropy between
/// these and the expected score of the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Weight of the game's result.
    pub result_weight: f64,
    /// Weight of the searched score.
    pub score_weight: f64,
    /// The value with an expected score of 73 % (odds of e).
    pub scale: f64,
}

/// At this many temperatures below the desired move a sibling's gradient is below 0.04 % and is dropped.
const NEGLIGIBLE: f64 = 8.0;

impl Objective {
    /// The objective of the settings; `outcome_scale` is that of the initial weights, unless the settings have one.
    pub fn new(settings: &TrainingSettings, outcome_scale: f64) -> Objective {
        let TrainingSettings { margin, temperature, result_weight, score_weight, .. } = *settings;
        let scale = settings.outcome_scale.unwrap_or(outcome_scale);
        let outcome = Outcome { result_weight, score_weight, scale };
        match settings.objective {
            ObjectiveName::Perceptron => Objective::Perceptron,
            ObjectiveName::RankingSvm => Objective::RankingSvm { margin },
            ObjectiveName::Logistic => Objective::Logistic { temperature, outcome },
        }
    }

    /// Siblings valued above the desired move's value minus the window need an exact value and a leaf. All others do
    /// not enter the loss.
    pub fn window(&self) -> Value {
        match *self {
            Objective::Perceptron => 0,
            Objective::RankingSvm { margin } => margin,
            Objective::Logistic { temperature, .. } => (NEGLIGIBLE * temperature).ceil() as Value,
        }
    }

    /// Whether updates are balanced between middlegame and endgame weights by formulas (7) and (8), so that the
    /// evaluation changes by exactly the amount asked for. Otherwise the update follows the true gradient.
    pub fn is_balanced(&self) -> bool {
        *self == Objective::Perceptron
    }

    /// The loss and the negative derivative for the desired move; those for the siblings are appended to `siblings`.
    pub fn gradient(&self, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
        match self {
            Objective::Perceptron => perceptron(values, siblings),
            Objective::RankingSvm { margin } => ranking_svm(f64::from(*margin), values, siblings),
            Objective::Logistic { temperature, outcome } => {
                outcome.add(values, logistic(*temperature, values, siblings))
            }
        }
    }
}

fn perceptron(values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
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

fn ranking_svm(margin: f64, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
    let share = 1.0 / values.count.max(1) as f64;
    let mut gradient = ValueGradient::default();
    for &value in values.siblings {
        let missing = margin - (values.desired - value);
        let active = if missing > 0.0 { share } else { 0.0 };
        siblings.push(-active);
        gradient.desired += active;
        gradient.loss += active * missing;
    }
    gradient
}

fn logistic(temperature: f64, values: &Values, siblings: &mut Vec<f64>) -> ValueGradient {
    let share = 1.0 / values.count.max(1) as f64;
    let mut gradient = ValueGradient::default();
    for &value in values.siblings {
        let x = (value - values.desired) / temperature;
        let strength = share * sigmoid(x);
        siblings.push(-strength);
        gradient.desired += strength;
        gradient.loss += share * temperature * softplus(x);
    }
    gradient
}

impl Outcome {
    /// Adds the loss and the derivative of the desired leaf.
    fn add(&self, values: &Values, mut gradient: ValueGradient) -> ValueGradient {
        let (x, score) = (values.desired / self.scale, values.score.map(|score| sigmoid(score / self.scale)));
        for (weight, target) in [(self.result_weight, values.result), (self.score_weight, score)] {
            if let (Some(target), true) = (target, weight > 0.0) {
                gradient.desired += weight * (target - sigmoid(x));
                gradient.loss += weight * self.scale * cross_entropy(target, x);
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

    const OUTCOME: Outcome = Outcome { result_weight: 0.5, score_weight: 0.25, scale: 200.0 };
    const OBJECTIVES: [Objective; 3] = [
        Objective::Perceptron,
        Objective::RankingSvm { margin: 70 },
        Objective::Logistic { temperature: 40.0, outcome: OUTCOME },
    ];

    #[test]
    fn gradients_match_finite_differences() {
        const H: f64 = 1e-4;
        // No value lies at a kink of a loss, where there is no derivative.
        let siblings = [130.0, 55.0, -17.0, 90.0, 31.0];
        for (which, objective) in OBJECTIVES.iter().enumerate() {
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
        for objective in OBJECTIVES {
            let below = 50.0 - f64::from(objective.window()) - 1.0;
            let mut gradients = Vec::new();
            let with = objective.gradient(&values(50.0, &[below, 80.0]), &mut gradients);
            let without = objective.gradient(&values(50.0, &[80.0]), &mut Vec::new());
            assert!((with.loss - without.loss).abs() < 0.01);
            assert!((with.desired - without.desired).abs() < 1e-3);
            assert!(gradients[0].abs() < 1e-3);
        }
    }

    #[test]
    fn perceptron_is_formula_3() {
        let mut gradients = Vec::new();
        let gradient = Objective::Perceptron.gradient(&values(50.0, &[51.0, 50.0, 90.0, 49.0]), &mut gradients);
        assert_eq!(gradient, ValueGradient { loss: 20.5, desired: 1.0 });
        assert_eq!(gradients, [-0.5, 0.0, -0.5, 0.0]);
    }
}
