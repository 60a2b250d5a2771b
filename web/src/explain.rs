//! Why: what pieces and pairs are worth, why a move is worse than another, annotated games.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::{Board, Move, PieceSquare, Square, color_name, piece_name, sign};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::Score;
use dyad_explain::evaluation::{PawnScale, Source, contributions, piece_values, reasons, white_centipawns};
use dyad_explain::line::sans;
use dyad_explain::sentence::{self, Mark};
use dyad_formats::input::Lines;
use dyad_formats::pgn::{GameTexts, Note};
use dyad_trainer::annotate::analysis::{Analyst, annotate_game, examine};
use dyad_trainer::annotate::judgement::Judgement;
use dyad_trainer::annotate::pgn::without_commands;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::play::{Play, letter, score_for, square_named, white_score};

/// Pairs that are shown, and the smallest one in pawns.
const PAIRS: usize = 8;
const MIN_PAIR: f64 = 0.02;
/// Nodes of [`why`] on the page: some 150 ms, and four times as long for a mistake.
pub const WHY_NODES: u64 = 60_000;

/// A move of a game, with the notes after it: a comment, and lines in its place.
fn move_out(board: &Board, mv: Move, notes: &[Note]) -> Value {
    let comments = notes.iter().filter_map(|note| if let Note::Comment(text) = note { Some(text) } else { None });
    let words: Vec<String> = comments.map(|text| without_commands(text)).collect();
    let comment = words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let variations = notes.iter().filter_map(|note| match note {
        Note::Variation(line) => Some(line_out(*board, &line.moves)).filter(|line| !line.is_empty()),
        _ => None,
    });
    let variations: Vec<_> = variations.collect();
    json!({ "uci": board.uci(mv), "san": board.san(mv), "comment": comment, "variations": variations })
}

/// The moves of a variation, up to a null move.
fn line_out(mut board: Board, moves: &[(Option<Move>, Vec<Note>)]) -> Vec<Value> {
    let moves = moves.iter().map_while(|(mv, notes)| Some(((*mv)?, notes)));
    let one = moves.map(|(mv, notes)| {
        let made = move_out(&board, mv, notes);
        board = board.after(mv);
        made
    });
    one.collect()
}

fn piece_out(piece: PieceSquare) -> Value {
    json!({ "square": piece.square.to_string(), "piece": letter(piece.piece, piece.color) })
}

/// The static evaluation of a position in parts, in pawns: what each piece is worth for its own side, and from White's
/// view the pairs that count most and the groups of features.
#[must_use]
pub fn explain(weights: &Arc<Weights>, board: &Board) -> Value {
    let scale = PawnScale::new(weights, board);
    let pieces = piece_values(weights, board).into_iter().map(|(piece, white)| {
        let mut out = piece_out(piece);
        out["worth"] = (f64::from(sign(piece.color)) * white).into();
        out
    });
    let groups = contributions(weights, board).into_iter().filter_map(|(group, contribution)| {
        let [white, black, total] =
            [contribution.white, contribution.black, contribution.total()].map(|sums| scale.pawns(sums));
        let (family, about) = (group.family.name(), group.about);
        let out = json!({ "family": family, "about": about, "white": white, "black": black, "total": total });
        (white != 0.0 || black != 0.0).then_some(out)
    });
    json!({
        "score": white_score(Score::Cp(white_centipawns(weights, board))),
        "pieces": pieces.collect::<Vec<_>>(),
        "pairs": pairs(weights, board, None),
        "groups": groups.collect::<Vec<_>>(),
    })
}

/// The pairs of the piece on a square, largest first.
///
/// # Errors
/// For names that are no square, and squares without a piece.
pub fn hint(weights: &Weights, board: &Board, on: &str) -> Result<Value, String> {
    let at = square_named(on)?;
    let piece = board.placed_pieces().find(|placed| placed.square == at);
    let mut hint = piece_out(piece.ok_or_else(|| format!("there is no piece on {on}"))?);
    hint["pairs"] = pairs(weights, board, Some(at)).into();
    Ok(hint)
}

