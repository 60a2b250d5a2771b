//! Games written as PGN.
//!
//! Games are written in the standard's export format, so that every program can read them: the seven tags first, move
//! numbers, at most 80 columns. A comment behind a move holds the player's score, depth and time in the form that match
//! programs use, `{+0.35/20 1.2s}`. Each game is written with one call, so that a killed program leaves complete games
//! behind, and a truncated game is closed before the next one is appended.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use dyad_engine::board::{Board, Color, Move};
use dyad_formats::input::Lines;
use dyad_formats::pgn::{GameText, GameTexts};
use dyad_formats::score::GameResult;

use crate::base::lock::{LockedFile, open_alone};

/// Columns that a line may fill.
const COLUMNS: usize = 79;

/// Bytes of a file's beginning that show whether it is PGN.
const HEAD: u64 = 4096;

/// Bytes of a file's end that are examined before something is appended: the longest game that is read.
const TAIL: u64 = 1 << 20;

/// The tags that stand first in every game, in this order, with their values for "unknown".
const ROSTER: [(&str, &str); 7] = [
    ("Event", "?"),
    ("Site", "?"),
    ("Date", "????.??.??"),
    ("Round", "?"),
    ("White", "?"),
    ("Black", "?"),
    ("Result", "*"),
];

/// A game ready to be written; [`Display`](fmt::Display) gives its text, with an empty line at the end.
#[derive(Clone)]
pub struct PgnGame {
    /// Tags besides `Variant`, `FEN`, `SetUp` and `Result`, which follow from the fields below. Those of the roster are
    /// written first and may be left out here.
    pub tags: Vec<(&'static str, String)>,
    /// The position before the first move.
    pub start: Board,
    /// The moves, each with its comment (empty for none, without braces).
    pub moves: Vec<(Move, String)>,
    /// The result; `None` for a game that was interrupted.
    pub result: Option<GameResult>,
}

impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = self.result.map_or("*".into(), |result| result.to_string());
        write_tags(f, &self.tags, &self.start, &result)?;
        let mut text = Wrapped::default();
        let mut board = self.start;
        let mut number_due = true;
        for (mv, comment) in &self.moves {
            match board.side_to_move() {
                Color::White => text.word(&format!("{}.", board.fullmove_number())),
                Color::Black if number_due => text.word(&format!("{}...", board.fullmove_number())),
                Color::Black => (),
            }
            text.word(&board.san(*mv));
            number_due = !comment.is_empty();
            if number_due {
                text.comment(comment);
            }
            board = board.after(*mv);
        }
        text.word(&result);
        write!(f, "\n{}\n\n", text.lines)
    }
}

/// Writes the tags of a game from `start`: the roster, the variant, the position, then the others in their order. Of
/// tags whose names differ in case alone the first counts. `result` is written in place of a `Result` tag.
pub(crate) fn write_tags(
    f: &mut fmt::Formatter<'_>,
    tags: &[(impl AsRef<str>, String)],
    start: &Board,
    result: &str,
) -> fmt::Result {
    for (name, unknown) in ROSTER {
        let value = if name == "Result" { result } else { tag_value(tags, name).unwrap_or(unknown) };
        write_tag(f, name, value)?;
    }
    if let Some(variant) = tag_value(tags, "Variant").or(start.castles_unusually().then_some("Chess960")) {
        write_tag(f, "Variant", variant)?;
    }
    if start.fen() != Board::startpos().fen() {
        write_tag(f, "SetUp", "1")?;
        write_tag(f, "FEN", &start.fen())?;
    }
    let first = ROSTER.iter().map(|tag| tag.0).chain(["Variant", "SetUp", "FEN"]);
    let mut written: BTreeSet<String> = first.map(str::to_ascii_lowercase).collect();
    for (name, value) in tags {
        if written.insert(name.as_ref().to_ascii_lowercase()) {
            write_tag(f, name.as_ref(), value)?;
        }
    }
    Ok(())
}

