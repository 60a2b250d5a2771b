//! [Time management](https://www.chessprogramming.org/Time_Management): a soft and a hard bound from the clock, the
//! soft one scaled by the state of the search.

use crate::params::Params;
use std::time::Duration;

/// The clock of the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left.
    pub remaining: Duration,
    /// Increment per move.
    pub increment: Duration,
    /// Moves to the next time control. None if the time is for the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// The time bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBounds {
    /// No iteration starts after this time, which counts from `go`, pondering included.
    pub soft: Duration,
    /// The search stops at this time, which counts from the ponder hit if there is one.
    pub hard: Duration,
    /// Whether the search uses all of its time: a move time.
    pub fixed: bool,
}

/// Factors that scale the soft bound after an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeFactors {
    /// Best-move stability: iterations since the best move changed.
    pub(crate) stable_iterations: u32,
    /// Score trend: drop of the value from the mean of the last iterations, in search units.
    pub(crate) score_drop: i32,
    /// Fraction of the nodes below the best move, 0 to 1.
    pub(crate) node_fraction: f64,
}

/// The largest part of the time left that is kept in reserve.
const MAX_RESERVE: f64 = 0.25;

fn percent(per_cent: i32) -> f64 {
    f64::from(per_cent) / 100.0
}

impl TimeBounds {
    /// Bounds for a move on this clock. `overhead` is lost between engine and clock with each move.
    pub fn new(clock: &Clock, overhead: Duration, params: &Params) -> TimeBounds {
        let remaining = clock.remaining.as_secs_f64();
        let increment = clock.increment.as_secs_f64();
        let overhead = overhead.as_secs_f64();
        // Overhead and reserve are never spent: a busy machine may delay a thread by tens of milliseconds. A short clock
        // keeps a part of its time, since moves at once lose by their quality.
        let reserve = (f64::from(params.time_reserve) / 1000.0).min(MAX_RESERVE * remaining);
        let usable = (remaining - overhead - reserve).max(0.001);
        let (soft, hard) = match clock.moves_to_go {
            Some(moves) => {
                let moves = f64::from(moves.clamp(1, params.time_moves_max.unsigned_abs()));
                let even = (usable + increment * (moves - 1.0) - overhead * (moves - 1.0)).max(0.0) / moves;
                let hard = percent(if moves <= 1.0 { params.time_usable_last } else { params.time_usable_hard });
                (percent(params.time_share) * even, (percent(params.time_share_hard) * even).min(hard * usable))
            }
            None => {
                let increment = percent(params.time_increment) * (increment - overhead).max(0.0);
                let soft = usable / f64::from(params.time_divisor) + increment;
                (soft, (percent(params.time_soft_hard) * soft).min(percent(params.time_usable_sudden) * usable))
            }
        };
        let hard = hard.clamp(0.001, usable);
        let soft = Duration::from_secs_f64(soft.clamp(0.0005, hard));
        TimeBounds { soft, hard: Duration::from_secs_f64(hard), fixed: false }
    }

    /// Bounds for a move time.
    pub fn fixed(time: Duration, overhead: Duration) -> TimeBounds {
        // The overhead takes at most half of a short move time.
        let time = time.saturating_sub(overhead.min(time / 2)).max(Duration::from_millis(1));
        TimeBounds { soft: time, hard: time, fixed: true }
    }

    /// The soft bound, scaled by the factors; at most the hard bound.
    pub(crate) fn adjusted(&self, factors: &TimeFactors, params: &Params) -> Duration {
        let stability = percent(match factors.stable_iterations {
            0 => params.time_stable_0,
            1 => params.time_stable_1,
            2 => params.time_stable_2,
            3 => params.time_stable_3,
            4..=6 => params.time_stable_4,
            _ => params.time_stable_7,
        });
        let drop = 1.0 + f64::from(factors.score_drop) / f64::from(params.time_drop_divisor);
        let drop = drop.clamp(percent(params.time_drop_min), percent(params.time_drop_max));
        let nodes = percent(params.time_nodes_base) - percent(params.time_nodes_factor) * factors.node_fraction;
        let nodes = nodes.clamp(percent(params.time_nodes_min), percent(params.time_nodes_max));
        self.soft.mul_f64(stability * drop * nodes).min(self.hard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn bounds_never_exceed_the_clock() {
        for remaining in [0, 1, 2, 5, 10, 50, 200, 1_000, 60_000, 3_600_000, u64::MAX / 1_000_000_000] {
            for increment in [0, 2, 10, 1_000, 30_000] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40), Some(u32::MAX)] {
                    for overhead in [0, 10, 100, 5_000] {
                        let clock = Clock { remaining: ms(remaining), increment: ms(increment), moves_to_go };
                        let bounds = TimeBounds::new(&clock, ms(overhead), &Params::DEFAULT);
                        assert!(bounds.soft <= bounds.hard, "{clock:?}");
                        assert!(bounds.hard <= ms(remaining).max(ms(1)), "{clock:?} {bounds:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_short_clock_keeps_a_part_and_spends_the_rest() {
        let hard = |remaining, increment, moves_to_go| {
            let clock = Clock { remaining: ms(remaining), increment: ms(increment), moves_to_go };
            TimeBounds::new(&clock, ms(10), &Params::DEFAULT).hard
        };
        // Less than the overhead: a move at once.
        assert_eq!([hard(5, 2, None), hard(10, 1_000, None), hard(5, 0, Some(1))], [ms(1); 3]);
        for (spent, remaining) in
            [(hard(133, 0, Some(3)), 133), (hard(100, 1_000, None), 100), (hard(60, 0, Some(1)), 60)]
        {
            assert!(spent > ms(remaining / 5) && spent < ms(remaining * 3 / 4), "{remaining}: {spent:?}");
        }
    }

    #[test]
    fn factors_scale_the_soft_bound_up_to_the_hard_bound() {
        let bounds = TimeBounds::new(&Clock { remaining: ms(60_000), ..Clock::default() }, ms(10), &Params::DEFAULT);
        let adjusted = |factors| bounds.adjusted(factors, &Params::DEFAULT);
        let calm = TimeFactors { stable_iterations: 9, score_drop: -50, node_fraction: 0.95 };
        let alarm = TimeFactors { stable_iterations: 0, score_drop: 400, node_fraction: 0.2 };
        assert!(adjusted(&calm) < bounds.soft);
        assert!(adjusted(&alarm) > bounds.soft.mul_f64(2.0));
        assert!(adjusted(&alarm) <= bounds.hard);
    }
}
