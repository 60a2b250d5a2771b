//! What depends on the processor and the operating system: clock, hints about memory, available memory, priorities. And
//! the lock of a mutex.

mod memory;
mod priority;

pub(crate) use memory::available_megabytes;
pub use priority::{Priority, lower_priority};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(not(target_family = "wasm"))]
pub use std::time::Instant;
#[cfg(target_family = "wasm")]
pub use web_time::Instant;

/// Asks the processor to load the first cache line of `thing`; no effect on other architectures than x86-64.
#[inline(always)]
pub(crate) fn prefetch<T>(thing: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults. Measured at +2 % nodes per second for the
    // transposition table.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(thing).cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = thing;
}

/// Asks Linux to back memory that has not been written yet with huge pages; no effect on other systems.
///
/// A search reads the transposition table at random. With pages of 4 KB nearly every read misses the TLB.
pub(crate) fn advise_huge_pages<T>(memory: &mut [T]) {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    {
        use rustix::mm::{Advice, madvise};
        /// The smallest page size of Linux: systems with larger pages may refuse the advice.
        const PAGE: usize = 4096;
        let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
        let skipped = start.addr().next_multiple_of(PAGE) - start.addr();
        let whole_pages = bytes.saturating_sub(skipped) / PAGE * PAGE;
        // SAFETY: the pages lie within `memory`, and the advice changes neither their contents nor their access rights.
        let _ = unsafe { madvise(start.wrapping_add(skipped).cast(), whole_pages, Advice::LinuxHugepage) };
    }
    #[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
    let _ = memory;
}

/// Locks a mutex, poisoned or not: what the engine's mutexes guard is consistent at any moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