/// The value of the first tag of this name, whatever the case of the name.
pub(crate) fn tag_value<'a>(tags: &'a [(impl AsRef<str>, String)], name: &str) -> Option<&'a str> {
    tags.iter().find(|tag| tag.0.as_ref().eq_ignore_ascii_case(name)).map(|tag| tag.1.as_str())
}

/// Writes a tag pair; control characters become spaces.
fn write_tag(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    writeln!(f, "[{name} \"{}\"]", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Text wrapped between words at 79 columns.
#[derive(Default)]
pub(crate) struct Wrapped {
    /// The text so far.
    pub(crate) lines: String,
    column: usize,
}

impl Wrapped {
    /// Appends a word, on the same line or the next.
    pub(crate) fn word(&mut self, word: &str) {
        let width = word.chars().count();
        if self.column == 0 {
            self.column = width;
        } else if self.column + 1 + width > COLUMNS {
            self.lines.push('\n');
            self.column = width;
        } else {
            self.lines.push(' ');
            self.column += 1 + width;
        }
        self.lines.push_str(word);
    }

    /// A short comment stays in one piece; a long one is broken like other text.
    fn comment(&mut self, comment: &str) {
        let comment = format!("{{{}}}", comment.replace(['{', '}'], " ").trim());
        if comment.chars().count() <= COLUMNS {
            self.word(&comment);
        } else {
            comment.split_whitespace().for_each(|word| self.word(word));
        }
    }
}

/// A file that games are appended to.
#[derive(Debug)]
pub struct PgnFile {
    file: LockedFile,
}

impl PgnFile {
    /// Opens or creates the file. If it ends in the middle of a game (the program was killed while writing, the disk
    /// was full), that game is closed as an unfinished one. A game with a result is left as it is.
    ///
    /// # Errors
    /// As [`PgnFile::take`].
    pub fn append_to(path: &Path) -> io::Result<PgnFile> {
        let PgnFile { mut file } = PgnFile::take(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        file.write_all(missing_end(&tail).as_bytes())?;
        Ok(PgnFile { file })
    }

    /// Opens or creates the file as it is. No other process has it like this until it is closed: games of two matches
    /// would mix.
    ///
    /// # Errors
    /// When the file cannot be read and written, is not PGN, or another process writes it.
    pub(crate) fn take(path: &Path) -> io::Result<PgnFile> {
        let mut file = open_alone(path)?;
        let mut beginning = Vec::new();
        (&mut *file).take(HEAD).read_to_end(&mut beginning)?;
        match is_pgn(&beginning) {
            true => Ok(PgnFile { file }),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "not a PGN file: games are appended to no other")),
        }
    }

    /// Cuts the file to this length.
    pub(crate) fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Writes everything to the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Appends a game with one system call.
    pub fn write(&mut self, game: &PgnGame) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(game.to_string().as_bytes())
    }
}

/// Whether a text that begins like this is PGN.
fn is_pgn(beginning: &[u8]) -> bool {
    let text = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning).trim_ascii_start();
    match text {
        [] | [b'['] | [b'1' | b'%' | b';' | b'*', ..] => true,
        [b'[', second, ..] => second.is_ascii_alphabetic() || second.is_ascii_whitespace(),
        // JSON begins with a brace too.
        [b'{', rest @ ..] => !matches!(rest.trim_ascii_start().first(), None | Some(b'"' | b'}')),
        _ => false,
    }
}

/// The text that `tail` lacks at its end, so that the next game stands alone: the end of an open comment, `*` if the
/// last game has no result, an empty line.
fn missing_end(tail: &[u8]) -> String {
    let text = tail.trim_ascii_end();
    if text.is_empty() {
        return String::new();
    }
    let breaks = tail[text.len()..].iter().filter(|&&byte| byte == b'\n').count();
    let empty_line = &"\n\n"[breaks.min(2)..];
    let in_tags = text.rsplit(|&byte| byte == b'\n').next().is_some_and(|line| line.starts_with(b"["));
    if has_result(tail, "") {
        return empty_line.to_string();
    }
    if has_result(tail, "}") {
        return "}\n\n".to_string();
    }
    if !is_over(tail, "\n*") && is_over(tail, "}\n*") {
        return "}\n*\n\n".to_string();
    }
    match breaks {
        _ if in_tags => format!("{empty_line}*\n\n"),
        0 => "\n*\n\n".to_string(),
        1 => "*\n\n".to_string(),
        // An empty line ends the moves of a game without a result.
        _ => String::new(),
    }
}

