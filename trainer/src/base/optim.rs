//! The update of Adam, which fits, comparison training and the training of levels share.

/// Keeps quotients of optimizers finite.
pub const EPSILON: f64 = 1e-8;

/// Usual decay rates of the two moments of Adam.
pub const BETAS: [f64; 2] = [0.9, 0.999];

/// The parameters of one update by Adam (Kingma and Ba 2015, algorithm 1).
pub struct Adam {
    rate: f64,
    betas: [f64; 2],
    corrections: [f64; 2],
}

impl Adam {
    /// The update of this number, from 1, with the decay rates of the two moments.
    pub fn new(rate: f64, betas: [f64; 2], number: i32) -> Adam {
        Adam { rate, betas, corrections: betas.map(|beta| 1.0 - beta.powi(number)) }
    }

    /// The step of a parameter, in the direction of `slope`. Changes the running means of the slope and of its square.
    pub fn step(&self, mean: &mut f64, square: &mut f64, slope: f64) -> f64 {
        let [beta1, beta2] = self.betas;
        *mean = beta1 * *mean + (1.0 - beta1) * slope;
        *square = beta2 * *square + (1.0 - beta2) * slope * slope;
        self.rate * (*mean / self.corrections[0]) / ((*square / self.corrections[1]).sqrt() + EPSILON)
    }
}
