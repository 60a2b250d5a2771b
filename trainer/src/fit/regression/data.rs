//! What a fit looks at: the samples, and how many of their features.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dyad_engine::board::Board;
use dyad_engine::eval::incremental_features;
use dyad_engine::eval::layout::{self, Group, LEN, PIECE_SQUARE, TERMS_LEN};
use dyad_engine::eval::{FloatWeights, Weights, terms, visit};

use super::settings::{Settings, Target};
use crate::base::error::Error;
use crate::data::leaves::at_leaves;
use crate::data::packed::Packed;
use crate::data::samples::SampleFile;

/// The positions to fit to, all in memory: 32 bytes each.
pub struct Data {
    /// To learn from.
    pub train: Vec<Packed>,
    /// To stop by.
    pub test: Vec<Packed>,
}

impl Data {
    /// Those of some samples that have what `target` needs.
    ///
    /// # Errors
    /// When none of them is for training.
    pub fn of(samples: &[Packed], target: &Target) -> Result<Data, Error> {
        let mut data = Data { train: Vec::new(), test: Vec::new() };
        data.take(samples, target);
        data.checked()
    }

    fn take(&mut self, samples: &[Packed], target: &Target) {
        for &sample in samples.iter().filter(|sample| target.exists(sample)) {
            if sample.is_test() { self.test.push(sample) } else { self.train.push(sample) }
        }
    }

    fn checked(self) -> Result<Data, Error> {
        if self.train.is_empty() {
            return Err(Error::Settings("no training position has the result or score that the target needs".into()));
        }
        Ok(self)
    }

    /// The same positions at the leaves of their quiescence with `weights`, without those that have none.
    ///
    /// # Errors
    /// As those of [`at_leaves`], and when nothing is left to learn from.
    pub fn at_leaves(self, weights: &Arc<Weights>, threads: usize, stop: &AtomicBool) -> Result<Data, Error> {
        let lead = |samples: Vec<Packed>| at_leaves(&samples, weights, threads, stop);
        Data { train: lead(self.train)?, test: lead(self.test)? }.checked()
    }

    /// All samples of some files that have what `target` needs.
    pub fn load(files: &[SampleFile], target: &Target) -> Result<Data, Error> {
        let mut data = Data { train: Vec::new(), test: Vec::new() };
        for file in files {
            for block in file.blocks()? {
                data.take(&block?, target);
            }
        }
        data.checked()
    }
}

/// Which features a fit has to look at. Most of the time goes into finding them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Material and location.
    Squares,
    /// All but the 2-tuples.
    Terms,
    /// All.
    Pairs,
}

impl Reach {
    /// As far as a group learns or has weights to begin with.
    pub(super) fn of(settings: &Settings, start: &FloatWeights) -> Reach {
        let used = |group: &Group| {
            let weights = start.mg[group.range()].iter().chain(&start.eg[group.range()]);
            settings.group(group.name).learn || weights.into_iter().any(|&weight| weight != 0.0)
        };
        match layout::GROUPS.iter().rev().find(|group| used(group)) {
            Some(group) if group.start >= TERMS_LEN => Reach::Pairs,
            Some(group) if group.start >= PIECE_SQUARE.range().end => Reach::Terms,
            _ => Reach::Squares,
        }
    }

    /// Number of features, from the first.
    pub(super) fn len(self) -> usize {
        match self {
            Reach::Squares => PIECE_SQUARE.range().end,
            Reach::Terms => TERMS_LEN,
            Reach::Pairs => LEN,
        }
    }

    /// The features of a position.
    pub(super) fn list(self, board: &Board, features: &mut Vec<(u32, i32)>) {
        features.clear();
        if self == Reach::Pairs {
            return visit(board, features);
        }
        board.placed_pieces().for_each(|piece| incremental_features(&[], piece, features));
        if self == Reach::Terms {
            terms(board, features);
        }
    }
}
