//! The [transposition table](https://www.chessprogramming.org/Transposition_Table).
//!
//! Threads read and write it without locks: an entry is two atomic words, the data and the key XOR the data ([lockless
//! hashing](https://www.chessprogramming.org/Shared_Hash_Table#Lockless) by Hyatt and Mann). Words of two writes do not
//! match, so a torn entry is a miss.
//!
//! A table of up to a gigabyte is prefaulted on allocation, in [huge pages](crate::platform::advise_huge_pages) if
//! possible, so that no search pays for page faults. A larger one is lazy: the system provides zeroed pages on the
//! first write, so that the table is ready at once. The allocation is not aligned to cache lines, so the first cluster
//! begins at the first whole cache line.

use crate::board::Move;
use crate::control::Control;
use crate::platform::{advise_huge_pages, available_megabytes, prefetch};
use crate::value::{DECIDED, NONE, Value};
use bytemuck::allocation::try_zeroed_slice_box;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread;

mod slot;
use slot::{Slot, read, write};

/// How a stored value bounds the true value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// No bound: the entry has a static evaluation or a move.
    None,
    /// The true value is at most this.
    Upper,
    /// The true value is at least this.
    Lower,
    /// The true value is this.
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
    pub(crate) fn is_lower(self) -> bool {
        matches!(self, Bound::Lower | Bound::Exact)
    }

    /// Whether the true value is at most the stored one.
    pub(crate) fn is_upper(self) -> bool {
        matches!(self, Bound::Upper | Bound::Exact)
    }
}

/// An entry of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The best move, if any. It may be illegal after a key collision.
    pub(crate) mv: Option<Move>,
    /// The value, with mates counted from the root of the search.
    pub(crate) value: Value,
    /// The static evaluation without corrections, or [`NONE`].
    pub(crate) eval: Value,
    /// Depth of the search in plies.
    pub(crate) depth: i32,
    /// How the value bounds the true value.
    pub(crate) bound: Bound,
    /// Whether the position was ever on a principal variation.
    pub(crate) pv: bool,
}

impl Entry {
    /// The TT-adjusted evaluation: the value if it is a tighter bound than the static evaluation, else the evaluation.
    pub(crate) fn adjusted_eval(&self, eval: Value) -> Value {
        let tighter = (self.bound.is_lower() && self.value > eval) || (self.bound.is_upper() && self.value < eval);
        if tighter { self.value } else { eval }
    }
}

/// Entries of a cluster.
const CLUSTER_SIZE: usize = 4;
/// Number of generations: 5 bits.
const GENERATIONS: u64 = 32;
/// Replacement penalty for each generation of age, in plies of depth.
const AGE_PENALTY: i32 = 4;
/// A bound does not overwrite an entry of the same search and position that is this many plies deeper.
const KEPT_DEPTH: i32 = 4;
/// Plies added to [`KEPT_DEPTH`] if the bound is from a principal variation.
const KEPT_PV_DEPTH: i32 = 2;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;
/// Bytes of a page of memory.
const PAGE_SIZE: usize = 4096;
/// Bytes of the largest table that is prefaulted.
const MAX_PREFAULT: usize = if cfg!(test) { 8 << 20 } else { 1 << 30 };
/// Words of a cluster, which fills a cache line.
const CLUSTER_WORDS: usize = 2 * CLUSTER_SIZE;

/// The entries of a cluster.
fn slots(cluster: &[AtomicU64; CLUSTER_WORDS]) -> &[Slot] {
    cluster.as_chunks().0
}

/// Why the table was not resized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashError(String);

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HashError {}

/// The transposition table, shared by the threads of a search.
pub(crate) struct Table {
    words: Box<[AtomicU64]>,
    /// Index of the first word of the first cluster, which begins a cache line.
    first: usize,
    /// Number of clusters.
    count: usize,
    generation: AtomicU8,
    /// Whether anything was stored since the table was cleared.
    used: AtomicBool,
    /// Whether no page has been written yet.
    is_new: bool,
}

// The bits of a data word, from the lowest: move 16, value 16, evaluation 16, depth 8, bound 2, pv 1, generation 5.

