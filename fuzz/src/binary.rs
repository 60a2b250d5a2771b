//! Binary and JSON inputs: weights, samples, checkpoints, the state of a self-training.

use std::fs;
use std::path::Path;

use dyad_engine::board::Board;
use dyad_engine::control::Control;
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::error::Error;
use dyad_formats::hash;
use dyad_formats::packed::{Packed, SAMPLE_BYTES};
use dyad_formats::samples::{SampleFile, SampleWriter};
use dyad_formats::testing::{Temporary, walk};
use dyad_trainer::learn::checkpoint::Checkpoint;
use dyad_trainer::learn::origin::DataIdentity;
use dyad_trainer::learn::settings::TrainingSettings;
use dyad_trainer::learn::state::{Counters, TrainingState};
use dyad_trainer::selftrain;

/// A weights file.
pub fn weights(input: &[u8]) {
    let Ok(weights) = Weights::from_json(input) else { return };
    let text = weights.to_json();
    let again = Weights::from_json(&text).expect("written data can be read");
    assert!(again.plays_as(&weights) && again.to_json() == text);
    let board = Board::startpos();
    let value = weights.units.scaled(weights.value(weights.sums(&board), &board));
    std::hint::black_box(weights.units.win_rate.centipawns(value, weights.phase(&board)));
}

pub fn weights_seeds() -> Vec<Vec<u8>> {
    let whole = Weights::material().to_json();
    let text = String::from_utf8(whole.clone()).expect("JSON is text");
    let named = text.replacen("\"name\":\"", "\"name\":\"\\u0001é", 1);
    let spaced = text.replace(',', " ,\n\t");
    // The hash rejects most changes to the file; version 1 has no hash.
    let hash = format!("\"hash\":\"{}\",", Weights::material().id());
    let older = text.replacen("\"format\":2", "\"format\":1", 1).replacen(&hash, "", 1);
    vec![whole, older.into_bytes(), named.into_bytes(), spaced.into_bytes(), b"{\"format\":1}".to_vec()]
}

/// A sample file, also with its checksums repaired; and each 32 bytes as a sample.
pub fn samples(input: &[u8]) {
    let scratch = Temporary::folder();
    let path = scratch.join("samples");
    let mut sealed = input.to_vec();
    seal_samples(&mut sealed);
    for bytes in [input, &sealed] {
        fs::write(&path, bytes).expect("the temporary folder can be written");
        if let Ok(file) = SampleFile::open(&path) {
            assert_eq!(file.samples.len(), file.indices(true).len() + file.indices(false).len());
            file.samples.iter().for_each(check_sample);
        }
    }
    input.as_chunks().0.iter().for_each(|&bytes| check_sample(&Packed(bytes)));
}

/// Input may have unused bits set; a sample that is packed again has not.
fn check_sample(packed: &Packed) {
    let Ok(sample) = packed.unpack() else { return };
    let again = Packed::new(&sample);
    let same = again.unpack().expect("packed samples can be unpacked");
    assert_eq!((same.board.fen(), same.desired), (sample.board.fen(), sample.desired));
    assert_eq!(Packed::new(&same), again, "{}", sample.board.fen());
}

/// Repairs the checksums of a sample file, as far as its length permits.
fn seal_samples(bytes: &mut [u8]) {
    const HEADER: usize = 64;
    const BLOCK: usize = (1 << 14) * SAMPLE_BYTES;
    let Some((header, body)) = bytes.split_at_mut_checked(HEADER) else { return };
    let count = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
    let samples = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(SAMPLE_BYTES);
    let (mut at, mut left, mut identity) = (0, samples, 0);
    while left > 0 {
        let length = left.min(BLOCK);
        let Some(block) = body.get_mut(at..at + length + 4) else { break };
        let sum = crc32fast::hash(&block[..length]);
        block[length..].copy_from_slice(&sum.to_le_bytes());
        identity = hash::fold(identity, u64::from(sum));
        (at, left) = (at + length + 4, left - length);
    }
    header[40..48].copy_from_slice(&identity.to_le_bytes());
    header[52..56].copy_from_slice(&crc32fast::hash(&body[at..]).to_le_bytes());
    let sum = crc32fast::hash(&header[..60]);
    header[60..].copy_from_slice(&sum.to_le_bytes());
}

