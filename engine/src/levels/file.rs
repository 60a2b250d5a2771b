//! The move model as it is kept: a file of JSON.
//!
//! Coefficients stand under the names of what they belong to, each with its numbers at the knots of the rating, so that
//! the file can be read by people, and a model whose cues are not this program's is refused by name.

use super::analysis::{DEPTHS, PLIES};
use super::cues::{NAMES, PLAIN, SQUARES};
use super::model::{FIRST_CUE, FIRST_SQUARE, GATES, KNOTS, Level, PARAMETERS, SLOPES};
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The version of the format.
const FORMAT: u32 = 1;
/// The lowest `UCI_Elo`.
pub const LOWEST: u32 = 1000;
/// The highest `UCI_Elo`.
pub const HIGHEST: u32 = 2400;

/// What the shares depended on in version 0.2.0: the first of those they depend on now.
const GATES_OF_0_2_0: usize = 5;

/// The most nodes that a strength may ask for.
const MOST_NODES: u64 = 10_000_000;

/// How the model has to play to have a strength.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// The rating, on the scale of the games learned from, of the players whose moves it plays.
    pub rating: f64,
    /// How much more than such players it shuns losses: a move that loses so many pawns, by the deepest values, is
    /// `exp(care * pawns)` times less likely than the model says. 0 plays like these players.
    pub care: f64,
    /// Nodes of a search whose values of the best moves are taken for the deepest values; 0 takes those of the model.
    #[serde(default)]
    pub nodes: u64,
}

/// A strength and what it is worth in games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Elo measured in games.
    pub elo: f64,
    /// By how much the strength differs from game to game: a standard deviation, in Elo.
    #[serde(default)]
    pub form: f64,
    /// How the model plays then.
    #[serde(flatten)]
    pub strength: Strength,
}

type Knots = [f64; KNOTS.len()];

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    name: String,
    made: serde_json::Value,
    plies: Vec<u32>,
    knots: Vec<f64>,
    calibration: Vec<Calibrated>,
    shares: Vec<Vec<Knots>>,
    slopes: Vec<Vec<Knots>>,
    cues: BTreeMap<String, Knots>,
    /// For each cue, what each depth adds to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    cues_by_depth: BTreeMap<String, Vec<Knots>>,
    squares: Vec<Knots>,
    /// For each depth, the logarithm of how much squares count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    squares_by_depth: Vec<Knots>,
}

/// A move model.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveModel {
    /// What it is called.
    pub name: String,
    /// How it was made.
    pub made: serde_json::Value,
    /// What its strengths are worth, from the weakest on.
    pub calibration: Vec<Calibrated>,
    /// Its parameters: each coefficient at each knot.
    pub parameters: Vec<f64>,
}

impl MoveModel {
    /// The model that is built into the program.
    ///
    /// # Panics
    /// When it does not fit the program, which a test sees to.
    #[must_use]
    pub fn embedded() -> Arc<MoveModel> {
        static EMBEDDED: LazyLock<Arc<MoveModel>> = LazyLock::new(|| {
            let file = include_bytes!("../../../weights/levels.json");
            Arc::new(MoveModel::from_json(file).expect("weights/levels.json fits the program"))
        });
        EMBEDDED.clone()
    }

    /// Reads the model of a file.
    ///
    /// # Errors
    /// Says which file cannot be read, or what is wrong with it.
    pub fn load(path: &Path) -> Result<MoveModel, String> {
        /// Bytes of the largest model.
        const LARGEST: u64 = 4 << 20;
        let name = path.display();
        let text = files::read(path, LARGEST).map_err(|error| format!("cannot read {name}: {error}"))?;
        MoveModel::from_json(&text).map_err(|error| format!("{name}: {error}"))
    }

