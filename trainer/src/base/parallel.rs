//! Parallel work with results in the order of the items.
//!
//! Floating-point sums, output files and removed duplicates depend on order, but must not depend on the number of
//! threads. So an idle thread takes the next item, and its result is passed on only after all earlier ones. The number
//! of items in progress is bounded, so a slow item cannot fill the memory with later results. The first error, of any
//! part, ends the work and is returned. [`ordered_for_each`] is for work that ends with its items, [`ordered_map`] for
//! work that may end before.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossbeam::channel::{bounded, unbounded};
use dyad_engine::control::Priority;

/// Items under way for each thread.
const AHEAD: usize = 4;
/// Stack of a thread: work may be a search, and a line of it runs deep.
const STACK: usize = 16 << 20;

/// Applies `work` to every item on `threads` threads, each with a state of its own that is made with its first item,
/// and gives the results to `take` in the order of the items.
///
/// ```
/// # use dyad_trainer::base::parallel::ordered_for_each;
/// let mut squares = Vec::new();
/// ordered_for_each(
///     4,
///     1..=5_u32,
///     || Ok(()),
///     |(), n| if n < 5 { Ok(n * n) } else { Err(format!("{n} is too large")) },
///     |square| {
///         squares.push(square);
///         Ok(())
///     },
/// )
/// .unwrap_err();
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
///
/// # Errors
/// The first error, in the order of the items, of `state`, `work` or `take`. Nothing is taken after it.
pub fn ordered_for_each<T, S, R, E>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    state: impl Fn() -> Result<S, E> + Sync,
    work: impl Fn(&mut S, T) -> Result<R, E> + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    T: Send,
    R: Send,
    E: Send,
{
    let take = |result| take(result).map(|()| ControlFlow::<()>::Continue(()));
    ordered_map(threads, items, state, work, take, &AtomicBool::new(false)).map(|_| ())
}

/// As [`ordered_for_each`], but `take` may end everything early by breaking with a value, which is returned; none where
/// the items came to their end. `over` is set as soon as a value or an error ends the work, so that what is still under
/// way on other threads may be given up.
///
/// # Errors
/// As those of [`ordered_for_each`].
pub fn ordered_map<T, S, R, E, B>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    state: impl Fn() -> Result<S, E> + Sync,
    work: impl Fn(&mut S, T) -> Result<R, E> + Sync,
    mut take: impl FnMut(R) -> Result<ControlFlow<B>, E>,
    over: &AtomicBool,
) -> Result<Option<B>, E>
where
    T: Send,
    R: Send,
    E: Send,
{
    if cfg!(target_family = "wasm") {
        return on_this_thread(items, state, work, take, over);
    }
    let threads = threads.max(1);
    let (task_in, task_out) = bounded::<(usize, T)>(threads * AHEAD);
    let (result_in, result_out) = unbounded::<(usize, Result<Result<R, E>, Box<dyn Any + Send>>)>();
    let (permit_in, permit_out) = bounded::<()>(threads * AHEAD);
    for _ in 0..threads * AHEAD {
        permit_in.send(()).expect("the other end is held here");
    }
    let priority = Priority::of_this_thread();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (task_out, result_in, state, work) = (task_out.clone(), result_in.clone(), &state, &work);
            let worker = move || {
                priority.take();
                let mut own = None;
                for (index, item) in task_out {
                    // A panic travels as a result, so that the threads waiting for this item learn of it.
                    let result = catch_unwind(AssertUnwindSafe(|| {
                        let own = match &mut own {
                            Some(own) => own,
                            none => none.insert(state()?),
                        };
                        work(own, item)
                    }));
                    if result_in.send((index, result)).is_err() {
                        break;
                    }
                }
            };
            let spawned = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker);
            spawned.expect("the system has a thread to give");
        }
        drop((task_out, result_in));
        scope.spawn(move || {
            for task in items.enumerate() {
                if permit_out.recv().is_err() || task_in.send(task).is_err() {
                    break;
                }
            }
        });
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (index, result) in result_out {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                // After the last item no thread takes permits any more.
                let _ = permit_in.send(());
                let end = match result {
                    Ok(result) => result.and_then(&mut take),
                    Err(panic) => {
                        over.store(true, Ordering::Relaxed);
                        drop(permit_in);
                        resume_unwind(panic)
                    }
                };
                let end = match end {
                    Ok(ControlFlow::Continue(())) => continue,
                    Ok(ControlFlow::Break(value)) => Ok(Some(value)),
                    Err(error) => Err(error),
                };
                over.store(true, Ordering::Relaxed);
                return end;
            }
        }
        Ok(None)
    })
}

