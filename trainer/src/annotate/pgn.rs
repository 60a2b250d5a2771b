//! Annotated games as PGN.
//!
//! Evaluations, arrows and squares are commands in comments, as in Lichess, ChessBase and Scid: `[%eval 0.35]` and
//! `[%eval #-3]` from White's side, `[%cal Gf1c4]`, `[%csl Re5]`. The better line is a variation. The game's own
//! comments stay, except for commands that are replaced.

use std::fmt;

use dyad_engine::board::{Board, ChessMove, Color};
use dyad_engine::search::Score;

use super::analysis::{Annotated, Mistake, Ply};
use super::explanation::{Mark, Place};
use crate::arena::pgn_writer::{ROSTER, Wrapped, write_tag};

/// Commands that are replaced.
const OURS: [&str; 3] = ["eval", "cal", "csl"];

/// Writes the game, followed by an empty line.
impl fmt::Display for Annotated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = self.result.map_or("*".into(), |result| result.to_string());
        self.write_tags(f, &result)?;
        let mut text = Movetext::default();
        text.comment(&kept(&self.foreword));
        for (board, ply) in self.positions() {
            text.mv(&board, ply.mv);
            if let Some(mistake) = ply.mistake() {
                text.words.word(&format!("${}", mistake.judgement.nag()));
            }
            text.comment(&comment(ply));
            if let Some(mistake) = ply.mistake() {
                text.variation(&board, mistake);
            }
        }
        text.words.word(&result);
        write!(f, "\n{}\n\n", text.words.lines)
    }
}

impl Annotated {
    fn write_tags(&self, f: &mut fmt::Formatter<'_>, result: &str) -> fmt::Result {
        for (name, unknown) in ROSTER {
            let value = if name == "Result" { result } else { self.tag(name).unwrap_or(unknown) };
            write_tag(f, name, value)?;
        }
        let usual = self.start.fen() == Board::startpos().fen();
        if self.start.castles_unusually() && self.tag("Variant").is_none() {
            write_tag(f, "Variant", "Chess960")?;
        }
        if !usual {
            write_tag(f, "SetUp", "1")?;
            write_tag(f, "FEN", &self.start.fen())?;
        }
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let written =
            |name: &str| ROSTER.iter().any(|tag| tag.0 == name) || ["FEN", "SetUp", "Annotator"].contains(&name);
        for (place, (name, value)) in self.tags.iter().enumerate() {
            let again = self.tags[..place].iter().any(|tag| tag.0 == *name);
            if is_name(name) && !written(name) && !again {
                write_tag(f, name, value)?;
            }
        }
        write_tag(f, "Annotator", concat!("Dyad ", env!("CARGO_PKG_VERSION")))
    }
}

/// The comment on a move, in pieces that are not broken across lines.
fn comment(ply: &Ply) -> Vec<String> {
    let mut pieces = kept(&ply.comments);
    let Some(analysis) = &ply.analysis else { return pieces };
    pieces.extend(analysis.score.map(|score| format!("[%eval {}]", evaluation(score))));
    if let Some(mistake) = &analysis.mistake {
        pieces.extend(marks(&mistake.marks));
        let sentence = format!("{}. {}", mistake.judgement.name(), mistake.explanation);
        pieces.extend(sentence.split_whitespace().map(str::to_string));
    }
    pieces
}

/// A score in the format of `%eval`.
pub(super) fn evaluation(score: Score) -> String {
    match score {
        Score::Cp(centipawns) => format!("{:.2}", f64::from(centipawns) / 100.0),
        Score::Mate(moves) => format!("#{moves}"),
    }
}

/// The commands for arrows and squares.
fn marks(marks: &[Mark]) -> Vec<String> {
    let list = |wanted: &dyn Fn(Place) -> Option<String>| {
        let texts = marks.iter().filter_map(|mark| Some((if mark.good { "G" } else { "R" }, wanted(mark.place)?)));
        texts.map(|(color, text)| format!("{color}{text}")).collect::<Vec<_>>().join(",")
    };
    let squares = list(&|place| match place {
        Place::Square(square) => Some(square.to_string()),
        Place::Arrow(..) => None,
    });
    let arrows = list(&|place| match place {
        Place::Arrow(from, to) => Some(format!("{from}{to}")),
        Place::Square(_) => None,
    });
    let command = |name: &str, list: String| (!list.is_empty()).then(|| format!("[%{name} {list}]"));
    command("csl", squares).into_iter().chain(command("cal", arrows)).collect()
}

/// The comments of the game without replaced commands, in pieces.
fn kept(comments: &[String]) -> Vec<String> {
    let mut pieces = Vec::new();
    for comment in comments {
        let mut rest = comment.as_str();
        while let Some(begin) = rest.find("[%") {
            let Some(length) = rest[begin..].find(']') else { break };
            let (before, command) = (&rest[..begin], &rest[begin..=begin + length]);
            pieces.extend(words(before));
            let name = command[2..].split([' ', ']']).next().unwrap_or_default();
            if !OURS.contains(&name) {
                pieces.push(format!("[%{}", words(&command[2..]).collect::<Vec<_>>().join(" ")));
            }
            rest = &rest[begin + length + 1..];
        }
        pieces.extend(words(rest));
    }
    pieces
}

/// The words of a comment, without braces, which would end it, and control characters.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || c.is_control() || c == '{' || c == '}')
        .filter(|word| !word.is_empty())
        // At the start of a line it would be a tag.
        .map(|word| word.strip_prefix('[').map_or_else(|| word.to_string(), |rest| format!("({rest}")))
}

