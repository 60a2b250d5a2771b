//! The pieces on the board as a list that rows are summed over.

use super::tables::{NO_PIECE, PackedPiece, piece_of};

/// The pieces on the board, in no order, and where in the list each square's piece is.
#[derive(Clone, Debug)]
pub struct PieceList {
    list: [PackedPiece; 32],
    slots: [u8; 64],
    len: usize,
}

impl PieceList {
    /// No pieces.
    pub fn empty() -> PieceList {
        PieceList { list: [NO_PIECE; 32], slots: [0; 64], len: 0 }
    }

    /// One more piece.
    #[inline]
    pub fn add(&mut self, piece: PackedPiece) {
        self.list[self.len] = piece;
        self.slots[square(piece)] = self.len as u8;
        self.len += 1;
    }

    /// One piece less; it must be there.
    #[inline]
    pub fn remove(&mut self, piece: PackedPiece) {
        let slot = usize::from(self.slots[square(piece)]);
        debug_assert_eq!(self.list[slot], piece, "{:?} is not there", piece_of(piece));
        self.len -= 1;
        let last = self.list[self.len];
        self.list[slot] = last;
        self.slots[square(last)] = slot as u8;
        self.list[self.len] = NO_PIECE;
    }

    /// Those of these pieces that are not among the others.
    pub fn without(&self, others: &PieceList) -> PieceList {
        let mut left = PieceList::empty();
        let stands =
            |piece: PackedPiece| others.present().get(usize::from(others.slots[square(piece)])) == Some(&piece);
        self.present().iter().filter(|&&piece| !stands(piece)).for_each(|&piece| left.add(piece));
        left
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// All of them.
    #[inline]
    pub fn present(&self) -> &[PackedPiece] {
        &self.list[..self.len]
    }

    /// All of them, and [`NO_PIECE`] up to the end.
    #[inline]
    pub fn padded(&self) -> &[PackedPiece; 32] {
        &self.list
    }
}

impl Default for PieceList {
    fn default() -> PieceList {
        PieceList::empty()
    }
}

#[inline(always)]
fn square(piece: PackedPiece) -> usize {
    usize::from(piece & 63)
}
