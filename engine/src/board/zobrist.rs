//! [Zobrist keys](https://www.chessprogramming.org/Zobrist_Hashing).
//!
//! The keys of the `chess` crate depend on the host that builds it, include an en passant file even if the capture is
//! illegal, and have no part for pawns alone. These are computed at compile time from a fixed seed, so that node counts
//! are the same on every machine.

use super::{Board, Color, File, Piece, PieceSquare, PieceTo, Square, piece_index};
use crate::hash::{GOLDEN, mix};

struct Randoms {
    /// By [`PieceTo`]: 768 of them, padded so that a masked index needs no bounds check.
    pieces: [u64; 1024],
    en_passant: [u64; 8],
    castling: [u64; 16],
    black_to_move: u64,
    /// By color and file, for castling rooks outside the corners.
    castling_rooks: [[u64; 8]; 2],
}

/// One step of SplitMix64: the next state and a random number.
const fn split_mix(state: u64) -> (u64, u64) {
    (state.wrapping_add(GOLDEN), mix(state))
}

const fn make() -> Randoms {
    let mut keys = Randoms {
        pieces: [0; 1024],
        en_passant: [0; 8],
        castling: [0; 16],
        black_to_move: 0,
        castling_rooks: [[0; 8]; 2],
    };
    let mut state = 0x4479_6164; // "Dyad"
    let mut i = 0;
    while i < 768 {
        (state, keys.pieces[i]) = split_mix(state);
        i += 1;
    }
    i = 0;
    while i < 8 {
        (state, keys.en_passant[i]) = split_mix(state);
        i += 1;
    }
    i = 1; // the key of no rights stays 0
    while i < 16 {
        (state, keys.castling[i]) = split_mix(state);
        i += 1;
    }
    (state, keys.black_to_move) = split_mix(state);
    i = 0;
    while i < 16 {
        (state, keys.castling_rooks[i / 8][i % 8]) = split_mix(state);
        i += 1;
    }
    keys
}

static KEYS: Randoms = make();

pub(crate) fn piece(color: Color, piece: Piece, square: Square) -> u64 {
    placed(piece_index(color, piece, square))
}

/// Key of a piece on a square, by its index.
pub(super) fn placed(placed: PieceTo) -> u64 {
    KEYS.pieces[usize::from(placed) % 1024]
}

/// Key of a legal en passant capture on this file.
pub(super) fn en_passant(file: File) -> u64 {
    KEYS.en_passant[file.to_index()]
}

/// Key of the castling rights, four bits; of no rights 0.
pub(super) fn castling(rights: usize) -> u64 {
    KEYS.castling[rights]
}

/// Key of the right to castle with a rook outside the corners.
pub(super) fn castling_rook(rook: Square) -> u64 {
    KEYS.castling_rooks[usize::from(rook.to_index() >= 32)][rook.get_file().to_index()]
}

pub(crate) fn black_to_move() -> u64 {
    KEYS.black_to_move
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The position without the clocks.
    pub(crate) all: u64,
    pub(crate) pawns: u64,
    /// Knights, bishops and kings.
    pub(crate) minors: u64,
    /// By color.
    pub(crate) non_pawns: [u64; 2],
    /// The number of pieces, four bits for each color and type: see [`material_unit`].
    pub(crate) material: u64,
}

impl Keys {
    /// Toggles the key of a piece on one square, or the difference of its keys on two.
    #[inline(always)]
    pub(super) fn toggle(&mut self, color: Color, piece: Piece, key: u64) {
        // Masks, because a branch on the type of the moved piece is unpredictable.
        let only_if = |condition: bool| u64::from(condition).wrapping_neg();
        let pawn = only_if(piece == Piece::Pawn);
        self.all ^= key;
        self.pawns ^= key & pawn;
        self.non_pawns[color.to_index()] ^= key & !pawn;
        self.minors ^= key & only_if(matches!(piece, Piece::Knight | Piece::Bishop | Piece::King));
    }
}

/// What one piece adds to [`Keys::material`].
pub(crate) const fn material_unit(color: Color, piece: Piece) -> u64 {
    1 << (4 * (color as u64 * 6 + piece as u64))
}

/// The number of pieces that [`Keys::material`] holds.
pub(crate) const fn material_count(material: u64, color: Color, piece: Piece) -> u64 {
    (material / material_unit(color, piece)) & 15
}

impl Board {
    pub(super) fn fresh_keys(&self) -> Keys {
        let mut keys = Keys::default();
        for PieceSquare { color, piece, square } in self.placed_pieces() {
            keys.toggle(color, piece, self::piece(color, piece, square));
            keys.material += material_unit(color, piece);
        }
        keys.all ^= self.castling_key();
        if let Some(square) = self.en_passant {
            keys.all ^= en_passant(square.get_file());
        }
        if self.side_to_move() == Color::Black {
            keys.all ^= black_to_move();
        }
        keys
    }
}
