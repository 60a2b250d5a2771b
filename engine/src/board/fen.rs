//! Forsyth-Edwards notation, read strictly enough that an invalid board cannot exist.
//!
//! The `chess` crate writes out of its move list when a side has more men than the rules allow, reads out of
//! its tables when a king is missing, and accepts misshapen ranks. So a FEN is checked here before
//! the crate sees any of it.

use super::Board;
use chess::{ALL_SQUARES, BoardBuilder, CastleRights, Color, File, Piece, Rank, Square};
use std::fmt;

/// What is wrong with a FEN, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenError(pub(super) String);

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FenError {}

fn error<T>(text: impl Into<String>) -> Result<T, FenError> {
    Err(FenError(text.into()))
}

/// Words of a bad input may be long or strange: what an error repeats of it is cut and escaped.
fn quote(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let more = if text.chars().count() > 40 { "..." } else { "" };
    format!("'{}{more}'", short.escape_debug())
}

type Placement = [Option<(Piece, Color)>; 64];

fn parse_piece(letter: char) -> Option<(Piece, Color)> {
    let piece = match letter.to_ascii_lowercase() {
        'p' => Piece::Pawn,
        'n' => Piece::Knight,
        'b' => Piece::Bishop,
        'r' => Piece::Rook,
        'q' => Piece::Queen,
        'k' => Piece::King,
        _ => return None,
    };
    Some((piece, if letter.is_ascii_uppercase() { Color::White } else { Color::Black }))
}

