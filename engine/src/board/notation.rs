//! Move notation: UCI coordinates and
//! [standard algebraic notation](https://www.chessprogramming.org/Algebraic_Chess_Notation).
//!
//! Only legal moves are read.

use super::pieces::piece_of_letter;
use super::{Board, BoardError, File, Move, Piece, Square, piece_letter, quote, square};

fn error(text: &str, why: &str, board: &Board) -> BoardError {
    BoardError(format!("move {} {why} in {}", quote(text), board.fen()))
}

pub(super) fn parse_square(text: &[u8]) -> Option<Square> {
    match *text {
        [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Some(square(usize::from((rank - b'1') * 8 + file - b'a'))),
        _ => None,
    }
}

fn parse_promotion(letter: u8) -> Option<Piece> {
    piece_of_letter(letter.into()).filter(|&piece| piece != Piece::Pawn && piece != Piece::King)
}

fn parse_coordinates(text: &str) -> Option<Move> {
    let lower = text.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    let (squares, promotion) = match bytes.len() {
        4 => (bytes, None),
        5 => (&bytes[..4], Some(parse_promotion(bytes[4])?)),
        _ => return None,
    };
    let mv = Move::new(parse_square(&squares[..2])?, parse_square(&squares[2..])?);
    Some(promotion.map_or(mv, |piece| mv.with_promotion(piece)))
}

struct San {
    piece: Piece,
    file: Option<u8>,
    rank: Option<u8>,
    to: Square,
    promotion: Option<Piece>,
}

impl San {
    fn parse(text: &str) -> Option<San> {
        let mut bytes = text.as_bytes();
        let piece =
            Some(*bytes.first()?).filter(u8::is_ascii_uppercase).and_then(|letter| piece_of_letter(letter.into()));
        if piece.is_some() {
            bytes = &bytes[1..];
        }
        let piece = piece.unwrap_or(Piece::Pawn);
        let mut promotion = None;
        if let [rest @ .., letter @ (b'N' | b'B' | b'R' | b'Q' | b'n' | b'q' | b'r')] = bytes {
            promotion = parse_promotion(*letter);
            bytes = rest.strip_suffix(b"=").unwrap_or(rest);
        }
        let (from, to) = bytes.split_at(bytes.len().checked_sub(2)?);
        let to = parse_square(to)?;
        let from = from.strip_suffix(b"x").or_else(|| from.strip_suffix(b"-")).unwrap_or(from);
        let (mut file, mut rank) = (None, None);
        match from {
            [] => {}
            [f @ b'a'..=b'h'] => file = Some(f - b'a'),
            [r @ b'1'..=b'8'] => rank = Some(r - b'1'),
            [f @ b'a'..=b'h', r @ b'1'..=b'8'] => (file, rank) = (Some(f - b'a'), Some(r - b'1')),
            _ => return None,
        }
        Some(San { piece, file, rank, to, promotion })
    }

    fn matches(&self, board: &Board, mv: Move) -> bool {
        let from = mv.from();
        mv.to() == self.to
            && mv.promotion() == self.promotion
            && board.piece_on(from) == Some(self.piece)
            && !mv.is_castling()
            && self.file.is_none_or(|file| from.get_file().to_index() == usize::from(file))
            && self.rank.is_none_or(|rank| from.get_rank().to_index() == usize::from(rank))
    }
}

impl Board {
    /// Reads a move in UCI coordinates (`e2e4`, `e7e8q`), in either case. Castling is a king move of two or more files
    /// (`e1g1`) or king takes rook (`e1h1`).
    pub fn parse_uci(&self, text: &str) -> Result<Move, BoardError> {
        let mv = parse_coordinates(text).ok_or_else(|| error(text, "is not in coordinates like e2e4", self))?;
        let castling = mv.from() == self.king(self.side_to_move()) && mv.promotion().is_none();
        let castling = if castling { self.castling_with(mv.to()) } else { None };
        match castling.or(Some(self.mark_castling(mv)).filter(|&mv| self.is_legal(mv))) {
            Some(mv) => Ok(mv),
            None => Err(error(text, "is not legal", self)),
        }
    }

    /// A legal move in UCI coordinates. Castling is written as king takes rook with [`Board::with_chess960`], and if
    /// king or rook did not start on their squares of standard chess.
    pub fn uci(&self, mv: Move) -> String {
        let path = mv.is_castling().then(|| self.castling_path(mv));
        match path.filter(|path| self.chess960 || !path.is_standard()) {
            Some(path) => format!("{}{}", path.king, path.rook),
            None => mv.to_string(),
        }
    }

    /// Reads a move in standard algebraic notation. Also accepted are zeros for castling, `e.p.`, missing or wrong
    /// check marks, annotations, a missing `=` and redundant origins.
    pub fn parse_san(&self, text: &str) -> Result<Move, BoardError> {
        let trimmed = text.trim().trim_end_matches(['+', '#', '!', '?']).trim_end();
        let core = trimmed.strip_suffix("e.p.").unwrap_or(trimmed).trim_end();
        let moves = self.moves();
        let found: Vec<Move> = match core.replace('0', "O").as_str() {
            "O-O" => self.castlings_to(File::G),
            "O-O-O" => self.castlings_to(File::C),
            _ => {
                let san = San::parse(core).ok_or_else(|| error(text, "is not in algebraic notation", self))?;
                moves.iter().copied().filter(|&mv| san.matches(self, mv)).collect()
            }
        };
        match found[..] {
            [mv] => Ok(mv),
            [] => Err(error(text, "is not legal", self)),
            _ => Err(error(text, "is ambiguous", self)),
        }
    }

    fn castlings_to(&self, file: File) -> Vec<Move> {
        self.castling_moves().filter(|mv| mv.to().get_file() == file).collect()
    }

    /// A legal move in standard algebraic notation.
    pub fn san(&self, mv: Move) -> String {
        let mut text = if mv.is_castling() {
            if mv.to().get_file() == File::G { "O-O".into() } else { "O-O-O".into() }
        } else {
            self.san_without_check(mv)
        };
        if self.gives_check(mv) {
            text.push(if self.after(mv).has_legal_move() { '+' } else { '#' });
        }
        text
    }

    fn san_without_check(&self, mv: Move) -> String {
        let (from, to) = (mv.from(), mv.to());
        let piece = self.moved_piece(mv);
        let mut text = piece_letter(piece);
        let capture = self.is_capture(mv);
        if piece == Piece::Pawn {
            if capture {
                text.push_str(&from.to_string()[..1]);
            }
        } else {
            text.push_str(&self.origin(mv, piece));
        }
        if capture {
            text.push('x');
        }
        text.push_str(&to.to_string());
        if let Some(promotion) = mv.promotion() {
            text.push('=');
            text.push_str(&piece_letter(promotion));
        }
        text
    }

    /// The file, rank or both that distinguish the moving piece from others of its type.
    fn origin(&self, mv: Move, piece: Piece) -> String {
        let from = mv.from();
        let moves = self.moves();
        let rivals: Vec<Square> = moves
            .iter()
            .filter(|other| other.to() == mv.to() && other.from() != from)
            .map(|other| other.from())
            .filter(|&square| self.piece_on(square) == Some(piece))
            .collect();
        let name = from.to_string();
        if rivals.is_empty() {
            String::new()
        } else if rivals.iter().all(|square| square.get_file() != from.get_file()) {
            name[..1].to_string()
        } else if rivals.iter().all(|square| square.get_rank() != from.get_rank()) {
            name[1..].to_string()
        } else {
            name
        }
    }
}
