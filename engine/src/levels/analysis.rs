//! What the moves of a position are worth at several depths: what players of different strength see of it.
//!
//! The engine's own search gives every legal move a value after one to four plies (quiescence included), the best of
//! them after six plies and the best of these after nine; the static evaluation after the move stands for whoever does
//! not look at the answers at all. Each move is searched alone, so that its value is exact and not just
//! "worse than the best". All of it is a function of the game and the weights: the table is emptied before each position,
//! and depths, not time, say when to end. A clock that is too short for that cuts the depths.

use crate::board::{ChessMove, Game};
use crate::control::Control;
use crate::engine::Engine;
use crate::eval::{Evaluator, Weights};
use crate::position::Position;
use crate::search::{Info, Limits, Options, Report};
use crate::tt::{Bound, Table};
use crate::value::Value;
use std::sync::Arc;
use std::time::Duration;

/// Depths that moves are valued at, beginning with the static evaluation.
pub const DEPTHS: usize = 7;

/// Plies of each of these depths, quiescence not counted.
pub const PLIES: [u32; DEPTHS] = [0, 1, 2, 3, 4, 6, 9];
/// The steps of an analysis: the plies to which so many of the best moves are searched.
const STEPS: [(u32, usize); 3] = [(4, usize::MAX), (6, 8), (9, 4)];

/// Megabytes of the largest table that a deepened search gets: each move begins with an empty one.
const LARGEST_TABLE: u64 = 16;

/// How many of the best moves a search that is deepened values.
const DEEPENED: usize = 2;

/// A move and what it is worth.
#[derive(Clone, Debug)]
pub struct Valued {
    /// The move.
    pub mv: ChessMove,
    /// Its values for the side to move, in search units, from the static evaluation to the deepest search.
    pub values: [Value; DEPTHS],
    /// The last of these, or that of a search that was deepened.
    pub deep: Value,
    /// What the deepest search of it reported; none where time was too short for any.
    pub info: Option<Info>,
}

/// The legal moves of a position in the order in which they are generated, and what they are worth.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The moves.
    pub moves: Vec<Valued>,
    /// Nodes searched.
    pub nodes: u64,
    /// Plies to which at least the best moves were searched.
    pub plies: u32,
}

/// Megabytes of a table in which each of so many nodes has a place.
fn table_for(nodes: u64) -> usize {
    let megabytes = nodes.saturating_mul(Table::ENTRY_BYTES).div_ceil(1 << 20).clamp(1, LARGEST_TABLE);
    megabytes.next_power_of_two() as usize
}

/// Analyzes positions. One a thread.
pub struct Analyst {
    engine: Engine,
    position: Position,
    options: Options,
}

impl Analyst {
    /// An analyst with these weights.
    ///
    /// # Panics
    /// When there is not a megabyte of memory left.
    #[must_use]
    pub fn new(weights: Arc<Weights>) -> Analyst {
        let position = Position::new(&Game::default(), Evaluator::new(Arc::clone(&weights)));
        let engine = Engine::with_hash(weights, 1).expect("a megabyte for the table");
        Analyst { engine, position, options: Options::default() }
    }

    /// Makes room in the table for a [deepened](Analyst::deepen) search of so many nodes, where there is memory for it: in
    /// one of a megabyte a search of hundreds of thousands forgets most of what it found.
    pub fn make_room(&mut self, nodes: u64) {
        // Where there is none the table stays as it was, which is good enough.
        let _ = self.engine.set_hash(table_for(nodes));
    }