/// The pairs that count most, all or those of the piece on a square, largest first.
fn pairs(weights: &Weights, board: &Board, at: Option<Square>) -> Vec<Value> {
    let name =
        |piece: &PieceSquare| format!("{}'s {} {}", color_name(piece.color), piece_name(piece.piece), piece.square);
    let all = reasons(weights, board);
    let pairs = all.iter().filter_map(|reason| match &reason.source {
        Source::Pair(first, second) if reason.pawns.abs() >= MIN_PAIR => Some((first, second, reason.pawns)),
        _ => None,
    });
    let pairs = pairs.filter(|(first, second, _)| at.is_none_or(|at| first.square == at || second.square == at));
    let out = |(first, second, pawns): (&PieceSquare, &PieceSquare, f64)| {
        let text = format!("{} with {}: {pawns:+.2}", name(first), name(second));
        json!({ "a": piece_out(*first), "b": piece_out(*second), "pawns": pawns, "text": text })
    };
    pairs.take(PAIRS).map(out).collect()
}

/// Explains a move of the current position by comparison with the best one.
///
/// # Errors
/// For illegal moves.
pub fn why(play: &mut Play, uci: &str, nodes: u64) -> Result<Value, String> {
    let (engine, game) = play.parts();
    let board = *game.board();
    let mv = board.parse_uci(uci).map_err(|error| error.to_string())?;
    let (side, after) = (board.side_to_move(), board.after(mv));
    let (found, compared) = examine(engine, game, mv, nodes, &Control::new(false));
    let best = found.best.unwrap_or(mv);
    let of_played = |found: Score| score_for(found.after_move(), side);
    let san = board.san(mv);
    let mut why = json!({
        "best": board.uci(best),
        "judgement": null,
        "glyph": null,
        "score": of_played(found.score),
        "best_score": score_for(found.score, side),
        "sentence": format!("{san} is the engine's own choice."),
        "line": sans(&board, &found.pv),
        "marks": [],
        "san": san,
    });
    if !after.has_legal_move() && after.in_check() {
        why["sentence"] = format!("{san} mates.").into();
        return Ok(why);
    }
    let Some(compared) = compared else { return Ok(why) };
    let [better, played] = compared.moves.each_ref().map(|moved| moved.score);
    let judgement = Judgement::of(better, played);
    why["judgement"] = judgement.map(Judgement::name).into();
    why["glyph"] = judgement.map(Judgement::sign).into();
    why["score"] = of_played(played);
    why["best_score"] = score_for(better, side);
    let explanation = sentence::explain(&compared);
    let text = if judgement.is_some() { explanation.text } else { sentence::verdict(&compared) };
    why["sentence"] = text.into();
    why["line"] = sans(&board, &compared.moves[0].line).into();
    why["marks"] = explanation.marks.iter().map(mark).collect();
    Ok(why)
}

/// An arrow, or a square without `to`.
fn mark(mark: &Mark) -> Value {
    json!({ "from": mark.square.to_string(), "to": mark.to.map(|to| to.to_string()), "good": mark.good })
}

/// The texts of the games of a PGN.
fn texts(pgn: &str) -> GameTexts {
    let path = Path::new("the PGN");
    GameTexts::new(Lines::new(Box::new(Cursor::new(pgn.as_bytes().to_vec())), path), path)
}

