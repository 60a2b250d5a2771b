//! The game phase, and how middlegame and endgame sums become one value.
//!
//! A position's phase is how much non-pawn material is left, counted with the middlegame weights in use and
//! held between two bounds (Tseng, Chen and Wu, section 2.4, after Stockfish). Because weights are scaled
//! until a full set of pieces is worth a constant (section 3.3), the bounds never have to move with them.
//! The phase stays a whole number of [`PHASE_MAX`] parts, so that every evaluation is exact integers.

/// Non-pawn material at which a position is all endgame.
pub const ENDGAME_MATERIAL: i32 = 3915;
/// Non-pawn material at which a position is all middlegame.
pub const MIDDLEGAME_MATERIAL: i32 = 15258;
/// Non-pawn material of the full set of pieces, which scaling keeps.
pub const FULL_MATERIAL: i32 = 16488;
/// The phase of a position that is all middlegame.
pub const PHASE_MAX: i32 = MIDDLEGAME_MATERIAL - ENDGAME_MATERIAL;

/// The phase, from 0 (endgame) to [`PHASE_MAX`] (middlegame), of a position with this much non-pawn material.
#[inline]
pub const fn phase_of_material(non_pawn_material: i32) -> i32 {
    let within = if non_pawn_material < ENDGAME_MATERIAL {
        ENDGAME_MATERIAL
    } else if non_pawn_material > MIDDLEGAME_MATERIAL {
        MIDDLEGAME_MATERIAL
    } else {
        non_pawn_material
    };
    within - ENDGAME_MATERIAL
}

/// Interpolates between middlegame and endgame, rounding toward zero so that a board and its color-flipped
/// image stay exact opposites.
///
/// ```
/// # use dyad_engine::eval::taper::{FULL_MATERIAL, PHASE_MAX, phase_of_material, taper};
/// assert_eq!(taper(100, 20, phase_of_material(FULL_MATERIAL)), 100);
/// assert_eq!(taper(100, 20, phase_of_material(0)), 20);
/// assert_eq!(taper(-100, -20, PHASE_MAX / 2), -taper(100, 20, PHASE_MAX / 2));
/// ```
#[inline]
pub const fn taper(mg: i32, eg: i32, phase: i32) -> i32 {
    let sum = mg as i64 * phase as i64 + eg as i64 * (PHASE_MAX - phase) as i64;
    (sum / PHASE_MAX as i64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_exact_at_its_bounds() {
        let cases = [
            (0, 0),
            (3914, 0),
            (3915, 0),
            (3916, 1),
            (15257, PHASE_MAX - 1),
            (15258, PHASE_MAX),
            (15259, PHASE_MAX),
            (16488, PHASE_MAX),
            (90000, PHASE_MAX),
        ];
        for (material, phase) in cases {
            assert_eq!(phase_of_material(material), phase, "material {material}");
        }
        assert_eq!(PHASE_MAX, 11343);
    }

    #[test]
    fn taper_reaches_both_ends() {
        for (mg, eg) in [(100, -50), (-31, 7), (1_000_000, -2_000_000), (i32::MAX, i32::MIN + 1)] {
            assert_eq!(taper(mg, eg, PHASE_MAX), mg);
            assert_eq!(taper(mg, eg, 0), eg);
        }
    }

    #[test]
    fn taper_is_odd_and_lies_between() {
        for phase in (0..=PHASE_MAX).step_by(97) {
            for (mg, eg) in [(1, 0), (3, -2), (200, 199), (-7, 12345)] {
                let value = taper(mg, eg, phase);
                assert_eq!(taper(-mg, -eg, phase), -value);
                assert!(mg.min(eg) <= value && value <= mg.max(eg));
            }
        }
    }
}
