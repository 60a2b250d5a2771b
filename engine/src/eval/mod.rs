//! Evaluation: a tapered sum of weighted features, all of it linear in the weights.
//!
//! What a position has is found by code that names features and counts, never weights ([`sink`]);
//! where a feature's weight lives is one table ([`layout`]).

pub mod layout;
pub mod sink;
