//! The [transposition table](https://www.chessprogramming.org/Transposition_Table).
//!
//! Threads read and write it without locks: an entry is two atomic words, the data and the key XOR the data ([lockless
//! hashing](https://www.chessprogramming.org/Shared_Hash_Table#Lockless) by Hyatt and Mann). Words of two writes do not
//! match, so a torn entry is a miss.
//!
//! The system provides zeroed pages, [huge](crate::platform::advise_huge_pages) if possible, on the first write to them.
//! [`Table::clear`] writes only to pages with entries, so a large table takes memory and time only as it is used. The
//! allocation is not aligned to cache lines, so the first cluster begins at the first whole cache line.

use crate::board::Move;
use crate::platform::{advise_huge_pages, available_megabytes, prefetch};
use crate::value::{NONE, TABLEBASE_WIN_IN_MAX, Value};
use bytemuck::allocation::try_zeroed_slice_box;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread;

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

const CLUSTER_SIZE: usize = 4;
/// Number of generations: 5 bits.
const GENERATIONS: u64 = 32;
/// Replacement penalty for each generation of age, in plies of depth.
const AGE_PENALTY: i32 = 4;
/// A bound does not overwrite an entry of the same search and position that is this many plies deeper.
const KEPT_DEPTH: i32 = 4;
/// Plies added to [`KEPT_DEPTH`] if the bound is from a principal variation.
const KEPT_PV_DEPTH: i32 = 2;

const CACHE_LINE: usize = 64;
const PAGE_WORDS: usize = 4096 / size_of::<AtomicU64>();
/// Words of a cluster, which fills a cache line.
const CLUSTER_WORDS: usize = 2 * CLUSTER_SIZE;

/// An entry: the key XOR the data, and the data.
type Slot = [AtomicU64; 2];

/// The data, and whether it is that of the key. Words of two different writes do not match.
fn read([check, data]: &Slot, key: u64) -> (u64, bool) {
    let data = data.load(Relaxed);
    (data, data != 0 && check.load(Relaxed) ^ data == key)
}

/// Replaces the entry; a reader between the two writes finds neither the old nor the new one.
fn write([check, data]: &Slot, key: u64, value: u64) {
    data.store(value, Relaxed);
    check.store(key ^ value, Relaxed);
}

fn slots(cluster: &[AtomicU64; CLUSTER_WORDS]) -> &[Slot] {
    cluster.as_chunks().0
}

/// Why the table was not resized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HashError(String);

/// Refuses a table of `megabytes` if fewer are known to be `available`.
fn check_memory(megabytes: usize, available: Option<usize>) -> Result<(), HashError> {
    match available {
        Some(available) if megabytes > available => {
            Err(HashError(format!("not enough memory for a hash of {megabytes} MB: {available} MB are available")))
        }
        _ => Ok(()),
    }
}

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
}

// The bits of a data word, from the lowest: move 16, value 16, evaluation 16, depth 8, bound 2, pv 1, generation 5.

/// Makes mate and tablebase values relative to the position instead of the root.
fn to_stored(value: Value, ply: usize) -> i16 {
    (match value {
        v if v >= TABLEBASE_WIN_IN_MAX => v + ply as Value,
        v if v <= -TABLEBASE_WIN_IN_MAX => v - ply as Value,
        v => v,
    }) as i16
}