/// Makes mate and tablebase values relative to the position instead of the root.
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

    /// A table of `megabytes` (2^20 bytes), prefaulted by up to `threads` threads.
    ///
    /// # Errors
    /// Without enough memory.
    pub(crate) fn new(megabytes: usize, threads: usize) -> Result<Table, HashError> {
        let mut table = Table::allocate(megabytes, available_megabytes())?;
        table.prefault(threads, &Control::new(false));
        Ok(table)
    }

    /// A table that is not prefaulted. `available` is the available memory in megabytes, if known.
    fn allocate(megabytes: usize, available: Option<usize>) -> Result<Table, HashError> {
        let short = |free: String| HashError(format!("not enough memory for a hash of {megabytes} MB{free}"));
        if let Some(available) = available
            && megabytes > available
        {
            return Err(short(format!(": {available} MB are available")));
        }
        let count = megabytes.max(1).checked_mul(1 << 20).ok_or_else(|| short(String::new()))? / CACHE_LINE;
        Table::with_clusters(count).ok_or_else(|| short(String::new()))
    }

    /// Writes all pages of a new table, unless it is lazy, until `control` is stopped.
    pub(crate) fn prefault(&mut self, threads: usize, control: &Control) {
        if !mem::take(&mut self.is_new) || self.is_lazy() {
            return;
        }
        advise_huge_pages(&mut self.words);
        self.zero(threads, control);
    }

    /// Resizes and empties the table; the caller [prefaults](Table::prefault) it. If memory cannot hold both tables,
    /// the old one is freed first. After an error the table has its old size, or half of it and so on where memory does not
    /// suffice any more, and is empty if it was freed.
    ///
    /// # Errors
    /// Without enough memory.
    pub(crate) fn resize(&mut self, megabytes: usize) -> Result<(), HashError> {
        self.resize_with(available_megabytes, megabytes)
    }

    fn resize_with(&mut self, available: impl Fn() -> Option<usize>, megabytes: usize) -> Result<(), HashError> {
        let (free, own) = (available(), (self.count * CACHE_LINE) >> 20);
        let error = match Table::allocate(megabytes, free) {
            Ok(new) => {
                *self = new;
                return Ok(());
            }
            Err(error) => error,
        };
        if free.is_some_and(|free| megabytes > free.saturating_add(own)) {
            return Err(error);
        }
        let count = self.count;
        self.words = Box::default();
        match Table::allocate(megabytes, available()) {
            Ok(new) => {
                *self = new;
                Ok(())
            }
            Err(error) => {
                *self = Table::with_clusters_up_to(count);
                Err(error)
            }
        }
    }

    /// A table of `count` clusters, halved until memory suffices.
    fn with_clusters_up_to(count: usize) -> Table {
        let new = (0..usize::BITS).find_map(|halved| Table::with_clusters((count >> halved).max(1)));
        new.expect("memory for a single cluster")
    }

    /// An empty table of `count` clusters.
    fn with_clusters(count: usize) -> Option<Table> {
        let words =
            try_zeroed_slice_box::<AtomicU64>(count.checked_mul(CLUSTER_WORDS)?.checked_add(CLUSTER_WORDS - 1)?)
                .ok()?;
        let first = words.as_ptr().addr().next_multiple_of(CACHE_LINE) - words.as_ptr().addr();
        Some(Table {
            words,
            first: first / size_of::<AtomicU64>(),
            count,
            generation: AtomicU8::new(0),
            used: false.into(),
            is_new: true,
        })
    }

    /// Whether the table is too large to be prefaulted.
    fn is_lazy(&self) -> bool {
        self.count * CACHE_LINE > MAX_PREFAULT
    }

    /// Removes all entries, with up to `threads` threads.
    ///
    /// A lazy table that is less than half used is replaced by a new one: faster than writing all pages.
    pub(crate) fn clear(&mut self, threads: usize) {
        if !*self.used.get_mut() {
            *self.generation.get_mut() = 0;
            return;
        }
        if self.is_lazy() && self.fraction_used() < 0.5 {
            let count = self.count;
            // Freed first: old and new table may not fit into memory together.
            self.words = Box::default();
            *self = Table::with_clusters_up_to(count);
        } else {
            self.zero(threads, &Control::new(false));
        }
        *self.used.get_mut() = false;
    }

    /// The fraction of pages with entries, estimated from a sample.
    fn fraction_used(&mut self) -> f64 {
        const SAMPLE: usize = 512;
        let pages = self.words.chunks_exact(PAGE_SIZE / size_of::<AtomicU64>());
        let every = (pages.len() / SAMPLE).max(1);
        let (mut seen, mut used) = (0, 0);
        for page in pages.step_by(every) {
            seen += 1;
            used += usize::from(page.iter().any(|word| word.load(Relaxed) != 0));
        }
        f64::from(used as u32) / f64::from(seen.max(1) as u32)
    }

    /// Writes zeros to all clusters, until `control` is stopped.
    fn zero(&mut self, threads: usize, control: &Control) {
        /// Words of a megabyte.
        const STEP: usize = (1 << 20) / size_of::<AtomicU64>();
        let empty = |words: &mut [AtomicU64]| {
            for part in words.chunks_mut(STEP).take_while(|_| !control.stopped()) {
                part.iter_mut().for_each(|word| *word.get_mut() = 0);
            }
        };
        let words = &mut self.words[self.first..][..self.count * CLUSTER_WORDS];
        let chunk = self.count.div_ceil(threads.max(1)) * CLUSTER_WORDS;
        let done = thread::scope(|scope| {
            let mut parts = words.chunks_mut(chunk);
            let own = parts.next();
            let spawned = parts.all(|part| thread::Builder::new().spawn_scoped(scope, move || empty(part)).is_ok());
            own.into_iter().for_each(empty);
            spawned
        });
        if !done {
            empty(words);
        }
        self.generation.store(0, Relaxed);
    }

    /// Begins a generation: entries of earlier ones are replaced first.
    pub(crate) fn new_search(&self) {
        let next = (u64::from(self.generation.load(Relaxed)) + 1) % GENERATIONS;
        self.generation.store(next as u8, Relaxed);
    }

    fn cluster(&self, key: u64) -> &[AtomicU64; CLUSTER_WORDS] {
        let index = ((u128::from(key) * self.count as u128) >> 64) as usize;
        let words = &self.words[self.first + index * CLUSTER_WORDS..];
        words.first_chunk().expect("all clusters are allocated")
    }

    /// Prefetches the entry of a key.
    pub(crate) fn prefetch(&self, key: u64) {
        prefetch(self.cluster(key));
    }

    /// The entry of the position with this key, `ply` plies from the root.
    #[inline(always)]
    pub(crate) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        slots(self.cluster(key)).iter().find_map(|slot| {
            let (data, matches) = read(slot, key);
            matches.then(|| Entry {
                mv: Move::from_bits(data as u16),
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

    /// Stores an entry in place of one of the same position, or of the shallowest and oldest of its cluster.
    pub(crate) fn store(&self, key: u64, ply: usize, entry: &Entry) {
        // Stored only once, so that the cache line stays shared among the threads.
        if !self.used.load(Relaxed) {
            self.used.store(true, Relaxed);
        }
        let generation = u64::from(self.generation.load(Relaxed));
        let slots = slots(self.cluster(key));
        let mut replaced = &slots[0];
        let mut lowest = i32::MAX;
        let mut mv = entry.mv.map_or(0, |mv| u64::from(mv.bits()));
        for slot in slots {
            let (data, matches) = read(slot, key);
            if matches {
                // Keeps the old move if there is no new one, and the whole entry if it is much deeper.
                if mv == 0 {
                    mv = data & 0xFFFF;
                }
                let keeps = entry.bound != Bound::Exact
                    && generation_of(data) == generation
                    && entry.depth + KEPT_DEPTH + KEPT_PV_DEPTH * i32::from(entry.pv) <= depth_of(data);
                if keeps {
                    return;
                }
                replaced = slot;
                break;
            }
            let age = (generation + GENERATIONS - generation_of(data)) % GENERATIONS;
            let value = if data == 0 { i32::MIN } else { depth_of(data) - AGE_PENALTY * age as i32 };
            if value < lowest {
                lowest = value;
                replaced = slot;
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
        write(replaced, key, data);
    }

    /// Permille of entries of this generation, estimated from a sample.
    pub(crate) fn hashfull(&self) -> u32 {
        let generation = u64::from(self.generation.load(Relaxed));
        let sample = self.words[self.first..].as_chunks().0[..self.count.min(250)].iter();
        let entries = sample.clone().flat_map(slots);
        let used = entries.filter(|[_, data]| {
            let data = data.load(Relaxed);
            data != 0 && generation_of(data) == generation
        });
        (used.count() * 1000 / (sample.len() * CLUSTER_SIZE)) as u32
    }
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
    fn stored_entries_are_found() {
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
    fn mates_are_relative_to_the_probing_root() {
        let table = Table::new(1, 1).unwrap();
        table.store(7, 4, &entry(mate_in(9), 5));
        assert_eq!(table.probe(7, 2).unwrap().value, mate_in(7));
        table.store(8, 4, &entry(mated_in(10), 5));
        assert_eq!(table.probe(8, 6).unwrap().value, mated_in(12));
    }

    #[test]
    fn a_store_without_a_move_keeps_the_old_move() {
        let table = Table::new(1, 1).unwrap();
        let mv = Board::startpos().moves()[3];
        table.store(9, 0, &Entry { mv: Some(mv), ..entry(5, 3) });
        table.store(9, 0, &entry(6, 4));
        assert_eq!(table.probe(9, 0).unwrap().mv, Some(mv));
    }

    #[test]
    fn old_entries_are_replaced_first() {
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
        // The last table is lazy: it is first replaced and then overwritten.
        for megabytes in [1, 3, 9] {
            let mut table = Table::new(megabytes, 2).unwrap();
            for (threads, stride) in [(1, usize::MAX), (3, usize::MAX), (64, 20)] {
                table.new_search();
                for &key in &keys {
                    assert!(table.cluster(key).as_ptr().addr().is_multiple_of(CACHE_LINE));
                    table.store(key, 0, &entry(5, 3));
                }
                let count = table.count as u64;
                for index in (0..count).step_by(stride.min(table.count)) {
                    table.store((u64::MAX / count) * index, 0, &entry(5, 3));
                }
                assert!(table.probe(u64::MAX, 0).is_some());
                assert_eq!(table.fraction_used() < 0.5, megabytes == 9 && stride == usize::MAX);
                table.clear(threads);
                assert!(keys.iter().all(|&key| table.probe(key, 0).is_none()));
                assert!(table.words.iter().all(|word| word.load(Relaxed) == 0) && table.count as u64 == count);
            }
        }
    }

    /// Resident memory of this process.
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
        // Other tests run at the same time.
        assert!(resident_megabytes() < before + 1024, "{} MB, {before} before", resident_megabytes());
    }

    #[test]
    fn a_stopped_prefault_leaves_an_empty_table() {
        let key = u64::MAX / 3;
        let mut table = Table::new(1, 1).unwrap();
        table.store(key, 0, &entry(5, 3));
        table.resize(8).unwrap();
        let (running, stopped) = (Control::new(false), Control::new(false));
        stopped.stop();
        let marked = |table: &Table| table.words[table.words.len() / 2].load(Relaxed) == 1;
        for (control, is_written) in [(&stopped, false), (&running, true)] {
            let middle = table.words.len() / 2;
            *table.words[middle].get_mut() = 1;
            table.is_new = true;
            table.prefault(2, control);
            assert_eq!(marked(&table), !is_written);
        }
        assert!(table.probe(key, 0).is_none());
        table.store(key, 0, &entry(5, 3));
        assert!(table.probe(key, 0).is_some());
    }

    /// A table of 6 MB, with some memory available before and after it is freed.
    #[test]
    fn a_resize_may_free_the_old_table_first() {
        let key = u64::MAX / 3;
        for (megabytes, free, after_freeing, expected) in [
            (3, 9, 15, 3),
            (3, 1, 7, 3),
            (7, 1, 7, 7),
            // Too much in any case: the table stays as it is.
            (8, 1, 7, 6),
            // Another process took the free memory.
            (7, 1, 2, 6),
        ] {
            let mut table = Table::new(6, 1).unwrap();
            table.store(key, 0, &entry(5, 3));
            let asked = std::cell::Cell::new(0);
            let available = || Some(if asked.replace(asked.get() + 1) == 0 { free } else { after_freeing });
            let resized = table.resize_with(available, megabytes);
            assert_eq!(resized.is_ok(), expected == megabytes, "{megabytes} {free} {after_freeing}");
            assert_eq!(table.count * CACHE_LINE, expected << 20, "{megabytes} {free} {after_freeing}");
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
