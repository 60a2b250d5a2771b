//! Weights as values: a linear model, the units of its values, and its metadata.
//!
//! [`Weights`] is what a [file](super::file) holds. Its parts know nothing of each other: the numbers
//! ([`Linear`]), scale and WDL model ([`Units`]), and the name and history ([`Meta`]), which change nothing in what an
//! engine plays. Weights are passed about as `Arc<Weights>` and never global, because a training iteration and a
//! match between two sets run in one process.

use super::error::WeightsError;
use super::floats::FloatWeights;
use super::layout::{self, GROUPS};
use super::linear::Linear;
use super::units::Units;
use crate::board::Board;
use serde_json::Value as Json;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Metadata of weights. It changes nothing in how they play.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// What they are called.
    pub name: String,
    /// How they were made: data, settings, seed, method, parent, what was measured.
    pub made: Json,
    /// What a reader of the file should be told: groups an older layout did not have, no content hash.
    pub notes: Vec<String>,
}

/// A set of weights: the model, its units, its history.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Their name, history and notes.
    pub meta: Meta,
    /// From values to those of search, and what they mean.
    pub units: Units,
    /// The numbers.
    pub linear: Linear,
}

impl From<Linear> for Weights {
    /// The model with default units and no history.
    fn from(linear: Linear) -> Weights {
        let meta = Meta { name: "unnamed".to_string(), made: Json::Null, notes: Vec::new() };
        Weights { meta, units: Units::default(), linear }
    }
}

impl From<&Weights> for FloatWeights {
    /// The integers as floats; their gamma is 1 up to what rounding did to the pieces.
    fn from(weights: &Weights) -> FloatWeights {
        let stage = |stage: usize| weights.ints().iter().map(|w| f64::from(w[stage])).collect();
        FloatWeights { mg: stage(0), eg: stage(1) }
    }
}

impl Weights {
    /// Scales and rounds what was trained.
    ///
    /// # Errors
    /// As [`Linear::from_floats`].
    pub fn from_floats(floats: &FloatWeights, made: Json) -> Result<Weights, WeightsError> {
        let mut weights = Weights::from(Linear::from_floats(floats)?);
        weights.meta.made = made;
        Ok(weights)
    }

    /// Compiles integers, by feature.
    ///
    /// # Errors
    /// As [`Linear::from_ints`].
    pub fn from_ints(ints: Vec<[i32; 2]>) -> Result<Weights, WeightsError> {
        Ok(Weights::from(Linear::from_ints(ints)?))
    }

    /// The paper's Table I, scaled: where training starts.
    pub fn material() -> Weights {
        let linear = Linear::from_floats(&FloatWeights::material()).expect("Table I is finite and small");
        let mut weights = Weights::from(linear);
        weights.meta.name = "material".to_string();
        weights
    }

    /// The weights that were built into the program.
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

    /// The weights that people call so: those built in (`default`), the value of the pieces alone (`material`), or those in
    /// a file.
    ///
    /// # Errors
    /// As [`Weights::load`].
    pub fn named(name: &Path) -> Result<Arc<Weights>, WeightsError> {
        match name.to_str() {
            Some("default") => Ok(Weights::embedded()),
            Some("material") => Ok(Arc::new(Weights::material())),
            _ => Weights::load(name).map(Arc::new),
        }
    }

    /// A name for exactly what they play: eight hexadecimal digits, of the numbers and the units and of nothing else.
    ///
    /// It is the content hash of their file. Groups without weights have no part in it, so it
    /// stays when a layout gets another group.
    pub fn id(&self) -> String {
        let groups = GROUPS.iter().map(|group| (group.name, &self.ints()[group.range()]));
        format!("{:08x}", content_hash(&self.units, groups))
    }

    /// Whether an engine plays with the other weights as with these, and says the same of what it finds: the same
    /// integers, scale and WDL model.
    #[must_use]
    pub fn plays_as(&self, other: &Weights) -> bool {
        self.units == other.units && self.ints() == other.ints()
    }

    /// Takes over changed floats, as [`Linear::refresh`].
    ///
    /// # Errors
    /// When some floats cannot become integers.
    pub fn refresh(
        &mut self,
        changed: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
    ) -> Result<(), WeightsError> {
        self.linear.refresh(changed, floats)
    }

    /// Integers of all features, middlegame and endgame.
    pub fn ints(&self) -> &[[i32; 2]] {
        self.linear.ints()
    }

    /// Integers of one group.
    pub fn group(&self, name: &str) -> Option<&[[i32; 2]]> {
        layout::group(name).map(|group| &self.ints()[group.range()])
    }

    /// How much of the middlegame is left, as [`Linear::phase`].
    #[inline]
    pub fn phase(&self, board: &Board) -> i32 {
        self.linear.phase(board)
    }

    /// Middlegame and endgame sums of a position from White's side, as [`Linear::sums`].
    pub fn sums(&self, board: &Board) -> [i32; 2] {
        self.linear.sums(board)
    }

    /// Middlegame and endgame sums of a list of features.
    pub fn dot(&self, features: &[(u32, i32)]) -> [i32; 2] {
        self.linear.dot(features)
    }

    /// The tapered value of middlegame and endgame sums on this board, from White's side.
    #[inline]
    pub fn value(&self, sums: [i32; 2], board: &Board) -> i32 {
        self.linear.value(sums, board)
    }
}

/// CRC-32 of all that decides what weights play: scale, WDL model, and of each group that has any weight its name, its
/// length and its integers. It does not depend on the order of the groups.
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
        let bytes: Vec<u8> = ints.iter().flatten().flat_map(|weight| weight.to_le_bytes()).collect();
        crc.update(&bytes);
    }
    crc.finalize()
}
