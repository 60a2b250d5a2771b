//! Weights as values: the integers, the units of their sums, and metadata.
//!
//! [`Weights`] is what a weights file holds. Weights are passed as `Arc<Weights>` and are never global, because a
//! training and a match between two sets run in one process.

use super::features::visit;
use super::floats::{FloatWeights, LIMIT, WeightsError};
use super::incremental::compiled::Compiled;
use super::layout::{self, GROUPS, LEN, MATERIAL};
use super::units::{FULL_MATERIAL, Units, phase_of_material, taper};
use super::visitor::{Visitor, WeightedSum};
use crate::board::{Board, Color, Piece, material_count};
use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};

mod file;

/// Metadata of weights. It has no effect on the evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// Name of the weights.
    pub name: String,
    /// Provenance: data, settings, seed, method, parent, measurements.
    pub provenance: Json,
    /// Notes for the user of a file: groups that an older layout lacks, a missing content hash.
    pub notes: Vec<String>,
}

/// A set of weights: a middlegame and an endgame integer for each feature, compiled for search.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Name, provenance and notes.
    pub meta: Meta,
    /// Scale and WDL model of the values.
    pub units: Units,
    ints: Vec<[i32; 2]>,
    compiled: Compiled,
    /// The factor from the floats to the integers, if they come from floats.
    gamma: Option<f64>,
}

impl From<&Weights> for FloatWeights {
    /// The integers as floats.
    fn from(weights: &Weights) -> FloatWeights {
        let column = |column: usize| weights.ints().iter().map(|w| f64::from(w[column])).collect();
        FloatWeights { mg: column(0), eg: column(1) }
    }
}

impl Weights {
    /// Scales and rounds the floats of a training.
    ///
    /// # Errors
    /// If there are not [`LEN`] floats, or some do not fit into integers.
    pub fn from_floats(floats: &FloatWeights, provenance: Json) -> Result<Weights, WeightsError> {
        if let Some(&found) = [floats.mg.len(), floats.eg.len()].iter().find(|&&len| len != LEN) {
            return Err(wrong_len(found));
        }
        let gamma = floats.gamma()?;
        let ints = (0..LEN).map(|feature| floats.integers(feature, gamma)).collect::<Result<_, _>>()?;
        let mut weights = Weights::from_ints(ints)?;
        weights.gamma = Some(gamma);
        weights.meta.provenance = provenance;
        Ok(weights)
    }

    /// Compiles integers, by feature, with default units and no provenance.
    ///
    /// # Errors
    /// If there are not [`LEN`] integers, or some do not fit into the fast tables.
    pub fn from_ints(ints: Vec<[i32; 2]>) -> Result<Weights, WeightsError> {
        if ints.len() != LEN {
            return Err(wrong_len(ints.len()));
        }
        for (feature, weight) in ints.iter().enumerate() {
            if let Some(column) = weight.iter().position(|weight| weight.abs() > LIMIT) {
                return Err(WeightsError::at_weight(feature, column, f64::from(weight[column])));
            }
        }
        let meta = Meta { name: "unnamed".to_string(), provenance: Json::Null, notes: Vec::new() };
        Ok(Weights { meta, units: Units::default(), compiled: Compiled::new(&ints)?, gamma: None, ints })
    }

    /// The piece values of the paper's Table I, scaled: the start of a training from scratch.
    pub fn material() -> Weights {
        let mut weights =
            Weights::from_floats(&FloatWeights::material(), Json::Null).expect("Table I is finite and small");
        weights.meta.name = "material".to_string();
        weights
    }

    /// The weights that are built into the program.
    pub fn embedded() -> Arc<Weights> {
        static EMBEDDED: LazyLock<Arc<Weights>> = LazyLock::new(|| {
            let file = include_bytes!(env!("DYAD_EVALFILE_PATH"));
            match Weights::from_json(file) {
                Ok(weights) => Arc::new(weights),
                Err(error) => panic!("the weights built in from {}: {error}", env!("DYAD_EVALFILE_PATH")),
            }
        });
        EMBEDDED.clone()
    }

    /// An identifier of all that affects play: eight hexadecimal digits, the content hash of integers and units.
    ///
    /// Groups without weights are skipped, so the identifier stays when a layout gains a group.
    pub fn id(&self) -> String {
        let groups = GROUPS.iter().map(|group| (group.stored_name, &self.ints[group.range()]));
        format!("{:08x}", content_hash(&self.units, groups))
    }

    /// Whether an engine plays the same moves with the same scores: integers, scale and WDL model are equal.
    pub fn plays_as(&self, other: &Weights) -> bool {
        self.units == other.units && self.ints == other.ints
    }

