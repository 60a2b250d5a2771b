//! The sample file: prepared positions, 32 bytes each.
//!
//! Training reads millions of positions many times and in random order, and a run may last days: the data must be
//! small, and known to be complete before the run begins. So a sample has a fixed size, samples are stored in blocks
//! with a checksum, a truncated or damaged file is refused with the place, and a file is read into memory as a whole.
//! An incomplete file never has the final name ([`files`](crate::files)).
//!
//! | bytes | header |
//! |---|---|
//! | 0..8 | `DyadSmp` and a zero |
//! | 8..12 | version: 1; earlier programs wrote 2 if a position had castling rights of Chess960 |
//! | 12..16 | samples in a block |
//! | 16..40 | samples, test samples, games |
//! | 40..48 | identity: a hash over the checksums of all blocks |
//! | 48..56 | length and CRC-32 of the settings |
//! | 56..60 | zero |
//! | 60..64 | CRC-32 of the bytes before |
//!
//! Then come the blocks, each followed by its CRC-32, and the settings that made the file, as JSON. All
//! numbers are little-endian.

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::files::{self, AtomicFile};

use crate::error::Error;
use crate::hash;
use crate::packed::{Packed, SAMPLE_BYTES, Sample};

const MAGIC: [u8; 8] = *b"DyadSmp\0";
const VERSION: u32 = 1;
/// The largest version that is read.
const NEWEST_VERSION: u32 = 2;
const HEADER_BYTES: usize = 64;
/// Samples in a block: half a megabyte.
pub const BLOCK: usize = 1 << 14;

/// The header of a sample file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleSummary {
    /// Samples.
    pub count: u64,
    /// Samples held out for testing.
    pub tests: u64,
    /// Games of the samples.
    pub games: u64,
    /// Hash of the content.
    pub identity: u64,
    /// The settings that made the file.
    pub settings: Json,
}

impl SampleSummary {
    fn header(&self, settings: &[u8]) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(BLOCK as u32).to_le_bytes());
        for (at, number) in [(16, self.count), (24, self.tests), (32, self.games), (40, self.identity)] {
            header[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        header[48..52].copy_from_slice(&(settings.len() as u32).to_le_bytes());
        header[52..56].copy_from_slice(&crc32fast::hash(settings).to_le_bytes());
        let sum = crc32fast::hash(&header[..60]);
        header[60..].copy_from_slice(&sum.to_le_bytes());
        header
    }
}

/// Writes a sample file; it appears under its name when it is [finished](SampleWriter::finish).
pub struct SampleWriter {
    path: PathBuf,
    file: BufWriter<AtomicFile>,
    block: Vec<u8>,
    summary: SampleSummary,
}

impl SampleWriter {
    /// Begins a file.
    pub fn create(path: &Path, settings: Json) -> Result<SampleWriter, Error> {
        let file = AtomicFile::create(path).map_err(Error::file("create", path))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(&[0; HEADER_BYTES]).map_err(Error::file("write", path))?;
        let summary = SampleSummary { settings, ..SampleSummary::default() };
        Ok(SampleWriter { path: path.to_path_buf(), file, block: Vec::new(), summary })
    }

    /// Samples written so far.
    pub fn count(&self) -> u64 {
        self.summary.count
    }

    /// Appends a sample.
    pub fn push(&mut self, sample: &Packed) -> Result<(), Error> {
        self.summary.count += 1;
        self.summary.tests += u64::from(sample.is_test());
        self.summary.games += u64::from(sample.starts_game());
        self.block.extend(sample.0);
        if self.block.len() == BLOCK * SAMPLE_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<(), Error> {
        let sum = crc32fast::hash(&self.block);
        self.summary.identity = hash::fold(self.summary.identity, u64::from(sum));
        let written = self.file.write_all(&self.block).and_then(|()| self.file.write_all(&sum.to_le_bytes()));
        self.block.clear();
        written.map_err(Error::file("write", &self.path))
    }

    /// Adds a field to the settings.
    pub fn note(&mut self, key: &str, value: Json) {
        if let Json::Object(settings) = &mut self.summary.settings {
            settings.insert(key.to_string(), value);
        }
    }

    /// Completes the file under its final name.
    pub fn finish(mut self) -> Result<SampleSummary, Error> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let SampleWriter { path, mut file, summary, .. } = self;
        let settings = summary.settings.to_string().into_bytes();
        let header = summary.header(&settings);
        let complete = || -> io::Result<()> {
            file.write_all(&settings)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.into_inner()?.commit()
        };
        complete().map_err(Error::file("write", &path))?;
        Ok(summary)
    }
}

