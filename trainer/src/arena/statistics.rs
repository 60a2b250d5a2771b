//! Statistics of match results: Elo, likelihood of superiority, SPRT.
//!
//! Two games are played from each opening with colors swapped, and they are not independent: an opening that is good
//! for White gives one point to either side. So results are counted in *pairs* with five possible outcomes (the
//! pentanomial), and every variance comes from pairs. The difference in strength has two scales: logistic Elo, which
//! determines the expected score, and normalized Elo, which determines the number of games needed to prove it.
//!
//! The interval of a score is Wilson's (1927): the scores that a test at 5 % does not refute. The test needs the
//! variance of a pair, and few pairs, or equal ones, say little about it. So the variance is taken relative to that of
//! a coin with the same mean, and this ratio is shrunk toward a usual one. The intervals of 10, 40 and 400 games cover
//! the true score in about 95 % of all matches, whitewashes included (test `intervals_cover`; those of 400 by
//! simulation). A match that was ended by a sequential test favors its winner somewhat; no interval here corrects for
//! that.
//!
//! A match that stops when it is decided needs a sequential test. This is the generalized sequential probability ratio
//! test: under each hypothesis the outcome probabilities are the maximum-likelihood ones among all with that strength,
//! so nothing is assumed about draws or openings. Method: Michel Van den Bergh, "Comments on normalized Elo", "A
//! practical introduction to normalized Elo" and "The maximum likelihood estimate of a multinomial distribution with
//! given expectation", made for Stockfish's Fishtest.

use std::f64::consts::LN_10;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::Z95;

/// Scores of the five outcomes of a pair.
const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Normalized Elo for one standard deviation of a game's result.
const NORMALIZED_UNIT: f64 = 800.0 / LN_10;

/// Variance of a pair's score relative to that of a coin with the same mean: 1/2 for two independent games without
/// draws, about this for engines.
const USUAL_RATIO: f64 = 0.29;

/// Weight of [`USUAL_RATIO`], as a sum of variances: that of one pair between equal players is 1/4.
const USUAL_WEIGHT: f64 = 0.3;

/// Degrees of freedom that knowing [`USUAL_RATIO`] is worth.
const USUAL_FREEDOM: f64 = 16.0;

/// Count used for an outcome that never happened, so that its logarithm exists (as in Fishtest).
const RARE: f64 = 1e-3;

/// Scores are kept this far from 0 and 1 when they become Elo: no match proves an infinite difference.
const EXTREME_SCORE: f64 = 1e-3;

/// A player's points from one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Points {
    /// No point.
    Loss,
    /// Half a point.
    Draw,
    /// One point.
    Win,
}

impl Points {
    /// Half points: 0, 1 or 2.
    pub fn halves(self) -> usize {
        self as usize
    }
}

/// Results of a match in pairs of games, from the first player's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchResults {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pairs by points made: 0, 1/2, 1, 3/2, 2.
    pub pentanomial: [u64; 5],
}

impl MatchResults {
    /// Counts the two games of a pair.
    pub fn add(&mut self, pair: [Points; 2]) {
        for points in pair {
            match points {
                Points::Win => self.wins += 1,
                Points::Draw => self.draws += 1,
                Points::Loss => self.losses += 1,
            }
        }
        self.pentanomial[pair[0].halves() + pair[1].halves()] += 1;
    }

    /// Games counted.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Wins, draws and losses: `+12 =20 -8`.
    pub fn counts(&self) -> String {
        format!("+{} ={} -{}", self.wins, self.draws, self.losses)
    }

    /// Pairs counted.
    pub fn pairs(&self) -> u64 {
        self.pentanomial.iter().sum()
    }

    /// Points made, a draw being half a point.
    pub fn points(&self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }

    /// Fraction of the points with its 95 % interval; one half without games.
    pub fn score(&self) -> Estimate {
        let Some(sample) = Sample::of(&self.pentanomial) else {
            return Estimate { value: 0.5, low: 0.0, high: 1.0 };
        };
        let (low, high) = sample.interval();
        Estimate { value: self.points() / self.games() as f64, low, high }
    }