    /// The weights that it values with.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        self.engine.weights()
    }

    /// Values the legal moves of the position of `game`, in no more than `time` where that is given: counted from when
    /// `control` was accepted or its ponder move was played. Of the moves in `only` alone, unless it is empty.
    pub fn analyze(&mut self, game: &Game, only: &[ChessMove], time: Option<Duration>, control: &Control) -> Analysis {
        self.engine.clear();
        let board = game.board();
        let wanted = |mv: &&ChessMove| only.is_empty() || only.contains(mv);
        let mut moves: Vec<Valued> = board.moves().iter().filter(wanted).map(|&mv| self.glance(game, mv)).collect();
        let mut analysis = Analysis { moves: Vec::new(), nodes: moves.len() as u64, plies: 0 };
        let since = control.hit().unwrap_or_else(|| control.accepted());
        let in_time = || !control.stopped() && time.is_none_or(|time| since.elapsed() < time);
        for (plies, most) in STEPS {
            let mut order: Vec<usize> = (0..moves.len()).collect();
            order.sort_by_key(|&index| -moves[index].values[DEPTHS - 1]);
            let best_before = order.first().map_or(0, |&index| moves[index].values[DEPTHS - 1]);
            let (searched, rest) = order.split_at(most.min(order.len()));
            let mut complete = true;
            for &index in searched {
                complete &= in_time() && self.look(game, &mut moves[index], plies, time, control, &mut analysis.nodes);
            }
            if !complete {
                break;
            }
            analysis.plies = plies;
            // A move that was not searched so deep is at most worth as much as the worst that was.
            let deepest = |&index: &usize| moves[index].values[DEPTHS - 1];
            let best = searched.iter().map(deepest).max().unwrap_or(0);
            let worst = searched.iter().map(deepest).min().unwrap_or(0);
            for &index in rest {
                let from = PLIES.iter().position(|&depth| depth == plies).unwrap_or(DEPTHS - 1);
                let guess = (moves[index].values[from] + best - best_before).min(worst);
                moves[index].values[from..].fill(guess);
            }
        }
        moves.iter_mut().for_each(|valued| valued.deep = valued.values[DEPTHS - 1]);
        analysis.moves = moves;
        analysis
    }

    /// Values the best moves of a complete analysis once more, for whoever sees more than the model knows of: by a search
    /// of the whole position of so many nodes, which finds these moves itself. Right after that analysis.
    pub fn deepen(
        &mut self,
        game: &Game,
        analysis: &mut Analysis,
        nodes: u64,
        time: Option<Duration>,
        control: &Control,
    ) {
        if analysis.plies < PLIES[DEPTHS - 1] {
            return;
        }
        let most = DEEPENED.min(analysis.moves.len());
        let searchmoves = analysis.moves.iter().map(|valued| valued.mv).collect();
        let limits = Limits { nodes: Some(nodes), movetime: time, searchmoves, ..Limits::default() };
        let options = Options { multipv: DEEPENED, ..self.options.clone() };
        // The variations of the last iteration that has all of them, and of the one after.
        let (mut found, mut begun): (Vec<Info>, Vec<Info>) = (Vec::new(), Vec::new());
        let mut note = |report: &Report| {
            let Report::Info(info) = report else { return };
            if info.bound != Bound::Exact {
                return;
            }
            begun.retain(|earlier| earlier.depth == info.depth && earlier.multipv != info.multipv);
            begun.push(info.clone());
            if begun.len() == most {
                found.clone_from(&begun);
            }
        };
        let outcome = self.engine.search(game, &limits, &options, control, &mut note);
        analysis.nodes += outcome.nodes;
        // Values of different depths do not compare: all of them, or none.
        if found.first().is_none_or(|info| info.depth < PLIES[DEPTHS - 1]) {
            return;
        }
        let before = analysis.moves.iter().map(|valued| valued.deep).max().unwrap_or(0);
        let worst = found.iter().map(|info| info.value).min().unwrap_or(0);
        let change = found.iter().map(|info| info.value).max().unwrap_or(0) - before;
        for valued in &mut analysis.moves {
            match found.iter().find(|info| info.pv.first() == Some(&valued.mv)) {
                Some(info) => {
                    valued.deep = info.value;
                    valued.info = Some(info.clone());
                }
                None => valued.deep = (valued.deep + change).min(worst),
            }
        }
    }

    /// The static evaluation after a move.
    fn glance(&mut self, game: &Game, mv: ChessMove) -> Valued {
        self.position.reset(game);
        self.position.make(mv);
        let value = -self.position.evaluate();
        Valued { mv, values: [value; DEPTHS], deep: value, info: None }
    }

    /// Searches one move deeper and deeper, up to `plies`; false when it was cut short.
    fn look(
        &mut self,
        game: &Game,
        valued: &mut Valued,
        plies: u32,
        time: Option<Duration>,
        control: &Control,
        nodes: &mut u64,
    ) -> bool {
        let searchmoves = vec![valued.mv];
        let limits = Limits { depth: Some(plies), movetime: time, searchmoves, ..Limits::default() };
        let mut reached = 0;
        let mut note = |report: &Report| {
            let Report::Info(info) = report else { return };
            if info.bound != Bound::Exact || info.depth <= reached {
                return;
            }
            reached = info.depth;
            if let Some(from) = PLIES.iter().position(|&depth| depth >= info.depth) {
                valued.values[from..].fill(info.value);
            }
            valued.info = Some(info.clone());
        };
        let outcome = self.engine.search(game, &limits, &self.options, control, &mut note);
        *nodes += outcome.nodes;
        reached >= plies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_place_for_each_node_up_to_its_bound() {
        for (nodes, megabytes) in [(0, 1), (65_536, 1), (65_537, 2), (250_000, 4), (1_000_000, 16), (u64::MAX, 16)] {
            assert_eq!(table_for(nodes), megabytes, "{nodes}");
        }
    }
}
