//! Squares and sets of squares.
//!
//! [`Squares`] adds to the `chess` crate's `BitBoard` what it lacks: shifts, fills, counts and membership tests.
//! Directions are White's: north is toward rank 8, east toward file h.

use super::{BitBoard, Color, EMPTY, File, Rank, Square};

/// The squares of the a-file.
pub const FILE_A: BitBoard = BitBoard(0x0101_0101_0101_0101);
/// The squares of the h-file.
pub const FILE_H: BitBoard = BitBoard(FILE_A.0 << 7);
/// Files a to d.
pub const QUEEN_SIDE: BitBoard = BitBoard(0x0F0F_0F0F_0F0F_0F0F);
/// Files c to f.
pub const CENTER_FILES: BitBoard = BitBoard(0x3C3C_3C3C_3C3C_3C3C);
/// The squares d4, e4, d5 and e5.
pub const CENTER: BitBoard = BitBoard(0x0000_0018_1800_0000);
/// The dark squares.
pub const DARK_SQUARES: BitBoard = BitBoard(0xAA55_AA55_AA55_AA55);

/// The set of this square alone.
pub fn square_set(square: Square) -> BitBoard {
    BitBoard(1 << square.to_index())
}

/// The squares of the rank with this index, 0 to 7.
pub(crate) const fn rank_set(rank: usize) -> BitBoard {
    BitBoard(0xFF << (8 * rank))
}

/// The squares of the file with this index, 0 to 7.
pub(crate) const fn file_set(file: usize) -> BitBoard {
    BitBoard(FILE_A.0 << file)
}

/// The squares of the rank with this index, 0 to 7, and of all ranks north of it.
pub(crate) const fn ranks_from(rank: usize) -> BitBoard {
    BitBoard(!0 << (8 * rank))
}

/// All squares north of `square` on its file.
pub fn ahead(square: Square) -> BitBoard {
    BitBoard((FILE_A.0 << 8) << square.to_index())
}

/// All squares south of `square` on its file.
pub fn behind(square: Square) -> BitBoard {
    BitBoard((FILE_H.0 >> 8) >> (63 - square.to_index()))
}

/// The square with this index; only the lowest six bits count.
pub fn square(index: usize) -> Square {
    // Both constructors take the lowest three bits, so this compiles to a single mask.
    Square::make_square(Rank::from_index(index >> 3), File::from_index(index))
}

/// The square as `color` sees the board: in the same file, with ranks counted from its own side.
pub fn relative_square(color: Color, at: Square) -> Square {
    square(at.to_index() ^ (56 * color.to_index()))
}

/// Index of the square's rank, 0 to 7.
pub fn rank(square: Square) -> usize {
    square.to_index() >> 3
}

/// Index of the square's file, 0 to 7.
pub fn file(square: Square) -> usize {
    square.to_index() & 7
}

/// Distance of a file from the edge of the board: 0 for a and h, 3 for d and e.
pub(crate) fn edge_distance(file: usize) -> usize {
    file.min(7 - file)
}

/// King moves from one square to another on an empty board (Chebyshev distance).
pub fn distance(a: Square, b: Square) -> usize {
    usize::from(DISTANCES.0[a.to_index() % 64][b.to_index() % 64])
}

/// King moves from `from` to the nearest square of `goal`; 7 if `goal` is empty.
#[inline(always)]
pub(crate) fn distance_to_set(from: Square, goal: BitBoard) -> usize {
    let mut near = square_set(from);
    let mut steps = 0;
    while steps < 7 && (near & goal).is_empty() {
        near = near.dilated();
        steps += 1;
    }
    steps
}

/// The distances from one square fill a cache line.
#[repr(align(64))]
struct Distances([[u8; 64]; 64]);

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

/// Set operations that `BitBoard` lacks.
pub trait Squares: Copy {
    /// The set itself.
    fn set(self) -> BitBoard;

    /// Whether the set is empty.
    fn is_empty(self) -> bool {
        self.set() == EMPTY
    }

    /// Whether the set has a square.
    fn any(self) -> bool {
        self.set() != EMPTY
    }

    /// Whether the set has at least two squares.
    fn more_than_one(self) -> bool {
        self.set().0 & self.set().0.wrapping_sub(1) != 0
    }

    /// The number of squares.
    fn len(self) -> usize {
        self.set().0.count_ones() as usize
    }

    /// Whether `square` is in the set.
    fn has(self, square: Square) -> bool {
        self.set().0 >> square.to_index() & 1 != 0
    }

    /// The highest square alone; empty if the set is.
    fn highest(self) -> BitBoard {
        BitBoard((1 << 63 >> (self.set().0.leading_zeros() & 63)) & self.set().0)
    }

    /// Shifted by one rank toward rank 8.
    fn north(self) -> BitBoard {
        BitBoard(self.set().0 << 8)
    }

    /// Shifted by one rank toward rank 1.
    fn south(self) -> BitBoard {
        BitBoard(self.set().0 >> 8)
    }

    /// Shifted by one file toward file h.
    fn east(self) -> BitBoard {
        BitBoard((self.set() & !FILE_H).0 << 1)
    }

    /// Shifted by one file toward file a.
    fn west(self) -> BitBoard {
        BitBoard((self.set() & !FILE_A).0 >> 1)
    }

    /// The set and everything north of it.
    #[inline(always)]
    fn fill_north(self) -> BitBoard {
        let mut set = self.set().0;
        set |= set << 8;
        set |= set << 16;
        set |= set << 32;
        BitBoard(set)
    }

    /// The set and everything south of it.
    #[inline(always)]
    fn fill_south(self) -> BitBoard {
        let mut set = self.set().0;
        set |= set >> 8;
        set |= set >> 16;
        set |= set >> 32;
        BitBoard(set)
    }

    /// The neighboring squares on the same ranks.
    fn adjacent_files(self) -> BitBoard {
        self.east() | self.west()
    }

    /// Squares that white pawns on this set attack.
    fn pawn_attacks(self) -> BitBoard {
        self.north().adjacent_files()
    }

    /// Squares that white pawns on this set attack twice.
    fn pawn_double_attacks(self) -> BitBoard {
        self.north().east() & self.north().west()
    }

    /// The set with the ranks in reverse order.
    fn flip(self) -> BitBoard {
        BitBoard(self.set().0.swap_bytes())
    }

    /// The set and all neighboring squares.
    fn dilated(self) -> BitBoard {
        let row = self.set() | self.adjacent_files();
        row | row.north() | row.south()
    }
}

impl Squares for BitBoard {
    fn set(self) -> BitBoard {
        self
    }
}

/// The squares of a set in the order of their indices; faster than the crate's own iterator.
pub fn each(set: BitBoard) -> Each {
    Each(set.0)
}

/// Iterator over a set of squares: see [`each`].
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
}
