//! Games from PGN files, one at a time, so that a file of any size can be read.
//!
//! Real collections are dirty: braces that never close, moves that cannot be played, results that contradict themselves. A
//! broken game costs that game and nothing else, and is reported so that it can be found. So a file is first cut into
//! games by its lines ([`GameTexts`]), and each game is read by itself, on any thread.
//!
//! A game that was never played is worse than one that is missing. So nothing is skipped: each word of the main line is
//! a move, its number, a glyph, a result or one of a few known remarks, and otherwise the game is broken at that word.
//! A move is read in any spelling that means one legal move, and numbers of moves must count.

#[cfg(test)]
mod cases;
mod cutter;
mod notes;
mod reader;
mod spelling;
mod words;

use std::path::Path;
use std::sync::Arc;

pub use cutter::GameTexts;
use cutter::LARGEST_GAME;
pub use notes::{Note, Notes, Variation, after_null_move};
use reader::{Read, Reader};

use crate::error::Error;
use crate::game::{BrokenGame, GameRecord};
use crate::input::{Kind, decode};
use crate::score::ScoreSide;

/// The text of a game and its place.
#[derive(Clone, Debug)]
pub struct GameText {
    /// The file.
    pub path: Arc<Path>,
    /// Its first line.
    pub line: u64,
    text: Vec<u8>,
    oversized: bool,
}

/// From whose side the scores in the comments of a file are: two scores in a row agree if they are White's, and are
/// opposite if they are the movers'. Scores in a form that is always White's do not count. None if the first games of
/// the file do not show it.
///
/// # Errors
/// When the file cannot be read.
fn side_of_scores(path: &Path) -> Result<Option<ScoreSide>, Error> {
    const GAMES: usize = 200;
    const PAIRS: usize = 20;
    /// A mate weighs as much as a queen.
    const LARGEST: f64 = 10.0;
    /// Where all pairs agree, or are opposite, the sum of their products is the one without signs.
    const CLEAR: f64 = 0.5;
    let mut products = Vec::new();
    for text in GameTexts::open(path)?.take(GAMES) {
        let Ok(read) = text?.read(Some(ScoreSide::Mover), false) else { continue };
        let is_white = |number: usize| read.white_scores.binary_search(&number).is_ok();
        let scores = read.moves.iter().enumerate().map(|(number, played)| played.score.filter(|_| !is_white(number)));
        let scores: Vec<_> = scores.map(|score| Some(score?.pawns().clamp(-LARGEST, LARGEST))).collect();
        products
            .extend(scores.windows(2).filter_map(|pair| Some(pair[0]? * pair[1]?)).filter(|&product| product != 0.0));
    }
    let whole: f64 = products.iter().map(|product| product.abs()).sum();
    Ok(match products.iter().sum::<f64>() / whole {
        share if products.len() < PAIRS || share.abs() < CLEAR => None,
        share if share > 0.0 => Some(ScoreSide::White),
        _ => Some(ScoreSide::Mover),
    })
}

/// Refuses to read the scores of files from another side than the one they are given from.
///
/// # Errors
/// When that is clear from the first games of a file, and when a file cannot be read.
pub fn check_side<'a>(paths: impl IntoIterator<Item = &'a Path>, side: ScoreSide) -> Result<(), Error> {
    for path in paths.into_iter().filter(|path| Kind::of(path) == Kind::Games) {
        let problem = match side_of_scores(path)? {
            Some(ScoreSide::White) if side == ScoreSide::Mover => "White's side, not the mover's: use --scores white",
            Some(ScoreSide::Mover) if side == ScoreSide::White => "the mover's side, not White's: use --scores mover",
            _ => continue,
        };
        return Err(Error::content(path, "the scores", format!("they are given from {problem}")));
    }
    Ok(())
}

impl GameText {
    /// Reads the game. Scores in comments are read only when it is known from whose side.
    ///
    /// # Errors
    /// When the game is broken: at which word and why.
    pub fn parse(&self, scores: Option<ScoreSide>) -> Result<GameRecord, BrokenGame> {
        let Read { tags, start, moves, result, .. } =
            self.read(scores, false).map_err(|problem| self.broken(problem))?;
        Ok(GameRecord { tags, start, moves, result })
    }

    /// The text of the game as it was read.
    pub fn text(&self) -> String {
        decode(&self.text).into_owned()
    }

