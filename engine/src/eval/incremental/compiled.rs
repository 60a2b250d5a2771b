//! The integer weights, compiled for search.
//!
//! The two `tables` of the incremental sums have material and piece-square weights by piece-square, and weights of two
//! pieces in rows. All other weights are packed, middlegame and endgame in one integer, for the terms that are computed
//! in each position.

use super::tables::{PairTable, SquareTable};
use crate::eval::floats::WeightsError;
use crate::eval::layout::{self, BATCH_LANES, BATCHES, Batch, GROUPS, Kind, PAIRS, PIECE_SQUARE, TERMS_LEN, group_of};
use crate::eval::visitor::{SideRelative, Visitor};

/// Integer weights, compiled for search.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    packed: Packed,
    batched: Batched,
    pub(super) squares: SquareTable,
    /// Weights of two pieces; empty without any.
    pub(in crate::eval) pairs: PairTable,
    /// Whether any weight is of a term, not of pieces and 2-tuples.
    pub(in crate::eval) has_terms: bool,
}

impl Compiled {
    pub(in crate::eval) fn new(ints: &[[i32; 2]]) -> Result<Compiled, WeightsError> {
        let packed = packed(ints);
        let has_pairs = any(&ints[PAIRS.range()]);
        let has_pair_terms = GROUPS.iter().any(|group| group.kind == Kind::Pair && any(&ints[group.range()]));
        Ok(Compiled {
            batched: batched(&packed),
            packed,
            squares: SquareTable::compile(ints),
            pairs: if has_pairs || has_pair_terms { PairTable::compile(ints)? } else { PairTable::default() },
            has_terms: any(&ints[PIECE_SQUARE.range().end..TERMS_LEN]),
        })
    }

    /// Updates everything that depends on the integers of the `changed` features.
    pub(in crate::eval) fn update(&mut self, changed: &[usize], ints: &[[i32; 2]]) -> Result<(), WeightsError> {
        /// Above this number of changed pairs it is faster to compile the whole table.
        const MANY: usize = PAIRS.len / 4;
        let mut pairs = 0;
        let mut pair_terms = false;
        let mut squares = false;
        for &feature in changed {
            if PAIRS.range().contains(&feature) {
                pairs += 1;
            } else {
                self.packed[feature] = pack(ints[feature]);
                pair_terms |= group_of(feature).kind == Kind::Pair;
                squares |= feature < PIECE_SQUARE.range().end;
                self.has_terms |= feature >= PIECE_SQUARE.range().end;
            }
        }
        self.batched = batched(&self.packed);
        if squares {
            self.squares = SquareTable::compile(ints);
        }
        if pairs > MANY || (pairs > 0 || pair_terms) && self.pairs.is_empty() {
            self.pairs = PairTable::compile(ints)?;
            return Ok(());
        }
        for &feature in changed.iter().filter(|feature| PAIRS.range().contains(feature)) {
            self.pairs.update(feature - PAIRS.start, ints)?;
        }
        if pair_terms {
            self.pairs.update_pair_terms(ints)?;
        }
        Ok(())
    }
}

/// Packed integers of the features before the 2-tuples. The length is a power of two, so that a masked index needs no
/// bounds check.
type Packed = Box<[i64; TERMS_LEN.next_power_of_two()]>;

fn packed(ints: &[[i32; 2]]) -> Packed {
    let mut packed = Box::new([0; TERMS_LEN.next_power_of_two()]);
    for (packed, &weight) in packed.iter_mut().zip(&ints[..TERMS_LEN]) {
        *packed = pack(weight);
    }
    packed
}

/// A copy of the packed integers of all [`Batch`]es. Those of a batch are contiguous and padded with zeros, for SIMD
/// additions.
type Batched = [[i64; BATCH_LANES]; BATCHES];

fn batched(packed: &Packed) -> Batched {
    let mut rows = [[0; BATCH_LANES]; BATCHES];
    for batch in layout::batches() {
        for (index, weight) in rows[batch.row][..batch.len].iter_mut().enumerate() {
            *weight = packed[batch.feature(index)];
        }
    }
    rows
}

/// A sum of packed weights of features before the 2-tuples: middlegame and endgame in one addition.
pub struct PackedSum<'a> {
    packed: &'a Packed,
    batched: &'a Batched,
    sum: i64,
    /// The part from [`Batched`], by lane.
    lanes: [i64; BATCH_LANES],
}

impl<'a> PackedSum<'a> {
    /// An empty sum.
    pub fn new(compiled: &'a Compiled) -> PackedSum<'a> {
        PackedSum { packed: &compiled.packed, batched: &compiled.batched, sum: 0, lanes: [0; BATCH_LANES] }
    }

    /// The packed sum. Packed sums can be added.
    pub fn sum(&self) -> i64 {
        self.sum + self.lanes.iter().sum::<i64>()
    }
}

impl Visitor for PackedSum<'_> {
    /// The `PairTable` includes them.
    const SKIPS_PAIR_TERMS: bool = true;

    fn add(&mut self, feature: usize, count: i32) {
        debug_assert!(feature < TERMS_LEN);
        self.sum += self.packed[feature % TERMS_LEN.next_power_of_two()] * i64::from(count);
    }

    fn add_if(&mut self, condition: bool, feature: usize, count: i32) {
        let weight = self.packed[feature % TERMS_LEN.next_power_of_two()] * i64::from(count);
        self.sum += weight & -i64::from(condition);
    }

    #[inline(always)]
    fn add_batch<const N: usize>(&mut self, batch: Batch, conditions: [bool; N]) {
        const { assert!(N <= BATCH_LANES) }
        let weights = &self.batched[batch.row];
        for (lane, condition) in conditions.into_iter().enumerate() {
            self.lanes[lane] += weights[lane] & -i64::from(condition);
        }
    }
}

impl SideRelative for PackedSum<'_> {
    fn flip_side(&mut self) {
        self.sum = -self.sum;
        self.lanes = self.lanes.map(|lane| -lane);
    }
}

/// Both phases in one integer; sums and multiples of packed weights unpack exactly.
const fn pack([mg, eg]: [i32; 2]) -> i64 {
    ((mg as i64) << 32) + eg as i64
}

pub(crate) const fn unpack(sum: i64) -> [i32; 2] {
    let eg = sum as i32;
    [((sum - eg as i64) >> 32) as i32, eg]
}

fn any(weights: &[[i32; 2]]) -> bool {
    weights.iter().any(|weight| *weight != [0; 2])
}
