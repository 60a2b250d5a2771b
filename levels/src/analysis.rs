//! The values of all moves of a position at several depths: what players of different strength see.
//!
//! Every legal move is searched to depths of one to four plies (plus quiescence), the best of them to six plies and the
//! best of these to nine; the static evaluation after the move models players who do not consider replies. Each move is
//! searched alone, so that its value is exact and not a bound. The analysis depends on the game and the weights alone:
//! the table is cleared before each position, and depths end the searches, not time. A short clock cuts the depths, and so
//! does [`MAX_NODES`], which only positions with many queens reach.

use dyad_engine::board::{Board, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::{Evaluator, Weights};
use dyad_engine::search::{BestTwo, Bound, Info, Limits, Options, Report};
use dyad_engine::value::{MATE, Value};
use std::sync::Arc;
use std::time::Duration;

/// Number of depths, with the static evaluation as the first.
pub const DEPTHS: usize = 7;

/// Plies of each depth, without quiescence.
pub const PLIES: [u32; DEPTHS] = [0, 1, 2, 3, 4, 6, 9];
/// The steps of an analysis: search depth in plies, and how many of the best moves are searched.
const STEPS: [(u32, usize); 3] = [(4, usize::MAX), (6, 8), (9, 4)];

/// Nodes of [`MoveAnalyzer::analyze`], at most; most positions take 5,000 to 35,000.
pub const MAX_NODES: u64 = 300_000;

/// Largest transposition table of [`MoveAnalyzer::deepen`], in megabytes. It is cleared for each position.
const MAX_TABLE: u64 = 16;

/// A move and its values.
#[derive(Clone, Debug)]
pub struct AnalyzedMove {
    /// The move.
    pub mv: Move,
    /// Values at each depth for the side to move, in search units.
    pub values: [Value; DEPTHS],
    /// The last of them, or the value of the deepened search.
    pub deep: Value,
    /// The report of the deepest search of the move; `None` if time was too short for one.
    pub info: Option<Info>,
}

/// The legal moves of a position, in the order of generation, with their values.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The moves.
    pub moves: Vec<AnalyzedMove>,
    /// Nodes searched.
    pub nodes: u64,
    /// Plies to which the best moves were searched.
    pub plies: u32,
}

impl Analysis {
    /// Whether each move repeats a position of `game`, whose current position was analyzed.
    pub fn repeats(&self, game: &Game) -> Vec<bool> {
        let repeats = |analyzed: &AnalyzedMove| game.keys().contains(&game.board().after(analyzed.mv).key());
        self.moves.iter().map(repeats).collect()
    }
}

/// Analyzes positions; one per thread.
pub struct MoveAnalyzer {
    engine: Engine,
    evaluator: Evaluator,
    options: Options,
}

impl MoveAnalyzer {
    /// Creates an analyzer with a table of a megabyte.
    ///
    /// # Panics
    /// If there is no memory for the table.
    pub fn new(weights: Arc<Weights>) -> MoveAnalyzer {
        let evaluator = Evaluator::new(Arc::clone(&weights));
        let engine = Engine::with_hash(weights, 1).expect("a megabyte for the table");
        MoveAnalyzer { engine, evaluator, options: Options::default() }
    }

    /// Enlarges the table for [`deepen`](Self::deepen) with this many nodes, if there is memory.
    pub(crate) fn resize_table(&mut self, nodes: u64) {
        // An entry for each node.
        let megabytes = nodes.saturating_mul(Engine::HASH_ENTRY_BYTES).div_ceil(1 << 20).clamp(1, MAX_TABLE);
        // Without memory the table stays as it is or becomes smaller, which costs speed alone.
        let _ = self.engine.set_hash(megabytes.next_power_of_two() as usize);
    }

    /// The weights of the evaluation.
    pub fn weights(&self) -> &Weights {
        self.engine.weights()
    }

