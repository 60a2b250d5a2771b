//! Samples for training.
//!
//! Games and positions are filtered without duplicates ([`positions`]) and written as samples
//! ([`prepare`](mod@prepare)). [`label`](mod@label) replaces the moves of a game by those of a search.
//! [`leaves`] are the positions that a quiescence search evaluates. [`schedule`] is the
//! order in which samples are seen.

pub mod label;
pub mod leaves;
pub mod positions;
pub mod prepare;
pub mod schedule;
