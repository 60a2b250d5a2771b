//! Visitors of the features of a position.
//!
//! The terms pass the index and count of each feature to a visitor. The sum in search, the feature list of the trainer
//! and the sums of `explain` are different visitors of the same terms. Terms are generic over the visitor, so that the
//! sum in search is as fast as hand-written code.

use super::layout::Batch;

/// Receives the features of a position.
pub trait Visitor {
    /// Whether the terms may skip [pair terms](super::layout::Kind::Pair), because the visitor has their sum already.
    const SKIPS_PAIR_TERMS: bool = false;

    /// Adds `count` (possibly 0) of `feature`. White's features count positive, Black's negative: the sum of count
    /// times weight is the evaluation from White's side.
    fn add(&mut self, feature: usize, count: i32);

    /// Branch-free conditional [`Visitor::add`], for unpredictable conditions.
    #[inline(always)]
    fn add_if(&mut self, condition: bool, feature: usize, count: i32) {
        if condition {
            self.add(feature, count);
        }
    }

    /// Adds one of each feature of `batch` whose condition holds.
    #[inline(always)]
    fn add_batch<const N: usize>(&mut self, batch: Batch, conditions: [bool; N]) {
        for (index, condition) in conditions.into_iter().enumerate() {
            self.add_if(condition, batch.feature(index), 1);
        }
    }
}

/// Ignores the features, where only what the terms return is wanted.
impl Visitor for () {
    fn add(&mut self, _feature: usize, _count: i32) {}
}

/// A visitor of side-relative features: terms count the features of the current side positive, and the visitor knows
/// the sign. The sum in search then needs no multiplication. The first side is White.
pub trait SideRelative: Visitor {
    /// Switches to the other side.
    fn flip_side(&mut self);
}

/// Adapts any visitor to side-relative features.
pub struct WithSign<'a, V> {
    visitor: &'a mut V,
    sign: i32,
}

impl<'a, V: Visitor> WithSign<'a, V> {
    /// White is the first side.
    pub fn new(visitor: &'a mut V) -> Self {
        WithSign { visitor, sign: 1 }
    }
}

impl<V: Visitor> Visitor for WithSign<'_, V> {
    fn add(&mut self, feature: usize, count: i32) {
        self.visitor.add(feature, self.sign * count);
    }
}

impl<V: Visitor> SideRelative for WithSign<'_, V> {
    fn flip_side(&mut self) {
        self.sign = -self.sign;
    }
}

/// Lists features with nonzero counts. A feature may occur more than once.
impl Visitor for Vec<(u32, i32)> {
    fn add(&mut self, feature: usize, count: i32) {
        if count != 0 {
            self.push((feature as u32, count));
        }
    }
}

/// Sums the weights of the features, middlegame and endgame.
pub struct WeightedSum<'a> {
    weights: &'a [[i32; 2]],
    /// The sums so far.
    pub sums: [i32; 2],
}

impl<'a> WeightedSum<'a> {
    /// An empty sum over weights by feature.
    pub fn new(weights: &'a [[i32; 2]]) -> WeightedSum<'a> {
        WeightedSum { weights, sums: [0; 2] }
    }
}

impl Visitor for WeightedSum<'_> {
    #[inline(always)]
    fn add(&mut self, feature: usize, count: i32) {
        let [mg, eg] = self.weights[feature];
        self.sums[0] += count * mg;
        self.sums[1] += count * eg;
    }
}
