//! Cuts a file into the texts of its games.
//!
//! The file is cut at lines, and within a line before tags that follow a result, so that a broken game costs only
//! itself: the next game begins at its tags. Tags and results inside a comment do not end a game. A comment without an
//! end is cut where the tags of another game begin.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::GameText;
use super::words::{Tag, name_of_whole_tag, tag_name};
use crate::error::Error;
use crate::input::{BYTE_ORDER_MARK, Lines};

/// Largest text of one game; more than that is no game.
pub(super) const LARGEST_GAME: usize = 1 << 20;

/// The tags that every game should have, of which one is the first in nearly all files.
const ROSTER: [&[u8]; 7] = [b"Event", b"Site", b"Date", b"Round", b"White", b"Black", b"Result"];

/// A file cut into games. A game begins where a tag follows moves, where anything follows a blank line or the number 1
/// after a result, or where after a blank line among tags one comes that the game has already: the game before had tags
/// and no moves. A blank line alone does not part tags, since some files have one within them.
pub struct GameTexts {
    lines: Lines,
    path: Arc<Path>,
    /// Lines that were read and belong to the next game, the next one last.
    ahead: Vec<Line>,
    /// The memory of a line that was read.
    spare: Vec<u8>,
    /// Whether a game was found.
    found: bool,
}

/// A line, or the part of a long one that is in memory.
struct Line {
    number: u64,
    text: Vec<u8>,
    /// Where the part begins that belongs to no game yet.
    at: usize,
}

impl Line {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }
}

/// What is known of the text of a game so far.
#[derive(Default)]
struct Progress {
    /// Whether a word has come that is neither in a tag nor in a comment.
    moves: bool,
    /// Whether the last words are a result outside of variations.
    result: bool,
    /// Whether the line before was blank.
    gap: bool,
    comment: bool,
    variations: u32,
    /// Names of tags, as places in the text.
    tags: Vec<Range<usize>>,
    /// Where the last line begins, if it could be a tag of another game within a comment.
    suspect: Option<usize>,
}

impl GameTexts {
    /// The games of the file at `path`.
    pub fn open(path: &Path) -> Result<GameTexts, Error> {
        Ok(GameTexts::new(Lines::open(path)?, path))
    }

    /// The games of `lines`, which reports call `path`.
    pub fn new(lines: Lines, path: &Path) -> GameTexts {
        GameTexts { lines, path: path.into(), ahead: Vec::new(), spare: Vec::new(), found: false }
    }

    fn next_line(&mut self) -> Result<Option<Line>, Error> {
        let mut line = match self.ahead.pop() {
            Some(line) => line,
            None => {
                let mut text = std::mem::take(&mut self.spare);
                text.clear();
                let Some(number) = self.lines.read(&mut text)? else { return Ok(None) };
                Line { number, text, at: 0 }
            }
        };
        // Of a long line as much is in memory as a game may have.
        while self.lines.is_within() && !line.text.ends_with(b"\n") && line.rest().len() < LARGEST_GAME {
            line.text.drain(..std::mem::take(&mut line.at));
            self.lines.read(&mut line.text)?;
        }
        Ok(Some(line))
    }

    fn next_game(&mut self) -> Result<Option<GameText>, Error> {
        let mut game = GameText { path: self.path.clone(), line: 0, text: Vec::new(), oversized: false };
        let mut state = Progress::default();
        while let Some(mut line) = self.next_line()? {
            let blank = line.rest().trim_ascii().is_empty();
            if game.line == 0 {
                if blank {
                    self.spare = line.text;
                    continue;
                }
                game.line = line.number;
            }
            let mut end = line.text.len();
            if !blank {
                if state.ends_before(line.rest(), &game.text) {
                    self.ahead.push(line);
                    return Ok(Some(self.found(game)));
                }
                if let Some(start) = state.hidden_tags(line.rest(), game.text.len()) {
                    // The line before began the tags of the next game.
                    let before = Line { number: line.number - 1, text: game.text.split_off(start), at: 0 };
                    self.ahead.extend([line, before]);
                    return Ok(Some(self.found(game)));
                }
                if let Some(place) = state.read(line.rest(), game.text.len()) {
                    end = line.at + place;
                }
            }
            state.gap = blank;
            if game.text.len() + end - line.at <= LARGEST_GAME {
                game.text.extend(&line.text[line.at..end]);
            } else {
                game.oversized = true;
            }
            if end < line.text.len() {
                line.at = end;
                self.ahead.push(line);
            } else {
                self.spare = line.text;
            }
        }
        // Behind the last game there may be a comment, which is no game.
        let nothing = game.line == 0 || self.found && !state.moves && state.tags.is_empty() && !state.comment;
        Ok((!nothing).then(|| self.found(game)))
    }

