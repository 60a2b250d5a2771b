//! The transposition table: what a search learned of positions it met.
//!
//! Threads read and write it without locks. An entry is two atomic words, the data and the key combined with the data
//! by exclusive or (Hyatt's and Mann's lockless hashing): words of two different writes do not fit
//! together, so a torn entry is a miss and nothing worse.
//!
//! A table of up to a gigabyte is written as soon as it is made, in [huge pages](crate::platform::advise_huge_pages) where the system has
//! them, so that no search pays for either. A larger one consists of pages that the system gives when they are first
//! written, zero and at once, so that one of many gigabytes is there in no time. To have it so the words are one allocation
//! without an alignment of its own, and the clusters begin at its first cache line.

use crate::board::{ChessMove, move_bits, move_from_bits};
use crate::platform::{advise_huge_pages, prefetch};
use crate::value::{DECIDED, NONE, Value};
use bytemuck::allocation::try_zeroed_slice_box;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread;

mod slot;
use slot::{Slot, read, write};

/// What a stored value says of the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Nothing: only the static evaluation was stored.
    None,
    /// The true value is at most this.
    Upper,
    /// The true value is at least this.
    Lower,
    /// This is the value.
    Exact,
}

impl Bound {
    fn from_bits(bits: u64) -> Bound {
        match bits & 3 {
            0 => Bound::None,
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        }
    }

    /// Whether the true value is at least the stored one.
    #[must_use]
    pub fn is_lower(self) -> bool {
        matches!(self, Bound::Lower | Bound::Exact)
    }

    /// Whether the true value is at most the stored one.
    #[must_use]
    pub fn is_upper(self) -> bool {
        matches!(self, Bound::Upper | Bound::Exact)
    }
}

/// What the table knows of a position.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The best move, if one was found; it must be tested before it is made.
    pub mv: Option<ChessMove>,
    /// The value, mates counted from the root of the search that asks.
    pub value: Value,
    /// The static evaluation, uncorrected, or [`NONE`].
    pub eval: Value,
    /// Depth of the search behind the value.
    pub depth: i32,
    /// What the value says.
    pub bound: Bound,
    /// Whether the position ever stood on a principal variation.
    pub pv: bool,
}

const CLUSTER: usize = 4;
/// Generations are counted in five bits.
const GENERATIONS: u64 = 32;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a page of memory.
const PAGE: usize = 4096;
/// Tables of up to so many bytes are written when they are made; larger ones take their pages as they are filled.
const PREPARED: usize = if cfg!(test) { 8 << 20 } else { 1 << 30 };
/// Words of a cluster: a cache line.
const WORDS: usize = 2 * CLUSTER;

/// The entries of a cluster.
#[inline]
fn slots(cluster: &[AtomicU64; WORDS]) -> &[Slot] {
    cluster.as_chunks().0
}

/// Why a table of the wanted size could not be had; there is one of the old size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashError(String);

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HashError {}

/// The transposition table, shared by the threads of a search.
pub struct Table {
    /// The clusters, from the first that begins a cache line.
    words: Box<[AtomicU64]>,
    /// Where that is.
    first: usize,
    /// How many clusters there are.
    count: usize,
    generation: AtomicU8,
    /// Whether anything may have been stored since it was empty.
    used: AtomicBool,
}

// Data word: move 16, value 16, evaluation 16, depth 8, bound 2, pv 1, generation 5.

/// A move in sixteen bits; 0 is none.
#[inline]
pub(crate) fn pack_move(mv: Option<ChessMove>) -> u64 {
    u64::from(move_bits(mv))
}

#[inline]
pub(crate) fn unpack_move(bits: u64) -> Option<ChessMove> {
    move_from_bits(bits as u16)
}

/// Mates are stored as distances from the position itself.
fn to_stored(value: Value, ply: usize) -> i16 {
    (match value {
        v if v >= DECIDED => v + ply as Value,
        v if v <= -DECIDED => v - ply as Value,
        v => v,
    }) as i16
}

fn from_stored(value: i16, ply: usize) -> Value {
    match Value::from(value) {
        v if v >= DECIDED => v - ply as Value,
        v if v <= -DECIDED => v + ply as Value,
        v => v,
    }
}

fn depth_of(data: u64) -> i32 {
    i32::from((data >> 48) as u8) - 1
}

fn generation_of(data: u64) -> u64 {
    data >> 59
}

impl Table {
    /// Bytes of an entry.
    pub(crate) const ENTRY_BYTES: u64 = size_of::<Slot>() as u64;

