//! Games to weights: the trainer of Dyad.
//!
//! A training takes positions with the moves that were played in them, searches every legal move with
//! the engine's own search, and changes the weights so that the played move's leaf is valued above the
//! others': comparison training after Tseng, Chen and Wu (2018).
//!
//! The modules (`ARCHITECTURE.md` has which may use which):
//!
//! - [`base`]: threads, files, locks;
//! - [`data`]: samples from games and positions, with the moves that were played or those of a search;
//! - [`fit`]: weights by regression, their scale, averages of several sets;
//! - [`learn`]: comparison training;
//! - [`arena`]: matches and what they prove;
//! - [`tune`]: factors of weights by games;
//! - [`selftrain`]: own games, new weights, a match, and again;
//! - [`annotate`]: games with what the engine thinks of them, and why;
//! - [`levels`]: which move a player of a given rating plays;
//! - [`report`]: a training, or weights, on a page.
//!
//! Nothing here prints.

pub mod annotate;
pub mod arena;
pub mod base;
pub mod data;
pub mod fit;
pub mod learn;
pub mod levels;
mod page;
pub mod report;
pub mod selftrain;
pub mod tune;
