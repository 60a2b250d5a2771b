//! Checkpoints: the state of a training on disk, enough to resume it bit for bit.
//!
//! A checkpoint is written between two batches, where the state is small: the float weights, the moments of the average
//! and the optimizer, the place in the data and the counters of the reports. The integer weights are the rounded
//! floats, so they are not saved. Numbers are stored as their bits, little-endian, because a decimal that is off by one
//! in the last place would change the end of a resumed training.
//!
//! ```text
//! "dyadckpt"  version u32  layout checksum u32
//! settings (JSON)  data identity (JSON)  numbers of the state  arrays     (each with its length)
//! CRC-32 of all that, u32
//! ```

use crate::learn::average::Average;
use crate::learn::error::CheckpointError;
use crate::learn::optimizer::{Optimizer, OptimizerState};
use crate::learn::origin::DataIdentity;
use crate::learn::settings::TrainingSettings;
use crate::learn::state::{Counters, TrainingState};
use dyad_engine::eval::{FloatWeights, layout};
use dyad_formats::files::{self, write_atomic};
use std::path::Path;

const MAGIC: &[u8; 8] = b"dyadckpt";
const VERSION: u32 = 2;
/// Largest file that is read: far above the numbers of all weights.
const LARGEST: u64 = 1 << 30;

/// The content of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The settings of the training.
    pub settings: TrainingSettings,
    /// Identity of its samples.
    pub data: DataIdentity,
    /// Its state.
    pub state: TrainingState,
}

impl Checkpoint {
    /// Writes a checkpoint to `path`, atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(
        path: &Path,
        settings: &TrainingSettings,
        data: &DataIdentity,
        state: &TrainingState,
    ) -> std::io::Result<()> {
        write_atomic(path, &to_bytes(settings, data, state))
    }

    /// Reads the checkpoint at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is of another version or layout.
    pub fn load(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let wrong = |what: String| CheckpointError(format!("{}: {what}", path.display()));
        let bytes = files::read(path, LARGEST).map_err(|e| wrong(e.to_string()))?;
        from_bytes(&bytes, layout::LEN).map_err(wrong)
    }
}