/// [`ordered_map`] where there are no threads, as in a browser.
fn on_this_thread<T, S, R, E, B>(
    items: impl Iterator<Item = T>,
    state: impl Fn() -> Result<S, E>,
    work: impl Fn(&mut S, T) -> Result<R, E>,
    mut take: impl FnMut(R) -> Result<ControlFlow<B>, E>,
    over: &AtomicBool,
) -> Result<Option<B>, E> {
    let mut own = None;
    for item in items {
        let own = match &mut own {
            Some(own) => own,
            none => none.insert(state()?),
        };
        if let ControlFlow::Break(value) = take(work(own, item)?)? {
            over.store(true, Ordering::Relaxed);
            return Ok(Some(value));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let mut seen = Vec::new();
            let done = ordered_for_each(
                threads,
                0..500u64,
                || Ok::<_, String>(()),
                |(), n| {
                    thread::sleep(Duration::from_micros((n * 7919) % 50));
                    Ok(n * n)
                },
                |square| {
                    seen.push(square);
                    Ok(())
                },
            );
            assert_eq!(done, Ok(()));
            assert_eq!(seen, (0..500).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn breaking_ends_an_endless_source() {
        let over = AtomicBool::new(false);
        let end = ordered_map(
            3,
            0u64..,
            || Ok::<_, String>(0u64),
            |count, n| {
                *count += 1;
                Ok(n)
            },
            |n| Ok(if n == 100 { ControlFlow::Break(n) } else { ControlFlow::Continue(()) }),
            &over,
        );
        assert_eq!(end, Ok(Some(100)));
        assert!(over.load(Ordering::Relaxed));
    }

    #[test]
    fn the_first_error_in_order_ends_the_work_whichever_part_has_it() {
        let run = |state: Option<u64>, work: u64, take: u64| {
            let (mut taken, over) = (Vec::new(), AtomicBool::new(false));
            let end = ordered_map(
                4,
                0u64..1_000,
                || state.map_or(Ok(()), |_| Err("state".to_string())),
                |(), n| {
                    // The later of two errors occurs first.
                    thread::sleep(Duration::from_micros(if n == work { 2_000 } else { 0 }));
                    if n >= work { Err(format!("work {n}")) } else { Ok(n) }
                },
                |n| {
                    taken.push(n);
                    if n == take { Err(format!("take {n}")) } else { Ok(ControlFlow::<()>::Continue(())) }
                },
                &over,
            );
            (end.unwrap_err(), taken.len(), over.load(Ordering::Relaxed))
        };
        assert_eq!(run(None, 40, 2_000), ("work 40".to_string(), 40, true));
        assert_eq!(run(None, 40, 7), ("take 7".to_string(), 8, true));
        assert_eq!(run(Some(0), 40, 7), ("state".to_string(), 0, true));
    }

    #[test]
    #[should_panic(expected = "item 40")]
    fn a_panic_reaches_the_caller() {
        let work = |(): &mut (), n| {
            assert!(n != 40, "item 40");
            Ok::<_, String>(())
        };
        let _ = ordered_for_each(2, 0..1000, || Ok(()), work, |()| Ok(()));
    }
}
