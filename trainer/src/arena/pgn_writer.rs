//! Games written as PGN.
//!
//! Games are written in the standard's export format, so that every program can read them: the seven tags first, move
//! numbers, at most 80 columns. A comment behind a move holds the player's score, depth and time in the form that match
//! programs use, `{+0.35/20 1.2s}`. Each game is written with one call, so that a killed program leaves complete games
//! behind, and a truncated game is closed before the next one is appended.

use std::collections::BTreeSet;
use std::fmt;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use dyad_engine::board::{Board, Color, Move};
use dyad_formats::score::GameResult;

/// Columns that a line may fill.
const COLUMNS: usize = 79;

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
pub struct PgnGame<Name = &'static str> {
    /// Tags besides `Variant`, `FEN`, `SetUp` and `Result`, which follow from the fields below. Those of the roster are
    /// written first and may be left out here.
    pub tags: Vec<(Name, String)>,
    /// The position before the first move.
    pub start: Board,
    /// The comment before the first move (empty for none, without braces).
    pub foreword: String,
    /// The moves, each with its comment.
    pub moves: Vec<(Move, String)>,
    /// The result; `None` for a game that was interrupted.
    pub result: Option<GameResult>,
}

impl<Name: AsRef<str>> fmt::Display for PgnGame<Name> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = self.result.map_or("*".into(), |result| result.to_string());
        write_tags(f, &self.tags, &self.start, &result)?;
        let mut text = Movetext::default();
        let mut board = self.start;
        text.comment(&pieces(&self.foreword));
        for (mv, comment) in &self.moves {
            text.mv(&board, Some(*mv));
            text.comment(&pieces(comment));
            board = board.after(*mv);
        }
        text.end(f, &result)
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

/// The pieces of a comment: itself if it fits into a line, or else its words. Braces would end it.
fn pieces(comment: &str) -> Vec<String> {
    let comment = comment.replace(['{', '}'], " ");
    match comment.trim() {
        "" => Vec::new(),
        short if short.chars().count() + 2 <= COLUMNS => vec![short.to_string()],
        long => long.split_whitespace().map(str::to_string).collect(),
    }
}

/// Moves, comments and variations, wrapped between words at 79 columns.
#[derive(Default)]
pub(crate) struct Movetext {
    lines: String,
    column: usize,
    /// Whether the previous move was just written, so that Black's needs no number.
    follows: bool,
}

impl Movetext {
    /// Writes a move; `None` is a null move.
    pub(crate) fn mv(&mut self, board: &Board, mv: Option<Move>) {
        match board.side_to_move() {
            Color::White => self.word(&format!("{}.", board.fullmove_number())),
            Color::Black if !self.follows => self.word(&format!("{}...", board.fullmove_number())),
            Color::Black => {}
        }
        self.word(&mv.map_or("--".to_string(), |mv| board.san(mv)));
        self.follows = true;
    }

    /// Writes a numeric annotation glyph.
    pub(crate) fn glyph(&mut self, glyph: u8) {
        self.word(&format!("${glyph}"));
    }

    /// Writes a comment in pieces, which are not broken.
    pub(crate) fn comment(&mut self, pieces: &[String]) {
        if pieces.is_empty() {
            return;
        }
        // A line that begins with a command looks like a tag.
        let mut groups: Vec<String> = Vec::new();
        for piece in pieces {
            match groups.last_mut().filter(|_| piece.starts_with('[')) {
                Some(group) => *group = format!("{group} {piece}"),
                None => groups.push(piece.clone()),
            }
        }
        let last = groups.len() - 1;
        for (place, group) in groups.iter().enumerate() {
            let (open, close) = (if place == 0 { "{" } else { "" }, if place == last { "}" } else { "" });
            self.word(&format!("{open}{group}{close}"));
        }
        self.follows = false;
    }

    /// Begins a variation.
    pub(crate) fn open(&mut self) {
        self.word("(");
        self.follows = false;
    }

    /// Ends a variation.
    pub(crate) fn close(&mut self) {
        self.word(")");
        self.follows = false;
    }

    /// Writes all to `f`, behind it the result and an empty line.
    pub(crate) fn end(mut self, f: &mut fmt::Formatter<'_>, result: &str) -> fmt::Result {
        self.word(result);
        write!(f, "\n{}\n\n", self.lines)
    }

    /// Appends a word, on the same line or the next.
    fn word(&mut self, word: &str) {
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
}

/// Today's date (UTC) as PGN writes it.
pub fn today() -> String {
    date(SystemTime::now())
}

/// The date of a time (UTC), as PGN writes it.
pub fn date(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).format("%Y.%m.%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::texts;
    use pgn_reader::{RawComment, Reader, SanPlus, Skip, Visitor};
    use std::ops::ControlFlow;

    /// A game as read by an independent PGN reader.
    #[derive(Default, Debug, PartialEq)]
    struct Read {
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
        PgnGame { tags, start, foreword: String::new(), moves: played, result: Some(result) }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

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
            let mut board = game.start;
            for (san, (mv, _)) in read.moves.iter().zip(&game.moves) {
                assert_eq!(board.parse_san(san).unwrap(), *mv);
                board = board.after(*mv);
            }
        }
        assert_eq!(read[1].comments, vec!["+0.35/20 1.2s"; 7]);
        let tags: Vec<_> = texts(&text).iter().map(|game| game.notes().tags).collect();
        assert!(tags.iter().all(|tags| tag_value(tags, "White") == Some("A \"quoted\" \\ name")), "{tags:?}");
        assert_eq!(tag_value(&tags[3], "FEN"), Some("8/P6k/8/8/8/8/7K/8 b - - 3 60"));
        let variants: Vec<_> = tags.iter().map(|tags| tag_value(tags, "Variant")).collect();
        assert_eq!(variants, [None, None, None, None, None, Some("Chess960")]);
        assert!(text.contains("60... Kg6 {-9.00/1} 61. a8=Q {-9.00/1} 61... Kf5"), "{text}");
    }
}
