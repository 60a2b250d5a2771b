//! The rules of chess, with the types and attack tables of the `chess` crate.
//!
//! The crate's own board accepts positions that corrupt its memory, knows no clocks, no repetition and no Chess960, keeps
//! illegal en passant squares in its key, trusts every move it is given, and keeps keys that nothing here needs. So a
//! [`Board`] is our own: always a valid position, in which a move is made only after it was generated or tested. How
//! castling is encoded, written and made is known here alone: Chess960 is played without anything above knowing of it.

pub mod attacks;
mod castling;
mod checks;
mod chess960;
mod cuckoo;
mod fen;
mod game;
mod generate;
mod move_list;
mod notation;
mod see;
pub mod squares;
pub(crate) mod zobrist;

pub use castling::{move_bits, move_from_bits};
pub use checks::Checks;
pub use chess::{ALL_SQUARES, BitBoard, ChessMove, Color, EMPTY, File, Piece, Rank, Square};
pub use chess960::CHESS960_POSITIONS;
pub use cuckoo::upcoming_repetition;
pub use fen::{FenError, Setup, quote};
pub use game::{Ending, Game};
pub use move_list::{MAX_MOVES, MoveList};
pub use notation::MoveError;
pub use see::PIECE_VALUES;
pub use squares::{Squares, each, square, square_set};

use squares::DARK_SQUARES;
use std::fmt;
use std::str::FromStr;

/// The six piece types, in the order of their indices.
pub const PIECES: [Piece; 6] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen, Piece::King];
/// Both colors, in the order of their indices.
pub const COLORS: [Color; 2] = [Color::White, Color::Black];

/// A piece on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceSquare {
    /// Whose piece it is.
    pub color: Color,
    /// What it is.
    pub piece: Piece,
    /// Where it stands.
    pub square: Square,
}

impl PieceSquare {
    /// A piece on a square.
    #[inline]
    #[must_use]
    pub fn new(color: Color, piece: Piece, square: Square) -> PieceSquare {
        PieceSquare { color, piece, square }
    }
}

/// A piece and the square it stands on or goes to, in one number below 768: color, piece type, square.
pub type PieceTo = u16;

/// The [`PieceTo`] of a piece and a square.
#[inline]
#[must_use]
pub fn piece_index(color: Color, piece: Piece, square: Square) -> PieceTo {
    ((color.to_index() * 6 + piece.to_index()) * 64 + square.to_index()) as PieceTo
}

/// What a move changed on the board: at most two pieces taken away and two put down.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    removed: [PieceSquare; 2],
    added: [PieceSquare; 2],
    removals: u8,
    additions: u8,
}

impl Delta {
    /// Nothing changed (a null move).
    #[must_use]
    pub fn none() -> Delta {
        let nobody = PieceSquare::new(Color::White, Piece::Pawn, Square::A1);
        Delta { removed: [nobody; 2], added: [nobody; 2], removals: 0, additions: 0 }
    }

    /// Pieces that left their squares.
    #[inline]
    #[must_use]
    pub fn removed(&self) -> &[PieceSquare] {
        &self.removed[..usize::from(self.removals)]
    }

    /// Pieces that came to their squares.
    #[inline]
    #[must_use]
    pub fn added(&self) -> &[PieceSquare] {
        &self.added[..usize::from(self.additions)]
    }

    /// Those that left and those that came, each two, of which the last may mean nothing: see [`Delta::removed`] and
    /// [`Delta::added`].
    #[inline]
    pub(crate) fn padded(&self) -> [[PieceSquare; 2]; 2] {
        [self.removed, self.added]
    }

    #[inline]
    fn remove(&mut self, placed: PieceSquare) {
        self.removed[usize::from(self.removals)] = placed;
        self.removals += 1;
    }

    #[inline]
    fn add(&mut self, placed: PieceSquare) {
        self.added[usize::from(self.additions)] = placed;
        self.additions += 1;
    }
}

/// Zobrist keys of a position and of its parts.
#[derive(Clone, Copy, Default)]
struct Keys {
    all: u64,
    pawns: u64,
    minors: u64,
    non_pawns: [u64; 2],
    /// Four bits a piece type and color: the count.
    material: u64,
}