    /// Reads a model.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn from_json(text: &[u8]) -> Result<MoveModel, String> {
        let mut file: File = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if file.format != FORMAT {
            return Err(format!("format {} where {FORMAT} was expected", file.format));
        }
        if file.plies != PLIES || file.knots != KNOTS {
            return Err(format!("a model of other depths or knots than {PLIES:?} and {KNOTS:?}"));
        }
        let mut parameters = vec![0.0; PARAMETERS];
        let mut put = |coefficient: usize, knots: &Knots| {
            parameters[coefficient * KNOTS.len()..][..KNOTS.len()].copy_from_slice(knots);
        };
        let shape = |name: &str, rows: &[Vec<Knots>], width: usize| {
            let fits = rows.len() == DEPTHS && rows.iter().all(|row| row.len() == width);
            if fits { Ok(()) } else { Err(format!("{name}: expected {DEPTHS} rows of {width} coefficients")) }
        };
        // Models of version 0.2.0, and styles made of them, know fewer.
        for row in file.shares.iter_mut().filter(|row| row.len() == GATES_OF_0_2_0) {
            row.resize(GATES, [0.0; KNOTS.len()]);
        }
        shape("shares", &file.shares, GATES)?;
        shape("slopes", &file.slopes, SLOPES)?;
        for depth in 0..DEPTHS {
            (0..GATES).for_each(|gate| put(Level::gate(depth, gate), &file.shares[depth][gate]));
            (0..SLOPES).for_each(|slope| put(Level::slope(depth, slope), &file.slopes[depth][slope]));
        }
        let mut named = file.cues.keys().chain(file.cues_by_depth.keys());
        if let Some(unknown) = named.find(|name| !NAMES.contains(&name.as_str())) {
            return Err(format!("cues: {unknown} is not known"));
        }
        for (index, &name) in NAMES.iter().enumerate() {
            put(FIRST_CUE + index, file.cues.get(name).ok_or_else(|| format!("cues: {name} is missing"))?);
            // Models of version 0.2.0 have none.
            if let Some(depths) = file.cues_by_depth.get(name) {
                let depths: &[Knots; DEPTHS] = depths.as_slice().try_into().map_err(|_| {
                    format!("cues_by_depth: {name}: expected {DEPTHS} coefficients, not {}", depths.len())
                })?;
                depths.iter().enumerate().for_each(|(depth, knots)| put(Level::depth_cue(depth, index), knots));
            }
        }
        if !matches!(file.squares_by_depth.len(), 0 | DEPTHS) {
            return Err(format!(
                "squares_by_depth: expected {DEPTHS} coefficients, not {}",
                file.squares_by_depth.len()
            ));
        }
        file.squares_by_depth.iter().enumerate().for_each(|(depth, knots)| put(Level::scale(depth), knots));
        if file.squares.len() != SQUARES {
            return Err(format!("squares: expected {SQUARES} coefficients, not {}", file.squares.len()));
        }
        file.squares.iter().enumerate().for_each(|(index, knots)| put(FIRST_SQUARE + index, knots));
        if let Some(bad) = parameters.iter().find(|x| !x.is_finite() || x.abs() > 100.0) {
            return Err(format!("{bad} is no coefficient"));
        }
        let rises = file.calibration.windows(2).all(|pair| pair[0].elo < pair[1].elo);
        let sane = |point: &Calibrated| {
            (0.0..=4000.0).contains(&point.elo)
                && (0.0..=4000.0).contains(&point.strength.rating)
                && (-5.0..=1000.0).contains(&point.strength.care)
                && (0.0..=500.0).contains(&point.form)
                && point.strength.nodes <= MOST_NODES
        };
        if !rises || !file.calibration.iter().all(sane) {
            return Err("calibration: the Elo must rise, and ratings, care, nodes and form be sensible".to_string());
        }
        Ok(MoveModel { name: file.name, made: file.made, calibration: file.calibration, parameters })
    }

    /// The model as a file. Coefficients are rounded to [`round`]'s digits.
    #[must_use]
    pub fn to_json(&self) -> String {
        let knots = |coefficient: usize| -> Knots {
            std::array::from_fn(|knot| round(self.parameters[coefficient * KNOTS.len() + knot]))
        };
        let rows = |width: usize, index: fn(usize, usize) -> usize| {
            (0..DEPTHS).map(|depth| (0..width).map(|column| knots(index(depth, column))).collect()).collect()
        };
        let cues = (0..PLAIN).map(|cue| (NAMES[cue].to_string(), knots(FIRST_CUE + cue))).collect();
        let file = File {
            format: FORMAT,
            name: self.name.clone(),
            made: self.made.clone(),
            plies: PLIES.to_vec(),
            knots: KNOTS.to_vec(),
            calibration: self.calibration.clone(),
            shares: rows(GATES, Level::gate),
            slopes: rows(SLOPES, Level::slope),
            cues,
            cues_by_depth: (0..PLAIN)
                .map(|cue| {
                    let depths = (0..DEPTHS).map(|depth| knots(Level::depth_cue(depth, cue)));
                    (NAMES[cue].to_string(), depths.collect())
                })
                .collect(),
            squares_by_depth: (0..DEPTHS).map(|depth| knots(Level::scale(depth))).collect(),
            squares: (0..SQUARES).map(|square| knots(FIRST_SQUARE + square)).collect(),
        };
        let mut text = serde_json::to_string(&file).expect("numbers and names are JSON");
        text.push('\n');
        text
    }

    /// How much higher a rating of a pool of players (`board`, `fics`, `chess-com`) is on the scale of the model than as it
    /// is written; 0 where the training did not tell it from others.
    #[must_use]
    pub fn offset(&self, pool: &str) -> f64 {
        self.made["settings"][format!("{pool}-offset")].as_f64().unwrap_or(0.0)
    }

    /// How the model plays with this Elo: between what was calibrated linear, and beyond it as at its ends.
    #[must_use]
    pub fn calibrated(&self, elo: f64) -> Calibrated {
        let points = &self.calibration;
        let after = points.iter().position(|point| point.elo >= elo);
        match after {
            _ if points.is_empty() => {
                Calibrated { elo, form: 0.0, strength: Strength { rating: elo, care: 0.0, nodes: 0 } }
            }
            Some(0) => points[0],
            None => points[points.len() - 1],
            Some(after) => {
                let (low, high) = (&points[after - 1], &points[after]);
                let share = (elo - low.elo) / (high.elo - low.elo);
                let mix = |low: f64, high: f64| low + share * (high - low);
                let strength = Strength {
                    rating: mix(low.strength.rating, high.strength.rating),
                    care: mix(low.strength.care, high.strength.care),
                    nodes: mix(low.strength.nodes as f64, high.strength.nodes as f64).round() as u64,
                };
                Calibrated { elo, form: mix(low.form, high.form), strength }
            }
        }
    }

    /// How the model plays with this Elo on a day that is so many standard deviations better than others.
    #[must_use]
    pub fn strength(&self, elo: f64, day: f64) -> Strength {
        self.calibrated(elo + day * self.calibrated(elo).form).strength
    }
}

/// A number with the digits that a file keeps.
#[must_use]
pub fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}
