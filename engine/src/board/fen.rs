//! [Forsyth-Edwards Notation](https://www.chessprogramming.org/Forsyth-Edwards_Notation), read strictly: an invalid
//! board cannot exist.
//!
//! Move lists have room for legal positions only, and a king is always expected, so positions are checked here.
//! Castling rights are read in standard, X-FEN and Shredder-FEN notation, and written as X-FEN.

use super::castling::{back_rank, outermost};
use super::notation::parse_square;
use super::pieces::piece_of_letter;
use super::squares::{Squares, file_set, square_set};
use super::zobrist::Keys;
use super::{
    ALL_SQUARES, BitBoard, Board, BoardError, COLORS, Color, EMPTY, PIECES, Piece, PieceSquare, Rank, Square,
    color_name,
};

fn error<T>(text: impl Into<String>) -> Result<T, BoardError> {
    Err(BoardError(text.into()))
}

/// Quotes input in an error message: cut to 60 characters, with unprintable characters escaped.
pub fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    let short: String = text.chars().take(LONGEST).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("'{}{more}'", short.escape_debug())
}

type Placement = [Option<(Piece, Color)>; 64];

/// The fields of a FEN; not yet validated, see [`Board::from_setup`].
#[derive(Clone, Debug)]
pub struct Setup {
    /// The pieces by square, a1 to h8.
    pub pieces: [Option<(Piece, Color)>; 64],
    /// The side to move.
    pub side_to_move: Color,
    /// Rooks that may castle, on each side the outermost. Squares are ignored that hold no rook on the first rank of
    /// its king.
    pub castling: BitBoard,
    /// The square that a pawn has just passed. Ignored if no en passant capture is legal.
    pub en_passant: Option<Square>,
    /// Plies since the last capture or pawn move.
    pub halfmove_clock: u16,
    /// The move number, which increases after Black's move.
    pub fullmove_number: u16,
}

fn parse_piece(letter: char) -> Option<(Piece, Color)> {
    let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
    piece_of_letter(letter).map(|piece| (piece, color))
}

fn parse_placement(text: &str) -> Result<Placement, BoardError> {
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != 8 {
        return error(format!("board {} has {} ranks, expected 8", quote(text), ranks.len()));
    }
    let mut placement = [None; 64];
    for (row, rank) in ranks.iter().enumerate() {
        let number = 8 - row;
        let mut file = 0;
        for letter in rank.chars() {
            if let Some(step) = letter.to_digit(10).filter(|d| (1..=8).contains(d)) {
                file += step as usize;
            } else if let Some(placed) = parse_piece(letter) {
                if file < 8 {
                    placement[(7 - row) * 8 + file] = Some(placed);
                }
                file += 1;
            } else {
                return error(format!("rank {number}: '{}' is neither a piece nor a count", letter.escape_debug()));
            }
        }
        if file != 8 {
            return error(format!("rank {number}: {} has {file} squares, expected 8", quote(rank)));
        }
    }
    Ok(placement)
}

/// Checks that each side has one king, at most eight pawns, no more promoted pieces than missing pawns, and no pawn on
/// the first or last rank.
fn check_pieces(board: &Board) -> Result<(), BoardError> {
    for color in COLORS {
        let name = color_name(color);
        let count = |piece| board.colored(color, piece).popcnt();
        let [pawns, knights, bishops, rooks, queens, kings] = PIECES.map(count);
        if kings != 1 {
            return error(format!("{name} has {kings} kings, expected 1"));
        }
        if pawns > 8 {
            return error(format!("{name} has {pawns} pawns, at most 8 are possible"));
        }
        let promoted: u32 = [(knights, 2), (bishops, 2), (rooks, 2), (queens, 1)]
            .iter()
            .map(|&(count, start)| count.saturating_sub(start))
            .sum();
        if pawns + promoted > 8 {
            return error(format!(
                "{name} has {pawns} pawns and {promoted} promoted pieces, together at most 8 are possible"
            ));
        }
    }
    let back_ranks = back_rank(Color::White) | back_rank(Color::Black);
    match (board.pieces(Piece::Pawn) & back_ranks).next() {
        Some(square) => error(format!("pawn on {square}")),
        None => Ok(()),
    }
}

