//! How long to think: two bounds from the clock, the softer one moved by what the search sees.

use std::time::Duration;

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

/// Seconds that stay on the clock.
const RESERVE: f64 = 0.1;

impl Bounds {
    /// Bounds for a move on this clock, `overhead` being lost between the engine and the clock each move.
    #[must_use]
    pub fn new(clock: &Clock, overhead: Duration) -> Bounds {
        let remaining = clock.remaining.as_secs_f64();
        let increment = clock.increment.as_secs_f64();
        let overhead = overhead.as_secs_f64();
        // What may be spent at all: never the overhead, nor a reserve for a busy machine, which may keep a thread waiting
        // for tens of milliseconds. On a clock that holds less than both a move is made at once.
        let usable = (remaining - overhead - RESERVE).max(0.001);
        let (soft, hard) = match clock.moves_to_go {
            Some(moves) => {
                let moves = f64::from(moves.clamp(1, 50));
                let share = (usable + increment * (moves - 1.0) - overhead * (moves - 1.0)).max(0.0) / moves;
                let hard = if moves <= 1.0 { 0.9 } else { 0.7 };
                (0.8 * share, (4.0 * share).min(hard * usable))
            }
            None => {
                let soft = usable / 26.0 + 0.72 * (increment - overhead).max(0.0);
                (soft, (5.0 * soft).min(0.55 * usable))
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
    pub fn adjusted(&self, signs: &Signs) -> Duration {
        let stability = match signs.stable_iterations {
            0 => 1.55,
            1 => 1.25,
            2 => 1.08,
            3 => 0.97,
            4..=6 => 0.88,
            _ => 0.80,
        };
        let drop = (1.0 + f64::from(signs.drop) / 320.0).clamp(0.75, 1.7);
        // A best move that took nearly all nodes has no rival; one that took few has.
        let rivals = (1.95 - 1.35 * signs.best_share).clamp(0.55, 1.7);
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
                        let bounds = Bounds::new(&clock, ms(overhead));
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
            assert_eq!(Bounds::new(&clock, ms(10)).hard, ms(1), "{remaining}");
        }
    }

    #[test]
    fn signs_move_the_soft_bound_but_never_past_the_hard_one() {
        let bounds = Bounds::new(&Clock { remaining: ms(60_000), ..Clock::default() }, ms(10));
        let calm = Signs { stable_iterations: 9, drop: -50, best_share: 0.95 };
        let alarm = Signs { stable_iterations: 0, drop: 400, best_share: 0.2 };
        assert!(bounds.adjusted(&calm) < bounds.soft);
        assert!(bounds.adjusted(&alarm) > bounds.soft.mul_f64(2.0));
        assert!(bounds.adjusted(&alarm) <= bounds.hard);
    }
}
