//! Why: what pieces and pairs are worth, why a move is worse than another, annotated games.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::{Board, Game, Move, PieceSquare, color_name, piece_name, sign};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::Score;
use dyad_explain::evaluation::{PawnScale, Source, contributions, piece_values, reasons, white_centipawns};
use dyad_explain::line::sans;
use dyad_explain::sentence::{self, Mark, Place};
use dyad_formats::game::BrokenGame;
use dyad_formats::input::Lines;
use dyad_formats::pgn::{GameTexts, Note};
use dyad_trainer::annotate::analysis::{Analyst, annotate_game, examine};
use dyad_trainer::annotate::judgement::Judgement;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::play::{Play, ScoreOut, letter, square_named};

/// Pairs that are shown, and the smallest one in pawns.
const PAIRS: usize = 8;
const MIN_PAIR: f64 = 0.02;
/// Nodes of [`why`] by default: some 150 ms, and four times as long for a mistake.
const WHY_NODES: u64 = 60_000;
/// Nodes of a move at most.
const MAX_NODES: u64 = 1_000_000;

/// A piece on its square.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PieceOut {
    square: String,
    piece: String,
}

/// What a piece is worth, in pawns, for its own side.
#[derive(Clone, Debug, Serialize)]
struct PieceValue {
    #[serde(flatten)]
    piece: PieceOut,
    /// The evaluation minus that without the piece.
    worth: f64,
}

/// Two pieces together, in pawns from White's view.
#[derive(Clone, Debug, Serialize)]
struct PairOut {
    a: PieceOut,
    b: PieceOut,
    pawns: f64,
    text: String,
}

/// A group of features, in pawns from White's view.
#[derive(Clone, Debug, Serialize)]
struct GroupOut {
    family: &'static str,
    about: &'static str,
    white: f64,
    black: f64,
    total: f64,
}

/// The static evaluation in parts.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    score: ScoreOut,
    pieces: Vec<PieceValue>,
    pairs: Vec<PairOut>,
    groups: Vec<GroupOut>,
}

/// The pairs of one piece.
#[derive(Clone, Debug, Serialize)]
pub struct Hint {
    #[serde(flatten)]
    piece: PieceOut,
    pairs: Vec<PairOut>,
}

/// Why a move is good or bad.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    san: String,
    best: String,
    judgement: Option<&'static str>,
    glyph: Option<&'static str>,
    score: Option<ScoreOut>,
    best_score: Option<ScoreOut>,
    /// The explanation, one or two sentences.
    pub sentence: String,
    line: Vec<String>,
    marks: Vec<MarkOut>,
}

/// An arrow, or a square without `to`.
#[derive(Clone, Debug, Serialize)]
struct MarkOut {
    from: String,
    to: Option<String>,
    good: bool,
}

/// Games of a PGN.
#[derive(Clone, Debug, Serialize)]
pub struct Games {
    games: Vec<GameOut>,
    problems: Vec<String>,
}

/// A game of a PGN.
#[derive(Clone, Debug, Serialize)]
struct GameOut {
    tags: BTreeMap<String, String>,
    start: String,
    chess960: bool,
    moves: Vec<MoveOut>,
    result: Option<String>,
    /// The text of the game, whose notes an annotation keeps.
    text: String,
}

/// A move of a game, with the notes after it.
#[derive(Clone, Debug, Serialize)]
struct MoveOut {
    uci: String,
    san: String,
    comment: String,
    /// Moves in its place.
    variations: Vec<Vec<MoveOut>>,
}

impl MoveOut {
    fn new(board: &Board, mv: Move, notes: &[Note]) -> MoveOut {
        let comments = notes.iter().filter_map(|note| if let Note::Comment(text) = note { Some(text) } else { None });
        let words: Vec<String> = comments.map(|text| without_commands(text)).collect();
        let comment = words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        let variations = notes.iter().filter_map(|note| match note {
            Note::Variation(line) => Some(MoveOut::line(*board, &line.moves)),
            _ => None,
        });
        let variations = variations.filter(|line| !line.is_empty()).collect();
        MoveOut { uci: board.uci(mv), san: board.san(mv), comment, variations }
    }