    /// Logistic Elo difference with its 95 % interval. Half a point is taken from a whitewash, whose difference would
    /// be infinite.
    pub fn elo(&self) -> Estimate {
        let score = self.score();
        let half_point = 0.5 / self.games().max(1) as f64;
        let value = score.value.clamp(half_point.min(0.5), 1.0 - half_point.min(0.5));
        Estimate { value, ..score }.map(elo_of_score)
    }

    /// Normalized Elo difference with its 95 % interval.
    pub fn normalized_elo(&self) -> Estimate {
        let Some(sample) = Sample::of(&self.pentanomial) else {
            return Estimate::default();
        };
        let value = (sample.mean - 0.5) / sample.game_deviation() * NORMALIZED_UNIT;
        let error = Z95 * NORMALIZED_UNIT / (2.0 * sample.pairs).sqrt();
        Estimate { value, low: value - error, high: value + error }
    }

    /// Likelihood of superiority: the probability that the first player is stronger.
    pub fn los(&self) -> f64 {
        Sample::of(&self.pentanomial).map_or(0.5, |sample| sample.los())
    }

    /// The results from the second player's view.
    pub fn opposite(&self) -> MatchResults {
        let mut pentanomial = self.pentanomial;
        pentanomial.reverse();
        MatchResults { wins: self.losses, draws: self.draws, losses: self.wins, pentanomial }
    }
}

impl fmt::Display for MatchResults {
    /// One line as in match reports: `+12 =20 -8  55.0 % [47.1, 62.9]  Elo +34.9 [-20.3, +91.8]  pairs 0-3-10-7-0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (score, elo) = (self.score(), self.elo());
        let [p0, p1, p2, p3, p4] = self.pentanomial;
        write!(
            f,
            "{}  {:.1} % [{:.1}, {:.1}]  Elo {}  pairs {p0}-{p1}-{p2}-{p3}-{p4}",
            self.counts(),
            100.0 * score.value,
            100.0 * score.low,
            100.0 * score.high,
            elo.text(1),
        )
    }
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value itself.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Half the width of the interval.
    pub fn error(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The value with its interval: `+17 +- 17`, or `-338 [-1200, -76]` where one end is farther away than the other.
    pub fn text(&self, digits: usize) -> String {
        let Estimate { value, low, high } = self;
        let [below, above] = [value - low, high - value].map(|distance| format!("{distance:.digits$}"));
        match below == above {
            true => format!("{value:+.digits$} +- {above}"),
            false => format!("{value:+.digits$} [{low:+.digits$}, {high:+.digits$}]"),
        }
    }

    /// The estimate of the opposite difference.
    pub fn opposite(&self) -> Estimate {
        Estimate { value: -self.value, low: -self.high, high: -self.low }
    }

    /// The estimate of an increasing function of the value.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Estimate {
        Estimate { value: f(self.value), low: f(self.low), high: f(self.high) }
    }
}

/// Logistic Elo difference that makes this score the expected one.
pub fn elo_of_score(score: f64) -> f64 {
    let score = score.clamp(EXTREME_SCORE, 1.0 - EXTREME_SCORE);
    400.0 * (score / (1.0 - score)).log10()
}

/// Expected score at a logistic Elo difference.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The largest difference of a hypothesis; larger ones exceed floating-point precision.
const LARGEST_ELO: f64 = 1_000.0;

/// A sequential test: is the first player stronger by `elo0` (H0) or by `elo1` (H1)?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    /// The logistic Elo difference under H0.
    pub elo0: f64,
    /// The difference under H1, above `elo0`.
    pub elo1: f64,
    /// Probability to accept H1 where H0 is true.
    pub alpha: f64,
    /// Probability to accept H0 where H1 is true.
    pub beta: f64,
}

/// The decision of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Not decided: more games are needed.
    Continue,
    /// H0 is accepted: the difference is not the larger one.
    H0,
    /// H1 is accepted.
    H1,
}

