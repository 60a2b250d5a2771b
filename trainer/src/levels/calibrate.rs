//! Calibration of skill levels by games against programs of known strength, and against each other.
//!
//! A calibration maps Elo numbers to strengths of the model. Games measure the error of a number where they were
//! played; the error is interpolated linearly between these points and constant beyond them. The numbers are corrected,
//! the strengths stay.

use dyad_levels::file::Calibrated;
use serde::{Deserialize, Serialize};

use crate::arena::statistics::MatchResults;
use crate::base::Z95;

/// Prior standard deviation of a calibration's error, in Elo: an error no larger than its own uncertainty is corrected
/// only in part.
const EXPECTED: f64 = 80.0;

/// Opponent of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelOpponent {
    /// A program set to this Elo.
    Program(f64),
    /// The level of this Elo.
    Level(f64),
}

/// The result of a match of a level, one line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelMatch {
    /// The Elo of the level.
    pub level: f64,
    /// The level's calibration point.
    pub played: Calibrated,
    /// Identity of the model of the levels; empty in logs of release 0.2.0.
    #[serde(default)]
    pub model: String,
    /// Its opponent.
    pub rival: LevelOpponent,
    /// Name of the opponent.
    pub name: String,
    /// Search limits of both.
    pub budget: String,
    /// Other settings: games, openings, seed, adjudication.
    #[serde(default)]
    pub settings: serde_json::Value,
    /// Results of the games.
    pub tally: MatchResults,
}

impl LevelMatch {
    /// The level's strength relative to its opponent: Elo and standard error. Half a point is added for each side, so
    /// that a match with only wins gives a finite value.
    #[must_use]
    pub fn difference(&self) -> (f64, f64) {
        let games = self.tally.games() as f64;
        let score = (self.tally.score().value * games + 0.5) / (games + 1.0);
        let slope = 400.0 / 10f64.ln() / (score * (1.0 - score));
        // At least the error of independent decisive games with this score.
        let least = (score * (1.0 - score) / (games + 1.0)).sqrt() / 2.0;
        let error = (self.tally.score().error() / Z95).max(least);
        (-400.0 * (1.0 / score - 1.0).log10(), slope * error)
    }
}

/// Errors of the levels' numbers: pairs of level and error in Elo, weakest first. Levels without matches against
/// programs are placed by their games against neighboring levels.
#[must_use]
pub fn errors(matches: &[LevelMatch]) -> Vec<(f64, f64)> {
    let mut known: Vec<(f64, f64)> = Vec::new();
    let mut levels: Vec<f64> = matches.iter().map(|level_match| level_match.level).collect();
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
    for level in levels {
        // Matches against programs are weighted by their precision, and so is the prior, an error of zero.
        let (mut sum, mut weight) = (0.0, 0.0);
        for level_match in matches.iter().filter(|level_match| level_match.level == level) {
            if let LevelOpponent::Program(elo) = level_match.rival {
                let (difference, error) = level_match.difference();
                sum += (elo + difference - level) / error.powi(2);
                weight += error.powi(-2);
            }
        }
        if weight > 0.0 {
            known.push((level, sum / (weight + EXPECTED.powi(-2))));
        }
    }
    // Games between two levels propagate the error from one to the other.
    loop {
        let error_of = |level: f64, known: &[(f64, f64)]| known.iter().find(|at| at.0 == level).map(|at| at.1);
        let carried = matches.iter().find_map(|level_match| {
            let LevelOpponent::Level(other) = level_match.rival else { return None };
            let (difference, error) = level_match.difference();
            let certain = EXPECTED.powi(2) / (EXPECTED.powi(2) + error.powi(2));
            let excess = certain * (difference - (level_match.level - other));
            match (error_of(level_match.level, &known), error_of(other, &known)) {
                (Some(error), None) => Some((other, error - excess)),
                (None, Some(error)) => Some((level_match.level, error + excess)),
                _ => None,
            }
        });
        let Some(carried) = carried else { break };
        known.push(carried);
    }
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    known
}

