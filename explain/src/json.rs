//! Explanations as JSON. The keys are documented in `docs/explain.md` and stay.

use super::comparison::{ComparedMove, Comparison};
use super::evaluation::{piece_values, reasons, white_centipawns};
use super::line::sans;
use super::sentence::{Claim, Statement, explain};
use dyad_engine::board::{Board, Ending, PIECES, color_name, piece_name};
use dyad_engine::eval::Weights;
use dyad_engine::search::Score;
use serde_json::{Map, Value, json};

/// The static evaluation of a position: the contributions, the largest first, and the value of each piece, in pawns and
/// positive for White.
pub fn evaluation(weights: &Weights, board: &Board) -> Value {
    let contributions = reasons(weights, board);
    let contributions: Vec<Value> = contributions
        .iter()
        .map(|reason| json!({ "pawns": rounded(reason.pawns), "words": reason.source.words() }))
        .collect();
    let pieces: Vec<Value> = piece_values(weights, board)
        .iter()
        .map(|(piece, pawns)| {
            json!({
                "color": color_name(piece.color),
                "piece": piece_name(piece.piece),
                "square": piece.square.to_string(),
                "pawns": rounded(*pawns),
            })
        })
        .collect();
    json!({
        "fen": board.fen(),
        "centipawns": white_centipawns(weights, board),
        "contributions": contributions,
        "pieces": pieces,
    })
}

/// A score: `{"cp": 35}` or `{"mate": -3}`.
pub fn score(score: Score) -> Value {
    match score {
        Score::Cp(centipawns) => json!({ "cp": centipawns }),
        Score::Mate(moves) => json!({ "mate": moves }),
    }
}

impl Comparison {
    /// The two moves with their lines, the difference in centipawns by topics, and the explanation of the worse move.
    /// Scores and amounts are from the view of the side to move.
    pub fn json(&self) -> Value {
        let one = |compared: &ComparedMove| {
            json!({
                "san": compared.san,
                "uci": self.board.uci(compared.line[0]),
                "score": score(compared.score),
                "line": sans(&self.board, &compared.line),
                "leaf": compared.leaf.board.fen(),
            })
        };
        let topics = self.difference.topics();
        let topics: Vec<Value> = topics
            .iter()
            .map(|topic| {
                let centipawns = self.centipawns(topic.amount).round() as i32;
                json!({ "centipawns": centipawns, "words": topic.topic.words(self.names()) })
            })
            .collect();
        let is_worse = !self.is_equal() && self.difference.value > 0;
        let explanation = is_worse.then(|| explain(self)).filter(|explanation| !explanation.text.is_empty());
        json!({
            "fen": self.board.fen(),
            "depth": self.depth,
            "moves": self.moves.iter().map(one).collect::<Vec<_>>(),
            "centipawns": self.centipawns_apart(),
            "topics": topics,
            "explanation": explanation.as_ref().map(|explanation| &explanation.text),
            "claims": explanation.iter().flat_map(|explanation| &explanation.claims).map(Claim::json).collect::<Vec<_>>(),
        })
    }
}

impl Claim {
    /// The claim, with `kind` and `line`: `better` or `worse`.
    pub fn json(&self) -> Value {
        let (kind, mut claim) = match &self.what {
            Statement::Mate { winner, moves } => ("mate", json!({ "winner": color_name(*winner), "moves": moves })),
            Statement::Gain(gain) => {
                let net: Map<String, Value> = PIECES
                    .iter()
                    .zip(gain.net)
                    .filter(|(_, count)| *count != 0)
                    .map(|(&piece, count)| (piece_name(piece).to_string(), count.into()))
                    .collect();
                ("gain", json!({ "winner": color_name(gain.winner), "plies": gain.plies, "net": net }))
            }
            Statement::Motif(motif) => {
                let squares: Vec<String> = motif.squares.iter().map(ToString::to_string).collect();
                (motif.kind.name(), json!({ "ply": motif.ply, "targets": squares }))
            }
            Statement::Draw(ending) => {
                let how = match ending {
                    Ending::Checkmate => "checkmate",
                    Ending::Stalemate => "stalemate",
                    Ending::InsufficientMaterial => "insufficient material",
                    Ending::FiftyMoves => "fifty-move rule",
                    Ending::Repetition => "repetition",
                };
                ("draw", json!({ "how": how }))
            }
            Statement::Seen(feature) => {
                let squares: Vec<String> = feature.square.iter().map(ToString::to_string).collect();
                ("seen", json!({ "words": feature.clause(), "squares": squares }))
            }
        };
        (claim["kind"], claim["line"]) = (kind.into(), ["better", "worse"][self.line].into());
        claim
    }
}

fn rounded(pawns: f64) -> f64 {
    (100.0 * pawns).round() / 100.0
}
