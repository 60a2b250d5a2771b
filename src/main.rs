//! Dyad: a UCI chess engine that trains its own evaluation.

fn main() {}
