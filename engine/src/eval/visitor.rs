//! What is done with the features of a position.
//!
//! The features are stated once, as code that finds them and hands each one's index and count to a
//! visitor. Summing integers in search, listing features for the trainer, totals by group for `eval` and
//! the compilation of the fast tables differ only in the visitor. The functions are generic, so the sum
//! in search is compiled as if it had been written out by hand.

use super::layout::{ATTACKED, Attacker, Defense, Target};

/// Receives the features of a position.
pub trait Visitor {
    /// Whether [couples](super::terms::couple) are left out, because their sum is known without looking at the board.
    const KNOWS_COUPLES: bool = false;

    /// `count` more of `feature`, which may be none. White's features count positive and Black's negative, so that the
    /// sum of count times weight is the evaluation from White's side.
    fn add(&mut self, feature: usize, count: i32);

    /// As much of `feature` if the condition holds: for conditions that no processor can predict, because a sum
    /// then does without the branch.
    #[inline(always)]
    fn add_if(&mut self, condition: bool, feature: usize, count: i32) {
        if condition {
            self.add(feature, count);
        }
    }

    /// An attacked piece: one of [`ATTACKED`] for each type of piece that attacks it.
    #[inline(always)]
    fn add_attacked(&mut self, defense: Defense, target: Target, attackers: [bool; 6]) {
        for (attacker, attacks) in attackers.into_iter().enumerate() {
            self.add_if(attacks, ATTACKED.at(defense, Attacker(attacker), target), 1);
        }
    }
}

/// A visitor that is told whose features come, so that terms count ours and carry no sign about: the sum in search then
/// needs no multiplication.
pub trait TwoSided: Visitor {
    /// The features that come now are the other player's. The first are White's.
    fn turn(&mut self);
}

/// Any visitor as one that is told whose features come.
pub struct Turning<'a, S> {
    visitor: &'a mut S,
    sign: i32,
}

impl<'a, S: Visitor> Turning<'a, S> {
    /// White's features come first.
    pub fn new(visitor: &'a mut S) -> Self {
        Turning { visitor, sign: 1 }
    }
}

impl<S: Visitor> Visitor for Turning<'_, S> {
    fn add(&mut self, feature: usize, count: i32) {
        self.visitor.add(feature, self.sign * count);
    }
}

impl<S: Visitor> TwoSided for Turning<'_, S> {
    fn turn(&mut self) {
        self.sign = -self.sign;
    }
}

/// Lists features and counts as they come, counts of 0 left out; the same feature may come more than once.
impl Visitor for Vec<(u32, i32)> {
    fn add(&mut self, feature: usize, count: i32) {
        if count != 0 {
            self.push((feature as u32, count));
        }
    }
}

/// Sums by feature, over an array as long as the layout.
impl Visitor for Vec<i32> {
    fn add(&mut self, feature: usize, count: i32) {
        self[feature] += count;
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
