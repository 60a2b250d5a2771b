//! Annotated games as JSON. The keys are documented in `docs/explain.md` and stay.

use dyad_engine::board::{Board, Color};
use dyad_explain::json::score;
use dyad_explain::line::sans;
use dyad_explain::sentence::Claim;
use serde_json::{Map, Value, json};

use super::analysis::{Annotated, Mistake, Ply};

/// The games; scores are from White's side.
#[must_use]
pub fn games(games: &[Annotated]) -> Value {
    json!({ "games": games.iter().map(game).collect::<Vec<_>>() })
}

fn game(game: &Annotated) -> Value {
    let tags: Map<String, Value> = game.tags.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let moves: Vec<Value> = game.positions().map(|(board, ply)| played(&board, ply)).collect();
    json!({
        "tags": tags,
        "start": game.start.fen(),
        "result": game.result.map(|result| result.to_string()),
        "white": summary(game, Color::White),
        "black": summary(game, Color::Black),
        "moves": moves,
    })
}

fn summary(game: &Annotated, color: Color) -> Value {
    game.summary(color).map_or(Value::Null, |summary| {
        let [inaccuracies, mistakes, blunders] = summary.mistake_counts;
        json!({
            "moves": summary.moves,
            "accuracy": (10.0 * summary.accuracy).round() / 10.0,
            "inaccuracies": inaccuracies,
            "mistakes": mistakes,
            "blunders": blunders,
        })
    })
}

fn played(board: &Board, ply: &Ply) -> Value {
    let mut value = json!({ "san": board.san(ply.mv), "uci": board.uci(ply.mv) });
    if let Some(analysis) = &ply.analysis {
        value["score"] = analysis.score.map_or(Value::Null, score);
    }
    if let Some(found) = ply.mistake() {
        value["mistake"] = mistake(board, found);
    }
    value
}

fn mistake(board: &Board, mistake: &Mistake) -> Value {
    json!({
        "judgement": mistake.judgement.name().to_lowercase(),
        "fen": board.fen(),
        "better": { "score": score(mistake.better), "line": sans(board, &mistake.line) },
        "explanation": mistake.explanation,
        "claims": mistake.claims.iter().map(Claim::json).collect::<Vec<_>>(),
    })
}
