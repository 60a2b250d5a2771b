//! What is tuned: constants of the search, and factors of the weights of groups of features.
//!
//! The text form is that of OpenBench's SPSA, one parameter a line:
//!
//! ```text
//! name, int, value, min, max, c_end, r_end
//! ```
//!
//! A constant of the search has the name of its UCI option and is an `int`. A factor is a `float`; its name is
//! `factor:GROUPS` as in `dyad average --factor` (a group, the beginning of several and `*`, or a family as `@king`), with
//! `:mg` or `:eg` where only the middlegame or the endgame weights are multiplied. OpenBench knows nothing of factors: they
//! are for this program alone.

use std::fmt;
use std::str::FromStr;

use dyad_engine::eval::Weights;
use dyad_engine::params::{Params, Tunable};
use serde::{Deserialize, Serialize};

use crate::fit::averaging::{GroupFactor, with_factors};

/// Share of the range of a constant that is its step at the end, when nobody says another.
const USUAL_C_END: f64 = 0.05;
/// The usual learning rate at the end, as in OpenBench and Fishtest.
const USUAL_R_END: f64 = 0.002;
/// What a factor's name begins with.
const FACTOR: &str = "factor:";

/// What a parameter changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A constant of the search, a whole number.
    Constant(&'static Tunable),
    /// The weights of some groups.
    Factor {
        /// A group, or the beginning of several and `*`.
        groups: String,
        /// Whether middlegame and endgame weights are multiplied.
        stages: [bool; 2],
    },
}

/// One of the values that are tuned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Parameter {
    /// As it is written.
    pub name: String,
    /// What it changes.
    pub target: Target,
    /// Where tuning begins.
    pub value: f64,
    /// Its smallest value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
    /// How far to either side of the value the two players of the last pair stand.
    pub c_end: f64,
    /// The learning rate of the last pair: by how much of c the value moves for each game won more than lost.
    pub r_end: f64,
}

impl Parameter {
    /// A constant of the search with the usual numbers.
    #[must_use]
    pub fn constant(tunable: &'static Tunable) -> Parameter {
        let (min, max) = (f64::from(tunable.min), f64::from(tunable.max));
        Parameter {
            name: tunable.name.to_string(),
            target: Target::Constant(tunable),
            value: f64::from(tunable.default),
            min,
            max,
            c_end: (USUAL_C_END * (max - min)).max(0.5),
            r_end: USUAL_R_END,
        }
    }

    /// The number a player uses for this value: whole ones are rounded down or up by `chance`, from 0 to 1, so that on
    /// average they are the value.
    #[must_use]
    pub fn played(&self, value: f64, chance: f64) -> f64 {
        let within = value.clamp(self.min, self.max);
        match self.target {
            Target::Constant(_) => (within + chance).floor().min(self.max),
            Target::Factor { .. } => within,
        }
    }

    /// This parameter with another value.
    #[must_use]
    pub fn at(&self, value: f64) -> Parameter {
        Parameter { value, ..self.clone() }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { name, value, min, max, c_end, r_end, .. } = self;
        let kind = if matches!(self.target, Target::Constant(_)) { "int" } else { "float" };
        write!(f, "{name}, {kind}, {value}, {min}, {max}, {c_end}, {r_end}")
    }
}

impl From<Parameter> for String {
    fn from(parameter: Parameter) -> String {
        parameter.to_string()
    }
}

impl TryFrom<String> for Parameter {
    type Error = String;