    fn found(&mut self, game: GameText) -> GameText {
        self.found = true;
        game
    }
}

impl Progress {
    /// Whether a line that is not blank belongs to the next game.
    fn ends_before(&self, line: &[u8], text: &[u8]) -> bool {
        let tag = tag_name(line).map(|name| &line[name]);
        if self.comment {
            return self.gap && tag.is_some_and(|name| ROSTER.contains(&name));
        }
        let begins = || self.gap || matches!(line.trim_ascii_start(), [b'1', b'.' | b' ', ..]);
        // A line that was too long for the text is not in it.
        let has = |name: &[u8]| self.tags.iter().any(|tag| text.get(tag.clone()) == Some(name));
        match tag {
            // A game of tags alone may have no blank line behind it.
            Some(name) => self.moves || (self.gap || name == b"Event" && self.tags.len() > 2) && has(name),
            None => self.moves && self.result && begins(),
        }
    }

    /// Where a game begins within a comment: two tags of the roster in two lines are no part of it.
    fn hidden_tags(&mut self, line: &[u8], place: usize) -> Option<usize> {
        let is_tag = self.comment && tag_name(line).is_some_and(|name| ROSTER.contains(&&line[name]));
        let before = self.suspect.take().filter(|_| !self.gap);
        self.suspect = is_tag.then_some(place);
        before.filter(|_| is_tag)
    }

    /// Reads a line that begins at `place` of the text. Returns where another game begins on it.
    fn read(&mut self, line: &[u8], place: usize) -> Option<usize> {
        let mut rest = line;
        if !self.comment {
            if line.starts_with(b"%") {
                return None;
            }
            let bare = || name_of_whole_tag(line).filter(|_| !self.moves);
            if let Some(name) = tag_name(line).or_else(bare) {
                self.tags.push(place + name.start..place + name.end);
                rest = behind_tags(line);
            }
        }
        let (behind, mut word_end, mut at) = (line.len() - rest.len(), 0, 0);
        while at < rest.len() {
            if self.comment {
                let Some(end) = rest[at..].iter().position(|&byte| byte == b'}') else { break };
                (self.comment, at) = (false, at + end + 1);
                continue;
            }
            match rest[at] {
                b'{' => self.comment = true,
                b';' => rest = &rest[..at],
                b'(' => self.variations += 1,
                b')' => self.variations = self.variations.saturating_sub(1),
                b'[' if self.variations == 0
                    && ends_in_result(&rest[..word_end])
                    && tag_name(&rest[at..]).is_some() =>
                {
                    (self.moves, self.result) = (true, true);
                    return Some(behind + at);
                }
                byte if byte.is_ascii_whitespace() || byte == 0 => {}
                _ => word_end = at + 1,
            }
            at += 1;
        }
        if word_end > 0 {
            self.moves = true;
            self.result = self.variations == 0 && ends_in_result(&rest[..word_end]);
        }
        None
    }
}

fn ends_in_result(words: &[u8]) -> bool {
    [&b"1-0"[..], b"0-1", b"1/2-1/2", b"1/2", b"\xC2\xBD-\xC2\xBD", b"*"].iter().any(|end| words.ends_with(end))
}

/// What a line has behind its tags.
fn behind_tags(line: &[u8]) -> &[u8] {
    let mut rest = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii_start();
    while let Some((_, length)) = Tag::parse(rest) {
        rest = rest[length..].trim_ascii_start();
    }
    rest
}

impl Iterator for GameTexts {
    type Item = Result<GameText, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_game().transpose()
    }
}
