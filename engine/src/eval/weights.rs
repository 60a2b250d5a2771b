//! Weights as values: the trainer's floats, and the integers that search adds up.
//!
//! The trainer keeps every weight as a float. Search needs integers, and the stage of the game is counted
//! with the opening weights of the pieces, so the floats are scaled until a full set of pieces is worth a
//! constant and then rounded (Tseng, Chen and Wu, section 3.3):
//! integer = round(gamma w), gamma = 16488 / (2 queen + 4 rook + 4 bishop + 4 knight). The integers are
//! what training evaluates with, what the file holds and what search plays with, so the three cannot differ.
//!
//! [`Weights`] also holds what is compiled from the integers. They are passed about as `Arc<Weights>` and
//! never global, because a training iteration and a match between two sets run in one process.

use super::error::{LIMIT, Stage, WeightsError};
use super::layout::{self, LEN, LOCATION, MATERIAL, PAIRS, TERMS_LEN};
use super::placement::visit;
use super::tables::{Rows, Squares};
use super::taper::{FULL_MATERIAL, phase_of_material, taper};
use super::visitor::{TwoSided, Visitor};
use super::win_rate::WinRate;
use crate::board::{Board, Color, PIECE_VALUES, Piece};
use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};

/// [`Weights::scale`] that leaves values as they are.
pub const SCALE_ONE: i32 = 1024;
/// The largest scale: values a thousand times as large as the standard ones.
pub const MAX_SCALE: i32 = 1_000_000;

/// The trainer's weights, one opening and one endgame weight for each feature.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatWeights {
    /// Opening weights.
    pub mg: Vec<f64>,
    /// Endgame weights.
    pub eg: Vec<f64>,
}

impl FloatWeights {
    /// All zero.
    pub fn zeros() -> FloatWeights {
        FloatWeights { mg: vec![0.0; LEN], eg: vec![0.0; LEN] }
    }

    /// Material as in the paper's Table I, all else zero: where training starts.
    pub fn material() -> FloatWeights {
        let mut weights = FloatWeights::zeros();
        for (piece, value) in PIECE_VALUES.into_iter().enumerate().filter(|(piece, _)| *piece != Piece::King.to_index())
        {
            weights.mg[MATERIAL.nth(piece)] = f64::from(value);
            weights.eg[MATERIAL.nth(piece)] = f64::from(value);
        }
        weights
    }

    /// Opening and endgame sums of a list of features.
    pub fn dot(&self, features: &[(u32, i32)]) -> [f64; 2] {
        features.iter().fold([0.0; 2], |[mg, eg], &(feature, count)| {
            let (feature, count) = (feature as usize, f64::from(count));
            [mg + count * self.mg[feature], eg + count * self.eg[feature]]
        })
    }

    /// The factor that makes a full set of pieces worth 16488.
    pub fn gamma(&self) -> Result<f64, WeightsError> {
        let opening = |piece: Piece| self.mg[MATERIAL.at(piece)];
        let full = 2.0 * opening(Piece::Queen)
            + 4.0 * (opening(Piece::Rook) + opening(Piece::Bishop) + opening(Piece::Knight));
        let gamma = f64::from(FULL_MATERIAL) / full;
        if full > 0.0 && gamma.is_finite() { Ok(gamma) } else { Err(WeightsError::Material(full)) }
    }

    fn integers(&self, feature: usize, gamma: f64) -> Result<[i32; 2], WeightsError> {
        let mg = rounded(self.mg[feature] * gamma);
        let eg = rounded(self.eg[feature] * gamma);
        match (mg, eg) {
            (Some(mg), Some(eg)) => Ok([mg, eg]),
            (None, _) => Err(refused(feature, Stage::Middlegame, self.mg[feature] * gamma)),
            (_, None) => Err(refused(feature, Stage::Endgame, self.eg[feature] * gamma)),
        }
    }
}

impl From<&Weights> for FloatWeights {
    /// The integers as floats; their gamma is 1 up to what rounding did to the pieces.
    fn from(weights: &Weights) -> FloatWeights {
        let stage = |stage: usize| weights.ints.iter().map(|w| f64::from(w[stage])).collect();
        FloatWeights { mg: stage(0), eg: stage(1) }
    }
}

