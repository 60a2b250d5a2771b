//! SPSA parameters: search constants, factors of the weights of groups of features, and interpolation coefficients
//! between such weights and those of another file.
//!
//! The text format is that of OpenBench's SPSA, one parameter per line:
//!
//! ```text
//! name, int, value, min, max, c_end, r_end
//! ```
//!
//! A search constant has the name of its UCI option and is an `int`. A factor is a `float`; its name is `factor:GROUPS`
//! as in `dyad weights average --factor` (a group, a prefix of names and `*`, a family as `@king`, or a feature as
//! `material.1`), with `:mg` or `:eg` if only the middlegame or the endgame weights are multiplied. An interpolation
//! coefficient is a `float` called `toward:GROUPS:FILE` or `toward:GROUPS:mg:FILE`: 0 keeps the weights, 1 takes those
//! of the file. OpenBench does not know factors and coefficients; only this program reads them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use dyad_engine::eval::{Weights, WeightsError};
use dyad_engine::params::{Params, Tunable};
use dyad_formats::error::Error;
use dyad_formats::weights_file;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::fit::averaging::{GroupFactor, Interpolation, changed};

/// Default perturbation of a constant at the end, as a fraction of its range.
const DEFAULT_C_END: f64 = 0.05;
/// Default learning rate at the end, as in OpenBench and Fishtest.
const DEFAULT_R_END: f64 = 0.002;
/// Columns of a line: name, kind, value, min, max, c and r.
const COLUMNS: usize = 7;
/// Prefix of a factor's name.
const FACTOR: &str = "factor:";
/// Prefix of a coefficient's name.
const TOWARD: &str = "toward:";

/// What a parameter changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterTarget {
    /// A search constant, an integer.
    Constant(&'static Tunable),
    /// The weights of some groups.
    Factor {
        /// Groups, named as in [`GroupFactor::groups`].
        groups: String,
        /// Whether middlegame and endgame weights are multiplied.
        phases: [bool; 2],
    },
    /// Interpolation of the weights of some groups toward those of another file.
    Toward {
        /// Groups, named as in [`GroupFactor::groups`].
        groups: String,
        /// Whether middlegame and endgame weights change.
        phases: [bool; 2],
        /// The weights at 1: a file, `default` or `material`.
        file: PathBuf,
    },
}

/// A tuned value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Parameter {
    /// Name in the text format.
    pub name: String,
    /// What it changes.
    pub target: ParameterTarget,
    /// Initial value.
    pub value: f64,
    /// Its smallest value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
    /// Perturbation of the last pair, to either side of the value.
    pub c_end: f64,
    /// Learning rate of the last pair: the change of the value for each game won more than lost, as a fraction of c.
    pub r_end: f64,
}

/// Where the value of a [`Parameter`] may be, and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Its smallest value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
    /// [`Parameter::c_end`].
    pub c_end: f64,
    /// [`Parameter::r_end`].
    pub r_end: f64,
}

impl Parameter {
    /// A factor of the weights of `groups`, for middlegame and endgame weights by `phases`.
    #[must_use]
    pub fn factor(groups: &str, phases: [bool; 2], value: f64, range: Range) -> Parameter {
        let name = format!("{FACTOR}{groups}{}", phase_suffix(phases));
        Parameter::with(name, ParameterTarget::Factor { groups: groups.to_string(), phases }, value, range)
    }

    /// An interpolation coefficient of the weights of `groups`, from the base (0) to the weights in `file` (1).
    #[must_use]
    pub fn toward(groups: &str, phases: [bool; 2], file: &Path, value: f64, range: Range) -> Parameter {
        let name = format!("{TOWARD}{groups}{}:{}", phase_suffix(phases), file.display());
        let target = ParameterTarget::Toward { groups: groups.to_string(), phases, file: file.to_path_buf() };
        Parameter::with(name, target, value, range)
    }

    fn with(name: String, target: ParameterTarget, value: f64, Range { min, max, c_end, r_end }: Range) -> Parameter {
        Parameter { name, target, value, min, max, c_end, r_end }
    }

