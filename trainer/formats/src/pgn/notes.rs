//! The notes of a game besides its moves: tags, comments, glyphs and variations.

use dyad_engine::board::{Board, Move};

use super::spelling::{Spelled, is_known_remark, remark_glyph, suffix_glyphs};
use super::words::Token;
use crate::input::decode;
use crate::score::GameResult;

/// Variations within variations down to this depth; a deeper one becomes a comment.
const DEEPEST: usize = 32;

/// The notes of a game besides its moves, for a writer that keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// All tags, in their order.
    pub tags: Vec<(String, String)>,
    /// The notes before the first move, after it, and so on.
    pub moves: Vec<Vec<Note>>,
}

/// A note between two moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A numeric annotation glyph, written as `$n` or as a sign.
    Glyph(u8),
    /// A comment.
    Comment(String),
    /// A variation.
    Variation(Variation),
}

/// Moves that replace the move before them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// Notes before the first move.
    pub foreword: Vec<Note>,
    /// At least one move, each with its notes; `None` is a null move.
    pub moves: Vec<(Option<Move>, Vec<Note>)>,
}

impl Variation {
    fn last_notes(&mut self) -> &mut Vec<Note> {
        self.moves.last_mut().map_or(&mut self.foreword, |(_, notes)| notes)
    }
}

/// The notes that the signs at the end of a move mean.
pub(super) fn notes_of_move(word: &[u8]) -> Vec<Note> {
    suffix_glyphs(word).into_iter().map(Note::Glyph).collect()
}

/// The note that a token means, if it is one.
pub(super) fn note(token: Token<'_>) -> Option<Note> {
    match token {
        Token::Comment(text) => Some(Note::Comment(decode(text).trim().to_string())),
        Token::Glyph(digits) => std::str::from_utf8(digits).ok()?.parse().ok().map(Note::Glyph),
        // Marks of check and of en passant belong to the spelling of the move.
        Token::Word(word) => match remark_glyph(word) {
            Some(glyph) => Some(Note::Glyph(glyph)),
            None => (!word.is_ascii()).then(|| Note::Comment(decode(word).into_owned())),
        },
        _ => None,
    }
}

/// The position after a null move; `None` in check.
pub fn after_null_move(board: &Board) -> Option<Board> {
    let fen = board.fen();
    let mut fields: Vec<&str> = fen.split(' ').collect();
    let number = (board.fullmove_number() + u32::from(fields[1] == "b")).to_string();
    (fields[1], fields[3], fields[5]) = (if fields[1] == "w" { "b" } else { "w" }, "-", &number);
    Board::from_fen(&fields.join(" ")).ok()
}

/// A variation that is not closed yet.
struct Unfinished {
    variation: Variation,
    /// The positions before and after its last move.
    positions: [Board; 2],
    /// Where its moves can no longer be read: the rest is kept as a comment.
    unread: Option<usize>,
}

/// Reads variations, of which several may be open.
pub(super) struct Variations<'a> {
    text: &'a [u8],
    open: Vec<Unfinished>,
    /// Variations that are open in the unread text.
    unread_depth: usize,
}

impl<'a> Variations<'a> {
    pub(super) fn new(text: &'a [u8]) -> Variations<'a> {
        Variations { text, open: Vec::new(), unread_depth: 0 }
    }

    /// Opens a variation at `place`. `before` is the position before the last move of the main line.
    pub(super) fn open(&mut self, place: usize, before: Board) {
        let is_deepest = self.open.len() >= DEEPEST;
        let before = match self.open.last_mut() {
            Some(last) if last.unread.is_some() || is_deepest => {
                last.unread.get_or_insert(place);
                self.unread_depth += 1;
                return;
            }
            Some(last) => last.positions[0],
            None => before,
        };
        self.open.push(Unfinished { variation: Variation::default(), positions: [before; 2], unread: None });
    }

    /// Closes the last variation at `place`. Returns the notes of the main line that follow from it.
    pub(super) fn close(&mut self, place: usize) -> Vec<Note> {
        if self.unread_depth > 0 {
            self.unread_depth -= 1;
            return Vec::new();
        }
        let Some(Unfinished { mut variation, unread, .. }) = self.open.pop() else { return Vec::new() };
        if let Some(from) = unread {
            variation.last_notes().push(Note::Comment(decode(&self.text[from..place]).trim().to_string()));
        }
        let notes = if variation.moves.is_empty() { variation.foreword } else { vec![Note::Variation(variation)] };
        match self.open.last_mut() {
            Some(outer) => {
                outer.variation.last_notes().extend(notes);
                Vec::new()
            }
            None => notes,
        }
    }

    /// Reads a token of the last variation, at `place`.
    pub(super) fn read(&mut self, place: usize, token: Token<'_>) {
        let Some(last) = self.open.last_mut().filter(|last| last.unread.is_none()) else { return };
        if let Token::Word(word) = token {
            if let Some(spelled) = Spelled::parse(word) {
                let board = last.positions[1];
                let played = match spelled {
                    Spelled::Null => after_null_move(&board).map(|after| (None, after)),
                    _ => spelled.find(&board).ok().map(|mv| (Some(mv), board.after(mv))),
                };
                match played {
                    Some((mv, after)) => {
                        last.positions = [board, after];
                        last.variation.moves.push((mv, notes_of_move(word)));
                    }
                    None => last.unread = Some(place),
                }
                return;
            }
            if result(word).is_some() {
                last.variation.last_notes().push(Note::Comment(decode(word).into_owned()));
                return;
            }
            if !is_known_remark(word) {
                last.unread = Some(place);
                return;
            }
        }
        last.variation.last_notes().extend(note(token));
    }
}

/// The result that a word means: none in it for `*`.
pub(super) fn result(word: &[u8]) -> Option<Option<GameResult>> {
    Some(match word {
        b"*" => None,
        b"1-0" | b"1:0" => Some(GameResult::WhiteWins),
        b"0-1" | b"0:1" => Some(GameResult::BlackWins),
        b"1/2-1/2" | b"1/2" => Some(GameResult::Draw),
        _ => match &*decode(word) {
            "1\u{2013}0" | "1\u{2212}0" => Some(GameResult::WhiteWins),
            "0\u{2013}1" | "0\u{2212}1" => Some(GameResult::BlackWins),
            "\u{BD}-\u{BD}" | "\u{BD}\u{2013}\u{BD}" | "\u{BD}" | "1/2\u{2013}1/2" => Some(GameResult::Draw),
            _ => return None,
        },
    })
}
