//! Simultaneous perturbation stochastic approximation (Spall 1992), as Fishtest and OpenBench use it for chess engines.
//!
//! For trial k, counted from 1, every parameter gets a random sign. One player uses value + c_k sign, the other value -
//! c_k sign, and each point of the first player's lead after their games moves the value by r_k c_k sign. c and r decay
//! as
//!
//! ```text
//! c_k = c_end (N / k)^gamma        r_k = r_end (c_end / c_k)^2 ((A + N) / (A + k))^alpha
//! ```
//!
//! so that c_end and r_end are those of the last of N trials. The noise of the games averages out over many trials, and
//! so does the influence of the other parameters' signs.

use std::ops::RangeInclusive;

use clap::Args;
use dyad_formats::hash;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::base::number::{self, number};
use crate::tune::parameters::Parameter;

/// The decay of perturbations and rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct Schedule {
    /// Pairs of games
    #[arg(long, value_name = "N", value_parser = number(PAIRS), default_value_t = Self::default().pairs)]
    pub pairs: u64,
    /// Exponent of the decay of the rate
    #[arg(long, value_parser = number(FRACTION), default_value_t = Self::default().alpha)]
    pub alpha: f64,
    /// Exponent of the decay of the perturbations
    #[arg(long, value_parser = number(FRACTION), default_value_t = Self::default().gamma)]
    pub gamma: f64,
    /// A as a fraction of all pairs; it keeps the first rates small
    #[arg(long, value_name = "FRACTION", value_parser = number(FRACTION), default_value_t = Self::default().a_ratio)]
    pub a_ratio: f64,
}

/// Range of fractions and exponents.
pub(super) const FRACTION: RangeInclusive<f64> = 0.0..=1.0;
/// Range of [`Schedule::pairs`].
const PAIRS: RangeInclusive<u64> = 1..=1_000_000_000;

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { pairs: 20_000, alpha: 0.602, gamma: 0.101, a_ratio: 0.1 }
    }
}

impl Schedule {
    /// Checks the schedule.
    ///
    /// # Errors
    /// When a number is out of its bounds.
    pub fn check(&self) -> Result<(), String> {
        number::check("pairs", self.pairs, &PAIRS)?;
        for (name, value) in [("alpha", self.alpha), ("gamma", self.gamma), ("a-ratio", self.a_ratio)] {
            number::check(name, value, &FRACTION)?;
        }
        Ok(())
    }

    /// The perturbation c_k.
    fn perturbation(&self, parameter: &Parameter, trial: u64) -> f64 {
        parameter.c_end * (self.pairs as f64 / trial as f64).powf(self.gamma)
    }

    /// The learning rate r_k.
    fn rate(&self, parameter: &Parameter, trial: u64) -> f64 {
        let (all, a) = (self.pairs as f64, self.a_ratio * self.pairs as f64);
        let share = parameter.c_end / self.perturbation(parameter, trial);
        parameter.r_end * share * share * ((a + all) / (a + trial as f64)).powf(self.alpha)
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
    /// Trial `number`. It depends on the values, the seed and the number alone.
    #[must_use]
    pub fn new(parameters: &[Parameter], values: &[f64], schedule: &Schedule, seed: u64, number: u64) -> Trial {
        let mut random = Pcg64::seed_from_u64(hash::fold(hash::mix(seed), number));
        let mut trial = Trial { number, players: [Vec::new(), Vec::new()], gains: Vec::new() };
        for (parameter, &value) in parameters.iter().zip(values) {
            let c = schedule.perturbation(parameter, number);
            let signed = if random.random_range(0..2) == 0 { -c } else { c };
            for (player, perturbation) in trial.players.iter_mut().zip([signed, -signed]) {
                player.push(parameter.played(value + perturbation, random.random_range(0.0..1.0)));
            }
            trial.gains.push(schedule.rate(parameter, number) * signed);
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
    use crate::tune::parameters;

    fn three() -> Vec<Parameter> {
        let lines = [
            "rfp_factor, int, 100, 60, 260, 10, 0.02",
            "razor_base, int, 700, 100, 800, 35, 0.02",
            "factor:pairs, float, 0.5, 0, 2, 0.1, 0.02",
        ];
        parameters::parse(&lines.join("\n")).unwrap()
    }

    #[test]
    fn perturbations_and_rates_end_at_their_settings() {
        let schedule = Schedule { pairs: 5000, ..Schedule::default() };
        for parameter in three() {
            assert_eq!(schedule.perturbation(&parameter, 5000), parameter.c_end);
            assert!((schedule.rate(&parameter, 5000) - parameter.r_end).abs() < 1e-12);
            assert!(schedule.perturbation(&parameter, 10) > parameter.c_end);
            // Spall's form: a_k = a / (A + k)^alpha, c_k = c / k^gamma, r_k = a_k / c_k^2.
            let c = parameter.c_end * 5000_f64.powf(0.101);
            let a = parameter.r_end * parameter.c_end.powi(2) * 5500_f64.powf(0.602);
            let c_k = c / 700_f64.powf(0.101);
            let r_k = a / 1200_f64.powf(0.602) / c_k.powi(2);
            assert!((schedule.perturbation(&parameter, 700) / c_k - 1.0).abs() < 1e-12);
            assert!((schedule.rate(&parameter, 700) / r_k - 1.0).abs() < 1e-12);
        }
    }

    /// Simulated games in which the player closer to the best values wins slightly more often.
    #[test]
    fn noisy_games_find_the_best_values() {
        let (parameters, schedule) = (three(), Schedule { pairs: 12_000, ..Schedule::default() });
        let best = [180.0, 300.0, 1.2];
        let strength = |player: &[f64]| -> f64 {
            let distances = player.iter().zip(&best).zip(&parameters);
            distances
                .map(|((value, best), parameter)| -((value - best) / (parameter.max - parameter.min)).powi(2))
                .sum()
        };
        for seed in 1..=3 {
            let mut values: Vec<f64> = parameters.iter().map(|parameter| parameter.value).collect();
            for number in 1..=schedule.pairs {
                let trial = Trial::new(&parameters, &values, &schedule, seed, number);
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
                assert!(off < 0.35 * before, "seed {seed}, {}: {value}, best {best}", parameter.name);
            }
        }
    }

    #[test]
    fn a_trial_depends_on_its_number_and_seed_alone() {
        let (parameters, schedule) = (three(), Schedule::default());
        let values = [100.0, 700.0, 0.5];
        let trial = |seed, number| Trial::new(&parameters, &values, &schedule, seed, number);
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
