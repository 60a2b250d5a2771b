//! Positions and evaluations for people to read.

use dyad_engine::board::{Board, Color, File, Piece, Rank, Square};
use dyad_engine::engine::Engine;

/// The board as a diagram, with all that the engine knows of the position.
pub fn board(board: &Board) -> Vec<String> {
    const RULE: &str = " +---+---+---+---+---+---+---+---+";
    let mut lines = vec![RULE.to_string()];
    for rank in (0..8).rev() {
        let men: String = (0..8).map(|file| format!(" | {}", letter(board, rank, file))).collect();
        lines.push(format!("{men} | {}", rank + 1));
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

/// The static evaluation.
pub fn evaluation(_board: &Board, _engine: &Engine) -> Vec<String> {
    vec!["info string no evaluation yet".to_string()]
}

/// The static evaluation and where it comes from.
pub fn explanation(board: &Board, engine: &Engine) -> Vec<String> {
    evaluation(board, engine)
}
