//! Averages and interpolation of weights.
//!
//! The weights of a perceptron carry noise, and trainings on other positions or by other methods carry other noise: the
//! mean of several sets keeps what they agree on, and the noise shrinks. Since an evaluation is linear in its weights,
//! the mean of the weights is the mean of the evaluations.
//!
//! Sets may have different units; their scales convert them to search units before they are added.

use crate::fit::calibration::factor;
use dyad_engine::eval::layout::{self, Group, LEN, MATERIAL};
use dyad_engine::eval::units::{MAX_SCALE, SCALE_ONE};
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::error::Error;
use dyad_formats::hash;
use serde_json::Value as Json;
use std::ops::Range;
use std::str::FromStr;

/// The weighted mean of sets of weights, in search units. The coefficients need not sum to 1, but to more than 0.
#[must_use]
pub fn mean(sets: &[(&Weights, f64)]) -> FloatWeights {
    let total: f64 = sets.iter().map(|(_, coefficient)| coefficient).sum();
    let mut mean = FloatWeights::zeros();
    for (weights, coefficient) in sets {
        let factor = coefficient / total * factor(weights);
        for (feature, &[mg, eg]) in weights.ints().iter().enumerate().take(LEN) {
            mean.mg[feature] += factor * f64::from(mg);
            mean.eg[feature] += factor * f64::from(eg);
        }
    }
    mean
}

/// A factor for the weights of some groups.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFactor {
    /// The name of a group, a prefix of names and `*`, `@` and the name of a family, or a group and the index of one of
    /// its features from 0, as in `material.1`.
    pub groups: String,
    /// Factors of the middlegame and the endgame weights.
    pub factors: [f64; 2],
}

impl FromStr for GroupFactor {
    type Err = String;

    /// Reads `GROUP=FACTOR` or `GROUP=MIDDLEGAME:ENDGAME`.
    fn from_str(text: &str) -> Result<GroupFactor, String> {
        let (groups, factors) = text.split_once('=').ok_or("expected GROUP=FACTOR or GROUP=MIDDLEGAME:ENDGAME")?;
        let (mg, eg) = factors.split_once(':').unwrap_or((factors, factors));
        let number = |text: &str| {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("'{text}' is not a number"))
        };
        Ok(GroupFactor { groups: groups.to_string(), factors: [number(mg)?, number(eg)?] })
    }
}

impl GroupFactor {
    /// Checks that the factor names a group.
    ///
    /// # Errors
    /// When it names none.
    pub fn check(&self) -> Result<(), String> {
        features(&self.groups).map(|_| ())
    }

    /// Sort key of the factors of one group: a longer name is more specific, and the full name is the most specific. A
    /// family is more specific than `*` and less than any name.
    fn precision(&self) -> (usize, bool) {
        if self.groups.starts_with('@') {
            return (0, true);
        }
        let beginning = self.groups.strip_suffix('*');
        (beginning.unwrap_or(&self.groups).len(), beginning.is_none())
    }
}

/// Multiplies the weights of groups by their factors. Of several factors for a group the most specific name applies, so
/// that `*=2,pairs=1` doubles all but the 2-tuples.
///
/// # Errors
/// When a factor names no group, or two have the same name.
pub fn multiply(weights: &mut FloatWeights, factors: &[GroupFactor]) -> Result<(), String> {
    for (index, factor) in factors.iter().enumerate() {
        factor.check()?;
        if factors[..index].iter().any(|other| other.groups == factor.groups) {
            return Err(format!("{} has two factors", factor.groups));
        }
    }
    let mut by_precision: Vec<&GroupFactor> = factors.iter().collect();
    by_precision.sort_by_key(|factor| factor.precision());
    let mut of_feature = vec![[1.0; 2]; LEN];
    for factor in by_precision {
        for range in features(&factor.groups)? {
            of_feature[range].fill(factor.factors);
        }
    }
    for (feature, [mg, eg]) in of_feature.into_iter().enumerate() {
        weights.mg[feature] *= mg;
        weights.eg[feature] *= eg;
    }
    Ok(())
}

