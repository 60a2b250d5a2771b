//! How long to think: two bounds from the clock, the softer one moved by what the search sees.

use crate::params::Params;
use std::num::NonZeroU64;
use std::time::Duration;

/// The time that so many nodes take on a clock that runs by them, so many a second.
///
/// ```
/// # use dyad_engine::time::time_of;
/// # use std::{num::NonZeroU64, time::Duration};
/// assert_eq!(time_of(500, NonZeroU64::new(200_000).unwrap()), Duration::from_micros(2_500));
/// ```
#[must_use]
pub fn time_of(nodes: u64, nps: NonZeroU64) -> Duration {
    let nanoseconds = u128::from(nodes) * 1_000_000_000 / u128::from(nps.get());
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// The nodes of a time on such a clock, as many as reach it.
pub(crate) fn nodes_in(time: Duration, nps: NonZeroU64) -> u64 {
    let nodes = (time.as_nanos().saturating_mul(u128::from(nps.get()))).div_ceil(1_000_000_000);
    u64::try_from(nodes).unwrap_or(u64::MAX)
}

/// The clock of the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left.
    pub remaining: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves until the next time control; none when the rest of the game has to be played in this time.
    pub moves_to_go: Option<u32>,
}

/// The bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// After this time no new iteration is begun.
    pub soft: Duration,
    /// After this time the search ends wherever it is.
    pub hard: Duration,
    /// Whether all of the time is to be used, whatever the search sees.
    pub fixed: bool,
}

/// What the search knows when an iteration is done.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    /// Iterations for which the best move has stayed the same.
    pub stable_iterations: u32,
    /// How much the value fell since the last iterations, in search units; negative when it rose.
    pub drop: i32,
    /// Share of the nodes that went into the best move, 0 to 1.
    pub best_share: f64,
}

/// A share that is given in per cent.
fn share(per_cent: i32) -> f64 {
    f64::from(per_cent) / 100.0
}

impl Bounds {
    /// Bounds for a move on this clock, `overhead` being lost between the engine and the clock each move.
    ///
    /// ```
    /// # use dyad_engine::{params::Params, time::{Bounds, Clock}};
    /// # use std::time::Duration;
    /// let clock = Clock { remaining: Duration::from_secs(8), increment: Duration::from_millis(80), moves_to_go: None };
    /// let bounds = Bounds::new(&clock, Duration::from_millis(10), &Params::default());
    /// assert!(bounds.soft <= bounds.hard && bounds.hard < clock.remaining);
    /// ```
    #[must_use]
    pub fn new(clock: &Clock, overhead: Duration, params: &Params) -> Bounds {
        let remaining = clock.remaining.as_secs_f64();
        let increment = clock.increment.as_secs_f64();
        let overhead = overhead.as_secs_f64();
        // What may be spent at all: never the overhead, nor a reserve for a busy machine, which may keep a thread waiting
        // for tens of milliseconds. On a clock that holds less than both a move is made at once.
        let reserve = f64::from(params.time_reserve) / 1000.0;
        let usable = (remaining - overhead - reserve).max(0.001);
        let (soft, hard) = match clock.moves_to_go {
            Some(moves) => {
                let moves = f64::from(moves.clamp(1, params.time_moves_max.unsigned_abs()));
                let even = (usable + increment * (moves - 1.0) - overhead * (moves - 1.0)).max(0.0) / moves;
                let hard = share(if moves <= 1.0 { params.time_usable_last } else { params.time_usable_hard });
                (share(params.time_share) * even, (share(params.time_share_hard) * even).min(hard * usable))
            }
            None => {
                let gained = share(params.time_increment) * (increment - overhead).max(0.0);
                let soft = usable / f64::from(params.time_divisor) + gained;
                (soft, (share(params.time_soft_hard) * soft).min(share(params.time_usable_sudden) * usable))
            }
        };
        let hard = hard.clamp(0.001, usable);
        let soft = Duration::from_secs_f64(soft.clamp(0.0005, hard));
        Bounds { soft, hard: Duration::from_secs_f64(hard), fixed: false }
    }

    /// Exactly this time.
    #[must_use]
    pub fn fixed(time: Duration, overhead: Duration) -> Bounds {
        // A move time is a promise of the user's, not a clock: only half of a short one goes to the overhead.
        let time = time.saturating_sub(overhead.min(time / 2)).max(Duration::from_millis(1));
        Bounds { soft: time, hard: time, fixed: true }
    }

    /// The soft bound as the signs move it.
    #[must_use]
    pub fn adjusted(&self, signs: &Signs, params: &Params) -> Duration {
        let stability = share(match signs.stable_iterations {
            0 => params.time_stable_0,
            1 => params.time_stable_1,
            2 => params.time_stable_2,
            3 => params.time_stable_3,
            4..=6 => params.time_stable_4,
            _ => params.time_stable_7,
        });
        let drop = 1.0 + f64::from(signs.drop) / f64::from(params.time_drop_divisor);
        let drop = drop.clamp(share(params.time_drop_min), share(params.time_drop_max));
        // A best move that took nearly all nodes has no rival; one that took few has.
        let rivals = share(params.time_rivals_base) - share(params.time_rivals_factor) * signs.best_share;
        let rivals = rivals.clamp(share(params.time_rivals_min), share(params.time_rivals_max));
        self.soft.mul_f64(stability * drop * rivals).min(self.hard)
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
                        let bounds = Bounds::new(&clock, ms(overhead), &Params::DEFAULT);
                        assert!(bounds.soft <= bounds.hard, "{clock:?}");
                        assert!(bounds.hard <= ms(remaining).max(ms(1)), "{clock:?} {bounds:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn on_a_clock_of_a_tenth_a_move_is_made_at_once() {
        for remaining in [5, 20, 60, 110] {
            let clock = Clock { remaining: ms(remaining), increment: ms(2), moves_to_go: None };
            assert_eq!(Bounds::new(&clock, ms(10), &Params::DEFAULT).hard, ms(1), "{remaining}");
        }
    }

    #[test]
    fn signs_move_the_soft_bound_but_never_past_the_hard_one() {
        let bounds = Bounds::new(&Clock { remaining: ms(60_000), ..Clock::default() }, ms(10), &Params::DEFAULT);
        let adjusted = |signs| bounds.adjusted(signs, &Params::DEFAULT);
        let calm = Signs { stable_iterations: 9, drop: -50, best_share: 0.95 };
        let alarm = Signs { stable_iterations: 0, drop: 400, best_share: 0.2 };
        assert!(adjusted(&calm) < bounds.soft);
        assert!(adjusted(&alarm) > bounds.soft.mul_f64(2.0));
        assert!(adjusted(&alarm) <= bounds.hard);
    }
}