/// Reads games: those that can be read, and the problems of the others.
#[must_use]
pub fn read_pgn(pgn: &str) -> Value {
    let (mut games, mut problems) = (Vec::new(), Vec::new());
    for text in texts(pgn) {
        let parsed = text.map_err(|error| error.to_string()).and_then(|text| {
            let record = text.parse(None).map_err(|broken| format!("line {}: {}", broken.line, broken.problem))?;
            Ok((text.text(), text.notes(), record))
        });
        let (text, notes, record) = match parsed {
            Ok(parsed) => parsed,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let chess960 = record.start.castles_unusually();
        let start = record.start.with_chess960(chess960);
        let played: Vec<Move> = record.moves.iter().map(|played| played.mv).collect();
        // The first notes are those before the game.
        let notes_of = notes.moves.iter().skip(1).map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
        let moves = start.along(&played).zip(notes_of).map(|((board, mv), notes)| move_out(&board, mv, notes));
        games.push(json!({
            "moves": moves.collect::<Vec<_>>(),
            "tags": notes.tags.into_iter().collect::<BTreeMap<_, _>>(),
            "start": record.start.fen(),
            "chess960": chess960,
            "result": record.result.map(|result| result.to_string()),
            // Its notes are kept by an annotation.
            "text": text,
        }));
    }
    json!({ "games": games, "problems": problems })
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
        let analyst = || Analyst::new(weights, nodes);
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
        assert_eq!(explained["pieces"].as_array().unwrap().len(), 24);
        assert!(explained["pieces"].as_array().unwrap().iter().all(|piece| piece["worth"].as_f64() > Some(0.0)));
        assert!(explained["pairs"][0].is_object() && explained["groups"][0].is_object(), "{explained}");
        assert!(hint(&weights, play.board(), "e5").unwrap()["pairs"].as_array().unwrap().len() > 1);
        assert!(hint(&weights, &board, "e5").is_err());
    }

    #[test]
    fn a_blunder_has_a_sentence() {
        let mut play = Play::default();
        let moves = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4"].map(String::from).to_vec();
        play.position(&PositionRequest { moves, ..PositionRequest::default() }).unwrap();
        let why = why(&mut play, "g8f6", WHY_NODES).unwrap();
        assert_eq!((&why["judgement"], &why["glyph"]), (&json!("Blunder"), &json!("??")));
        assert!(why["sentence"].as_str().unwrap().contains("allows mate: 4. Qxf7#"), "{why}");
        let best = super::why(&mut play, why["best"].as_str().unwrap(), WHY_NODES).unwrap();
        assert_eq!(best["judgement"], Value::Null);
        let mut start = Play::default();
        let sound = super::why(&mut start, "a2a3", WHY_NODES).unwrap();
        assert_eq!(sound["judgement"], Value::Null);
        assert!(sound["sentence"].as_str().unwrap().ends_with('.'), "{sound}");
        assert!(super::why(&mut play, "g8g5", WHY_NODES).is_err());
    }

    #[test]
    fn games_are_read_and_annotated() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n1. e4 Ke4 *\n";
        let len = |value: &Value| value.as_array().unwrap().len();
        let read = read_pgn(pgn);
        assert_eq!((len(&read["games"]), len(&read["games"][0]["moves"]), len(&read["problems"])), (1, 7, 1));
        assert_eq!(read["games"][0]["tags"]["White"], "A");
        assert_eq!(read["games"][0]["moves"][6]["san"], "Qxf7#");
        let noted = read_pgn("1. e4 {best [%clk 0:03:00] by test} (1. d4 d5 (1... Nf6 2. c4) 2. c4 -- 3. Nc3) e5 *");
        let first = &noted["games"][0]["moves"][0];
        assert_eq!((&first["comment"], len(&first["variations"][0])), (&json!("best by test"), 3));
        assert_eq!(first["variations"][0][1]["variations"][0][1]["san"], "c4");
        assert!(noted["games"][0]["text"].as_str().unwrap().contains("(1. d4 d5 (1... Nf6"), "{noted}");
        let mut last = (0, 0);
        let annotated = annotated_pgn(&Weights::embedded(), pgn, 2_000, |done, of| last = (done, of)).unwrap();
        assert_eq!(last, (7, 7));
        assert!(annotated.contains("Blunder."), "{annotated}");
        // The page says it in the same words.
        let mut play = Play::default();
        let moves = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4"].map(String::from).to_vec();
        play.position(&PositionRequest { moves, ..PositionRequest::default() }).unwrap();
        let why = why(&mut play, "g8f6", 2_000).unwrap();
        let sentence = why["sentence"].as_str().unwrap();
        assert!(annotated.split_whitespace().collect::<Vec<_>>().join(" ").contains(sentence), "{sentence}");
        assert!(annotated_pgn(&Weights::embedded(), "", 2_000, |_, _| ()).is_err());
    }
}
