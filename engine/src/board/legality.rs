//! Legality of single moves: of a transposition-table move, say, which may belong to another position.

use super::{Board, Move, Piece, Square, Squares, attacks, each, square_set};

impl Board {
    /// Whether an arbitrary move is legal in this position.
    pub fn is_legal(&self, mv: Move) -> bool {
        let us = self.side_to_move();
        let (from, to) = (mv.from(), mv.to());
        if mv.is_castling() {
            return self.castling_moves().any(|castling| castling == mv);
        }
        if !self.colors(us).has(from) || self.colors(us).has(to) {
            return false;
        }
        let Some(piece) = self.piece_on(from) else { return false };
        let promotes = piece == Piece::Pawn && to.get_rank() == us.to_their_backrank();
        let promotion_fits = match mv.promotion() {
            None => !promotes,
            Some(Piece::Pawn | Piece::King) => false,
            Some(_) => promotes,
        };
        if !promotion_fits {
            return false;
        }
        match piece {
            Piece::Pawn => self.is_legal_pawn_move(from, to),
            Piece::King => self.is_legal_king_step(from, to),
            _ => attacks::of(piece, us, from, self.occupied()).has(to) && self.resolves_checks_and_pins(from, to),
        }
    }

    /// Whether the move of a piece other than the king, en passant excluded, leaves its king out of check.
    fn resolves_checks_and_pins(&self, from: Square, to: Square) -> bool {
        let king = self.king(self.side_to_move());
        let checkers = self.checkers();
        if checkers.any()
            && (checkers.more_than_one() || !(attacks::between(checkers.to_square(), king) | checkers).has(to))
        {
            return false;
        }
        !self.pinned().has(from) || attacks::line(from, king).has(to)
    }

    fn is_legal_pawn_move(&self, from: Square, to: Square) -> bool {
        let us = self.side_to_move();
        if attacks::pawn(us, from).has(to) {
            if self.en_passant == Some(to) {
                return self.en_passant_leaves_no_check(from, to);
            }
            return self.colors(!us).has(to) && self.resolves_checks_and_pins(from, to);
        }
        chess::get_pawn_quiets(from, us, self.occupied()).has(to) && self.resolves_checks_and_pins(from, to)
    }

    fn is_legal_king_step(&self, from: Square, to: Square) -> bool {
        let occupied = self.occupied() ^ square_set(from);
        attacks::king(from).has(to) && (self.attackers_to(to, occupied) & self.colors(!self.side_to_move())).is_empty()
    }

    /// Whether a pawn of the side to move can legally capture en passant on `target`, the square passed by an enemy
    /// pawn.
    pub(super) fn en_passant_is_legal(&self, target: Square) -> bool {
        let us = self.side_to_move();
        let takers = attacks::pawn(!us, target) & self.colored(us, Piece::Pawn);
        each(takers).any(|from| self.en_passant_leaves_no_check(from, target))
    }

    pub(super) fn en_passant_leaves_no_check(&self, from: Square, target: Square) -> bool {
        let us = self.side_to_move();
        let victim = square_set(target.ubackward(us));
        let occupied = (self.occupied() ^ square_set(from) ^ victim) | square_set(target);
        (self.attackers_to(self.king(us), occupied) & self.colors(!us) & !victim).is_empty()
    }
}