impl Keys {
    /// Changes the keys by that of a piece, on one square or the difference of two.
    #[inline(always)]
    fn toggle(&mut self, color: Color, piece: Piece, key: u64) {
        // Masks, because no processor predicts what moves.
        let only_if = |condition: bool| u64::from(condition).wrapping_neg();
        let pawn = only_if(piece == Piece::Pawn);
        self.all ^= key;
        self.pawns ^= key & pawn;
        self.non_pawns[color.to_index()] ^= key & !pawn;
        self.minors ^= key & only_if(matches!(piece, Piece::Knight | Piece::Bishop | Piece::King));
    }
}

/// What one piece adds to [`Board::material_key`].
#[inline]
#[must_use]
pub const fn material_unit(color: Color, piece: Piece) -> u64 {
    1 << (4 * (color as u64 * 6 + piece as u64))
}

/// A valid position with its clocks and keys.
#[derive(Clone, Copy)]
pub struct Board {
    /// By piece type, both colors.
    pieces: [BitBoard; 6],
    colors: [BitBoard; 2],
    /// Pieces that give check to the side to move.
    checkers: BitBoard,
    /// Pieces of the side to move that alone stand between its king and an enemy slider.
    pinned: BitBoard,
    keys: Keys,
    /// Rooks that may castle.
    castling: BitBoard,
    side_to_move: Color,
    /// How moves are written: no part of the position.
    chess960: bool,
    en_passant: Option<Square>,
    halfmove: u16,
    fullmove: u16,
}

impl Board {
    /// Reads a FEN of four to six fields.
    ///
    /// ```
    /// # use dyad_engine::board::Board;
    /// let board = Board::from_fen("8/8/8/8/8/5k2/6p1/6K1 w - - 0 1").unwrap();
    /// assert_eq!(board.fen(), "8/8/8/8/8/5k2/6p1/6K1 w - - 0 1");
    /// assert_eq!(board.count_moves(), 1);
    ///
    /// let error = Board::from_fen("8/8/8/8/8/8/8/K7 w - - 0 1").unwrap_err();
    /// assert!(error.to_string().contains("king"));
    /// ```
    ///
    /// # Errors
    /// Says what is wrong with the FEN and where.
    pub fn from_fen(fen: &str) -> Result<Board, FenError> {
        fen::parse(fen)
    }

    /// Makes a board of its parts; faster than from a FEN, and checked like one.
    ///
    /// # Errors
    /// Says what is wrong with the position.
    pub fn from_setup(setup: &Setup) -> Result<Board, FenError> {
        fen::build(setup)
    }

    /// The position as a FEN of six fields.
    #[must_use]
    pub fn fen(&self) -> String {
        fen::write(self)
    }

    /// Puts a piece on an empty square.
    #[inline(always)]
    fn place(&mut self, placed: PieceSquare) {
        self.toggle(placed.color, placed.piece, square_set(placed.square));
        self.keys.toggle(placed.color, placed.piece, zobrist::piece(placed.color, placed.piece, placed.square));
        self.keys.material += material_unit(placed.color, placed.piece);
    }

