//! The list of pieces on the board, over which rows are summed.

use super::tables::{NO_PIECE, PackedPiece, unpacked_piece};

/// The pieces on the board, unordered, with the list index by square.
#[derive(Clone, Debug)]
pub(crate) struct PieceList {
    list: [PackedPiece; 32],
    slots: [u8; 64],
    len: usize,
}

impl PieceList {
    pub(crate) fn empty() -> PieceList {
        PieceList { list: [NO_PIECE; 32], slots: [0; 64], len: 0 }
    }

    pub(crate) fn add(&mut self, piece: PackedPiece) {
        self.list[self.len] = piece;
        self.slots[square(piece)] = self.len as u8;
        self.len += 1;
    }

    /// Removes a piece, which must be in the list.
    pub(crate) fn remove(&mut self, piece: PackedPiece) {
        let slot = usize::from(self.slots[square(piece)]);
        debug_assert_eq!(self.list[slot], piece, "{:?} is not in the list", unpacked_piece(piece));
        self.len -= 1;
        let last = self.list[self.len];
        self.list[slot] = last;
        self.slots[square(last)] = slot as u8;
        self.list[self.len] = NO_PIECE;
    }

    pub(crate) fn without(&self, others: &PieceList) -> PieceList {
        let mut rest = PieceList::empty();
        let in_others =
            |piece: PackedPiece| others.pieces().get(usize::from(others.slots[square(piece)])) == Some(&piece);
        self.pieces().iter().filter(|&&piece| !in_others(piece)).for_each(|&piece| rest.add(piece));
        rest
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn pieces(&self) -> &[PackedPiece] {
        &self.list[..self.len]
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    pub(crate) fn padded(&self) -> &[PackedPiece; 32] {
        &self.list
    }
}

impl Default for PieceList {
    fn default() -> PieceList {
        PieceList::empty()
    }
}

fn square(piece: PackedPiece) -> usize {
    usize::from(piece & 63)
}
