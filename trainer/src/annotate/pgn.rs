//! Annotated games as PGN.
//!
//! Evaluations, arrows and squares are commands in comments, as in Lichess, ChessBase and Scid: `[%eval 0.35]` and
//! `[%eval #-3]` from White's side, `[%cal Gf1c4]`, `[%csl Re5]`. The better line is a variation. The game's own
//! glyphs, comments and variations stay; only a command that gets a new value is replaced.

use std::fmt;

use dyad_engine::board::Board;
use dyad_engine::search::Score;
use dyad_explain::sentence::Mark;
use dyad_formats::pgn::{Note, Variation, after_null_move};

use super::analysis::{Annotated, Mistake, Ply};
use crate::arena::pgn_writer::{Movetext, write_tags};

/// The value of the `Annotator` tag.
const ANNOTATOR: &str = concat!("Dyad ", env!("CARGO_PKG_VERSION"));

/// Writes the game, followed by an empty line.
impl fmt::Display for Annotated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = self.result.map_or("*".into(), |result| result.to_string());
        write_tags(f, &tags(self), &self.start, &result)?;
        let mut text = Movetext::default();
        write_notes(&mut text, &self.start, &self.foreword);
        for (board, ply) in self.positions() {
            write_ply(&mut text, &board, ply);
        }
        text.end(f, &result)
    }
}

/// The tags, with Dyad as the last annotator.
fn tags(game: &Annotated) -> Vec<(&str, String)> {
    let others = game.tags.iter().filter(|tag| !tag.0.eq_ignore_ascii_case("Annotator"));
    let before = game.tag("Annotator").map(|name| name.split("Dyad ").next().unwrap_or_default().trim());
    let annotator = match before.map(|name| name.trim_end_matches(';')).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name}; {ANNOTATOR}"),
        None => ANNOTATOR.to_string(),
    };
    others.map(|(name, value)| (name.as_str(), value.clone())).chain([("Annotator", annotator)]).collect()
}

/// The comment on a move, in pieces that are not broken across lines. `own` are the game's comments.
fn comment(own: &[&str], ply: &Ply) -> Vec<String> {
    let Some(analysis) = &ply.analysis else { return kept(own, &[]) };
    let mut new: Vec<String> = analysis.score.iter().map(|score| format!("[%eval {}]", evaluation(*score))).collect();
    let mistake = analysis.mistake.as_ref();
    new.extend(mistake.iter().flat_map(|mistake| marks(&mistake.explanation.marks)));
    let sentence = mistake.map(Mistake::words);
    // A game that was annotated before has the sentence.
    let without_sentence = |text: &&str| {
        let text = words(text).collect::<Vec<_>>().join(" ");
        sentence.as_ref().map_or(text.clone(), |sentence: &String| text.replace(sentence, ""))
    };
    let own: Vec<String> = own.iter().map(without_sentence).collect();
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let mut pieces = kept(&own, &new);
    pieces.extend(new);
    push_words(&mut pieces, sentence.as_deref().unwrap_or_default());
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
    let (mut squares, mut arrows) = (Vec::new(), Vec::new());
    for mark in marks {
        let color = if mark.good { "G" } else { "R" };
        match mark.to {
            None => squares.push(format!("{color}{}", mark.square)),
            Some(to) => arrows.push(format!("{color}{}{to}", mark.square)),
        }
    }
    let lists = [("csl", squares), ("cal", arrows)].into_iter().filter(|(_, list)| !list.is_empty());
    lists.map(|(name, list)| format!("[%{name} {}]", list.join(","))).collect()
}

/// Comments, as the one comment that they become, without the commands that are among the `new` ones, in pieces that
/// are not broken across lines.
fn kept(comments: &[&str], new: &[String]) -> Vec<String> {
    let name = |command: &str| command[2..].split([' ', ']']).next().unwrap_or_default().to_string();
    let mut pieces = Vec::new();
    for (text, command) in commands(&comments.join(" ")) {
        push_words(&mut pieces, text);
        if !command.is_empty() && !new.iter().any(|new| name(new) == name(command)) {
            pieces.push(words(command).collect::<Vec<_>>().join(" "));
        }
    }
    pieces
}

/// The commands of a comment, each with the text before it, and the rest of the text with an empty command.
fn commands(comment: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = comment;
    std::iter::from_fn(move || {
        let begin = rest.find("[%").unwrap_or(rest.len());
        let (begin, length) = rest[begin..].find(']').map_or((rest.len(), 0), |end| (begin, end + 1));
        let (text, command) = (&rest[..begin], &rest[begin..begin + length]);
        rest = &rest[begin + length..];
        (!text.is_empty() || !command.is_empty()).then_some((text, command))
    })
}

/// A comment without its commands.
pub fn without_commands(comment: &str) -> String {
    commands(comment).map(|(text, _)| text).collect()
}

/// The words of a comment; braces would end it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control() || c == '{' || c == '}').filter(|word| !word.is_empty())
}