    /// A table of so many megabytes (2^20 bytes), made with so many threads, or with this one where the system has no more.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(megabytes: usize, threads: usize) -> Result<Table, HashError> {
        Table::within(available_megabytes(), megabytes, threads)
    }

    /// The same where so many megabytes are available, if that is known.
    fn within(available: Option<usize>, megabytes: usize, threads: usize) -> Result<Table, HashError> {
        let short = |free: String| HashError(format!("not enough memory for a hash of {megabytes} MB{free}"));
        if let Some(available) = available
            && megabytes > available
        {
            return Err(short(format!(": {available} MB are available")));
        }
        let count = megabytes.max(1).checked_mul(1 << 20).ok_or_else(|| short(String::new()))? / LINE;
        let mut table = Table::of(count).ok_or_else(|| short(String::new()))?;
        table.prepare(threads);
        Ok(table)
    }

    /// Writes a table that was just made, if searches are not to pay for its pages.
    fn prepare(&mut self, threads: usize) {
        if !self.is_taken_as_filled() {
            advise_huge_pages(&mut self.words);
            self.overwrite(threads);
        }
    }

    /// Makes it another size, and empty. What has no room beside the old table may have it in its place; when that
    /// fails too the table is empty, of its old size.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn resize(&mut self, megabytes: usize, threads: usize) -> Result<(), HashError> {
        self.resize_within(available_megabytes, megabytes, threads)
    }

    fn resize_within(
        &mut self,
        available: impl Fn() -> Option<usize>,
        megabytes: usize,
        threads: usize,
    ) -> Result<(), HashError> {
        let (beside, own) = (available(), (self.count * LINE) >> 20);
        let error = match Table::within(beside, megabytes, threads) {
            Ok(new) => {
                *self = new;
                return Ok(());
            }
            Err(error) => error,
        };
        if beside.is_some_and(|beside| megabytes > beside.saturating_add(own)) {
            return Err(error);
        }
        let count = self.count;
        self.words = Box::default();
        match Table::within(available(), megabytes, threads) {
            Ok(new) => {
                *self = new;
                Ok(())
            }
            Err(error) => {
                *self = Table::largest(count);
                self.prepare(threads);
                Err(error)
            }
        }
    }

    /// So many clusters, or, where there is no memory for them, half as many and so on.
    fn largest(count: usize) -> Table {
        let new = (0..usize::BITS).find_map(|halved| Table::of((count >> halved).max(1)));
        new.expect("memory for a single cluster")
    }

    /// So many clusters, all empty.
    fn of(count: usize) -> Option<Table> {
        let words = try_zeroed_slice_box::<AtomicU64>(count.checked_mul(WORDS)?.checked_add(WORDS - 1)?).ok()?;
        let first = words.as_ptr().addr().next_multiple_of(LINE) - words.as_ptr().addr();
        Some(Table {
            words,
            first: first / size_of::<AtomicU64>(),
            count,
            generation: AtomicU8::new(0),
            used: false.into(),
        })
    }

    /// Whether the system gives the table's pages when they are first written.
    fn is_taken_as_filled(&self) -> bool {
        self.count * LINE > PREPARED
    }

    /// Forgets everything, with so many threads, or with this one where the system has no more.
    ///
    /// A table whose pages are taken as it is filled, of which little was used, is given back for a new one: to write pages
    /// that were never written would take as long as making them.
    pub fn clear(&mut self, threads: usize) {
        if !*self.used.get_mut() {
            *self.generation.get_mut() = 0;
            return;
        }
        if self.is_taken_as_filled() && self.share_used() < 0.5 {
            let count = self.count;
            // There may be no room for both.
            self.words = Box::default();
            *self = Table::largest(count);
        } else {
            self.overwrite(threads);
        }
        *self.used.get_mut() = false;
    }

    /// The share of the memory's pages that hold something, by a sample.
    fn share_used(&mut self) -> f64 {
        const SAMPLE: usize = 512;
        let pages = self.words.chunks_exact(PAGE / size_of::<AtomicU64>());
        let every = (pages.len() / SAMPLE).max(1);
        let (mut seen, mut used) = (0, 0);
        for page in pages.step_by(every) {
            seen += 1;
            used += usize::from(page.iter().any(|word| word.load(Relaxed) != 0));
        }
        f64::from(used as u32) / f64::from(seen.max(1) as u32)
    }

    fn overwrite(&mut self, threads: usize) {
        fn empty(words: &mut [AtomicU64]) {
            words.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
        let words = &mut self.words[self.first..][..self.count * WORDS];
        let chunk = self.count.div_ceil(threads.max(1)) * WORDS;
        let done = thread::scope(|scope| {
            let mut parts = words.chunks_mut(chunk);
            let own = parts.next();
            let begun = parts.all(|part| thread::Builder::new().spawn_scoped(scope, || empty(part)).is_ok());
            own.into_iter().for_each(empty);
            begun
        });
        if !done {
            empty(words);
        }
        self.generation.store(0, Relaxed);
    }

    /// Counts up the generation: entries of earlier searches are replaced first.
    pub fn new_search(&self) {
        let next = (u64::from(self.generation.load(Relaxed)) + 1) % GENERATIONS;
        self.generation.store(next as u8, Relaxed);
    }

    #[inline]
    fn cluster(&self, key: u64) -> &[AtomicU64; WORDS] {
        let index = ((u128::from(key) * self.count as u128) >> 64) as usize;
        let words = &self.words[self.first + index * WORDS..];
        words.first_chunk().expect("there are as many clusters as were counted")
    }

    /// Asks the processor for the entry before it is needed.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(self.cluster(key));
    }

    /// What is known of the position with this key, `ply` plies from the root.
    #[inline(always)]
    #[must_use]
    pub fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        slots(self.cluster(key)).iter().find_map(|slot| {
            let (data, fits) = read(slot, key);
            fits.then(|| Entry {
                mv: unpack_move(data),
                value: from_stored((data >> 16) as i16, ply),
                eval: match (data >> 32) as i16 {
                    i16::MAX => NONE,
                    eval => Value::from(eval),
                },
                depth: depth_of(data),
                bound: Bound::from_bits(data >> 56),
                pv: data >> 58 & 1 != 0,
            })
        })
    }

    /// Stores an entry, in place of the same position's, or of the shallowest and oldest of its cluster.
    pub fn store(&self, key: u64, ply: usize, entry: &Entry) {
        // Written once only: the line it lies in is read by all threads.
        if !self.used.load(Relaxed) {
            self.used.store(true, Relaxed);
        }
        let generation = u64::from(self.generation.load(Relaxed));
        let slots = slots(self.cluster(key));
        let mut victim = &slots[0];
        let mut worst = i32::MAX;
        let mut mv = pack_move(entry.mv);
        for slot in slots {
            let (data, fits) = read(slot, key);
            if fits {
                // A search that found no move keeps the old one; a shallow bound does not displace a deep value.
                if mv == 0 {
                    mv = data & 0xFFFF;
                }
                let keeps = entry.bound != Bound::Exact
                    && generation_of(data) == generation
                    && entry.depth + 4 + 2 * i32::from(entry.pv) <= depth_of(data);
                if keeps {
                    return;
                }
                victim = slot;
                break;
            }
            let age = (generation + GENERATIONS - generation_of(data)) % GENERATIONS;
            let worth = if data == 0 { i32::MIN } else { depth_of(data) - 4 * age as i32 };
            if worth < worst {
                worst = worth;
                victim = slot;
            }
        }
        let eval = if entry.eval == NONE { i16::MAX } else { entry.eval as i16 };
        let data = mv
            | u64::from(to_stored(entry.value, ply) as u16) << 16
            | u64::from(eval as u16) << 32
            | ((entry.depth + 1).clamp(0, 255) as u64) << 48
            | (entry.bound as u64) << 56
            | u64::from(entry.pv) << 58
            | generation << 59;
        write(victim, key, data);
    }

    /// Entries of this search in a thousand.
    #[must_use]
    pub fn hashfull(&self) -> u32 {
        let generation = u64::from(self.generation.load(Relaxed));
        let sample = self.words[self.first..].as_chunks().0[..self.count.min(250)].iter();
        let entries = sample.clone().flat_map(slots);
        let used = entries.filter(|[_, data]| {
            let data = data.load(Relaxed);
            data != 0 && generation_of(data) == generation
        });
        (used.count() * 1000 / (sample.len() * CLUSTER)) as u32
    }
}

