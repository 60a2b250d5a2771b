//! What a search passes around: values, mates and their bounds.

/// A value of a position from the view of the side to move, in search units.
///
/// The unit is set by [`WINS_HALF`]; a pawn in an exchange counts 200.
pub type Value = i32;

/// The advantage that wins half of the games, +100 in the UCI output. The scale of a weights file brings
/// its evaluations to this unit, so that the margins of the search mean the same with all weights.
pub const WINS_HALF: Value = 360;

/// By how many hundredths of [`WINS_HALF`] one value is above another, rounded down.
///
/// ```
/// # use dyad_engine::value::{WINS_HALF, gap};
/// assert_eq!((gap(WINS_HALF, 0), gap(36, 0), gap(7, 0), gap(0, 36)), (100, 10, 1, -10));
/// ```
#[must_use]
pub fn gap(better: Value, worse: Value) -> i32 {
    ((better - worse) * 100).div_euclid(WINS_HALF)
}

/// The deepest ply a search line can reach.
pub const MAX_PLY: usize = 246;
/// Above every value a position can have.
pub const INFINITE: Value = 32_001;
/// No value: a table entry without one, an evaluation not made because of a check.
pub const NONE: Value = 32_002;
/// Mate on the board.
pub const MATE: Value = 32_000;
/// Values from here on say "mate in so many plies".
pub const MATE_IN_MAX: Value = MATE - 256;
/// A win that endgame tables know of: below all mates, as nobody knows how long it takes.
pub const TABLE_WIN: Value = MATE_IN_MAX - 1;
/// Values from here on are no estimates: mates, and wins by endgame tables so many plies from the root.
pub const DECIDED: Value = TABLE_WIN - MAX_PLY as Value;
/// A drawn position.
pub const DRAW: Value = 0;

/// The value of giving mate `ply` plies from the root.
#[must_use]
pub const fn mate_in(ply: usize) -> Value {
    MATE - ply as Value
}

/// The value of being mated `ply` plies from the root.
#[must_use]
pub const fn mated_in(ply: usize) -> Value {
    -MATE + ply as Value
}

/// Whether `value` says that one side mates.
#[must_use]
pub const fn is_mate(value: Value) -> bool {
    value.abs() >= MATE_IN_MAX && value.abs() <= MATE
}

/// Moves to the mate that `value` announces (negative when it is against the side to move), if it does.
///
/// ```
/// # use dyad_engine::value::{mate_in, mated_in, moves_to_mate};
/// assert_eq!(moves_to_mate(mate_in(3)), Some(2));
/// assert_eq!(moves_to_mate(mated_in(4)), Some(-2));
/// assert_eq!(moves_to_mate(250), None);
/// ```
#[must_use]
pub const fn moves_to_mate(value: Value) -> Option<i32> {
    if !is_mate(value) {
        return None;
    }
    let plies = MATE - value.abs();
    let moves = (plies + 1) / 2;
    Some(if value > 0 { moves } else { -(plies / 2) })
}