    /// A search constant with default settings.
    #[must_use]
    pub fn constant(tunable: &'static Tunable) -> Parameter {
        let (min, max) = (f64::from(tunable.min), f64::from(tunable.max));
        Parameter {
            name: tunable.name.to_string(),
            target: ParameterTarget::Constant(tunable),
            value: f64::from(tunable.default),
            min,
            max,
            c_end: (DEFAULT_C_END * (max - min)).max(0.5),
            r_end: DEFAULT_R_END,
        }
    }

    /// The number a player uses for this value: integers are rounded down or up by `chance`, from 0 to 1, so that their
    /// mean is the value.
    #[must_use]
    pub fn played(&self, value: f64, chance: f64) -> f64 {
        let within = value.clamp(self.min, self.max);
        match self.target {
            ParameterTarget::Constant(_) => (within + chance).floor().min(self.max),
            ParameterTarget::Factor { .. } | ParameterTarget::Toward { .. } => within,
        }
    }

    /// The name, with the file name without its folders.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.target {
            ParameterTarget::Toward { file, .. } => {
                let beginning = self.name.strip_suffix(&*file.to_string_lossy()).unwrap_or(&self.name);
                format!("{beginning}{}", file.file_name().unwrap_or_default().display())
            }
            ParameterTarget::Constant(_) | ParameterTarget::Factor { .. } => self.name.clone(),
        }
    }

    /// This parameter with another value.
    #[must_use]
    pub fn at(&self, value: f64) -> Parameter {
        Parameter { value, ..self.clone() }
    }
}

