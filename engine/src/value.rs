//! Values of a search.

/// A value of a position for the side to move, in search units.
///
/// [`WINS_HALF`] defines the unit; a pawn in an exchange counts 200.
pub type Value = i32;

/// The advantage that wins half of the games, +100 in the UCI output. The scale of a weights file converts its
/// evaluations to this unit, so that the margins of the search fit all weights.
pub const WINS_HALF: Value = 360;

/// The difference of two values in hundredths of [`WINS_HALF`], rounded down.
///
/// ```
/// # use dyad_engine::value::{WINS_HALF, gap};
/// assert_eq!((gap(WINS_HALF, 0), gap(36, 0), gap(7, 0), gap(0, 36)), (100, 10, 1, -10));
/// ```
pub fn gap(better: Value, worse: Value) -> i32 {
    ((better - worse) * 100).div_euclid(WINS_HALF)
}

/// The deepest ply of a search.
pub const MAX_PLY: usize = 246;
/// Above all values.
pub const INFINITE: Value = 32_001;
/// No value: in an entry without one, or for the evaluation in check.
pub(crate) const NONE: Value = 32_002;
/// The value of mate on the board.
pub const MATE: Value = 32_000;
/// The value of the longest mate.
pub const MATE_IN_MAX: Value = MATE - 256;
/// A tablebase win: below all mates, because its length is unknown.
pub(crate) const TABLEBASE_WIN: Value = MATE_IN_MAX - 1;
/// Values from here on are proved: mates, and tablebase wins less the plies to them.
pub const TABLEBASE_WIN_IN_MAX: Value = TABLEBASE_WIN - MAX_PLY as Value;
/// A drawn position.
pub const DRAW: Value = 0;

/// The value of mating at `ply` plies from the root.
pub const fn mate_in(ply: usize) -> Value {
    MATE - ply as Value
}

/// The value of being mated at `ply` plies from the root.
pub(crate) const fn mated_in(ply: usize) -> Value {
    -MATE + ply as Value
}

/// Whether `value` is a mate for either side.
pub const fn is_mate(value: Value) -> bool {
    value.abs() >= MATE_IN_MAX && value.abs() <= MATE
}

/// Moves to the mate, negative for the side that is mated. None if `value` is no mate.
pub(crate) const fn moves_to_mate(value: Value) -> Option<i32> {
    if !is_mate(value) {
        return None;
    }
    let plies = MATE - value.abs();
    Some(if value > 0 { (plies + 1) / 2 } else { -(plies / 2) })
}
