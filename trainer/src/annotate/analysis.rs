//! Analysis of a game, move by move: evaluation, better move, explanation.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyad_engine::board::{Board, Color, Game, Move, Squares, color_name};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::params::Params;
use dyad_engine::search::{Limits, Options, Outcome, Score};
use dyad_explain::Comparison;
use dyad_explain::sentence::{self, Explanation};
use dyad_formats::error::Error;
use dyad_formats::game::GameRecord;
use dyad_formats::pgn::{Note, Notes};
use dyad_formats::score::GameResult;

use super::judgement::{Judgement, accuracy, opposite};
use crate::arena::pgn_writer::tag_value;
use crate::base::parallel::ordered_map;

/// An annotated game.
#[derive(Clone, Debug)]
pub struct Annotated {
    /// All tags, in their order.
    pub tags: Vec<(String, String)>,
    /// Notes before the first move.
    pub foreword: Vec<Note>,
    /// The initial position.
    pub start: Board,
    /// The moves.
    pub plies: Vec<Ply>,
    /// The result, if the game ended.
    pub result: Option<GameResult>,
}

/// A move of a game.
#[derive(Clone, Debug)]
pub struct Ply {
    /// The move.
    pub mv: Move,
    /// The game's own notes on it.
    pub notes: Vec<Note>,
    /// The analysis; `None` if the annotation was stopped before.
    pub analysis: Option<MoveAnalysis>,
}

/// The analysis of a move.
#[derive(Clone, Debug)]
pub struct MoveAnalysis {
    /// Score after the move, from White's view; `None` after mate.
    pub score: Option<Score>,
    /// The mistake, if it was one.
    pub mistake: Option<Mistake>,
}

/// A mistake.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Its severity.
    pub judgement: Judgement,
    /// The better line.
    pub line: Vec<Move>,
    /// Score of the better line, from White's view.
    pub better: Score,
    /// Why it is one.
    pub explanation: Explanation,
}

impl Mistake {
    /// The mistake in words.
    pub fn words(&self) -> String {
        format!("{}. {}", self.judgement.name(), self.explanation.text).trim_end().to_string()
    }
}

/// How well a side played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayerSummary {
    /// Analyzed moves.
    pub moves: usize,
    /// Mean accuracy of the moves in percent, as Lichess computes that of a move.
    pub accuracy: f64,
    /// Inaccuracies, mistakes and blunders.
    pub mistake_counts: [usize; 3],
}

/// Table of a search in megabytes: small, because it is cleared for each search.
const HASH: usize = 8;
/// How many times longer a mistake is searched.
const LONGER: u64 = 4;
/// Single PV, no clock.
const OPTIONS: Options = Options { multipv: 1, move_overhead: Duration::ZERO, params: Params::DEFAULT, tables: None };

/// The searcher of one thread.
pub struct Analyst {
    engine: Engine,
    nodes: u64,
}

impl Analyst {
    /// An analyst with `nodes` nodes per move, and as many per comparison.
    ///
    /// # Errors
    /// When there is no memory for the table.
    pub fn new(weights: &Arc<Weights>, nodes: u64) -> Result<Analyst, Error> {
        Ok(Analyst { engine: Engine::with_hash(Arc::clone(weights), HASH)?, nodes })
    }

    /// Analyzes a legal move of the current position of `game`.
    fn analyze_move(&mut self, game: &Game, mv: Move, control: &Control) -> MoveAnalysis {
        let board = game.board();
        let after = board.after(mv);
        // Mate needs no score; stalemate may be a mistake.
        if after.in_check() && !after.has_legal_move() {
            return MoveAnalysis { score: None, mistake: None };
        }
        let white = |score| if board.side_to_move() == Color::White { score } else { opposite(score) };
        let (found, compared) = examine(&mut self.engine, game, mv, self.nodes, control);
        if found.best.is_none_or(|best| best == mv) {
            return MoveAnalysis { score: Some(white(found.score.after_move())), mistake: None };
        }
        let Some(compared) = compared else { return MoveAnalysis { score: None, mistake: None } };
        let [better, played] = scores(&compared);
        let mistake = Judgement::of(better, played).map(|judgement| Mistake {
            judgement,
            line: compared.moves[0].line.clone(),
            better: white(better),
            explanation: sentence::explain(&compared),
        });
        MoveAnalysis { score: Some(white(played.after_move())), mistake }
    }
}

