//! Two moves searched to the same depth, and the difference of their leaves.
//!
//! The moves are the two variations of one MultiPV search. The last position of each principal variation is resolved by
//! quiescence to its leaf, and the difference of the two values is split into parts there, see
//! [`difference`](super::difference).

use super::difference::{Difference, FIXED_POINT, PvEnd, PvLeaf};
use super::sentence::EQUAL;
use dyad_engine::board::{Board, Ending, Game, Move, Square, sign, upcoming_repetition};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{BestTwo, Info, LeafBudget, LeafEnd, LeafSearcher, Limits, Options, Report, Score};
use dyad_engine::value::{INFINITE, Value, is_mate};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A move with its principal variation.
#[derive(Clone, Debug)]
pub struct ComparedMove {
    /// The move in SAN.
    pub san: String,
    /// The principal variation, the move itself first, extended by the captures of quiescence.
    pub line: Vec<Move>,
    /// The score from the view of the side to move.
    pub score: Score,
    /// The last position of `line`.
    pub leaf: PvLeaf,
}

/// Two moves of a position and the difference of their values.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The position.
    pub board: Board,
    /// The moves.
    pub moves: [ComparedMove; 2],
    /// The first minus the second, from the view of the side to move.
    pub difference: Difference,
    /// The search depth of both moves.
    pub depth: u32,
    /// The square on which the previous move captured: a capture there is a recapture.
    pub recaptures: Option<Square>,
    weights: Arc<Weights>,
}

/// Node limit of a quiescence search; positions of games need far fewer.
const QUIESCENCE_NODES: u64 = 200_000;

/// The search randomizes draw scores by this much.
const DRAW_NOISE: Value = 1;

/// The leaf of a variation from the current position of `game`. Appends the captures of quiescence to `line`. `value` is
/// from the view of the side to move in the current position.
fn resolve(quiescence: &mut LeafSearcher, game: &Game, line: &mut Vec<Move>, value: Value) -> PvLeaf {
    let sign = sign(game.board().side_to_move());
    let mut ahead = game.clone();
    line.iter().for_each(|&mv| ahead.push(mv));
    let leaf = |board: &Board, end| PvLeaf { board: *board, end, value: sign * value };
    let end = end_of(&ahead, line.len(), value);
    if end == PvEnd::Evaluated {
        let budget = LeafBudget { nodes: QUIESCENCE_NODES, stop: &AtomicBool::new(false) };
        quiescence.begin_position();
        let found = quiescence.search(ahead.board(), 0, (-INFINITE, INFINITE), &budget);
        if let Ok(LeafEnd::Quiet(board)) = found.map(|found| found.end) {
            line.extend_from_slice(quiescence.line());
            return leaf(&board, end);
        }
    }
    leaf(ahead.board(), end)
}

/// How a variation ends whose last `plies` moves lead to the current position of `game`.
fn end_of(game: &Game, plies: usize, value: Value) -> PvEnd {
    match game.ending() {
        Some(Ending::Checkmate) => return PvEnd::Mate,
        Some(_) => return PvEnd::Draw,
        None if is_mate(value) => return PvEnd::Mate,
        None => {}
    }
    // The search scores repetitions, and moves that allow one, as draws.
    let repeats = || game.repetitions() > 1 || upcoming_repetition(game.board(), game.keys(), plies);
    if value.abs() <= DRAW_NOISE && repeats() { PvEnd::Draw } else { PvEnd::Evaluated }
}

impl Comparison {
    /// Searches two legal moves of the current position of `game` and compares them. None if the search was stopped
    /// before it finished an iteration of both.
    pub fn search(
        engine: &mut Engine,
        game: &Game,
        moves: [Move; 2],
        limits: &Limits,
        options: &Options,
        control: &Control,
    ) -> Option<Comparison> {
        // A position that occurs a second time counts as a draw, but the player may still turn to the other move.
        let repeats = |&mv: &Move| {
            let mut ahead = game.clone();
            ahead.push(mv);
            ahead.repetitions() == 2
        };
        let without_past = moves.iter().any(repeats).then(|| Game::new(*game.board()));
        let game = without_past.as_ref().unwrap_or(game);
        let limits = Limits { searchmoves: moves.to_vec(), ..limits.clone() };
        // Tablebases would remove the worse move from the search.
        let options = Options { multipv: 2, tables: None, ..options.clone() };
        let found = best_two(engine, game, &limits, &options, control)?;
        let [first, second] = moves.map(|mv| found.iter().find(|info| info.pv.first() == Some(&mv)));
        let mut quiescence = LeafSearcher::new(Arc::clone(engine.weights()));
        let shorter = Limits { nodes: limits.nodes.map(|nodes| nodes / 8), searchmoves: Vec::new(), ..limits };
        let mut examine = |info: &Info| {
            let mut line = info.pv.clone();
            if !is_mate(info.value) && info.value.abs() > DRAW_NOISE {
                extend(engine, game, &mut line, &shorter, &options, control);
            }
            let leaf = resolve(&mut quiescence, game, &mut line, info.value);
            ComparedMove { san: game.board().san(line[0]), line, score: info.score, leaf }
        };
        let moves = [examine(first?), examine(second?)];
        Some(Comparison::new(Arc::clone(engine.weights()), game, moves, found[0].depth))
    }

