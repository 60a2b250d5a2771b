//! A training on one page, and weights on another.
//!
//! What a training did can be seen from its log, the weights before and after, and matches; put side by side
//! with the figures of the paper it follows, they make the page one would print in a paper. The page is
//! one file of HTML without scripts, fonts or pictures from elsewhere, so that it can be kept and sent. A
//! run that has only begun, or an older log that lacks some figures, gives a page with fewer sections. [`LivePage`]
//! renews it while the training runs. [`weights_page`] shows what weights know.

mod explorer;
mod games;
mod live;
mod page;
mod pieces;
mod run_data;

pub use explorer::weights_page;
pub use live::LivePage;
pub use page::{page, parse_focus};
pub use run_data::{Generation, Now, RunData};
