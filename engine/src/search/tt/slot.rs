//! The two words of an entry, a checksum and the data, which threads read and write without a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An atomic word; the loom test has its own.
pub(super) trait Word {
    fn get(&self) -> u64;
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

/// The key XOR the data, and the data.
pub(super) type Slot<W = AtomicU64> = [W; 2];

/// The data, and whether it is that of the key. Words of two different writes do not match.
#[inline(always)]
pub(super) fn read<W: Word>([check, data]: &Slot<W>, key: u64) -> (u64, bool) {
    let data = data.get();
    (data, data != 0 && check.get() ^ data == key)
}

/// Replaces the entry; a reader between the two writes finds neither the old nor the new one.
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

    /// Two threads write entries of two positions into one slot while a third reads: in every order and with every
    /// value that relaxed loads may return, a read finds the data of its key or nothing.
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
                let (data, matches) = read(&slot, key);
                assert!(!matches || data == value);
            }
            for writer in writers {
                writer.join().unwrap();
            }
        });
    }
}
