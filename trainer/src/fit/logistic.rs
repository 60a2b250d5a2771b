//! Values as expected results: the logistic function, the loss of a prediction, the scale that predicts best.

/// The logistic function.
#[must_use]
pub fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// ln(1 + e^z), whose derivative is the logistic function, without overflow.
pub(crate) fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// Cross-entropy between a target and the prediction of a logit, in nats.
pub(crate) fn cross_entropy(target: f64, z: f64) -> f64 {
    softplus(z) - target * z
}

/// What the weights say of one position.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// In logits, from White's side.
    pub z: f64,
    /// Of which stage.
    pub alpha: f64,
    /// What was to be predicted.
    pub target: f64,
}

/// The mean loss of predictions whose logits are multiplied by `factor`.
pub(crate) fn mean_loss(predictions: &[Prediction], factor: f64) -> f64 {
    let losses = predictions.iter().map(|p| cross_entropy(p.target, factor * p.z));
    losses.sum::<f64>() / predictions.len() as f64
}

/// The factor of all logits that predicts best: Newton's method on the loss, which is convex in it.
pub(crate) fn best_factor(predictions: &[Prediction]) -> f64 {
    let mut factor = 1.0;
    for _ in 0..50 {
        let (slope, curvature) = predictions.iter().fold((0.0, 1e-9), |(slope, curvature), p| {
            let expected = sigmoid(factor * p.z);
            (slope + (expected - p.target) * p.z, curvature + expected * (1.0 - expected) * p.z * p.z)
        });
        // Doubled or halved at most: far from the best one all is saturated, and it must not fall to zero.
        let change = (slope / curvature).clamp(-factor, 0.5 * factor);
        factor -= change;
        if change.abs() < 1e-9 * factor {
            break;
        }
    }
    factor
}
