//! Factors of families of features, as parameters of a tuning.
//!
//! Games can detect a change that moves evaluations by a few centipawns. So each factor is measured on positions first:
//! the root mean square of what it multiplies. Its perturbation is scaled to the detectable effect, and a factor whose
//! largest perturbation has no detectable effect is left out. There is a factor for the material of each piece type and
//! one for each family of groups, separate for middlegame and endgame if both matter. Families instead of groups keep the
//! number of parameters around thirty: the fewer there are, the more precise each becomes.

use std::ops::Range;

use dyad_engine::board::{Board, Color, PIECES, Piece};
use dyad_engine::eval::layout::{Family, GROUPS, MATERIAL};
use dyad_engine::eval::{FloatWeights, PHASE_MAX, Weights};
use dyad_explain::evaluation::contributions;
use dyad_formats::error::Error;
use dyad_formats::packed::Packed;

use crate::fit::calibration::pawn;
use crate::tune::spsa::Parameter;

/// Effect that games of a few thousand nodes per move can detect, in centipawns.
const DETECTABLE: f64 = 4.0;
/// A factor whose largest perturbation has less effect is left out.
const MIN_EFFECT: f64 = 0.8;
/// Middlegame and endgame get separate factors if each has at least this effect.
const SEPARATE_PHASES: f64 = 3.0;
/// Smallest and largest perturbation.
const PERTURBATIONS: [f64; 2] = [0.02, 0.4];
/// Learning rate at the end.
const RATE: f64 = 0.008;
/// Bounds of the factors.
const BOUNDS: [f64; 2] = [0.2, 2.2];
/// Most positions to measure on, spread over the samples.
const POSITIONS: usize = 4_000;

/// The factor of the weights of some features.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The factor.
    pub parameter: Parameter,
    features: Vec<Range<usize>>,
    /// Whether middlegame and endgame weights are multiplied.
    phases: [bool; 2],
}

impl Factor {
    /// Multiplies the weights of the features by `value`.
    pub fn multiply(&self, weights: &mut FloatWeights, value: f64) {
        for (weights, _) in [&mut weights.mg, &mut weights.eg].into_iter().zip(self.phases).filter(|(_, is)| *is) {
            for range in &self.features {
                weights[range.clone()].iter_mut().for_each(|weight| *weight *= value);
            }
        }
    }
}

/// The positions of samples to measure on.
///
/// # Errors
/// When a sample is damaged.
pub fn boards(samples: &[Packed]) -> Result<Vec<Board>, Error> {
    let every = samples.len().div_ceil(POSITIONS).max(1);
    let board = |sample: &Packed| sample.board().map_err(Error::Settings);
    samples.iter().step_by(every).map(board).collect()
}

/// The factors for `weights`, measured on `boards`. They depend on these alone.
pub fn factors(weights: &Weights, boards: &[Board]) -> Vec<Factor> {
    let mut found = Vec::new();
    for piece in PIECES {
        let effect = Effect::of(boards.iter().map(|board| material(weights, board, piece)));
        let feature = MATERIAL.at(piece);
        let name = format!("{}.{}", MATERIAL.name, feature - MATERIAL.start);
        let features = feature..feature + 1;
        add(&mut found, &effect, &name, &[features]);
    }
    let of_groups: Vec<Vec<Phases>> = boards.iter().map(|board| by_group(weights, board)).collect();
    for family in Family::ALL.into_iter().filter(|&family| family != MATERIAL.family) {
        let effect = Effect::of(of_groups.iter().map(|groups| of_family(groups, family)));
        let own = GROUPS.iter().filter(|group| group.family == family);
        let features: Vec<_> = own.map(|group| group.range()).collect();
        add(&mut found, &effect, &format!("@{}", family.name()), &features);
    }
    found
}

/// Adds a factor, or one each for middlegame and endgame, if its effect is detectable.
fn add(found: &mut Vec<Factor>, effect: &Effect, name: &str, features: &[Range<usize>]) {
    let mut one = |phases, suffix: &str, effect: f64| {
        if PERTURBATIONS[1] * effect >= MIN_EFFECT {
            let ([min, max], [smallest, largest]) = (BOUNDS, PERTURBATIONS);
            let (name, c_end) = (format!("{name}{suffix}"), (DETECTABLE / effect).clamp(smallest, largest));
            let parameter = Parameter { name, value: 1.0, min, max, c_end, r_end: RATE };
            found.push(Factor { parameter, features: features.to_vec(), phases });
        }
    };
    if effect.phases.iter().all(|&phase| phase >= SEPARATE_PHASES) {
        one([true, false], ":mg", effect.phases[0]);
        one([false, true], ":eg", effect.phases[1]);
    } else {
        one([true, true], "", effect.both);
    }
}

/// Tapered middlegame and endgame parts of an evaluation, in centipawns.
type Phases = [f64; 2];