    /// The notes of the game besides its moves. They are complete if the game [can be read](GameText::parse).
    pub fn notes(&self) -> Notes {
        self.read(None, true).map(|read| read.notes).unwrap_or_default()
    }

    fn broken(&self, problem: String) -> BrokenGame {
        BrokenGame { path: self.path.to_path_buf(), line: self.line, problem }
    }

    fn read(&self, scores: Option<ScoreSide>, keeps_notes: bool) -> Result<Read, String> {
        match self.oversized {
            true => Err(format!("more than {LARGEST_GAME} bytes before the next game begins")),
            false => Reader::new(self, scores, keeps_notes).read(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::input::Lines;
    use crate::score::{GameResult, Score};
    use crate::testing::{MATE, SPECIAL, Temporary, texts};
    use std::io::Cursor;

    fn parse(pgn: &str) -> Result<GameRecord, String> {
        let texts = texts(pgn);
        assert_eq!(texts.len(), 1, "{pgn}");
        texts[0].parse(Some(ScoreSide::Mover)).map_err(|broken| broken.to_string())
    }

    /// An `[%eval]` is of the position after its move, so of the one in which the next move is played.
    #[test]
    fn evaluations_of_positions_go_to_the_next_move() {
        let game = parse("1. e4 {[%eval 0.25]} e5 {[%eval #-3]} 2. Nf3 {+0.50/12} Nc6 3. Bb5 {[%eval 9]} *").unwrap();
        let scores: Vec<_> = game.moves.iter().map(|played| played.score.map(|score| score.0)).collect();
        assert_eq!(scores, [None, Some(-25), Some(50), None, None]);
        let game = parse("1. e4 {[%eval 0.25]} e5 {[%eval #-3]} 2. Nf3 Nc6 *").unwrap();
        assert_eq!(game.moves[2].score, Some(Score(-31_997)));
    }

    #[test]
    fn the_side_of_scores_is_found_in_the_games() {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        // A game of knights that come and go, with White ahead by more and more.
        let file = |sign: [f64; 2]| {
            let moves = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle().take(40).enumerate();
            let score = |ply: usize| sign[ply % 2] * (0.1 + ply as f64 / 20.0);
            moves.map(|(ply, mv)| format!("{mv} {{{:+.2}/5}} ", score(ply))).collect::<String>() + "*\n"
        };
        for (sign, side) in
            [([1.0, 1.0], Some(ScoreSide::White)), ([1.0, -1.0], Some(ScoreSide::Mover)), ([0.0, 1.0], None)]
        {
            std::fs::write(&path, file(sign)).unwrap();
            assert_eq!(side_of_scores(&path).unwrap(), side, "{sign:?}");
        }
        std::fs::write(&path, MATE).unwrap();
        assert_eq!(side_of_scores(&path).unwrap(), None);
        // Those in a form that is always White's show nothing of the others.
        let marked = file([1.0, 1.0]).replace('{', "{[%eval ").replace("/5}", "]}");
        for (text, side) in [(marked.clone(), None), (marked + "\n" + &file([1.0, -1.0]), Some(ScoreSide::Mover))] {
            std::fs::write(&path, &text).unwrap();
            assert_eq!(side_of_scores(&path).unwrap(), side, "{text}");
        }
        assert!(check_side([path.as_path()], ScoreSide::Mover).is_ok());
        let error = check_side([path.as_path()], ScoreSide::White).unwrap_err().to_string();
        assert!(error.contains("games.pgn, the scores: they are given from the mover's side"), "{error}");
    }

    #[test]
    fn special_moves_replay() {
        let game = parse(SPECIAL).unwrap();
        assert_eq!(game.moves.len(), 30);
        assert_eq!(game.result, Some(GameResult::BlackWins));
        assert_eq!(game.tags.ratings, [Some(1500), Some(1700)]);
        assert_eq!(game.tags.event, "Rated Blitz game 300+2");
        let moves: Vec<String> = game.positions().map(|(board, played)| board.uci(played.mv)).collect();
        for (ply, mv) in [(4, "e5d6"), (10, "e1g1"), (15, "a4b3"), (19, "c2b1n"), (27, "e8c8")] {
            assert_eq!(moves[ply], mv, "ply {ply}");
        }
    }

    #[test]
    fn chess960_replays() {
        let pgn = |variant: &str, fen: &str, moves: &str| {
            format!("[Variant \"{variant}\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n[Result \"*\"]\n\n{moves} *\n")
        };
        let x_fen = "4rkr1/8/8/8/8/8/8/RK5R w KQkq - 0 1";
        let shredder = "4rkr1/8/8/8/8/8/8/RK5R w HAge - 0 1";
        for (variant, fen) in
            [("Chess960", x_fen), ("chess 960", shredder), ("fischerandom", shredder), ("Standard", x_fen)]
        {
            let game = parse(&pgn(variant, fen, "1. O-O-O O-O")).unwrap();
            let texts: Vec<String> = game.positions().map(|(board, played)| board.uci(played.mv)).collect();
            assert_eq!(texts, ["b1a1", "f8g8"]);
            let last = game.positions().last().map(|(board, played)| board.after(played.mv).fen());
            assert_eq!(last.as_deref(), Some("4rrk1/8/8/8/8/8/8/2KR3R w - - 2 2"));
        }
        // The rook that is not the outermost.
        let game = parse(&pgn("Chess960", "4k3/8/8/8/8/8/8/1R1RK3 w D - 0 1", "1. O-O-O Ke7")).unwrap();
        assert_eq!(game.positions().nth(1).unwrap().0.fen(), "4k3/8/8/8/8/8/8/1RKR4 b - - 1 1");
    }

    #[test]
    fn remarks_belong_to_the_move_before_and_to_a_side() {
        for (side, expected) in [
            (Some(ScoreSide::Mover), [Some(35), Some(-10), None, Some(31_994), Some(-31_998)]),
            (Some(ScoreSide::White), [Some(35), Some(10), None, Some(-31_994), Some(-31_998)]),
            (None, [None; 5]),
        ] {
            let game = texts(SPECIAL)[0].parse(side).unwrap();
            let scores: Vec<Option<i16>> = game.moves.iter().map(|played| played.score.map(|score| score.0)).collect();
            assert_eq!(scores[..5], expected, "{side:?}");
            let books: Vec<usize> = (0..game.moves.len()).filter(|&ply| game.moves[ply].book).collect();
            assert_eq!(books, [2], "{side:?}");
        }
    }

    /// The client of OpenBench writes no move numbers and a comment after every move: score, depth, and the comment
    /// that the engine asked for.
    #[test]
    fn openbench_writes_without_numbers() {
        let pgn = "[Event \"?\"]\n[White \"Dyad-main\"]\n[Black \"Dyad-test\"]\n[Result \"1-0\"]\n[ScaleFactor \"1.0\"]\n\n\
            e4 {book} e5 {+0.35/20, line=second d7d5 gap 23} Bc4 {unknown} Nc6 {-0.10/9} Qh5 {+1.20/31} Nf6 {-M2/8} \
            Qxf7# {+M1/12} 1-0\n";
        let game = parse(pgn).unwrap();
        let scores: Vec<Option<i16>> = game.moves.iter().map(|played| played.score.map(|score| score.0)).collect();
        let mate = |moves| Some(Score::mate(moves).0);
        assert_eq!(scores, [None, Some(35), None, Some(-10), Some(120), mate(-1), mate(1)]);
        assert!(game.moves[0].book && !game.moves[1].book);
        assert_eq!(game.result, Some(GameResult::WhiteWins));
    }

    /// A line may have any number of games.
    #[test]
    fn games_on_a_long_line_are_read() {
        let game = |number: usize| format!("[Event \"{number}\"] 1. e4 {{a long comment}} e5 2. Nf3 1-0 ");
        let line: String = (0..40_000).map(game).collect();
        assert!(line.len() > 2 << 20);
        let texts = texts(&format!("{line}\n[Event \"last\"]\n\n1. d4 *\n"));
        assert_eq!(texts.len(), 40_001);
        for (number, text) in texts.iter().enumerate().step_by(97) {
            let expected = game(number);
            assert_eq!(std::str::from_utf8(&text.text).unwrap().trim(), expected.trim(), "{number}");
            assert!(text.line == 1 && text.parse(None).is_ok());
        }
        assert_eq!(texts[40_000].line, 2);
        // A game that is longer costs itself.
        let long = format!("[Event \"long\"] 1. e4 {{{}}} e5 1-0", "x".repeat(3 * LARGEST_GAME));
        let pgn = format!("[Event \"a\"] 1. c4 1-0 {long} [Event \"b\"] 1. d4 1-0\n");
        let read: Vec<bool> = crate::testing::texts(&pgn).iter().map(|text| text.parse(None).is_ok()).collect();
        assert_eq!(read, [true, false, true]);
    }

    #[test]
    fn broken_games_tell_where_and_why() {
        let cases = [
            ("1. e4 e5 2. Ke3 1-0", "2. Ke3: "),
            ("1. e4 e5 2. Nf3 Nc6 3. Bb5 Nge7 4. Nc3 Nd4 5. Nd5 O-O 1-0", "5... O-O: "),
            ("1. e4 -- 2. d4 1-0", "1... --: a null move"),
            ("1. e4 e5 {never closed", "unterminated comment"),
            ("1. e4 e5 1-0 2. Nf3", "1 moves after the result"),
            ("[Result \"1-0\"]\n\n1. e4 e5 0-1", "result tag says 1-0, the moves end in 0-1"),
            (
                "[Result \"0-1\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 0-1",
                "result is 0-1, on the board it is 1-0",
            ),
            ("[FEN \"8/8/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. Kb2 *", "FEN tag: Black has 0 kings"),
            ("[Variant \"Crazyhouse\"]\n\n1. e4 *", "a game of Crazyhouse"),
            ("[Variant \"Crazyhouse\"]\n[Variant \"Standard\"]\n\n1. e4 *", "a game of Crazyhouse"),
        ];
        for (pgn, expected) in cases {
            let error = parse(pgn).err().unwrap_or_else(|| panic!("{pgn} was read"));
            assert!(error.starts_with("games.pgn:1: ") && error.contains(expected), "{pgn}: {error}");
        }
    }

    #[test]
    fn a_broken_game_costs_only_itself() {
        let pgn = format!(
            "{MATE}\n[White \"broken\"]\n\n1. e4 {{unclosed\n\n{MATE}\n\n1. d4 d5 *\n\n1. c4 *\n[White \"tight\"]\n1. Nf3 1-0\n\n\n{SPECIAL}"
        );
        let texts = texts(&pgn);
        let lines: Vec<u64> = texts.iter().map(|text| text.line).collect();
        assert_eq!(lines, [1, 9, 13, 22, 24, 25, 29]);
        let plies: Vec<Option<usize>> =
            texts.iter().map(|text| text.parse(None).ok().map(|game| game.moves.len())).collect();
        assert_eq!(plies, [Some(7), None, Some(7), Some(2), Some(1), Some(1), Some(30)]);
    }

    #[test]
    fn a_game_of_tags_alone_costs_only_itself() {
        let pgn = "[Event \"a\"]\n[Result \"1-0\"]\n\n[Event \"b\"]\n[Result \"0-1\"]\n\n1. e4 e5 0-1\n\n\
            [Event \"c\"]\n\n\n[Event \"d\"]\n\n1. d4 *\n\n[Event \"e\"]\n\n[White \"parted\"]\n\n1. c4 c5 *\n\n\
            [Event \"f\"]\n[Event \"twice\"]\n\n1. g3 *\n\n[Event \"g\"]\n";
        let games: Vec<String> = texts(pgn)
            .iter()
            .map(|text| {
                let game = text.parse(None).unwrap();
                format!("{} {} {}", text.line, game.tags.event, game.moves.len())
            })
            .collect();
        assert_eq!(games, ["1 a 0", "4 b 2", "9 c 0", "12 d 1", "16 e 2", "22 f 1", "27 g 0"]);
    }

    #[test]
    fn garbage_is_refused_without_harm() {
        const GARBAGE: &[u8] = b" \n\n[]\"{}()1.e45Nf3O-KQ*/x=+#;%\\\xFF\xC2\xBD";
        let mut word = 7;
        for length in 0..400 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    word = hash::mix(word);
                    GARBAGE[word as usize % GARBAGE.len()]
                })
                .collect();
            let path = Path::new("garbage.pgn");
            for text in GameTexts::new(Lines::new(Box::new(Cursor::new(bytes)), path), path) {
                let _ = text.expect("memory can be read").parse(Some(ScoreSide::White));
            }
        }
        let huge = format!("1. e4 {{{}}} e5 *", "x\n".repeat(LARGEST_GAME));
        assert!(parse(&huge).unwrap_err().contains("more than"));
        // A file with a byte order mark behind another one.
        let games = texts(&format!("{MATE}\n\u{FEFF}[Event \"a\"]\n[Site \"b\"]\n\n1. e4 *\n")).into_iter();
        let games: Vec<_> = games.map(|game| game.parse(None).unwrap()).collect();
        assert_eq!(games.len(), 2);
        assert_eq!(games[1].tags.event, "a");
        // Tags that are too long, in one line or in two.
        for tags in [vec![LARGEST_GAME], vec![LARGEST_GAME / 2 + 100; 2]] {
            let tags: String = tags.into_iter().map(|length| format!("[Event \"{}\"]\n", "x".repeat(length))).collect();
            let games = texts(&format!("{tags}\n[Site \"y\"]\n[Event \"z\"]\n\n1. e4 *\n\n{MATE}"));
            let last = games.last().unwrap().parse(None).unwrap();
            assert_eq!(last.result, Some(GameResult::WhiteWins));
        }
    }