    /// The moves of a variation, up to a null move.
    fn line(mut board: Board, moves: &[(Option<Move>, Vec<Note>)]) -> Vec<MoveOut> {
        let moves = moves.iter().map_while(|(mv, notes)| Some(((*mv)?, notes)));
        let one = moves.map(|(mv, notes)| {
            let made = MoveOut::new(&board, mv, notes);
            board = board.after(mv);
            made
        });
        one.collect()
    }
}

/// A comment without commands as `[%clk 0:03:00]`.
fn without_commands(comment: &str) -> String {
    let mut parts = comment.split("[%");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once(']').map_or("", |(_, rest)| rest))
}

fn piece_out(piece: PieceSquare) -> PieceOut {
    PieceOut { square: piece.square.to_string(), piece: letter(piece.piece, piece.color) }
}

/// Explains the static evaluation of a position.
#[must_use]
pub fn explain(weights: &Arc<Weights>, board: &Board) -> Explanation {
    let scale = PawnScale::new(weights, board);
    let pawns = |sums| scale.pawns(sums);
    let pieces = piece_values(weights, board)
        .into_iter()
        .map(|(piece, white)| PieceValue { piece: piece_out(piece), worth: f64::from(sign(piece.color)) * white });
    let all = reasons(weights, board, usize::MAX);
    let groups = contributions(weights, board).into_iter().map(|(group, contribution)| GroupOut {
        family: group.family.name(),
        about: group.about,
        white: pawns(contribution.white),
        black: pawns(contribution.black),
        total: pawns(contribution.total()),
    });
    Explanation {
        score: ScoreOut::white(Score::Cp(white_centipawns(weights, board))),
        pieces: pieces.collect(),
        pairs: all.iter().filter_map(|reason| pair_out(&reason.source, reason.pawns)).take(PAIRS).collect(),
        groups: groups.filter(|group| group.white != 0.0 || group.black != 0.0).collect(),
    }
}

/// The pairs of the piece on a square, largest first.
///
/// # Errors
/// For names that are no square, and squares without a piece.
pub fn hint(weights: &Weights, board: &Board, on: &str) -> Result<Hint, String> {
    let at = square_named(on)?;
    let piece = board.placed_pieces().find(|placed| placed.square == at);
    let piece = piece_out(piece.ok_or_else(|| format!("there is no piece on {on}"))?);
    let all = reasons(weights, board, usize::MAX);
    let pairs = all.iter().filter_map(|reason| pair_out(&reason.source, reason.pawns));
    let pairs = pairs.filter(|pair| pair.a == piece || pair.b == piece).take(PAIRS).collect();
    Ok(Hint { piece, pairs })
}

fn pair_out(source: &Source, pawns: f64) -> Option<PairOut> {
    let Source::Pair(first, second) = source else { return None };
    let name =
        |piece: &PieceSquare| format!("{}'s {} {}", color_name(piece.color), piece_name(piece.piece), piece.square);
    (pawns.abs() >= MIN_PAIR).then(|| {
        let text = format!("{} with {}: {pawns:+.2}", name(first), name(second));
        PairOut { a: piece_out(*first), b: piece_out(*second), pawns, text }
    })
}

/// Explains a move of the current position by comparison with the best one.
///
/// # Errors
/// For illegal moves.
pub fn why(play: &mut Play, uci: &str, nodes: Option<u64>) -> Result<Why, String> {
    let nodes = nodes.unwrap_or(WHY_NODES).clamp(1_000, MAX_NODES);
    let (engine, game) = play.parts();
    let board = *game.board();
    let mv = board.parse_uci(uci).map_err(|error| error.to_string())?;
    let (side, after) = (board.side_to_move(), board.after(mv));
    let (found, compared) = examine(engine, game, mv, nodes, &Control::new(false));
    let best = found.best.unwrap_or(mv);
    let score = |score| Some(ScoreOut::of(score, side));
    let of_played = |found: Score| score(found.after_move());
    let san = board.san(mv);
    let mut why = Why {
        best: board.uci(best),
        judgement: None,
        glyph: None,
        score: of_played(found.score),
        best_score: score(found.score),
        sentence: format!("{san} is the engine's own choice."),
        line: sans(&board, &found.pv),
        marks: Vec::new(),
        san,
    };
    if !after.has_legal_move() && after.in_check() {
        why.sentence = format!("{} mates.", why.san);
        return Ok(why);
    }
    let Some(compared) = compared else { return Ok(why) };
    let [better, played] = compared.moves.each_ref().map(|moved| moved.score);
    let judgement = Judgement::of(better, played);
    why.judgement = judgement.map(Judgement::name);
    why.glyph = judgement.map(Judgement::sign);
    (why.score, why.best_score) = (of_played(played), score(better));
    let explanation = sentence::explain(&compared);
    why.sentence = if judgement.is_some() { explanation.text } else { sentence::verdict(&compared) };
    why.line = sans(&board, &compared.moves[0].line);
    why.marks = explanation.marks.iter().map(mark).collect();
    Ok(why)
}

