//! Thinking time of a level: that of a person, who answers at once where there is nothing to choose and takes long
//! where many moves look good.

use dyad_engine::search::TimeBounds;
use std::time::Duration;

/// Share of the mean time of a move that is the only one.
const FORCED: f64 = 0.1;
/// Share of the mean time of a recapture.
const RECAPTURE: f64 = 0.25;
/// Share of the mean time of a move that is certain, and what each unit of entropy adds.
const CERTAIN: f64 = 0.2;
const PER_ENTROPY: f64 = 0.45;
/// Moves of the opening, known by heart, take a fraction of the time.
const OPENING_PLIES: usize = 10;
const OPENING: f64 = 0.35;
/// Standard deviation of the logarithm of the time.
const SPREAD: f64 = 0.4;

/// What the time of a move depends on.
pub(crate) struct Pace<'a> {
    /// Probabilities of the legal moves, in the model of people of the level's rating.
    pub(crate) probabilities: &'a [f64],
    /// Whether the move takes back on the square of the last capture.
    pub(crate) is_recapture: bool,
    pub(crate) plies: usize,
    /// The random part, in standard deviations.
    pub(crate) deviation: f64,
}

impl Pace<'_> {
    /// The thinking time within the bounds of the clock. The mean time is the soft bound, or half of a move time.
    pub(crate) fn time(&self, bounds: &TimeBounds) -> Duration {
        let mean = if bounds.fixed { bounds.hard / 2 } else { bounds.soft };
        let share = if self.probabilities.len() <= 1 {
            FORCED
        } else if self.is_recapture {
            RECAPTURE
        } else {
            let opening = if self.plies < OPENING_PLIES { OPENING } else { 1.0 };
            opening * (CERTAIN + PER_ENTROPY * entropy(self.probabilities))
        };
        mean.mul_f64(share * (SPREAD * self.deviation).exp()).min(bounds.hard)
    }
}

/// Entropy of a distribution, in nats.
fn entropy(probabilities: &[f64]) -> f64 {
    probabilities.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARD: [f64; 10] = [0.1; 10];
    const PACE: Pace = Pace { probabilities: &HARD, is_recapture: false, plies: 30, deviation: 0.0 };

    fn seconds(pace: &Pace) -> f64 {
        let [soft, hard] = [10, 40].map(Duration::from_secs);
        pace.time(&TimeBounds { soft, hard, fixed: false }).as_secs_f64()
    }

    #[test]
    fn hard_choices_take_longest() {
        let certain = [0.97, 0.01, 0.01, 0.01];
        let times = [
            Pace { probabilities: &[1.0], ..PACE },
            Pace { is_recapture: true, ..PACE },
            Pace { probabilities: &certain, ..PACE },
            Pace { plies: 4, ..PACE },
            PACE,
        ]
        .map(|pace| seconds(&pace));
        assert!(times.is_sorted() && times[0] < 2.0 && times[4] > 10.0, "{times:?}");
    }

    #[test]
    fn the_time_is_within_the_bounds() {
        let slowest = Pace { probabilities: &[0.01; 100], deviation: 2.0, ..PACE };
        assert_eq!(seconds(&slowest), 40.0);
        let movetime = TimeBounds::fixed(Duration::from_secs(3), Duration::ZERO);
        assert_eq!(slowest.time(&movetime), Duration::from_secs(3));
        assert!(PACE.time(&movetime) < Duration::from_secs(2));
        assert!(seconds(&Pace { deviation: -2.0, ..PACE }) < seconds(&PACE) / 2.0);
    }
}
