//! What depends on the processor and the operating system: hints about memory, locks and atomics.

mod huge_pages;
mod prefetch;
pub(crate) mod sync;

pub(crate) use huge_pages::advise_huge_pages;
pub(crate) use prefetch::prefetch;