fn mark(mark: &Mark) -> MarkOut {
    let (from, to) = match mark.place {
        Place::Arrow(from, to) => (from, Some(to.to_string())),
        Place::Square(square) => (square, None),
    };
    MarkOut { from: from.to_string(), to, good: mark.good }
}

/// The texts of the games of a PGN.
fn texts(pgn: &str) -> GameTexts {
    let path = Path::new("the PGN");
    GameTexts::new(Lines::new(Box::new(Cursor::new(pgn.as_bytes().to_vec())), path), path)
}

/// Reads games.
#[must_use]
pub fn read_pgn(pgn: &str) -> Games {
    let mut read = Games { games: Vec::new(), problems: Vec::new() };
    let all: Vec<_> = texts(pgn).collect();
    // A bad move of a game alone costs what follows, not the game.
    if let [Ok(text)] = &all[..]
        && let Err(broken) = text.parse(None)
        && let Some(before) = readable(pgn)
    {
        return Games { problems: vec![format!("{}: it is read up to there.", broken.problem)], ..read_pgn(before) };
    }
    for text in all {
        let parsed = text.map_err(|error| error.to_string()).and_then(|text| {
            let record = text.parse(None).map_err(|broken| problem(&broken))?;
            Ok((text.text(), text.notes(), record))
        });
        let (text, notes, record) = match parsed {
            Ok(parsed) => parsed,
            Err(problem) => {
                read.problems.push(problem);
                continue;
            }
        };
        let chess960 = record.start.castles_unusually();
        let mut game = Game::new(record.start).with_chess960(chess960);
        // The first notes are those before the game.
        let notes_of = notes.moves.iter().skip(1).map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
        let moves = record.moves.iter().zip(notes_of).map(|(played, notes)| {
            let made = MoveOut::new(game.board(), played.mv, notes);
            game.push(played.mv);
            made
        });
        read.games.push(GameOut {
            moves: moves.collect(),
            tags: notes.tags.into_iter().collect(),
            start: record.start.fen(),
            chess960,
            result: record.result.map(|result| result.to_string()),
            text,
        });
    }
    read
}

/// The longest beginning of a game that can be read, cut between two words outside of comments and variations.
fn readable(pgn: &str) -> Option<&str> {
    let (mut depth, mut cuts) = (0_i32, Vec::new());
    for (at, letter) in pgn.char_indices() {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ if letter.is_whitespace() && depth == 0 => cuts.push(at),
            _ => {}
        }
    }
    let game = |at: usize| texts(&pgn[..at]).next()?.ok()?.parse(None).ok();
    let good = cuts.partition_point(|at| pgn[..*at].trim().is_empty() || game(*at).is_some());
    let at = *cuts[..good].last()?;
    game(at).filter(|game| !game.moves.is_empty()).map(|_| &pgn[..at])
}

fn problem(broken: &BrokenGame) -> String {
    format!("line {}: {}", broken.line, broken.problem)
}