impl Sprt {
    /// A test with these hypotheses and error probabilities; an error if one is out of bounds.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Sprt, String> {
        let probability = |p: f64| p > 0.0 && p < 0.5;
        if !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1) {
            return Err(format!("an SPRT needs elo0 below elo1, but they are {elo0} and {elo1}"));
        }
        let most = LARGEST_ELO;
        if elo0.abs() > most || elo1.abs() > most {
            return Err(format!("an SPRT needs elo0 and elo1 from -{most} to {most}, but they are {elo0} and {elo1}"));
        }
        if !probability(alpha) || !probability(beta) {
            return Err(format!("an SPRT needs alpha and beta between 0 and 0.5, but they are {alpha} and {beta}"));
        }
        Ok(Sprt { elo0, elo1, alpha, beta })
    }

    /// The log-likelihood ratios at which H0 and H1 are accepted (Wald).
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// Log-likelihood ratio of H1 against H0.
    pub fn llr(&self, results: &MatchResults) -> f64 {
        if results.pairs() == 0 {
            return 0.0;
        }
        let observed = frequencies(&results.pentanomial);
        let [p0, p1] = [self.elo0, self.elo1].map(|elo| with_mean(&observed, score_of_elo(elo)));
        let gain: f64 = (0..5).map(|i| observed[i] * (p1[i] / p0[i]).ln()).sum();
        results.pairs() as f64 * gain
    }

    /// The decision for these results.
    pub fn decide(&self, results: &MatchResults) -> Decision {
        let (lower, upper) = self.bounds();
        match self.llr(results) {
            llr if llr >= upper => Decision::H1,
            llr if llr <= lower => Decision::H0,
            _ => Decision::Continue,
        }
    }
}

impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SPRT [{}, {}] alpha {} beta {}", self.elo0, self.elo1, self.alpha, self.beta)
    }
}

/// Mean and variance of the score of a pair.
struct Sample {
    pairs: f64,
    mean: f64,
    variance: f64,
    /// The variance relative to that of a coin with the same mean, shrunk toward [`USUAL_RATIO`].
    ratio: f64,
}

impl Sample {
    fn of(counts: &[u64; 5]) -> Option<Sample> {
        let pairs = counts.iter().sum::<u64>() as f64;
        if pairs == 0.0 {
            return None;
        }
        let (mean, variance) = moments(&counts.map(|count| count as f64 / pairs));
        let coin = mean * (1.0 - mean);
        let ratio = (pairs * variance + USUAL_WEIGHT * USUAL_RATIO) / ((pairs - 1.0) * coin + USUAL_WEIGHT);
        Some(Sample { pairs, mean, variance, ratio })
    }

    fn freedom(&self) -> f64 {
        self.pairs - 1.0 + USUAL_FREEDOM
    }

    /// The 95 % interval of the expected score.
    fn interval(&self) -> (f64, f64) {
        let Sample { pairs, mean, ratio, .. } = *self;
        let q = t95(self.freedom()).powi(2) * ratio / pairs;
        let center = (mean + q / 2.0) / (1.0 + q);
        let error = (q * (mean * (1.0 - mean) + q / 4.0)).sqrt() / (1.0 + q);
        ((center - error).max(0.0), (center + error).min(1.0))
    }

    /// The probability that the expected score is above one half, by the test that the interval inverts.
    fn los(&self) -> f64 {
        let (t, freedom) = ((self.mean - 0.5) / (self.ratio / 4.0 / self.pairs).sqrt(), self.freedom());
        // The normal approximation of the t distribution.
        normal_cdf(t * (1.0 - 1.0 / (4.0 * freedom)) / (1.0 + t * t / (2.0 * freedom)).sqrt())
    }

    /// Deviation of one game's result if the two games of a pair were independent; the usual one where all pairs are
    /// equal.
    fn game_deviation(&self) -> f64 {
        let half_point = 0.25 / self.pairs;
        let mean = self.mean.clamp(half_point, 1.0 - half_point);
        let variance = if self.variance > 1e-12 { self.variance } else { USUAL_RATIO * mean * (1.0 - mean) };
        (2.0 * variance).sqrt()
    }
}

/// The quantile of a two-sided 95 % interval of the t distribution, by its expansion around the normal one.
fn t95(freedom: f64) -> f64 {
    let z = Z95;
    let first = (z.powi(3) + z) / (4.0 * freedom);
    z + first + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom * freedom)
}

/// The observed outcome probabilities, all nonzero.
fn frequencies(counts: &[u64; 5]) -> [f64; 5] {
    let counts = counts.map(|count| (count as f64).max(RARE));
    let total: f64 = counts.iter().sum();
    counts.map(|count| count / total)
}

