//! Prefetching.

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
