//! Locks and atomics: those of the standard library, or loom's in a build with `--cfg loom`.
//!
//! loom runs a test once for every order in which its threads may be scheduled and every value that a load may return:
//! `RUSTFLAGS="--cfg loom" cargo test --release -p dyad-engine --lib under_loom`.

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicBool};
use std::sync::PoisonError;
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicBool};

/// Locks a mutex, poisoned or not: what the engine's mutexes guard is consistent at any moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
