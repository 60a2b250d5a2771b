//! The constants of the search, in one table.
//!
//! Words: a *margin* is a distance between values in search units (360 win half of the games; an exchanged pawn counts 200); a *base* is what a
//! formula starts from and a *factor* (or slope) what it multiplies; a *threshold* is compared with; a *divisor*
//! scales histories down. Depths count plies, reductions 1/1024 plies. The formulas stand beside the table as functions,
//! so that a constant's meaning is said once.
//!
//! Built with the feature `tune`, every constant becomes a UCI option for SPSA or scans; otherwise each is a constant
//! the compiler sees.

use std::sync::LazyLock;

/// A constant of the search that can be tuned.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Name, also of the UCI option.
    pub name: &'static str,
    /// Value in an ordinary build.
    pub default: i32,
    /// Smallest value worth trying.
    pub min: i32,
    /// Largest value worth trying.
    pub max: i32,
}

macro_rules! params {
    ($($name:ident = $default:literal, $min:literal..=$max:literal;)*) => {
        /// All constants of the search.
        pub const TUNABLES: &[Tunable] = &[
            $(Tunable { name: stringify!($name), default: $default, min: $min, max: $max },)*
        ];

        #[cfg(feature = "tune")]
        mod values {
            use std::sync::atomic::AtomicI32;
            $(#[allow(non_upper_case_globals)] pub static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        $(
            #[inline(always)]
            pub(super) fn $name() -> i32 {
                #[cfg(feature = "tune")]
                return values::$name.load(std::sync::atomic::Ordering::Relaxed);
                #[cfg(not(feature = "tune"))]
                $default
            }
        )*

        /// Sets a constant by name; false when there is none of that name, or outside a `tune` build.
        pub fn set(name: &str, value: i32) -> bool {
            #[cfg(feature = "tune")]
            {
                let slot = match name {
                    $(stringify!($name) => &values::$name,)*
                    _ => return false,
                };
                slot.store(value, std::sync::atomic::Ordering::Relaxed);
                true
            }
            #[cfg(not(feature = "tune"))]
            {
                let _ = (name, value);
                false
            }
        }
    };
}

params! {
    // Aspiration windows.
    aspiration_delta = 35, 8..=80;
    aspiration_growth = 140, 110..=300; // per cent
    // Reverse futility pruning.
    rfp_depth = 9, 5..=14;
    rfp_factor = 139, 60..=260;
    rfp_improving = 100, 20..=240;
    // Razoring.
    razor_depth = 4, 2..=8;
    razor_base = 364, 100..=800;
    razor_factor = 147, 60..=500; // times depth squared
    // Null move pruning.
    nmp_depth = 3, 2..=5;
    nmp_base = 4, 2..=6;
    nmp_depth_divisor = 4, 2..=6;
    nmp_eval_divisor = 345, 150..=800;
    nmp_eval_limit = 3, 2..=6;
    nmp_margin_base = 231, 0..=500;
    nmp_margin_depth = 30, 0..=80;
    nmp_verification_depth = 14, 8..=20;
    // ProbCut.
    probcut_depth = 5, 4..=8;
    probcut_margin = 293, 150..=600;
    probcut_improving = 90, 0..=250;
    // A cut by a bound of the table that lies beyond beta by a margin.
    small_probcut_margin = 413, 150..=1000;
    // Internal iterative reduction.
    iir_depth = 4, 2..=8;
    iir_gap = 6, 2..=12;
    // Late move pruning.
    lmp_base = 4, 1..=10;
    lmp_factor = 102, 40..=200; // per cent of depth squared
    // Futility pruning of quiet moves.
    futility_depth = 9, 5..=14;
    futility_base = 232, 40..=500;
    futility_factor = 174, 60..=350;
    // Futility pruning of captures.
    capture_futility_depth = 6, 3..=10;
    capture_futility_base = 444, 150..=900;
    capture_futility_factor = 370, 120..=700;
    // History pruning.
    history_pruning_depth = 5, 2..=8;
    history_pruning_factor = 4496, 1500..=9000;
    // SEE pruning.
    see_quiet_factor = 43, 15..=100; // times depth squared
    see_capture_factor = 204, 80..=400; // times depth
    // Singular extensions.
    singular_depth = 6, 4..=10;
    singular_margin = 29, 8..=64; // 1/16 of depth
    double_margin = 24, 0..=120;
    triple_margin = 200, 60..=500;
    double_limit = 10, 2..=24;
    // Late move reductions, in 1/1024 plies.
    lmr_quiet_base = 1061, 0..=2000;
    lmr_quiet_divisor = 2238, 1200..=4000;
    lmr_noisy_base = 127, -500..=1500;
    lmr_noisy_divisor = 2913, 1500..=5000;
    lmr_not_pv = 789, 0..=2048;
    lmr_cut_node = 1542, 0..=3072;
    lmr_not_improving = 572, 0..=2048;
    lmr_tt_pv = 939, 0..=2048;
    lmr_check = 940, 0..=2048;
    lmr_killer = 1208, 0..=2048;
    lmr_tt_noisy = 676, 0..=2048;
    lmr_root = 1100, 0..=3072;
    lmr_cutoffs = 822, 0..=2048;
    lmr_history_divisor = 12492, 4000..=20000;
    lmr_deeper = 72, 10..=200;
    lmr_correction = 3, 0..=20; // times the correction of the static evaluation
    alpha_raise = 1, 0..=3; // plies
    alpha_raise_depth = 12, 6..=30;
    // Quiescence.
    qs_futility = 233, 80..=600;
    qs_see = -44, -400..=200;
    // Histories.
    history_bonus_factor = 177, 80..=400;
    history_bonus_base = 80, 0..=400;
    history_bonus_max = 1800, 800..=3500;
    history_malus_factor = 225, 80..=400;
    history_malus_base = 60, 0..=400;
    history_malus_max = 1500, 800..=3500;
    eval_history_factor = 12, 0..=40;
    eval_history_base = 167, -800..=1200;
    eval_history_max = 2000, 500..=4000;
    refuted_malus = 85, 0..=256; // 1/128 of the malus
    // Correction histories: weights in 1/128.
    correction_pawn = 85, 0..=256;
    correction_non_pawn = 100, 0..=256;
    correction_minor = 44, 0..=256;
    correction_continuation = 70, 0..=256;
}

/// How far above beta a node must stand to be cut by reverse futility.
pub(super) fn rfp_margin(depth: i32, improving: bool) -> i32 {
    rfp_factor() * depth - if improving { rfp_improving() } else { 0 }
}

/// How far below alpha a node must stand to be looked at by quiescence only.
pub(super) fn razor_margin(depth: i32) -> i32 {
    razor_base() + razor_factor() * depth * depth
}

/// How many plies a null move search is shallower.
pub(super) fn nmp_reduction(depth: i32, advantage: i32) -> i32 {
    nmp_base() + depth / nmp_depth_divisor() + (advantage / nmp_eval_divisor()).clamp(0, nmp_eval_limit())
}

/// After how many moves of all kinds the remaining quiet ones are skipped.
pub(super) fn lmp_threshold(depth: i32, improving: bool) -> usize {
    let moves = lmp_base() + lmp_factor() * depth * depth / 100;
    (if improving { moves } else { moves / 2 + 1 }) as usize
}

/// What a quiet move is expected to gain at most.
pub(super) fn futility_margin(depth: i32) -> i32 {
    futility_base() + futility_factor() * depth
}

/// What a capture is expected to gain at most, besides the captured piece.
pub(super) fn capture_futility_margin(depth: i32) -> i32 {
    capture_futility_base() + capture_futility_factor() * depth
}

/// What a move that caused a cutoff at this depth adds to its histories.
pub(super) fn history_bonus(depth: i32) -> i32 {
    (history_bonus_factor() * depth + history_bonus_base()).min(history_bonus_max())
}

/// What the moves searched before it lose.
pub(super) fn history_malus(depth: i32) -> i32 {
    (history_malus_factor() * depth + history_malus_base()).min(history_malus_max())
}

/// What a quiet move gains in the butterfly history after which the sum of both players' static evaluations, its
/// own before and the opponent's after it, is `sum`.
pub(super) fn eval_history(sum: i32) -> i32 {
    let max = eval_history_max();
    (eval_history_base() - eval_history_factor() * sum).clamp(-max, max)
}

const TABLE: usize = 64;

static LOGARITHMS: LazyLock<[i32; TABLE * 4]> = LazyLock::new(|| {
    let mut table = [0; TABLE * 4];
    for (index, entry) in table.iter_mut().enumerate().skip(1) {
        *entry = ((index as f64).ln() * 1024.0) as i32;
    }
    table
});

/// Reduction of the `count`th move at this depth, in 1/1024 plies: base + ln(depth) ln(count) / divisor.
///
/// Integer arithmetic on rounded logarithms: the same on every machine.
pub(super) fn lmr(depth: i32, count: usize, quiet: bool) -> i32 {
    let logarithms = &*LOGARITHMS;
    let product = logarithms[depth.clamp(1, 63) as usize] * logarithms[count.min(TABLE * 4 - 1)] / 1024;
    if quiet {
        lmr_quiet_base() + product * 1024 / lmr_quiet_divisor()
    } else {
        lmr_noisy_base() + product * 1024 / lmr_noisy_divisor()
    }
}