/// Annotates the games of a PGN. `on_move` receives the numbers of moves that are done and of all.
///
/// # Errors
/// When no game can be read.
pub fn annotated_pgn(
    weights: &Arc<Weights>,
    pgn: &str,
    nodes: u64,
    mut on_move: impl FnMut(usize, usize),
) -> Result<String, String> {
    let games: Vec<_> =
        texts(pgn).filter_map(Result::ok).filter_map(|text| Some((text.parse(None).ok()?, text.notes()))).collect();
    if games.is_empty() {
        return Err("there is no game to read in this text".into());
    }
    let of = games.iter().map(|(game, _)| game.moves.len()).sum();
    let (mut done, mut annotated, control) = (0, String::new(), Control::new(false));
    for (game, notes) in games {
        let analyst = || Analyst::new(weights, nodes.clamp(1_000, MAX_NODES));
        let game = annotate_game(&game, notes, 1, analyst, &control, |_| {
            done += 1;
            on_move(done, of);
        });
        annotated += &game.map_err(|error| error.to_string())?.to_string();
    }
    Ok(annotated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::PositionRequest;

    #[test]
    fn pieces_and_pairs_have_values() {
        let (weights, board) = (Weights::embedded(), Board::startpos());
        let mut play = Play::default();
        let fen = Some("r1bq1rk1/pp3ppp/2n2n2/3pN3/3P4/2N5/PP3PPP/R1BQ1RK1 w - - 0 1".to_string());
        play.position(&PositionRequest { fen, ..PositionRequest::default() }).unwrap();
        let explained = explain(&weights, play.board());
        assert_eq!(explained.pieces.len(), 24);
        assert!(explained.pieces.iter().all(|piece| piece.worth > 0.0), "{:?}", explained.pieces);
        assert!(!explained.pairs.is_empty() && !explained.groups.is_empty());
        assert!(hint(&weights, play.board(), "e5").unwrap().pairs.len() > 1);
        assert!(hint(&weights, &board, "e5").is_err());
    }

    #[test]
    fn a_blunder_has_a_sentence() {
        let mut play = Play::default();
        let moves = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4"].map(String::from).to_vec();
        play.position(&PositionRequest { moves, ..PositionRequest::default() }).unwrap();
        let why = why(&mut play, "g8f6", None).unwrap();
        assert_eq!((why.judgement, why.glyph), (Some("Blunder"), Some("??")));
        assert!(why.sentence.contains("allows mate: 4. Qxf7#"), "{}", why.sentence);
        let best = super::why(&mut play, &why.best, None).unwrap();
        assert_eq!(best.judgement, None);
        let mut start = Play::default();
        let sound = super::why(&mut start, "a2a3", None).unwrap();
        assert_eq!(sound.judgement, None);
        assert!(sound.sentence.ends_with('.'), "{}", sound.sentence);
        assert!(super::why(&mut play, "g8g5", None).is_err());
    }

    #[test]
    fn games_are_read_and_annotated() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n1. e4 Ke4 *\n";
        let read = read_pgn(pgn);
        assert_eq!((read.games.len(), read.games[0].moves.len(), read.problems.len()), (1, 7, 1));
        assert_eq!((read.games[0].tags["White"].as_str(), read.games[0].moves[6].san.as_str()), ("A", "Qxf7#"));
        let noted = read_pgn("1. e4 {best [%clk 0:03:00] by test} (1. d4 d5 (1... Nf6 2. c4) 2. c4 -- 3. Nc3) e5 *");
        let first = &noted.games[0].moves[0];
        assert_eq!((first.comment.as_str(), first.variations[0].len()), ("best by test", 3));
        assert_eq!(first.variations[0][1].variations[0][1].san, "c4");
        assert!(noted.games[0].text.contains("(1. d4 d5 (1... Nf6"), "{}", noted.games[0].text);
        let broken = read_pgn("[White \"A\"]\n\n1. e4 {good} e5 2. Nf3 Nc6 3. Ke5 Nf6 *\n");
        assert_eq!((broken.games.len(), broken.games[0].moves.len()), (1, 4));
        assert!(broken.problems.len() == 1 && broken.problems[0].contains("Ke5"), "{:?}", broken.problems);
        let mut last = (0, 0);
        let annotated = annotated_pgn(&Weights::embedded(), pgn, 2_000, |done, of| last = (done, of)).unwrap();
        assert_eq!(last, (7, 7));
        assert!(annotated.contains("Blunder."), "{annotated}");
        // The page says it in the same words.
        let mut play = Play::default();
        let moves = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4"].map(String::from).to_vec();
        play.position(&PositionRequest { moves, ..PositionRequest::default() }).unwrap();
        let sentence = why(&mut play, "g8f6", Some(2_000)).unwrap().sentence;
        assert!(annotated.split_whitespace().collect::<Vec<_>>().join(" ").contains(&sentence), "{sentence}");
        assert!(annotated_pgn(&Weights::embedded(), "", 2_000, |_, _| ()).is_err());
    }
}
