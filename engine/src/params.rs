//! The parameters of search and time management in one table, and their formulas as methods.
//!
//! A *margin* is a distance between values in search units (360 win half of the games, an exchanged pawn counts 200). A
//! *base* is the constant term of a formula, a *factor* multiplies, a *divisor* divides, a *threshold* is compared
//! with. Depths are in plies, reductions in 1/1024 plies.
//!
//! They are compiled in. With the Cargo feature `tune`, which costs one or two per cent of speed, each search has its own
//! [`Params`]: every parameter is a UCI option, for tuners.

/// A tunable parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// Name, also of the UCI option and of the field of [`Params`].
    pub name: &'static str,
    /// The default.
    pub default: i32,
    /// Smallest value.
    pub min: i32,
    /// Largest value.
    pub max: i32,
}

macro_rules! params {
    ($($name:ident = $default:literal, $min:literal..=$max:literal;)*) => {
        /// All parameters.
        pub const TUNABLES: &[Tunable] = &[
            $(Tunable { name: stringify!($name), default: $default, min: $min, max: $max },)*
        ];

        /// The parameters of one search, each within its bounds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Params {
            $(pub(crate) $name: i32,)*
        }

        impl Params {
            /// The defaults.
            pub const DEFAULT: Params = Params { $($name: $default,)* };

            /// All values, in the order of [`TUNABLES`].
            pub fn values(&self) -> [i32; TUNABLES.len()] {
                [$(self.$name,)*]
            }

            fn slot(&mut self, name: &str) -> Option<&mut i32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

params! {
    // Aspiration windows.
    aspiration_depth = 4, 1..=10;
    aspiration_delta = 35, 8..=80;
    aspiration_value_divisor = 60, 10..=400; // the quotient of the expected value is added to delta
    aspiration_growth = 140, 110..=300; // per cent
    aspiration_step = 4, 0..=40;
    aspiration_open = 3000, 500..=10000; // from this delta on the window is open
    aspiration_reduction = 2, 0..=4; // most plies after fail highs
    // Reverse futility pruning.
    rfp_depth = 9, 5..=14;
    rfp_factor = 139, 60..=260;
    rfp_improving = 100, 20..=240;
    rfp_return_divisor = 3, 1..=8; // of the distance above beta
    worsening_margin = 2, -100..=100;
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
    nmp_verification_share = 3, 1..=4; // quarters of the reduced depth
    nmp_zugzwang_pieces = 1, 0..=3;
    // ProbCut.
    probcut_depth = 5, 4..=8;
    probcut_margin = 293, 150..=600;
    probcut_improving = 90, 0..=250;
    probcut_reduction = 4, 2..=6;
    // Small ProbCut.
    small_probcut_margin = 413, 150..=1000;
    small_probcut_gap = 4, 2..=6;
    // Transposition table cutoffs.
    tt_clock = 90, 50..=100; // none from this fifty-move clock on
    // Hindsight.
    hindsight_reduction = 3, 1..=6; // one ply more from this last reduction on
    hindsight_less = 2, 1..=6; // one ply less from this last reduction on, if the opponent worsened by the margin
    hindsight_margin = 180, 0..=2000;
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
    futility_history = 64, 0..=256; // plies for a history of 2^20
    // Futility pruning of captures.
    capture_futility_depth = 6, 3..=10;
    capture_futility_base = 444, 150..=900;
    capture_futility_factor = 370, 120..=700;
    // History pruning.
    history_pruning_depth = 5, 2..=8;
    history_pruning_factor = 4496, 1500..=20000;
    // SEE pruning.
    see_quiet_factor = 43, 15..=100; // times depth squared
    see_capture_factor = 204, 80..=400; // times depth
    // Singular extensions.
    singular_depth = 6, 4..=10;
    singular_gap = 3, 2..=5;
    singular_margin = 29, 8..=64; // 1/16 of depth
    singular_depth_divisor = 2, 2..=4;
    singular_line = 2, 1..=4; // times the root depth is the deepest ply
    singular_cut_reduction = 2, 0..=4;
    singular_low_reduction = 1, 0..=3;
    double_margin = 24, 0..=120;
    triple_margin = 200, 60..=500;
    double_limit = 10, 2..=24;
    // Late move reductions, in 1/1024 plies.
    lmr_depth = 2, 1..=4;
    lmr_count = 1, 0..=4; // moves before the first reduced one, and one more at the root
    lmr_good_captures = 3, 0..=8; // good captures of a PV node that are not reduced
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
    lmr_cutoff_count = 3, 0..=8;
    lmr_history_divisor = 12492, 4000..=20000;
    lmr_deeper = 72, 10..=200;
    lmr_shallower = 16, 0..=60;
    lmr_correction = 3, 0..=20; // times the correction of the static evaluation
    alpha_raise = 1, 0..=3; // plies
    alpha_raise_min_depth = 3, 2..=6;
    alpha_raise_depth = 12, 6..=30;
    // Quiescence.
    qs_futility = 233, 80..=600;
    qs_moves = 3, 1..=99; // later captures must recapture, promote or give check
    qs_see = -44, -400..=200;
    qs_blend = 3, 0..=4; // weight of a value above beta in quarters, the rest is beta
    // Ordering.
    ordering_see = 32, 0..=128; // 1/1024 of its score is what a good capture may lose by SEE
    ordering_gain = 4, 1..=16; // times the value of the victim
    ordering_capture = 4, 0..=16; // sixteenths of the capture history
    ordering_four = 2, 0..=8; // quarters of the continuation history of four plies ago
    ordering_six = 1, 0..=8; // quarters of the continuation history of six plies ago
    ordering_low_ply = 64, 0..=256; // sixteenths of the low-ply history, divided by the ply plus one
    ordering_escape = 48, 0..=256; // 1/64 of the threat bonus for leaving an attack by a less valuable piece
    ordering_expose = 48, 0..=256; // 1/64 of the threat bonus for entering one, a malus
    ordering_check = 4000, 0..=16384; // for a check from a square that no less valuable piece attacks
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
    refuted_count = 3, 1..=8; // first moves of a node
    lmr_history = 64, 0..=256; // 1/128 of bonus or malus after the re-search of a reduced move
    fail_low_bonus = 64, 0..=256; // 1/128 of the bonus
    // Correction histories: weights in 1/128.
    correction_pawn = 85, 0..=256;
    correction_non_pawn = 100, 0..=256;
    correction_minor = 44, 0..=256;
    correction_continuation = 70, 0..=256;
    correction_step = 16, 1..=64; // 1/128 of error times depth
    correction_step_max = 256, 32..=512;
    // Damping of the static evaluation.
    fifty_divisor = 220, 110..=1000; // of the halfmove clock
    // Thread voting.
    vote_base = 20, 1..=200; // added to the value above the lowest
    // Time, in per cent unless stated otherwise.
    time_reserve = 100, 0..=500; // milliseconds that stay on the clock
    time_moves_max = 50, 20..=80; // most moves to go
    time_share = 80, 40..=120; // of an even share
    time_share_hard = 400, 150..=800; // of an even share
    time_usable_hard = 70, 30..=95; // of the clock
    time_usable_last = 90, 50..=98; // of the clock, for the last move before the time control
    time_divisor = 26, 14..=60; // moves, without a time control
    time_increment = 72, 30..=110; // of the increment
    time_soft_hard = 500, 200..=900; // of the soft bound
    time_usable_sudden = 55, 20..=90; // of the clock, without a time control
    time_stable_0 = 155, 90..=250; // of the soft bound, for a new best move
    time_stable_1 = 125, 80..=200; // for one that is stable for one iteration
    time_stable_2 = 108, 70..=160;
    time_stable_3 = 97, 60..=140;
    time_stable_4 = 88, 50..=120; // for four to six
    time_stable_7 = 80, 40..=110; // for seven and more
    time_drop_divisor = 320, 100..=1000; // search units
    time_drop_min = 75, 40..=100;
    time_drop_max = 170, 110..=300;
    time_nodes_base = 195, 120..=300;
    time_nodes_factor = 135, 40..=250; // of the node fraction
    time_nodes_min = 55, 30..=90;
    time_nodes_max = 170, 110..=300;
    time_clear_divisor = 12, 2..=40; // of the soft bound, for the only legal move or a proved mate
    time_mate_factor = 4, 1..=10; // a mate is proved at this depth per move
    time_mate_base = 8, 0..=30; // plus this depth
}

impl Default for Params {
    fn default() -> Params {
        Params::DEFAULT
    }
}

impl Params {
    /// Sets a parameter by name.
    ///
    /// # Errors
    /// For an unknown name or a value out of bounds, and for any other value than the default without the feature `tune`.
    pub fn set(&mut self, name: &str, value: i32) -> Result<(), String> {
        let tunable = Tunable::find(name).ok_or_else(|| format!("no search parameter '{name}'"))?;
        if !(tunable.min..=tunable.max).contains(&value) {
            return Err(format!("{name} must be {} to {}, not {value}", tunable.min, tunable.max));
        }
        if !cfg!(feature = "tune") && value != tunable.default {
            return Err(format!("{name} is {} in this program: build it with --features tune", tunable.default));
        }
        *self.slot(name).expect("each tunable has a field") = value;
        Ok(())
    }

    /// Margin above beta for reverse futility pruning.
    pub(crate) fn rfp_margin(&self, depth: i32, improving: bool) -> i32 {
        self.rfp_factor * depth - if improving { self.rfp_improving } else { 0 }
    }

    /// Margin below alpha for razoring.
    pub(crate) fn razor_margin(&self, depth: i32) -> i32 {
        self.razor_base + self.razor_factor * depth * depth
    }

    /// Reduction of a null move search in plies, for an evaluation `advantage` above beta.
    pub(crate) fn nmp_reduction(&self, depth: i32, advantage: i32) -> i32 {
        let by_eval = (advantage / self.nmp_eval_divisor).clamp(0, self.nmp_eval_limit);
        self.nmp_base + depth / self.nmp_depth_divisor + by_eval
    }

    /// Move count for late move pruning.
    pub(crate) fn lmp_threshold(&self, depth: i32, improving: bool) -> usize {
        let moves = self.lmp_base + self.lmp_factor * depth * depth / 100;
        (if improving { moves } else { moves / 2 + 1 }) as usize
    }

    /// Margin below alpha for futility pruning of quiet moves.
    pub(crate) fn futility_margin(&self, depth: i32) -> i32 {
        self.futility_base + self.futility_factor * depth
    }

    /// Margin below alpha for futility pruning of captures, without the victim.
    pub(crate) fn capture_futility_margin(&self, depth: i32) -> i32 {
        self.capture_futility_base + self.capture_futility_factor * depth
    }

    /// History bonus of a move that caused a cutoff at this depth.
    pub(crate) fn history_bonus(&self, depth: i32) -> i32 {
        (self.history_bonus_factor * depth + self.history_bonus_base).min(self.history_bonus_max)
    }

    /// History malus of the moves searched before the cutoff.
    pub(crate) fn history_malus(&self, depth: i32) -> i32 {
        (self.history_malus_factor * depth + self.history_malus_base).min(self.history_malus_max)
    }

    /// Butterfly bonus of a quiet move by the `sum` of the static evaluations, each from its side to move, before and
    /// after it.
    pub(crate) fn eval_history(&self, sum: i32) -> i32 {
        let max = self.eval_history_max;
        (self.eval_history_base - self.eval_history_factor * sum).clamp(-max, max)
    }

    /// What these histories take off the reduction of a quiet move, in 1/1024 plies.
    pub(crate) fn history_reduction(&self, history: i32) -> i32 {
        history * 1024 / self.lmr_history_divisor
    }

    /// The static evaluation, damped by the fifty-move clock.
    pub(crate) fn damped(&self, eval: i32, halfmove_clock: u32) -> i32 {
        eval - eval * halfmove_clock.min(100) as i32 / self.fifty_divisor
    }
}

impl Tunable {
    /// The parameter of this name.
    pub fn find(name: &str) -> Option<&'static Tunable> {
        TUNABLES.iter().find(|tunable| tunable.name == name)
    }
}

/// Tables computed once from the parameters.
pub(crate) struct DerivedParams {
    quiet_lmr: LmrTable,
    noisy_lmr: LmrTable,
    /// By piece type and the three bits of [`DerivedParams::threat_bonus`].
    threat_bonus: [[i32; 8]; 6],
}

/// Late move reductions in 1/1024 plies, by depth and move count.
type LmrTable = Box<[[i16; DerivedParams::COUNTS]; DerivedParams::DEPTHS]>;

impl DerivedParams {
    const DEPTHS: usize = 64;
    const COUNTS: usize = 256;

    pub(crate) fn new(params: &Params) -> DerivedParams {
        let logarithms: Vec<i32> =
            (0..DerivedParams::COUNTS).map(|number| ((number.max(1) as f64).ln() * 1024.0) as i32).collect();
        let lmr = |base: i32, divisor: i32| {
            let mut rows: LmrTable = Box::new([[0; DerivedParams::COUNTS]; DerivedParams::DEPTHS]);
            for (depth, row) in rows.iter_mut().enumerate() {
                for (count, entry) in row.iter_mut().enumerate() {
                    *entry = (base + logarithms[depth] * logarithms[count] / 1024 * 1024 / divisor) as i16;
                }
            }
            rows
        };
        DerivedParams {
            quiet_lmr: lmr(params.lmr_quiet_base, params.lmr_quiet_divisor),
            noisy_lmr: lmr(params.lmr_noisy_base, params.lmr_noisy_divisor),
            threat_bonus: threat_bonuses(params),
        }
    }

    /// The threat bonus of a quiet move of a piece of this type, which may leave or enter the attack of a less valuable
    /// piece, or give check. A check from an attacked square does not count.
    pub(crate) fn threat_bonus(&self, piece: usize, leaves: bool, enters: bool, checks: bool) -> i32 {
        self.threat_bonus[piece][usize::from(leaves) | usize::from(enters) << 1 | usize::from(checks) << 2]
    }

    /// Late move reduction of the `count`th move at this depth in 1/1024 plies: base + ln(depth) ln(count) / divisor.
    pub(crate) fn lmr(&self, depth: i32, count: usize, quiet: bool) -> i32 {
        let table = if quiet { &self.quiet_lmr } else { &self.noisy_lmr };
        i32::from(table[depth.clamp(1, 63) as usize][count.min(DerivedParams::COUNTS - 1)])
    }
}

/// By piece type and the three bits of [`DerivedParams::threat_bonus`].
fn threat_bonuses(params: &Params) -> [[i32; 8]; 6] {
    /// For a piece attacked by a less valuable one, by type.
    const ATTACKED: [i32; 6] = [0, 6_000, 6_000, 10_000, 20_000, 0];
    ATTACKED.map(|attacked| {
        std::array::from_fn(|bits| {
            let [leaves, enters, checks] = [0, 1, 2].map(|bit| (bits >> bit & 1) as i32);
            let weight = params.ordering_escape * leaves - params.ordering_expose * enters;
            weight * attacked / 64 + (checks & !enters) * params.ordering_check
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_set_by_name_within_their_bounds() {
        let mut params = Params::DEFAULT;
        for &Tunable { name, default, min, max } in TUNABLES {
            assert!((min..=max).contains(&default), "{name}");
            assert!(params.set(name, default).is_ok());
            assert_eq!(params.set(name, max).is_ok(), cfg!(feature = "tune") || max == default, "{name}");
            assert!(params.set(name, min - 1).unwrap_err().contains(&format!("{min} to {max}")));
            assert!(params.set(name, max + 1).is_err());
        }
        assert_eq!(params == Params::DEFAULT, cfg!(not(feature = "tune")));
        assert!(params.set("nonsense", 1).unwrap_err().contains("nonsense"));
        let names: std::collections::BTreeSet<_> = TUNABLES.iter().map(|tunable| tunable.name).collect();
        assert_eq!(names.len(), TUNABLES.len());
    }

    #[test]
    fn reductions_follow_the_formula() {
        for change in [i32::MIN, 0, i32::MAX] {
            let mut params = Params::DEFAULT;
            for name in ["lmr_quiet_base", "lmr_quiet_divisor", "lmr_noisy_base", "lmr_noisy_divisor"] {
                let tunable = Tunable::find(name).unwrap();
                let value = tunable.default.saturating_add(change).clamp(tunable.min, tunable.max);
                *params.slot(name).unwrap() = value;
            }
            let table = DerivedParams::new(&params);
            for (depth, count) in [(1, 1), (2, 3), (7, 12), (63, 80), (200, 300)] {
                let product = f64::ln(depth.min(63) as f64) * f64::ln(count.min(255) as f64) * 1024.0;
                let quiet = f64::from(params.lmr_quiet_base) + product * 1024.0 / f64::from(params.lmr_quiet_divisor);
                let noisy = f64::from(params.lmr_noisy_base) + product * 1024.0 / f64::from(params.lmr_noisy_divisor);
                for (exact, rounded) in
                    [(quiet, table.lmr(depth, count, true)), (noisy, table.lmr(depth, count, false))]
                {
                    assert!((exact - f64::from(rounded)).abs() < 12.0, "{depth} {count}: {exact} {rounded}");
                }
            }
        }
    }
}
