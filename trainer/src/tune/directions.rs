//! SPSA parameters for weights.
//!
//! Games can detect a change that moves evaluations by a few centipawns. So each parameter is measured on positions
//! first: the root mean square change of their evaluations at full size. Its perturbation is scaled to the detectable
//! effect, and a parameter whose largest perturbation has no detectable effect is left out. There are
//!
//! - a factor for each family of groups of features, separate for middlegame and endgame if both matter;
//! - the same for each piece type;
//! - if trained weights are given, an interpolation coefficient toward them for each family: a training determines a
//!   direction within a family better than its length.
//!
//! Families instead of groups keep the number of parameters around fifty: the fewer there are, the more precise each
//! becomes.

use std::path::Path;

use dyad_engine::board::{Board, Color, PIECES, Piece};
use dyad_engine::eval::layout::{Family, GROUPS, MATERIAL};
use dyad_engine::eval::{PHASE_MAX, Weights};
use dyad_explain::evaluation::contributions;
use dyad_formats::error::Error;
use dyad_formats::packed::Packed;

use crate::fit::calibration::pawn;
use crate::tune::parameters::{Parameter, Range};

/// Effect that games of a few thousand nodes per move can detect, in centipawns.
const DETECTABLE: f64 = 4.0;
/// A parameter whose largest perturbation has less effect is left out.
const MIN_EFFECT: f64 = 0.8;
/// Middlegame and endgame get separate parameters if each has at least this effect.
const SEPARATE_PHASES: f64 = 3.0;
/// Smallest and largest perturbation of a factor or coefficient.
const PERTURBATIONS: [f64; 2] = [0.02, 0.4];
/// Learning rate at the end.
const RATE: f64 = 0.008;
/// Bounds of factors, and of coefficients toward trained weights.
const FACTORS: [f64; 2] = [0.2, 2.2];
const COEFFICIENTS: [f64; 2] = [-1.0, 1.5];

/// Trained weights to interpolate toward, and their file.
#[derive(Clone, Copy, Debug)]
pub struct TrainedGoal<'a> {
    /// The file.
    pub file: &'a Path,
    /// Its content.
    pub weights: &'a Weights,
}

/// Maximum number of positions to measure on, spread over a sample file.
const POSITIONS: usize = 4_000;

/// The positions of samples to measure on.
///
/// # Errors
/// When a sample is damaged.
pub fn boards(samples: &[Packed]) -> Result<Vec<Board>, Error> {
    let every = samples.len().div_ceil(POSITIONS).max(1);
    let board = |sample: &Packed| sample.board().map_err(Error::Settings);
    samples.iter().step_by(every).map(board).collect()
}

/// The SPSA parameters for `weights`, measured on `boards`. They depend on these alone.
#[must_use]
pub fn spsa_parameters(weights: &Weights, goal: Option<TrainedGoal>, boards: &[Board]) -> Vec<Parameter> {
    let mut found = Vec::new();
    for (index, piece) in PIECES.into_iter().enumerate() {
        let size = Size::of(boards.iter().map(|board| material(weights, board, piece)));
        let groups = format!("{}.{index}", MATERIAL.name);
        add(&mut found, &size, FACTORS, |phases, range| Parameter::factor(&groups, phases, 1.0, range));
    }
    let of_groups: Vec<Vec<Phases>> = boards.iter().map(|board| by_group(weights, board)).collect();
    for family in Family::ALL.into_iter().filter(|&family| family != MATERIAL.family) {
        let size = Size::of(of_groups.iter().map(|groups| of_family(groups, family)));
        let groups = format!("@{}", family.name());
        add(&mut found, &size, FACTORS, |phases, range| Parameter::factor(&groups, phases, 1.0, range));
    }
    let Some(goal) = goal else { return found };
    let trained: Vec<Vec<Phases>> = boards.iter().map(|board| by_group(goal.weights, board)).collect();
    for family in Family::ALL {
        let differences = of_groups.iter().zip(&trained).map(|(before, after)| {
            let [before, after] = [before, after].map(|groups| of_family(groups, family));
            [after[0] - before[0], after[1] - before[1]]
        });
        let size = Size::of(differences);
        let groups = format!("@{}", family.name());
        add(&mut found, &size, COEFFICIENTS, |phases, range| Parameter::toward(&groups, phases, goal.file, 0.0, range));
    }
    found
}

/// Tapered middlegame and endgame parts of an evaluation, in centipawns.
type Phases = [f64; 2];

/// Root mean square effects in centipawns: of each part, and of their sum.
struct Size {
    phases: Phases,
    both: f64,
}

