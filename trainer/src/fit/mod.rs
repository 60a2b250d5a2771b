//! Weights without a search: regression on results and scores, and the meaning of values.
//!
//! [`regression`] fits the static evaluation of quiet positions, [`calibration`] finds the scale and the WDL model of
//! weights, [`averaging`] combines several sets, and [`quality`] measures how well weights predict scores of engines.
//! [`auc`] measures how well they separate won from lost games, and [`search_error`] how far a search with them is from a
//! stronger one. [`logistic`] is the shared loss, [`norms`] measures the
//! size of weights by group. This module uses [`base`](crate::base) and [`data`](crate::data).

pub mod auc;
pub mod averaging;
pub mod calibration;
pub mod logistic;
pub mod norms;
pub mod quality;
pub mod regression;
pub mod search_error;
