//! What depends on the processor and the operating system: clock, files, available memory, hints
//! about memory, locks and atomics.

mod clock;
#[cfg(target_family = "wasm")]
mod files;
mod huge_pages;
mod memory;
mod prefetch;
pub(crate) mod sync;

pub use clock::Instant;
#[cfg(target_family = "wasm")]
pub(crate) use files::OsFilesystem;
pub(crate) use huge_pages::advise_huge_pages;
pub(crate) use memory::available_megabytes;
pub(crate) use prefetch::prefetch;
