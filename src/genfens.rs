//! `genfens`: openings for games that make training data.
//!
//! Games for training should differ from the first move on, or the same few lines are learned again
//! and again; but positions from blind random moves are mostly lost for one side, and teach little.
//! So random moves are played, and only positions that a shallow search finds balanced are kept.
//! The seed decides everything: the same call gives the same openings.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;

use dyad_engine::board::{Board, Game};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::search::{Limits, Options, Score};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::job::Say;
use crate::uci::command::{Genfens, quote};

/// Random moves from the initial position: this many, or one more, so that either side may be to move.
const PLIES: u64 = 8;
/// Random moves from a position of a book, which is varied already.
const BOOK_PLIES: u64 = 2;
/// How far ahead a position is judged.
const DEPTH: u32 = 7;
/// Centipawns within which a position counts as balanced.
const BALANCED: i32 = 100;
/// So many positions in a row that are not wanted: there are no more.
const MOST_FAILURES: u32 = 10_000;

/// Makes openings, saying a line on each as it is found.
pub fn run(ask: &Genfens, engine: &Engine, control: &Control, say: &mut Say) -> Vec<String> {
    match openings(ask, engine, control, say) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!("info string genfens: {error}")],
    }
}

fn openings(ask: &Genfens, engine: &Engine, control: &Control, say: &mut Say) -> Result<(), String> {
    let starts = match &ask.book {
        None => vec![Board::startpos()],
        Some(path) => read_book(path)?,
    };
    let plies = if ask.book.is_some() { BOOK_PLIES } else { PLIES };
    let mut random = Random(Pcg64Mcg::seed_from_u64(ask.seed));
    let mut judge = Judge::new(engine)?;
    let mut seen = HashSet::new();
    let (mut made, mut failures) = (0, 0);
    while made < ask.count && !control.stopped() {
        let start = starts[random.below(starts.len() as u64) as usize];
        let plies = plies + random.below(2);
        let fit = random_walk(start, plies, &mut random)
            .filter(|board| seen.insert(board.key()))
            .filter(|board| judge.is_balanced(board, control));
        match fit {
            Some(board) => {
                say(format!("info string genfens {}", board.fen()));
                (made, failures) = (made + 1, 0);
            }
            None if failures >= MOST_FAILURES => return Err("found no more openings".to_string()),
            None => failures += 1,
        }
    }
    Ok(())
}

/// Positions of an EPD file, one a line; what follows the fields of the position is not looked at.
fn read_book(path: &str) -> Result<Vec<Board>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", quote(path)))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let boards: Vec<Board> = lines
        .map(|(index, line)| {
            let fields: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
            Board::from_fen(&fields.join(" ")).map_err(|error| format!("{}, line {}: {error}", quote(path), index + 1))
        })
        .collect::<Result<_, _>>()?;
    if boards.is_empty() { Err(format!("{}: no positions", quote(path))) } else { Ok(boards) }
}

/// Plays random moves; nothing if the game ends on the way or the last move left a check.
fn random_walk(start: Board, plies: u64, random: &mut Random) -> Option<Board> {
    let mut board = start;
    for _ in 0..plies {
        let moves = board.moves();
        if moves.is_empty() {
            return None;
        }
        board = board.after(moves[random.below(moves.len() as u64) as usize]);
    }
    (board.has_legal_move() && !board.in_check()).then_some(board)
}

/// Numbers that stay the same on every platform and with every release of a library.
struct Random(Pcg64Mcg);

impl Random {
    /// A number below `bound`, by multiplication (Lemire 2019); the bias is far below what matters.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

/// Searches positions with an engine of its own, so that nothing searched before plays a part.
struct Judge {
    engine: Engine,
    limits: Limits,
}

impl Judge {
    fn new(engine: &Engine) -> Result<Judge, String> {
        let engine = Engine::with_hash(Arc::clone(engine.weights()), 1).map_err(|error| error.to_string())?;
        Ok(Judge { engine, limits: Limits::depth(DEPTH) })
    }

    fn is_balanced(&mut self, board: &Board, control: &Control) -> bool {
        self.engine.clear();
        let game = Game::new(*board);
        let outcome = self.engine.search(&game, &self.limits, &Options::default(), control, &mut |_| ());
        !control.stopped() && matches!(outcome.score, Score::Cp(cp) if cp.abs() <= BALANCED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_stay_below_the_bound_and_reach_all() {
        let mut random = Random(Pcg64Mcg::seed_from_u64(1));
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[random.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (800..1200).contains(&count)), "{counts:?}");
    }
}