    fn try_from(text: String) -> Result<Parameter, String> {
        text.parse()
    }
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Parameter, String> {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let &[name, kind, ref numbers @ ..] = &words[..] else { return Err(expected(text)) };
        let numbers: Vec<f64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
        let &[value, min, max, c_end, r_end] = &numbers[..] else { return Err(expected(text)) };
        let target = target(name)?;
        let (wanted, bounds) = match &target {
            Target::Constant(tunable) => ("int", [f64::from(tunable.min), f64::from(tunable.max)]),
            Target::Factor { .. } => ("float", [-100.0, 100.0]),
        };
        if kind != wanted {
            return Err(format!("{name} is no '{kind}' but {wanted}"));
        }
        if !(bounds[0] <= min && min < max && max <= bounds[1]) {
            return Err(format!("{name}: min and max must be in order and within {} and {}", bounds[0], bounds[1]));
        }
        if !(min..=max).contains(&value) {
            return Err(format!("{name}: the value {value} is not within {min} and {max}"));
        }
        if !(c_end > 0.0 && c_end <= max - min) {
            return Err(format!("{name}: c_end must be above 0 and at most {}, not {c_end}", max - min));
        }
        if !(r_end > 0.0 && r_end <= 1.0) {
            return Err(format!("{name}: r_end must be above 0 and at most 1, not {r_end}"));
        }
        Ok(Parameter { name: name.to_string(), target, value, min, max, c_end, r_end })
    }
}

fn expected(text: &str) -> String {
    format!("'{text}': expected name, int, value, min, max, c_end, r_end")
}

fn target(name: &str) -> Result<Target, String> {
    let Some(groups) = name.strip_prefix(FACTOR) else {
        let constant = Tunable::find(name).map(Target::Constant);
        return constant.ok_or_else(|| format!("there is no search constant '{name}'"));
    };
    let (groups, stages) = match groups.rsplit_once(':') {
        Some((groups, "mg")) => (groups, [true, false]),
        Some((groups, "eg")) => (groups, [false, true]),
        _ => (groups, [true, true]),
    };
    let factor = GroupFactor { groups: groups.to_string(), factors: [1.0; 2] };
    factor.check()?;
    Ok(Target::Factor { groups: factor.groups, stages })
}

/// Reads parameters, one a line. Empty lines and those that begin with `#` say nothing.
///
/// # Errors
/// When a line is no parameter, one comes twice, or there is none.
pub fn parse(text: &str) -> Result<Vec<Parameter>, String> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let parameter: Parameter = line.parse().map_err(|problem| format!("line {number}: {problem}"))?;
        if parameters.iter().any(|other| other.name == parameter.name) {
            return Err(format!("line {number}: {} comes twice", parameter.name));
        }
        parameters.push(parameter);
    }
    if parameters.is_empty() {
        return Err("there are no parameters".to_string());
    }
    Ok(parameters)
}

/// Parameters in the form that [`parse`] reads, with these values.
#[must_use]
pub fn format(parameters: &[Parameter], values: &[f64]) -> String {
    parameters.iter().zip(values).map(|(parameter, &value)| format!("{}\n", parameter.at(value))).collect()
}

