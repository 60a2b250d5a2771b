//! The data of a fit: its samples, and the range of features in use.

use std::sync::Arc;

use dyad_engine::board::Board;
use dyad_engine::control::Control;
use dyad_engine::eval::incremental_features;
use dyad_engine::eval::layout::{self, Group, LEN, PIECE_SQUARE, TERMS_LEN};
use dyad_engine::eval::{FloatWeights, Weights, terms, visit};
use dyad_formats::error::Error;
use dyad_formats::packed::Packed;

use super::settings::{FitSettings, Target};
use crate::data::leaves::at_leaves;

/// The positions of a fit, all in memory: 32 bytes each.
pub struct Data {
    /// Training positions.
    pub train: Vec<Packed>,
    /// Test positions, for early stopping.
    pub test: Vec<Packed>,
}

impl Data {
    /// The samples that have what `target` needs.
    ///
    /// # Errors
    /// When there are no training positions.
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Packed>, target: &Target) -> Result<Data, Error> {
        let of_target = samples.into_iter().copied().filter(|sample| target.exists(sample));
        let (test, train) = of_target.partition(Packed::is_test);
        Data { train, test }.checked()
    }

    fn checked(self) -> Result<Data, Error> {
        if self.train.is_empty() {
            return Err(Error::Settings("no training position has the result or score that the target needs".into()));
        }
        Ok(self)
    }

    /// The same positions resolved by quiescence with `weights`, without those that have no leaf.
    ///
    /// # Errors
    /// Those of [`at_leaves`], and when no training position is left.
    pub fn at_leaves(self, weights: &Arc<Weights>, threads: usize, stop: &Control) -> Result<Data, Error> {
        let resolve = |samples: Vec<Packed>| at_leaves(&samples, weights, threads, stop);
        Data { train: resolve(self.train)?, test: resolve(self.test)? }.checked()
    }
}

/// The range of features that a fit has to compute; finding them takes most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FeatureRange {
    /// Material and piece-square features.
    Squares,
    /// All but the 2-tuples.
    Terms,
    /// All.
    Pairs,
}

impl FeatureRange {
    /// The smallest range with all groups that learn or have nonzero weights.
    pub(super) fn of(settings: &FitSettings, start: &FloatWeights) -> FeatureRange {
        let used = |group: &Group| {
            let weights = start.mg[group.range()].iter().chain(&start.eg[group.range()]);
            settings.group(group.name).learn || weights.into_iter().any(|&weight| weight != 0.0)
        };
        match layout::GROUPS.iter().rev().find(|group| used(group)) {
            Some(group) if group.start >= TERMS_LEN => FeatureRange::Pairs,
            Some(group) if group.start >= PIECE_SQUARE.range().end => FeatureRange::Terms,
            _ => FeatureRange::Squares,
        }
    }

    /// Number of features, from the first.
    pub(super) fn len(self) -> usize {
        match self {
            FeatureRange::Squares => PIECE_SQUARE.range().end,
            FeatureRange::Terms => TERMS_LEN,
            FeatureRange::Pairs => LEN,
        }
    }

    /// The features of a position.
    pub(super) fn list(self, board: &Board, features: &mut Vec<(u32, i32)>) {
        features.clear();
        if self == FeatureRange::Pairs {
            return visit(board, features);
        }
        board.placed_pieces().for_each(|piece| incremental_features(&[], piece, features));
        if self == FeatureRange::Terms {
            terms(board, features);
        }
    }
}
