//! Tuning by games: which search constants and which factors of weights play best?
//!
//! A match distinguishes two settings only after thousands of games, and there are a hundred constants. Simultaneous
//! perturbation ([`spsa`]) changes all of them at once: each pair of games is played by two players on either side of
//! the current values, and its result moves every value a little toward the winner's. [`parameters`] names what is
//! tuned, in the format of OpenBench; [`directions`] generates SPSA parameters for weights; [`state`] holds settings
//! and values; [`run`] plays the games, with checkpoints; [`page`] draws the curves.

pub mod directions;
pub mod page;
pub mod parameters;
pub mod run;
pub mod spsa;
pub mod state;
