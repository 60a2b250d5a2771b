//! A game against the engine or a level: positions, moves, searches.

use std::sync::Arc;
use std::time::Duration;

use dyad_engine::bench;
use dyad_engine::board::{ALL_SQUARES, Board, Color, Ending, Game, Move, Piece, Square};
use dyad_engine::control::{Control, Instant};
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{Limits, Options, Report, Score};
use dyad_explain::line::sans;
use dyad_formats::score::GameResult;
use dyad_levels::file::{MAX_ELO, MIN_ELO, MoveModel};
use dyad_levels::player::{LevelPlayer, PlayerProfile};
use dyad_trainer::annotate::judgement::opposite;
use dyad_trainer::arena::pgn_writer::PgnGame;
use dyad_trainer::arena::play::{GameEnd, end_by_rule};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Megabytes of the transposition table.
const HASH: usize = 16;
/// Milliseconds of a search at most: a search in a worker ends by its limits alone.
const MAX_TIME: u64 = 10_000;
/// Elo from one level to the next.
const LEVEL_STEP: u32 = 200;

/// A level, weakest first; the last is the engine itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Its identifier in [`GoRequest::level`].
    pub id: String,
    /// Its Elo; `None` for the engine.
    pub elo: Option<u32>,
    /// Its name.
    pub name: String,
}

/// All levels.
#[must_use]
pub fn levels() -> Vec<Level> {
    let names = [
        "first games",
        "knows the moves",
        "beginner",
        "advanced beginner",
        "casual player",
        "hobby player",
        "average player",
        "club player",
        "strong club player",
        "expert",
        "master",
        "international master",
        "grandmaster",
    ];
    let limited = (MIN_ELO..=MAX_ELO).step_by(LEVEL_STEP as usize).zip(names);
    let mut levels: Vec<Level> = limited
        .map(|(elo, name)| Level {
            id: format!("level-{elo}"),
            elo: Some(elo),
            name: format!("{name} (Lichess {elo})"),
        })
        .collect();
    levels.push(Level { id: "full".into(), elo: None, name: "full strength".into() });
    levels
}

/// The starting position of Chess960 with this number.
///
/// # Errors
/// For numbers above 959.
pub fn chess960(number: u32) -> Result<String, String> {
    match number {
        0..960 => Ok(Board::chess960([number; 2]).fen()),
        _ => Err(format!("starting positions have numbers from 0 to 959, not {number}")),
    }
}

/// A score, both from White's view.
#[must_use]
pub fn white_score(score: Score) -> Value {
    let mut out = dyad_explain::json::score(score);
    out["text"] = match score {
        Score::Cp(cp) => format!("{:+.2}", f64::from(cp) / 100.0),
        Score::Mate(moves) => format!("#{moves}"),
    }
    .into();
    out
}

/// A score from the view of `side`, as one from White's.
#[must_use]
pub fn score_for(score: Score, side: Color) -> Value {
    white_score(if side == Color::White { score } else { opposite(score) })
}

/// The position to work on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PositionRequest {
    /// The start of the game in FEN; the counters at its end may be missing.
    pub fen: Option<String>,
    /// Moves from there in UCI notation.
    pub moves: Vec<String>,
    /// Whether castling is king takes rook.
    pub chess960: bool,
}

/// What to search.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoRequest {
    /// The identifier of a level; the engine itself by default.
    pub level: Option<String>,
    /// Milliseconds.
    pub movetime: Option<u64>,
    /// Nodes.
    pub nodes: Option<u64>,
}

/// A game, and who plays it.
pub struct Play {
    engine: Engine,
    level: Option<(u32, LevelPlayer)>,
    game: Game,
    chess960: bool,
    seed: u64,
}

impl Default for Play {
    fn default() -> Play {
        Play::new(Weights::embedded())
    }
}