impl Size {
    fn of(positions: impl Iterator<Item = Phases>) -> Size {
        let (mut squares, mut count) = ([0.0; 3], 0.0_f64);
        for [mg, eg] in positions {
            for (sum, part) in squares.iter_mut().zip([mg, eg, mg + eg]) {
                *sum += part * part;
            }
            count += 1.0;
        }
        let [mg, eg, both] = squares.map(|sum: f64| (sum / count.max(1.0)).sqrt());
        Size { phases: [mg, eg], both }
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

/// Adds a parameter, or one each for middlegame and endgame, if its effect is detectable.
fn add(
    found: &mut Vec<Parameter>,
    size: &Size,
    [min, max]: [f64; 2],
    parameter: impl Fn([bool; 2], Range) -> Parameter,
) {
    let mut one = |phases: [bool; 2], size: f64| {
        let [smallest, largest] = PERTURBATIONS;
        if largest * size >= MIN_EFFECT {
            // Three digits are enough.
            let c_end = ((DETECTABLE / size).clamp(smallest, largest) * 1000.0).round() / 1000.0;
            found.push(parameter(phases, Range { min, max, c_end, r_end: RATE }));
        }
    };
    if size.phases.iter().all(|&phase| phase >= SEPARATE_PHASES) {
        one([true, false], size.phases[0]);
        one([false, true], size.phases[1]);
    } else {
        one([true, true], size.both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::parameters::{Base, ParameterTarget, apply};
    use dyad_engine::eval::FloatWeights;
    use dyad_engine::eval::layout::{MOBILITY_KNIGHT, TEMPO};
    use dyad_formats::testing::Temporary;
    use dyad_formats::weights_file;
    use std::sync::Arc;

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
        let weights = Arc::new(weights_file::load(Path::new(file)).unwrap());
        let found = spsa_parameters(&weights, None, &boards());
        let names: Vec<&str> = found.iter().map(|parameter| parameter.name.as_str()).collect();
        // A family with large weights by phase, knights of which one side has more, and no king.
        assert!(names.contains(&"factor:@pairs:mg") && names.contains(&"factor:@pairs:eg"), "{names:?}");
        assert!(names.iter().any(|name| name.starts_with("factor:material.1")), "{names:?}");
        assert!(names.iter().all(|name| !name.contains("material.5")));
        // A perturbation has the detectable effect, unless a bound limits it.
        let base = Base::new(weights.clone(), &found).unwrap();
        let start: Vec<f64> = found.iter().map(|parameter| parameter.value).collect();
        let values = |weights: &Weights| boards().iter().map(|board| by_group(weights, board)).collect::<Vec<_>>();
        let before = values(&weights);
        let mut measured = 0;
        for (index, parameter) in
            found.iter().enumerate().filter(|(_, parameter)| !parameter.name.contains("material."))
        {
            let ParameterTarget::Factor { phases, .. } = parameter.target else {
                panic!("{} is a factor", parameter.name)
            };
            let mut moved = start.clone();
            moved[index] += parameter.c_end;
            let after = values(&apply(&found, &moved, &base).unwrap().1.unwrap());
            let sum = |groups: &[Phases]| -> f64 {
                (0..2)
                    .filter(|&phase| phases[phase])
                    .map(|phase| groups.iter().map(|group| group[phase]).sum::<f64>())
                    .sum()
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

    #[test]
    fn trained_weights_give_a_coefficient_for_each_changed_family() {
        let folder = Temporary::folder();
        let file = folder.join("trained, with a comma.json");
        let weights = Weights::material();
        let mut floats = FloatWeights::material();
        floats.mg[MOBILITY_KNIGHT.range()].fill(40.0);
        for (index, weight) in floats.mg[MOBILITY_KNIGHT.range()].iter_mut().enumerate() {
            *weight *= index as f64;
        }
        floats.mg[TEMPO.start] = 1.0;
        let trained = Weights::from_floats(&floats, serde_json::Value::Null).unwrap();
        weights_file::save(&trained, &file).unwrap();
        let found = spsa_parameters(&weights, Some(TrainedGoal { file: &file, weights: &trained }), &boards());
        let steps: Vec<_> = found.iter().filter(|parameter| parameter.name.starts_with("toward:")).collect();
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert_eq!(steps[0].name, format!("toward:@mobility:{}", file.display()));
        assert!(steps[0].value == 0.0 && Base::new(weights.into(), &found).is_ok());
        assert_eq!(steps[0].to_string().parse::<Parameter>().as_ref(), Ok(steps[0]));
    }
}