/// Root mean squares in centipawns: of each part, and of their sum.
struct Effect {
    phases: Phases,
    both: f64,
}

impl Effect {
    fn of(positions: impl Iterator<Item = Phases>) -> Effect {
        let (mut squares, mut count) = ([0.0; 3], 0.0_f64);
        for [mg, eg] in positions {
            for (sum, part) in squares.iter_mut().zip([mg, eg, mg + eg]) {
                *sum += part * part;
            }
            count += 1.0;
        }
        let [mg, eg, both] = squares.map(|sum: f64| (sum / count.max(1.0)).sqrt());
        Effect { phases: [mg, eg], both }
    }
}

/// The contribution of each group in a position, from White's side.
fn by_group(weights: &Weights, board: &Board) -> Vec<Phases> {
    let all = contributions(weights, board).into_iter();
    all.map(|(_, group)| in_centipawns(weights, board, group.total())).collect()
}

/// The contribution of a family.
fn of_family(groups: &[Phases], family: Family) -> Phases {
    let own = GROUPS.iter().zip(groups).filter(|(group, _)| group.family == family);
    own.fold([0.0; 2], |[mg, eg], (_, phases)| [mg + phases[0], eg + phases[1]])
}

/// The material of a piece type in a position, from White's side.
fn material(weights: &Weights, board: &Board, piece: Piece) -> Phases {
    let count = |color| i64::from(board.colored(color, piece).popcnt());
    let ahead = count(Color::White) - count(Color::Black);
    in_centipawns(weights, board, weights.ints()[MATERIAL.at(piece)].map(|weight| ahead * i64::from(weight)))
}

fn in_centipawns(weights: &Weights, board: &Board, [mg, eg]: [i64; 2]) -> Phases {
    let middlegame = f64::from(weights.phase(board)) / f64::from(PHASE_MAX);
    let unit = 100.0 / pawn(weights);
    [mg as f64 * middlegame * unit, eg as f64 * (1.0 - middlegame) * unit]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::averaging::{in_units_of, mean};
    use std::path::Path;

    fn boards() -> Vec<Board> {
        let fens = [
            "r1bqk2r/pp2bppp/2n1pn2/2pp4/3P1B2/2P1PN2/PP1NBPPP/R2QK2R w KQkq - 0 8",
            "r4rk1/1bq1bppp/p2ppn2/1p6/3NP3/1BN5/PPP1QPPP/R4RK1 b - - 0 14",
            "8/5pk1/4p1p1/1p1nP2p/3N3P/1P3PP1/5K2/8 w - - 0 40",
            "2r3k1/pp3ppp/4p3/3pP3/1P1n4/P4N2/5PPP/3R2K1 w - - 0 26",
        ];
        fens.map(|fen| Board::from_fen(fen).unwrap()).to_vec()
    }

    #[test]
    fn perturbations_have_the_detectable_effect() {
        // Weights that do not change with releases.
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/hand-made.json");
        let weights = dyad_formats::weights_file::load(Path::new(file)).unwrap();
        let found = factors(&weights, &boards());
        let names: Vec<&str> = found.iter().map(|factor| factor.parameter.name.as_str()).collect();
        // A family with large weights by phase, knights of which one side has more, and no king.
        assert!(names.contains(&"@pairs:mg") && names.contains(&"@pairs:eg"), "{names:?}");
        assert!(names.iter().any(|name| name.starts_with("material.1")), "{names:?}");
        assert!(names.iter().all(|name| !name.contains("material.5")));
        // A perturbation has the detectable effect, unless a bound limits it.
        let values = |weights: &Weights| boards().iter().map(|board| by_group(weights, board)).collect::<Vec<_>>();
        let before = values(&weights);
        let mut measured = 0;
        for factor in found.iter().filter(|factor| factor.parameter.name.starts_with('@')) {
            let (Factor { parameter, phases, .. }, mut floats) = (factor, mean(&[(&weights, 1.0)]));
            factor.multiply(&mut floats, 1.0 + parameter.c_end);
            let after = values(&in_units_of(&weights, &floats).unwrap());
            let sum = |groups: &[Phases]| -> f64 {
                let phases = (0..2).filter(|&phase| phases[phase]);
                phases.map(|phase| groups.iter().map(|group| group[phase]).sum::<f64>()).sum()
            };
            let change = before.iter().zip(&after).map(|(before, after)| sum(after) - sum(before));
            let squares: f64 = change.map(|change| change * change).sum();
            let effect = (squares / 4.0).sqrt();
            let within = if parameter.c_end < PERTURBATIONS[1] {
                0.7 * DETECTABLE..1.3 * DETECTABLE
            } else {
                MIN_EFFECT / 2.0..1.3 * DETECTABLE
            };
            assert!(within.contains(&effect), "{}: {effect}", parameter.name);
            measured += 1;
        }
        assert!(measured > 10);
    }
}