/// The features of a selection: those of groups, or a single one.
fn features(selection: &str) -> Result<Vec<Range<usize>>, String> {
    let Some((name, number)) = selection.split_once('.') else {
        return Ok(layout::select(selection)?.into_iter().map(Group::range).collect());
    };
    let group = layout::group(name).ok_or_else(|| format!("no group of features is called {name}"))?;
    let known = number.parse().ok().filter(|&number: &usize| number < group.len);
    let number = known.ok_or_else(|| format!("{name} has the features 0 to {}, not '{number}'", group.len - 1))?;
    let one = group.nth(number)..group.nth(number) + 1;
    Ok(vec![one])
}

/// A number this close to an integer is treated as that integer.
const NEARLY_WHOLE: f64 = 1e-6;

/// The interpolation of `base` toward `goal`, in search units: coefficient 0 keeps the base, 1 gives the goal.
///
/// Changes are often small compared with the integers that the weights become, and rounding to the nearest would lose
/// them. So changed weights of all groups but material are rounded here, up or down by a pseudo-random draw that is
/// fixed for each weight: many small changes sum to what was asked for. (Material is excluded because it defines the
/// unit.)
///
/// # Errors
/// When the pieces would have no value.
pub fn interpolate(base: &Weights, goal: &Weights, coefficient: f64) -> Result<FloatWeights, Error> {
    let (mut to, goal) = (mean(&[(base, 1.0)]), mean(&[(goal, 1.0)]));
    if coefficient == 0.0 {
        return Ok(to);
    }
    for (to, goal) in [(&mut to.mg, &goal.mg), (&mut to.eg, &goal.eg)] {
        to.iter_mut().zip(goal).for_each(|(to, goal)| *to += coefficient * (goal - *to));
    }
    let gamma = to.gamma()?;
    for (phase, weights) in [&mut to.mg, &mut to.eg].into_iter().enumerate() {
        for feature in (0..LEN).filter(|feature| !MATERIAL.range().contains(feature)) {
            let (wanted, draw) = (gamma * weights[feature], hash::unit(hash::fold(phase as u64 + 1, feature as u64)));
            let whole = (wanted - wanted.round()).abs() < NEARLY_WHOLE;
            weights[feature] = if whole { wanted.round() } else { (wanted + draw).floor() } / gamma;
        }
    }
    Ok(to)
}

/// Weights in search units as a set for the engine: the scale compensates the factor of the integers.
///
/// # Errors
/// When a weight is not a number, or the scale would be out of bounds.
pub fn in_units_of_search(mean: &FloatWeights, provenance: Json) -> Result<Weights, Error> {
    let mut weights = Weights::from_floats(mean, provenance)?;
    let gamma = mean.gamma()?;
    let scale = (f64::from(SCALE_ONE) / gamma).round();
    if !(1.0..=f64::from(MAX_SCALE)).contains(&scale) {
        let problem = format!("the factors bring the scale to {scale}/1024, which must be 1 to {MAX_SCALE}");
        return Err(Error::Settings(problem));
    }
    weights.units.scale = scale as i32;
    Ok(weights)
}

