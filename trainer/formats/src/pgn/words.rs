//! The tokens of a game's text: tag pairs, comments, variations, numbers, glyphs and words.
//!
//! A token never spans what it should not: a comment ends at its brace or is reported as never closed, `;` and `%` end
//! at the end of their line. Nothing is skipped but space, so that a caller who knows all tokens knows the whole text.

use std::borrow::Cow;
use std::ops::Range;

use crate::input::{BYTE_ORDER_MARK, decode};

/// A part of a game's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `[Name "value"]`, before the first word.
    Tag(Tag<'a>),
    /// `{...}`, or `;` to the end of its line.
    Comment(&'a [u8]),
    /// A `{` without its `}`.
    Unclosed,
    /// `(`
    Open,
    /// `)`
    Close,
    /// The number of a move with its dots.
    Number(u32),
    /// Dots without a number.
    Dots,
    /// `$n`
    Glyph(&'a [u8]),
    /// Anything else up to the next space, brace or parenthesis.
    Word(&'a [u8]),
}

/// A tag pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its value as it is written, escapes included.
    raw: &'a [u8],
    /// Whether the value has both its quotes and the tag its bracket.
    pub is_whole: bool,
}

impl<'a> Tag<'a> {
    /// The value, without escapes. Control characters are spaces, as they are written.
    pub(super) fn value(&self) -> Cow<'a, str> {
        let text = decode(self.raw);
        if !text.contains(|c: char| c == '\\' || c.is_control()) {
            return text;
        }
        let (mut value, mut rest) = (String::with_capacity(text.len()), text.chars().peekable());
        while let Some(c) = rest.next() {
            let escaped = rest.next_if(|&next| c == '\\' && (next == '"' || next == '\\'));
            value.push(if c.is_control() { ' ' } else { escaped.unwrap_or(c) });
        }
        Cow::Owned(value)
    }

    /// Reads the tag at the beginning of a line. Returns also the length of its text.
    pub(super) fn parse(line: &'a [u8]) -> Option<(Tag<'a>, usize)> {
        let inner = line.strip_prefix(b"[")?.trim_ascii_start();
        let (name, rest) = inner.split_at(name_length(inner));
        let after = rest.trim_ascii_start();
        if name.is_empty() || after.len() == rest.len() && !after.starts_with(b"\"") {
            return None;
        }
        let place = line.len() - after.len();
        Some(match after.strip_prefix(b"\"") {
            Some(value) => match end_of_value(value, true).or_else(|| end_of_value(value, false)) {
                Some((quote, bracket)) => (Tag { name, raw: &value[..quote], is_whole: true }, place + 1 + bracket + 1),
                None => (Tag { name, raw: value.trim_ascii(), is_whole: false }, line.len()),
            },
            None => {
                let bracket = after.iter().rposition(|&byte| byte == b']')?;
                (Tag { name, raw: after[..bracket].trim_ascii(), is_whole: true }, place + bracket + 1)
            }
        })
    }
}

/// Where the name is in a line that is one tag, also one without quotes, `[Name value]`.
pub(super) fn name_of_whole_tag(line: &[u8]) -> Option<Range<usize>> {
    let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii_start();
    let (tag, length) = Tag::parse(text)?;
    let from = line.len() - text.strip_prefix(b"[")?.trim_ascii_start().len();
    text[length..].trim_ascii().is_empty().then_some(from..from + tag.name.len())
}

/// Where the name is in a line that begins with a tag pair, `[Name "...`.
pub(super) fn tag_name(line: &[u8]) -> Option<Range<usize>> {
    let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii_start();
    let inner = text.strip_prefix(b"[")?.trim_ascii_start();
    let (length, from) = (name_length(inner), line.len() - inner.len());
    (length > 0 && inner[length..].trim_ascii_start().starts_with(b"\"")).then_some(from..from + length)
}

fn name_length(text: &[u8]) -> usize {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte);
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    text.iter().take_while(|byte| is_name(byte)).count()
}

