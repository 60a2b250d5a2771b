//! Moves as people and programs write them.
//!
//! Standard algebraic notation, strict or not: long (`Bb5xc6`, `e2-e4`), as coordinates (`g1f3`), with other marks for
//! promotion (`a8Q`, `a8(Q)`), castling (`0-0`, `o-o`), captures (`N:f3`), check (`++`, `#`) and en passant (`e.p.`),
//! and with figurines. A text is a move only if it is exactly one of the legal ones, so a spelling that is read wrongly
//! is refused. Two spellings are refused for that reason: letters of pieces in lower case, where
//! `bxc6` would be a pawn's move or a bishop's, and pawn captures without a rank.

use std::borrow::Cow;

use dyad_engine::board::{Board, File, Move, San, SanError};

/// A word with figurines and the signs of print written in ASCII.
fn in_ascii(word: &[u8]) -> Option<Cow<'_, [u8]>> {
    if word.is_ascii() {
        return Some(Cow::Borrowed(word));
    }
    let mut text = Vec::with_capacity(word.len());
    for c in std::str::from_utf8(word).ok()?.chars() {
        text.push(match c {
            '\u{2654}'..='\u{265F}' => b"KQRBNP"[(c as usize - 0x2654) % 6],
            // Selectors of how a figurine is drawn.
            '\u{FE0E}' | '\u{FE0F}' => continue,
            '×' => b'x',
            '–' | '—' | '‑' | '−' => b'-',
            '†' | '‡' => b'+',
            '‼' | '⁇' | '⁈' | '⁉' | '□' | '±' | '∓' | '⩲' | '⩱' | '∞' => b'!',
            c => u8::try_from(c).ok().filter(u8::is_ascii)?,
        });
    }
    Some(Cow::Owned(text))
}

/// A parsed move, without the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelled {
    /// To the king's or the queen's side.
    Castling(File),
    /// A move without a move: `--`, `Z0`.
    Null,
    /// A move to a square.
    To(San),
}

// Why a word is no move here.

/// It has not the form of a move.
pub(super) const NO_MOVE: &str = "expected a move";
const ILLEGAL: &str = "not a legal move";
const AMBIGUOUS: &str = "an ambiguous move";
const NO_PROMOTION: &str = "a promotion without a piece";
const NULL: &str = "a null move";

impl Spelled {
    /// Reads a word.
    pub(super) fn parse(word: &[u8]) -> Option<Spelled> {
        let text = in_ascii(word)?;
        let core = without_marks(&text);
        match core {
            b"--" | b"Z0" | b"@@@@" | b"0000" | b"null" | b"pass" => Some(Spelled::Null),
            [b'O' | b'o' | b'0', ..] => castling(core).map(Spelled::Castling),
            _ => San::parse(core).map(Spelled::To),
        }
    }

    /// The legal move that is meant.
    pub(super) fn find(&self, board: &Board) -> Result<Move, &'static str> {
        match self {
            Spelled::Castling(file) => board.castling_to(*file).ok_or(ILLEGAL),
            Spelled::Null => Err(NULL),
            Spelled::To(san) => san.find(board).map_err(|problem| match problem {
                SanError::Illegal => ILLEGAL,
                SanError::Ambiguous => AMBIGUOUS,
                SanError::NoPromotion => NO_PROMOTION,
            }),
        }
    }
}

fn castling(core: &[u8]) -> Option<File> {
    let letters: Vec<u8> = core.iter().map(|&byte| if b"o0".contains(&byte) { b'O' } else { byte }).collect();
    match &letters[..] {
        b"O-O" | b"OO" => Some(File::G),
        b"O-O-O" | b"OOO" => Some(File::C),
        _ => None,
    }
}