/// Integer weights, ready to evaluate with.
#[derive(Clone, Debug)]
pub struct Weights {
    /// What they are called.
    pub name: String,
    /// What search multiplies the evaluation by, in 1/1024, so that values are in standard units.
    pub scale: i32,
    /// What a value means.
    pub win_rate: WinRate,
    /// How they were made: data, settings, seed, method, parent, what was measured.
    pub made: Json,
    /// What a reader of the file should be told: groups an older layout did not have.
    pub notes: Vec<String>,
    ints: Vec<[i32; 2]>,
    packed: Packed,
    squares: Squares,
    rows: Rows,
    has_terms: bool,
    has_pairs: bool,
    gamma: Option<f64>,
}

impl Weights {
    /// Scales and rounds what was trained.
    pub fn from_floats(floats: &FloatWeights, made: Json) -> Result<Weights, WeightsError> {
        if let Some(&found) = [floats.mg.len(), floats.eg.len()].iter().find(|&&len| len != LEN) {
            return Err(WeightsError::Length { found, expected: LEN });
        }
        let gamma = floats.gamma()?;
        let ints = (0..LEN).map(|feature| floats.integers(feature, gamma)).collect::<Result<_, _>>()?;
        let weights = Weights::from_ints(ints)?;
        Ok(Weights { made, gamma: Some(gamma), ..weights })
    }

    /// Compiles integers, by feature.
    pub fn from_ints(ints: Vec<[i32; 2]>) -> Result<Weights, WeightsError> {
        if ints.len() != LEN {
            return Err(WeightsError::Length { found: ints.len(), expected: LEN });
        }
        for (feature, weight) in ints.iter().enumerate() {
            for stage in [0, 1] {
                if weight[stage].abs() > LIMIT {
                    return Err(refused(feature, Stage::ALL[stage], f64::from(weight[stage])));
                }
            }
        }
        let has_pairs = any(&ints[PAIRS.range()]);
        Ok(Weights {
            name: "unnamed".to_string(),
            scale: SCALE_ONE,
            win_rate: WinRate::default(),
            made: Json::Null,
            notes: Vec::new(),
            packed: packed(&ints),
            squares: Squares::compile(&ints),
            rows: if has_pairs { Rows::compile(&ints)? } else { Rows::default() },
            has_terms: any(&ints[LOCATION.range().end..TERMS_LEN]),
            has_pairs,
            gamma: None,
            ints,
        })
    }

