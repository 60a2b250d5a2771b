//! An entry as threads read and write it without a lock: two words, of which one checks the other.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A word that several threads read and write; loom brings another kind for its test.
pub(super) trait Word {
    /// What it holds, or held a moment ago.
    fn get(&self) -> u64;
    /// Has it hold another value.
    fn set(&self, value: u64);
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }

    #[inline(always)]
    fn set(&self, value: u64) {
        self.store(value, Relaxed);
    }
}

/// The check (the key combined with the data by exclusive or) and the data.
pub(super) type Slot<W = AtomicU64> = [W; 2];

/// The data, and whether it is that of this key. Words of two different writes do not fit together.
#[inline(always)]
pub(super) fn read<W: Word>([check, data]: &Slot<W>, key: u64) -> (u64, bool) {
    let data = data.get();
    (data, data != 0 && check.get() ^ data == key)
}

/// Replaces what the slot holds; a reader in between finds neither the old nor the new.
#[inline(always)]
pub(super) fn write<W: Word>([check, data]: &Slot<W>, key: u64, value: u64) {
    data.set(value);
    check.set(key ^ value);
}

#[cfg(all(test, loom))]
mod under_loom {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use loom::thread;

    impl Word for AtomicU64 {
        fn get(&self) -> u64 {
            self.load(Relaxed)
        }

        fn set(&self, value: u64) {
            self.store(value, Relaxed);
        }
    }

    /// Two threads write entries of two positions into one slot while a third reads: in every order, and with every value
    /// that relaxed loads may return, a position gets its own data or nothing.
    #[test]
    fn a_torn_entry_is_a_miss() {
        const ENTRIES: [(u64, u64); 2] = [(0x9E37_79B9_7F4A_7C15, 0x0123), (0xBF58_476D_1CE4_E5B9, 0x4567)];
        loom::model(|| {
            let slot = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let writers = ENTRIES.map(|(key, value)| {
                let slot = Arc::clone(&slot);
                thread::spawn(move || write(&slot, key, value))
            });
            for (key, value) in ENTRIES {
                let (data, fits) = read(&slot, key);
                assert!(!fits || data == value);
            }
            for writer in writers {
                writer.join().unwrap();
            }
        });
    }
}
