//! Values as expected scores: the logistic function, the loss of a prediction, the best scale.

/// The logistic function.
pub fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// The inverse of the logistic function.
pub fn logit(expected: f64) -> f64 {
    (expected / (1.0 - expected)).ln()
}

/// ln(1 + e^z), whose derivative is the logistic function, without overflow.
pub(crate) fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// Cross-entropy between a target and the prediction of a logit, in nats.
pub(crate) fn cross_entropy(target: f64, z: f64) -> f64 {
    softplus(z) - target * z
}

/// The prediction for one position.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// Predicted logit, from White's side.
    pub z: f64,
    /// Fraction of the middlegame, 0 to 1.
    pub alpha: f64,
    /// Target, 0 to 1, from White's side.
    pub target: f64,
}

/// The mean loss of predictions whose logits are multiplied by `factor`.
pub(crate) fn mean_loss(predictions: &[Prediction], factor: f64) -> f64 {
    let losses = predictions.iter().map(|p| cross_entropy(p.target, factor * p.z));
    losses.sum::<f64>() / predictions.len() as f64
}

/// The factor of all logits with the smallest loss, by Newton's method; the loss is convex in it.
pub(crate) fn best_factor(predictions: &[Prediction]) -> f64 {
    let mut factor = 1.0;
    for _ in 0..50 {
        let (slope, curvature) = predictions.iter().fold((0.0, 1e-9), |(slope, curvature), p| {
            let expected = sigmoid(factor * p.z);
            (slope + (expected - p.target) * p.z, curvature + expected * (1.0 - expected) * p.z * p.z)
        });
        // At most halved or doubled per iteration: far from the optimum the logistic saturates, and the factor must
        // stay positive.
        let change = (slope / curvature).clamp(-factor, 0.5 * factor);
        factor -= change;
        if change.abs() < 1e-9 * factor {
            break;
        }
    }
    factor
}
