//! How a running search is told to stop, and how it waits.

use crate::platform::sync::{AtomicBool, Condvar, Mutex, lock};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The stop and ponder state of one search: made when the job is accepted, so that a stop that comes right after `go` is
/// never lost; set once and never reset.
///
/// ```
/// # use dyad_engine::control::Control;
/// // Made when `go` is accepted, so that a `stop` right behind it is not lost.
/// let control = Control::new(false);
/// control.stop();
/// control.wait(true); // returns at once, though an infinite search would wait
/// assert!(control.stopped());
/// ```
pub struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
    hit: Mutex<Option<Instant>>,
    changed: Condvar,
    accepted: Instant,
}

impl Control {
    /// For a job accepted now.
    #[must_use]
    pub fn new(ponder: bool) -> Control {
        Control {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(ponder),
            hit: Mutex::new(None),
            changed: Condvar::new(),
            accepted: Instant::now(),
        }
    }

    /// When the job was accepted: its clock runs from here.
    #[must_use]
    pub fn accepted(&self) -> Instant {
        self.accepted
    }

    /// Tells the search to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    /// The pondered move was played: the search continues as an ordinary one, its clock running from now. Said again, or
    /// to a search that does not ponder, it changes nothing: it must not give the clock more time.
    pub fn ponderhit(&self) {
        let mut hit = lock(&self.hit);
        if self.pondering() {
            *hit = Some(Instant::now());
            self.pondering.store(false, Ordering::Release);
            self.changed.notify_all();
        }
    }

    /// Whether the search was told to end.
    #[inline]
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Whether the search still ponders.
    #[inline]
    #[must_use]
    pub fn pondering(&self) -> bool {
        self.pondering.load(Ordering::Acquire)
    }

    /// When the pondered move was played, if it was.
    #[must_use]
    pub fn hit(&self) -> Option<Instant> {
        *lock(&self.hit)
    }

    fn wake(&self) {
        // The lock orders this with the test in `wait_until`: no wake-up is lost.
        let _guard = lock(&self.hit);
        self.changed.notify_all();
    }

    /// Blocks until `stop`, or until the pondered move was played when `infinite` is false.
    pub fn wait(&self, infinite: bool) {
        let mut guard = lock(&self.hit);
        while !self.stopped() && (infinite || self.pondering()) {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_a_stop_or_a_hit() {
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
    fn only_the_first_hit_of_a_pondering_search_counts() {
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
    fn a_stop_before_the_wait_is_not_lost() {
        let control = Control::new(true);
        control.stop();
        control.wait(true);
        assert!(control.stopped());
    }
}

/// All orders in which the threads may run: no wake-up is lost, and nothing that was set is missed.
#[cfg(all(test, loom))]
mod under_loom {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// `wait` returns, however it is interleaved with what `tell` says.
    fn ends(ponder: bool, infinite: bool, tell: impl Fn(&Control) + Copy + Send + Sync + 'static) {
        loom::model(move || {
            let control = Arc::new(Control::new(ponder));
            let teller = Arc::clone(&control);
            let thread = thread::spawn(move || tell(&teller));
            control.wait(infinite);
            thread.join().unwrap();
            assert!(control.stopped() || !infinite && !control.pondering());
        });
    }

    #[test]
    fn a_stop_ends_every_wait() {
        for (ponder, infinite) in [(false, true), (true, false), (true, true)] {
            ends(ponder, infinite, Control::stop);
        }
    }

    #[test]
    fn a_ponderhit_ends_pondering() {
        ends(true, false, Control::ponderhit);
        ends(true, false, |control| {
            control.ponderhit();
            control.ponderhit();
            control.stop();
        });
    }

    #[test]
    fn whoever_sees_the_hit_sees_its_time() {
        loom::model(|| {
            let control = Arc::new(Control::new(true));
            let teller = Arc::clone(&control);
            let thread = thread::spawn(move || teller.ponderhit());
            if !control.pondering() {
                assert!(control.hit().is_some());
            }
            thread.join().unwrap();
        });
    }
}