/// A move without signs of check, annotations and what programs put behind it.
fn without_marks(word: &[u8]) -> &[u8] {
    const WORDS: [&[u8]; 10] = [b"e.p.", b"e.p", b"ep.", b"ep", b"mate", b"dbl.ch.", b"dis.ch.", b"ch.", b"ch", b"+/-"];
    let mut word = word;
    loop {
        word = match word {
            [rest @ .., b'-', b'+'] if rest.len() > 1 => rest,
            [rest @ .., b'+' | b'#' | b'!' | b'?' | b':'] if rest.len() > 1 => rest,
            [rest @ .., b'='] if rest.len() > 1 => rest,
            [rest @ .., b'+' | b'=', b'-'] | [rest @ .., b'+' | b'=', b'/'] if rest.len() > 1 => rest,
            [rest @ .., b'-', b'/'] if rest.len() > 1 => rest,
            _ => match WORDS.iter().find_map(|mark| word.strip_suffix(*mark)) {
                Some(rest) if rest.len() > 1 => rest.strip_suffix(b"/").unwrap_or(rest),
                _ => return word,
            },
        };
    }
}

/// Numeric annotation glyphs with their signs and words, by the PGN standard and ChessBase.
const GLYPHS: [(u8, &[&str]); 27] = [
    (1, &["!"]),
    (2, &["?"]),
    (3, &["!!", "\u{203C}"]),
    (4, &["??", "\u{2047}"]),
    (5, &["!?", "\u{2049}"]),
    (6, &["?!", "\u{2048}"]),
    (7, &["\u{25A1}"]),
    (10, &["=", "=="]),
    (13, &["\u{221E}", "unclear", "~"]),
    (14, &["+=", "+/=", "\u{2A72}"]),
    (15, &["=+", "=/+", "\u{2A71}"]),
    (16, &["+/-", "\u{B1}"]),
    (17, &["-/+", "\u{2213}"]),
    (18, &["+-"]),
    (19, &["-+"]),
    (20, &["+--"]),
    (21, &["--+"]),
    (22, &["\u{2299}"]),
    (26, &["\u{25CB}"]),
    (36, &["\u{2191}"]),
    (40, &["\u{2192}"]),
    (132, &["\u{21C6}"]),
    (138, &["\u{2295}"]),
    (140, &["\u{25B3}", "\u{2206}"]),
    (145, &["RR"]),
    (146, &["N", "TN"]),
    (220, &["D"]),
];

/// The glyph that a sign or a word between two moves means.
pub(super) fn remark_glyph(word: &[u8]) -> Option<u8> {
    GLYPHS.iter().find(|(_, signs)| signs.iter().any(|sign| sign.as_bytes() == word)).map(|(glyph, _)| *glyph)
}

/// The glyphs that the signs at the end of a move mean, in their order.
pub(super) fn suffix_glyphs(word: &[u8]) -> Vec<u8> {
    let mut glyphs = Vec::new();
    let mut word = word;
    let is_sign = |sign: &str| !sign.starts_with(|c: char| c.is_ascii_alphabetic());
    let strip = |word: &[u8]| {
        let signs = GLYPHS.iter().flat_map(|(glyph, signs)| signs.iter().map(move |sign| (sign, glyph)));
        let signs = signs.filter(|(sign, _)| is_sign(sign) && word.ends_with(sign.as_bytes()));
        // A move has two letters at least.
        signs.filter(|(sign, _)| word.len() >= sign.len() + 2).max_by_key(|(sign, _)| sign.len())
    };
    while let Some((sign, glyph)) = strip(word) {
        glyphs.insert(0, *glyph);
        word = &word[..word.len() - sign.len()];
    }
    glyphs
}

