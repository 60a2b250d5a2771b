//! The papers by one command: an experiment from games to a page with the papers' figures beside those found here. And the
//! weights that are built in, by one command too.
//!
//! An experiment is data ([`plan`]): a list of steps and of what is shown. The [`catalog`] has one for each paper. [`run`]
//! carries out a plan in a folder that one process works in at a time, step after step; each step is a call of a tool of
//! another room ([`work`]), and what it found is kept with what it depended on, so that a run that was killed anywhere goes on
//! behind the last step that is done, and inside of a labeling, a training or a match where that stood. [`page`] shows
//! what is known so far.

mod built_in;
pub mod catalog;
mod chess;
mod deep;
mod features;
mod fitted;
mod hand_set;
pub mod page;
pub mod plan;
mod ranking;
pub mod run;
pub mod work;

#[cfg(test)]
mod tests;