fn to_bytes(settings: &TrainingSettings, data: &DataIdentity, state: &TrainingState) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend(layout::checksum().to_le_bytes());
    put_bytes(&mut out, &settings.to_json());
    put_bytes(&mut out, &serde_json::to_vec(data).expect("plain data"));
    put_u64s(
        &mut out,
        &[
            u64::from(state.iteration),
            state.done,
            state.positions,
            state.updates,
            state.average.time,
            u64::from(state.best.0),
            u64::from(state.fell),
            state.log_bytes,
            state.accuracy.to_bits(),
            state.best.1.to_bits(),
            state.seconds.to_bits(),
        ],
    );
    put_counters(&mut out, &state.report);
    put_counters(&mut out, &state.iteration_counters);
    for floats in [&state.weights.mg, &state.weights.eg, &state.average.missing.mg, &state.average.missing.eg] {
        put_u64s(&mut out, &floats.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }
    for pairs in [&state.optimizer.state.mean, &state.optimizer.state.square] {
        put_u64s(&mut out, &pairs.as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }
    put_u64s(&mut out, &state.optimizer.state.clock.iter().map(|&x| u64::from(x)).collect::<Vec<_>>());
    out.extend(crc32fast::hash(&out).to_le_bytes());
    out
}

/// Reads a checkpoint of weights of this number of features.
fn from_bytes(bytes: &[u8], features: usize) -> Result<Checkpoint, String> {
    let body_len = bytes.len().checked_sub(4).ok_or("it is too short")?;
    let (body, crc) = bytes.split_at(body_len);
    if !body.starts_with(MAGIC) {
        return Err("it is not a checkpoint".into());
    }
    if crc32fast::hash(body).to_le_bytes() != crc {
        return Err("its checksum is wrong: it is damaged".into());
    }
    let mut input = Reader { rest: &body[MAGIC.len()..] };
    let version = input.u32()?;
    if version != VERSION {
        return Err(format!("it has version {version}, this program reads {VERSION}"));
    }
    if input.u32()? != layout::checksum() {
        return Err("it was made for another layout of features".into());
    }
    let settings = TrainingSettings::from_json(input.bytes()?)?;
    let data: DataIdentity = serde_json::from_slice(input.bytes()?).map_err(|e| e.to_string())?;
    let numbers = input.u64s()?;
    let [iteration, done, positions, updates, time, best, fell, log_bytes, accuracy, best_accuracy, seconds] =
        numbers[..].try_into().map_err(|_| "numbers are missing")?;
    let (report, iteration_counters) = (input.counters()?, input.counters()?);
    let since_report = report.positions.saturating_add(report.skipped);
    if done > data.training || since_report > done {
        let problem = format!("{done} of {} positions are done, {since_report} since the last report", data.training);
        return Err(problem);
    }
    let moments = Optimizer::new(&settings.optimizer, features).state;
    let mut floats =
        |length| -> Result<Vec<f64>, String> { Ok(input.array(length)?.into_iter().map(f64::from_bits).collect()) };
    let state = TrainingState {
        iteration: iteration as u32,
        done,
        positions,
        updates,
        weights: FloatWeights { mg: floats(features)?, eg: floats(features)? },
        average: Average { time, missing: FloatWeights { mg: floats(features)?, eg: floats(features)? } },
        optimizer: Optimizer::restore(
            &settings.optimizer,
            OptimizerState {
                mean: floats(2 * moments.mean.len())?.as_chunks().0.to_vec(),
                square: floats(2 * moments.square.len())?.as_chunks().0.to_vec(),
                clock: input.array(moments.clock.len())?.into_iter().map(|x| x as u32).collect(),
            },
        ),
        report,
        iteration_counters,
        accuracy: f64::from_bits(accuracy),
        best: (best as u32, f64::from_bits(best_accuracy)),
        fell: fell != 0,
        seconds: f64::from_bits(seconds),
        log_bytes,
    };
    match input.rest {
        [] => Ok(Checkpoint { settings, data, state }),
        rest => Err(format!("it has {} bytes too many", rest.len())),
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

fn put_u64s(out: &mut Vec<u8>, numbers: &[u64]) {
    out.extend((numbers.len() as u64).to_le_bytes());
    out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
}

fn put_counters(out: &mut Vec<u8>, counters: &Counters) {
    let Counters { positions, skipped, over_limit, empty, above, nodes, loss, seconds } = *counters;
    put_u64s(out, &[positions, skipped, over_limit, empty, above, nodes, loss.to_bits(), seconds.to_bits()]);
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or("it ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes")))
    }

    fn length(&mut self, size: usize) -> Result<usize, String> {
        let length = u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes"));
        (length as usize).checked_mul(size).ok_or_else(|| "a length is wrong".into())
    }

    fn bytes(&mut self) -> Result<&'a [u8], String> {
        let length = self.length(1)?;
        self.take(length)
    }

    fn u64s(&mut self) -> Result<Vec<u64>, String> {
        let length = self.length(8)?;
        Ok(self.take(length)?.as_chunks().0.iter().map(|&x| u64::from_le_bytes(x)).collect())
    }

    fn array(&mut self, length: usize) -> Result<Vec<u64>, String> {
        let numbers = self.u64s()?;
        match numbers.len() == length {
            true => Ok(numbers),
            false => Err(format!("expected an array of {length} numbers, found {}", numbers.len())),
        }
    }

    fn counters(&mut self) -> Result<Counters, String> {
        let numbers = self.u64s()?;
        let [positions, skipped, over_limit, empty, above, nodes, loss, seconds] =
            numbers[..].try_into().map_err(|_| "counters are missing")?;
        let (loss, seconds) = (f64::from_bits(loss), f64::from_bits(seconds));
        Ok(Counters { positions, skipped, over_limit, empty, above, nodes, loss, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::settings::OptimizerSettings;

    const FEATURES: usize = 3;

    fn settings() -> TrainingSettings {
        TrainingSettings { optimizer: OptimizerSettings::adam(), ..TrainingSettings::default() }
    }

    fn data() -> DataIdentity {
        DataIdentity { checksum: "ab".into(), training: 1_234_567, test: 2 }
    }

    fn state() -> TrainingState {
        let floats = |x: f64| FloatWeights { mg: vec![x, 0.1, -0.0], eg: vec![1.0 / 3.0, x, 1e300] };
        let moments = OptimizerState {
            mean: vec![[0.1, 0.2], [0.3, 0.4], [-0.0, 0.5]],
            square: vec![[1.0, 2.0]; FEATURES],
            clock: vec![7, 8, 9],
        };
        TrainingState {
            iteration: 3,
            done: 1_234_567,
            positions: 5,
            updates: 6,
            weights: floats(0.7),
            average: Average { time: 9, missing: floats(-1.5) },
            optimizer: Optimizer::restore(&settings().optimizer, moments),
            report: Counters { positions: 1, loss: 0.1 + 0.2, ..Counters::default() },
            iteration_counters: Counters { nodes: u64::MAX, seconds: 3.5, ..Counters::default() },
            accuracy: 0.3,
            best: (2, 0.31),
            fell: true,
            seconds: 77.7,
            log_bytes: 4096,
        }
    }

    #[test]
    fn round_trip() {
        let bytes = to_bytes(&settings(), &data(), &state());
        let expected = Checkpoint { settings: settings(), data: data(), state: state() };
        assert_eq!(from_bytes(&bytes, FEATURES), Ok(expected));
        for optimizer in [OptimizerSettings::default(), OptimizerSettings::adagrad()] {
            let settings = TrainingSettings { optimizer, ..settings() };
            let state = TrainingState { optimizer: Optimizer::new(&settings.optimizer, FEATURES), ..state() };
            let bytes = to_bytes(&settings, &data(), &state);
            assert_eq!(from_bytes(&bytes, FEATURES), Ok(Checkpoint { settings, data: data(), state }));
        }
    }

    #[test]
    fn damage_is_detected() {
        let bytes = to_bytes(&settings(), &data(), &state());
        for length in 0..bytes.len() {
            assert!(from_bytes(&bytes[..length], FEATURES).is_err(), "cut to {length} bytes");
        }
        for i in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[i] ^= 0x10;
            assert!(from_bytes(&bytes, FEATURES).is_err(), "byte {i} changed");
        }
    }

    /// Files with a correct checksum that would end the training with a panic.
    #[test]
    fn a_state_that_cannot_be_is_refused() {
        type Change = fn(&mut TrainingState);
        let changes: [(Change, &str); 9] = [
            (|state| state.weights.mg.truncate(2), "expected an array of 3 numbers, found 2"),
            (|state| state.weights.eg.push(0.5), "found 4"),
            (|state| state.average.missing.mg.clear(), "found 0"),
            (|state| state.average.missing.eg.truncate(1), "found 1"),
            (|state| state.optimizer.state.mean.truncate(2), "expected an array of 6 numbers, found 4"),
            (|state| state.optimizer.state.square.clear(), "expected an array of 6 numbers, found 0"),
            (|state| state.optimizer.state.clock.truncate(2), "expected an array of 3 numbers, found 2"),
            (|state| state.done = u64::MAX, "of 1234567 positions are done"),
            (|state| state.report.skipped = u64::MAX, "since the last report"),
        ];
        for (change, expected) in changes {
            let mut state = state();
            change(&mut state);
            let error = from_bytes(&to_bytes(&settings(), &data(), &state), FEATURES).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
        }
        // Moments of Adam in a training without any.
        let plain = TrainingSettings::default();
        let error = from_bytes(&to_bytes(&plain, &data(), &state()), FEATURES).unwrap_err();
        assert!(error.contains("expected an array of 0 numbers, found 6"), "{error}");
    }
}
