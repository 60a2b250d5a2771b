//! Tuning by games: which constants of the search, and which factors of weights, play best?
//!
//! A match tells two settings apart only after thousands of games, and there are a hundred constants. Simultaneous
//! perturbation ([`spsa`]) changes all of them at once: each pair of games is played by two players to either side of the
//! current values, and its result moves every value a little toward the winner's. [`parameters`] names what is
//! tuned, in the form that OpenBench reads too, and [`directions`] finds those in which weights can be changed; [`state`] holds
//! settings and values; [`run`] plays the games, with a checkpoint; [`page`] draws the curves.

pub mod directions;
pub mod page;
pub mod parameters;
pub mod run;
pub mod spsa;
pub mod state;
