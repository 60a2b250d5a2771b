//! Castling in standard chess, [Chess960](https://www.chessprogramming.org/Chess960) and double Chess960.
//!
//! A [`Board`] keeps the rooks that may still castle as a set of squares; callers need not know where king and rooks
//! started.
//!
//! Castling is a [`Move`] of the king to its final square with a mark: in Chess960 an ordinary king move may look the
//! same.

use super::squares::rank_set;
use super::{
    BitBoard, Board, COLORS, Color, Delta, EMPTY, File, Move, Piece, PieceSquare, Square, Squares, attacks, each,
    square_set, zobrist,
};

/// The initial squares of the rooks in standard chess.
const CORNERS: BitBoard = BitBoard(0x8100_0000_0000_0081);

/// The squares of a color's first rank.
pub(super) fn back_rank(color: Color) -> BitBoard {
    rank_set(7 * color.to_index())
}

/// All squares with a lower index: on the same rank those toward the queen's side.
fn below(square: Square) -> BitBoard {
    BitBoard((1 << square.to_index()) - 1)
}

/// The outermost of `rooks`, on the king's rank, on the queen's and on the king's side: sets of at most one square.
pub(super) fn outermost(rooks: BitBoard, king: Square) -> [BitBoard; 2] {
    let [queens, kings] = [rooks.0 & below(king).0, rooks.0 & !below(king).0];
    [BitBoard(queens & queens.wrapping_neg()), BitBoard(kings.checked_ilog2().map_or(0, |highest| 1 << highest))]
}

fn on_rank_of(square: Square, file: File) -> Square {
    Square::make_square(square.get_rank(), file)
}

/// Origins and destinations of king and rook.
pub(super) struct CastlingPath {
    pub(super) king: Square,
    king_to: Square,
    pub(super) rook: Square,
    pub(super) rook_to: Square,
}

impl CastlingPath {
    fn new(king: Square, rook: Square) -> CastlingPath {
        let (king_file, rook_file) = if rook < king { (File::C, File::D) } else { (File::G, File::F) };
        CastlingPath { king, king_to: on_rank_of(king, king_file), rook, rook_to: on_rank_of(king, rook_file) }
    }

    /// Squares that the king passes or reaches.
    fn of_king(&self) -> BitBoard {
        attacks::between(self.king, self.king_to) | square_set(self.king_to)
    }

    /// Squares that the rook passes or reaches.
    fn of_rook(&self) -> BitBoard {
        attacks::between(self.rook, self.rook_to) | square_set(self.rook_to)
    }

    fn origins(&self) -> BitBoard {
        square_set(self.king) | square_set(self.rook)
    }

    fn encoded(&self) -> Move {
        Move::new(self.king, self.king_to).as_castling()
    }

    /// Whether this is castling of standard chess.
    pub(super) fn is_standard(&self) -> bool {
        self.king.get_file() == File::E && CORNERS.has(self.rook)
    }
}

impl Board {
    /// Whether `color` may still castle on some side.
    pub fn can_castle(&self, color: Color) -> bool {
        (self.castling & back_rank(color)).any()
    }

    /// The rooks of both colors that may still castle.
    pub fn castling_rooks(&self) -> BitBoard {
        self.castling
    }

    /// Whether a castling right exists that standard chess does not have: king or rook started elsewhere.
    pub fn castles_unusually(&self) -> bool {
        COLORS.into_iter().any(|color| {
            let rooks = self.castling & back_rank(color);
            each(rooks).any(|rook| !CastlingPath::new(self.king(color), rook).is_standard())
        })
    }

    /// The same position; `chess960` selects the UCI notation of castling, see [`Board::uci`].
    pub fn with_chess960(mut self, chess960: bool) -> Board {
        self.chess960 = chess960;
        self
    }

    /// Castling of the side to move with the rook on `rook`, if that is legal.
    pub fn castling_with(&self, rook: Square) -> Option<Move> {
        let ours = self.castling & back_rank(self.side_to_move());
        let path = CastlingPath::new(self.king(self.side_to_move()), rook);
        (ours.has(rook) && !self.in_check() && self.is_free(&path)).then(|| path.encoded())
    }

    /// The legal castling moves, queen's side first.
    pub(super) fn castling_moves(&self) -> impl Iterator<Item = Move> {
        let us = self.side_to_move();
        let rooks = if self.in_check() { EMPTY } else { self.castling & back_rank(us) };
        rooks
            .into_iter()
            .map(move |rook| CastlingPath::new(self.king(us), rook))
            .filter(|path| self.is_free(path))
            .map(|path| path.encoded())
    }

    /// Whether both paths are free and the king's path is not attacked.
    ///
    /// Attacks are computed without the rook, which may shield the king's destination before it moves.
    fn is_free(&self, path: &CastlingPath) -> bool {
        let occupied = self.occupied() & !path.origins();
        let enemy = self.colors(!self.side_to_move());
        (occupied & (path.of_king() | path.of_rook())).is_empty()
            && path.of_king().into_iter().all(|square| (self.attackers_to(square, occupied) & enemy).is_empty())
    }

    /// The move, marked as castling if it moves the king by two or more files.
    pub fn mark_castling(&self, mv: Move) -> Move {
        let wide = (2..=6).contains(&mv.from().to_int().abs_diff(mv.to().to_int()));
        if wide && self.pieces(Piece::King).has(mv.from()) { mv.as_castling() } else { mv }
    }

    pub(super) fn castling_path(&self, mv: Move) -> CastlingPath {
        let king = mv.from();
        let ours = self.castling & back_rank(self.side_to_move());
        let side = if mv.to().get_file() == File::C { below(king) } else { !below(king) };
        CastlingPath::new(king, (ours & side).to_square())
    }

    /// Makes a legal castling move of this board on `into`, its copy.
    pub(super) fn make_castling(&self, mv: Move, into: &mut Board) -> Delta {
        let us = self.side_to_move();
        let path = self.castling_path(mv);
        let mut delta = Delta::none();
        delta.remove(PieceSquare::new(us, Piece::King, path.king));
        delta.add(PieceSquare::new(us, Piece::King, path.king_to));
        delta.remove(PieceSquare::new(us, Piece::Rook, path.rook));
        delta.add(PieceSquare::new(us, Piece::Rook, path.rook_to));
        // Both are removed first: one may move to the origin of the other.
        delta.removed().iter().for_each(|&placed| into.lift(placed));
        delta.added().iter().for_each(|&placed| into.place(placed));
        delta
    }

    /// The square of the rook if a legal move is castling.
    pub fn castling_rook(&self, mv: Move) -> Option<Square> {
        mv.is_castling().then(|| self.castling_path(mv).rook)
    }

    /// Zobrist key of the castling rights: by color and side, for rooks outside the corners also by file.
    pub(super) fn castling_key(&self) -> u64 {
        let mut index = 0;
        for color in COLORS {
            let [queens, kings] = outermost(self.castling & back_rank(color), self.king(color));
            index |= (usize::from(kings.any()) | usize::from(queens.any()) << 1) << (2 * color.to_index());
        }
        let unusual = self.castling & !CORNERS;
        unusual.into_iter().fold(zobrist::castling(index), |key, rook| key ^ zobrist::castling_rook(rook))
    }
}