/// What a player plays with when the parameters have these values.
///
/// # Errors
/// When the weights cannot be multiplied so.
pub fn apply(parameters: &[Parameter], values: &[f64], base: &Weights) -> Result<(Params, Option<Weights>), String> {
    let mut params = Params::DEFAULT;
    let mut factors: Vec<GroupFactor> = Vec::new();
    for (parameter, &value) in parameters.iter().zip(values) {
        match &parameter.target {
            Target::Constant(tunable) => params.set(tunable.name, value.round() as i32)?,
            Target::Factor { groups, stages } => {
                let index = factors.iter().position(|factor| factor.groups == *groups).unwrap_or_else(|| {
                    factors.push(GroupFactor { groups: groups.clone(), factors: [1.0; 2] });
                    factors.len() - 1
                });
                for (factor, _) in factors[index].factors.iter_mut().zip(stages).filter(|(_, multiplied)| **multiplied)
                {
                    *factor *= value;
                }
            }
        }
    }
    let weights = if factors.is_empty() { None } else { Some(with_factors(base, &factors)?) };
    Ok((params, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Piece;
    use dyad_engine::eval::layout::MATERIAL;
    use dyad_engine::params::TUNABLES;

    #[test]
    fn the_form_of_openbench_is_read_and_written() {
        let text = "rfp_depth, int, 9, 5, 14, 0.5, 0.002\nfactor:mobility_*:eg, float, 1, 0.5, 1.5, 0.05, 0.002\n";
        let parameters = parse(&format!("# tuned\n\n{text}")).unwrap();
        assert_eq!(format(&parameters, &[9.0, 1.0]), text);
        let expected = Target::Factor { groups: "mobility_*".into(), stages: [false, true] };
        assert_eq!(parameters[1].target, expected);
        for tunable in TUNABLES {
            let usual = Parameter::constant(tunable);
            assert_eq!(usual.to_string().parse::<Parameter>().as_ref(), Ok(&usual));
        }
    }

    #[test]
    fn what_cannot_be_tuned_is_refused() {
        for (wrong, problem) in [
            ("", "there are no parameters"),
            ("rfp_depth, int, 9, 5, 14, 0.5", "expected name"),
            ("rfp_depth, int, 9, 5, 14, 0.5, x", "expected name"),
            ("rfp_debth, int, 9, 5, 14, 0.5, 0.002", "no search constant 'rfp_debth'"),
            ("rfp_depth, float, 9, 5, 14, 0.5, 0.002", "but int"),
            ("rfp_depth, int, 9, 5, 1400, 0.5, 0.002", "within 5 and 14"),
            ("rfp_depth, int, 4, 5, 14, 0.5, 0.002", "not within 5 and 14"),
            ("rfp_depth, int, 9, 5, 14, 0, 0.002", "c_end"),
            ("rfp_depth, int, 9, 5, 14, 0.5, NaN", "r_end"),
            ("factor:pears, float, 1, 0, 2, 0.1, 0.002", "no group of features is called pears"),
            (
                "rfp_depth, int, 9, 5, 14, 0.5, 0.002\nrfp_depth, int, 9, 5, 14, 0.5, 0.002",
                "line 2: rfp_depth comes twice",
            ),
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains(problem), "{wrong}: {error}");
        }
    }

    #[test]
    fn values_reach_the_constants_and_the_weights() {
        let base = Weights::embedded();
        let names = ["rfp_depth, int, 9, 5, 14, 1, 0.002", "factor:material:mg, float, 1, 0.5, 2, 0.1, 0.002"];
        let parameters = parse(&names.join("\n")).unwrap();
        let (params, weights) = apply(&parameters, &[7.0, 1.1], &base).unwrap();
        assert_eq!(params.changed(), [("rfp_depth", 7)]);
        let weights = weights.unwrap();
        // In units of search, whatever the scale of the files.
        let pawn = |weights: &Weights, stage: usize| {
            f64::from(weights.ints()[MATERIAL.at(Piece::Pawn)][stage]) * f64::from(weights.units.scale)
        };
        for (stage, factor) in [(0, 1.1), (1, 1.0)] {
            let share = pawn(&weights, stage) / (factor * pawn(&base, stage));
            assert!((share - 1.0).abs() < 0.01, "{stage}: {share}");
        }
        let constants = apply(&parameters[..1], &[9.0], &base).unwrap();
        assert!(constants.1.is_none() && constants.0 == Params::DEFAULT);
    }

    #[test]
    fn whole_numbers_are_right_on_average_and_in_their_bounds() {
        let parameter: Parameter = "rfp_depth, int, 9, 5, 14, 1, 0.002".parse().unwrap();
        let mean = (0..100).map(|chance| parameter.played(7.3, f64::from(chance) / 100.0)).sum::<f64>() / 100.0;
        assert!((mean - 7.3).abs() < 0.011, "{mean}");
        assert_eq!([parameter.played(-3.0, 0.0), parameter.played(99.0, 0.999)], [5.0, 14.0]);
    }
}
