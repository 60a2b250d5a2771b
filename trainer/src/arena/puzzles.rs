//! Lichess puzzles (<https://database.lichess.org/#puzzles>): a CSV table whose first line names the columns. Columns
//! `PuzzleId`, `FEN`, `Moves` and `Rating` are read, in any order.
//!
//! The first of `Moves` is the opponent's and leads to the position to solve; the solution is the second, the
//! opponent's reply the third, and so on to a last move of the solver.

use dyad_engine::board::{Board, Game};

use crate::arena::problem::{Goal, Problem};

/// Start of the header line.
const FIRST: &str = "PuzzleId,";

/// Index of each column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    id: usize,
    fen: usize,
    moves: usize,
    rating: usize,
}

impl Columns {
    /// Reads the header line; `None` if the file is not a table of puzzles.
    pub(super) fn read(line: &str) -> Result<Option<Columns>, String> {
        if !line.starts_with(FIRST) {
            return Ok(None);
        }
        let names: Vec<&str> = line.split(',').collect();
        let place = |name| names.iter().position(|&n| n == name).ok_or_else(|| format!("no column {name}"));
        Ok(Some(Columns {
            id: place("PuzzleId")?,
            fen: place("FEN")?,
            moves: place("Moves")?,
            rating: place("Rating")?,
        }))
    }

    /// The columns that Lichess writes, if this line without a head line before it is a puzzle in them.
    pub(super) fn of_puzzle(line: &str) -> Option<Columns> {
        let columns = Columns { id: 0, fen: 1, moves: 2, rating: 3 };
        let fen = line.split(',').nth(columns.fen)?;
        Board::from_fen(fen).is_ok().then_some(columns)
    }

    /// Reads the puzzle of a line. No field of the table is ever quoted.
    pub(super) fn problem(&self, line: &str) -> Result<Problem, String> {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |place: usize, name: &str| {
            fields.get(place).copied().ok_or_else(|| format!("{} columns, {name} is not among them", fields.len()))
        };
        let start = Board::from_fen(field(self.fen, "FEN")?).map_err(|error| format!("FEN: {error}"))?;
        let mut game = Game::new(start);
        for word in field(self.moves, "Moves")?.split_whitespace() {
            game.push(game.board().parse_uci(word).map_err(|error| format!("Moves: {error}"))?);
        }
        let (first, line) = match game.moves() {
            [first, line @ ..] if line.len() % 2 == 1 => (*first, line),
            moves => return Err(format!("Moves: {} moves, where opponent and player move in turns", moves.len())),
        };
        let rating = field(self.rating, "Rating")?;
        Ok(Problem {
            name: field(self.id, "PuzzleId")?.to_string(),
            board: start.after(first),
            goal: Goal::Line(line.to_vec()),
            rating: Some(rating.parse().map_err(|_| format!("Rating: {rating:?} is not a number"))?),
        })
    }
}
