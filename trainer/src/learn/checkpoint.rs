//! Checkpoints: the state of a training on disk, enough to resume it bit for bit.
//!
//! A checkpoint is written between two batches, where the state is small: the float weights, the moments of the average
//! and the optimizer, the place in the data and the counters of the reports. The integer weights are the rounded
//! floats, so they are not saved.
//!
//! ```text
//! "dyadckpt"  version u32  layout checksum u32  length of the header u32
//! header (JSON): settings, identity of the data and of the initial weights, state
//! weights, average and moments, f64
//! CRC-32 of all that, u32
//! ```
//!
//! All numbers are little-endian. Decimals in the header are read as the numbers that were written.

use crate::learn::optimizer::Optimizer;
use crate::learn::origin::DataIdentity;
use crate::learn::settings::TrainingSettings;
use crate::learn::state::TrainingState;
use dyad_engine::eval::layout;
use dyad_formats::error::Error;
use dyad_formats::files::{self, write_atomic};
use serde::{Deserialize, Serialize};
use std::path::Path;

const MAGIC: &[u8; 8] = b"dyadckpt";
const VERSION: u32 = 4;
/// Largest file that is read: far above the numbers of all weights.
const LARGEST: u64 = 1 << 30;

/// The content of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The settings of the training.
    pub settings: TrainingSettings,
    /// Identity of its samples.
    pub data: DataIdentity,
    /// Identity of its initial weights.
    pub start: String,
    /// Its state.
    pub state: TrainingState,
}

impl Checkpoint {
    /// Writes the checkpoint to `path`, atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&mut self, path: &Path) -> std::io::Result<()> {
        write_atomic(path, &self.bytes())
    }

    /// Reads the checkpoint at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is of another version or layout.
    pub fn load(path: &Path) -> Result<Checkpoint, Error> {
        let bytes = files::read(path, LARGEST).map_err(Error::file("read", path))?;
        Checkpoint::from_bytes(&bytes).map_err(|problem| Error::content(path, "the checkpoint", problem))
    }

    fn bytes(&mut self) -> Vec<u8> {
        let header = serde_json::to_vec(self).expect("plain data");
        let mut out = MAGIC.to_vec();
        for number in [VERSION, layout::checksum(), header.len() as u32] {
            out.extend(number.to_le_bytes());
        }
        out.extend(header);
        for array in self.state.arrays() {
            out.extend(array.iter().flat_map(|number| number.to_le_bytes()));
        }
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, String> {
        let (body, crc) = bytes.split_last_chunk().ok_or("it is too short")?;
        let rest = body.strip_prefix(MAGIC).ok_or("it is not a checkpoint")?;
        if crc32fast::hash(body).to_le_bytes() != *crc {
            return Err("its checksum is wrong: it is damaged".into());
        }
        let (numbers, rest) = rest.split_at_checked(12).ok_or("it ends too early")?;
        let numbers: Vec<u32> = numbers.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        if numbers[0] != VERSION {
            return Err(format!("it has version {}, this program reads {VERSION}", numbers[0]));
        }
        if numbers[1] != layout::checksum() {
            return Err("it was made for another layout of features".into());
        }
        let (header, mut arrays) = rest.split_at_checked(numbers[2] as usize).ok_or("it ends too early")?;
        let mut checkpoint: Checkpoint = serde_json::from_slice(header).map_err(|e| e.to_string())?;
        let Checkpoint { settings, data, state, .. } = &mut checkpoint;
        settings.check()?;
        let (done, since_report) = (state.done, state.report.positions.saturating_add(state.report.skipped));
        if done > data.training || since_report > done {
            let all = data.training;
            return Err(format!("{done} of {all} positions are done, {since_report} since the last report"));
        }
        state.optimizer = Optimizer::new(settings);
        for array in state.arrays() {
            let (numbers, rest) = arrays.split_at_checked(8 * array.len()).ok_or("it ends too early")?;
            for (number, &bytes) in array.iter_mut().zip(numbers.as_chunks().0) {
                *number = f64::from_le_bytes(bytes);
            }
            arrays = rest;
        }
        match arrays {
            [] => Ok(checkpoint),
            rest => Err(format!("it has {} bytes too many", rest.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::settings::OptimizerName;
    use crate::learn::state::Counters;
    use dyad_engine::eval::FloatWeights;

    /// A state in the middle of an iteration, with a different number for each feature.
    fn checkpoint(optimizer: OptimizerName) -> Checkpoint {
        let settings = TrainingSettings { optimizer, ..TrainingSettings::default() };
        let mut state = TrainingState {
            iteration: 3,
            done: 1_234_567,
            report: Counters { positions: 1, loss: 0.1 + 0.2, ..Counters::default() },
            iteration_counters: Counters { nodes: u64::MAX, seconds: 3.5, ..Counters::default() },
            accuracy: Some(0.968_861_304_637_504_9),
            best: (2, None),
            fell: true,
            seconds: 1.0 / 3.0,
            ..TrainingState::new(&settings, FloatWeights::zeros())
        };
        state.average.time = 9;
        for (which, array) in state.arrays().into_iter().enumerate() {
            array.iter_mut().enumerate().for_each(|(i, number)| *number = (i as f64 + 0.5).ln() - which as f64);
        }
        state.weights.mg[7] = -0.0;
        let data = DataIdentity { checksum: "ab".into(), training: 1_234_567, test: 2 };
        Checkpoint { settings, data, start: "0123abcd".into(), state }
    }

    #[test]
    fn round_trip() {
        for optimizer in [OptimizerName::Plain, OptimizerName::Adam] {
            let mut checkpoint = checkpoint(optimizer);
            let bytes = checkpoint.bytes();
            let mut read = Checkpoint::from_bytes(&bytes).unwrap();
            assert!(read == checkpoint && read.bytes() == bytes);
        }
    }

    #[test]
    fn damage_is_detected() {
        let bytes = checkpoint(OptimizerName::Plain).bytes();
        let some = (0..2_000).chain((0..bytes.len()).step_by(99_991)).chain(bytes.len() - 9..bytes.len());
        for i in some {
            assert!(Checkpoint::from_bytes(&bytes[..i]).is_err(), "cut to {i} bytes");
        }
        for i in (0..1_000).step_by(9).chain((0..bytes.len()).step_by(99_991)).chain(bytes.len() - 9..bytes.len()) {
            let mut bytes = bytes.clone();
            bytes[i] ^= 0x10;
            assert!(Checkpoint::from_bytes(&bytes).is_err(), "byte {i} changed");
        }
    }

    /// Files with a correct checksum that would end the training with a panic.
    #[test]
    fn a_state_that_cannot_be_is_refused() {
        type Change = fn(&mut Checkpoint);
        let changes: [(Change, &str); 7] = [
            (|file| file.state.weights.mg.truncate(2), "it ends too early"),
            (|file| file.state.average.missing.eg.push(0.5), "8 bytes too many"),
            (|file| file.state.optimizer.clock.clear(), "it ends too early"),
            // Moments of Adam in a training without any.
            (|file| file.settings.optimizer = OptimizerName::Plain, "bytes too many"),
            (|file| file.settings.batch = 0, "'--batch <N>'"),
            (|file| file.state.done = u64::MAX, "of 1234567 positions are done"),
            (|file| file.state.report.skipped = u64::MAX, "since the last report"),
        ];
        for (change, expected) in changes {
            let mut checkpoint = checkpoint(OptimizerName::Adam);
            change(&mut checkpoint);
            let error = Checkpoint::from_bytes(&checkpoint.bytes()).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
