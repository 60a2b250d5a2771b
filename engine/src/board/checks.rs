//! Which moves give check, for all moves of a position at once.

use super::{Board, ChessMove, Piece, Squares, attacks, each};
use chess::{BitBoard, EMPTY, Square};

/// From where a piece of the side to move attacks the enemy king, and which pieces uncover an attack on him.
///
/// For a single move there is [`Board::gives_check`]; this costs a little more to make, and then next to nothing a move.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    king: Square,
    /// By piece type, in the crate's order; a king attacks none.
    squares: [BitBoard; 6],
    /// Pieces of the side to move that alone stand between a slider of theirs and the enemy king.
    blockers: BitBoard,
}

impl Checks {
    /// From where a piece of this type attacks the king.
    #[inline]
    pub(super) fn targets(&self, piece: Piece) -> BitBoard {
        self.squares[piece.to_index()]
    }

    /// Where the piece on `from`, which is of this type and no pawn, gives check by going there.
    #[inline]
    pub(super) fn targets_from(&self, piece: Piece, from: Square) -> BitBoard {
        let discovered = if self.blockers.has(from) { !attacks::line(self.king, from) } else { EMPTY };
        self.targets(piece) | discovered
    }

    /// Pieces that give check by leaving the line to the king.
    #[inline]
    pub(super) fn discoverers(&self) -> BitBoard {
        self.blockers
    }

    /// Whether a legal move of `board`, which these are the checks of, gives check.
    #[inline]
    #[must_use]
    pub fn given_by(&self, board: &Board, mv: ChessMove) -> bool {
        let (from, to) = (mv.get_source(), mv.get_dest());
        // These change lines by more than the mover's way.
        if mv.get_promotion().is_some() || board.is_castling(mv) || board.is_en_passant(mv) {
            return board.gives_check(mv);
        }
        let moved = board.piece_on(from).unwrap_or(Piece::King);
        self.squares[moved.to_index()].has(to) || (self.blockers.has(from) && !attacks::line(self.king, from).has(to))
    }
}

impl Board {
    /// From where a piece of the side to move attacks the enemy king, by piece type; a king attacks none.
    #[inline]
    #[must_use]
    pub fn check_squares(&self) -> [BitBoard; 6] {
        let them = !self.side_to_move();
        let (king, occupied) = (self.king(them), self.occupied());
        let (bishop, rook) = (attacks::bishop(king, occupied), attacks::rook(king, occupied));
        let mut squares = [EMPTY; 6];
        squares[Piece::Pawn.to_index()] = attacks::pawn(them, king);
        squares[Piece::Knight.to_index()] = attacks::knight(king);
        squares[Piece::Bishop.to_index()] = bishop;
        squares[Piece::Rook.to_index()] = rook;
        squares[Piece::Queen.to_index()] = bishop | rook;
        squares
    }

    /// How the side to move can give check.
    #[must_use]
    pub fn checks(&self) -> Checks {
        let (us, them) = (self.side_to_move(), !self.side_to_move());
        let (king, occupied) = (self.king(them), self.occupied());
        let queens = self.pieces(Piece::Queen);
        let diagonal = attacks::diagonals(king) & (self.pieces(Piece::Bishop) | queens);
        let straight = attacks::straights(king) & (self.pieces(Piece::Rook) | queens);
        let mut blockers = EMPTY;
        for slider in each((diagonal | straight) & self.colors(us)) {
            let between = attacks::between(king, slider) & occupied;
            if between.len() == 1 {
                blockers |= between & self.colors(us);
            }
        }
        Checks { king, squares: self.check_squares(), blockers }
    }
}
