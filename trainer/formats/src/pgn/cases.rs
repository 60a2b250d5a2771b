//! Games as people have them: what is read, what is refused, and where.
//!
//! Where a public report describes the case its address is named.

use crate::game::GameRecord;
use crate::score::ScoreSide;
use crate::testing::texts;

/// What a file reads as: the moves of each game in UCI, or what is wrong with it.
fn read(pgn: &str) -> Vec<String> {
    let all = texts(pgn);
    let one = |game: Result<GameRecord, crate::game::BrokenGame>| match game {
        Ok(game) => {
            let moves: Vec<String> = game.positions().map(|(board, played)| board.uci(played.mv)).collect();
            moves.join(" ")
        }
        Err(broken) => format!("line {}: {}", broken.line, broken.problem),
    };
    all.iter().map(|text| one(text.parse(None))).collect()
}

fn check(cases: &[(&str, &str, &[&str])]) {
    for (sentence, pgn, expected) in cases {
        assert_eq!(read(pgn), *expected, "{sentence}: {pgn}");
    }
}

#[test]
fn a_game_is_broken_at_the_word_that_cannot_be_read() {
    check(&[
        (
            "A game goes on behind a move that cannot be played (github.com/niklasf/python-chess/issues/365)",
            "1. d4 d5 2. Bb5 c6 3. e3 *",
            &["line 1: 2. Bb5: not a legal move (line 1)"],
        ),
        (
            "Letters before a number (github.com/mliebelt/pgn-parser/issues/463)",
            "1. e4 e5 2. Nf3 Nc6\naa3. Bb5 a6 *",
            &["line 1: 3. aa3.: expected a move (line 2)"],
        ),
        ("Something else in the middle", "1. e4 e5 xxxx 2. Nf3 *", &["line 1: 2. xxxx: expected a move (line 1)"]),
        ("Letters of pieces in lower case", "1. e4 e5 2. nf3 nc6 *", &["line 1: 2. nf3: expected a move (line 1)"]),
        ("Two languages in one game", "1. Nf3 Sf6 2. Nc3 *", &["line 1: 1... Sf6: expected a move (line 1)"]),
        ("A language that is not known", "1. e4 e5 2. Hf3 Hc6 *", &["line 1: 2. Hf3: expected a move (line 1)"]),
        ("Moves are missing", "1. e4 e5 3. Nf3 *", &["line 1: 2. Nf3: the number 3, expected 2 (line 1)"]),
        ("The beginning is missing", "15. e4 e5 *", &["line 1: 1. e4: the number 15, expected 1 (line 1)"]),
        (
            "A move that several pieces can make",
            "1. Nf3 a6 2. Nd4 a5 3. Nc3 a4 4. Nb5 *",
            &["line 1: 4. Nb5: an ambiguous move (line 1)"],
        ),
        (
            "A ) behind a word that cannot be played (github.com/niklasf/python-chess/pull/1204)",
            "1. e4 Nf3 ) e5 *",
            &["line 1: 1... Nf3: not a legal move (line 1)"],
        ),
        ("A ) without its (", "1. e4 e5) 2. Nf3 *", &["line 1: a ) that closes no variation (line 1)"]),
        (
            "A variation that never ends",
            "1. e4 e5 (1... c5\n2. Nf3 2. Nc3 Nc6 1-0",
            &["line 1: a variation that is never closed: expected a ) (line 1)"],
        ),
        ("A } without its {", "1. e4 } e5 *", &["line 1: 1... }: expected a move (line 1)"]),
        (
            "A command outside of a comment",
            "1. e4 [%clk 0:01:00] e5 *",
            &["line 1: 1... [%clk: expected a move (line 1)"],
        ),
        ("Two results", "1. e4 e5 1-0 0-1", &["line 1: 2. 0-1: a second result (line 1)"]),
        (
            "A promotion to nothing",
            "[FEN \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. a8 *",
            &["line 1: 1. a8: a promotion without a piece (line 3)"],
        ),
        (
            "A position that is missing",
            "[SetUp \"1\"]\n\n1. e4 e5 *",
            &["line 1: the SetUp tag says 1, expected a FEN tag too"],
        ),
        (
            "The name of the position's tag in lower case",
            "[fen \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. a8=Q *",
            &["a7a8q"],
        ),
        (
            "A tag without its end",
            "[FEN \"8/P6k/8/8/8/8/8/K7 w - - 0 1\n\n1. a8=Q *",
            &["line 1: expected a quote and a bracket at the end of the FEN tag"],
        ),
    ]);
}