/// A calibration with these errors removed from its numbers.
///
/// # Errors
/// When the numbers would not be increasing any more.
pub fn corrected(points: &[Calibrated], errors: &[(f64, f64)]) -> Result<Vec<Calibrated>, String> {
    let error_at = |elo: f64| match errors.iter().position(|at| at.0 >= elo) {
        None => errors.last().map_or(0.0, |at| at.1),
        Some(0) => errors[0].1,
        Some(after) => {
            let ((low, below), (high, above)) = (errors[after - 1], errors[after]);
            below + (elo - low) / (high - low) * (above - below)
        }
    };
    let moved: Vec<Calibrated> =
        points.iter().map(|&point| Calibrated { elo: (point.elo + error_at(point.elo)).round(), ..point }).collect();
    match moved.windows(2).find(|pair| pair[0].elo >= pair[1].elo) {
        None => Ok(moved),
        Some(pair) => Err(format!(
            "the games place what is {} after the correction not above {}: more games, or other points, are needed",
            pair[1].elo, pair[0].elo
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_levels::file::Strength;

    /// A match of 200 games, by pairs won, drawn and lost.
    fn level_match(level: f64, rival: LevelOpponent, pairs: [u64; 3]) -> LevelMatch {
        let [won, shared, lost] = pairs;
        let tally = MatchResults {
            wins: 2 * won + shared,
            draws: 0,
            losses: 2 * lost + shared,
            pentanomial: [lost, 0, shared, 0, won],
        };
        let played = points(&[level])[0];
        let settings = serde_json::Value::Null;
        let [name, budget] = ["rival", "a second"].map(str::to_string);
        LevelMatch { level, played, model: String::new(), rival, name, budget, settings, tally }
    }

    fn points(elos: &[f64]) -> Vec<Calibrated> {
        let point = |(&elo, rating)| Calibrated {
            elo,
            elo_deviation: 0.0,
            strength: Strength { rating: f64::from(rating), inverse_temperature: 0.0, nodes: 0 },
        };
        elos.iter().zip(0..).map(point).collect()
    }

    #[test]
    fn an_accurate_level_does_not_change() {
        let errors = errors(&[level_match(1400.0, LevelOpponent::Program(1400.0), [20, 60, 20])]);
        assert!(errors.len() == 1 && errors[0].1.abs() < 1e-9, "{errors:?}");
        assert_eq!(corrected(&points(&[1200.0, 1400.0]), &errors).unwrap(), points(&[1200.0, 1400.0]));
    }

    #[test]
    fn a_strong_level_gets_a_higher_number() {
        // 75 % are 191 Elo, and the error of 200 games is well below the prior's 80.
        let errors = errors(&[
            level_match(1400.0, LevelOpponent::Program(1400.0), [20, 60, 20]),
            level_match(1800.0, LevelOpponent::Program(1800.0), [60, 30, 10]),
        ]);
        let (level, error) = errors[1];
        assert!(level == 1800.0 && (140.0..191.0).contains(&error), "{errors:?}");
        let moved = corrected(&points(&[1000.0, 1400.0, 1600.0, 1800.0, 2000.0]), &errors).unwrap();
        let elos: Vec<f64> = moved.iter().map(|point| point.elo).collect();
        let (half, all) = ((1600.0 + error / 2.0).round(), error.round());
        assert_eq!(elos, [1000.0, 1400.0, half, 1800.0 + all, 2000.0 + all], "between linear, beyond the same");
        assert!(moved.iter().zip(points(&elos)).all(|(moved, point)| moved.strength == point.strength));
    }

    #[test]
    fn several_programs_are_weighted_by_precision() {
        let few = LevelMatch {
            tally: MatchResults { wins: 6, draws: 0, losses: 2, pentanomial: [1, 0, 0, 0, 3] },
            ..level_match(1500.0, LevelOpponent::Program(1500.0), [0; 3])
        };
        let many = level_match(1500.0, LevelOpponent::Program(1500.0), [20, 60, 20]);
        let together = errors(&[few.clone(), many])[0].1;
        let alone = errors(&[few])[0].1;
        assert!(together > 0.0 && together < alone / 2.0, "{together} {alone}");
    }

    #[test]
    fn games_between_levels_propagate_the_error() {
        // 76 % is expected between levels 200 apart (75.5 % is closest with 100 pairs).
        let right = |level| level_match(level, LevelOpponent::Level(level - 200.0), [54, 44, 2]);
        let errors =
            errors(&[level_match(1400.0, LevelOpponent::Program(1400.0), [60, 30, 10]), right(1400.0), right(1200.0)]);
        let levels: Vec<f64> = errors.iter().map(|at| at.0).collect();
        assert_eq!(levels, [1000.0, 1200.0, 1400.0]);
        assert!((errors[0].1 - errors[2].1).abs() < 10.0, "all are too strong by the same: {errors:?}");
    }

    #[test]
    fn a_calibration_that_does_not_rise_is_refused() {
        let errors = [(1400.0, 250.0), (1600.0, 0.0)];
        let error = corrected(&points(&[1400.0, 1600.0]), &errors).unwrap_err();
        assert!(error.contains("1600 after the correction not above 1650"), "{error}");
    }

    #[test]
    fn a_match_of_wins_has_a_finite_difference() {
        let (difference, error) = level_match(1400.0, LevelOpponent::Level(1000.0), [100, 0, 0]).difference();
        assert!(difference.is_finite() && difference > 800.0 && error > 100.0, "{difference} {error}");
    }
}
