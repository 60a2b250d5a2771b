//! Checks: given to the side to move, and by its moves.

use super::{BitBoard, Board, Color, EMPTY, Move, Piece, Square, Squares, attacks, each, square_set};

impl Board {
    /// Pieces of both colors that attack `square` on a board with these pieces.
    pub fn attackers_to(&self, square: Square, occupied: BitBoard) -> BitBoard {
        (attacks::pawn(Color::Black, square) & self.colored(Color::White, Piece::Pawn))
            | (attacks::pawn(Color::White, square) & self.colored(Color::Black, Piece::Pawn))
            | (attacks::knight(square) & self.pieces(Piece::Knight))
            | (attacks::king(square) & self.pieces(Piece::King))
            | (attacks::bishop(square, occupied) & self.diagonal_sliders())
            | (attacks::rook(square, occupied) & self.straight_sliders())
    }

    /// Bishops and queens.
    pub(super) fn diagonal_sliders(&self) -> BitBoard {
        self.pieces(Piece::Bishop) | self.pieces(Piece::Queen)
    }

    /// Rooks and queens.
    pub(super) fn straight_sliders(&self) -> BitBoard {
        self.pieces(Piece::Rook) | self.pieces(Piece::Queen)
    }

    /// Bishops, rooks and queens that would attack `square` on an empty board.
    pub(super) fn sliders_toward(&self, square: Square) -> BitBoard {
        (attacks::diagonals(square) & self.diagonal_sliders()) | (attacks::straights(square) & self.straight_sliders())
    }

    /// Computes the checkers and the pinned pieces of the side to move.
    #[inline(always)]
    pub(super) fn find_checkers_and_pins(&mut self) {
        let us = self.side_to_move;
        let (king, occupied, enemy) = (self.king(us), self.occupied(), self.colors(!us));
        let steps =
            (attacks::pawn(us, king) & self.pieces(Piece::Pawn)) | (attacks::knight(king) & self.pieces(Piece::Knight));
        (self.checkers, self.pinned) = (steps & enemy, EMPTY);
        for slider in each(self.sliders_toward(king) & enemy) {
            let between = attacks::between(slider, king) & occupied;
            if between.is_empty() {
                self.checkers |= square_set(slider);
            } else if !between.more_than_one() {
                self.pinned |= between & self.colors(us);
            }
        }
    }

    /// Whether a legal move gives check.
    pub fn gives_check(&self, mv: Move) -> bool {
        let us = self.side_to_move();
        let (from, to) = (mv.from(), mv.to());
        let king = self.king(!us);
        let mut occupied = (self.occupied() & !square_set(from)) | square_set(to);
        let moved = self.moved_piece(mv);
        if moved == Piece::Pawn && self.is_en_passant(mv) {
            occupied ^= square_set(to.ubackward(us));
        } else if mv.is_castling() {
            let path = self.castling_path(mv);
            occupied = (occupied & !square_set(path.rook)) | square_set(to) | square_set(path.rook_to);
            return attacks::rook(path.rook_to, occupied).has(king);
        }
        let direct = match mv.promotion().unwrap_or(moved) {
            Piece::King => EMPTY,
            piece => attacks::of(piece, us, to, occupied),
        };
        direct.has(king) || self.discovers_check(occupied, square_set(from), king)
    }

    /// Whether a slider of the side to move, other than the piece that moved, attacks the enemy king.
    fn discovers_check(&self, occupied: BitBoard, moved: BitBoard, king: Square) -> bool {
        let ours = self.colors(self.side_to_move()) & !moved;
        let (diagonal, straight) = (ours & self.diagonal_sliders(), ours & self.straight_sliders());
        ((attacks::diagonals(king) & diagonal).any() && (attacks::bishop(king, occupied) & diagonal).any())
            || ((attacks::straights(king) & straight).any() && (attacks::rook(king, occupied) & straight).any())
    }

    /// The squares from which a piece of the side to move attacks the enemy king, by piece type; empty for a king.
    pub(crate) fn check_squares(&self) -> [BitBoard; 6] {
        let them = !self.side_to_move();
        let (king, occupied) = (self.king(them), self.occupied());
        let (bishop, rook) = (attacks::bishop(king, occupied), attacks::rook(king, occupied));
        [attacks::pawn(them, king), attacks::knight(king), bishop, rook, bishop | rook, EMPTY]
    }

    /// What [`Checks::given_by`] needs to know about this position.
    pub fn checks(&self) -> Checks {
        let (us, king) = (self.side_to_move(), self.king(!self.side_to_move()));
        let mut blockers = EMPTY;
        for slider in each(self.sliders_toward(king) & self.colors(us)) {
            let between = attacks::between(king, slider) & self.occupied();
            if between.len() == 1 {
                blockers |= between & self.colors(us);
            }
        }
        Checks { king, squares: self.check_squares(), blockers }
    }
}

/// Tests many moves of one position for check: costs a little more than one [`Board::gives_check`] to prepare, and next
/// to nothing for each move.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    king: Square,
    /// See [`Board::check_squares`].
    pub(super) squares: [BitBoard; 6],
    /// Pieces of the side to move that alone stand between one of its sliders and the enemy king: they give check by
    /// leaving the line.
    pub(super) blockers: BitBoard,
}

impl Checks {
    /// The squares to which the piece on `from`, of this type and not a pawn, gives direct or discovered check.
    pub(super) fn squares_from(&self, piece: Piece, from: Square) -> BitBoard {
        let discovered = if self.blockers.has(from) { !attacks::line(self.king, from) } else { EMPTY };
        self.squares[piece.to_index()] | discovered
    }

    /// Whether a legal move of `board`, the position of these checks, gives check.
    pub(crate) fn given_by(&self, board: &Board, mv: Move) -> bool {
        // These moves change more lines than those of the moving piece.
        if mv.promotion().is_some() || mv.is_castling() || board.is_en_passant(mv) {
            return board.gives_check(mv);
        }
        let (from, to) = (mv.from(), mv.to());
        let moved = board.moved_piece(mv);
        self.squares[moved.to_index()].has(to) || (self.blockers.has(from) && !attacks::line(self.king, from).has(to))
    }
}