fn from_stored(value: i16, ply: usize) -> Value {
    match Value::from(value) {
        v if v >= TABLEBASE_WIN_IN_MAX => v - ply as Value,
        v if v <= -TABLEBASE_WIN_IN_MAX => v + ply as Value,
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
    pub(crate) const ENTRY_BYTES: u64 = size_of::<Slot>() as u64;

    /// A table of `megabytes` (2^20 bytes).
    pub(crate) fn new(megabytes: usize) -> Result<Table, HashError> {
        check_memory(megabytes, available_megabytes())?;
        Table::allocate(megabytes)
    }

    fn allocate(megabytes: usize) -> Result<Table, HashError> {
        let table = || {
            let count = megabytes.max(1).checked_mul(1 << 20)? / CACHE_LINE;
            let words = count.checked_mul(CLUSTER_WORDS)?.checked_add(CLUSTER_WORDS - 1)?;
            let mut words = try_zeroed_slice_box::<AtomicU64>(words).ok()?;
            advise_huge_pages(&mut words);
            let first = words.as_ptr().addr().next_multiple_of(CACHE_LINE) - words.as_ptr().addr();
            let first = first / size_of::<AtomicU64>();
            Some(Table { words, first, count, generation: AtomicU8::new(0), used: false.into() })
        };
        table().ok_or_else(|| HashError(format!("not enough memory for a hash of {megabytes} MB")))
    }

    pub(crate) fn megabytes(&self) -> usize {
        (self.count * CACHE_LINE) >> 20
    }

    /// Resizes and empties the table. The old one is freed first. After an error the table is as it was if the memory
    /// was known not to suffice; else it is empty and has its old size, or a megabyte where even that is not to be had.
    pub(crate) fn resize(&mut self, megabytes: usize) -> Result<(), HashError> {
        let own = self.megabytes();
        check_memory(megabytes, available_megabytes().map(|free| free.saturating_add(own)))?;
        self.words = Box::default();
        let resized = Table::allocate(megabytes);
        let (new, result) = match resized {
            Ok(new) => (new, Ok(())),
            Err(error) => {
                let old = Table::allocate(own).or_else(|_| Table::allocate(1));
                (old.expect("memory for a megabyte"), Err(error))
            }
        };
        *self = new;
        result
    }

    /// Removes all entries, with up to `threads` threads. Pages that read zero are not written to.
    pub(crate) fn clear(&mut self, threads: usize) {
        *self.generation.get_mut() = 0;
        if !std::mem::take(self.used.get_mut()) {
            return;
        }
        let empty = |words: &mut [AtomicU64]| {
            for page in words.chunks_mut(PAGE_WORDS) {
                if page.iter_mut().any(|word| *word.get_mut() != 0) {
                    page.iter_mut().for_each(|word| *word.get_mut() = 0);
                }
            }
        };
        let words = &mut *self.words;
        let chunk = words.len().div_ceil(threads.max(1)).next_multiple_of(PAGE_WORDS);
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
        let table = Table::new(1).unwrap();
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
        let table = Table::new(1).unwrap();
        table.store(7, 4, &entry(mate_in(9), 5));
        assert_eq!(table.probe(7, 2).unwrap().value, mate_in(7));
        table.store(8, 4, &entry(mated_in(10), 5));
        assert_eq!(table.probe(8, 6).unwrap().value, mated_in(12));
    }

    #[test]
    fn a_store_without_a_move_keeps_the_old_move() {
        let table = Table::new(1).unwrap();
        let mv = Board::startpos().moves()[3];
        table.store(9, 0, &Entry { mv: Some(mv), ..entry(5, 3) });
        table.store(9, 0, &entry(6, 4));
        assert_eq!(table.probe(9, 0).unwrap().mv, Some(mv));
    }

    #[test]
    fn old_entries_are_replaced_first() {
        let table = Table::new(1).unwrap();
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
        for megabytes in [1, 3, 9] {
            let mut table = Table::new(megabytes).unwrap();
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
                table.clear(threads);
                assert!(keys.iter().all(|&key| table.probe(key, 0).is_none()));
                assert!(table.words.iter().all(|word| word.load(Relaxed) == 0) && table.count as u64 == count);
            }
        }
    }

    #[test]
    fn a_resized_table_is_empty_and_one_that_cannot_be_resized_is_as_it_was() {
        let key = u64::MAX / 3;
        let mut table = Table::new(6).unwrap();
        table.store(key, 0, &entry(5, 3));
        assert!(table.resize(1 << 40).is_err() && Table::new(1 << 40).is_err());
        assert!(table.megabytes() == 6 && table.probe(key, 0).is_some());
        for megabytes in [3, 7, 7] {
            table.resize(megabytes).unwrap();
            assert!(table.megabytes() == megabytes && table.probe(key, 0).is_none());
            table.store(key, 0, &entry(5, 3));
            assert!(table.probe(key, 0).is_some());
        }
    }

    #[test]
    fn memory_is_checked_where_it_is_known() {
        assert!(check_memory(7, Some(7)).is_ok() && check_memory(7, None).is_ok());
        let error = check_memory(8, Some(7)).unwrap_err().to_string();
        assert_eq!(error, "not enough memory for a hash of 8 MB: 7 MB are available");
    }

    /// While two threads write entries of two positions into one slot, a read finds the data of its key or nothing.
    #[test]
    fn a_torn_entry_is_a_miss() {
        const ENTRIES: [(u64, u64); 2] = [(0x9E37_79B9_7F4A_7C15, 0x0123), (0xBF58_476D_1CE4_E5B9, 0x4567)];
        // Miri is slow, and tries other orders with each seed.
        let times = if cfg!(miri) { 3 } else { 20_000 };
        let slot = Slot::default();
        std::thread::scope(|scope| {
            for (key, value) in ENTRIES {
                let slot = &slot;
                scope.spawn(move || (0..times).for_each(|_| write(slot, key, value)));
            }
            for (key, value) in ENTRIES.into_iter().cycle().take(2 * times) {
                let (data, matches) = read(&slot, key);
                assert!(!matches || data == value);
            }
        });
    }
}
