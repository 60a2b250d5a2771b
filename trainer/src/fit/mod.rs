//! Weights without a search: regression on results and scores, and what a value means.
//!
//! [`regression`] fits the static evaluation of quiet positions, [`calibration`] finds the scale and the WDL model of
//! weights, [`averaging`] makes one set of several, and [`quality`] measures how well weights predict scores of engines.
//! [`logistic`] is the loss that they share, [`norms`] tells how large the weights of a group are. This room knows
//! [`base`](crate::base) and [`data`](crate::data).

pub mod auc;
pub mod averaging;
pub mod calibration;
pub mod logistic;
pub mod norms;
pub mod quality;
pub mod regression;