#[test]
fn what_is_no_game_is_said_to_be_none() {
    let nothing = |what: &str| vec![format!("line 1: neither tags nor moves{what}")];
    assert_eq!(read("{\"error\": \"Not found\"}\n"), nothing(": it looks like JSON"));
    assert_eq!(read("*\n"), nothing(""));
    assert_eq!(read("1-0\n"), nothing(""));
    assert_eq!(read("<!DOCTYPE html>\n"), ["line 1: 1. <!DOCTYPE: expected a move (line 1)"]);
    assert_eq!(read("Some words.\n"), ["line 1: 1. Some: expected a move (line 1)"]);
    assert_eq!(read("\n \n"), [""; 0]);
}

#[test]
fn a_file_is_cut_where_its_games_end() {
    check(&[
        ("A comment with a blank line", "1. e4 {before\n\nbehind} e5 *\n", &["e2e4 e7e5"]),
        ("A comment that holds a result before a blank line", "1. e4 {ended 0-1\n\nd4 d5} e5 *\n", &["e2e4 e7e5"]),
        ("A comment that holds a line like a tag", "1. e4 {as in\n[Event \"Foo\"]\nor so} e5 *\n", &["e2e4 e7e5"]),
        (
            "A line of a comment that begins with a command (github.com/franciscoBSalgueiro/en-croissant/pull/107)",
            "[Event \"test\"]\n\n1. e4 f5 2. d4 g5 { a comment 1-0\n[%cal Ge7b7]} 3. Qh5# 1-0\n",
            &["e2e4 f7f5 d2d4 g7g5 d1h5"],
        ),
        (
            "A comment that never ends before the next game",
            "1. e4 {never closed\n\n[Event \"next\"]\n\n1. d4 *\n",
            &["line 1: unterminated comment: expected a } (line 1)", "d2d4"],
        ),
        (
            "A comment that never ends, and no blank line before the tags of the next game",
            "1. e4 {never closed 1-0\n[Event \"next\"]\n[Site \"?\"]\n\n1. d4 {closed} d5 *\n",
            &["line 1: unterminated comment: expected a } (line 1)", "d2d4 d7d5"],
        ),
        ("A comment of two lines behind the result", "1. e4 e5 1-0 {Black\nresigned}\n", &["e2e4 e7e5"]),
        (
            "A comment of two lines behind the result, and another game",
            "1. e4 e5 * {not\nended}\n\n1. d4 *\n",
            &["e2e4 e7e5", "d2d4"],
        ),
        ("A result within a variation", "1. e4 e5 (1... c5 1-0\n\n) 2. Nf3 *\n", &["e2e4 e7e5 g1f3"]),
        ("A result within a comment of a line", "1. e4 ; 1-0\n\n1... e5 *\n", &["e2e4 e7e5"]),
        (
            "Comments of a line before the tags (github.com/kevinludwig/pgn-parser/issues/4)",
            ";; <Paulsen // Raphael (R3.1) 25 1-0>\n\n[Event \"a\"]\n\n1. e4 *\n\n\n;; {next\n\n[Event \"b\"]\n\n1. d4 *\n; end\n",
            &["e2e4", "d2d4"],
        ),
        ("Games of one line each", "1. e4 e5 1-0\n1. d4 d5 0-1\n", &["e2e4 e7e5", "d2d4 d7d5"]),
        (
            "Tags and moves of a game in one line",
            "[Event \"a\"] [Result \"1-0\"] 1. e4 e5 1-0\n[Event \"b\"] [Result \"*\"] 1. d4 *\n",
            &["e2e4 e7e5", "d2d4"],
        ),
        (
            "Tags and moves of several games in one line",
            "[Event \"a\"] [Result \"1-0\"] 1. e4 {1-0 [Event \"c\"]} e5 1-0 [Event \"b\"] [Result \"*\"] 1. d4 * [Event \"c\"] 1. c4",
            &["e2e4 e7e5", "d2d4", "c2c4"],
        ),
        (
            "An escaped line, within a comment and outside of one",
            "1. e4 {\n% not escaped } e5\n% escaped {\n2. Nf3 *\n",
            &["e2e4 e7e5 g1f3"],
        ),
        (
            "A tag without quotes among others",
            "[Event \"a\"]\n[Variant \"Antichess\"]\n[WhiteElo 1500]\n[BlackElo \"1600\"]\n\n1. e3 b6 *\n",
            &["line 1: a game of Antichess"],
        ),
        (
            "Tags without moves, and no blank line before those of the next game",
            "[Event \"a\"]\n[White \"A\"]\n[Result \"1-0\"]\n[Event \"b\"]\n[White \"B\"]\n\n1. e4 *\n",
            &["", "e2e4"],
        ),
        (
            "A game that both lost",
            "[Result \"0-0\"]\n\n1. Nf3 Nf6 2. g3 g6 3. Bg2 0-0\n",
            &["g1f3 g8f6 g2g3 g7g6 f1g2"],
        ),
    ]);
}