/// A sample file in memory, checked from end to end.
#[derive(Default)]
pub struct SampleFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The header.
    pub summary: SampleSummary,
    /// All samples in order.
    pub samples: Vec<Packed>,
}

impl SampleFile {
    /// Reads a file and checks all of it.
    ///
    /// # Errors
    /// When it is no sample file, of another version, truncated or damaged, with the place.
    pub fn open(path: &Path) -> Result<SampleFile, Error> {
        let file = files::open(path).map_err(Error::file("open", path))?;
        let length = file.metadata().map_err(Error::file("read", path))?.len();
        let mut input = BufReader::with_capacity(1 << 20, file);
        let (mut summary, settings_sum) = read_header(&mut input, length, path)?;
        let samples = read_blocks(&mut input, &summary, path)?;
        summary.settings = read_settings(&mut input, settings_sum, path)?;
        Ok(SampleFile { path: path.to_path_buf(), summary, samples })
    }

    /// Adds the samples of another file.
    pub fn append(&mut self, other: SampleFile) {
        let (summary, added) = (&mut self.summary, other.summary);
        summary.count += added.count;
        summary.tests += added.tests;
        summary.games += added.games;
        summary.identity = hash::fold(summary.identity, added.identity);
        self.samples.extend(other.samples);
    }

    /// Indices of the samples to train on, or of those to test with.
    pub fn indices(&self, test: bool) -> Vec<u32> {
        (0..).zip(&self.samples).filter(|(_, sample)| sample.is_test() == test).map(|(index, _)| index).collect()
    }

    /// The sample at `index`, unpacked.
    ///
    /// # Panics
    /// If `index` is not below the number of samples.
    pub fn read(&self, index: usize) -> Result<Sample, Error> {
        let sample = self.samples[index].unpack();
        sample.map_err(|problem| Error::content(&self.path, format!("sample {index}"), problem))
    }
}

/// The header without the settings, and the checksum these must have.
fn read_header(input: &mut impl Read, length: u64, path: &Path) -> Result<(SampleSummary, u32), Error> {
    let wrong = |problem: String| Error::content(path, "header", problem);
    let mut header = [0; HEADER_BYTES];
    if length < HEADER_BYTES as u64 {
        return Err(wrong(format!("a sample file has at least {HEADER_BYTES} bytes, this one {length}")));
    }
    input.read_exact(&mut header).map_err(Error::file("read", path))?;
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    if header[..8] != MAGIC {
        return Err(wrong("not a sample file (it does not begin with DyadSmp)".to_string()));
    }
    if crc32fast::hash(&header[..60]) != word(60) {
        return Err(wrong("damaged: its checksum is wrong".to_string()));
    }
    if !(VERSION..=NEWEST_VERSION).contains(&word(8)) || word(12) != BLOCK as u32 {
        return Err(wrong(format!("version {} is not known, expected {VERSION} or {NEWEST_VERSION}", word(8))));
    }
    let summary = SampleSummary {
        count: number(16),
        tests: number(24),
        games: number(32),
        identity: number(40),
        settings: Json::Null,
    };
    let body =
        summary.count.saturating_mul(SAMPLE_BYTES as u64).saturating_add(4 * summary.count.div_ceil(BLOCK as u64));
    let expected = body.saturating_add(HEADER_BYTES as u64 + u64::from(word(48)));
    if length != expected {
        let fault = if length < expected { "cut" } else { "followed by something else" };
        return Err(wrong(format!(
            "the file is {fault}: {} samples make {expected} bytes, it has {length}",
            summary.count
        )));
    }
    Ok((summary, word(52)))
}

