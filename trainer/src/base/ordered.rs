//! Work on many threads with results in the order of the work.
//!
//! Sums of floats, files written and duplicates dropped all depend on order, and none of them may depend on
//! the number of threads. So each thread takes the next item when it is idle, and what it makes is
//! handed on only when everything before it has been. No more than a fixed number of items is ever under
//! way, so one slow item cannot fill the memory with what follows it.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use crossbeam::channel::{bounded, unbounded};
use dyad_engine::engine::MAX_THREADS;

/// Refuses a number of threads, or of anything else that takes a thread each, that nobody can mean. Errors call it `name`.
///
/// # Errors
/// When it is not 1 to [`MAX_THREADS`].
pub fn check_threads(name: &str, threads: usize) -> Result<(), String> {
    match threads {
        1..=MAX_THREADS => Ok(()),
        _ => Err(format!("{name} must be 1 to {MAX_THREADS}, not {threads}")),
    }
}

/// Items under way for each thread.
const AHEAD: usize = 4;
/// Stack of a thread: work may be a search, and a line of it runs deep.
const STACK: usize = 16 << 20;

/// Applies `work` to every item on `threads` threads, each with a state of its own, and gives the results
/// to `take` in the order of the items. `take` may end everything early by breaking.
pub fn ordered_map<T, S, R>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) where
    T: Send,
    R: Send,
{
    let threads = threads.max(1);
    let (task_in, task_out) = bounded::<(usize, T)>(threads * AHEAD);
    let (result_in, result_out) = unbounded::<(usize, Result<R, Box<dyn Any + Send>>)>();
    let (permit_in, permit_out) = bounded::<()>(threads * AHEAD);
    for _ in 0..threads * AHEAD {
        permit_in.send(()).expect("the other end is held here");
    }
    thread::scope(|scope| {
        for _ in 0..threads {
            let (task_out, result_in, state, work) = (task_out.clone(), result_in.clone(), &state, &work);
            let worker = move || {
                // A panic travels as a result, so that the threads waiting for this item learn of it.
                let mut own = catch_unwind(AssertUnwindSafe(state));
                for (index, item) in task_out {
                    let result = match &mut own {
                        Ok(own) => catch_unwind(AssertUnwindSafe(|| work(own, item))),
                        Err(_) => Err(Box::new("the state of a worker could not be made") as Box<dyn Any + Send>),
                    };
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
                // Once the last item is handed out nobody takes permits any more.
                let _ = permit_in.send(());
                match result.map(&mut take) {
                    Ok(ControlFlow::Continue(())) => (),
                    Ok(ControlFlow::Break(())) => return,
                    Err(panic) => {
                        drop(permit_in);
                        resume_unwind(panic)
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let mut seen = Vec::new();
            ordered_map(
                threads,
                0..500u64,
                || (),
                |(), n| {
                    thread::sleep(Duration::from_micros((n * 7919) % 50));
                    n * n
                },
                |square| {
                    seen.push(square);
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(seen, (0..500).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn breaking_ends_an_endless_source() {
        let mut taken = 0;
        ordered_map(
            3,
            0u64..,
            || 0u64,
            |count, n| {
                *count += 1;
                n
            },
            |n| {
                taken = n;
                if n == 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!(taken, 100);
    }

    #[test]
    #[should_panic(expected = "item 40")]
    fn a_panic_reaches_the_caller() {
        ordered_map(2, 0..1000, || (), |(), n| assert!(n != 40, "item 40"), |()| ControlFlow::Continue(()));
    }
}