impl Play {
    /// An engine with these weights, at the starting position.
    ///
    /// # Panics
    /// Without memory for the transposition table.
    #[must_use]
    pub fn new(weights: Arc<Weights>) -> Play {
        let engine = Engine::with_hash(weights, HASH).expect("memory for a small table");
        Play { engine, level: None, game: Game::default(), chess960: false, seed: 1 }
    }

    /// Replaces the weights.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.engine.set_weights(weights);
    }

    /// Forgets what was searched; `seed` determines the moves of levels.
    pub fn new_game(&mut self, seed: u64) {
        self.engine.clear();
        (self.seed, self.level) = (seed, None);
    }

    /// The engine and the game.
    pub fn parts(&mut self) -> (&mut Engine, &Game) {
        (&mut self.engine, &self.game)
    }

    /// The current position, with castling in the notation of the game.
    #[must_use]
    pub fn board(&self) -> &Board {
        self.game.board()
    }

    /// The weights.
    #[must_use]
    pub fn weights(&self) -> &Arc<Weights> {
        self.engine.weights()
    }

    /// Sets the position.
    ///
    /// # Errors
    /// For FENs that cannot be read and for illegal moves; the old position stays.
    pub fn position(&mut self, request: &PositionRequest) -> Result<Value, String> {
        let start = match &request.fen {
            Some(fen) => board(fen)?,
            None => Board::startpos(),
        };
        let chess960 = request.chess960 || start.castles_unusually();
        let mut game = Game::new(start).with_chess960(chess960);
        let (mut sans, mut last) = (Vec::new(), None);
        for text in &request.moves {
            let board = game.board();
            let mv = board.parse_uci(text).map_err(|error| error.to_string())?;
            let (from, to) = (mv.from().to_string(), mv.to().to_string());
            last = Some(json!({ "uci": board.uci(mv), "san": board.san(mv), "from": from, "to": to }));
            sans.push(board.san(mv));
            game.push(mv);
        }
        (self.game, self.chess960) = (game, chess960);
        let board = self.game.board();
        let outcome = self.game.ending().map(|ending| outcome(ending, board.side_to_move()));
        Ok(json!({
            "fen": board.fen(),
            "turn": color(board.side_to_move()),
            "legal": board.moves().iter().map(|&mv| legal(board, mv)).collect::<Vec<_>>(),
            "check": board.in_check().then(|| board.king(board.side_to_move()).to_string()),
            "outcome": outcome,
            "last": last,
            "sans": sans,
            "chess960": chess960,
        }))
    }

    /// Searches the current position; `on_info` receives the result of each iteration of the engine.
    ///
    /// # Errors
    /// For unknown levels.
    pub fn go(&mut self, request: &GoRequest, on_info: &mut (dyn FnMut(&Value) + Send)) -> Result<Value, String> {
        let start = Instant::now();
        let level = match request.level.as_deref() {
            None | Some("full") => None,
            Some(id) => {
                let known = levels().into_iter().find(|level| level.id == id);
                Some(known.and_then(|level| level.elo).ok_or_else(|| format!("there is no level '{id}'"))?)
            }
        };
        let time = request.movetime.unwrap_or(MAX_TIME).clamp(1, MAX_TIME);
        let movetime = Some(Duration::from_millis(time));
        let limits = Limits { movetime, nodes: request.nodes, ..Limits::default() };
        // No message comes late: the move time is all for the search.
        let options = Options { move_overhead: Duration::ZERO, ..Options::default() };
        let game = self.game.clone();
        let board = *game.board();
        let out = |best: Option<Move>, score, depth: u32, nodes: u64, pv: &[Move]| {
            let ms = milliseconds(start);
            json!({
                "best": best.map(|mv| board.uci(mv)),
                "san": best.map(|mv| board.san(mv)),
                "score": score_for(score, board.side_to_move()),
                "depth": depth,
                "nodes": nodes,
                "ms": ms,
                "nps": per_second(nodes, ms),
                "pv_san": sans(&board, pv),
            })
        };
        let mut report = |report: &Report| {
            if let Report::Info(info) = report {
                on_info(&out(info.pv.first().copied(), info.score, info.depth, info.nodes, &info.pv));
            }
        };
        let control = Control::new(false);
        let outcome = match level {
            None => self.engine.search(&game, &limits, &options, &control, &mut report),
            Some(elo) => self.level_player(elo).search(&game, &limits, &options, &control, &mut report),
        };
        Ok(out(outcome.best, outcome.score, outcome.depth, outcome.nodes, &outcome.pv))
    }

    /// The player of a level, made when it is first needed.
    fn level_player(&mut self, elo: u32) -> &mut LevelPlayer {
        let seed = self.seed;
        let player = match self.level.take() {
            Some((same, player)) if same == elo => player,
            _ => LevelPlayer::new(PlayerProfile::with_elo(&MoveModel::embedded(), elo.into(), seed)),
        };
        &mut self.level.insert((elo, player)).1
    }

    /// The game in PGN with these tags.
    #[must_use]
    pub fn pgn(&self, tags: &[(String, String)]) -> String {
        let stated = tags.iter().find(|(name, _)| name == "Result");
        let stated: Option<GameResult> =
            stated.and_then(|(_, value)| serde_json::from_value(value.as_str().into()).ok());
        // Other endings have to be claimed, and a side may have lost on time or resigned.
        let ended = end_by_rule(&self.game)
            .filter(|(_, end)| stated.is_none() || matches!(end, GameEnd::Rule(Ending::Checkmate | Ending::Stalemate)));
        let variant = self.chess960.then(|| ("Variant".to_string(), "Chess960".to_string()));
        let others = tags.iter().filter(|(name, _)| name != "Variant").cloned();
        let game = PgnGame {
            tags: others.chain(variant).collect(),
            start: *self.game.start(),
            foreword: String::new(),
            moves: self.game.moves().iter().map(|&mv| (mv, String::new())).collect(),
            result: ended.map(|(result, _)| result).or(stated),
        };
        format!("{}\n", game.to_string().trim_end())
    }
}

