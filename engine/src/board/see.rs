//! [Static exchange evaluation](https://www.chessprogramming.org/Static_Exchange_Evaluation) of the captures on one
//! square.

use super::{
    BitBoard, Board, Color, EMPTY, Move, PIECES, Piece, Square, Squares, attacks, each, piece_value, square_set,
};

impl Board {
    /// Whether the exchange that starts with the legal move `mv` gains at least `threshold`, in
    /// [`super::PIECE_VALUES`].
    ///
    /// The swap algorithm with a null window: each side recaptures with its least valuable piece and may stop at any
    /// time. Pinned pieces do not recapture while their pinner stands.
    pub fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        if mv.is_castling() {
            return threshold <= 0;
        }
        let (from, to) = (mv.from(), mv.to());
        let moved = self.moved_piece(mv);
        let mut balance = self.captured(mv).map_or(0, piece_value) - threshold;
        let mut next = moved;
        if let Some(promotion) = mv.promotion() {
            balance += piece_value(promotion) - piece_value(Piece::Pawn);
            next = promotion;
        }
        if balance < 0 {
            return false;
        }
        balance = piece_value(next) - balance;
        if balance <= 0 {
            return true;
        }
        let us = self.side_to_move();
        let mut occupied = (self.occupied() ^ square_set(from)) | square_set(to);
        if self.is_en_passant(mv) {
            occupied ^= square_set(to.ubackward(us));
        }
        self.exchange(mv, occupied, balance)
    }

    /// The rest of the exchange: the opponent recaptures and needs to gain more than `balance`.
    fn exchange(&self, mv: Move, mut occupied: BitBoard, mut balance: i32) -> bool {
        let to = mv.to();
        let us = self.side_to_move();
        let mut attackers = self.attackers_to(to, occupied);
        let mut side = us;
        let mut wins = true;
        loop {
            side = !side;
            attackers &= occupied;
            let mut own = attackers & self.colors(side);
            if own.is_empty() {
                break;
            }
            // The board has the pins of the side to move only, the side whose move is judged.
            if side == us && (self.pinned() & own).any() {
                own &= !self.still_pinned(side, occupied, to);
                if own.is_empty() {
                    break;
                }
            }
            wins = !wins;
            let Some((piece, from)) = self.least_valuable(own) else { break };
            if piece == Piece::King {
                // The king can recapture only if the square is no longer defended.
                return if (attackers & self.colors(!side) & occupied).any() { !wins } else { wins };
            }
            balance = piece_value(piece) - balance;
            if balance < i32::from(wins) {
                break;
            }
            occupied ^= from;
            if matches!(piece, Piece::Pawn | Piece::Bishop | Piece::Queen) {
                attackers |= attacks::bishop(to, occupied) & self.diagonal_sliders();
            }
            if matches!(piece, Piece::Rook | Piece::Queen) {
                attackers |= attacks::rook(to, occupied) & self.straight_sliders();
            }
        }
        wins
    }

    fn least_valuable(&self, pieces: BitBoard) -> Option<(Piece, BitBoard)> {
        PIECES.into_iter().find_map(|piece| {
            let candidates = pieces & self.pieces(piece);
            candidates.any().then(|| (piece, BitBoard(candidates.0 & candidates.0.wrapping_neg())))
        })
    }

    /// Pinned pieces of `side` whose pinner has neither moved nor been captured in the exchange on `to`.
    fn still_pinned(&self, side: Color, occupied: BitBoard, to: Square) -> BitBoard {
        let king = self.king(side);
        let enemy = self.colors(!side) & occupied & !square_set(to);
        let mut pinned = EMPTY;
        for pinner in each(self.sliders_toward(king) & enemy) {
            let between = attacks::between(pinner, king) & self.occupied();
            if between.len() == 1 {
                pinned |= between;
            }
        }
        pinned & self.pinned()
    }
}