/// Where the closing quote of a tag's value and the bracket behind it are. A quote within the value is one that no
/// bracket follows, or one whose bracket is followed by another quote and bracket of the same value. Moves and other
/// tags may be on the same line.
fn end_of_value(value: &[u8], escapes: bool) -> Option<(usize, usize)> {
    let mut last = None;
    let mut at = 0;
    while at < value.len() {
        match value[at] {
            b'\\' if escapes && matches!(value.get(at + 1), Some(b'"' | b'\\')) => at += 1,
            b'"' => {
                let space = value[at + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let bracket = at + 1 + space;
                if value.get(bracket) == Some(&b']') {
                    let rest = &value[bracket + 1..];
                    last = Some((at, bracket));
                    if rest.trim_ascii_start().starts_with(b"[") || opens_tag(rest) {
                        break;
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    last
}

/// Whether a tag begins in `text` before its first quote.
fn opens_tag(text: &[u8]) -> bool {
    let before = text.iter().position(|&byte| byte == b'"').map_or(&[][..], |quote| &text[..quote]);
    let bracket = before.iter().rposition(|&byte| byte == b'[');
    bracket.is_some_and(|bracket| tag_name(&text[bracket..]).is_some())
}

/// The tokens of a text.
#[derive(Clone)]
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the last token begins.
    pub start: usize,
    /// Whether no word has come yet, so that tags may.
    tags: bool,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a [u8]) -> Words<'a> {
        let at = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Words { text, at, start: at, tags: true }
    }

    /// How many line breaks are before the last token.
    pub(super) fn lines_before(&self) -> u64 {
        self.text[..self.start].iter().filter(|&&byte| byte == b'\n').count() as u64
    }

    /// Whether no word follows.
    pub(super) fn is_at_end(&self) -> bool {
        self.text[self.at..].trim_ascii().is_empty()
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
    }

    fn skip_space(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | 0x0B | 0x0C | 0 => self.at += 1,
                // A no-break space, in UTF-8 or in Windows-1252.
                0xC2 if self.text.get(self.at + 1) == Some(&0xA0) => self.at += 2,
                0xA0 => self.at += 1,
                b'%' if self.at == 0 || self.text[self.at - 1] == b'\n' => self.at = self.line_end(),
                _ => break,
            }
        }
    }

    fn number(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let dots = dots(&rest[digits..]);
        let ends = rest.get(digits).is_none_or(|&byte| ends_word(byte));
        if dots == 0 && (digits == 0 || !ends) {
            return None;
        }
        self.at += digits + dots;
        self.tags = false;
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        // One that is too long is no number of a move.
        Some(if digits == 0 { Token::Dots } else { Token::Number(number.unwrap_or(u32::MAX)) })
    }

    fn word(&mut self) -> Token<'a> {
        let rest = &self.text[self.at..];
        let mut length = rest.iter().take_while(|&&byte| !ends_word(byte)).count();
        // `e8(Q)`
        if let [b'(', b'A'..=b'Z', b')', ..] = rest[length..] {
            length += 3;
            length += rest[length..].iter().take_while(|&&byte| !ends_word(byte)).count();
        }
        // `Nf6!?5.e3`: a digit after the signs of a move begins a number or a result.
        let ends = |pair: &[u8]| matches!(pair, [b'!' | b'?' | b'+' | b'#', b'0'..=b'9']);
        if let Some(at) = rest[..length].windows(2).skip(1).position(ends) {
            length = at + 2;
        }
        self.at += length;
        self.tags = false;
        Token::Word(&rest[..length])
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        self.start = self.at;
        let byte = *self.text.get(self.at)?;
        let single = |words: &mut Words<'a>, token| {
            words.at += 1;
            words.tags = false;
            Some(token)
        };
        match byte {
            b'{' => {
                let inside = &self.text[self.at + 1..];
                let Some(length) = inside.iter().position(|&byte| byte == b'}') else {
                    self.at = self.text.len();
                    return Some(Token::Unclosed);
                };
                self.at += length + 2;
                Some(Token::Comment(&inside[..length]))
            }
            b';' => {
                let (from, to) = (self.at + 1, self.line_end());
                self.at = to;
                Some(Token::Comment(&self.text[from..to]))
            }
            b'(' => single(self, Token::Open),
            b')' => single(self, Token::Close),
            b'*' | b'}' => single(self, Token::Word(&self.text[self.start..=self.start])),
            b'$' => {
                let digits = self.text[self.at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.at += 1 + digits;
                self.tags = false;
                let digits = &self.text[self.start + 1..self.at];
                Some(if digits.is_empty() { Token::Word(b"$") } else { Token::Glyph(digits) })
            }
            b'[' if self.tags => {
                let line = &self.text[self.at..self.line_end()];
                match Tag::parse(line) {
                    Some((tag, length)) => {
                        self.at += length;
                        Some(Token::Tag(tag))
                    }
                    None => Some(self.word()),
                }
            }
            b'0'..=b'9' | b'.' | 0xE2 => self.number().or_else(|| Some(self.word())),
            _ => Some(self.word()),
        }
    }
}

