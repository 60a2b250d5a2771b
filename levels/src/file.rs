//! The file of a move model: JSON.
//!
//! Each coefficient is stored under its name with one number per spline knot. A model with other features is refused,
//! and the error names the feature.

use super::analysis::{DEPTHS, PLIES};
use super::features::{NAMED_FEATURES, NAMES, SQUARE_FEATURES};
use super::model::{FIRST_FEATURE, FIRST_SQUARE_FEATURE, GATES, PARAMETERS, SPLINE_KNOTS, SkillLevel, VALUE_CURVES};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

const FORMAT: u32 = 1;
/// The lowest `UCI_Elo`, on the scale of Lichess.
pub const MIN_ELO: u32 = 400;
/// The highest `UCI_Elo`, on the scale of Lichess.
pub const MAX_ELO: u32 = 2900;

/// Upper bound of [`Strength::nodes`].
const MAX_NODES: u64 = 10_000_000;

/// The settings of a model that give it a strength.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// Rating of the players whose moves are modeled, on the scale of the training games.
    pub rating: f64,
    /// Inverse temperature of a softmax over the deepest values, in 1 / pawns: a move that loses `p` pawns is
    /// `exp(inverse_temperature * p)` times less likely than in the model; 0 plays like those players.
    #[serde(rename = "care")]
    pub inverse_temperature: f64,
    /// Nodes of a search that values the best moves; 0 uses the values of the analysis.
    #[serde(default)]
    pub nodes: u64,
}

/// A strength and its Elo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Elo on the scale of Lichess.
    pub elo: f64,
    /// Standard deviation of the strength from game to game, in Elo.
    #[serde(rename = "form", default)]
    pub elo_deviation: f64,
    /// The settings that play at this Elo.
    #[serde(flatten)]
    pub strength: Strength,
}

type Knots = [f64; SPLINE_KNOTS.len()];

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    name: String,
    made: serde_json::Value,
    plies: [u32; DEPTHS],
    knots: Knots,
    calibration: Vec<Calibrated>,
    shares: [[Knots; GATES]; DEPTHS],
    slopes: [[Knots; VALUE_CURVES]; DEPTHS],
    cues: BTreeMap<String, Knots>,
    /// For each feature, what each depth adds to its coefficient.
    cues_by_depth: BTreeMap<String, [Knots; DEPTHS]>,
    squares: Vec<Knots>,
    /// For each depth, the logarithm of the scale of the square features.
    squares_by_depth: [Knots; DEPTHS],
}

/// A move model.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveModel {
    /// Its name.
    pub name: String,
    /// How it was made.
    pub made: serde_json::Value,
    /// Measured strengths, by rising Elo.
    pub calibration: Vec<Calibrated>,
    /// Each coefficient at each spline knot.
    pub parameters: Vec<f64>,
}

impl MoveModel {
    /// The built-in model.
    ///
    /// # Panics
    /// If it does not fit the program; a test checks that it does.
    pub fn embedded() -> Arc<MoveModel> {
        static EMBEDDED: LazyLock<Arc<MoveModel>> = LazyLock::new(|| {
            let file = include_bytes!("../../weights/levels.json");
            Arc::new(MoveModel::from_json(file).expect("weights/levels.json fits the program"))
        });
        EMBEDDED.clone()
    }

    /// Reads a model from the text of a file.
    pub fn from_json(text: &[u8]) -> Result<MoveModel, String> {
        let file: File = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if file.format != FORMAT {
            return Err(format!("expected format {FORMAT}, found {}", file.format));
        }
        if file.plies != PLIES || file.knots != SPLINE_KNOTS {
            return Err(format!(
                "expected plies {PLIES:?} and knots {SPLINE_KNOTS:?}, found {:?} and {:?}",
                file.plies, file.knots
            ));
        }
        let mut parameters = vec![0.0; PARAMETERS];
        let mut put = |coefficient: usize, knots: &Knots| {
            parameters[coefficient * SPLINE_KNOTS.len()..][..SPLINE_KNOTS.len()].copy_from_slice(knots);
        };
        for depth in 0..DEPTHS {
            (0..GATES).for_each(|gate| put(SkillLevel::gate(depth, gate), &file.shares[depth][gate]));
            (0..VALUE_CURVES).for_each(|slope| put(SkillLevel::value(depth, slope), &file.slopes[depth][slope]));
        }
        let mut named = file.cues.keys().chain(file.cues_by_depth.keys());
        if let Some(unknown) = named.find(|name| !NAMES.contains(&name.as_str())) {
            return Err(format!("cues: unknown name {unknown}"));
        }
        for (index, &name) in NAMES.iter().enumerate() {
            put(FIRST_FEATURE + index, file.cues.get(name).ok_or_else(|| format!("cues: {name} is missing"))?);
            let depths = file.cues_by_depth.get(name).ok_or_else(|| format!("cues_by_depth: {name} is missing"))?;
            depths.iter().enumerate().for_each(|(depth, knots)| put(SkillLevel::depth_feature(depth, index), knots));
        }
        file.squares_by_depth.iter().enumerate().for_each(|(depth, knots)| put(SkillLevel::square_scale(depth), knots));
        if file.squares.len() != SQUARE_FEATURES {
            return Err(format!("squares: expected {SQUARE_FEATURES} coefficients, not {}", file.squares.len()));
        }
        file.squares.iter().enumerate().for_each(|(index, knots)| put(FIRST_SQUARE_FEATURE + index, knots));
        if let Some(bad) = parameters.iter().find(|x| !x.is_finite() || x.abs() > 100.0) {
            return Err(format!("expected coefficients from -100 to 100, found {bad}"));
        }
        let rises = file.calibration.windows(2).all(|pair| pair[0].elo < pair[1].elo);
        let in_bounds = |point: &Calibrated| {
            (0.0..=4000.0).contains(&point.elo)
                && (0.0..=4000.0).contains(&point.strength.rating)
                && (-5.0..=1000.0).contains(&point.strength.inverse_temperature)
                && (0.0..=500.0).contains(&point.elo_deviation)
                && point.strength.nodes <= MAX_NODES
        };
        if !rises || !file.calibration.iter().all(in_bounds) {
            return Err(
                "calibration: Elo must rise, and ratings, care, nodes and form must be within their bounds".to_string()
            );
        }
        Ok(MoveModel { name: file.name, made: file.made, calibration: file.calibration, parameters })
    }