/// The engine's choice in the current position of `game`, and its comparison with the legal move `mv` if that is another.
pub fn examine(
    engine: &mut Engine,
    game: &Game,
    mv: Move,
    nodes: u64,
    control: &Control,
) -> (Outcome, Option<Comparison>) {
    engine.clear();
    let found = engine.search(game, &Limits::nodes(nodes), &OPTIONS, control, &mut |_| {});
    let Some(best) = found.best.filter(|&best| best != mv) else { return (found, None) };
    let mut compare = |nodes| Comparison::search(engine, game, [best, mv], &Limits::nodes(nodes), &OPTIONS, control);
    let compared = compare(nodes);
    // A mistake is searched longer: the judgement and the explanation rest on these lines.
    let is_mistake = |compared: &Comparison| {
        let [better, played] = scores(compared);
        Judgement::of(better, played).is_some()
    };
    let longer = compared.as_ref().is_some_and(is_mistake).then(|| compare(LONGER * nodes)).flatten();
    (found, longer.or(compared))
}

/// The scores of the better move and the one played, from their player's view.
fn scores(compared: &Comparison) -> [Score; 2] {
    compared.moves.each_ref().map(|examined| examined.score)
}

/// Annotates a game on several threads, each with its own analyst. `on_move` is called for each finished move. If
/// `control` is stopped, moves finished by then keep their analysis.
///
/// # Errors
/// Those of `analyst`.
pub fn annotate_game(
    record: &GameRecord,
    notes: Notes,
    threads: usize,
    analyst: impl Fn() -> Result<Analyst, Error> + Sync,
    control: &Control,
    mut on_move: impl FnMut(&MoveAnalysis),
) -> Result<Annotated, Error> {
    let moves: Vec<Move> = record.moves.iter().map(|played| played.mv).collect();
    let positions = (0..moves.len()).map(|ply| {
        let mut game = Game::new(record.start);
        moves[..ply].iter().for_each(|&mv| game.push(mv));
        (game, moves[ply])
    });
    let mut analyses = Vec::with_capacity(moves.len());
    let take = |analysis: MoveAnalysis| {
        // The result of an interrupted search is not valid.
        if control.stopped() {
            return Ok(ControlFlow::Break(()));
        }
        on_move(&analysis);
        analyses.push(analysis);
        Ok(ControlFlow::Continue(()))
    };
    let work = |analyst: &mut Analyst, (game, mv): (Game, Move)| Ok(analyst.analyze_move(&game, mv, control));
    ordered_map(threads, positions, analyst, work, take, &AtomicBool::new(false))?;
    let mut analyses = analyses.into_iter();
    let (tags, mut notes) = (notes.tags, notes.moves.into_iter());
    let foreword = notes.next().unwrap_or_default();
    let plies = moves.iter().map(|&mv| Ply { mv, notes: notes.next().unwrap_or_default(), analysis: analyses.next() });
    Ok(Annotated { tags, foreword, start: record.start, plies: plies.collect(), result: record.result })
}

impl Annotated {
    /// The value of a tag, whatever the case of its name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        tag_value(&self.tags, name)
    }

    /// White's or Black's name, `?` if unknown.
    pub fn player(&self, color: Color) -> &str {
        let name = self.tag(color_name(color));
        name.filter(|name| !name.is_empty()).unwrap_or("?")
    }

    /// Each move with the position it was played in.
    pub fn positions(&self) -> impl Iterator<Item = (Board, &Ply)> {
        let boards = self.start.along(self.plies.iter().map(|ply| &ply.mv));
        boards.zip(&self.plies).map(|((board, _), ply)| (board, ply))
    }

    /// How well a side played; `None` without an analyzed move.
    pub fn summary(&self, color: Color) -> Option<PlayerSummary> {
        // With all pieces on the board a game begins level; the score of another start is not known.
        let level = (self.start.occupied().len() == 32).then_some(Score::Cp(0));
        let (mut summary, mut before) = (PlayerSummary::default(), level);
        for (board, ply) in self.positions() {
            let Some(analysis) = &ply.analysis else { break };
            if board.side_to_move() == color {
                let view = |score| if color == Color::White { score } else { opposite(score) };
                let best = analysis.mistake.as_ref().map(|mistake| mistake.better).or(before);
                // A move that mates loses nothing, and of one without a score before it nothing is known.
                let accuracy =
                    best.zip(analysis.score).map_or(100.0, |(best, played)| accuracy(view(best), view(played)));
                summary.moves += 1;
                summary.accuracy += accuracy;
                if let Some(mistake) = &analysis.mistake {
                    summary.mistake_counts[mistake.judgement as usize] += 1;
                }
            }
            before = analysis.score;
        }
        summary.accuracy /= summary.moves.max(1) as f64;
        (summary.moves > 0).then_some(summary)
    }
}

impl Ply {
    /// The game's own comments on the move.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().filter_map(|note| if let Note::Comment(text) = note { Some(text.as_str()) } else { None })
    }

    /// The mistake, if the move was one.
    pub fn mistake(&self) -> Option<&Mistake> {
        self.analysis.as_ref()?.mistake.as_ref()
    }
}
