//! Squares by their number, and those of a set one by one.
//!
//! What the `chess` crate has for both reads a table or builds a set to take away: too much for the innermost loops of
//! search and evaluation.

use super::{BitBoard, File, Rank, Square};

/// The square with this index; of a larger one the lowest six bits count.
#[inline(always)]
#[must_use]
pub fn square(index: usize) -> Square {
    // Both take the lowest three bits, so the compiler sees that this is nothing but the number.
    Square::make_square(Rank::from_index(index >> 3), File::from_index(index))
}

/// The squares of a set, in the order of their indices.
#[inline(always)]
#[must_use]
pub fn each(set: BitBoard) -> Each {
    Each(set.0)
}

/// What is left of a set: see [`each`].
#[derive(Clone, Copy, Debug)]
pub struct Each(u64);

impl Iterator for Each {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        if self.0 == 0 {
            return None;
        }
        let first = square(self.0.trailing_zeros() as usize);
        self.0 &= self.0 - 1;
        Some(first)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Each {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{ALL_SQUARES, EMPTY};

    #[test]
    fn squares_are_those_of_their_numbers() {
        for (index, expected) in ALL_SQUARES.into_iter().enumerate() {
            assert_eq!(square(index), expected);
            assert_eq!(square(index + 64), expected);
        }
    }

    #[test]
    fn a_set_gives_each_of_its_squares_once_and_in_order() {
        for set in [EMPTY, BitBoard(1), BitBoard(1 << 63), BitBoard(0x8142_2418_1824_4281), !EMPTY] {
            assert!(each(set).eq(set), "{set:?}");
            assert_eq!(each(set).len(), set.popcnt() as usize);
        }
    }
}
