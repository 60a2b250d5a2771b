//! Making moves.

use super::fen::MAX_CLOCK;
use super::{
    BitBoard, Board, Color, Delta, Move, Piece, PieceSquare, PieceTo, Square, Squares, castling, material_unit,
    square_set, zobrist,
};

impl Board {
    /// Puts a piece on an empty square.
    #[inline(always)]
    pub(super) fn place(&mut self, placed: PieceSquare) {
        self.toggle(placed.color, placed.piece, square_set(placed.square));
        self.keys.toggle(placed.color, placed.piece, zobrist::piece(placed.color, placed.piece, placed.square));
        self.keys.material += material_unit(placed.color, placed.piece);
    }

    #[inline(always)]
    pub(super) fn lift(&mut self, placed: PieceSquare) {
        self.toggle(placed.color, placed.piece, square_set(placed.square));
        self.keys.toggle(placed.color, placed.piece, zobrist::piece(placed.color, placed.piece, placed.square));
        self.keys.material -= material_unit(placed.color, placed.piece);
    }

    /// Moves a piece to an empty square.
    #[inline(always)]
    fn shift(&mut self, color: Color, piece: Piece, from: Square, to: Square) {
        self.toggle(color, piece, square_set(from) | square_set(to));
        self.keys.toggle(color, piece, zobrist::piece(color, piece, from) ^ zobrist::piece(color, piece, to));
    }

    #[inline(always)]
    pub(super) fn toggle(&mut self, color: Color, piece: Piece, squares: BitBoard) {
        self.pieces[piece.to_index()] ^= squares;
        self.colors[color.to_index()] ^= squares;
    }

    /// Makes a legal move: writes the new board into `into` and returns the changes.
    ///
    /// A move is legal if it comes from [`Board::moves`] or passes [`Board::is_legal`].
    pub fn make_move(&self, mv: Move, into: &mut Board) -> Delta {
        let us = self.side_to_move();
        let (from, to) = (mv.from(), mv.to());
        let moved = self.moved_piece(mv);
        let mut irreversible = moved == Piece::Pawn;
        *into = *self;
        let delta = if mv.is_castling() {
            self.make_castling(mv, into)
        } else {
            let mut delta = Delta::none();
            let arrived = mv.promotion().unwrap_or(moved);
            delta.remove(PieceSquare::new(us, moved, from));
            delta.add(PieceSquare::new(us, arrived, to));
            let victim = if let Some(victim) = self.piece_on(to) {
                irreversible = true;
                Some(PieceSquare::new(!us, victim, to))
            } else if self.is_en_passant(mv) {
                Some(PieceSquare::new(!us, Piece::Pawn, to.ubackward(us)))
            } else {
                None
            };
            if let Some(victim) = victim {
                delta.remove(victim);
                into.lift(victim);
            }
            if arrived == moved {
                into.shift(us, moved, from, to);
            } else {
                into.lift(PieceSquare::new(us, moved, from));
                into.place(PieceSquare::new(us, arrived, to));
            }
            delta
        };
        if self.castling.any() {
            let touched = square_set(from) | square_set(to);
            let touched = if moved == Piece::King { touched | castling::back_rank(us) } else { touched };
            into.castling &= !touched;
        }
        into.side_to_move = !us;
        into.find_checkers_and_pins();
        debug_assert!(
            (into.attackers_to(into.king(us), into.occupied()) & into.colors(!us)).is_empty(),
            "{mv} leaves the king in check in {}",
            self.fen()
        );
        into.halfmove = if irreversible { 0 } else { (self.halfmove + 1).min(MAX_CLOCK) };
        into.fullmove = (self.fullmove + u16::from(us == Color::Black)).min(MAX_CLOCK);
        into.en_passant = None;
        // A double step: the indices of the squares differ in this bit alone.
        if moved == Piece::Pawn && from.to_int() ^ to.to_int() == 16 {
            let target = from.uforward(us);
            into.en_passant = into.en_passant_is_legal(target).then_some(target);
        }
        self.update_state_key(into);
        delta
    }

    /// Updates the key by side to move, castling rights and en passant square.
    fn update_state_key(&self, into: &mut Board) {
        let mut key = into.keys.all ^ zobrist::black_to_move();
        if self.castling != into.castling {
            key ^= self.castling_key() ^ into.castling_key();
        }
        if let Some(square) = self.en_passant {
            key ^= zobrist::en_passant(square.get_file());
        }
        if let Some(square) = into.en_passant {
            key ^= zobrist::en_passant(square.get_file());
        }
        into.keys.all = key;
    }

    /// The key after a legal move, without the effects of castling, promotion and a new en passant square: for a
    /// prefetch of the transposition table.
    pub(crate) fn likely_key_after(&self, mv: Move, piece_to: PieceTo) -> u64 {
        let (from, to) = (mv.from(), mv.to());
        let piece_from = piece_to & !63 | PieceTo::from(from.to_int());
        let mut key =
            self.keys.all ^ zobrist::black_to_move() ^ zobrist::placed(piece_from) ^ zobrist::placed(piece_to);
        if self.lands_on_enemy(mv)
            && let Some(victim) = self.piece_on(to)
        {
            key ^= zobrist::piece(!self.side_to_move(), victim, to);
        }
        if let Some(square) = self.en_passant {
            key ^= zobrist::en_passant(square.get_file());
        }
        key
    }

    /// The board after a legal move.
    pub fn after(&self, mv: Move) -> Board {
        let mut board = *self;
        self.make_move(mv, &mut board);
        board
    }

    /// Makes a null move: writes the board with the other side to move into `into`. The side to move must not be in
    /// check.
    pub(crate) fn make_null(&self, into: &mut Board) {
        debug_assert!(!self.in_check());
        *into = *self;
        into.side_to_move = !self.side_to_move;
        into.find_checkers_and_pins();
        into.en_passant = None;
        into.halfmove = (into.halfmove + 1).min(MAX_CLOCK);
        self.update_state_key(into);
    }
}