    /// The paper's Table I, scaled: where training starts.
    pub fn material() -> Weights {
        let weights = Weights::from_floats(&FloatWeights::material(), Json::Null).expect("Table I is finite and small");
        Weights { name: "material".to_string(), ..weights }
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

    /// Takes over floats of which only the `changed` features differ from those last taken over, at a
    /// fraction of the cost of [`Weights::from_floats`] and with the same result.
    ///
    /// When the pieces' opening weights have changed, so has gamma, and all features are rounded anew;
    /// but few of the small integers move, and only their table entries are compiled. After an error the
    /// weights are a mixture and must not be used.
    pub fn refresh(
        &mut self,
        changed: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
    ) -> Result<(), WeightsError> {
        let gamma = floats.gamma()?;
        let mut touched = Vec::new();
        if self.gamma == Some(gamma) {
            self.round(changed, floats, gamma, &mut touched)?;
        } else {
            self.round(0..LEN, floats, gamma, &mut touched)?;
        }
        self.gamma = Some(gamma);
        self.recompile(&touched)
    }

    /// Integers of all features, opening and endgame.
    pub fn ints(&self) -> &[[i32; 2]] {
        &self.ints
    }

    /// Integers of one group.
    pub fn group(&self, name: &str) -> Option<&[[i32; 2]]> {
        layout::group(name).map(|group| &self.ints[group.range()])
    }

    /// Integers of all features before the 2-tuples, packed for [`Total`].
    #[inline(always)]
    pub fn packed(&self) -> &[i64] {
        &self.packed[..TERMS_LEN]
    }

    /// Whether anything of the whole board has a weight: features that are neither placement.
    #[inline(always)]
    pub fn has_terms(&self) -> bool {
        self.has_terms
    }

    /// Whether any 2-tuple has a weight.
    #[inline(always)]
    pub fn has_pairs(&self) -> bool {
        self.has_pairs
    }

    /// Material and location by piece-square.
    #[inline(always)]
    pub fn squares(&self) -> &Squares {
        &self.squares
    }

    /// Compiled 2-tuples; empty without any.
    #[inline(always)]
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Whether an engine plays with the other weights as with these, and says the same of what it finds: the same
    /// integers, scale and win rate.
    #[must_use]
    pub fn plays_as(&self, other: &Weights) -> bool {
        self.scale == other.scale && self.win_rate == other.win_rate && self.ints == other.ints
    }

    /// A name for exactly these integers.
    pub fn id(&self) -> String {
        let mut crc = crc32fast::Hasher::new();
        for chunk in self.ints.chunks(1024) {
            let bytes: Vec<u8> = chunk.iter().flatten().flat_map(|weight| weight.to_le_bytes()).collect();
            crc.update(&bytes);
        }
        format!("{:08x}", crc.finalize())
    }

    /// How much of the opening is left, in parts of [`PHASE_MAX`](super::taper::PHASE_MAX).
    #[inline]
    pub fn phase(&self, board: &Board) -> i32 {
        let counts = board.material_key();
        let mut non_pawn_material = 0;
        for piece in [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
            let count = |color: Color| (counts >> (4 * (6 * color as u32 + piece as u32)) & 15) as i32;
            let value = self.ints[MATERIAL.at(piece)][0];
            non_pawn_material += value * (count(Color::White) + count(Color::Black));
        }
        phase_of_material(non_pawn_material)
    }

    /// Opening and endgame sums of a position from White's side, feature by feature. Slow: search keeps
    /// the same sums in an [`Evaluator`](super::Evaluator).
    pub fn sums(&self, board: &Board) -> [i32; 2] {
        let mut sum = Plain { ints: &self.ints, sum: [0; 2] };
        visit(board, &mut sum);
        sum.sum
    }

    /// Opening and endgame sums of a list of features.
    pub fn dot(&self, features: &[(u32, i32)]) -> [i32; 2] {
        let mut sum = Plain { ints: &self.ints, sum: [0; 2] };
        for &(feature, count) in features {
            sum.add(feature as usize, count);
        }
        sum.sum
    }

    /// The tapered value of opening and endgame sums on this board, from White's side.
    #[inline]
    pub fn value(&self, [mg, eg]: [i32; 2], board: &Board) -> i32 {
        taper(mg, eg, self.phase(board))
    }

    /// An evaluation in the standard units of search.
    #[inline]
    pub fn scaled(&self, value: i32) -> i32 {
        // Far beyond all values of a search, and small enough to be multiplied once more.
        const LARGEST: i64 = 1 << 24;
        (i64::from(value) * i64::from(self.scale) / i64::from(SCALE_ONE)).clamp(-LARGEST, LARGEST) as i32
    }

    /// Chances to win, draw and lose, in thousandths, of a search value at a phase.
    pub fn win_rate(&self, value: i32, phase: i32) -> [u32; 3] {
        self.win_rate.chances(value, phase)
    }

    /// A search value in centipawns: +100 wins half of the games at this phase.
    pub fn centipawns(&self, value: i32, phase: i32) -> i32 {
        self.win_rate.centipawns(value, phase)
    }

    fn round(
        &mut self,
        features: impl IntoIterator<Item = usize>,
        floats: &FloatWeights,
        gamma: f64,
        touched: &mut Vec<usize>,
    ) -> Result<(), WeightsError> {
        for feature in features {
            let ints = floats.integers(feature, gamma)?;
            if self.ints[feature] != ints {
                self.ints[feature] = ints;
                touched.push(feature);
            }
        }
        Ok(())
    }

    fn recompile(&mut self, touched: &[usize]) -> Result<(), WeightsError> {
        /// With more pairs than this it is faster to compile all rows in order.
        const MANY: usize = PAIRS.len / 4;
        let mut pairs = 0;
        let mut placed = false;
        for &feature in touched {
            if feature >= PAIRS.start {
                pairs += 1;
            } else {
                self.packed[feature] = pack(self.ints[feature]);
                placed |= feature < LOCATION.range().end;
                self.has_terms |= feature >= LOCATION.range().end;
            }
        }
        if placed {
            self.squares = Squares::compile(&self.ints);
        }
        if pairs > MANY || pairs > 0 && self.rows.is_empty() {
            self.rows = Rows::compile(&self.ints)?;
        } else if pairs > 0 {
            for &feature in touched.iter().filter(|&&feature| feature >= PAIRS.start) {
                self.rows.update(feature - PAIRS.start, &self.ints)?;
            }
        }
        self.has_pairs |= pairs > 0;
        Ok(())
    }
}

/// Packed integers of the features before the 2-tuples, padded to a power of two: a masked index needs no check, which
/// a sum of some two hundred terms feels.
type Packed = Box<[i64; TERMS_LEN.next_power_of_two()]>;

fn packed(ints: &[[i32; 2]]) -> Packed {
    let mut packed = Box::new([0; TERMS_LEN.next_power_of_two()]);
    for (packed, &weight) in packed.iter_mut().zip(&ints[..TERMS_LEN]) {
        *packed = pack(weight);
    }
    packed
}

/// Sums packed integers of features before the 2-tuples: both stages in one addition.
pub struct Total<'a> {
    packed: &'a Packed,
    sum: i64,
}

