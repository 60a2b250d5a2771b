//! Weights without a search: regression on results and scores, and what a value means.
//!
//! [`regression`] fits the static evaluation of quiet positions, [`calibration`] finds the scale and the WDL model of
//! weights, [`mixture`] averages several sets, and [`quality`] measures how well weights agree with scores of engines.

pub mod calibration;
pub mod mixture;
pub mod quality;
pub mod regression;
