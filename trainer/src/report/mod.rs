//! The page of a training.
//!
//! It shows the log, the weights before and after, and matches, in one self-contained HTML file, so that it can be kept
//! and sent. A run that has only started gives a page with fewer sections. [`LivePage`] refreshes it while the training
//! runs.

mod live;
mod page;
mod ratings;
mod run_data;

pub use live::{LivePage, PageNote, is_foreign, own_page};
pub use page::page;
pub use run_data::{Generation, Now, RunData};
