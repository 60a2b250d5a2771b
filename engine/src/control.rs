//! Stop and ponder state of a search.

use crate::platform::lock;
pub use crate::platform::{Instant, Priority, lower_priority};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The stop and ponder state of one search, made when `go` is accepted, so that a `stop` right after it is not lost. It
/// is set once and never reset.
pub struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
    hit: Mutex<Option<Instant>>,
    changed: Condvar,
    /// When the search was accepted: the start of its clock.
    pub accepted: Instant,
}

impl Control {
    /// The state of a search that is accepted now.
    pub fn new(ponder: bool) -> Control {
        Control {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(ponder),
            hit: Mutex::new(None),
            changed: Condvar::new(),
            accepted: Instant::now(),
        }
    }

    /// Stops the search.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // The lock orders this after the condition in `wait`: no wake-up is lost.
        let _guard = lock(&self.hit);
        self.changed.notify_all();
    }

    /// Turns a ponder search into a normal one, whose clock starts now. No effect on a normal search, whose clock must
    /// not start again.
    pub fn ponderhit(&self) {
        let mut hit = lock(&self.hit);
        if self.pondering() {
            *hit = Some(Instant::now());
            self.pondering.store(false, Ordering::Release);
            self.changed.notify_all();
        }
    }

    /// Whether the search was stopped.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// The flag that is set when the search was stopped.
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Whether the search ponders.
    pub fn pondering(&self) -> bool {
        self.pondering.load(Ordering::Acquire)
    }

    /// The time of the ponder hit, if any.
    pub fn hit(&self) -> Option<Instant> {
        *lock(&self.hit)
    }

    /// Blocks until a stop, at most until `time` after `since`.
    pub fn wait_until(&self, since: Instant, time: Duration) {
        let mut guard = lock(&self.hit);
        while !self.stopped()
            && let Some(left) = time.checked_sub(since.elapsed()).filter(|left| !left.is_zero())
        {
            guard = self.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Blocks until a stop or, unless `infinite`, until the search does not ponder.
    pub fn wait(&self, infinite: bool) {
        let mut guard = lock(&self.hit);
        while !self.stopped() && (infinite || self.pondering()) {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_a_stop_or_a_ponder_hit() {
        for infinite in [true, false] {
            let control = Control::new(!infinite);
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| control.wait(infinite));
                if infinite {
                    control.stop()
                } else {
                    control.ponderhit()
                }
                waiter.join().unwrap();
            });
        }
    }

    #[test]
    fn only_the_first_ponder_hit_counts() {
        let ordinary = Control::new(false);
        ordinary.ponderhit();
        assert_eq!(ordinary.hit(), None);
        let pondering = Control::new(true);
        pondering.ponderhit();
        let first = pondering.hit();
        pondering.ponderhit();
        assert!(first.is_some() && pondering.hit() == first);
    }

    #[test]
    fn a_stop_or_the_time_ends_a_wait_of_limited_time() {
        let control = Control::new(false);
        let begun = Instant::now();
        control.wait_until(begun, Duration::from_millis(20));
        assert!(begun.elapsed() >= Duration::from_millis(20) && !control.stopped());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| control.wait_until(Instant::now(), Duration::MAX));
            control.stop();
            waiter.join().unwrap();
        });
    }
}