/// Searches the positions of the program's `bench` with the built-in weights.
///
/// # Panics
/// Without memory for the transposition table.
#[must_use]
pub fn bench() -> Value {
    let run = bench::run(Weights::embedded(), bench::DEPTH, &Control::new(false), &mut |_, _| ());
    let (nodes, time) = run.expect("memory for a small table").expect("nothing stops it");
    let ms = time.as_secs_f64() * 1000.0;
    json!({ "nodes": nodes, "ms": ms, "nps": per_second(nodes, ms) })
}

fn board(fen: &str) -> Result<Board, String> {
    Board::from_fen(fen).map_err(|error| error.to_string())
}

fn legal(board: &Board, mv: Move) -> Value {
    json!({
        "uci": board.uci(mv),
        "from": mv.from().to_string(),
        "to": mv.to().to_string(),
        // Of a castling move.
        "rook": board.castling_rook(mv).map(|rook| rook.to_string()),
        "san": board.san(mv),
        "promotion": mv.promotion().map(|piece| letter(piece, Color::Black)),
        "capture": board.is_capture(mv),
    })
}

/// The letter of a piece in FEN.
pub(crate) fn letter(piece: Piece, color: Color) -> String {
    piece.to_string(color)
}

pub(crate) fn color(color: Color) -> &'static str {
    if color == Color::White { "white" } else { "black" }
}

/// A square by its name.
pub(crate) fn square_named(name: &str) -> Result<Square, String> {
    let found = ALL_SQUARES.into_iter().find(|square| square.to_string() == name);
    found.ok_or_else(|| format!("'{name}' is not a square"))
}