impl<'a> Total<'a> {
    /// Nothing yet.
    #[inline(always)]
    pub fn new(weights: &'a Weights) -> Total<'a> {
        Total { packed: &weights.packed, sum: 0 }
    }

    /// Both stages, packed: such sums may be kept and added.
    #[inline(always)]
    pub fn sum(&self) -> i64 {
        self.sum
    }
}

impl Visitor for Total<'_> {
    #[inline(always)]
    fn add(&mut self, feature: usize, count: i32) {
        debug_assert!(feature < TERMS_LEN);
        self.sum += self.packed[feature % TERMS_LEN.next_power_of_two()] * i64::from(count);
    }

    #[inline(always)]
    fn add_if(&mut self, condition: bool, feature: usize, count: i32) {
        let weight = self.packed[feature % TERMS_LEN.next_power_of_two()] * i64::from(count);
        self.sum += weight & -i64::from(condition);
    }
}

impl TwoSided for Total<'_> {
    #[inline(always)]
    fn turn(&mut self) {
        self.sum = -self.sum;
    }
}

/// Sums integers of any features.
struct Plain<'a> {
    ints: &'a [[i32; 2]],
    sum: [i32; 2],
}

impl Visitor for Plain<'_> {
    fn add(&mut self, feature: usize, count: i32) {
        let [mg, eg] = self.ints[feature];
        self.sum[0] += count * mg;
        self.sum[1] += count * eg;
    }
}

/// Both stages in one integer, whose multiples and sums unpack exactly.
#[inline(always)]
pub const fn pack([mg, eg]: [i32; 2]) -> i64 {
    ((mg as i64) << 32) + eg as i64
}

/// Undoes [`pack`].
#[inline(always)]
pub const fn unpack(sum: i64) -> [i32; 2] {
    let eg = sum as i32;
    [((sum - eg as i64) >> 32) as i32, eg]
}

/// The nearest integer, halves away from zero, or none if it does not fit.
#[inline]
fn rounded(weight: f64) -> Option<i32> {
    (weight.abs() < f64::from(LIMIT)).then(|| (weight + 0.5f64.copysign(weight)) as i32)
}

fn refused(feature: usize, stage: Stage, value: f64) -> WeightsError {
    let group = layout::group_of(feature);
    let (group, index) = (group.name, feature - group.start);
    if value.is_finite() {
        WeightsError::Overflow { group, index, stage, value }
    } else {
        WeightsError::NotFinite { group, index, stage, value }
    }
}

fn any(weights: &[[i32; 2]]) -> bool {
    weights.iter().any(|weight| *weight != [0; 2])
}