    /// Updates the weights to floats that differ from the previous ones in the `changed` features only. Equivalent to
    /// [`Weights::from_floats`] and much faster.
    ///
    /// A change of the pieces' middlegame weights changes gamma, so that all features are rounded again. But only a few
    /// integers change, and only their table entries are compiled. After an error the weights must not be used.
    ///
    /// # Errors
    /// If some floats do not fit into integers.
    pub fn refresh(
        &mut self,
        changed: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
    ) -> Result<(), WeightsError> {
        let gamma = floats.gamma()?;
        let changed = match self.gamma == Some(gamma) {
            true => self.round(changed, floats, gamma)?,
            false => self.round(0..LEN, floats, gamma)?,
        };
        self.gamma = Some(gamma);
        self.compiled.update(&changed, &self.ints)
    }

    /// Sets the integers of some features to the rounded floats, and lists those that change.
    fn round(
        &mut self,
        features: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
        gamma: f64,
    ) -> Result<Vec<usize>, WeightsError> {
        let mut changed = Vec::new();
        for feature in features {
            let ints = floats.integers(feature, gamma)?;
            if self.ints[feature] != ints {
                self.ints[feature] = ints;
                changed.push(feature);
            }
        }
        Ok(changed)
    }

    /// Integers of all features, middlegame and endgame.
    pub fn ints(&self) -> &[[i32; 2]] {
        &self.ints
    }

    /// Integers of one group.
    pub fn group(&self, name: &str) -> Option<&[[i32; 2]]> {
        layout::group(name).map(|group| &self.ints[group.range()])
    }

    /// The compiled integers.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// A search value in pawns, the unit of explanations and reports: the pieces of one side, without its pawns, count
    /// 31 as players count them (3 for a knight or bishop, 5 for a rook, 9 for the queen).
    pub fn pawns(&self, value: f64) -> f64 {
        let pieces = [(Piece::Knight, 2), (Piece::Bishop, 2), (Piece::Rook, 2), (Piece::Queen, 1)];
        let sum = pieces.iter().map(|&(piece, count)| count * self.ints[MATERIAL.at(piece)][0]).sum();
        let sum = self.units.scaled(sum);
        // Weights that give the pieces no value have no unit of their own.
        let sum = if sum > 0 { sum } else { FULL_MATERIAL / 2 };
        31.0 * value / f64::from(sum)
    }

    /// The game phase, from 0 (endgame) to [`PHASE_MAX`](super::PHASE_MAX) (middlegame).
    pub fn phase(&self, board: &Board) -> i32 {
        let mut non_pawn_material = 0;
        for piece in [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
            let count = |color| material_count(board.keys().material, color, piece) as i32;
            let value = self.ints[MATERIAL.at(piece)][0];
            non_pawn_material += value * (count(Color::White) + count(Color::Black));
        }
        phase_of_material(non_pawn_material)
    }

    /// Middlegame and endgame sums of a position from White's point of view, computed from scratch. Search gets the
    /// same sums from an [`Evaluator`](super::Evaluator).
    pub fn sums(&self, board: &Board) -> [i32; 2] {
        let mut sum = WeightedSum::new(&self.ints);
        visit(board, &mut sum);
        sum.sums
    }

    /// Middlegame and endgame sums of a list of features and counts.
    pub fn dot(&self, features: &[(u32, i32)]) -> [i32; 2] {
        let mut sum = WeightedSum::new(&self.ints);
        features.iter().for_each(|&(feature, count)| sum.add(feature as usize, count));
        sum.sums
    }

    /// The tapered value of middlegame and endgame sums in this position, from White's point of view.
    pub fn value(&self, [mg, eg]: [i32; 2], board: &Board) -> i32 {
        taper(mg, eg, self.phase(board))
    }
}

fn wrong_len(found: usize) -> WeightsError {
    WeightsError::new(format!("there are {found} weights for {LEN} features"))
}

/// CRC-32 of everything that affects play: scale, WDL model, and name, length and integers of each group that has a
/// weight. The order of the groups does not matter.
fn content_hash<'a>(units: &Units, groups: impl Iterator<Item = (&'a str, &'a [[i32; 2]])>) -> u32 {
    let mut groups: Vec<_> = groups.filter(|(_, ints)| ints.iter().any(|weight| *weight != [0; 2])).collect();
    groups.sort_unstable_by_key(|(name, _)| *name);
    let mut crc = crc32fast::Hasher::new();
    let mut add = |numbers: &[i32]| numbers.iter().for_each(|number| crc.update(&number.to_le_bytes()));
    add(&[units.scale]);
    add(&units.win_rate.a);
    add(&units.win_rate.b);
    for (name, ints) in groups {
        crc.update(format!("{name} {}\n", ints.len()).as_bytes());
        let bytes: Vec<u8> = ints.as_flattened().iter().flat_map(|weight| weight.to_le_bytes()).collect();
        crc.update(&bytes);
    }
    crc.finalize()
}