fn moments(p: &[f64; 5]) -> (f64, f64) {
    let mean: f64 = (0..5).map(|i| p[i] * SCORES[i]).sum();
    let variance = (0..5).map(|i| p[i] * (SCORES[i] - mean).powi(2)).sum();
    (mean, variance)
}

/// The likeliest outcome probabilities whose mean score is `mean`: each is divided by 1 + x (score - mean), with the one
/// x for which this holds, found by bisection.
fn with_mean(observed: &[f64; 5], mean: f64) -> [f64; 5] {
    let values = SCORES.map(|score| score - mean);
    // The average falls as x grows, from plus to minus infinity between these two poles.
    let (mut low, mut high) = (-1.0 / values[4], -1.0 / values[0]);
    let average = |x: f64| (0..5).map(|i| observed[i] * values[i] / (1.0 + x * values[i])).sum::<f64>();
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if average(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = (low + high) / 2.0;
    std::array::from_fn(|i| observed[i] / (1.0 + x * values[i]))
}

/// Cumulative normal distribution.
fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(pentanomial: [u64; 5]) -> MatchResults {
        // The split of the middle outcomes into games affects only the points.
        let halves: u64 = (0..5).map(|i| i as u64 * pentanomial[i]).sum();
        let games = 2 * pentanomial.iter().sum::<u64>();
        let (wins, draws) = (halves / 2, halves % 2);
        MatchResults { wins, draws, losses: games - wins - draws, pentanomial }
    }

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "got {got}, want {want} +- {tolerance}");
    }

    /// Every result has a finite ratio within the bounds of the hypotheses.
    #[test]
    fn ratios_are_finite() {
        let tallies =
            [[1, 0, 0, 0, 0], [0, 0, 0, 0, 10_000], [0, 0, 1, 0, 0], [100, 200, 300, 200, 100], [0, 1, 5_000, 0, 0]];
        let most = LARGEST_ELO;
        for (elo0, elo1) in [(0.0, most), (-most, 0.0), (-most, most), (most - 1.0, most)] {
            let test = Sprt::new(elo0, elo1, 0.05, 0.05).unwrap();
            for counts in tallies {
                assert!(test.llr(&results(counts)).is_finite(), "{test}: {counts:?}");
            }
        }
    }

    #[test]
    fn llr_equals_published_figures() {
        let cases: [([u64; 5], f64, f64, f64); 2] =
            [([223, 9863, 21279, 10037, 246], 0.5, 2.5, -3.07), ([871, 26175, 55983, 26678, 821], 0.0, 2.0, -4.98)];
        for (counts, elo0, elo1, want) in cases {
            let sprt = Sprt::new(elo0, elo1, 0.05, 0.05).unwrap();
            near(sprt.llr(&results(counts)), want, 0.01 * want.abs().max(1.0));
        }
    }

    #[test]
    fn elo_equals_published_figures() {
        // Pentanomial; Elo and its error; normalized Elo and its error (fastchess's test figures).
        let cases: [([u64; 5], [f64; 4]); 3] = [
            ([34, 54, 63, 64, 75], [55.58, 27.65, 57.94, 28.28]),
            ([332, 433, 498, 333, 334], [-8.64, 10.33, -9.17, 10.96]),
            ([7895, 8757, 5685, 568, 9999], [-21.04, 2.95, -19.01, 2.65]),
        ];
        for (counts, [elo, elo_error, normalized, normalized_error]) in cases {
            let results = results(counts);
            near(results.elo().value, elo, 0.01);
            // Those of fastchess are by the normal distribution, which is a little narrower.
            near(results.elo().error(), elo_error, 0.01 * elo_error);
            near(results.normalized_elo().value, normalized, 0.01);
            near(results.normalized_elo().error(), normalized_error, 0.01);
        }
        near(results([332, 433, 498, 333, 334]).los(), 0.0505, 0.0002);
    }

    /// The likeliest distribution satisfies its condition, and moving along the condition in any direction makes the
    /// data less likely.
    #[test]
    fn constrained_maximum_is_a_maximum() {
        let observed = frequencies(&[30, 210, 480, 240, 40]);
        let likelihood = |p: &[f64; 5]| (0..5).map(|i| observed[i] * p[i].ln()).sum::<f64>();
        let best = with_mean(&observed, score_of_elo(5.0));
        near(best.iter().sum(), 1.0, 1e-12);
        near(moments(&best).0, score_of_elo(5.0), 1e-12);
        // Directions that keep both the sum and the mean.
        for direction in [[1.0, -2.0, 1.0, 0.0, 0.0], [0.0, 1.0, -2.0, 1.0, 0.0], [0.0, 0.0, 1.0, -2.0, 1.0]] {
            for step in [1e-4, -1e-4] {
                let moved: [f64; 5] = std::array::from_fn(|i| best[i] + step * direction[i]);
                assert!(likelihood(&moved) < likelihood(&best));
            }
        }
    }

    #[test]
    fn decisions_at_the_bounds() {
        let sprt = Sprt::new(0.0, 10.0, 0.05, 0.05).unwrap();
        let (lower, upper) = sprt.bounds();
        near(lower, -2.944, 0.001);
        near(upper, 2.944, 0.001);
        assert_eq!(sprt.decide(&MatchResults::default()), Decision::Continue);
        assert_eq!(sprt.decide(&results([0, 10, 80, 10, 0])), Decision::Continue);
        assert_eq!(sprt.decide(&results([0, 100, 1000, 300, 0])), Decision::H1);
        assert_eq!(sprt.decide(&results([0, 300, 1000, 100, 0])), Decision::H0);
        for (elo0, elo1, alpha, expected) in [
            (5.0, 0.0, 0.05, "elo0 below elo1"),
            (0.0, f64::NAN, 0.05, "elo0 below elo1"),
            (-1.01 * LARGEST_ELO, 0.0, 0.05, "elo0 and elo1 from -"),
            (0.0, 1e5, 0.05, "elo0 and elo1 from -"),
            (0.0, 5.0, 0.0, "alpha and beta between"),
            (0.0, 5.0, 0.7, "alpha and beta between"),
        ] {
            assert!(Sprt::new(elo0, elo1, alpha, 0.05).unwrap_err().contains(expected));
        }
    }

    #[test]
    fn the_opposite_view_negates_all_figures() {
        let mut ours = MatchResults::default();
        for pair in [[Points::Win, Points::Draw], [Points::Loss, Points::Win], [Points::Win, Points::Win]] {
            ours.add(pair);
        }
        assert_eq!((ours.wins, ours.draws, ours.losses, ours.pentanomial), (4, 1, 1, [0, 0, 1, 1, 1]));
        let theirs = ours.opposite();
        near(ours.elo().value, -theirs.elo().value, 1e-9);
        near(ours.elo().low, -theirs.elo().high, 1e-9);
        near(ours.normalized_elo().value, -theirs.normalized_elo().value, 1e-9);
        near(ours.los(), 1.0 - theirs.los(), 1e-12);
    }

    #[test]
    fn an_interval_that_is_not_symmetric_shows_both_ends() {
        let text = |value, low, high, digits| Estimate { value, low, high }.text(digits);
        assert_eq!(text(-338.0, -1199.8, -76.1, 1), "-338.0 [-1199.8, -76.1]");
        assert_eq!(text(17.2, 0.1, 34.2, 0), "+17 +- 17");
        assert_eq!(text(17.2, 0.1, 34.2, 1), "+17.2 [+0.1, +34.2]");
        assert_eq!(text(0.0, -85.0, 85.0, 1), "+0.0 +- 85.0");
        let lost = results([6, 1, 1, 0, 0]);
        assert!(lost.to_string().contains(&format!("Elo {}  pairs", lost.elo().text(1))), "{lost}");
        assert!(lost.normalized_elo().text(1).contains(" +- "));
        assert_eq!(lost.elo().opposite().text(1), lost.opposite().elo().text(1));
    }

    #[test]
    fn empty_and_one_sided_matches_have_finite_figures() {
        for counts in [[0; 5], [0, 0, 0, 0, 50], [50, 0, 0, 0, 0], [0, 0, 50, 0, 0]] {
            let results = results(counts);
            for estimate in [results.score(), results.elo(), results.normalized_elo()] {
                assert!(estimate.value.is_finite() && estimate.low.is_finite() && estimate.high.is_finite());
                assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{counts:?} {estimate:?}");
            }
            assert!(!results.to_string().contains("NaN"));
        }
        let elo = |counts| results(counts).elo();
        // Forty games that end 1-1 in pairs, four games, a whitewash.
        assert!((15.0..40.0).contains(&elo([0, 0, 20, 0, 0]).error()));
        assert!(elo([0, 0, 2, 0, 0]).error() > 60.0);
        let whitewash = elo([0, 0, 0, 0, 100]);
        assert!(whitewash.low > 500.0 && whitewash.low < 900.0 && whitewash.value < 1_100.0, "{whitewash:?}");
        near(results([1, 0, 0, 0, 0]).los(), 0.09, 0.05);
        near(results([0, 0, 0, 0, 1]).los(), 0.91, 0.05);
    }

    /// Outcome probabilities of a pair: `elo` stronger, with `draws` between equal players, from openings that give
    /// White `white` Elo.
    fn pair_of(elo: f64, draws: f64, white: f64) -> [f64; 5] {
        let game = |elo: f64| {
            let score = score_of_elo(elo);
            let draw = (4.0 * draws * score * (1.0 - score)).min(1.6 * score.min(1.0 - score));
            [1.0 - score - draw / 2.0, draw, score - draw / 2.0]
        };
        let mut pair = [0.0; 5];
        // Half of the openings are good for the first player's first color.
        for white in [white, -white] {
            let (first, second) = (game(elo + white), game(elo - white));
            for (i, p) in first.into_iter().enumerate() {
                for (j, q) in second.into_iter().enumerate() {
                    pair[i + j] += p * q / 2.0;
                }
            }
        }
        pair
    }

    /// All results of `pairs` pairs.
    fn all_results(pairs: u64) -> Vec<[u64; 5]> {
        let mut all = vec![(vec![], pairs)];
        for _ in 0..4 {
            let next = |(counts, left): (Vec<u64>, u64)| {
                (0..=left).map(move |count| ([&counts[..], &[count]].concat(), left - count))
            };
            all = all.into_iter().flat_map(next).collect();
        }
        all.into_iter().map(|(counts, left)| [counts[0], counts[1], counts[2], counts[3], left]).collect()
    }

    /// The 95 % intervals of 10 and 40 games contain the true score in 93 to 97 % of all matches, by the probability of
    /// each result. Ten games have so few results that single strengths lie up to half a percent outside.
    #[test]
    fn intervals_cover() {
        let covers = |counts: &[u64; 5], mean: f64| {
            let score = results(*counts).score();
            (score.low..=score.high).contains(&mean)
        };
        let logs: Vec<f64> = (0..=20u32).map(|n| (1..=n).map(|k| f64::from(k).ln()).sum()).collect();
        for pairs in [5, 20] {
            let possible = all_results(pairs);
            let mut all = Vec::new();
            for (draws, white) in [(0.2, 0.0), (0.2, 100.0), (0.4, 0.0), (0.4, 100.0), (0.6, 0.0), (0.6, 100.0)] {
                for elo in [0.0, 30.0, 70.0, 150.0, -200.0, 300.0, -500.0] {
                    let outcomes = pair_of(elo, draws, white);
                    let (mean, _) = moments(&outcomes);
                    let probability = |counts: &[u64; 5]| {
                        let of_outcome = |i: usize| counts[i] as f64 * outcomes[i].ln() - logs[counts[i] as usize];
                        (logs[pairs as usize] + (0..5).map(of_outcome).sum::<f64>()).exp()
                    };
                    let coverage: f64 = possible.iter().filter(|counts| covers(counts, mean)).map(probability).sum();
                    let slack = if pairs == 5 { 0.005 } else { 0.0 };
                    let case = format!("{pairs} pairs, {elo} Elo, {draws} draws, {white} for White: {coverage:.4}");
                    assert!((0.93 - slack..=0.97 + slack).contains(&coverage), "{case}");
                    all.push(coverage);
                }
            }
            near(all.iter().sum::<f64>() / all.len() as f64, 0.95, 0.008);
        }
    }
}