    /// Analyzes the legal moves of the position of `game`, or those in `only` if it is not empty. `time` is a limit
    /// from the start of `control`, or from its `ponderhit`.
    pub fn analyze(&mut self, game: &Game, only: &[Move], time: Option<Duration>, control: &Control) -> Analysis {
        self.engine.clear();
        let board = game.board();
        let wanted = |mv: &&Move| only.is_empty() || only.contains(mv);
        let mut moves: Vec<AnalyzedMove> =
            board.moves().iter().filter(wanted).map(|&mv| self.static_eval(board, mv)).collect();
        let mut analysis = Analysis { moves: Vec::new(), nodes: moves.len() as u64, plies: 0 };
        let since = control.hit().unwrap_or(control.accepted);
        let in_time = || !control.stopped() && time.is_none_or(|time| since.elapsed() < time);
        for (plies, most) in STEPS {
            let mut limits = Limits { depth: Some(plies), movetime: time, ..Limits::default() };
            let mut order: Vec<usize> = (0..moves.len()).collect();
            order.sort_by_key(|&index| -moves[index].values[DEPTHS - 1]);
            let best_before = order.first().map_or(0, |&index| moves[index].values[DEPTHS - 1]);
            let (searched, rest) = order.split_at(most.min(order.len()));
            let mut complete = true;
            for (&index, left) in searched.iter().zip((1..=searched.len() as u64).rev()) {
                limits.nodes = Some(MAX_NODES.saturating_sub(analysis.nodes) / left);
                complete &=
                    in_time() && self.search_move(game, &mut moves[index], &limits, control, &mut analysis.nodes);
            }
            if !complete {
                break;
            }
            analysis.plies = plies;
            // The other moves change with the best one, and stay below the worst searched one.
            let deepest = |&index: &usize| moves[index].values[DEPTHS - 1];
            let best = searched.iter().map(deepest).max().unwrap_or(0);
            let worst = searched.iter().map(deepest).min().unwrap_or(0);
            for &index in rest {
                let from = PLIES.iter().position(|&depth| depth == plies).unwrap_or(DEPTHS - 1);
                let estimate = (moves[index].values[from] + best - best_before).max(-MATE).min(worst);
                moves[index].values[from..].fill(estimate);
            }
        }
        moves.iter_mut().for_each(|analyzed| analyzed.deep = analyzed.values[DEPTHS - 1]);
        analysis.moves = moves;
        analysis
    }

    /// Values the two best moves of an analysis by a search of the whole position with this many nodes. Call it right
    /// after that analysis; without effect on one that time cut short, and on a single move.
    pub(crate) fn deepen(
        &mut self,
        game: &Game,
        analysis: &mut Analysis,
        nodes: u64,
        time: Option<Duration>,
        control: &Control,
    ) {
        if analysis.plies < PLIES[DEPTHS - 1] || analysis.moves.len() < 2 {
            return;
        }
        let searchmoves = analysis.moves.iter().map(|analyzed| analyzed.mv).collect();
        let limits = Limits { nodes: Some(nodes), movetime: time, searchmoves, ..Limits::default() };
        let options = Options { multipv: 2, ..self.options.clone() };
        let mut best_two = BestTwo::default();
        let outcome = self.engine.search(game, &limits, &options, control, &mut |report| best_two.note(report));
        analysis.nodes += outcome.nodes;
        // Values of smaller depths do not compare with those of the analysis.
        let Some(found) = best_two.lines().filter(|found| found[0].depth >= PLIES[DEPTHS - 1]) else { return };
        let before = analysis.moves.iter().map(|analyzed| analyzed.deep).max().unwrap_or(0);
        let worst = found[0].value.min(found[1].value);
        let change = found[0].value.max(found[1].value) - before;
        for analyzed in &mut analysis.moves {
            match found.iter().find(|info| info.pv.first() == Some(&analyzed.mv)) {
                Some(info) => {
                    analyzed.deep = info.value;
                    analyzed.info = Some(info.clone());
                }
                None => analyzed.deep = (analyzed.deep + change).max(-MATE).min(worst),
            }
        }
    }

    fn static_eval(&mut self, board: &Board, mv: Move) -> AnalyzedMove {
        let after = board.after(mv);
        self.evaluator.reset(&after);
        let value = -self.evaluator.evaluate(&after);
        AnalyzedMove { mv, values: [value; DEPTHS], deep: value, info: None }
    }

    /// Searches one move by iterative deepening; false if the search was cut short.
    fn search_move(
        &mut self,
        game: &Game,
        analyzed: &mut AnalyzedMove,
        limits: &Limits,
        control: &Control,
        nodes: &mut u64,
    ) -> bool {
        let limits = Limits { searchmoves: vec![analyzed.mv], ..limits.clone() };
        let mut reached = 0;
        let mut on_report = |report: &Report| {
            let Report::Info(info) = report else { return };
            if info.bound != Bound::Exact || info.depth <= reached {
                return;
            }
            reached = info.depth;
            if let Some(from) = PLIES.iter().position(|&depth| depth >= info.depth) {
                analyzed.values[from..].fill(info.value);
            }
            analyzed.info = Some(info.clone());
        };
        let outcome = self.engine.search(game, &limits, &self.options, control, &mut on_report);
        *nodes += outcome.nodes;
        limits.depth.is_none_or(|plies| reached >= plies)
    }
}
