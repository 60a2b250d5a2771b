//! Castling, with rooks and king anywhere on their first rank: Chess960 and double Chess960 as well as standard chess.
//!
//! The `chess` crate knows castling from e1 and e8 alone. A [`Board`] keeps the rooks that may still castle as a set of
//! squares, and generates, tests and makes castling here. Nothing above the board knows where king and rooks stood at the
//! beginning.
//!
//! Castling is a [`ChessMove`] of the king to the square where it ends. Where that is a step, or no way at all, it
//! would be taken for a king's step; there it carries a king as "promotion". In standard chess it is therefore
//! e1g1 as everywhere, and no position has two moves that look the same.

use super::{
    BitBoard, Board, COLORS, ChessMove, Color, Delta, EMPTY, File, PIECES, Piece, PieceSquare, Square, Squares,
    attacks, each, square, square_set, zobrist,
};

/// Squares where the rooks of standard chess begin.
const CORNERS: BitBoard = BitBoard(0x8100_0000_0000_0081);

/// The squares of a color's first rank.
#[inline]
pub(super) fn back_rank(color: Color) -> BitBoard {
    BitBoard(0xFF << (56 * color.to_index()))
}

/// Squares of lower numbers: on the same rank those on the queen's side.
#[inline]
fn below(square: Square) -> BitBoard {
    BitBoard((1 << square.to_index()) - 1)
}

/// Of these rooks on a king's rank the outermost on the queen's and on the king's side, each a set of one or none.
pub(super) fn outermost(rooks: BitBoard, king: Square) -> [BitBoard; 2] {
    let [queens, kings] = [rooks.0 & below(king).0, rooks.0 & !below(king).0];
    [BitBoard(queens & queens.wrapping_neg()), BitBoard(kings.checked_ilog2().map_or(0, |highest| 1 << highest))]
}

#[inline]
fn on_rank_of(square: Square, file: File) -> Square {
    Square::make_square(square.get_rank(), file)
}

/// The way of king and rook when they castle.
struct Way {
    king: Square,
    king_to: Square,
    rook: Square,
    rook_to: Square,
}

impl Way {
    #[inline]
    fn new(king: Square, rook: Square) -> Way {
        let (king_file, rook_file) = if rook < king { (File::C, File::D) } else { (File::G, File::F) };
        Way { king, king_to: on_rank_of(king, king_file), rook, rook_to: on_rank_of(king, rook_file) }
    }

    /// Squares that the king passes or reaches.
    #[inline]
    fn of_king(&self) -> BitBoard {
        attacks::between(self.king, self.king_to) | square_set(self.king_to)
    }

    /// Squares that the rook passes or reaches.
    #[inline]
    fn of_rook(&self) -> BitBoard {
        attacks::between(self.rook, self.rook_to) | square_set(self.rook_to)
    }

    #[inline]
    fn movers(&self) -> BitBoard {
        square_set(self.king) | square_set(self.rook)
    }

    #[inline]
    fn encoded(&self) -> ChessMove {
        let short = self.king.to_int().abs_diff(self.king_to.to_int()) < 2;
        ChessMove::new(self.king, self.king_to, short.then_some(Piece::King))
    }

    /// Whether king and rook go the way they go in standard chess.
    fn is_standard(&self) -> bool {
        self.king.get_file() == File::E && CORNERS.has(self.rook)
    }
}

impl Board {
    /// Whether `color` may still castle on some side.
    #[inline]
    #[must_use]
    pub fn can_castle(&self, color: Color) -> bool {
        (self.castling & back_rank(color)).any()
    }

    /// The rooks of both colors that may still castle.
    #[inline]
    #[must_use]
    pub fn castling_rooks(&self) -> BitBoard {
        self.castling
    }

    /// Whether some castling that is still allowed is none of standard chess: king or rook began elsewhere.
    #[must_use]
    pub fn castles_unusually(&self) -> bool {
        COLORS.into_iter().any(|color| {
            let rooks = self.castling & back_rank(color);
            each(rooks).any(|rook| !Way::new(self.king(color), rook).is_standard())
        })
    }

    /// Whether moves are written as UCI wants them in Chess960.
    #[must_use]
    pub fn is_chess960(&self) -> bool {
        self.chess960
    }

    /// The same position, whose moves are written as UCI wants them in Chess960, or not.
    #[must_use]
    pub fn with_chess960(mut self, chess960: bool) -> Board {
        self.chess960 = chess960;
        self
    }

    /// The castling of the side to move with the rook on `rook`, if it is legal.
    #[must_use]
    pub fn castling_with(&self, rook: Square) -> Option<ChessMove> {
        let ours = self.castling & back_rank(self.side_to_move());
        let way = Way::new(self.king(self.side_to_move()), rook);
        (ours.has(rook) && !self.in_check() && self.is_free(&way)).then(|| way.encoded())
    }