/// The length of the dots that a text begins with: `.` or the ellipsis of one character.
fn dots(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        match &text[length..] {
            [b'.', ..] => length += 1,
            [0xE2, 0x80, 0xA6, ..] => length += 3,
            _ => return length,
        }
    }
}

fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0B | 0x0C | 0 | b'{' | b'}' | b'(' | b')' | b';' | b'$' | b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_skipped_but_space() {
        let text = "[A \"b\"]\n1. e4 {a ; ( b} e5! (2. f4\n% gone ) }\n) $12 2.Nf3 ; rest { of it\n2... Nc6 e8(Q)+ *";
        let tokens: Vec<Token> = Words::new(text.as_bytes()).collect();
        let word = |text: &'static str| Token::Word(text.as_bytes());
        let tag = Token::Tag(Tag { name: b"A", raw: b"b", is_whole: true });
        let expected = [
            tag,
            Token::Number(1),
            word("e4"),
            Token::Comment(b"a ; ( b"),
            word("e5!"),
            Token::Open,
            Token::Number(2),
            word("f4"),
            Token::Close,
            Token::Glyph(b"12"),
            Token::Number(2),
            word("Nf3"),
            Token::Comment(b" rest { of it"),
            Token::Number(2),
            word("Nc6"),
            word("e8(Q)+"),
            word("*"),
        ];
        assert_eq!(tokens, expected);
    }

    #[test]
    fn numbers_and_results_are_distinguished() {
        let kinds = |text: &str| -> Vec<String> {
            Words::new(text.as_bytes())
                .map(|token| match token {
                    Token::Number(number) => format!("#{number}"),
                    Token::Dots => "..".to_string(),
                    Token::Word(word) => String::from_utf8_lossy(word).into_owned(),
                    other => format!("{other:?}"),
                })
                .collect()
        };
        assert_eq!(
            kinds("1.e4 1...e5 2. ...d5 2.\u{2026}d5 3"),
            ["#1", "e4", "#1", "e5", "#2", "..", "d5", "#2", "d5", "#3"]
        );
        assert_eq!(kinds("1-0 0-1 1/2-1/2 1/2 0-0-0 5.0-0"), ["1-0", "0-1", "1/2-1/2", "1/2", "0-0-0", "#5", "0-0"]);
        assert_eq!(kinds("\u{2654}e2 $ }"), ["\u{2654}e2", "$", "}"]);
    }

    #[test]
    fn values_of_tags() {
        let cases = [
            ("[Event \"plain\"]", "plain"),
            ("[Event \"a \\\"quoted\\\" name\"]", "a \"quoted\" name"),
            ("[Event \"The \"Big\" Open\"]", "The \"Big\" Open"),
            ("[Event \"brackets ] and [ in it\"]", "brackets ] and [ in it"),
            ("[Event \"C:\\games\\\"]", "C:\\games\\"),
            ("[Event \"two\"] [Site \"on a line\"]", "two"),
            ("[Event \"moves\"] 1. e4 {[Ref \"a\"] b} 1-0 [Event \"next\"]", "moves"),
            ("[Event \"Cup \"A\"] final\"] 1. e4 *", "Cup \"A\"] final"),
            ("[ Event  \"space\" ]", "space"),
            ("[Event bare]", "bare"),
            ("[Event \"a\tb\u{7f}\"]", "a b "),
            ("[Event \"\"]", ""),
            ("[Event \"never closed", "never closed"),
        ];
        for (text, expected) in cases {
            let Some(Token::Tag(tag)) = Words::new(text.as_bytes()).next() else { panic!("{text}") };
            assert_eq!((tag.name, &*tag.value()), (&b"Event"[..], expected), "{text}");
        }
    }
}