/// Weights in search units as a set with the name and the win-rate model of `base`.
///
/// # Errors
/// When they are not a valid set of weights.
pub fn in_units_of(base: &Weights, floats: &FloatWeights) -> Result<Weights, Error> {
    let mut weights = in_units_of_search(floats, Json::Null)?;
    weights.meta.name.clone_from(&base.meta.name);
    weights.units.win_rate = base.units.win_rate;
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::eval::layout::{GROUPS, MATERIAL};

    #[test]
    fn the_mean_respects_coefficients_and_scales() {
        let material = Weights::material();
        let mut floats = FloatWeights::material();
        floats.mg[MATERIAL.nth(0)] += 100.0;
        let mut other = Weights::from_floats(&floats, Json::Null).unwrap();
        // Half the scale: each unit has half the value.
        other.units.scale = material.units.scale / 2;
        let mean = mean(&[(&material, 1.0), (&other, 3.0)]);
        let pawn = |weights: &Weights| f64::from(weights.ints()[MATERIAL.nth(0)][0]);
        let expected = factor(&material) * (pawn(&material) / 4.0 + pawn(&other) * 3.0 / 8.0);
        assert!((mean.mg[MATERIAL.nth(0)] - expected).abs() < 1e-9);
    }

    #[test]
    fn factors_change_only_the_groups_they_name() {
        let ones = || FloatWeights { mg: vec![1.0; LEN], eg: vec![1.0; LEN] };
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<GroupFactor>>();
        let mut weights = ones();
        multiply(&mut weights, &parse(&["mobility_rook=4", "mobility_*=0.5:2"])).unwrap();
        for group in &GROUPS {
            let expected = match group.name {
                "mobility_rook" => [4.0, 4.0],
                name if name.starts_with("mobility_") => [0.5, 2.0],
                _ => [1.0, 1.0],
            };
            assert!(
                group.range().all(|feature| [weights.mg[feature], weights.eg[feature]] == expected),
                "{}",
                group.name
            );
        }
        let mut weights = ones();
        multiply(&mut weights, &parse(&["pairs=0.25", "pairs*=3", "pair*=2"])).unwrap();
        let changed = weights.mg.iter().zip(&weights.eg).filter(|&weight| weight == (&0.25, &0.25)).count();
        assert_eq!(changed, GROUPS.iter().find(|group| group.name == "pairs").unwrap().len);
        let mut weights = ones();
        multiply(&mut weights, &parse(&["tempo=3", "@space=2", "*=0.5"])).unwrap();
        for group in &GROUPS {
            let expected = match group.name {
                "tempo" => 3.0,
                "space" | "center_control" => 2.0,
                _ => 0.5,
            };
            assert!(group.range().all(|feature| weights.eg[feature] == expected), "{}", group.name);
        }
        let mut weights = ones();
        multiply(&mut weights, &parse(&["material.1=4", "material=2"])).unwrap();
        let material = &weights.mg[..=MATERIAL.range().end];
        assert_eq!(material, [[2.0, 4.0].as_slice(), &[2.0; 4], &[1.0]].concat());
        for (wrong, expected) in [
            (&["pears=2"][..], "no group of features is called pears; there are material, "),
            (&["@tempo=2"][..], "no group of features is called @tempo; there are material, "),
            (&["pairs=2", "pairs=3"], "pairs has two factors"),
            (&["pears.0=2"], "no group of features is called pears"),
            (&["tempo.2=2"], "tempo has the features 0 to 1, not '2'"),
            (&["tempo.x=2"], "tempo has the features 0 to 1, not 'x'"),
        ] {
            let error = multiply(&mut ones(), &parse(wrong)).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        for wrong in ["pairs", "pairs=", "pairs=1:x", "pairs=inf"] {
            assert!(wrong.parse::<GroupFactor>().is_err(), "{wrong}");
        }
    }

    /// Small changes sum up although the integers cannot show a single one, and coefficient 1 gives the goal.
    #[test]
    fn interpolation_approaches_the_goal() {
        let base = Weights::material();
        let mut floats = FloatWeights::material();
        floats
            .mg
            .iter_mut()
            .zip(&mut floats.eg)
            .skip(MATERIAL.range().end)
            .for_each(|(mg, eg)| (*mg, *eg) = (3.0, -2.0));
        let goal = Weights::from_floats(&floats, Json::Null).unwrap();
        let interpolated = |coefficient| in_units_of(&base, &interpolate(&base, &goal, coefficient).unwrap()).unwrap();
        assert_eq!(interpolated(1.0).ints(), goal.ints());
        assert_eq!(interpolated(0.0).ints(), base.ints());
        for coefficient in [0.1, -0.1] {
            let weights = interpolated(coefficient);
            let others = &weights.ints()[MATERIAL.range().end..];
            for (phase, change) in [3.0, -2.0].into_iter().enumerate() {
                let sum: i32 = others.iter().map(|weight| weight[phase]).sum();
                let mean = f64::from(sum) / others.len() as f64;
                assert!((mean - coefficient * change).abs() < 0.01, "{coefficient}: {mean}");
            }
        }
    }

    #[test]
    fn the_mean_of_one_set_is_that_set() {
        let material = Weights::material();
        let again = Weights::from_floats(&mean(&[(&material, 0.3)]), Json::Null).unwrap();
        assert_eq!(again.ints(), material.ints());
    }
}