fn parse_placement(text: &str) -> Result<Placement, FenError> {
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
            } else if let Some(man) = parse_piece(letter) {
                if file < 8 {
                    placement[(7 - row) * 8 + file] = Some(man);
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

/// Men a side may have: one king, at most eight pawns, and as many more pieces as pawns are missing.
fn check_men(placement: &Placement) -> Result<(), FenError> {
    for color in [Color::White, Color::Black] {
        let name = if color == Color::White { "White" } else { "Black" };
        let count = |piece| placement.iter().filter(|&&man| man == Some((piece, color))).count();
        let kings = count(Piece::King);
        if kings != 1 {
            return error(format!("{name} has {kings} kings, expected 1"));
        }
        let pawns = count(Piece::Pawn);
        if pawns > 8 {
            return error(format!("{name} has {pawns} pawns, at most 8 are possible"));
        }
        let promoted: usize = [(Piece::Knight, 2), (Piece::Bishop, 2), (Piece::Rook, 2), (Piece::Queen, 1)]
            .iter()
            .map(|&(piece, start)| count(piece).saturating_sub(start))
            .sum();
        if pawns + promoted > 8 {
            return error(format!(
                "{name} has {pawns} pawns and {promoted} promoted pieces, together at most 8 are possible"
            ));
        }
    }
    let back_rank = (0..8).chain(56..64).find(|&i| matches!(placement[i], Some((Piece::Pawn, _))));
    match back_rank {
        Some(square) => error(format!("pawn on {}", ALL_SQUARES[square])),
        None => Ok(()),
    }
}

fn parse_side(text: &str) -> Result<Color, FenError> {
    match text {
        "w" | "W" => Ok(Color::White),
        "b" | "B" => Ok(Color::Black),
        _ => error(format!("side to move {}, expected w or b", quote(text))),
    }
}

/// Rights whose king or rook is not at home are dropped, as most programs do; Shredder's letters of the
/// usual squares (`HAha`) mean the same as `KQkq`.
fn parse_castling(text: &str, placement: &Placement) -> Result<[CastleRights; 2], FenError> {
    let mut rights = [CastleRights::NoRights; 2];
    if text == "-" {
        return Ok(rights);
    }
    for letter in text.chars() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let (rook_file, right) = match letter.to_ascii_lowercase() {
            'k' | 'h' => (7, CastleRights::KingSide),
            'q' | 'a' => (0, CastleRights::QueenSide),
            _ => return error(format!("castling rights {}, expected some of KQkq or -", quote(text))),
        };
        let home = if color == Color::White { 0 } else { 56 };
        if placement[home + 4] == Some((Piece::King, color))
            && placement[home + rook_file] == Some((Piece::Rook, color))
        {
            rights[color.to_index()] = rights[color.to_index()].add(right);
        }
    }
    Ok(rights)
}

fn parse_en_passant(text: &str) -> Result<Option<Square>, FenError> {
    if text == "-" {
        return Ok(None);
    }
    match text.as_bytes() {
        [file @ b'a'..=b'h', rank @ (b'3' | b'6')] => Ok(Some(Square::make_square(
            Rank::from_index((rank - b'1') as usize),
            File::from_index((file - b'a') as usize),
        ))),
        _ => error(format!("en passant square {}, expected -, or a square on rank 3 or 6", quote(text))),
    }
}

fn parse_clock(text: Option<&&str>, name: &str, missing: u16) -> Result<u16, FenError> {
    let Some(text) = text else { return Ok(missing) };
    match text.parse::<u64>() {
        Ok(number) => Ok(number.min(9_999) as u16),
        Err(_) => error(format!("{name} {}, expected a number", quote(text))),
    }
}

/// The pawn that `target` can capture, if the squares around are as a double step leaves them.
fn double_step(placement: &Placement, side: Color, target: Square) -> Option<Square> {
    let (rank, forward): (_, i32) = if side == Color::White { (Rank::Sixth, 8) } else { (Rank::Third, -8) };
    if target.get_rank() != rank {
        return None;
    }
    let square = |step: i32| ALL_SQUARES[(target.to_index() as i32 + step) as usize];
    let (origin, pawn) = (square(forward), square(-forward));
    let empty = |s: Square| placement[s.to_index()].is_none();
    (empty(target) && empty(origin) && placement[pawn.to_index()] == Some((Piece::Pawn, !side))).then_some(pawn)
}

pub(super) fn parse(fen: &str) -> Result<Board, FenError> {
    let fields: Vec<&str> = fen.split_whitespace().collect();
    if !(4..=6).contains(&fields.len()) {
        return error(format!("a FEN has 4 to 6 fields, {} has {}", quote(fen), fields.len()));
    }
    let placement = parse_placement(fields[0])?;
    check_men(&placement)?;
    let side = parse_side(fields[1])?;
    let rights = parse_castling(fields[2], &placement)?;
    let target = parse_en_passant(fields[3])?;
    let halfmove = parse_clock(fields.get(4), "halfmove clock", 0)?;
    let fullmove = parse_clock(fields.get(5), "fullmove number", 1)?.max(1);

    let mut builder = BoardBuilder::new();
    for square in ALL_SQUARES {
        if let Some((piece, color)) = placement[square.to_index()] {
            builder.piece(square, piece, color);
        }
    }
    builder.side_to_move(side);
    builder.castle_rights(Color::White, rights[0]).castle_rights(Color::Black, rights[1]);
    let build = |builder: &BoardBuilder| {
        chess::Board::try_from(builder)
            .map_err(|_| FenError(format!("{} can be captured: its side has just moved", king_name(!side))))
    };
    let plain = Board::wrap(build(&builder)?, None, halfmove, fullmove);
    let Some(target) = target.filter(|&t| double_step(&placement, side, t).is_some()) else { return Ok(plain) };
    if !plain.en_passant_is_legal(target) {
        return Ok(plain);
    }
    builder.en_passant(Some(target.get_file()));
    Ok(Board::wrap(build(&builder)?, Some(target), halfmove, fullmove))
}

fn king_name(color: Color) -> &'static str {
    if color == Color::White { "the white king" } else { "the black king" }
}

pub(super) fn write(board: &Board) -> String {
    let mut text = String::with_capacity(80);
    for rank in (0..8).rev() {
        let mut empty = 0;
        for file in 0..8 {
            let square = ALL_SQUARES[rank * 8 + file];
            let Some(piece) = board.piece_on(square) else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                text.push_str(&empty.to_string());
                empty = 0;
            }
            text.push_str(&piece.to_string(board.color_on(square).unwrap_or(Color::White)));
        }
        if empty > 0 {
            text.push_str(&empty.to_string());
        }
        if rank > 0 {
            text.push('/');
        }
    }
    let side = if board.side_to_move() == Color::White { 'w' } else { 'b' };
    let mut castling = String::new();
    for (color, letters) in [(Color::White, ["K", "Q"]), (Color::Black, ["k", "q"])] {
        let rights = board.rules.castle_rights(color);
        if rights.has_kingside() {
            castling.push_str(letters[0]);
        }
        if rights.has_queenside() {
            castling.push_str(letters[1]);
        }
    }
    if castling.is_empty() {
        castling.push('-');
    }
    let en_passant = board.en_passant().map_or_else(|| "-".to_string(), |square| square.to_string());
    format!("{text} {side} {castling} {en_passant} {} {}", board.halfmove_clock(), board.fullmove_number())
}
