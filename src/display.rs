//! Positions, evaluations and numbers for people to read.

use std::sync::Arc;

use dyad_engine::board::{Board, File, Game, Move, Rank, Square, sign};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Evaluator;
use dyad_engine::search::Limits;
use dyad_explain::Comparison;

use crate::session::Session;
use crate::uci::command::Explain;

/// Prints a line of a job.
pub type PrintLine<'a> = dyn FnMut(String) + Send + 'a;

/// The board as a diagram, with all that the engine knows of the position.
pub fn board(board: &Board) -> Vec<String> {
    const RULE: &str = " +---+---+---+---+---+---+---+---+";
    let mut lines = vec![RULE.to_string()];
    for rank in (0..8).rev() {
        let squares = (0..8).map(|file| Square::make_square(Rank::from_index(rank), File::from_index(file)));
        let letter = |square| Some(board.piece_on(square)?.to_string(board.color_on(square)?));
        let row: String = squares.map(|square| format!(" | {}", letter(square).unwrap_or(" ".into()))).collect();
        lines.push(format!("{row} | {}", rank + 1));
        lines.push(RULE.to_string());
    }
    lines.push("   a   b   c   d   e   f   g   h".to_string());
    lines.push(String::new());
    lines.push(format!("Fen: {}", board.fen()));
    lines.push(format!("Key: {:016x}", board.key()));
    let checkers: Vec<String> = board.checkers().map(|square| square.to_string()).collect();
    lines.push(format!("Checkers: {}", checkers.join(" ")).trim_end().to_string());
    lines
}

/// The static evaluation: what each group of features contributes, and what it comes to.
pub fn evaluation(board: &Board, engine: &Engine) -> Vec<String> {
    let weights = engine.weights();
    let white = sign(board.side_to_move());
    let mut evaluator = Evaluator::new(Arc::clone(weights));
    evaluator.reset(board);
    let [win, draw, loss] = match board.insufficient_material() {
        true => [0, 1000, 0],
        false => weights.units.win_rate.chances(white * evaluator.evaluate(board), weights.phase(board)),
    };
    let centipawns = dyad_explain::evaluation::white_centipawns(weights, board);
    let mut lines = lines(&dyad_explain::text::table(weights, board));
    lines.push(format!("White wins {win}, draws {draw}, loses {loss} games of 1000"));
    lines.push(format!("evaluation {centipawns} cp (white side)"));
    lines
}

/// The static evaluation in words, by its reasons and by the pieces, or as one line of JSON.
pub fn explanation(board: &Board, engine: &Engine, json: bool) -> Vec<String> {
    if json {
        return vec![dyad_explain::json::evaluation(engine.weights(), board).to_string()];
    }
    lines(&dyad_explain::text::evaluation(engine.weights(), board))
}

/// Moves to compare.
#[derive(Clone, Copy)]
pub enum Moves {
    /// These.
    Two([Move; 2]),
    /// This one with the best other.
    WithBest(Move),
}

impl Moves {
    /// The moves that a user names in the current position of a game, and the game that they are moves of: `last` is
    /// the move that was played last.
    ///
    /// # Errors
    /// When a text is no legal move, both mean the same one, or there is nothing to compare with.
    pub fn read(texts: &[String], game: &Game) -> Result<(Game, Moves), String> {
        let (mut game, mut texts) = (game.clone(), texts);
        let mut moves = Vec::new();
        if let [first, rest @ ..] = texts
            && first.eq_ignore_ascii_case("last")
        {
            let Some((&last, before)) = game.moves().split_last() else {
                return Err("explain: no move has been played in this position".into());
            };
            let mut earlier = Game::new(*game.start());
            before.iter().for_each(|&mv| earlier.push(mv));
            (game, texts) = (earlier, rest);
            moves.push(last);
        }
        let board = game.board();
        for text in texts {
            let mv = board.parse_uci(text).or_else(|_| board.parse_san(text));
            moves.push(mv.map_err(|error| format!("explain: {error}"))?);
        }
        let moves = match moves[..] {
            [first, second] if first == second => return Err(format!("explain: {} twice", board.san(first))),
            [first, second] => Moves::Two([first, second]),
            [mv] if board.count_moves() == 1 => {
                return Err(format!("explain: {} is the only move", board.san(mv)));
            }
            [mv] => Moves::WithBest(mv),
            _ => return Err("explain: expected one move or two".into()),
        };
        Ok((game, moves))
    }
}

/// Why one move is better than another.
pub fn comparison(
    game: &Game,
    moves: Moves,
    &Explain { nodes, json, all, .. }: &Explain,
    session: &mut Session,
    control: &Control,
) -> Vec<String> {
    let (limits, Session { engine, settings, .. }) = (&Limits::nodes(nodes), session);
    let found = match moves {
        Moves::Two(moves) => Comparison::search(engine, game, moves, limits, &settings.search, control),
        Moves::WithBest(mv) => Comparison::with_best(engine, game, mv, limits, &settings.search, control),
    };
    match found {
        Some(found) if json => vec![found.json().to_string()],
        Some(found) if found.is_equal() && !all => vec![dyad_explain::sentence::verdict(&found)],
        Some(found) => lines(&found.to_string()),
        None => vec!["info string explain: stopped before both moves were searched".to_string()],
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_string).collect()
}