fn parse_side(text: &str) -> Result<Color, BoardError> {
    match text {
        "w" | "W" => Ok(Color::White),
        "b" | "B" => Ok(Color::Black),
        _ => error(format!("side to move {}, expected w or b", quote(text))),
    }
}

/// The rooks that may castle. `KQkq` mean the outermost rook on that side (X-FEN), a file means the rook on it
/// (Shredder-FEN). Letters without such a rook are ignored, as in most programs.
fn parse_castling(text: &str, placement: &Placement) -> Result<BitBoard, BoardError> {
    let mut castling = EMPTY;
    if text == "-" {
        return Ok(castling);
    }
    for letter in text.chars() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let all = |piece| {
            let squares = ALL_SQUARES.into_iter().zip(placement);
            let set = squares.filter(|(_, placed)| **placed == Some((piece, color)));
            set.fold(EMPTY, |set, (square, _)| set | square_set(square))
        };
        let [queen_side, king_side] = castling_rooks(color, all(Piece::King), all(Piece::Rook));
        castling |= match letter.to_ascii_lowercase() {
            'q' => queen_side,
            'k' => king_side,
            file @ 'a'..='h' => file_set(file as usize - 'a' as usize) & back_rank(color),
            _ => return error(format!("castling rights {}, expected some of KQkq, files of rooks, or -", quote(text))),
        };
    }
    Ok(castling)
}

/// The outermost rooks on the queen's and on the king's side, if king and rooks are on the first rank of `color`.
fn castling_rooks(color: Color, king: BitBoard, rooks: BitBoard) -> [BitBoard; 2] {
    let king = king & back_rank(color);
    if king.is_empty() { [EMPTY; 2] } else { outermost(rooks & back_rank(color), king.to_square()) }
}

fn parse_en_passant(text: &str) -> Result<Option<Square>, BoardError> {
    if text == "-" {
        return Ok(None);
    }
    match parse_square(text.as_bytes()).filter(|square| matches!(square.get_rank(), Rank::Third | Rank::Sixth)) {
        Some(square) => Ok(Some(square)),
        None => error(format!("en passant square {}, expected -, or a square on rank 3 or 6", quote(text))),
    }
}

/// The largest halfmove clock and fullmove number of a board: larger ones become this one.
pub(super) const MAX_CLOCK: u16 = 9_999;

fn parse_clock(text: Option<&&str>, name: &str, missing: u16) -> Result<u16, BoardError> {
    let Some(text) = text else { return Ok(missing) };
    match text.parse::<u64>() {
        Ok(number) => Ok(u16::try_from(number).unwrap_or(u16::MAX)),
        Err(_) => error(format!("{name} {}, expected a number", quote(text))),
    }
}

/// Whether a pawn of the side not to move can just have passed `target`.
fn was_passed(board: &Board, target: Square) -> bool {
    let side = board.side_to_move();
    let rank = if side == Color::White { Rank::Sixth } else { Rank::Third };
    if target.get_rank() != rank {
        return false;
    }
    let path = square_set(target.uforward(side)) | square_set(target);
    (board.occupied() & path).is_empty() && board.colored(!side, Piece::Pawn).has(target.ubackward(side))
}

impl Board {
    /// Reads a FEN of four to six fields.
    pub fn from_fen(fen: &str) -> Result<Board, BoardError> {
        let fields: Vec<&str> = fen.split_whitespace().collect();
        if !(4..=6).contains(&fields.len()) {
            return error(format!("a FEN has 4 to 6 fields, {} has {}", quote(fen), fields.len()));
        }
        let pieces = parse_placement(fields[0])?;
        Board::from_setup(&Setup {
            pieces,
            side_to_move: parse_side(fields[1])?,
            castling: parse_castling(fields[2], &pieces)?,
            en_passant: parse_en_passant(fields[3])?,
            halfmove_clock: parse_clock(fields.get(4), "halfmove clock", 0)?,
            fullmove_number: parse_clock(fields.get(5), "fullmove number", 1)?,
        })
    }