/// The spellings of a move are in [`spelling`](super::spelling).
#[test]
fn spellings_of_a_game() {
    check(&[
        (
            "En passant with its mark behind a space (github.com/lichess-org/lila/issues/2441)",
            "1. e4 d5 2. e5 f5 3. exf6 e.p. gxf6 *",
            &["e2e4 d7d5 e4e5 f7f5 e5f6 g7f6"],
        ),
        (
            "Remarks between moves, and in commands of ChessBase (github.com/yo35/rpb-chessboard/issues/164)",
            "{[#]} 1. e4 $1 D e5 N 2. Nf3 += (2. f4 {x) y}) Nc6 +- RR *",
            &["e2e4 e7e5 g1f3 b8c6"],
        ),
        (
            "Four dots (github.com/yo35/rpb-chessboard/issues/142)",
            "1.e4 1....e5 2. ... ... Nf3 2...Nc6 *",
            &["e2e4 e7e5 g1f3 b8c6"],
        ),
        ("No numbers and no result", "e4 e5 Nf3", &["e2e4 e7e5 g1f3"]),
        (
            "No space before a number or a result",
            "1.e4! e5!?2.Bc4 a6 3.Bxf7+ Kxf7!?4.Nf3*",
            &["e2e4 e7e5 f1c4 a7a6 c4f7 e8f7 g1f3"],
        ),
        (
            "Numbers that begin at one in a later position",
            "[FEN \"8/P6k/8/8/8/8/8/K7 b - - 0 50\"]\n\n1... Kg7 2. a8=Q Kf7 *",
            &["h7g7 a7a8q g7f7"],
        ),
        ("A draw in other signs", "1. e4 e5 \u{BD}-\u{BD}", &["e2e4 e7e5"]),
    ]);
}

#[test]
fn tags_of_a_game() {
    for name in
        ["From Position", "Standard", "Classical", "regular", "Chess960", "Fischer Random", "Freestyle", "wild/fr"]
    {
        assert_eq!(read(&format!("[Variant \"{name}\"]\n\n1. e4 *")), ["e2e4"], "{name}");
    }
    for name in ["Atomic", "Three-check", "Crazyhouse", "Antichess", "King of the Hill"] {
        assert_eq!(read(&format!("[Variant \"{name}\"]\n\n1. e4 *")), [format!("line 1: a game of {name}")]);
    }
    let game = texts("[Event \"5th \"Mikis Theodorakis\" Open\"]\n[White \"A\"]\n\n1. e4 *")[0].parse(None).unwrap();
    assert_eq!(game.tags.event, "5th \"Mikis Theodorakis\" Open", "github.com/Disservin/chess-library/issues/242");
}

#[test]
fn scores_of_known_side_are_read_rightly_from_any() {
    let pgn = "1. e4 {d=9, wv=0.25} e5 {wv=-M3, d=9} 2. Nf3 {(a6 b6) +0.4/18} Nc6 {+0.10/9} *";
    let scores = |side| -> Vec<Option<i16>> {
        let game = texts(pgn)[0].parse(Some(side)).unwrap();
        game.moves.iter().map(|played| played.score.map(|score| score.0)).collect()
    };
    assert_eq!(scores(ScoreSide::Mover), [Some(25), Some(31_998), Some(40), Some(10)]);
    assert_eq!(scores(ScoreSide::White), [Some(25), Some(31_998), Some(40), Some(-10)]);
}
