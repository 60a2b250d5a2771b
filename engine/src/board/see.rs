//! Static exchange evaluation: who wins the captures on one square?

use super::{BitBoard, Board, ChessMove, Color, EMPTY, PIECES, Piece, Square, Squares, attacks, each, square_set};

/// Piece values of exchanges, in search units (Table I of Tseng, Chen and Wu 2018), by piece index.
pub const PIECE_VALUES: [i32; 6] = [200, 800, 850, 1300, 2600, 0];

fn value(piece: Piece) -> i32 {
    PIECE_VALUES[piece.to_index()]
}

impl Board {
    /// Whether the captures that begin with the legal move `mv` gain at least `threshold`.
    ///
    /// The swap algorithm with a null window, as most engines have it: each side retakes with its least
    /// valuable piece and may stop when that is better. Pinned pieces stay out while their pinner stands.
    ///
    /// ```
    /// # use dyad_engine::board::Board;
    /// // A rook takes a pawn that a pawn defends: 200 won, 1300 lost.
    /// let board = Board::from_fen("4k3/8/3p4/4p3/8/8/8/4R1K1 w - - 0 1").unwrap();
    /// let capture = board.parse_uci("e1e5").unwrap();
    /// assert!(board.see_ge(capture, -1100) && !board.see_ge(capture, -1099));
    /// ```
    #[must_use]
    pub fn see_ge(&self, mv: ChessMove, threshold: i32) -> bool {
        if self.is_castling(mv) {
            return threshold <= 0;
        }
        let (from, to) = (mv.get_source(), mv.get_dest());
        let moved = self.piece_on(from).unwrap_or(Piece::King);
        let mut balance = self.captured(mv).map_or(0, value) - threshold;
        let mut next = moved;
        if let Some(promotion) = mv.get_promotion() {
            balance += value(promotion) - value(Piece::Pawn);
            next = promotion;
        }
        if balance < 0 {
            return false;
        }
        balance = value(next) - balance;
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

    /// The rest of the exchange: the enemy is to retake, and must win more than `balance` back.
    fn exchange(&self, mv: ChessMove, mut occupied: BitBoard, mut balance: i32) -> bool {
        let to = mv.get_dest();
        let queens = self.pieces(Piece::Queen);
        let diagonal = self.pieces(Piece::Bishop) | queens;
        let straight = self.pieces(Piece::Rook) | queens;
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
            // The board knows pins for the side to move only; that is the side that must decide here.
            if side == us && (self.pinned() & own).any() {
                own &= !self.still_pinned(side, occupied, to);
                if own.is_empty() {
                    break;
                }
            }
            wins = !wins;
            let Some((piece, from)) = self.least_valuable(own) else { break };
            if piece == Piece::King {
                // The king may retake only what is no longer defended.
                return if (attackers & self.colors(!side) & occupied).any() { !wins } else { wins };
            }
            balance = value(piece) - balance;
            if balance < i32::from(wins) {
                break;
            }
            occupied ^= from;
            if matches!(piece, Piece::Pawn | Piece::Bishop | Piece::Queen) {
                attackers |= attacks::bishop(to, occupied) & diagonal;
            }
            if matches!(piece, Piece::Rook | Piece::Queen) {
                attackers |= attacks::rook(to, occupied) & straight;
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

    /// Pinned pieces of `side` whose pinner has not left in the exchange, nor was taken on its square `to`.
    fn still_pinned(&self, side: Color, occupied: BitBoard, to: Square) -> BitBoard {
        let king = self.king(side);
        let enemy = self.colors(!side) & occupied & !square_set(to);
        let queens = self.pieces(Piece::Queen);
        let pinners = (chess::get_bishop_rays(king) & (self.pieces(Piece::Bishop) | queens) & enemy)
            | (chess::get_rook_rays(king) & (self.pieces(Piece::Rook) | queens) & enemy);
        let mut pinned = EMPTY;
        for pinner in each(pinners) {
            let between = attacks::between(pinner, king) & self.occupied();
            if between.len() == 1 {
                pinned |= between;
            }
        }
        pinned & self.pinned()
    }
}
