//! Stub.
use super::sink::Sink;
use crate::board::Board;
/// Nothing.
pub fn terms<S: Sink>(_: &Board, _: &mut S) {}