/// All samples, if the checksums of their blocks are those of the header.
fn read_blocks(input: &mut impl Read, summary: &SampleSummary, path: &Path) -> Result<Vec<Packed>, Error> {
    let (count, mut identity) = (summary.count as usize, 0);
    let mut samples = Vec::with_capacity(count);
    for first in (0..count).step_by(BLOCK) {
        let length = BLOCK.min(count - first);
        let place = || format!("block {} (samples {first} to {})", first / BLOCK, first + length - 1);
        let (mut bytes, mut sum) = (vec![0; length * SAMPLE_BYTES], [0; 4]);
        let read = input.read_exact(&mut bytes).and_then(|()| input.read_exact(&mut sum));
        read.map_err(|error| Error::content(path, place(), error))?;
        let sum = u32::from_le_bytes(sum);
        if crc32fast::hash(&bytes) != sum {
            return Err(Error::content(path, place(), "damaged: its checksum is wrong"));
        }
        identity = hash::fold(identity, u64::from(sum));
        samples.extend(bytes.as_chunks().0.iter().map(|&bytes| Packed(bytes)));
    }
    if identity != summary.identity {
        return Err(Error::content(path, "header", "the blocks are not those the header was written for"));
    }
    Ok(samples)
}

fn read_settings(input: &mut impl Read, sum: u32, path: &Path) -> Result<Json, Error> {
    let wrong = |problem: String| Error::content(path, "settings", problem);
    let mut text = Vec::new();
    input.read_to_end(&mut text).map_err(Error::file("read", path))?;
    if crc32fast::hash(&text) != sum {
        return Err(wrong("damaged: their checksum is wrong".to_string()));
    }
    serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Temporary;
    use crate::testing::walk;
    use serde_json::json;
    use std::fs;

    fn write(path: &Path, samples: &[Sample]) -> SampleSummary {
        let mut writer = SampleWriter::create(path, json!({ "seed": 5 })).expect("the folder can be written");
        for sample in samples {
            writer.push(&Packed::new(sample)).expect("there is room");
        }
        writer.note("read", json!(3));
        writer.finish().expect("the file can be renamed")
    }

    #[test]
    fn a_file_gives_back_what_was_written() {
        let folder = Temporary::folder();
        let path = folder.join("a.samples");
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 77] {
            let samples = walk(count);
            let summary = write(&path, &samples);
            let file = SampleFile::open(&path).unwrap();
            assert_eq!((&file.summary, summary.count as usize), (&summary, count));
            assert_eq!(summary.settings, json!({ "seed": 5, "read": 3 }));
            assert!(file.samples.iter().copied().eq(samples.iter().map(Packed::new)));
            let tests = file.indices(true);
            assert_eq!((tests.len() as u64, tests.len() + file.indices(false).len()), (summary.tests, count));
            assert!(tests.iter().all(|&index| samples[index as usize].test));
        }
    }

    #[test]
    fn identity_stands_for_the_content() {
        let folder = Temporary::folder();
        let path = folder.join("a.samples");
        let samples = walk(BLOCK + 5);
        let identity = write(&path, &samples).identity;
        assert_eq!(write(&path, &samples).identity, identity);
        let mut other = samples.clone();
        other[BLOCK + 3].test ^= true;
        assert_ne!(write(&path, &other).identity, identity);
        assert_ne!(write(&path, &samples[1..]).identity, identity);
    }

    #[test]
    fn damaged_files_are_refused_with_the_place() {
        let folder = Temporary::folder();
        let path = folder.join("a.samples");
        write(&path, &walk(2 * BLOCK + 100));
        let good = fs::read(&path).expect("it was written");
        let flipped = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            bytes
        };
        let second_block = HEADER_BYTES + BLOCK * SAMPLE_BYTES + 4;
        let cases = [
            (Vec::new(), "at least 64 bytes, this one 0"),
            (good[..40].to_vec(), "at least 64 bytes, this one 40"),
            (good[..good.len() - 1].to_vec(), "header: the file is cut"),
            (good[..good.len() / 2].to_vec(), "header: the file is cut"),
            ([&good[..], b"x"].concat(), "followed by something else"),
            (b"[Event \"a game\"]".repeat(10), "not a sample file"),
            (flipped(0), "not a sample file"),
            (flipped(17), "header: damaged"),
            (flipped(HEADER_BYTES + 10), "block 0 (samples 0 to 16383): damaged"),
            (flipped(second_block), "block 1 (samples 16384 to 32767): damaged"),
            (flipped(good.len() - 3), "settings: damaged"),
        ];
        for (bytes, expected) in cases {
            fs::write(&path, bytes).expect("the folder can be written");
            let error = SampleFile::open(&path).err().unwrap_or_else(|| panic!("{expected}: was opened")).to_string();
            assert!(error.contains(expected) && error.contains("a.samples"), "{expected}: {error}");
        }
    }
}
