//! A direct-mapped cache of sums that many positions of a search share.

use crate::hash::GOLDEN;

/// A direct-mapped cache: a new value replaces the one in its slot.
#[derive(Clone, Debug)]
pub(crate) struct Cache<T> {
    slots: Vec<(u64, T)>,
}

/// The key of an empty slot, as unlikely in a position as a key collision.
const EMPTY: u64 = u64::MAX;

impl<T: Copy + Default> Cache<T> {
    /// An empty cache; `slots` must be a power of two.
    pub(crate) fn new(slots: usize) -> Cache<T> {
        assert!(slots.is_power_of_two(), "slots are found by masking the key");
        Cache { slots: vec![(EMPTY, T::default()); slots] }
    }

    pub(crate) fn invalidate(&mut self) {
        self.slots.fill((EMPTY, T::default()));
    }

    /// The value for `key`, computed by `compute` if it is not in the cache.
    pub(crate) fn get(&mut self, key: u64, compute: impl FnOnce() -> T) -> &T {
        // Material keys are counts that may differ in any bit: the multiplication mixes them into the upper bits.
        let mixed = key.wrapping_mul(GOLDEN) >> 32;
        let slot = mixed as usize & (self.slots.len() - 1);
        let (slot_key, value) = &mut self.slots[slot];
        if *slot_key != key {
            *slot_key = key;
            *value = compute();
        }
        value
    }
}
