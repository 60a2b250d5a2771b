//! Sets of squares moved, filled and counted.
//!
//! The `chess` crate's `BitBoard` knows how to unite and intersect sets but not how to shift them. All
//! directions here are those of White's side of the board, which is enough: the terms look at Black's
//! pieces on a board turned upside down.

use crate::board::attacks::{FILE_A, FILE_H};
use crate::board::{BitBoard, EMPTY, Square};
pub use crate::board::{each, square};

/// The squares of one color of the board, a1's.
pub const DARK: BitBoard = BitBoard(0xAA55_AA55_AA55_AA55);
/// The four squares in the middle.
pub const CENTER: BitBoard = BitBoard(0x0000_0018_1800_0000);
/// Files c to f.
pub const CENTER_FILES: BitBoard = BitBoard(0x3C3C_3C3C_3C3C_3C3C);
/// Files a to d.
pub const LEFT: BitBoard = BitBoard(0x0F0F_0F0F_0F0F_0F0F);

/// The squares of the rank with this index, 0 to 7.
pub const fn rank_set(rank: usize) -> BitBoard {
    BitBoard(0xFF << (8 * rank))
}

/// The squares of the file with this index, 0 to 7.
pub const fn file_set(file: usize) -> BitBoard {
    BitBoard(FILE_A << file)
}

/// The squares of all ranks from `rank`, 0 to 7, upwards.
pub const fn ranks_from(rank: usize) -> BitBoard {
    BitBoard(!0 << (8 * rank))
}

/// What a set of squares can do besides the operators it has.
pub trait Squares: Copy {
    /// Whether there is a square in the set.
    fn some(self) -> bool;
    /// Whether there are two or more.
    fn many(self) -> bool;
    /// How many there are.
    fn len(self) -> usize;
    /// Whether `square` is one of them.
    fn has(self, square: Square) -> bool;
    /// Moved one rank up, towards rank 8.
    fn north(self) -> Self;
    /// Moved one rank down.
    fn south(self) -> Self;
    /// Moved one file to the right, towards file h.
    fn east(self) -> Self;
    /// Moved one file to the left.
    fn west(self) -> Self;
    /// With everything above.
    fn fill_north(self) -> Self;
    /// With everything below.
    fn fill_south(self) -> Self;
    /// The squares beside.
    fn beside(self) -> Self;
    /// What pawns that move up attack from here.
    fn pawn_attacks(self) -> Self;
    /// What two pawns that move up attack from here.
    fn pawn_double_attacks(self) -> Self;
    /// The board turned upside down.
    fn turned(self) -> Self;
    /// With all neighbors.
    fn grown(self) -> Self;
}

impl Squares for BitBoard {
    #[inline(always)]
    fn some(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn many(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }
    #[inline(always)]
    fn len(self) -> usize {
        self.0.count_ones() as usize
    }
    #[inline(always)]
    fn has(self, square: Square) -> bool {
        self.0 >> square.to_index() & 1 != 0
    }
    #[inline(always)]
    fn north(self) -> Self {
        BitBoard(self.0 << 8)
    }
    #[inline(always)]
    fn south(self) -> Self {
        BitBoard(self.0 >> 8)
    }
    #[inline(always)]
    fn east(self) -> Self {
        BitBoard((self.0 & !FILE_H) << 1)
    }
    #[inline(always)]
    fn west(self) -> Self {
        BitBoard((self.0 & !FILE_A) >> 1)
    }
    #[inline(always)]
    fn fill_north(self) -> Self {
        let mut set = self.0;
        set |= set << 8;
        set |= set << 16;
        set |= set << 32;
        BitBoard(set)
    }
    #[inline(always)]
    fn fill_south(self) -> Self {
        let mut set = self.0;
        set |= set >> 8;
        set |= set >> 16;
        set |= set >> 32;
        BitBoard(set)
    }
    #[inline(always)]
    fn beside(self) -> Self {
        self.east() | self.west()
    }
    #[inline(always)]
    fn pawn_attacks(self) -> Self {
        self.north().beside()
    }
    #[inline(always)]
    fn pawn_double_attacks(self) -> Self {
        self.north().east() & self.north().west()
    }
    #[inline(always)]
    fn turned(self) -> Self {
        BitBoard(self.0.swap_bytes())
    }
    #[inline(always)]
    fn grown(self) -> Self {
        let row = self | self.beside();
        row | row.north() | row.south()
    }
}

/// The set with this square alone.
#[inline(always)]
pub fn only(square: Square) -> BitBoard {
    BitBoard(1 << square.to_index())
}

/// The square of a set that has one.
#[inline(always)]
pub fn first(set: BitBoard) -> Square {
    square(set.0.trailing_zeros() as usize)
}

/// The last square of a set, as a set; empty if the set is.
#[inline(always)]
pub fn last(set: BitBoard) -> BitBoard {
    BitBoard((1 << 63 >> (set.0.leading_zeros() & 63)) & set.0)
}

/// Rank of a square, 0 to 7.
#[inline(always)]
pub fn rank(square: Square) -> usize {
    square.to_index() >> 3
}

/// File of a square, 0 to 7.
#[inline(always)]
pub fn file(square: Square) -> usize {
    square.to_index() & 7
}

/// Distance of a file from the edge of the board: 0 for a and h, 3 for d and e.
#[inline(always)]
pub fn edge(file: usize) -> usize {
    file.min(7 - file)
}

/// Moves a king needs from one square to another.
#[inline(always)]
pub fn distance(a: Square, b: Square) -> usize {
    usize::from(DISTANCES.0[a.to_index() % 64][b.to_index() % 64])
}

/// All distances: those of a square fill a cache line.
static DISTANCES: Distances = {
    let mut distances = Distances([[0; 64]; 64]);
    let mut pair: usize = 0;
    while pair < 64 * 64 {
        let (a, b) = (pair / 64, pair % 64);
        let (ranks, files) = ((a / 8).abs_diff(b / 8), (a % 8).abs_diff(b % 8));
        distances.0[a][b] = if ranks > files { ranks } else { files } as u8;
        pair += 1;
    }
    distances
};

#[repr(align(64))]
struct Distances([[u8; 64]; 64]);

/// Moves a king on `from` needs to the nearest square of `goal`, 7 if there is none.
#[inline(always)]
pub fn distance_to_set(from: Square, goal: BitBoard) -> usize {
    let mut near = only(from);
    let mut steps = 0;
    while steps < 7 && (near & goal) == EMPTY {
        near = near.grown();
        steps += 1;
    }
    steps
}

/// All squares above `square` on its file.
#[inline(always)]
pub fn ahead(square: Square) -> BitBoard {
    BitBoard((FILE_A << 8) << square.to_index())
}

/// All squares below `square` on its file.
#[inline(always)]
pub fn behind(square: Square) -> BitBoard {
    BitBoard((FILE_H >> 8) >> (63 - square.to_index()))
}
