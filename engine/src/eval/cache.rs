//! Keeps what is the same in most positions of a search: sums of the pawn structure, of the material and of
//! what concerns the kings.

use crate::hash::GOLDEN;

/// A table that remembers the last thing made for each of its slots.
#[derive(Clone, Debug)]
pub struct Cache<T> {
    slots: Vec<(u64, T)>,
}

/// The key of an empty slot. That a position has it is as unlikely as that two positions share a key.
const EMPTY: u64 = u64::MAX;

impl<T: Copy + Default> Cache<T> {
    /// An empty cache with this many slots, a power of two.
    pub fn new(slots: usize) -> Cache<T> {
        assert!(slots.is_power_of_two(), "slots are found by masking the key");
        Cache { slots: vec![(EMPTY, T::default()); slots] }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.fill((EMPTY, T::default()));
    }

    /// What belongs to `key`, made now unless it is remembered.
    #[inline]
    pub fn get(&mut self, key: u64, make: impl FnOnce() -> T) -> &T {
        // Keys that are counts differ in all of their bits; a multiplication brings them to the top.
        let mixed = key.wrapping_mul(GOLDEN) >> 32;
        let slot = mixed as usize & (self.slots.len() - 1);
        let (known, value) = &mut self.slots[slot];
        if *known != key {
            *known = key;
            *value = make();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_each_thing_once_and_again_after_clearing() {
        let mut cache = Cache::new(1024);
        let mut made = 0;
        for round in 1..=2 {
            for _ in 0..3 {
                let value = *cache.get(0, || {
                    made += 1;
                    7
                });
                assert_eq!((value, made), (7, round));
            }
            cache.clear();
        }
        for key in 0..100_000u64 {
            assert_eq!(*cache.get(key << 9, || key), key);
        }
    }
}
