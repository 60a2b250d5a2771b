//! Elo of weights from the matches of a ladder, where each plays the weights before it and one reference.
//!
//! Far below the reference nearly all games are lost, so that they alone hardly show progress. Hence the ratings are
//! the maximum likelihood over all games, by Newton's method: the Hessian is tridiagonal. Draws count half, and pairs
//! as two games.

use std::f64::consts::LN_10;

use crate::arena::statistics::Estimate;
use crate::base::Z95;
use crate::base::logistic::sigmoid;

/// Elo of one unit of the logistic function.
const UNIT: f64 = 400.0 / LN_10;
/// The longest step of an iteration, in units.
const LONGEST: f64 = 1.0;
const ITERATIONS: usize = 200;

/// The result of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatchPoints {
    /// Games.
    pub games: f64,
    /// Points of the first player.
    pub points: f64,
}

impl MatchPoints {
    /// The match with its games and score, 0 to 1. Where all games are lost or won, half a point is added or taken
    /// away.
    pub fn new(games: u64, score: f64) -> MatchPoints {
        let games = games as f64;
        let points = if games > 0.0 { (games * score).max(0.5).min(games - 0.5) } else { 0.0 };
        MatchPoints { games, points }
    }

    /// Both matches.
    pub fn plus(self, other: MatchPoints) -> MatchPoints {
        MatchPoints { games: self.games + other.games, points: self.points + other.points }
    }

    /// First derivative of the log likelihood by the difference of the players, and the negative of the second.
    fn derivatives(self, difference: f64) -> (f64, f64) {
        let expected = sigmoid(difference);
        (self.points - self.games * expected, self.games * expected * (1.0 - expected))
    }
}

/// Elo of all weights against the reference. `steps[i]` is the match of weights `i + 1` against weights `i`, and
/// `direct[i]` are the games of weights `i` against the reference, of which there is at least one.
pub fn ratings(steps: &[MatchPoints], direct: &[MatchPoints]) -> Vec<Estimate> {
    let mut elo = vec![0.0; direct.len()];
    for _ in 0..ITERATIONS {
        let (gradient, hessian) = derivatives(steps, direct, &elo);
        let step = hessian.solve(&gradient);
        let longest = step.iter().fold(0.0, |longest: f64, step| longest.max(step.abs()));
        let factor = (LONGEST / longest).min(1.0);
        elo.iter_mut().zip(&step).for_each(|(elo, step)| *elo += factor * step);
        if longest < 1e-9 {
            break;
        }
    }
    let (_, hessian) = derivatives(steps, direct, &elo);
    let variances = hessian.inverse_diagonal();
    let estimate = |(elo, variance): (&f64, f64)| {
        let (value, error) = (UNIT * elo, Z95 * UNIT * variance.sqrt());
        Estimate { value, low: value - error, high: value + error }
    };
    elo.iter().zip(variances).map(estimate).collect()
}

/// Gradient and negative Hessian of the log likelihood.
fn derivatives(steps: &[MatchPoints], direct: &[MatchPoints], elo: &[f64]) -> (Vec<f64>, Tridiagonal) {
    let (mut gradient, mut diagonal): (Vec<f64>, Vec<f64>) =
        direct.iter().zip(elo).map(|(points, elo)| points.derivatives(*elo)).unzip();
    let mut off_diagonal = Vec::new();
    for (i, points) in steps.iter().enumerate() {
        let (first, second) = points.derivatives(elo[i + 1] - elo[i]);
        gradient[i] -= first;
        gradient[i + 1] += first;
        diagonal[i] += second;
        diagonal[i + 1] += second;
        off_diagonal.push(-second);
    }
    (gradient, Tridiagonal { diagonal, off_diagonal })
}

/// A symmetric matrix.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// The elements next to the diagonal.
    off_diagonal: Vec<f64>,
}

impl Tridiagonal {
    /// The pivots of an elimination from the first row on.
    fn pivots(&self) -> Vec<f64> {
        let mut pivots = vec![self.diagonal[0]];
        for (i, off_diagonal) in self.off_diagonal.iter().enumerate() {
            pivots.push(self.diagonal[i + 1] - off_diagonal * off_diagonal / pivots[i]);
        }
        pivots
    }

    /// The vector whose product with the matrix is `right`.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let pivots = self.pivots();
        let mut solution = right.to_vec();
        for (i, off_diagonal) in self.off_diagonal.iter().enumerate() {
            solution[i + 1] -= off_diagonal / pivots[i] * solution[i];
        }
        for i in (0..pivots.len()).rev() {
            let next = self.off_diagonal.get(i).map_or(0.0, |off_diagonal| off_diagonal * solution[i + 1]);
            solution[i] = (solution[i] - next) / pivots[i];
        }
        solution
    }

    /// The diagonal of the inverse, from the pivots of both directions.
    fn inverse_diagonal(&self) -> Vec<f64> {
        let reversed = |values: &[f64]| values.iter().rev().copied().collect();
        let back = Tridiagonal { diagonal: reversed(&self.diagonal), off_diagonal: reversed(&self.off_diagonal) };
        let both = self.pivots().into_iter().zip(back.pivots().into_iter().rev());
        both.zip(&self.diagonal).map(|((down, up), own)| 1.0 / (down + up - own)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::statistics::score_of_elo;

    #[test]
    fn one_match_gives_its_own_elo() {
        let [rating] = ratings(&[], &[MatchPoints::new(100, score_of_elo(120.0))])[..] else { panic!("one") };
        assert!((rating.value - 120.0).abs() < 1e-6, "{rating:?}");
        // The standard deviation of a score of two thirds is 0.047.
        assert!((70.0..74.0).contains(&rating.error()), "{rating:?}");
        let [lost] = ratings(&[], &[MatchPoints::new(16, 0.0)])[..] else { panic!("one") };
        assert!(lost.value < -500.0 && lost.error() > 300.0, "{lost:?}");
    }

    #[test]
    fn known_strengths_are_found() {
        let elo = [-900.0, -400.0, -250.0, -100.0, 20.0];
        let steps: Vec<MatchPoints> =
            elo.windows(2).map(|pair| MatchPoints::new(300, score_of_elo(pair[1] - pair[0]))).collect();
        let direct = elo.map(|elo| MatchPoints::new(if elo < -300.0 { 0 } else { 40 }, score_of_elo(elo)));
        let found = ratings(&steps, &direct);
        for (found, elo) in found.iter().zip(elo) {
            assert!((found.value - elo).abs() < 1e-3, "{found:?} {elo}");
        }
        // More is known of the weights that played the reference.
        assert!(found[0].error() > found[1].error() && found[1].error() > found[2].error());
    }

    /// Direct games that are all lost do not hide the progress.
    #[test]
    fn progress_far_below_the_reference_is_seen() {
        let steps = [(56, 52.5), (78, 53.5), (136, 83.0), (186, 110.0)]
            .map(|(games, points)| MatchPoints::new(games, points / games as f64));
        let found = ratings(&steps, &[0.0, 0.0, 1.0, 0.0, 1.0].map(|points: f64| MatchPoints::new(16, points / 16.0)));
        assert!(found.is_sorted_by(|one, other| one.value + 40.0 < other.value), "{found:?}");
        let last = found[4];
        assert!((-480.0..-250.0).contains(&last.value) && last.error() < 200.0, "{last:?}");
    }
}
