//! Games to weights: the trainer of Dyad.
//!
//! A training takes positions with the moves that were played in them, searches every legal move with
//! the engine's own search, and changes the weights so that the played move's leaf is valued above the
//! others': comparison training after Tseng, Chen and Wu (2018).
//!
//! The rooms, and what each is for:
//!
//! - [`base`]: threads, files, hashes, errors; it knows no other room;
//! - [`data`]: games and positions to samples, with the moves that were played or those of a search;
//! - [`fit`]: weights by regression, their scale, their quality; it knows `base` and `data`;
//! - [`learn`]: comparison training; it knows these three;
//! - [`arena`]: matches and suites; it knows `base` and `data`, and nothing of training;
//! - [`page`]: pages and figures; it knows no other room;
//! - [`tune`]: constants of the search, factors of weights and steps along a training, by games; it knows `base`, `data`,
//!   `fit`, `arena` and `page`;
//! - [`selftrain`]: own games, labels, training, a tuning, a match, and again; it knows all of them;
//! - [`annotate`]: games with what the engine thinks of them, and why; it knows `base`, `data`, `arena` and
//!   `page`;
//! - [`levels`]: which move a player of a given rating plays; it knows `base` and `data`;
//! - [`deepchess`]: networks that compare two positions, and a search that asks them; it knows `base`, `data` and `fit`;
//! - [`report`]: a training on a page;
//! - [`experiment`]: the papers repeated, each by one command; it knows all of them.
//!
//! Nothing here prints.

pub mod annotate;
pub mod arena;
pub mod base;
pub mod data;
pub mod deepchess;
pub mod experiment;
pub mod fit;
pub mod learn;
pub mod levels;
pub mod page;
pub mod report;
pub mod selftrain;
pub mod tune;
