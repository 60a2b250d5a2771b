//! Zobrist keys of our own.
//!
//! The `chess` crate's keys depend on the machine that built it, hold an en passant file even when the
//! capture is illegal, and have no part for pawns alone. These are made at compile time from a fixed seed,
//! so that a node count is the same on every machine.

use chess::{Color, File, Piece, Square};

use super::{PieceTo, piece_index};
use crate::hash::{GOLDEN, mix};

struct Keys {
    /// By [`PieceTo`], of which there are 768: padded, a masked index needs no check.
    pieces: [u64; 1024],
    en_passant: [u64; 8],
    castling: [u64; 16],
    black_to_move: u64,
    /// By color and file, for rooks that began elsewhere than in standard chess.
    castling_rooks: [[u64; 8]; 2],
}

/// One step of SplitMix64: the next state and its number.
const fn split_mix(state: u64) -> (u64, u64) {
    (state.wrapping_add(GOLDEN), mix(state))
}

const fn make() -> Keys {
    let mut keys = Keys {
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
    i = 1; // no castling right, no key
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

static KEYS: Keys = make();

/// Key of a piece on a square.
#[inline]
pub(crate) fn piece(color: Color, piece: Piece, square: Square) -> u64 {
    placed(piece_index(color, piece, square))
}

/// The same of a piece with its square in one number.
#[inline]
pub(super) fn placed(placed: PieceTo) -> u64 {
    KEYS.pieces[usize::from(placed) % 1024]
}

/// Key of an en passant capture possible on this file.
#[inline]
pub(super) fn en_passant(file: File) -> u64 {
    KEYS.en_passant[file.to_index()]
}

/// Key of the castling rights, four bits.
#[inline]
pub(super) fn castling(rights: usize) -> u64 {
    KEYS.castling[rights]
}

/// Key of a right to castle with a rook that did not begin in a corner.
#[inline]
pub(super) fn castling_rook(rook: Square) -> u64 {
    KEYS.castling_rooks[usize::from(rook.to_index() >= 32)][rook.get_file().to_index()]
}

/// Key of Black being to move.
#[inline]
pub(crate) fn black_to_move() -> u64 {
    KEYS.black_to_move
}