/// Whether the last game has a result, with `end` behind it.
fn has_result(tail: &[u8], end: &str) -> bool {
    let is_read = |end: &str| games(tail, end).last().is_some_and(|game| game.parse(None).is_ok());
    // Results in other spellings, such as `1:0`, show in that no other one can follow.
    is_over(tail, end) || is_read(end) && !is_read(&format!("{end}\n*"))
}

/// Whether moves behind `end` and an empty line are those of another game.
fn is_over(tail: &[u8], end: &str) -> bool {
    games(tail, &format!("{end}\n\n1. a3\n")).len() > games(tail, end).len()
}

/// The games of `tail`, with `end` behind it, and one before them: so comments alone are no game.
fn games(tail: &[u8], end: &str) -> Vec<GameText> {
    let text = [b"1. a3 *\n\n", tail, end.as_bytes()].concat();
    let path = Path::new("");
    GameTexts::new(Lines::new(Box::new(Cursor::new(text)), path), path).map_while(Result::ok).collect()
}

/// Today's date (UTC) as PGN writes it.
pub fn today() -> String {
    date(SystemTime::now())
}

/// The date of a time, as PGN writes it.
#[must_use]
pub fn date(time: SystemTime) -> String {
    let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    date_of((time.as_secs() / 86_400) as i64)
}

