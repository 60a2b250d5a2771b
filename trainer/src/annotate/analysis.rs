//! A game move by move: what it is worth, what would have been better, and why.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyad_engine::board::{Board, ChessMove, Color, Game, color_name};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::explain::{Comparison, PvResolver};
use dyad_engine::params::Params;
use dyad_engine::search::{Limits, Options, Score};

use super::judgement::{Judgement, opposite};
use super::reason::{self, Mark};
use crate::base::error::Error;
use crate::base::parallel::ordered_map;
use crate::data::game::GameRecord;
use crate::data::pgn::Notes;
use crate::data::score::GameResult;

/// A game with what was found of it.
#[derive(Clone, Debug)]
pub struct Annotated {
    /// All its tags, in their order.
    pub tags: Vec<(String, String)>,
    /// What it said before the first move.
    pub foreword: Vec<String>,
    /// The position it begins with.
    pub start: Board,
    /// Its moves.
    pub plies: Vec<Ply>,
    /// How it ended, if it did.
    pub result: Option<GameResult>,
}

/// A move of a game.
#[derive(Clone, Debug)]
pub struct Ply {
    /// The move.
    pub mv: ChessMove,
    /// What the game said behind it.
    pub comments: Vec<String>,
    /// What was found; none where the work was broken off.
    pub finding: Option<Finding>,
}

/// What was found of a move.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The score after it, as White sees it; none behind a mate.
    pub score: Option<Score>,
    /// What was wrong with it.
    pub fault: Option<Fault>,
}

/// What was wrong with a move.
#[derive(Clone, Debug)]
pub struct Fault {
    /// How bad it was.
    pub judgement: Judgement,
    /// The better line.
    pub line: Vec<ChessMove>,
    /// The score of the better line, as White sees it.
    pub better: Score,
    /// Why, in one sentence.
    pub why: String,
    /// What to show on the board after the move.
    pub marks: Vec<Mark>,
    /// What to show at the end of the better line.
    pub goal: Vec<Mark>,
}

/// Positions are searched one at a time, and no clock runs.
const OPTIONS: Options = Options { multipv: 1, move_overhead: Duration::ZERO, params: Params::DEFAULT, tables: None };

/// What a search is done with. One a thread.
pub(super) struct Analyst {
    engine: Engine,
    resolver: PvResolver,
    nodes: u64,
}

impl Analyst {
    /// An analyst that spends so many nodes on a move, and as many on a comparison.
    ///
    /// # Errors
    /// When there is no memory for a table of so many megabytes.
    pub(super) fn new(weights: &Arc<Weights>, nodes: u64, megabytes: usize) -> Result<Analyst, Error> {
        let engine = Engine::with_hash(Arc::clone(weights), megabytes);
        let engine = engine.map_err(|error| Error::Settings(error.to_string()))?;
        Ok(Analyst { engine, resolver: PvResolver::new(Arc::clone(weights)), nodes })
    }

    /// What is to be said of a legal move of the current position of `game`.
    fn examine(&mut self, game: &Game, mv: ChessMove, control: &Control) -> Finding {
        let board = game.board();
        let after = board.after(mv);
        if !after.has_legal_move() {
            // Mate needs no number; a stalemate may be a mistake.
            if after.in_check() {
                return Finding { score: None, fault: None };
            }
        }
        let white = |score| if board.side_to_move() == Color::White { score } else { opposite(score) };
        let limits = Limits::nodes(self.nodes);
        self.engine.clear();
        let found = self.engine.search(game, &limits, &OPTIONS, control, &mut |_| {});
        let best = found.best.filter(|&best| best != mv);
        let Some(best) = best else { return Finding { score: Some(white(found.score)), fault: None } };
        let compared =
            Comparison::search(&mut self.engine, &mut self.resolver, game, [best, mv], &limits, &OPTIONS, control);
        let Some(compared) = compared else { return Finding { score: None, fault: None } };
        let [better, played] = compared.moves.each_ref().map(|examined| examined.score);
        let fault = Judgement::of(better, played).map(|judgement| Fault {
            judgement,
            line: compared.moves[0].line.clone(),
            better: white(better),
            why: reason::sentence(&compared),
            marks: reason::marks(&compared, &after),
            goal: reason::goal(&compared),
        });
        Finding { score: Some(white(played)), fault }
    }
}

/// Annotates a game on several threads, with an analyst for each of them. `told` hears of each move that is done. A
/// control that is stopped ends it: the moves that are done by then keep what was found.
///
/// # Errors
/// Those of `analyst`.
pub(super) fn annotate_game(
    record: &GameRecord,
    notes: Notes,
    threads: usize,
    analyst: impl Fn() -> Result<Analyst, Error> + Sync,
    control: &Control,
    mut told: impl FnMut(&Finding),
) -> Result<Annotated, Error> {
    let moves: Vec<ChessMove> = record.moves.iter().map(|played| played.mv).collect();
    let positions = (0..moves.len()).map(|ply| {
        let mut game = Game::new(record.start);
        moves[..ply].iter().for_each(|&mv| game.push(mv));
        (game, moves[ply])
    });
    let mut findings = Vec::with_capacity(moves.len());
    let take = |finding: Finding| {
        // A search that was broken off has found something, which says nothing.
        if control.stopped() {
            return Ok(ControlFlow::Break(()));
        }
        told(&finding);
        findings.push(finding);
        Ok(ControlFlow::Continue(()))
    };
    let work = |analyst: &mut Analyst, (game, mv): (Game, ChessMove)| Ok(analyst.examine(&game, mv, control));
    ordered_map(threads, positions, analyst, work, take, &AtomicBool::new(false))?;
    let mut findings = findings.into_iter();
    let mut comments = notes.comments.into_iter();
    let foreword = comments.next().unwrap_or_default();
    let plies =
        moves.iter().map(|&mv| Ply { mv, comments: comments.next().unwrap_or_default(), finding: findings.next() });
    Ok(Annotated { tags: notes.tags, foreword, start: record.start, plies: plies.collect(), result: record.result })
}

impl Annotated {
    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|tag| tag.0 == name).map(|tag| tag.1.as_str())
    }

    /// White's or Black's name, `?` where it is not known.
    #[must_use]
    pub fn player(&self, color: Color) -> &str {
        let name = self.tag(color_name(color));
        name.filter(|name| !name.is_empty()).unwrap_or("?")
    }

    /// Each move with the position it was played in.
    pub fn positions(&self) -> impl Iterator<Item = (Board, &Ply)> {
        self.plies.iter().scan(self.start, |board, ply| {
            let before = *board;
            *board = before.after(ply.mv);
            Some((before, ply))
        })
    }

    /// Whether all moves were annotated.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.plies.iter().all(|ply| ply.finding.is_some())
    }
}

impl Ply {
    /// What was wrong with the move.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.finding.as_ref()?.fault.as_ref()
    }
}
