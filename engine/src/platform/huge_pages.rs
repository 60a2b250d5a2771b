//! Huge pages.

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