pub fn samples_seeds() -> Vec<Vec<u8>> {
    let scratch = Temporary::folder();
    let path = scratch.join("samples");
    [0, 1, 40]
        .into_iter()
        .map(|count| {
            let mut writer =
                SampleWriter::create(&path, serde_json::json!({ "made": "by hand" })).expect("it is writable");
            walk(count).iter().for_each(|sample| writer.push(&Packed::new(sample)).expect("there is room"));
            writer.finish().expect("there is room");
            fs::read(&path).expect("it was written")
        })
        .collect()
}

/// A checkpoint, also with its checksum repaired.
pub fn checkpoint(input: &[u8]) {
    let scratch = Temporary::folder();
    let path = scratch.join("checkpoint.bin");
    let mut sealed = input.to_vec();
    if let Some((body, sum)) = sealed.split_last_chunk_mut::<4>() {
        *sum = crc32fast::hash(body).to_le_bytes();
    }
    for bytes in [input, &sealed] {
        fs::write(&path, bytes).expect("the temporary folder can be written");
        let Ok(read) = Checkpoint::load(&path) else { continue };
        let write = |mut read: Checkpoint| {
            read.save(&path).expect("there is room");
            fs::read(&path).expect("it was written")
        };
        let first = write(read);
        let again = Checkpoint::load(&path).expect("written data can be read");
        // Compare bits, since NaN is not equal to itself.
        assert!(write(again) == first, "the checkpoint changed by reading and writing");
    }
}

pub fn checkpoint_seeds() -> Vec<Vec<u8>> {
    let scratch = Temporary::folder();
    let path = scratch.join("checkpoint.bin");
    let settings = TrainingSettings::default();
    let data = DataIdentity { checksum: "0123456789abcdef".into(), training: 150, test: 1 };
    let state = TrainingState {
        iteration: 2,
        done: 50,
        positions: 150,
        updates: 3,
        report: Counters { positions: 50, loss: 0.3, ..Counters::default() },
        iteration_counters: Counters { positions: 150, nodes: 9_999, ..Counters::default() },
        accuracy: Some(0.31),
        best: (1, Some(0.3)),
        seconds: 1.5,
        log_bytes: 100,
        ..TrainingState::new(&settings, FloatWeights::material())
    };
    Checkpoint { settings, data, start: "0123abcd".into(), state }.save(&path).expect("there is room");
    vec![fs::read(&path).expect("it was written")]
}

/// Separates the two files of the input.
const SEPARATOR: u8 = 0;

/// `state.json` of a self-training, a zero byte, and its `settings.json`. Resuming with the stop flag set either stops
/// at once, or refuses the files and leaves them unchanged.
pub fn state(input: &[u8]) {
    let scratch = Temporary::folder();
    let mut parts = input.splitn(2, |&byte| byte == SEPARATOR);
    let state = parts.next().unwrap_or_default();
    let Some(settings) = parts.next() else { return };
    let start = Weights::material().to_json();
    for (name, content) in
        [("start.json", &start[..]), ("log.jsonl", LOG), ("state.json", state), ("settings.json", settings)]
    {
        fs::write(scratch.join(name), content).expect("the temporary folder can be written");
    }
    match resume(&scratch) {
        Ok(()) => resume(&scratch).expect("a stopped training can be resumed"),
        Err(_) => {
            assert!(fs::read(scratch.join("state.json")).expect("it is there") == state, "a refused state was changed");
        }
    }
}

/// A log.
const LOG: &[u8] = b"{\"a\":1}\n{\"b\":2}\n";

fn resume(folder: &Path) -> Result<(), Error> {
    selftrain::resume(folder, &selftrain::Given::new(), None, &stopped(), &mut |_| {}).map(drop)
}

pub fn state_seeds() -> Vec<Vec<u8>> {
    let scratch = Temporary::folder();
    let folder = scratch.join("training");
    let settings = selftrain::SelfTrainSettings::default();
    let (reference, stop) = (Weights::material(), stopped());
    selftrain::begin(&settings, &reference, &folder, &stop, &mut |_| {}).expect("it begins");
    let read = |name: &str| fs::read(folder.join(name)).expect("it was written");
    let (state, settings) = (read("state.json"), read("settings.json"));
    let pair = |state: &[u8], settings: &[u8]| [state, &[SEPARATOR], settings].concat();
    vec![pair(&state, &settings), pair(b"{}", &settings), pair(b"[]", &settings), pair(&state, b"{}")]
}

/// A control that is stopped.
fn stopped() -> Control {
    let control = Control::new(false);
    control.stop();
    control
}