    /// An identifier of all that affects play: eight hexadecimal digits.
    pub fn id(&self) -> String {
        let mut crc = crc32fast::Hasher::new();
        self.parameters.iter().for_each(|parameter| crc.update(&parameter.to_le_bytes()));
        crc.update(&serde_json::to_vec(&self.calibration).expect("a calibration is plain data"));
        format!("{:08x}", crc.finalize())
    }

    /// The text of the model's file, with coefficients rounded by [`round`].
    pub fn to_json(&self) -> String {
        let knots = |coefficient: usize| -> Knots {
            std::array::from_fn(|knot| round(self.parameters[coefficient * SPLINE_KNOTS.len() + knot]))
        };
        let by_depth = |index: &dyn Fn(usize) -> usize| std::array::from_fn(|depth| knots(index(depth)));
        let cues = (0..NAMED_FEATURES).map(|cue| (NAMES[cue].to_string(), knots(FIRST_FEATURE + cue))).collect();
        let file = File {
            format: FORMAT,
            name: self.name.clone(),
            made: self.made.clone(),
            plies: PLIES,
            knots: SPLINE_KNOTS,
            calibration: self.calibration.clone(),
            shares: std::array::from_fn(|depth| std::array::from_fn(|gate| knots(SkillLevel::gate(depth, gate)))),
            slopes: std::array::from_fn(|depth| std::array::from_fn(|curve| knots(SkillLevel::value(depth, curve)))),
            cues,
            cues_by_depth: (0..NAMED_FEATURES)
                .map(|cue| (NAMES[cue].to_string(), by_depth(&|depth| SkillLevel::depth_feature(depth, cue))))
                .collect(),
            squares_by_depth: by_depth(&SkillLevel::square_scale),
            squares: (0..SQUARE_FEATURES).map(|square| knots(FIRST_SQUARE_FEATURE + square)).collect(),
        };
        let mut text = serde_json::to_string(&file).expect("numbers and names are JSON");
        text.push('\n');
        text
    }

    /// The settings for an Elo: interpolated between calibrated ones, and constant beyond them.
    pub fn calibrated(&self, elo: f64) -> Calibrated {
        let points = &self.calibration;
        let (low, high) = match points.iter().position(|point| point.elo >= elo) {
            _ if points.is_empty() => {
                let strength = Strength { rating: elo, inverse_temperature: 0.0, nodes: 0 };
                return Calibrated { elo, elo_deviation: 0.0, strength };
            }
            Some(0) => return points[0],
            None => return points[points.len() - 1],
            Some(after) => (points[after - 1], points[after]),
        };
        let fraction = (elo - low.elo) / (high.elo - low.elo);
        let between = |of: fn(Calibrated) -> f64| of(low) + fraction * (of(high) - of(low));
        let strength = Strength {
            rating: between(|point| point.strength.rating),
            inverse_temperature: between(|point| point.strength.inverse_temperature),
            nodes: between(|point| point.strength.nodes as f64).round() as u64,
        };
        Calibrated { elo, elo_deviation: between(|point| point.elo_deviation), strength }
    }

    /// The settings for an Elo in a game whose strength is `deviations` standard deviations above the mean.
    pub fn strength(&self, elo: f64, deviations: f64) -> Strength {
        self.calibrated(elo + deviations * self.calibrated(elo).elo_deviation).strength
    }
}

/// Rounds to the four digits of a file.
pub fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}