    #[test]
    fn notes_are_a_tree() {
        let glyph = Note::Glyph;
        let comment = |text: &str| Note::Comment(text.to_string());
        let pgn = "[Event \"a \\\"quoted\\\" name\"]\n[ECO \"C20\"]\n\n{before} 1. e4! {one} {two}\n\
            ({in place} 1. d4?! {good} Nf6 $14 (1... d5 2. c4 = (2. -- a6 3. e4) e5) 2. c4 ; a rest\n) e5 $6 +/- N\n\
            2. Nf3 {[%clk 0:01:00]} (2. Nc3 Nc6 3. Ke3 {lost} (3. a3)) () ({alone}) *\n";
        let notes = texts(pgn)[0].notes();
        let tags: Vec<(&str, &str)> = notes.tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(tags, [("Event", "a \"quoted\" name"), ("ECO", "C20")]);
        assert_eq!(notes.moves.len(), 4);
        assert_eq!(notes.moves[0], [comment("before")]);
        assert_eq!(notes.moves[1][..3], [glyph(1), comment("one"), comment("two")]);
        assert_eq!(notes.moves[2], [glyph(6), glyph(16), glyph(146)]);
        let Note::Variation(variation) = &notes.moves[1][3] else { panic!("{:?}", notes.moves[1]) };
        assert_eq!(variation.foreword, [comment("in place")]);
        assert_eq!(variation.moves.len(), 3);
        assert_eq!(variation.moves[0].1, [glyph(6), comment("good")]);
        assert_eq!(variation.moves[2].1, [comment("a rest")]);
        let Note::Variation(nested) = &variation.moves[1].1[1] else { panic!("{variation:?}") };
        assert_eq!(nested.moves.len(), 3);
        let Note::Variation(innermost) = &nested.moves[1].1[1] else { panic!("{nested:?}") };
        assert_eq!(innermost.moves.iter().map(|(mv, _)| mv.is_some()).collect::<Vec<_>>(), [false, true, true]);
        // What cannot be played stays as a comment.
        let Note::Variation(broken) = &notes.moves[3][1] else { panic!("{:?}", notes.moves[3]) };
        assert_eq!((broken.moves.len(), &broken.moves[1].1), (2, &vec![comment("Ke3 {lost} (3. a3)")]));
        assert_eq!(notes.moves[3][2..], [comment("alone")]);
        assert_eq!(texts(SPECIAL)[0].notes().moves.len(), 31);
        let deep = format!("1. e4 {} *", "(1. d4 ".repeat(10_000) + &")".repeat(10_000));
        assert_eq!(texts(&deep)[0].notes().moves[1].len(), 1);
    }

    #[test]
    fn the_hash_knows_the_moves_and_nothing_else() {
        let hash = |pgn: &str| parse(pgn).unwrap().hash();
        assert_eq!(hash("1. e4 e5 *"), hash("[White \"X\"]\n\n1.e4 {book} e5 1-0"));
        assert_ne!(hash("1. e4 e5 *"), hash("1. e4 e6 *"));
        assert_ne!(hash("1. e4 e5 *"), hash("1. e4 e5 2. d4 *"));
    }
}