/// How a name says that middlegame or endgame weights alone change.
fn phase_suffix(phases: [bool; 2]) -> &'static str {
    match phases {
        [true, false] => ":mg",
        [false, true] => ":eg",
        _ => "",
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { name, value, min, max, c_end, r_end, .. } = self;
        let kind = if matches!(self.target, ParameterTarget::Constant(_)) { "int" } else { "float" };
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
        // The name may contain commas, in a file name.
        let words: Vec<&str> = text.rsplitn(COLUMNS, ',').map(str::trim).collect();
        let &[ref numbers @ .., kind, name] = &words[..] else { return Err(expected(text)) };
        let numbers: Vec<f64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
        let &[r_end, c_end, max, min, value] = &numbers[..] else { return Err(expected(text)) };
        let target = target(name)?;
        let (wanted, bounds) = match &target {
            ParameterTarget::Constant(tunable) => ("int", [f64::from(tunable.min), f64::from(tunable.max)]),
            ParameterTarget::Factor { .. } | ParameterTarget::Toward { .. } => ("float", [-100.0, 100.0]),
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

fn target(name: &str) -> Result<ParameterTarget, String> {
    let known = |groups: &str| GroupFactor { groups: groups.to_string(), factors: [1.0; 2] }.check();
    if let Some(words) = name.strip_prefix(TOWARD) {
        let (groups, rest) = words.split_once(':').ok_or_else(|| format!("'{name}': expected toward:GROUPS:FILE"))?;
        let (phases, file) = match rest.split_once(':') {
            Some(("mg", file)) => ([true, false], file),
            Some(("eg", file)) => ([false, true], file),
            _ => ([true, true], rest),
        };
        known(groups)?;
        return Ok(ParameterTarget::Toward { groups: groups.to_string(), phases, file: PathBuf::from(file) });
    }
    let Some(groups) = name.strip_prefix(FACTOR) else {
        let constant = Tunable::find(name).map(ParameterTarget::Constant);
        return constant.ok_or_else(|| format!("no search parameter '{name}'"));
    };
    let (groups, phases) = match groups.rsplit_once(':') {
        Some((groups, "mg")) => (groups, [true, false]),
        Some((groups, "eg")) => (groups, [false, true]),
        _ => (groups, [true, true]),
    };
    known(groups)?;
    Ok(ParameterTarget::Factor { groups: groups.to_string(), phases })
}

/// Reads parameters, one per line. Empty lines and lines that start with `#` are skipped.
///
/// # Errors
/// When a line is no parameter, a parameter occurs twice, or no line is one.
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

/// The values by the labels of the parameters.
#[must_use]
pub fn by_label(parameters: &[Parameter], values: &[f64]) -> Map<String, Json> {
    parameters.iter().zip(values).map(|(parameter, &value)| (parameter.label(), value.into())).collect()
}

/// The base of factors and interpolations, and the weights to interpolate toward.
pub struct Base {
    /// The base.
    pub weights: Arc<Weights>,
    goals: Vec<(PathBuf, Arc<Weights>)>,
}

impl Base {
    /// Reads the files that parameters name.
    ///
    /// # Errors
    /// When one cannot be read or contains no weights.
    pub fn new(weights: Arc<Weights>, parameters: &[Parameter]) -> Result<Base, WeightsError> {
        let mut goals: Vec<(PathBuf, Arc<Weights>)> = Vec::new();
        for parameter in parameters {
            if let ParameterTarget::Toward { file, .. } = &parameter.target
                && goals.iter().all(|(known, _)| known != file)
            {
                goals.push((file.clone(), weights_file::named(file)?));
            }
        }
        Ok(Base { weights, goals })
    }

    /// The identities of all these weights.
    #[must_use]
    pub fn id(&self) -> String {
        let ids: Vec<String> = self.goals.iter().map(|(_, weights)| weights.id()).collect();
        [vec![self.weights.id()], ids].concat().join(" ")
    }

    fn goal(&self, file: &Path) -> &Weights {
        self.goals.iter().find(|(known, _)| known == file).map(|(_, goal)| goal).expect("all files were read")
    }
}

/// The search constants and weights of a player for these values; interpolation precedes factors.
///
/// # Errors
/// When the result is not a valid set of weights.
pub fn apply(parameters: &[Parameter], values: &[f64], base: &Base) -> Result<(Params, Option<Weights>), Error> {
    let mut params = Params::DEFAULT;
    let (mut factors, mut steps): (Vec<GroupFactor>, Vec<Interpolation>) = (Vec::new(), Vec::new());
    for (parameter, &value) in parameters.iter().zip(values) {
        match &parameter.target {
            ParameterTarget::Constant(tunable) => {
                params.set(tunable.name, value.round() as i32).map_err(Error::Settings)?
            }
            ParameterTarget::Factor { groups, phases } => {
                let index = factors.iter().position(|factor| factor.groups == *groups).unwrap_or_else(|| {
                    factors.push(GroupFactor { groups: groups.clone(), factors: [1.0; 2] });
                    factors.len() - 1
                });
                for (factor, _) in factors[index].factors.iter_mut().zip(phases).filter(|(_, multiplied)| **multiplied)
                {
                    *factor *= value;
                }
            }
            ParameterTarget::Toward { groups, phases, file } => {
                steps.push(Interpolation { groups, phases: *phases, goal: base.goal(file), coefficient: value });
            }
        }
    }
    let same = factors.is_empty() && steps.is_empty();
    let weights = if same { None } else { Some(changed(&base.weights, &steps, &factors)?) };
    Ok((params, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Piece;
    use dyad_engine::eval::layout::{GROUPS, MATERIAL};
    use dyad_engine::params::TUNABLES;

    #[test]
    fn the_openbench_format_is_read_and_written() {
        let text = "rfp_depth, int, 9, 5, 14, 0.5, 0.002\nfactor:mobility_*:eg, float, 1, 0.5, 1.5, 0.05, 0.002\n";
        let parameters = parse(&format!("# tuned\n\n{text}")).unwrap();
        assert_eq!(format(&parameters, &[9.0, 1.0]), text);
        let expected = ParameterTarget::Factor { groups: "mobility_*".into(), phases: [false, true] };
        assert_eq!(parameters[1].target, expected);
        for tunable in TUNABLES {
            let usual = Parameter::constant(tunable);
            assert_eq!(usual.to_string().parse::<Parameter>().as_ref(), Ok(&usual));
        }
    }

    #[test]
    fn invalid_parameters_are_refused() {
        for (wrong, problem) in [
            ("", "there are no parameters"),
            ("rfp_depth, int, 9, 5, 14, 0.5", "expected name"),
            ("rfp_depth, int, 9, 5, 14, 0.5, x", "expected name"),
            ("rfp_debth, int, 9, 5, 14, 0.5, 0.002", "no search parameter 'rfp_debth'"),
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
        let bases = Base::new(base.clone(), &parameters).unwrap();
        let (params, weights) = apply(&parameters, &[7.0, 1.1], &bases).unwrap();
        assert_eq!(params.changed(), [("rfp_depth", 7)]);
        let weights = weights.unwrap();
        // In search units, independent of the scale of the files.
        let pawn = |weights: &Weights, phase: usize| {
            f64::from(weights.ints()[MATERIAL.at(Piece::Pawn)][phase]) * f64::from(weights.units.scale)
        };
        for (phase, factor) in [(0, 1.1), (1, 1.0)] {
            let share = pawn(&weights, phase) / (factor * pawn(&base, phase));
            assert!((share - 1.0).abs() < 0.01, "{phase}: {share}");
        }
        let constants = apply(&parameters[..1], &[9.0], &bases).unwrap();
        assert!(constants.1.is_none() && constants.0 == Params::DEFAULT);
    }

    /// Coefficient 0.5 from the built-in weights to bare material, for the king's safety in the endgame; then a factor.
    #[test]
    fn coefficients_interpolate_toward_another_file() {
        let folder = dyad_formats::testing::Temporary::folder();
        let file = folder.join("goal.json");
        weights_file::save(&Weights::material(), &file).unwrap();
        let text = format!(
            "toward:@king:eg:{0}, float, 0, -0.5, 1, 0.1, 0.02\nfactor:@king, float, 1, 0, 2, 0.1, 0.02\n",
            file.display()
        );
        let parameters = parse(&text).unwrap();
        assert_eq!(format(&parameters, &[0.0, 1.0]), text);
        let base = Base::new(Weights::embedded(), &parameters).unwrap();
        assert_eq!(base.id(), format!("{} {}", Weights::embedded().id(), Weights::material().id()));
        let ints = |values: &[f64]| apply(&parameters, values, &base).unwrap().1.unwrap().ints().to_vec();
        let before = Weights::embedded().ints().to_vec();
        assert_eq!(ints(&[0.0, 1.0]), before);
        let (half, doubled) = (ints(&[0.5, 1.0]), ints(&[0.5, 2.0]));
        for group in &GROUPS {
            for feature in group.range() {
                let ([mg, eg], king) = (before[feature], group.is_in("@king"));
                let expected = if king { f64::from(eg) / 2.0 } else { f64::from(eg) };
                assert_eq!(half[feature][0], mg, "{}", group.name);
                assert!((f64::from(half[feature][1]) - expected).abs() < 1.0, "{}", group.name);
                let factor = if king { 2 } else { 1 };
                assert_eq!(doubled[feature], half[feature].map(|weight| factor * weight), "{}", group.name);
            }
        }
        let error = |text: &str| text.parse::<Parameter>().unwrap_err();
        assert!(error("toward:@king, float, 0, -1, 1, 0.1, 0.02").contains("toward:GROUPS:FILE"));
        assert_eq!(by_label(&parameters, &[0.5, 2.0])["toward:@king:eg:goal.json"], 0.5);
        assert!(error("toward:@kink:a.json, float, 0, -1, 1, 0.1, 0.02").contains("@kink"));
        let lost: Parameter = "toward:@king:/nowhere.json, float, 0, -1, 1, 0.1, 0.02".parse().unwrap();
        assert!(
            Base::new(Weights::embedded(), &[lost]).is_err_and(|error| error.to_string().contains("/nowhere.json"))
        );
    }

    #[test]
    fn rounded_integers_have_the_right_mean_and_stay_in_bounds() {
        let parameter: Parameter = "rfp_depth, int, 9, 5, 14, 1, 0.002".parse().unwrap();
        let mean = (0..100).map(|chance| parameter.played(7.3, f64::from(chance) / 100.0)).sum::<f64>() / 100.0;
        assert!((mean - 7.3).abs() < 0.011, "{mean}");
        assert_eq!([parameter.played(-3.0, 0.0), parameter.played(99.0, 0.999)], [5.0, 14.0]);
    }
}