/// Whether a word is one of those that may stand between moves and mean no move.
pub(super) fn is_known_remark(word: &[u8]) -> bool {
    const REMARKS: [&str; 11] = ["e.p.", "e.p", "ep", "ep.", "+", "++", "#", "ch", "ch.", "mate", "\u{21D7}"];
    remark_glyph(word).is_some() || REMARKS.iter().any(|remark| remark.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fen: &str, word: &str) -> Result<String, &'static str> {
        let board = if fen.is_empty() { Board::startpos() } else { Board::from_fen(fen).unwrap() };
        let spelled = Spelled::parse(word.as_bytes()).ok_or(NO_MOVE)?;
        spelled.find(&board).map(|mv| board.uci(mv))
    }

    /// A position with all kinds of moves: promotions, captures of pawns on both sides, en passant, castling.
    const RICH: &str = "1n2k2r/P5pp/8/B2Ppp2/1N3P2/2N4B/6PP/R3K2R w KQk e6 0 1";

    #[test]
    fn every_accepted_spelling_means_its_move() {
        let cases = [
            ("", "e4 e2e4 e2-e4 Pe4 Pe2-e4 e4! e4!? e4+ e4= e4+- e4-+ e4+/- e4-/+ e4=+", "e2e4"),
            ("", "Nf3 Ngf3 N1f3 Ng1f3 Ng1-f3 g1f3 g1-f3 Nf3?! Nf3+ Nf3++ Nf3# Nf3+# Nf3mate Nf3ch", "g1f3"),
            ("", "\u{2658}f3 \u{265E}f3 \u{2658}\u{FE0E}f3", "g1f3"),
            (RICH, "a8=Q a8Q a8q a8=q a8(Q) a8=(Q) a8/Q a8=Q+ a8Q# a7a8q a7-a8=Q a8\u{2655}", "a7a8q"),
            (RICH, "axb8=N axb8N ab8N a7xb8=N axb8n a:b8=N a7b8n", "a7b8n"),
            (RICH, "dxe6 de6 d5xe6 dxe6e.p. dxe6ep d5e6 dxe6e.p.! dxe6/ep d:e6", "d5e6"),
            (RICH, "O-O 0-0 o-o O-O+ 0-0! OO Ke1g1 e1g1 Ke1-g1 O\u{2013}O", "e1g1"),
            (RICH, "O-O-O 0-0-0 o-o-o Ke1c1 e1c1 O-O-O#", "e1c1"),
            (RICH, "Bxf5 Bhxf5 B3xf5 Bh3xf5 h3f5 B:f5 Bf5 Bf5: Bxf5\u{203C} B\u{D7}f5", "h3f5"),
        ];
        for (fen, words, expected) in cases {
            for word in words.split(' ') {
                assert_eq!(read(fen, word).as_deref(), Ok(expected), "{word}");
            }
        }
    }

    #[test]
    fn what_could_be_read_wrongly_is_refused() {
        let cases = [
            ("", "nf3", NO_MOVE),
            ("", "Sf3", NO_MOVE),
            ("", "\u{41a}f3", NO_MOVE),
            ("", "bb3", ILLEGAL),
            ("", "ee4", ILLEGAL),
            ("", "e5", ILLEGAL),
            ("", "Nf3xyz", NO_MOVE),
            ("", "N3", NO_MOVE),
            ("", "e4e5", ILLEGAL),
            ("", "e4N", ILLEGAL),
            ("", "--", NULL),
            ("", "0-0", ILLEGAL),
            ("", "O-O-O-O", NO_MOVE),
            ("", "Ngf4", ILLEGAL),
            ("", "e", NO_MOVE),
            ("", "", NO_MOVE),
            (RICH, "a8", NO_PROMOTION),
            (RICH, "a8=K", NO_MOVE),
            (RICH, "axb8", NO_PROMOTION),
            (RICH, "de", NO_MOVE),
            (RICH, "Ndxe6", ILLEGAL),
            ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "O-O", ILLEGAL),
            ("4k3/8/8/8/8/4K3/8/R6R w - - 0 1", "Rd1", AMBIGUOUS),
            ("4k3/8/8/8/8/4K3/8/R6R w - - 0 1", "Kg1", ILLEGAL),
        ];
        for (fen, word, expected) in cases {
            assert_eq!(read(fen, word), Err(expected), "{word}");
        }
    }

    #[test]
    fn signs_of_a_move_are_glyphs() {
        let cases: [(&str, &[u8]); 9] = [
            ("e4", &[]),
            ("e4!", &[1]),
            ("Nf3+!?", &[5]),
            ("Qxf7#??", &[4]),
            ("e4+-", &[18]),
            ("e4!+/=", &[1, 14]),
            ("a8=Q", &[]),
            ("Bf5\u{203C}", &[3]),
            ("O-O=", &[10]),
        ];
        for (word, expected) in cases {
            assert_eq!(suffix_glyphs(word.as_bytes()), expected, "{word}");
        }
    }
}
