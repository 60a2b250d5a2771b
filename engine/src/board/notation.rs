//! Move notation: UCI coordinates and
//! [standard algebraic notation](https://www.chessprogramming.org/Algebraic_Chess_Notation).
//!
//! Only legal moves are read.

use super::pieces::piece_of_letter;
use super::{BitBoard, Board, BoardError, EMPTY, File, Move, Piece, Square, attacks, piece_letter, quote, square};

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

/// A move to a square in algebraic notation, of a position that is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct San {
    /// `None` for coordinates without a letter: any piece.
    piece: Option<Piece>,
    file: Option<u8>,
    rank: Option<u8>,
    to: Square,
    promotion: Option<Piece>,
}

/// Why a text in algebraic notation is no move of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanError {
    /// No legal move is meant.
    Illegal,
    /// Several are.
    Ambiguous,
    /// A pawn reaches the last rank, and the piece it becomes is missing.
    NoPromotion,
}

impl San {
    /// Reads a move without marks of check and annotations: short or long, with any sign of a capture or a promotion.
    pub fn parse(text: &[u8]) -> Option<San> {
        let (core, promotion) = split_promotion(text);
        let (letter, after) = core.split_first()?;
        let piece = Some(*letter).filter(u8::is_ascii_uppercase).and_then(|letter| piece_of_letter(letter.into()));
        let rest = if piece.is_some() { after } else { core };
        let (from, to) = rest.split_last_chunk::<2>()?;
        let to = parse_square(to)?;
        let from = match from {
            [from @ .., b'x' | b'X' | b':' | b'-' | b'*'] => from,
            from => from,
        };
        let (file, rank) = match *from {
            [] => (None, None),
            [file @ b'a'..=b'h'] => (Some(file - b'a'), None),
            [rank @ b'1'..=b'8'] => (None, Some(rank - b'1')),
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => (Some(file - b'a'), Some(rank - b'1')),
            _ => return None,
        };
        let piece = piece.or((file.is_none() || rank.is_none()).then_some(Piece::Pawn));
        Some(San { piece, file, rank, to, promotion })
    }

    /// The legal move that is meant.
    ///
    /// # Errors
    /// When the text means no legal move, or more than one.
    pub fn find(&self, board: &Board) -> Result<Move, SanError> {
        let origins = match self.piece {
            Some(Piece::Pawn) => self.pawns(board),
            Some(piece) => self.pieces(board, piece),
            None => board.colors(board.side_to_move()),
        };
        let origins = origins & self.named_squares();
        let mut found = None;
        for from in origins {
            let mv = Move::new(from, self.to);
            let mv = self.promotion.map_or(mv, |piece| mv.with_promotion(piece));
            if board.is_legal(mv) {
                if found.is_some() {
                    return Err(SanError::Ambiguous);
                }
                found = Some(mv);
            }
        }
        found.or_else(|| self.castling(board)).ok_or_else(|| match self.promotion {
            None if self.promotes(board, origins) => SanError::NoPromotion,
            _ => SanError::Illegal,
        })
    }

    fn named_squares(&self) -> BitBoard {
        const FILE_A: u64 = 0x0101_0101_0101_0101;
        let file = self.file.map_or(u64::MAX, |file| FILE_A << file);
        let rank = self.rank.map_or(u64::MAX, |rank| 0xFF << (8 * rank));
        BitBoard(file & rank)
    }

    fn pieces(&self, board: &Board, piece: Piece) -> BitBoard {
        let reach = match piece {
            Piece::Knight => attacks::knight(self.to),
            Piece::Bishop => attacks::bishop(self.to, board.occupied()),
            Piece::Rook => attacks::rook(self.to, board.occupied()),
            Piece::Queen => attacks::queen(self.to, board.occupied()),
            Piece::King | Piece::Pawn => attacks::king(self.to),
        };
        reach & board.colored(board.side_to_move(), piece)
    }

    /// Pawns that could reach the square: those of its file, or those of another file that is named.
    fn pawns(&self, board: &Board) -> BitBoard {
        let us = board.side_to_move();
        let own = board.colored(us, Piece::Pawn);
        let to_file = self.to.get_file().to_index() as u8;
        match (self.file, self.rank) {
            (Some(file), _) if file != to_file => own & attacks::pawn(!us, self.to),
            // `bb5` is a bishop's move in lower case.
            (Some(_), None) | (None, Some(_)) => EMPTY,
            _ => {
                let behind = |square: Square| square.backward(us).map_or(EMPTY, BitBoard::from_square);
                let one = behind(self.to);
                match (board.occupied() & one, self.to.backward(us)) {
                    (EMPTY, Some(empty)) => own & behind(empty),
                    _ => own & one,
                }
            }
        }
    }

    /// Castling as a move of the king: `Ke1g1`, `e1g1`, and `e1h1` in Chess960.
    fn castling(&self, board: &Board) -> Option<Move> {
        let king = board.king(board.side_to_move());
        let named = self.file.is_some() && self.rank.is_some() && self.named_squares() == BitBoard::from_square(king);
        if !named || self.promotion.is_some() || self.piece.is_some_and(|piece| piece != Piece::King) {
            return None;
        }
        let step = Some(board.mark_castling(Move::new(king, self.to))).filter(|&mv| board.is_legal(mv));
        board.castling_with(self.to).or(step)
    }

    fn promotes(&self, board: &Board, origins: BitBoard) -> bool {
        let back = self.to.get_rank() == board.side_to_move().to_their_backrank();
        back && origins & board.pieces(Piece::Pawn) != EMPTY
    }
}

/// A move and the piece that a pawn becomes: `a8=Q`, `a8Q`, `a8(Q)`, `a8/Q`, `a8=q`, `a8q`.
fn split_promotion(core: &[u8]) -> (&[u8], Option<Piece>) {
    let inner = core.strip_suffix(b")").unwrap_or(core);
    let Some((letter, rest)) = inner.split_last() else { return (core, None) };
    let Some(piece) = parse_promotion(*letter) else { return (core, None) };
    let rest = rest.strip_suffix(b"(").unwrap_or(rest);
    let rest = rest.strip_suffix(b"=").or_else(|| rest.strip_suffix(b"/")).unwrap_or(rest);
    (rest, Some(piece))
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
        let found = match core.replace('0', "O").as_str() {
            "O-O" => self.castling_to(File::G).ok_or(SanError::Illegal),
            "O-O-O" => self.castling_to(File::C).ok_or(SanError::Illegal),
            _ => {
                let san = San::parse(core.as_bytes());
                san.ok_or_else(|| error(text, "is not in algebraic notation", self))?.find(self)
            }
        };
        found.map_err(|problem| match problem {
            SanError::Illegal | SanError::NoPromotion => error(text, "is not legal", self),
            SanError::Ambiguous => error(text, "is ambiguous", self),
        })
    }

    /// The legal castling that takes the king to this file.
    pub fn castling_to(&self, file: File) -> Option<Move> {
        self.castling_moves().find(|mv| mv.to().get_file() == file)
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
