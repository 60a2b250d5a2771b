//! Positions and evaluations for people to read.

use std::sync::Arc;

use dyad_engine::board::{Board, Color, File, Piece, Rank, Square};
use dyad_engine::engine::Engine;
use dyad_engine::eval::{Evaluator, explain};

/// Takes the lines of a job as they come.
pub type Say<'a> = dyn FnMut(String) + Send + 'a;

/// The board as a diagram, with all that the engine knows of the position.
pub fn board(board: &Board) -> Vec<String> {
    const RULE: &str = " +---+---+---+---+---+---+---+---+";
    let mut lines = vec![RULE.to_string()];
    for rank in (0..8).rev() {
        let row: String = (0..8).map(|file| format!(" | {}", letter(board, rank, file))).collect();
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

fn letter(board: &Board, rank: usize, file: usize) -> char {
    let square = Square::make_square(Rank::from_index(rank), File::from_index(file));
    let letter = match board.piece_on(square) {
        None => return ' ',
        Some(Piece::Pawn) => 'p',
        Some(Piece::Knight) => 'n',
        Some(Piece::Bishop) => 'b',
        Some(Piece::Rook) => 'r',
        Some(Piece::Queen) => 'q',
        Some(Piece::King) => 'k',
    };
    if board.color_on(square) == Some(Color::White) { letter.to_ascii_uppercase() } else { letter }
}

/// The static evaluation: what each group of features contributes, and what it comes to.
pub fn evaluation(board: &Board, engine: &Engine) -> Vec<String> {
    let weights = engine.weights();
    let white = if board.side_to_move() == Color::White { 1 } else { -1 };
    let mut evaluator = Evaluator::new(Arc::clone(weights));
    evaluator.reset(board);
    let [win, draw, loss] = match board.insufficient_material() {
        true => [0, 1000, 0],
        false => weights.units.chances(white * evaluator.evaluate(board), weights.phase(board)),
    };
    let centipawns = explain::white_cp(weights, board);
    let mut lines = lines(&explain::table(weights, board));
    lines.push(format!("White wins {win}, draws {draw}, loses {loss} games of 1000"));
    lines.push(format!("evaluation {centipawns} cp (white side)"));
    lines
}

/// The static evaluation in words, by its reasons and by the pieces.
pub fn explanation(board: &Board, engine: &Engine) -> Vec<String> {
    lines(&explain::explain(engine.weights(), board))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_string).collect()
}
