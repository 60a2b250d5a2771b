//! Simultaneous perturbation stochastic approximation (Spall 1992), as Fishtest and OpenBench use it for chess engines.
//!
//! For trial k of N, counted from 1, every parameter gets a random sign. One player uses value + c_k sign, the other
//! value - c_k sign, and each point of the first player's lead after their games moves the value by r_k c_k sign. c and
//! r decay as
//!
//! ```text
//! c_k = c_end (N / k)^gamma        r_k = r_end (c_end / c_k)^2 ((A + N) / (A + k))^alpha
//! ```
//!
//! so that c_end and r_end are those of the last trial. The noise of the games averages out over many trials, and so
//! does the influence of the other parameters' signs.

use dyad_formats::hash;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Exponent of the decay of the rate, as Spall recommends.
const ALPHA: f64 = 0.602;
/// Exponent of the decay of the perturbations, as Spall recommends.
const GAMMA: f64 = 0.101;
/// A as a fraction of all trials; it keeps the first rates small.
const A_RATIO: f64 = 0.1;

/// A tuned value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Parameter {
    /// Its name, for the user.
    pub name: String,
    /// Initial value.
    pub value: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Perturbation of the last trial, to either side of the value.
    pub c_end: f64,
    /// Learning rate of the last trial: the change of the value for each game won more than lost, as a fraction of c.
    pub r_end: f64,
}

impl Parameter {
    /// The perturbation c_k of trial `k` of `n`.
    fn perturbation(&self, k: u64, n: u64) -> f64 {
        self.c_end * (n as f64 / k as f64).powf(GAMMA)
    }

    /// The learning rate r_k of trial `k` of `n`.
    fn rate(&self, k: u64, n: u64) -> f64 {
        let (all, a) = (n as f64, A_RATIO * n as f64);
        let share = self.c_end / self.perturbation(k, n);
        self.r_end * share * share * ((a + all) / (a + k as f64)).powf(ALPHA)
    }
}

/// The two players of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Number of the trial, from 1.
    pub number: u64,
    /// The values of the two players.
    pub players: [Vec<f64>; 2],
    /// Change of each value per point of the first player's lead.
    gains: Vec<f64>,
}

impl Trial {
    /// Trial `number` of `all`. It depends on these, the parameters, their values and the seed alone.
    pub fn new(parameters: &[Parameter], values: &[f64], seed: u64, number: u64, all: u64) -> Trial {
        let mut random = Pcg64::seed_from_u64(hash::fold(hash::mix(seed), number));
        let mut trial = Trial { number, players: [Vec::new(), Vec::new()], gains: Vec::new() };
        for (parameter, &value) in parameters.iter().zip(values) {
            let c = parameter.perturbation(number, all);
            let signed = if random.random_range(0..2) == 0 { -c } else { c };
            for (player, perturbation) in trial.players.iter_mut().zip([signed, -signed]) {
                player.push((value + perturbation).clamp(parameter.min, parameter.max));
            }
            trial.gains.push(parameter.rate(number, all) * signed);
        }
        trial
    }

    /// Updates the values by the first player's lead, in points.
    pub fn update(&self, parameters: &[Parameter], values: &mut [f64], lead: f64) {
        for ((parameter, value), gain) in parameters.iter().zip(values).zip(&self.gains) {
            *value = (*value + gain * lead).clamp(parameter.min, parameter.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Vec<Parameter> {
        let parameter = |value, min, max, c_end| Parameter { name: "one".into(), value, min, max, c_end, r_end: 0.02 };
        vec![parameter(100.0, 60.0, 260.0, 10.0), parameter(700.0, 100.0, 800.0, 35.0), parameter(0.5, 0.0, 2.0, 0.1)]
    }

    #[test]
    fn perturbations_and_rates_end_at_their_settings() {
        for parameter in three() {
            assert_eq!(parameter.perturbation(5000, 5000), parameter.c_end);
            assert!((parameter.rate(5000, 5000) - parameter.r_end).abs() < 1e-12);
            assert!(parameter.perturbation(10, 5000) > parameter.c_end);
            // Spall's form: a_k = a / (A + k)^alpha, c_k = c / k^gamma, r_k = a_k / c_k^2.
            let c = parameter.c_end * 5000_f64.powf(0.101);
            let a = parameter.r_end * parameter.c_end.powi(2) * 5500_f64.powf(0.602);
            let c_k = c / 700_f64.powf(0.101);
            let r_k = a / 1200_f64.powf(0.602) / c_k.powi(2);
            assert!((parameter.perturbation(700, 5000) / c_k - 1.0).abs() < 1e-12);
            assert!((parameter.rate(700, 5000) / r_k - 1.0).abs() < 1e-12);
        }
    }

    /// Simulated games in which the player closer to the best values wins slightly more often.
    #[test]
    fn noisy_games_find_the_best_values() {
        let (parameters, pairs) = (three(), 12_000);
        let best = [180.0, 300.0, 1.2];
        let strength = |player: &[f64]| -> f64 {
            let distances = player.iter().zip(&best).zip(&parameters);
            distances
                .map(|((value, best), parameter)| -((value - best) / (parameter.max - parameter.min)).powi(2))
                .sum()
        };
        for seed in 1..=3 {
            let mut values: Vec<f64> = parameters.iter().map(|parameter| parameter.value).collect();
            for number in 1..=pairs {
                let trial = Trial::new(&parameters, &values, seed, number, pairs);
                let expected = 2.0 * (strength(&trial.players[0]) - strength(&trial.players[1]));
                let mut random = Pcg64::seed_from_u64(hash::fold(seed, number));
                // Two games, half of them draws.
                let lead = (0..2).map(|_| {
                    let chance: f64 = random.random_range(0.0..1.0);
                    let win = 0.25 + expected / 2.0;
                    f64::from(i32::from(chance < win) - i32::from(chance > win + 0.5))
                });
                trial.update(&parameters, &mut values, lead.sum());
            }
            for ((value, best), parameter) in values.iter().zip(&best).zip(&parameters) {
                let (off, before) = ((value - best).abs(), (parameter.value - best).abs());
                assert!(off < 0.35 * before, "seed {seed}: {value}, best {best}");
            }
        }
    }

    #[test]
    fn a_trial_depends_on_its_number_and_seed_alone() {
        let (parameters, values) = (three(), [100.0, 700.0, 0.5]);
        let trial = |seed, number| Trial::new(&parameters, &values, seed, number, 20_000);
        assert_eq!(trial(1, 7), trial(1, 7));
        assert_ne!(trial(1, 7).players, trial(2, 7).players);
        assert_ne!(trial(1, 7).players, trial(1, 8).players);
        // A drawn pair changes nothing; values stay within their bounds.
        let mut moved = values;
        trial(1, 7).update(&parameters, &mut moved, 0.0);
        assert_eq!(moved, values);
        trial(1, 7).update(&parameters, &mut moved, 1e9);
        for (value, parameter) in moved.iter().zip(&parameters) {
            assert!(*value == parameter.min || *value == parameter.max);
        }
    }
}
