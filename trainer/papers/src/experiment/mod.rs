//! Experiments: each repeats a paper with one command, from games to a page that compares the paper's results with
//! Dyad's; one makes the built-in weights.
//!
//! An experiment is data ([`plan`]): a list of steps, and the figures and tables to show. The [`catalog`] has one for
//! each paper. [`run`] executes a plan in a folder, one process at a time. Each step calls a tool of another module
//! ([`work`]), and its result is saved with what it depends on, so that a killed run continues after the last finished
//! step, and within a labeling, a training or a match. [`page`] shows the results so far.

mod built_in;
pub mod catalog;
mod chess;
mod deep;
mod features;
mod fitted;
mod hand_tuned;
pub mod page;
pub mod plan;
mod ranking;
pub mod run;
pub mod work;

#[cfg(test)]
mod tests;
