//! Asking for huge pages.

/// Asks the system to put pages of some megabytes behind memory that nobody has written to yet; changes nothing else, and
/// nothing at all where the system has none to give.
///
/// A search reads its table at random. With pages of 4 KB nearly every read first waits until its address is translated,
/// since a processor remembers few thousand translations.
pub(crate) fn ask_for<T>(memory: &mut [T]) {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    {
        use rustix::mm::{Advice, madvise};
        /// The smallest page that Linux knows: where pages are larger, the advice may be refused.
        const PAGE: usize = 4096;
        let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
        let skipped = start.addr().next_multiple_of(PAGE) - start.addr();
        let whole = bytes.saturating_sub(skipped) / PAGE * PAGE;
        // SAFETY: the pages lie within `memory`, and the advice changes neither what they hold nor who may touch them.
        let _ = unsafe { madvise(start.wrapping_add(skipped).cast(), whole, Advice::LinuxHugepage) };
    }
    #[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
    let _ = memory;
}