/// The date `days` days after 1970-01-01, by the proleptic Gregorian calendar.
fn date_of(days: i64) -> String {
    // Counted from 1 March of year 0, so that leap days come last in a year and in its cycles.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let mut date = String::new();
    write!(date, "{year:04}.{month:02}.{day_of_month:02}").expect("writing to a string cannot fail");
    date
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;
    use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
    use std::ops::ControlFlow;

    /// A game as read by an independent PGN reader.
    #[derive(Default, Debug, PartialEq)]
    struct Read {
        tags: Vec<(String, String)>,
        moves: Vec<String>,
        comments: Vec<String>,
        outcome: String,
    }

    struct Collect;

    impl Visitor for Collect {
        type Tags = Read;
        type Movetext = Read;
        type Output = Read;

        fn begin_tags(&mut self) -> ControlFlow<Read, Read> {
            ControlFlow::Continue(Read::default())
        }

        fn tag(&mut self, read: &mut Read, name: &[u8], value: RawTag<'_>) -> ControlFlow<Read> {
            let name = String::from_utf8_lossy(name).into_owned();
            read.tags.push((name, value.decode_utf8_lossy().into_owned()));
            ControlFlow::Continue(())
        }

        fn begin_movetext(&mut self, read: Read) -> ControlFlow<Read, Read> {
            ControlFlow::Continue(read)
        }

        fn san(&mut self, read: &mut Read, san: SanPlus) -> ControlFlow<Read> {
            read.moves.push(san.to_string());
            ControlFlow::Continue(())
        }

        fn comment(&mut self, read: &mut Read, comment: RawComment<'_>) -> ControlFlow<Read> {
            read.comments.push(String::from_utf8_lossy(comment.as_bytes()).into_owned());
            ControlFlow::Continue(())
        }

        fn begin_variation(&mut self, _: &mut Read) -> ControlFlow<Read, Skip> {
            ControlFlow::Continue(Skip(true))
        }

        fn outcome(&mut self, read: &mut Read, outcome: pgn_reader::Outcome) -> ControlFlow<Read> {
            read.outcome = outcome.to_string();
            ControlFlow::Continue(())
        }

        fn end_game(&mut self, read: Read) -> Read {
            read
        }
    }

    fn read_all(text: &str) -> Vec<Read> {
        let mut reader = Reader::new(text.as_bytes());
        reader.read_games(&mut Collect).collect::<Result<_, _>>().expect("our own games are readable")
    }

    fn game(fen: &str, moves: &[&str], comment: &str, result: GameResult) -> PgnGame {
        let start = Board::from_fen(fen).unwrap();
        let mut board = start;
        let mut played = Vec::new();
        for san in moves {
            let mv = board.parse_san(san).unwrap();
            played.push((mv, comment.to_string()));
            board = board.after(mv);
        }
        let tags = vec![("White", "A \"quoted\" \\ name".into()), ("Termination", "normal".into())];
        PgnGame { tags, start, moves: played, result: Some(result) }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn games_are_appended_to_pgn_alone_and_by_one_process() {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        let first = PgnFile::append_to(&path).unwrap();
        assert!(PgnFile::append_to(&path).unwrap_err().to_string().contains("another process writes it"));
        drop(first);
        PgnFile::append_to(&path).unwrap();
        for text in
            ["{\"format\": 2}", "{\n  \"format\": 2\n}", "[{\"a\": 1}]", "DYAD\0\0", "rnbqkbnr/8/8/8/8/8/8/8 w - -"]
        {
            std::fs::write(&path, text).unwrap();
            assert!(PgnFile::append_to(&path).unwrap_err().to_string().contains("not a PGN file"), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        for text in ["", "\u{FEFF}\n[Event \"x\"]\n\n*\n", "1. e4 *\n", "{a comment} 1. e4 *", "% escaped\n"] {
            std::fs::write(&path, text).unwrap();
            PgnFile::append_to(&path).unwrap();
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mate = ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"];
        let games = [
            game(START, &mate, "", GameResult::WhiteWins),
            game(START, &mate, "+0.35/20 1.2s", GameResult::WhiteWins),
            game(START, &mate, &"words ".repeat(40), GameResult::WhiteWins),
            game("8/P6k/8/8/8/8/7K/8 b - - 3 60", &["Kg6", "a8=Q", "Kf5"], "-9.00/1", GameResult::Draw),
            game(START, &[], "", GameResult::BlackWins),
            game("4rkr1/8/8/8/8/8/8/RK5R w KQkq - 0 1", &["O-O-O", "O-O"], "", GameResult::Draw),
        ];
        let text: String = games.iter().map(PgnGame::to_string).collect();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let read = read_all(&text);
        assert_eq!(read.len(), games.len());
        for (read, game) in read.iter().zip(&games) {
            assert_eq!(read.moves.len(), game.moves.len());
            assert_eq!(read.outcome, game.result.unwrap().to_string());
            assert!(read.tags.contains(&("White".into(), "A \"quoted\" \\ name".into())), "{read:?}");
            let mut board = game.start;
            for (san, (mv, _)) in read.moves.iter().zip(&game.moves) {
                assert_eq!(board.parse_san(san).unwrap(), *mv);
                board = board.after(*mv);
            }
        }
        assert_eq!(read[1].comments, vec!["+0.35/20 1.2s"; 7]);
        assert!(read[3].tags.contains(&("FEN".into(), "8/P6k/8/8/8/8/7K/8 b - - 3 60".into())));
        let variants = [None, None, None, None, None, Some("Chess960")];
        for (read, variant) in read.iter().zip(variants) {
            let tag = read.tags.iter().find(|tag| tag.0 == "Variant").map(|tag| tag.1.as_str());
            assert_eq!(tag, variant);
        }
        assert!(text.contains("60... Kg6 {-9.00/1} 61. a8=Q {-9.00/1} 61... Kf5"), "{text}");
    }

    /// Wherever a file was truncated, an appended game is read as its own game.
    #[test]
    fn appending_after_any_truncation() {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        let whole = game(START, &["e4", "e5", "Nf3"], "+0.35/20 1.2s", GameResult::Draw);
        let text = whole.to_string();
        for cut in 0..=text.len() {
            std::fs::write(&path, &text[..cut]).unwrap();
            for _ in 0..2 {
                PgnFile::append_to(&path).unwrap().write(&whole).unwrap();
            }
            let written = std::fs::read_to_string(&path).unwrap();
            let read = read_all(&written);
            let [.., before, last] = &read[..] else { panic!("two games expected in {written}") };
            assert_eq!((before.moves.len(), last.moves.len()), (3, 3), "{written}");
            assert_eq!(before, last);
            assert!(read.len() <= 3, "{written}");
        }
    }

    #[test]
    fn a_game_with_a_result_gets_no_second_one() {
        let mine = "[Event \"mine\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0 {Black resigned}";
        let cases: [(&[u8], &str); 29] = [
            (b"", ""),
            (b" \n", ""),
            (mine.as_bytes(), "\n\n"),
            (b"1. e4 e5 1-0\n\n", ""),
            (b"1. e4 e5 1-0\r\n\r\n", ""),
            (b"1. e4 e5 1:0\n", "\n"),
            (b"1. e4 e5 1/2 ", "\n\n"),
            ("1. e4 e5 \u{BD}-\u{BD}\n".as_bytes(), "\n"),
            (b"1. e4 e5 \xBD-\xBD\n", "\n"),
            ("1. e4 e5 0\u{2013}1".as_bytes(), "\n\n"),
            (b"1. e4 e5 0-1 ; {White resigned", "\n\n"),
            (b"1. e4 e5 0-1 {White res", "}\n\n"),
            (b"1. e4 e5 0:1 {White res", "}\n\n"),
            (b"1. e4 e5 *\n\n{the end}\n", "\n"),
            (b"1. e4 e5 *\n% the end {\n", "\n"),
            (b"[Event \"a\"] [Result \"1-0\"] 1. e4 1-0\n", "\n"),
            (b"[Variant \"Crazyhouse\"]\n\n1. e4 e5 2. N@f3 1-0\n", "\n"),
            (b"% escaped\n", "\n"),
            // Without a result.
            (b"[Event \"a", "\n\n*\n\n"),
            (b"[Event \"{a\"]\n", "\n*\n\n"),
            (b"[Event \"a\"]\n[Result \"1-0\"]\n\n", "*\n\n"),
            (b"[Event \"a\"]\n[Result \"1-0\"]\n\n1. e4 e5", "\n*\n\n"),
            (b"1. e4 {+0.35/20} e5\n", "*\n\n"),
            (b"1. e4 e5 2. Nf", "\n*\n\n"),
            (b"1. e4 {+0.3", "}\n*\n\n"),
            (b"[Event \"a\"]\n\n1. e4 {one\n\nand 1-0\n", "}\n*\n\n"),
            (b"[Event \"a\"]\n\n1. e4 e5 1-0 {White\nwins}\n", "\n"),
            (b"1. e4 ; a remark {", "\n*\n\n"),
            (b"1. e4 e5\n\n", ""),
        ];
        for (tail, expected) in cases {
            for before in [&b""[..], b"[Event \"before\"]\n\n1. d4 {first} d5 0-1\n\n"] {
                let text = [before, tail].concat();
                assert_eq!(missing_end(&text), expected, "{}", String::from_utf8_lossy(&text));
            }
        }
        // A long game is seen from its beginning.
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        let long = format!("1. e4 {{{}", "words ".repeat(2_000));
        std::fs::write(&path, &long).unwrap();
        PgnFile::append_to(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), long + "}\n*\n\n");
    }

    #[test]
    fn dates() {
        for (days, date) in [(0, "1970.01.01"), (11_016, "2000.02.29"), (20_088, "2024.12.31"), (20_089, "2025.01.01")]
        {
            assert_eq!(date_of(days), date);
        }
    }
}
