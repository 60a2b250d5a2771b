//! What levels are worth, by games: against programs whose strength is known, and against each other.
//!
//! A calibration is a line along which the model grows stronger, with numbers on it. Games tell by how much a number is
//! wrong where they were played; between these places the error is linear, beyond them it stays as it is. So the numbers
//! move, and what they stand at keeps its place on the line.

use dyad_engine::levels::file::Calibrated;
use serde::{Deserialize, Serialize};

use crate::arena::statistics::MatchResults;

/// How wrong a calibration is expected to be before games tell, in Elo (standard deviation): an error that is no larger
/// than its own uncertainty is corrected by less than all of it.
const EXPECTED: f64 = 80.0;
/// Half the width of a 95 % interval in standard errors.
const WIDTH: f64 = 1.96;

/// Against whom a level played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    /// A program that is set to this Elo.
    Program(f64),
    /// The level of this Elo.
    Level(f64),
}

/// What a match told of a level; a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The Elo of the level.
    pub level: f64,
    /// How it played.
    pub played: Calibrated,
    /// Its opponent.
    pub rival: Rival,
    /// What the opponent is called.
    pub name: String,
    /// What the two could spend.
    pub budget: String,
    /// What else was asked for: games, openings, seed, adjudication.
    #[serde(default)]
    pub settings: serde_json::Value,
    /// The games.
    pub tally: MatchResults,
}

impl Finding {
    /// How much stronger than its opponent the level is: Elo and its standard error. A half point more for each side keeps
    /// a match that was won throughout from saying that there is no end to it.
    #[must_use]
    pub fn difference(&self) -> (f64, f64) {
        let games = self.tally.games() as f64;
        let score = (self.tally.score().value * games + 0.5) / (games + 1.0);
        let slope = 400.0 / 10f64.ln() / (score * (1.0 - score));
        // Never below what games without draws and pairs would give for such a score.
        let least = (score * (1.0 - score) / (games + 1.0)).sqrt() / 2.0;
        let error = (self.tally.score().error() / WIDTH).max(least);
        (-400.0 * (1.0 / score - 1.0).log10(), slope * error)
    }
}

/// By how much levels are stronger than their numbers say: pairs of level and error, in Elo, from the weakest on. Levels
/// that no program was set to are placed by their games with those next to them.
#[must_use]
pub fn errors(findings: &[Finding]) -> Vec<(f64, f64)> {
    let mut known: Vec<(f64, f64)> = Vec::new();
    let mut levels: Vec<f64> = findings.iter().map(|finding| finding.level).collect();
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
    for level in levels {
        // All matches of a level against programs count by their certainty, as does what was expected: no error.
        let (mut sum, mut weight) = (0.0, 0.0);
        for finding in findings.iter().filter(|finding| finding.level == level) {
            if let Rival::Program(elo) = finding.rival {
                let (difference, error) = finding.difference();
                sum += (elo + difference - level) / error.powi(2);
                weight += error.powi(-2);
            }
        }
        if weight > 0.0 {
            known.push((level, sum / (weight + EXPECTED.powi(-2))));
        }
    }
    // Games of two levels carry what is known of one over to the other.
    loop {
        let error_of = |level: f64, known: &[(f64, f64)]| known.iter().find(|at| at.0 == level).map(|at| at.1);
        let carried = findings.iter().find_map(|finding| {
            let Rival::Level(other) = finding.rival else { return None };
            let (difference, error) = finding.difference();
            let certain = EXPECTED.powi(2) / (EXPECTED.powi(2) + error.powi(2));
            let excess = certain * (difference - (finding.level - other));
            match (error_of(finding.level, &known), error_of(other, &known)) {
                (Some(error), None) => Some((other, error - excess)),
                (None, Some(error)) => Some((finding.level, error + excess)),
                _ => None,
            }
        });
        let Some(carried) = carried else { break };
        known.push(carried);
    }
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    known
}

/// A calibration with numbers from which these errors are gone.
///
/// # Errors
/// When the numbers would not rise along it any more.
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
    use dyad_engine::levels::file::Strength;

    /// A match of 200 games: pairs that were won, shared and lost.
    fn finding(level: f64, rival: Rival, pairs: [u64; 3]) -> Finding {
        let [won, shared, lost] = pairs;
        let tally = MatchResults {
            wins: 2 * won + shared,
            draws: 0,
            losses: 2 * lost + shared,
            pentanomial: [lost, 0, shared, 0, won],
        };
        let played = points(&[level])[0];
        let settings = serde_json::Value::Null;
        Finding { level, played, rival, name: "rival".to_string(), budget: "a second".to_string(), settings, tally }
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
    fn a_level_as_good_as_its_number_stays() {
        let errors = errors(&[finding(1400.0, Rival::Program(1400.0), [20, 60, 20])]);
        assert!(errors.len() == 1 && errors[0].1.abs() < 1e-9, "{errors:?}");
        assert_eq!(corrected(&points(&[1200.0, 1400.0]), &errors).unwrap(), points(&[1200.0, 1400.0]));
    }

    #[test]
    fn a_level_too_strong_gives_its_place_to_a_higher_number() {
        // 75 % are 191 Elo, and the error of 200 games is far from the 80 that were expected.
        let errors = errors(&[
            finding(1400.0, Rival::Program(1400.0), [20, 60, 20]),
            finding(1800.0, Rival::Program(1800.0), [60, 30, 10]),
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
    fn several_programs_count_by_their_certainty() {
        let few = Finding {
            tally: MatchResults { wins: 6, draws: 0, losses: 2, pentanomial: [1, 0, 0, 0, 3] },
            ..finding(1500.0, Rival::Program(1500.0), [0; 3])
        };
        let many = finding(1500.0, Rival::Program(1500.0), [20, 60, 20]);
        let together = errors(&[few.clone(), many])[0].1;
        let alone = errors(&[few])[0].1;
        assert!(together > 0.0 && together < alone / 2.0, "{together} {alone}");
    }

    #[test]
    fn games_of_levels_carry_the_error_on() {
        // 76 % between levels 200 apart is what the numbers say (with 100 pairs 75.5 % come next to it).
        let right = |level| finding(level, Rival::Level(level - 200.0), [54, 44, 2]);
        let errors = errors(&[finding(1400.0, Rival::Program(1400.0), [60, 30, 10]), right(1400.0), right(1200.0)]);
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
    fn a_match_won_throughout_has_an_end() {
        let (difference, error) = finding(1400.0, Rival::Level(1000.0), [100, 0, 0]).difference();
        assert!(difference.is_finite() && difference > 800.0 && error > 100.0, "{difference} {error}");
    }
}