    /// The legal castlings of the side to move, the queen's side first.
    #[inline]
    pub(super) fn castling_moves(&self) -> impl Iterator<Item = ChessMove> {
        let us = self.side_to_move();
        let rooks = if self.in_check() { EMPTY } else { self.castling & back_rank(us) };
        rooks
            .into_iter()
            .map(move |rook| Way::new(self.king(us), rook))
            .filter(|way| self.is_free(way))
            .map(|way| way.encoded())
    }

    /// Whether nobody stands in the way, and no enemy attacks a square of the king's.
    ///
    /// The rook is taken away before attacks are looked at: one that it held off may reach the king where it ends.
    fn is_free(&self, way: &Way) -> bool {
        let occupied = self.occupied() & !way.movers();
        let enemy = self.colors(!self.side_to_move());
        (occupied & (way.of_king() | way.of_rook())).is_empty()
            && way.of_king().into_iter().all(|square| (self.attackers_to(square, occupied) & enemy).is_empty())
    }

    /// Whether `mv`, which is legal or not, is castling by the way it is encoded.
    #[inline]
    #[must_use]
    pub fn is_castling(&self, mv: ChessMove) -> bool {
        let (from, to) = (mv.get_source().to_int(), mv.get_dest().to_int());
        let wide = matches!(from.abs_diff(to), 2..=6);
        // Few moves are a king's, while no processor predicts how far a move goes.
        self.pieces(Piece::King).has(mv.get_source()) && (wide || mv.get_promotion() == Some(Piece::King))
    }

    /// Where the rook stands before and after a legal castling.
    #[inline]
    pub(super) fn castling_rook(&self, mv: ChessMove) -> (Square, Square) {
        let way = self.castling_way(mv);
        (way.rook, way.rook_to)
    }

    fn castling_way(&self, mv: ChessMove) -> Way {
        let king = mv.get_source();
        let ours = self.castling & back_rank(self.side_to_move());
        let side = if mv.get_dest().get_file() == File::C { below(king) } else { !below(king) };
        Way::new(king, (ours & side).to_square())
    }

    /// Makes a legal castling of this board on `into`, where the same pieces stand.
    pub(super) fn make_castling(&self, mv: ChessMove, into: &mut Board) -> Delta {
        let us = self.side_to_move();
        let way = self.castling_way(mv);
        let mut delta = Delta::none();
        delta.remove(PieceSquare::new(us, Piece::King, way.king));
        delta.add(PieceSquare::new(us, Piece::King, way.king_to));
        delta.remove(PieceSquare::new(us, Piece::Rook, way.rook));
        delta.add(PieceSquare::new(us, Piece::Rook, way.rook_to));
        // All are taken away first: one may end where the other began.
        delta.removed().iter().for_each(|&placed| into.lift(placed));
        delta.added().iter().for_each(|&placed| into.place(placed));
        delta
    }

    /// The squares of king and rook, where a legal move is castling.
    #[must_use]
    pub fn castling_squares(&self, mv: ChessMove) -> Option<(Square, Square)> {
        self.is_castling(mv).then(|| {
            let way = self.castling_way(mv);
            (way.king, way.rook)
        })
    }

    /// The move as king and rook, where it is castling that must be written so: always in Chess960, and where
    /// the king's squares alone could be taken for another move or by nobody for castling.
    pub(super) fn king_takes_rook(&self, mv: ChessMove) -> Option<(Square, Square)> {
        let way = self.is_castling(mv).then(|| self.castling_way(mv))?;
        (self.chess960 || !way.is_standard()).then_some((way.king, way.rook))
    }

    /// Zobrist key of the rights: by side alone in standard chess, and also by file for other rooks.
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

/// A move in fifteen bits: from, to, promotion; no move is 0.
#[inline]
#[must_use]
pub fn move_bits(mv: Option<ChessMove>) -> u16 {
    mv.map_or(0, |mv| {
        let promotion = mv.get_promotion().map_or(0, |piece| piece.to_index() as u16);
        u16::from(mv.get_source().to_int()) | u16::from(mv.get_dest().to_int()) << 6 | promotion << 12
    })
}

/// The move that [`move_bits`] packed, if it packs to these bits; whether it is legal is for a board to say.
#[inline]
#[must_use]
pub fn move_from_bits(bits: u16) -> Option<ChessMove> {
    let promotion = match bits >> 12 {
        0 => None,
        kind => Some(*PIECES.get(usize::from(kind))?),
    };
    (bits != 0).then(|| ChessMove::new(square(usize::from(bits)), square(usize::from(bits >> 6)), promotion))
}