    /// Builds a board from its parts: faster than from a FEN, with the same checks.
    pub fn from_setup(setup: &Setup) -> Result<Board, BoardError> {
        let side = setup.side_to_move;
        let mut board = Board {
            pieces: [EMPTY; 6],
            colors: [EMPTY; 2],
            checkers: EMPTY,
            pinned: EMPTY,
            keys: Keys::default(),
            castling: EMPTY,
            side_to_move: side,
            chess960: false,
            en_passant: None,
            halfmove: setup.halfmove_clock.min(MAX_CLOCK),
            fullmove: setup.fullmove_number.clamp(1, MAX_CLOCK),
        };
        for (square, placed) in ALL_SQUARES.into_iter().zip(&setup.pieces) {
            if let Some((piece, color)) = *placed {
                board.toggle(color, piece, square_set(square));
            }
        }
        check_pieces(&board)?;
        for color in COLORS {
            let [king, rooks] = [Piece::King, Piece::Rook].map(|piece| board.colored(color, piece));
            let [queen_side, king_side] = castling_rooks(color, king, rooks & setup.castling);
            board.castling |= queen_side | king_side;
        }
        if (board.attackers_to(board.king(!side), board.occupied()) & board.colors(side)).any() {
            return error(format!(
                "the {} king can be captured: its side has just moved",
                color_name(!side).to_lowercase()
            ));
        }
        board.find_checkers_and_pins();
        let passed = setup.en_passant.filter(|&target| was_passed(&board, target));
        board.en_passant = passed.filter(|&target| board.en_passant_is_legal(target));
        board.keys = board.fresh_keys();
        Ok(board)
    }

    /// The parts of the board, to build another from.
    pub fn setup(&self) -> Setup {
        let mut pieces = [None; 64];
        for PieceSquare { color, piece, square } in self.placed_pieces() {
            pieces[square.to_index()] = Some((piece, color));
        }
        Setup {
            pieces,
            side_to_move: self.side_to_move,
            castling: self.castling,
            en_passant: self.en_passant,
            halfmove_clock: self.halfmove,
            fullmove_number: self.fullmove,
        }
    }

    /// The position as a FEN of six fields.
    pub fn fen(&self) -> String {
        let mut text = String::with_capacity(80);
        for rank in (0..8).rev() {
            let mut empty = 0;
            for file in 0..8 {
                let square = ALL_SQUARES[rank * 8 + file];
                let Some(piece) = self.piece_on(square) else {
                    empty += 1;
                    continue;
                };
                if empty > 0 {
                    text.push_str(&empty.to_string());
                    empty = 0;
                }
                text.push_str(&piece.to_string(self.color_on(square).unwrap_or(Color::White)));
            }
            if empty > 0 {
                text.push_str(&empty.to_string());
            }
            if rank > 0 {
                text.push('/');
            }
        }
        let side = if self.side_to_move() == Color::White { 'w' } else { 'b' };
        let mut castling = String::new();
        for color in COLORS {
            let own = self.castling_rooks() & back_rank(color);
            let rooks = self.colored(color, Piece::Rook) & back_rank(color);
            let [mine, outer] = [own, rooks].map(|rooks| outermost(rooks, self.king(color)));
            for (side, usual) in [(1, 'k'), (0, 'q')].into_iter().filter(|&(side, _)| mine[side] != EMPTY) {
                let file = (b'a' + mine[side].to_square().get_file().to_index() as u8) as char;
                let letter = if mine[side] == outer[side] { usual } else { file };
                castling.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
            }
        }
        if castling.is_empty() {
            castling.push('-');
        }
        let en_passant = self.en_passant().map_or_else(|| "-".to_string(), |square| square.to_string());
        format!("{text} {side} {castling} {en_passant} {} {}", self.halfmove_clock(), self.fullmove_number())
    }
}
