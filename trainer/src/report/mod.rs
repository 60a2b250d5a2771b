//! Pages about a training and about weights.
//!
//! The page of a training shows its log, the weights before and after, and matches. It is one self-contained HTML file,
//! so that it can be kept and sent. A run that has only started gives a page with fewer sections. [`LivePage`] refreshes it while the training runs.
//! [`weights_page`] shows a set of weights.

mod explorer;
mod games;
mod live;
mod page;
mod pieces;
mod ratings;
mod run_data;

pub use explorer::weights_page;
pub use live::{LivePage, PageNote, is_foreign, own_page};
pub use page::page;
pub use run_data::{Generation, Now, RunData};
