//! A player of a given strength: it analyzes a position and draws a move from what the model says.
//!
//! The draw depends on the seed, the game, the position and how often it stood, and on nothing else, so that the same move
//! comes after a take-back. People have better and worse days, and so do levels: their strength is drawn for each game
//! around its mean, as Elo's rating system takes it to be (The Rating of Chessplayers, 1978). The analysis has depths and nodes and no time, so that a level is the same on any machine; only where
//! the clock is too short is it cut.

use super::analysis::{Analysis, Analyst, Valued};
use super::cues::{Scene, pawns};
use super::file::{MoveModel, Strength};
use super::model::{Choice, Level};
use crate::board::{Board, Color, Game, Piece, Squares};
use crate::control::Control;
use crate::engine::{AnyEngine, AnyModel, bounds, game_over};
use crate::eval::Weights;
use crate::hash::{GOLDEN, mix};
use crate::search::{Info, Limits, Options, Outcome, Report, Score};
use crate::tt::{Bound, HashError};
use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Instant;

/// From this rating of the model on the simplest endings are won, a queen or a rook against a bare king: by every
/// level, as the weakest has a higher one, but not by every style.
pub const KNOWS_ENDINGS: f64 = 1100.0;

/// Who plays: a model at a strength.
#[derive(Clone, Debug)]
pub struct Persona {
    /// What they are called.
    pub name: String,
    /// The model.
    pub model: Arc<MoveModel>,
    /// How it plays.
    pub playing: Playing,
    /// Seed of the draws.
    pub seed: u64,
}

/// How a model plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Playing {
    /// With this Elo over many games.
    Elo(f64),
    /// With the same strength in each game.
    Strength(Strength),
}

impl Persona {
    /// A model at an Elo.
    #[must_use]
    pub fn with_elo(model: &Arc<MoveModel>, elo: f64, seed: u64) -> Persona {
        Persona { name: format!("level-{elo}"), model: Arc::clone(model), playing: Playing::Elo(elo), seed }
    }

    /// The style of one player: a model that is the same at every rating. What decides is the rating that it was found most
    /// like (`made.rating`).
    #[must_use]
    pub fn with_style(style: &Arc<MoveModel>, seed: u64) -> Persona {
        let rating = style.made["rating"].as_f64().unwrap_or(KNOWS_ENDINGS);
        let name = format!("style-{}", style.name);
        Persona { name, ..Persona::with_strength(style, Strength { rating, care: 0.0, nodes: 0 }, seed) }
    }

    /// A model at a strength of its own scale.
    #[must_use]
    pub fn with_strength(model: &Arc<MoveModel>, strength: Strength, seed: u64) -> Persona {
        let Strength { rating, care, nodes } = strength;
        let name = format!("rating-{rating}-{care}-{nodes}");
        Persona { name, model: Arc::clone(model), playing: Playing::Strength(strength), seed }
    }

    /// How it plays in the game of this number.
    #[must_use]
    pub fn strength(&self, game: u64) -> Strength {
        match self.playing {
            Playing::Elo(elo) => self.model.strength(elo, day(mix(self.seed ^ mix(game)))),
            Playing::Strength(strength) => strength,
        }
    }
}

/// Plays as a [`Persona`].
pub struct Player {
    persona: Persona,
    /// The number of the game.
    game: u64,
    /// How it plays in this game.
    strength: Strength,
    level: Level,
    analyst: Analyst,
}

impl Player {
    /// A player. The weights are always those built in: with others a level would be another one.
    #[must_use]
    pub fn new(persona: Persona) -> Player {
        let strength = persona.strength(0);
        let level = Level::new(&persona.model.parameters, strength.rating);
        let mut analyst = Analyst::new(Weights::embedded());
        analyst.make_room(strength.nodes);
        Player { persona, game: 0, strength, level, analyst }
    }

    /// Becomes another.
    pub fn set_persona(&mut self, persona: Persona) {
        self.persona = persona;
        self.prepare();
    }

    /// Plays this game as the persona does.
    fn prepare(&mut self) {
        self.strength = self.persona.strength(self.game);
        self.level = Level::new(&self.persona.model.parameters, self.strength.rating);
        self.analyst.make_room(self.strength.nodes);
    }