    /// Compares two moves of the current position of `game` whose lines are known.
    pub fn new(weights: Arc<Weights>, game: &Game, moves: [ComparedMove; 2], depth: u32) -> Comparison {
        let board = *game.board();
        let difference = Difference::new(&weights, [&moves[0].leaf, &moves[1].leaf], board.side_to_move());
        let recaptures = game.last_capture();
        Comparison { board, moves, difference, depth, recaptures, weights }
    }

    /// Compares `mv` with the best other move, see [`Comparison::search`]. None also if there is no other move.
    pub fn with_best(
        engine: &mut Engine,
        game: &Game,
        mv: Move,
        limits: &Limits,
        options: &Options,
        control: &Control,
    ) -> Option<Comparison> {
        let wide = Options { multipv: 2, tables: None, ..options.clone() };
        let found = best_two(engine, game, limits, &wide, control)?;
        let other = found.iter().map(|info| info.pv[0]).find(|&other| other != mv)?;
        Comparison::search(engine, game, [other, mv], limits, options, control)
    }

    /// The moves in SAN.
    pub fn names(&self) -> [&str; 2] {
        [&self.moves[0].san, &self.moves[1].san]
    }

    /// An amount of the difference in centipawns, not rounded.
    pub fn centipawns(&self, amount: i64) -> f64 {
        let value = amount as f64 / FIXED_POINT as f64;
        self.weights.units.win_rate.centipawns_of(value, self.weights.phase(&self.board))
    }

    /// The same comparison with the moves in the other order.
    pub fn swapped(&self) -> Comparison {
        let [first, second] = self.moves.clone();
        let difference = Difference::new(&self.weights, [&second.leaf, &first.leaf], self.board.side_to_move());
        Comparison { moves: [second, first], difference, weights: Arc::clone(&self.weights), ..*self }
    }

    /// An amount of the difference in pawns.
    pub fn pawns(&self, amount: i64) -> f64 {
        self.weights.pawns(amount as f64 / FIXED_POINT as f64)
    }

    /// The difference of the two values in pawns; `None` if a mate decides.
    pub fn pawns_apart(&self) -> Option<f64> {
        let decided = self.moves.iter().any(|one| matches!(one.score, Score::Mate(_)));
        (!decided).then(|| self.weights.pawns(f64::from(self.difference.value)))
    }

    /// Whether the two moves are equally good.
    pub fn is_equal(&self) -> bool {
        self.pawns_apart().is_some_and(|pawns| pawns.abs() < EQUAL) || self.moves[0].score == self.moves[1].score
    }

    /// The difference of the two scores, in centipawns.
    pub(super) fn centipawns_apart(&self) -> i32 {
        let phase = self.weights.phase(&self.board);
        let sign = sign(self.board.side_to_move());
        let [first, second] =
            [0, 1].map(|place| self.weights.units.win_rate.centipawns(sign * self.moves[place].leaf.value, phase));
        first - second
    }
}

/// Continues a line that the transposition table cut short by the variations of shorter searches.
fn extend(
    engine: &mut Engine,
    game: &Game,
    line: &mut Vec<Move>,
    limits: &Limits,
    options: &Options,
    control: &Control,
) {
    const ENOUGH: usize = 8;
    let options = Options { multipv: 1, ..options.clone() };
    let mut ahead = game.clone();
    line.iter().for_each(|&mv| ahead.push(mv));
    while line.len() < ENOUGH && ahead.ending().is_none() && !control.stopped() {
        let mut found = Vec::new();
        engine.search(&ahead, limits, &options, control, &mut |report| {
            if let Report::Info(info) = report {
                found = info.pv.clone();
            }
        });
        if found.is_empty() {
            return;
        }
        found.iter().for_each(|&mv| ahead.push(mv));
        line.append(&mut found);
    }
}

/// The two best lines of the last iteration that completed both.
fn best_two(
    engine: &mut Engine,
    game: &Game,
    limits: &Limits,
    options: &Options,
    control: &Control,
) -> Option<[Info; 2]> {
    let mut best_two = BestTwo::default();
    engine.search(game, limits, options, control, &mut |report| best_two.note(report));
    best_two.lines().cloned()
}

#[cfg(test)]
mod tests;
