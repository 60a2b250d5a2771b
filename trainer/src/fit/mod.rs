//! Weights without a search: regression on results and scores, and the meaning of values.
//!
//! [`regression`] fits the static evaluation of quiet positions, [`calibration`] finds the scale and the WDL model of
//! weights, and [`averaging`] combines several sets. This module uses [`base`](crate::base) and [`data`](crate::data).

pub mod averaging;
pub mod calibration;
pub mod regression;
