//! Tuning by games: which factors of weights play best?
//!
//! A match distinguishes two sets of weights only after thousands of games. Simultaneous perturbation ([`spsa`]) changes
//! some dozen numbers at once: each pair of games is played by two players on either side of the current values, and its
//! result moves every value a little toward the winner's. [`games`] plays the pairs; [`factors`] are the factors of
//! families of features. A self-training tunes its new weights in this way.

pub mod factors;
pub mod games;
pub mod spsa;
