//! The integers of a linear model, compiled into what search adds up.
//!
//! Three forms for three uses: material and location by piece-square, 2-tuples and couples as rows ([`tables`](super::tables)),
//! which are kept along the line of a search, and the other features packed, both stages in one integer, for the
//! terms that are found anew.

use super::error::WeightsError;
use super::kernel::Kernel;
use super::layout::{ATTACKED, Attacker, Defense, LOCATION, PAIRS, TERMS_LEN, Target};
use super::tables::{Rows, Squares};
use super::terms::COUPLES;
use super::visitor::{TwoSided, Visitor};

/// The fast form of a linear model's integers.
#[derive(Clone, Debug)]
pub struct Compiled {
    packed: Packed,
    attacked: Attacked,
    squares: Squares,
    rows: Rows,
    has_pairs: bool,
    has_terms: bool,
    kernel: Kernel,
}

impl Compiled {
    /// Compiles integers, by feature.
    pub(super) fn new(ints: &[[i32; 2]]) -> Result<Compiled, WeightsError> {
        let packed = packed(ints);
        let has_pairs = any(&ints[PAIRS.range()]);
        Ok(Compiled {
            attacked: attacked(&packed),
            packed,
            squares: Squares::compile(ints),
            rows: if has_pairs || any(&ints[COUPLES]) { Rows::compile(ints)? } else { Rows::default() },
            has_pairs,
            has_terms: any(&ints[LOCATION.range().end..TERMS_LEN]),
            kernel: Kernel::best(),
        })
    }

    /// Brings up to date what depends on the integers of the `touched` features.
    pub(super) fn update(&mut self, touched: &[usize], ints: &[[i32; 2]]) -> Result<(), WeightsError> {
        /// With more pairs than this it is faster to compile all rows in order.
        const MANY: usize = PAIRS.len / 4;
        let mut pairs = 0;
        let mut couples = false;
        let mut placed = false;
        for &feature in touched {
            if PAIRS.range().contains(&feature) {
                pairs += 1;
            } else {
                self.packed[feature] = pack(ints[feature]);
                couples |= COUPLES.contains(&feature);
                placed |= feature < LOCATION.range().end;
                self.has_terms |= feature >= LOCATION.range().end;
            }
        }
        self.attacked = attacked(&self.packed);
        if placed {
            self.squares = Squares::compile(ints);
        }
        self.has_pairs |= pairs > 0;
        if pairs > MANY || (pairs > 0 || couples) && self.rows.is_empty() {
            self.rows = Rows::compile(ints)?;
            return Ok(());
        }
        for &feature in touched.iter().filter(|feature| PAIRS.range().contains(feature)) {
            self.rows.update(feature - PAIRS.start, ints)?;
        }
        if couples {
            self.rows.update_couples(ints)?;
        }
        Ok(())
    }

    /// Integers of all features before the 2-tuples, packed for [`Total`].
    #[inline(always)]
    pub fn packed(&self) -> &[i64] {
        &self.packed[..TERMS_LEN]
    }

    /// Whether any 2-tuple has a weight.
    #[inline(always)]
    pub fn has_pairs(&self) -> bool {
        self.has_pairs
    }

    /// Whether anything of the whole board has a weight: features that are neither placement.
    #[inline(always)]
    pub fn has_terms(&self) -> bool {
        self.has_terms
    }

    /// Material and location by piece-square.
    #[inline(always)]
    pub fn squares(&self) -> &Squares {
        &self.squares
    }

    /// How rows are summed on this processor.
    #[inline(always)]
    pub(super) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Compiled 2-tuples and couples; empty without any.
    #[inline(always)]
    pub fn rows(&self) -> &Rows {
        &self.rows
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

/// Packed integers of [`ATTACKED`] once more, by defense and target, so that those of the six attackers lie side by side:
/// a processor adds them all at once, and two more that are 0.
type Attacked = [[[i64; 8]; 5]; 3];

fn attacked(packed: &Packed) -> Attacked {
    let mut rows = Attacked::default();
    for (defense, targets) in Defense::ALL.into_iter().zip(&mut rows) {
        for (target, attackers) in targets.iter_mut().enumerate() {
            for (attacker, weight) in attackers[..6].iter_mut().enumerate() {
                *weight = packed[ATTACKED.at(defense, Attacker(attacker), Target(target))];
            }
        }
    }
    rows
}

/// Sums packed integers of features before the 2-tuples: both stages in one addition.
pub struct Total<'a> {
    packed: &'a Packed,
    attacked: &'a Attacked,
    sum: i64,
    /// The rest of the sum, from [`Attacked`], by attacker: added up at the end.
    lanes: [i64; 8],
}

impl<'a> Total<'a> {
    /// Nothing yet.
    #[inline(always)]
    pub fn new(compiled: &'a Compiled) -> Total<'a> {
        Total { packed: &compiled.packed, attacked: &compiled.attacked, sum: 0, lanes: [0; 8] }
    }

    /// Both stages, packed: such sums may be kept and added.
    #[inline(always)]
    pub fn sum(&self) -> i64 {
        self.sum + self.lanes.iter().sum::<i64>()
    }
}

impl Visitor for Total<'_> {
    /// They are in the [`Rows`].
    const KNOWS_COUPLES: bool = true;

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

    #[inline(always)]
    fn add_attacked(&mut self, defense: Defense, target: Target, attackers: [bool; 6]) {
        let weights = &self.attacked[defense as usize][target.0];
        for (attacker, attacks) in attackers.into_iter().enumerate() {
            self.lanes[attacker] += weights[attacker] & -i64::from(attacks);
        }
    }
}

impl TwoSided for Total<'_> {
    #[inline(always)]
    fn turn(&mut self) {
        self.sum = -self.sum;
        self.lanes = self.lanes.map(|lane| -lane);
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

fn any(weights: &[[i32; 2]]) -> bool {
    weights.iter().any(|weight| *weight != [0; 2])
}