/// Moves, comments and variations, wrapped.
#[derive(Default)]
struct Movetext {
    words: Wrapped,
    /// Whether the previous move was just written, so that Black's needs no number.
    follows: bool,
}

impl Movetext {
    fn mv(&mut self, board: &Board, mv: ChessMove) {
        match board.side_to_move() {
            Color::White => self.words.word(&format!("{}.", board.fullmove_number())),
            Color::Black if !self.follows => self.words.word(&format!("{}...", board.fullmove_number())),
            Color::Black => {}
        }
        self.words.word(&board.san(mv));
        self.follows = true;
    }

    fn comment(&mut self, pieces: &[String]) {
        let Some(last) = pieces.len().checked_sub(1) else { return };
        for (place, piece) in pieces.iter().enumerate() {
            let (open, close) = (if place == 0 { "{ " } else { "" }, if place == last { " }" } else { "" });
            self.words.word(&format!("{open}{piece}{close}"));
        }
        self.follows = false;
    }

    fn variation(&mut self, board: &Board, mistake: &Mistake) {
        let mut board = *board;
        self.words.word("(");
        self.follows = false;
        for &mv in &mistake.line {
            self.mv(&board, mv);
            board = board.after(mv);
        }
        let goal: Vec<String> =
            std::iter::once(format!("[%eval {}]", evaluation(mistake.better))).chain(marks(&mistake.goal)).collect();
        self.comment(&goal);
        self.words.word(")");
        self.follows = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::testing::{MISTAKES, annotated};
    use crate::data::input::Lines;
    use crate::data::pgn::{GameText, GameTexts};
    use std::io::Cursor;
    use std::path::Path;

    fn read(text: &str) -> Vec<GameText> {
        let path = Path::new("written.pgn");
        let lines = Lines::new(Box::new(Cursor::new(text.as_bytes().to_vec())), path);
        GameTexts::new(lines, path).collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn written_games_are_read_back() {
        let game = annotated(MISTAKES, 2_000);
        let text = game.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 79), "{text}");
        let texts = read(&text);
        assert_eq!(texts.len(), 1);
        let record = texts[0].parse(None).unwrap();
        let moves: Vec<ChessMove> = record.moves.iter().map(|played| played.mv).collect();
        assert!(moves.iter().eq(game.plies.iter().map(|ply| &ply.mv)));
        assert_eq!(record.result, game.result);
        let notes = texts[0].notes();
        let annotator = ("Annotator", concat!("Dyad ", env!("CARGO_PKG_VERSION")));
        for tag in [("ECO", "C20"), ("Round", "?"), ("White", "A \"quoted\" {name}"), annotator] {
            let tag = (tag.0.to_string(), tag.1.to_string());
            assert!(notes.tags.contains(&tag), "{tag:?} in {text}");
        }
        // Each move has its evaluation, and the game's own comments stay; its old evaluations and arrows go.
        let comment = |ply: usize| notes.comments[ply + 1].join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        for ply in 0..moves.len() {
            let ends = ply + 1 == moves.len();
            assert_eq!(comment(ply).matches("[%eval ").count(), usize::from(!ends), "{}", comment(ply));
        }
        assert_eq!(notes.comments[0], ["a word before"]);
        assert!(comment(0).starts_with("the king's pawn [%clk 0:03:00] [%eval "), "{}", comment(0));
        assert!(!text.contains("[%eval 9.99]") && !text.contains("Ra1a8"), "{text}");
        // The blunder: its glyph, its explanation, and the better line.
        assert!(text.contains("Nf6 $4"), "{text}");
        assert!(comment(5).contains("Blunder. ") && comment(5).contains("which allows a mate in 1."), "{}", comment(5));
        assert!(text.replace('\n', " ").contains(") 4. Qxf7#"), "{text}");
    }

    #[test]
    fn chess960_keeps_its_position() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n[Variant \"chess 960\"]\n[SetUp \"1\"]\n\
            [FEN \"4rkr1/8/8/8/8/8/8/RK5R w HAge - 0 1\"]\n[Result \"1/2-1/2\"]\n\n1. O-O-O O-O 1/2-1/2\n";
        let game = annotated(pgn, 1_000);
        let text = game.to_string();
        let record = read(&text)[0].parse(None).unwrap();
        assert_eq!(record.start.fen(), game.start.fen());
        assert_eq!(record.moves.len(), 2);
        assert!(text.contains("[Variant \"chess 960\"]") && text.contains("[SetUp \"1\"]"), "{text}");
        assert_eq!(text.matches("[FEN ").count(), 1);
    }

    #[test]
    fn other_commands_are_kept() {
        let kept = |text: &str| kept(&[text.to_string()]).join(" ");
        assert_eq!(kept("good [%eval 0.3,20] [%clk 1:00:00]\n move"), "good [%clk 1:00:00] move");
        assert_eq!(kept("[%csl Ga1][%cal Ra1b2]"), "");
        assert_eq!(kept("[%evaluation x] [% open"), "[%evaluation x] (% open");
        assert_eq!(kept("a}b \u{1b}c"), "a b c");
        assert_eq!(kept("[Event \"x\"] [%x [y]"), "(Event \"x\"] [%x (y]");
    }

    #[test]
    fn evaluations_have_the_usual_format() {
        let cases = [
            (Score::Cp(35), "0.35"),
            (Score::Cp(-120), "-1.20"),
            (Score::Cp(0), "0.00"),
            (Score::Mate(3), "#3"),
            (Score::Mate(-2), "#-2"),
        ];
        for (score, expected) in cases {
            assert_eq!(evaluation(score), expected);
        }
    }
}