fn outcome(ending: Ending, side: Color) -> Value {
    let (result, reason) = match ending {
        Ending::Checkmate if side == Color::White => ("0-1", "checkmate"),
        Ending::Checkmate => ("1-0", "checkmate"),
        Ending::Stalemate => ("1/2-1/2", "stalemate"),
        Ending::Repetition => ("1/2-1/2", "threefold repetition"),
        Ending::FiftyMoves => ("1/2-1/2", "fifty-move rule"),
        Ending::InsufficientMaterial => ("1/2-1/2", "insufficient material"),
    };
    json!({ "result": result, "reason": reason })
}

/// Moves in UCI notation.
pub(crate) fn ucis<'a>(start: &Board, moves: impl IntoIterator<Item = &'a Move>) -> Vec<String> {
    start.along(moves).map(|(board, mv)| board.uci(mv)).collect()
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

fn per_second(nodes: u64, ms: f64) -> u64 {
    (nodes as f64 * 1000.0 / ms.max(1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(fen: &str, moves: &[&str]) -> PositionRequest {
        let moves = moves.iter().map(ToString::to_string).collect();
        PositionRequest { fen: Some(fen.to_string()).filter(|fen| !fen.is_empty()), moves, chess960: false }
    }

    /// The number of the program's `bench`, which each commit message has.
    #[test]
    fn bench_searches_the_nodes_of_the_program() {
        assert_eq!(bench()["nodes"], 2_116_720);
    }

    #[test]
    fn positions_have_moves_and_ends() {
        let mut play = Play::default();
        let start = play.position(&at("", &["e2e4", "e7e5"])).unwrap();
        assert_eq!(
            (start["legal"].as_array().unwrap().len(), &start["sans"], &start["turn"]),
            (29, &json!(["e4", "e5"]), &json!("white"))
        );
        let mate = play.position(&at("", &["f2f3", "e7e5", "g2g4", "d8h4"])).unwrap();
        assert_eq!(
            (&mate["outcome"], &mate["check"]),
            (&json!({ "result": "0-1", "reason": "checkmate" }), &json!("e1"))
        );
        assert!(play.pgn(&[("White".into(), "a \"b\"".into())]).ends_with("1. f3 e5 2. g4 Qh4# 0-1\n"));
        assert!(play.pgn(&[("Result".into(), "1-0".into())]).ends_with("2. g4 Qh4# 0-1\n"));
        assert!(play.position(&at("", &["e2e5"])).unwrap_err().contains("e2e5"));
        assert!(play.position(&at("8/8 w - - 0 1", &[])).is_err());
        let castling = play.position(&at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", &[])).unwrap();
        let short = castling["legal"].as_array().unwrap().iter().find(|mv| mv["san"] == "O-O").expect("castling");
        assert_eq!((&short["uci"], &short["to"], &short["rook"]), (&json!("e1g1"), &json!("g1"), &json!("h1")));
        let fen = chess960(0).unwrap();
        assert!(
            play.position(&PositionRequest { fen: Some(fen), chess960: true, ..PositionRequest::default() }).is_ok()
        );
    }

    #[test]
    fn every_level_moves() {
        let mut play = Play::default();
        play.position(&at("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", &[])).unwrap();
        let levels = levels();
        assert_eq!(levels.len(), 14);
        for level in levels {
            let request = GoRequest { level: Some(level.id), movetime: Some(200), ..GoRequest::default() };
            assert!(play.go(&request, &mut |_| ()).unwrap()["best"].is_string());
        }
        let (mut depths, nodes) = (Vec::new(), GoRequest { nodes: Some(20_000), ..GoRequest::default() });
        let found = play.go(&nodes, &mut |info| depths.push(info["depth"].clone())).unwrap();
        assert_eq!((&found["san"], &found["score"]["mate"]), (&json!("Ra8#"), &json!(1)));
        assert!(!depths.is_empty());
        let unknown = GoRequest { level: Some("level-7".into()), ..GoRequest::default() };
        assert!(play.go(&unknown, &mut |_| ()).is_err());
    }
}