    /// Takes a piece away.
    #[inline(always)]
    fn lift(&mut self, placed: PieceSquare) {
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
    fn toggle(&mut self, color: Color, piece: Piece, squares: BitBoard) {
        self.pieces[piece.to_index()] ^= squares;
        self.colors[color.to_index()] ^= squares;
    }

    /// Finds what gives check to the side to move and what is pinned to its king.
    #[inline(always)]
    fn find_checkers_and_pins(&mut self) {
        let us = self.side_to_move;
        let (king, occupied, enemy) = (self.king(us), self.occupied(), self.colors(!us));
        let queens = self.pieces(Piece::Queen);
        let steps =
            (attacks::pawn(us, king) & self.pieces(Piece::Pawn)) | (attacks::knight(king) & self.pieces(Piece::Knight));
        let sliders = (attacks::diagonals(king) & (self.pieces(Piece::Bishop) | queens))
            | (attacks::straights(king) & (self.pieces(Piece::Rook) | queens));
        (self.checkers, self.pinned) = (steps & enemy, EMPTY);
        for slider in each(sliders & enemy) {
            let between = attacks::between(slider, king) & occupied;
            if between.is_empty() {
                self.checkers |= square_set(slider);
            } else if !between.more_than_one() {
                self.pinned |= between & self.colors(us);
            }
        }
    }

    fn fresh_keys(&self) -> Keys {
        let mut keys = Keys::default();
        for PieceSquare { color, piece, square } in self.placed_pieces() {
            keys.toggle(color, piece, zobrist::piece(color, piece, square));
            keys.material += material_unit(color, piece);
        }
        keys.all ^= self.castling_key();
        if let Some(square) = self.en_passant {
            keys.all ^= zobrist::en_passant(square.get_file());
        }
        if self.side_to_move() == Color::Black {
            keys.all ^= zobrist::black_to_move();
        }
        keys
    }

    /// All pieces on the board.
    pub fn placed_pieces(&self) -> impl Iterator<Item = PieceSquare> + '_ {
        COLORS.into_iter().flat_map(move |color| {
            PIECES.into_iter().flat_map(move |piece| {
                each(self.colored(color, piece)).map(move |square| PieceSquare::new(color, piece, square))
            })
        })
    }

    /// Whose move it is.
    #[inline]
    #[must_use]
    pub fn side_to_move(&self) -> Color {
        self.side_to_move
    }

    /// Number of the move, from 1, counted up after Black's.
    #[inline]
    #[must_use]
    pub fn fullmove_number(&self) -> u32 {
        u32::from(self.fullmove)
    }

    /// Plies since the last capture or pawn move.
    #[inline]
    #[must_use]
    pub fn halfmove_clock(&self) -> u32 {
        u32::from(self.halfmove)
    }

    /// The square an en passant capture goes to, if one is legal.
    #[inline]
    #[must_use]
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// All occupied squares.
    #[inline]
    #[must_use]
    pub fn occupied(&self) -> BitBoard {
        self.colors[0] | self.colors[1]
    }

    /// Squares of this piece type, both colors.
    #[inline]
    #[must_use]
    pub fn pieces(&self, piece: Piece) -> BitBoard {
        self.pieces[piece.to_index()]
    }

    /// Squares of this color's pieces.
    #[inline]
    #[must_use]
    pub fn colors(&self, color: Color) -> BitBoard {
        self.colors[color.to_index()]
    }

    /// Squares of this color's pieces of this type.
    #[inline]
    #[must_use]
    pub fn colored(&self, color: Color, piece: Piece) -> BitBoard {
        self.colors(color) & self.pieces(piece)
    }

    /// Where this color's king stands.
    #[inline]
    #[must_use]
    pub fn king(&self, color: Color) -> Square {
        self.colored(color, Piece::King).to_square()
    }