    /// Index of the move that is played.
    fn choose(&self, game: &Game, analysis: &Analysis) -> usize {
        if self.strength.rating >= KNOWS_ENDINGS && wins_simply(game.board()) {
            return best(&analysis.moves);
        }
        let shares = self.probabilities(game, analysis);
        let mut left = unit(self.draw(game)) * shares.iter().sum::<f64>();
        for (index, share) in shares.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return index;
            }
        }
        best(&analysis.moves)
    }

    /// What the moves are drawn by: probabilities, up to a common factor.
    fn probabilities(&self, game: &Game, analysis: &Analysis) -> Vec<f64> {
        let choice = choice(game, analysis);
        let care = self.strength.care;
        let best = analysis.moves.iter().map(|valued| pawns(valued.deep)).fold(f64::NEG_INFINITY, f64::max);
        let with_care = |(p, valued): (f64, &Valued)| p * (-care * (best - pawns(valued.deep))).exp();
        let mut shares: Vec<f64> =
            self.level.predict(&choice).moves.into_iter().zip(&analysis.moves).map(with_care).collect();
        let highest = shares.iter().copied().fold(0.0, f64::max);
        shares.iter_mut().filter(|share| **share < LEAST_SHARE * highest).for_each(|share| *share = 0.0);
        shares
    }

    /// A number that stands for the position as it stands now.
    fn draw(&self, game: &Game) -> u64 {
        let seen = game.repetitions() as u64;
        let word = self.persona.seed ^ game.board().key().rotate_left(17) ^ seen.wrapping_mul(GOLDEN);
        mix(mix(word ^ mix(self.game)).wrapping_add(self.strength.rating.to_bits()))
    }

    fn info(&self, board: &Board, valued: &Valued, analysis: &Analysis, since: Instant) -> Info {
        let glanced = || {
            let value = valued.values[0];
            let weights = self.analyst.weights();
            let phase = weights.phase(board);
            Info {
                depth: 1,
                seldepth: 1,
                multipv: 1,
                value,
                score: Score::Cp(weights.units.centipawns(value, phase)),
                bound: Bound::Exact,
                wdl: weights.units.chances(value, phase),
                nodes: 0,
                time: since.elapsed(),
                hashfull: 0,
                tbhits: 0,
                pv: vec![valued.mv],
            }
        };
        let info = valued.info.clone().unwrap_or_else(glanced);
        Info { multipv: 1, nodes: analysis.nodes, time: since.elapsed(), tbhits: 0, ..info }
    }
}

/// Moves that are so much less likely than the likeliest are not played: the tail of a model is where it knows least.
const LEAST_SHARE: f64 = 0.003;

/// What the model sees of an analysis.
#[must_use]
pub fn choice(game: &Game, analysis: &Analysis) -> Choice {
    let (board, moves) = (game.board(), game.moves());
    let before = |plies: usize| moves.len().checked_sub(plies).map(|index| moves[index]);
    let scene = Scene { board, last: before(1), last_captured: last_captured(game), own: before(2) };
    let values: Vec<_> = analysis.moves.iter().map(|valued| valued.values).collect();
    let played: Vec<_> = analysis.moves.iter().map(|valued| valued.mv).collect();
    let repeats: Vec<bool> = played.iter().map(|&mv| game.keys().contains(&board.after(mv).key())).collect();
    Choice::new(&scene, &played, &values, &repeats)
}

/// Whether the last move of a game captured.
#[must_use]
pub fn last_captured(game: &Game) -> bool {
    game.moves().split_last().is_some_and(|(&last, earlier)| {
        earlier.iter().fold(*game.start(), |board, &mv| board.after(mv)).is_capture(last)
    })
}

/// The move that is worth most.
fn best(moves: &[Valued]) -> usize {
    let value = |&index: &usize| (moves[index].deep, std::cmp::Reverse(index));
    (0..moves.len()).max_by_key(value).unwrap_or(0)
}

/// Whether the opponent has a bare king and the player a queen or a rook.
fn wins_simply(board: &Board) -> bool {
    let us: Color = board.side_to_move();
    let heavy = board.colored(us, Piece::Queen) | board.colored(us, Piece::Rook);
    board.colors(!us).len() == 1 && heavy.any()
}

/// How good a day is that has this number: normally distributed, with a standard deviation of one, and none is further
/// off than [`BEST_DAY`].
fn day(word: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(word)).ln()).sqrt();
    (radius * (TAU * unit(mix(word))).cos()).clamp(-BEST_DAY, BEST_DAY)
}

/// Standard deviations of the best and of the worst day.
const BEST_DAY: f64 = 2.0;

/// A number from 0 up to 1.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

impl AnyEngine for Player {
    fn clear(&mut self) {}

    fn begin(&mut self, game: u64) {
        self.game = game;
        self.prepare();
    }

    /// Chooses a move as people do. Time and the moves to search are looked at, and no other limit: what a level sees
    /// does not depend on them. It does not think while it ponders.
    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        options: &Options,
        control: &Control,
        report: &mut (dyn FnMut(&Report) + Send),
    ) -> Outcome {
        control.wait(limits.infinite);
        let since = control.hit().unwrap_or_else(|| control.accepted());
        let board = game.board();
        let time = bounds(limits, options).map(|bounds| bounds.hard);
        let mut analysis = self.analyst.analyze(game, &limits.searchmoves, time, control);
        if self.strength.nodes > 0 {
            self.analyst.deepen(game, &mut analysis, self.strength.nodes, time, control);
        }
        if analysis.moves.is_empty() {
            let outcome = game_over(board);
            report(&Report::Answer(outcome.clone()));
            return outcome;
        }
        let valued = &analysis.moves[self.choose(game, &analysis)];
        let info = self.info(board, valued, &analysis, since);
        report(&Report::Info(info.clone()));
        let outcome = Outcome {
            best: Some(valued.mv),
            ponder: info.pv.get(1).copied(),
            value: info.value,
            score: info.score,
            depth: info.depth,
            nodes: analysis.nodes,
            pv: info.pv,
        };
        report(&Report::Answer(outcome.clone()));
        outcome
    }
}

impl AnyModel for Persona {
    fn id(&self) -> String {
        self.name.clone()
    }

    fn engine(self: Arc<Persona>, _megabytes: usize, _threads: usize) -> Result<Box<dyn AnyEngine>, HashError> {
        Ok(Box::new(Player::new((*self).clone())))
    }
}