/// Appends the words of a comment. One that would be a tag at the start of a line stays behind the word before it.
fn push_words(pieces: &mut Vec<String>, text: &str) {
    for word in words(text) {
        let is_like_tag = word.strip_prefix('[').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        match pieces.last_mut().filter(|_| is_like_tag) {
            Some(last) => *last = format!("{last} {word}"),
            None => pieces.push(word.to_string()),
        }
    }
}

/// Writes a move of the game with its notes, those of the analysis among them.
fn write_ply(text: &mut Movetext, board: &Board, ply: &Ply) {
    text.mv(board, Some(ply.mv));
    let variations = ply.notes.iter().position(|note| matches!(note, Note::Variation(_)));
    let (own, rest) = ply.notes.split_at(variations.unwrap_or(ply.notes.len()));
    let glyphs: Vec<u8> =
        own.iter().filter_map(|note| if let Note::Glyph(glyph) = note { Some(*glyph) } else { None }).collect();
    let comments: Vec<&str> =
        own.iter().filter_map(|note| if let Note::Comment(text) = note { Some(text.as_str()) } else { None }).collect();
    let is_judged = glyphs.iter().any(|glyph| (1..=6).contains(glyph));
    let judgement = ply.mistake().filter(|_| !is_judged).map(|mistake| mistake.judgement.nag());
    judgement.into_iter().chain(glyphs).for_each(|glyph| text.glyph(glyph));
    text.comment(&comment(&comments, ply));
    write_notes(text, board, rest);
    let better = ply.mistake().map(better_line);
    let has_line = |line: &Variation| {
        let moves = |line: &Variation| line.moves.iter().map(|(mv, _)| *mv).collect::<Vec<_>>();
        rest.iter().any(|note| matches!(note, Note::Variation(own) if moves(own) == moves(line)))
    };
    if let Some(line) = better.filter(|line| !has_line(line)) {
        write_variation(text, board, &line);
    }
}

/// Writes notes; `board` is the position before the move that they follow.
fn write_notes(text: &mut Movetext, board: &Board, notes: &[Note]) {
    for note in notes {
        match note {
            Note::Glyph(glyph) => text.glyph(*glyph),
            Note::Comment(comment) => text.comment(&kept(&[comment], &[])),
            Note::Variation(variation) => write_variation(text, board, variation),
        }
    }
}

fn write_variation(text: &mut Movetext, board: &Board, variation: &Variation) {
    let mut board = *board;
    text.open();
    write_notes(text, &board, &variation.foreword);
    for (mv, notes) in &variation.moves {
        text.mv(&board, *mv);
        write_notes(text, &board, notes);
        board = match mv {
            Some(mv) => board.after(*mv),
            None => after_null_move(&board).expect("a null move that was read"),
        };
    }
    text.close();
}