/// Memory that can be had without swapping, where the system tells.
///
/// Linux promises memory it does not have, and kills whoever uses it: so it is asked first.
fn available_megabytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::value::{mate_in, mated_in};

    fn entry(value: Value, depth: i32) -> Entry {
        Entry { mv: None, value, eval: 17, depth, bound: Bound::Exact, pv: true }
    }

    #[test]
    fn what_is_stored_is_found() {
        let table = Table::new(1, 1).unwrap();
        for (index, &mv) in Board::startpos().moves().iter().enumerate() {
            let key = 0x1234_5678_9ABC_DEF1_u64.wrapping_mul(index as u64 + 1);
            let stored = Entry {
                mv: Some(mv),
                value: -345,
                eval: NONE,
                depth: index as i32 - 1,
                bound: Bound::Lower,
                pv: index % 2 == 0,
            };
            table.store(key, 3, &stored);
            let found = table.probe(key, 3).unwrap();
            assert_eq!(format!("{found:?}"), format!("{stored:?}"));
        }
        assert!(table.probe(42, 0).is_none());
    }

    #[test]
    fn mates_are_counted_from_the_root_that_asks() {
        let table = Table::new(1, 1).unwrap();
        table.store(7, 4, &entry(mate_in(9), 5));
        assert_eq!(table.probe(7, 2).unwrap().value, mate_in(7));
        table.store(8, 4, &entry(mated_in(10), 5));
        assert_eq!(table.probe(8, 6).unwrap().value, mated_in(12));
    }

    #[test]
    fn a_move_outlives_a_store_without_one() {
        let table = Table::new(1, 1).unwrap();
        let mv = Board::startpos().moves()[3];
        table.store(9, 0, &Entry { mv: Some(mv), ..entry(5, 3) });
        table.store(9, 0, &entry(6, 4));
        assert_eq!(table.probe(9, 0).unwrap().mv, Some(mv));
    }

    #[test]
    fn old_entries_go_first() {
        let table = Table::new(1, 1).unwrap();
        // Small keys share the first cluster.
        (1..=4).for_each(|key| table.store(key, 0, &entry(0, 20)));
        (0..8).for_each(|_| table.new_search());
        (5..=8).for_each(|key| table.store(key, 0, &entry(0, 1)));
        assert!((5..=8).all(|key| table.probe(key, 0).is_some()));
        assert_eq!(table.hashfull(), 4 * 1000 / 1000);
    }

    #[test]
    fn clusters_are_cache_lines_and_all_of_them_are_cleared() {
        let keys: Vec<u64> = (0..500).map(|i| (u64::MAX / 499).wrapping_mul(i)).chain([u64::MAX]).collect();
        // The last takes its pages as it is filled, and is first replaced and then overwritten.
        for megabytes in [1, 3, 9] {
            let mut table = Table::new(megabytes, 2).unwrap();
            for (threads, stride) in [(1, usize::MAX), (3, usize::MAX), (64, 20)] {
                table.new_search();
                for &key in &keys {
                    assert!(table.cluster(key).as_ptr().addr().is_multiple_of(LINE));
                    table.store(key, 0, &entry(5, 3));
                }
                let count = table.count as u64;
                for index in (0..count).step_by(stride.min(table.count)) {
                    table.store((u64::MAX / count) * index, 0, &entry(5, 3));
                }
                assert!(table.probe(u64::MAX, 0).is_some());
                assert_eq!(table.share_used() < 0.5, megabytes == 9 && stride == usize::MAX);
                table.clear(threads);
                assert!(keys.iter().all(|&key| table.probe(key, 0).is_none()));
                assert!(table.words.iter().all(|word| word.load(Relaxed) == 0) && table.count as u64 == count);
            }
        }
    }

    /// Pages of memory that this process has.
    #[cfg(target_os = "linux")]
    fn resident_megabytes() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
        (pages * 4096) >> 20
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_large_table_takes_memory_only_as_it_is_filled() {
        let before = resident_megabytes();
        let mut table = Table::new(2048, 1).unwrap();
        table.new_search();
        (0..1000).for_each(|i| table.store((u64::MAX / 1000) * i, 0, &entry(5, 3)));
        table.clear(2);
        // Other tests run beside this one.
        assert!(resident_megabytes() < before + 1024, "{} MB, {before} before", resident_megabytes());
    }

    /// A table of 6 MB gets other sizes, with so much available beside it and in its place.
    #[test]
    fn another_size_may_take_the_place_of_the_old_one() {
        let key = u64::MAX / 3;
        for (megabytes, beside, instead, expected) in [
            (3, 9, 15, 3),
            (3, 1, 7, 3),
            (7, 1, 7, 7),
            // Too much in any case: what is there stays as it is.
            (8, 1, 7, 6),
            // Somebody else took what was free.
            (7, 1, 2, 6),
        ] {
            let mut table = Table::new(6, 1).unwrap();
            table.store(key, 0, &entry(5, 3));
            let asked = std::cell::Cell::new(0);
            let available = || Some(if asked.replace(asked.get() + 1) == 0 { beside } else { instead });
            let resized = table.resize_within(available, megabytes, 1);
            assert_eq!(resized.is_ok(), expected == megabytes, "{megabytes} {beside} {instead}");
            assert_eq!(table.count * LINE, expected << 20, "{megabytes} {beside} {instead}");
            assert_eq!(table.probe(key, 0).is_some(), megabytes == 8);
            table.store(key, 0, &entry(5, 3));
            assert!(table.probe(key, 0).is_some());
        }
    }

    #[test]
    fn an_impossible_size_is_refused() {
        let error = Table::new(1 << 40, 1).err().unwrap().to_string();
        assert!(error.contains("memory"), "{error}");
    }
}