    /// What stands on `square`.
    #[inline]
    #[must_use]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        // The three bits of one more than the piece's index: the crate's search through the types has branches that
        // no processor predicts.
        const PACKED_PIECES: [Option<Piece>; 8] = [
            None,
            Some(Piece::Pawn),
            Some(Piece::Knight),
            Some(Piece::Bishop),
            Some(Piece::Rook),
            Some(Piece::Queen),
            Some(Piece::King),
            None,
        ];
        let bit = |set: BitBoard| (set.0 >> square.to_index() & 1) as usize;
        let [pawns, knights, bishops, rooks, queens, kings] = PIECES.map(|piece| self.pieces(piece));
        let one = bit(pawns | bishops | queens);
        let two = bit(knights | bishops | kings);
        let four = bit(rooks | queens | kings);
        PACKED_PIECES[one | two << 1 | four << 2]
    }

    /// Whose piece stands on `square`.
    #[inline]
    #[must_use]
    pub fn color_on(&self, square: Square) -> Option<Color> {
        COLORS.into_iter().find(|&color| self.colors(color).has(square))
    }

    /// Pieces that give check to the side to move.
    #[inline]
    #[must_use]
    pub fn checkers(&self) -> BitBoard {
        self.checkers
    }

    /// Whether the side to move is in check.
    #[inline]
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.checkers().any()
    }

    /// Pieces of the side to move that are pinned to its king.
    #[inline]
    #[must_use]
    pub fn pinned(&self) -> BitBoard {
        self.pinned
    }

    /// Zobrist key of the position (clocks left out).
    #[inline]
    #[must_use]
    pub fn key(&self) -> u64 {
        self.keys.all
    }

    /// Zobrist key of the pawns.
    #[inline]
    #[must_use]
    pub fn pawn_key(&self) -> u64 {
        self.keys.pawns
    }

    /// Zobrist key of knights, bishops and kings.
    #[inline]
    #[must_use]
    pub fn minor_key(&self) -> u64 {
        self.keys.minors
    }

    /// Zobrist key of one color's pieces.
    #[inline]
    #[must_use]
    pub fn nonpawn_key(&self, color: Color) -> u64 {
        self.keys.non_pawns[color.to_index()]
    }

    /// Counts of all pieces, four bits each: see [`material_unit`].
    #[inline]
    #[must_use]
    pub fn material_key(&self) -> u64 {
        self.keys.material
    }

    /// Whether `color` has more than king and pawns.
    #[inline]
    #[must_use]
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        self.colors(color) & (self.pieces(Piece::Pawn) | self.pieces(Piece::King)) != self.colors(color)
    }

    /// How many pieces `color` has beside king and pawns.
    #[inline]
    #[must_use]
    pub fn pieces_beside_pawns(&self, color: Color) -> u32 {
        (self.colors(color) & !(self.pieces(Piece::Pawn) | self.pieces(Piece::King))).popcnt()
    }

    /// Whether neither side can mate, whatever happens: bare kings, one minor piece, or bishops
    /// on squares of one color.
    #[must_use]
    pub fn insufficient_material(&self) -> bool {
        let strong = self.pieces(Piece::Pawn) | self.pieces(Piece::Rook) | self.pieces(Piece::Queen);
        if strong.any() {
            return false;
        }
        let bishops = self.pieces(Piece::Bishop);
        let dark = bishops & DARK_SQUARES;
        self.occupied().len() <= 3 || (self.pieces(Piece::Knight).is_empty() && (dark.is_empty() || dark == bishops))
    }

    /// Fills `list` with the legal moves.
    #[inline]
    pub fn legal_moves(&self, list: &mut MoveList) {
        list.clear();
        self.for_each_but_castling(|mv| list.push(mv));
        // As one more of the king's moves, which are the last and in the order of their squares.
        if self.can_castle(self.side_to_move()) {
            self.castling_moves().for_each(|mv| list.insert_by_square(mv));
        }
    }

    /// Visits the legal moves.
    #[inline]
    pub fn for_each_legal(&self, mut visit: impl FnMut(ChessMove)) {
        self.for_each_but_castling(&mut visit);
        if self.can_castle(self.side_to_move()) {
            self.castling_moves().for_each(visit);
        }
    }

    /// The legal moves.
    #[must_use]
    pub fn moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.legal_moves(&mut list);
        list
    }

    /// Whether there is a legal move.
    #[must_use]
    pub fn has_legal_move(&self) -> bool {
        // Where the king castles without moving, that may be the only move.
        self.count_moves() > 0
    }

    /// Number of legal moves.
    #[must_use]
    pub fn count_moves(&self) -> usize {
        let mut count = 0;
        self.for_each_legal(|_| count += 1);
        count
    }

    /// Pieces of both colors that attack `square` on a board with these pieces.
    #[inline]
    #[must_use]
    pub fn attackers_to(&self, square: Square, occupied: BitBoard) -> BitBoard {
        let queens = self.pieces(Piece::Queen);
        (attacks::pawn(Color::Black, square) & self.colored(Color::White, Piece::Pawn))
            | (attacks::pawn(Color::White, square) & self.colored(Color::Black, Piece::Pawn))
            | (attacks::knight(square) & self.pieces(Piece::Knight))
            | (attacks::king(square) & self.pieces(Piece::King))
            | (attacks::bishop(square, occupied) & (self.pieces(Piece::Bishop) | queens))
            | (attacks::rook(square, occupied) & (self.pieces(Piece::Rook) | queens))
    }

    /// The piece that `mv` captures.
    #[inline]
    #[must_use]
    pub fn captured(&self, mv: ChessMove) -> Option<Piece> {
        if self.is_en_passant(mv) {
            Some(Piece::Pawn)
        } else if self.lands_on_enemy(mv) {
            self.piece_on(mv.get_dest())
        } else {
            None
        }
    }

    /// Whether `mv` captures.
    #[inline]
    #[must_use]
    pub fn is_capture(&self, mv: ChessMove) -> bool {
        self.lands_on_enemy(mv) || self.is_en_passant(mv)
    }

    /// In castling the king may end where it or its rook stood: that is no capture.
    #[inline]
    fn lands_on_enemy(&self, mv: ChessMove) -> bool {
        self.colors(!self.side_to_move()).has(mv.get_dest())
    }

    /// Whether `mv` captures or makes a queen: what quiescence looks at.
    #[inline]
    #[must_use]
    pub fn is_noisy(&self, mv: ChessMove) -> bool {
        self.is_capture(mv) || mv.get_promotion() == Some(Piece::Queen)
    }

    /// Whether `mv` captures en passant.
    #[inline]
    #[must_use]
    pub fn is_en_passant(&self, mv: ChessMove) -> bool {
        self.en_passant == Some(mv.get_dest())
            && self.pieces(Piece::Pawn).has(mv.get_source())
            && mv.get_source().get_file() != mv.get_dest().get_file()
    }

    /// Plays a legal move into `into` and says what changed.
    ///
    /// The move must be legal: it comes from [`Board::legal_moves`] or passed [`Board::is_legal`].
    #[inline]
    pub fn make_move(&self, mv: ChessMove, into: &mut Board) -> Delta {
        let us = self.side_to_move();
        let (from, to) = (mv.get_source(), mv.get_dest());
        let moved = self.piece_on(from).unwrap_or(Piece::King);
        let mut irreversible = moved == Piece::Pawn;
        *into = *self;
        let delta = if moved == Piece::King && self.is_castling(mv) {
            self.make_castling(mv, into)
        } else {
            let mut delta = Delta::none();
            let arrived = mv.get_promotion().unwrap_or(moved);
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
        into.halfmove = if irreversible { 0 } else { self.halfmove.saturating_add(1) };
        into.fullmove = self.fullmove.saturating_add(u16::from(us == Color::Black));
        into.en_passant = None;
        // Two ranks on: the squares' numbers differ in that bit alone.
        if moved == Piece::Pawn && from.to_int() ^ to.to_int() == 16 {
            let target = from.uforward(us);
            into.en_passant = into.en_passant_is_legal(target).then_some(target);
        }
        self.update_state_key(into);
        delta
    }

    /// The parts of the key that are not pieces.
    #[inline]
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

    /// The key after a legal move of a piece, told with where it goes, but for castling, promotion and en passant: early
    /// enough to fetch the table's entry.
    #[inline]
    #[must_use]
    pub fn likely_key_after(&self, mv: ChessMove, mover: PieceTo) -> u64 {
        let (from, to) = (mv.get_source(), mv.get_dest());
        let stood = mover & !63 | PieceTo::from(from.to_int());
        let mut key = self.keys.all ^ zobrist::black_to_move() ^ zobrist::placed(stood) ^ zobrist::placed(mover);
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
    ///
    /// ```
    /// # use dyad_engine::board::Board;
    /// let board = Board::startpos();
    /// let after = board.after(board.parse_san("Nf3").unwrap());
    /// assert_eq!(after.fen(), "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1");
    /// ```
    #[must_use]
    pub fn after(&self, mv: ChessMove) -> Board {
        let mut board = *self;
        self.make_move(mv, &mut board);
        board
    }

    /// Passes the move into `into`; the side to move must not be in check.
    #[inline]
    pub fn make_null(&self, into: &mut Board) {
        debug_assert!(!self.in_check());
        *into = *self;
        into.side_to_move = !self.side_to_move;
        into.find_checkers_and_pins();
        into.en_passant = None;
        into.halfmove = into.halfmove.saturating_add(1);
        self.update_state_key(into);
    }

    /// Whether an en passant capture to `target` leaves no own king in check.
    ///
    /// `target` lies behind a pawn that has just made a double step.
    fn en_passant_is_legal(&self, target: Square) -> bool {
        let us = self.side_to_move();
        let takers = attacks::pawn(!us, target) & self.colored(us, Piece::Pawn);
        each(takers).any(|from| self.en_passant_leaves_no_check(from, target))
    }

    fn en_passant_leaves_no_check(&self, from: Square, target: Square) -> bool {
        let us = self.side_to_move();
        let victim = square_set(target.ubackward(us));
        let occupied = (self.occupied() ^ square_set(from) ^ victim) | square_set(target);
        (self.attackers_to(self.king(us), occupied) & self.colors(!us) & !victim).is_empty()
    }

    /// Whether `mv`, which may come from anywhere, is legal here.
    #[must_use]
    pub fn is_legal(&self, mv: ChessMove) -> bool {
        let us = self.side_to_move();
        let (from, to) = (mv.get_source(), mv.get_dest());
        if self.is_castling(mv) {
            return self.castling_moves().any(|castling| castling == mv);
        }
        if !self.colors(us).has(from) || self.colors(us).has(to) {
            return false;
        }
        let Some(piece) = self.piece_on(from) else { return false };
        let promotes = piece == Piece::Pawn && to.get_rank() == us.to_their_backrank();
        let promotion_fits = match mv.get_promotion() {
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

    /// For all but kings and en passant: the king is not left in check.
    #[inline]
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

    /// Whether a legal move gives check.
    #[must_use]
    pub fn gives_check(&self, mv: ChessMove) -> bool {
        let us = self.side_to_move();
        let (from, to) = (mv.get_source(), mv.get_dest());
        let king = self.king(!us);
        let mut occupied = (self.occupied() & !square_set(from)) | square_set(to);
        let moved = self.piece_on(from).unwrap_or(Piece::King);
        if moved == Piece::Pawn && self.is_en_passant(mv) {
            occupied ^= square_set(to.ubackward(us));
        } else if moved == Piece::King && self.is_castling(mv) {
            let (rook_from, rook_to) = self.castling_rook(mv);
            occupied = (occupied & !square_set(rook_from)) | square_set(to) | square_set(rook_to);
            return attacks::rook(rook_to, occupied).has(king);
        }
        let direct = match mv.get_promotion().unwrap_or(moved) {
            Piece::King => EMPTY,
            piece => attacks::of(piece, us, to, occupied),
        };
        direct.has(king) || self.discovers_check(occupied, square_set(from), king)
    }

    /// Whether a slider of the side to move, other than the piece that moved, attacks the enemy king.
    #[inline]
    fn discovers_check(&self, occupied: BitBoard, moved: BitBoard, king: Square) -> bool {
        let ours = self.colors(self.side_to_move()) & !moved;
        let queens = self.pieces(Piece::Queen);
        let diagonal = ours & (self.pieces(Piece::Bishop) | queens);
        let straight = ours & (self.pieces(Piece::Rook) | queens);
        ((attacks::diagonals(king) & diagonal).any() && (attacks::bishop(king, occupied) & diagonal).any())
            || ((attacks::straights(king) & straight).any() && (attacks::rook(king, occupied) & straight).any())
    }
}

impl PartialEq for Board {
    fn eq(&self, other: &Board) -> bool {
        PIECES.into_iter().all(|piece| self.pieces(piece) == other.pieces(piece))
            && COLORS.into_iter().all(|color| self.colors(color) == other.colors(color))
            && self.side_to_move() == other.side_to_move()
            && self.castling == other.castling
            && self.en_passant == other.en_passant
            && self.halfmove == other.halfmove
            && self.fullmove == other.fullmove
    }
}

impl Eq for Board {}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({})", self.fen())
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fen())
    }
}

impl FromStr for Board {
    type Err = FenError;

    fn from_str(text: &str) -> Result<Board, FenError> {
        Board::from_fen(text)
    }
}

#[cfg(test)]
pub(crate) mod tests;