/// The better line as a variation.
fn better_line(mistake: &Mistake) -> Variation {
    let mut line =
        Variation { foreword: Vec::new(), moves: mistake.line.iter().map(|&mv| (Some(mv), vec![])).collect() };
    if let Some((_, notes)) = line.moves.last_mut() {
        let evaluation = format!("[%eval {}]", evaluation(mistake.better));
        let commands: Vec<String> = std::iter::once(evaluation).chain(marks(&mistake.explanation.goal)).collect();
        notes.push(Note::Comment(commands.join(" ")));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::testing::{MISTAKES, annotated};
    use dyad_engine::board::Move;
    use dyad_formats::testing::texts;

    #[test]
    fn written_games_are_read_back() {
        let game = annotated(MISTAKES, 2_000);
        let text = game.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 79 && !line.starts_with("[%")), "{text}");
        let texts = texts(&text);
        assert_eq!(texts.len(), 1);
        let record = texts[0].parse(None).unwrap();
        let moves: Vec<Move> = record.moves.iter().map(|played| played.mv).collect();
        assert!(moves.iter().eq(game.plies.iter().map(|ply| &ply.mv)));
        assert_eq!(record.result, game.result);
        let notes = texts[0].notes();
        let annotator = ("Annotator", concat!("Dyad ", env!("CARGO_PKG_VERSION")));
        for tag in [("ECO", "C20"), ("Round", "?"), ("White", "A \"quoted\" {name}"), annotator] {
            let tag = (tag.0.to_string(), tag.1.to_string());
            assert!(notes.tags.contains(&tag), "{tag:?} in {text}");
        }
        // Each move has its evaluation in place of the game's own.
        let comment = |ply: usize| {
            let texts = notes.moves[ply + 1].iter().filter_map(|note| match note {
                Note::Comment(text) => Some(text.as_str()),
                _ => None,
            });
            texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
        };
        for ply in 0..moves.len() {
            let ends = ply + 1 == moves.len();
            assert_eq!(comment(ply).matches("[%eval ").count(), usize::from(!ends), "{}", comment(ply));
        }
        assert_eq!(notes.moves[0], [Note::Comment("a word before".to_string())]);
        assert!(comment(0).starts_with("the king's pawn [%clk 0:03:00] [%eval "), "{}", comment(0));
        assert!(!text.contains("[%eval 9.99]"), "{text}");
        // The blunder: its glyph, its explanation, and the better line.
        assert!(text.contains("Nf6 $4"), "{text}");
        assert!(
            comment(5).contains("Blunder. ") && comment(5).contains("3... Nf6 allows mate: 4. Qxf7#; "),
            "{}",
            comment(5)
        );
        assert!(text.replace('\n', " ").contains(") 4. Qxf7#"), "{text}");
    }

    /// What the game had is still there, in its place, and an annotated game stays as it is.
    #[test]
    fn notes_of_the_game_are_kept() {
        let pgn = "[White \"A\"]\n[Annotator \"\u{7}B\"]\n[X-Y \"1\"]\n\n{[#] first} 1. e4 {[%csl Gd4][%cal Re2e4] [%clk 0:03:00]} \
            e5!? $14 {solid} (1... c5 {Sicilian [%cal Gc5d4]} 2. Nf3 $1 (2. c3 d5) d6 ; to the end\n3. d4) \
            (1... -- 2. d4) {see [Ref 3] [1]} 2. Qh5 Nc6 3. Bc4 Nf6?! {hm [%csl Ra1]} 4. Qxf7# {mate} 1-0\n";
        let first = annotated(pgn, 2_000).to_string();
        for expected in [
            "[Annotator \"B; Dyad ",
            "[X-Y \"1\"]",
            "{[#] first} 1. e4 {[%csl Gd4] [%cal Re2e4] [%clk 0:03:00] [%eval ",
            "e5 $5 $14 {solid [%eval ",
            "( 1... c5 {Sicilian [%cal Gc5d4]} 2. Nf3 $1 ( 2. c3 d5 ) 2... d6 {to the end} 3. d4 )",
            "( 1... -- 2. d4 ) {see [Ref 3] [1]} 2. Qh5",
            "Nf6 $6 {hm [%eval ",
            "Qxf7# {mate} 1-0",
        ] {
            let line = first.replace('\n', " ");
            assert!(line.contains(expected), "{expected}\n{first}");
        }
        // The blunder has squares of its own.
        assert!(first.contains("[%csl R") && !first.contains("Ra1"), "{first}");
        assert_eq!(annotated(&first, 2_000).to_string(), first);
    }

    #[test]
    fn chess960_keeps_its_position() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n[Variant \"chess 960\"]\n[SetUp \"1\"]\n\
            [FEN \"4rkr1/8/8/8/8/8/8/RK5R w HAge - 0 1\"]\n[Result \"1/2-1/2\"]\n\n1. O-O-O O-O 1/2-1/2\n";
        let game = annotated(pgn, 1_000);
        let text = game.to_string();
        let record = texts(&text)[0].parse(None).unwrap();
        assert_eq!(record.start.fen(), game.start.fen());
        assert_eq!(record.moves.len(), 2);
        assert!(text.contains("[Variant \"chess 960\"]") && text.contains("[SetUp \"1\"]"), "{text}");
        assert_eq!(text.matches("[FEN ").count(), 1);

        // A variant that was added is written in the same place again.
        let added = annotated(&pgn.replace("[Variant \"chess 960\"]\n", "[Opening \"?\"]\n"), 1_000).to_string();
        assert!(added.contains("[Variant \"Chess960\"]\n[SetUp \"1\"]"), "{added}");
        assert_eq!(annotated(&added, 1_000).to_string(), added);

        // Names differ in case alone: the first counts, and it is written once.
        let twice = pgn.replacen("[Variant \"chess 960\"]", "[VARIANT \"\"]\n[Variant \"Atomic\"]\n[opening \"?\"]", 1);
        let once = annotated(&twice, 1_000).to_string();
        assert!(once.contains("[Variant \"\"]") && !once.contains("Atomic"), "{once}");
        assert_eq!(annotated(&once, 1_000).to_string(), once);
    }

    #[test]
    fn other_commands_are_kept() {
        let new = |names: &[&str]| names.iter().map(|name| format!("[%{name} x]")).collect::<Vec<_>>();
        let all = |text: &str| kept(&[text], &new(&["eval", "cal", "csl"])).join(" ");
        assert_eq!(all("good [%eval 0.3,20] [%clk 1:00:00]\n move"), "good [%clk 1:00:00] move");
        assert_eq!(all("[%csl Ga1][%cal Ra1b2]"), "");
        assert_eq!(kept(&["[%csl Ga1][%cal Ra1b2]"], &new(&["cal"])), ["[%csl Ga1]"]);
        assert_eq!(all("[%evaluation x] [% open [#]"), "[%evaluation x] [% open [#]");
        assert_eq!(all("a}b \u{1b}c"), "a b c");
        // A command that one comment leaves open is closed by the next.
        assert_eq!(kept(&["[%clk 0:01 now", "\"x\"] then"], &[]), ["[%clk 0:01 now \"x\"]", "then"]);
        // No line may begin like a tag.
        assert_eq!(kept(&["[Event \"x\"] [%x [y] [z] [1"], &[]), ["[Event", "\"x\"]", "[%x [y] [z]", "[1"]);
    }
}
