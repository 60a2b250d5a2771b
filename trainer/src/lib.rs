//! Games to weights: the trainer of Dyad.
//!
//! A training takes positions with the moves that were played in them, searches every legal move with
//! the engine's own search, and changes the weights so that the played move's leaf is valued above the
//! others': comparison training after Tseng, Chen and Wu (2018). The modules follow the way of a
//! position: its leaves are searched ([`leaves`]), compared ([`comparison`], [`objective`]) and turned
//! into a change of the weights ([`gradient`], [`optimizer`], [`average`]); [`workers`] does this for a
//! batch on all threads, [`schedule`] says which positions, and [`run`] puts it together as [`settings`] say, with
//! [`checkpoint`], [`log`] and [`folder`] for what remains on disk.
//!
//! Before that, [`games`] and [`epd`] files are read ([`input`]), filtered ([`positions`]) and written as
//! [`samples`] by [`prepare`]; [`label`] replaces their moves by those of a search, of this engine or an [`outside`]
//! one. [`examples`] says what a training sees of them. Weights to start from come from [`regression`], what an
//! evaluation means from [`calibration`], and several sets are made one by [`mixture`].
//!
//! Whether weights are any good is measured by games: [`gate`] is a match, of which [`play`] plays the games from
//! [`openings`], [`pgn`] writes them and [`statistics`] says what they prove. [`quality`] measures weights against
//! searches, [`suite`] counts what the engine solves, and [`report`] puts a training on a page. [`selftrain`] goes
//! round and round: own games, labels, training, a match.
//!
//! Shared by all are [`ordered`] work on many threads, [`hash`]es, files that are [`whole`] or absent, and [`error`]s.
//! Nothing here prints.

pub mod average;
pub mod calibration;
pub mod checkpoint;
pub mod comparison;
pub mod epd;
pub mod error;
pub mod examples;
pub mod folder;
pub mod games;
pub mod gate;
pub mod gradient;
pub mod hash;
pub mod input;
pub mod label;
pub mod leaves;
pub mod log;
pub mod mixture;
pub mod objective;
pub mod openings;
pub mod optimizer;
pub mod ordered;
pub mod outside;
pub mod pgn;
pub mod play;
pub mod positions;
pub mod prepare;
pub mod quality;
pub mod regression;
pub mod report;
pub mod run;
pub mod samples;
pub mod schedule;
pub mod selftrain;
pub mod settings;
pub mod statistics;
pub mod suite;
#[cfg(test)]
mod testing;
pub mod whole;
pub mod workers;
