//! A player of a given strength: analyzes a position and draws a move from the model's probabilities.
//!
//! The draw depends on the seed, the game, the position and its repetitions alone, so a take-back leads to the same
//! move. As in Elo's model (The Rating of Chessplayers, 1978), the strength in a game is normally distributed around
//! the rating. Depths and nodes limit the analysis, not time, so a level plays the same on any machine; only a short
//! clock cuts it. The time that a person would take is waited for afterwards, if that is wanted.

use super::analysis::{Analysis, AnalyzedMove, MoveAnalyzer};
use super::features::{PositionContext, pawns};
use super::file::{MoveModel, Strength};
use super::model::{PositionInput, SkillLevel};
use super::pace::Pace;
use dyad_engine::board::{Board, Color, Game, Move, Piece, Squares};
use dyad_engine::control::{Control, Instant};
use dyad_engine::engine::{bounds, game_over};
use dyad_engine::eval::Weights;
use dyad_engine::hash::{GOLDEN, mix, unit};
use dyad_engine::search::{Bound, Info, Limits, Options, Outcome, Report, Score};
use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Duration;

/// From this rating of the model, the player mates with a queen or a rook against a bare king.
pub(crate) const BASIC_MATES_RATING: f64 = 900.0;

/// A model at a strength.
#[derive(Clone, Debug)]
pub struct PlayerProfile {
    /// The name of the player.
    pub name: String,
    /// The model.
    pub model: Arc<MoveModel>,
    /// The Elo; the strength of a game is drawn around it.
    pub elo: f64,
    /// Seed of the draws.
    pub seed: u64,
    /// Whether a move takes the time of a person, within the clock. Without effect on limits other than time.
    pub think_time: bool,
}

impl PlayerProfile {
    /// A model at an Elo.
    pub fn with_elo(model: &Arc<MoveModel>, elo: f64, seed: u64) -> PlayerProfile {
        let (name, model) = (format!("level-{elo}"), Arc::clone(model));
        PlayerProfile { name, model, elo, seed, think_time: false }
    }

    /// An identifier of exactly what it plays.
    pub fn id(&self) -> String {
        format!("{} {}", self.name, self.model.id())
    }

    /// The strength in the game with this number.
    pub fn strength(&self, game: u64) -> Strength {
        self.model.strength(self.elo, normal_deviation(mix(self.seed ^ mix(game))))
    }
}

/// Plays as a [`PlayerProfile`].
pub struct LevelPlayer {
    profile: PlayerProfile,
    game: u64,
    strength: Strength,
    level: SkillLevel,
    analyzer: MoveAnalyzer,
}

impl LevelPlayer {
    /// Creates a player. It evaluates with the built-in weights, which the levels are calibrated for.
    pub fn new(profile: PlayerProfile) -> LevelPlayer {
        let strength = profile.strength(0);
        let level = SkillLevel::new(&profile.model.parameters, strength.rating);
        let mut analyzer = MoveAnalyzer::new(Weights::embedded());
        analyzer.resize_table(strength.nodes);
        LevelPlayer { profile, game: 0, strength, level, analyzer }
    }

    /// Changes the profile.
    pub fn set_profile(&mut self, profile: PlayerProfile) {
        self.profile = profile;
        self.set_up_game();
    }

    /// Begins the game of this number, which seeds the draws.
    pub fn new_game(&mut self, number: u64) {
        self.game = number;
        self.set_up_game();
    }

    fn set_up_game(&mut self) {
        self.strength = self.profile.strength(self.game);
        self.level = SkillLevel::new(&self.profile.model.parameters, self.strength.rating);
        self.analyzer.resize_table(self.strength.nodes);
    }

    /// Draws a move. Of the limits, only time and `searchmoves` apply, since others would change the level. Pondering
    /// just waits, and nothing is reported before the thinking time of a person is over.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        options: &Options,
        control: &Control,
        report: &mut (dyn FnMut(&Report) + Send),
    ) -> Outcome {
        control.wait(limits.infinite);
        let since = control.hit().unwrap_or(control.accepted);
        let board = game.board();
        let time = bounds(limits, options).map(|bounds| bounds.hard);
        let mut analysis = self.analyzer.analyze(game, &limits.searchmoves, time, control);
        if self.strength.nodes > 0 {
            self.analyzer.deepen(game, &mut analysis, self.strength.nodes, time, control);
        }
        if analysis.moves.is_empty() {
            let outcome = game_over(board);
            report(&Report::Answer(outcome.clone()));
            return outcome;
        }
        let predicted = self.level.predict(&position_input(game, &analysis)).moves;
        let analyzed = &analysis.moves[self.choose(game, &analysis, &predicted)];
        if let Some(time) = self.thinking_time(game, analyzed.mv, &predicted, limits, options) {
            control.wait_until(since, time);
        }
        let info = self.info(board, analyzed, &analysis, since);
        report(&Report::Info(info.clone()));
        let outcome = Outcome {
            best: Some(analyzed.mv),
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

    /// Index of the move to play. `predicted` are the probabilities of the model.
    fn choose(&self, game: &Game, analysis: &Analysis, predicted: &[f64]) -> usize {
        if self.strength.rating >= BASIC_MATES_RATING && is_basic_mate(game.board()) {
            return best_move(&analysis.moves);
        }
        let probabilities = self.tempered(analysis, predicted);
        let mut left = unit(self.random_word(game)) * probabilities.iter().sum::<f64>();
        for (index, probability) in probabilities.iter().enumerate() {
            left -= probability;
            if left < 0.0 {
                return index;
            }
        }
        best_move(&analysis.moves)
    }

    /// Probabilities of the moves by model and inverse temperature, up to a common factor.
    fn tempered(&self, analysis: &Analysis, predicted: &[f64]) -> Vec<f64> {
        let inverse_temperature = self.strength.inverse_temperature;
        let best = analysis.moves.iter().map(|analyzed| pawns(analyzed.deep)).fold(f64::NEG_INFINITY, f64::max);
        let scaled =
            |(p, analyzed): (&f64, &AnalyzedMove)| p * (-inverse_temperature * (best - pawns(analyzed.deep))).exp();
        let mut probabilities: Vec<f64> = predicted.iter().zip(&analysis.moves).map(scaled).collect();
        let highest = probabilities.iter().copied().fold(0.0, f64::max);
        probabilities.iter_mut().filter(|p| **p < MIN_RELATIVE_PROBABILITY * highest).for_each(|p| *p = 0.0);
        probabilities
    }

    /// The time from the start of the clock at which a person would play this move; `None` if the limits have no time.
    fn thinking_time(
        &self,
        game: &Game,
        mv: Move,
        predicted: &[f64],
        limits: &Limits,
        options: &Options,
    ) -> Option<Duration> {
        let has_other_limits = limits.nodes.is_some() || limits.depth.is_some();
        let bounds = bounds(limits, options).filter(|_| self.profile.think_time && !has_other_limits)?;
        let is_recapture = game.last_capture() == Some(mv.to());
        let deviation = normal_deviation(mix(self.random_word(game)));
        Some(Pace { probabilities: predicted, is_recapture, plies: game.moves().len(), deviation }.time(&bounds))
    }

    fn random_word(&self, game: &Game) -> u64 {
        let repetitions = game.repetitions() as u64;
        let word = self.profile.seed ^ game.board().key().rotate_left(17) ^ repetitions.wrapping_mul(GOLDEN);
        mix(mix(word ^ mix(self.game)).wrapping_add(self.strength.rating.to_bits()))
    }

    fn info(&self, board: &Board, analyzed: &AnalyzedMove, analysis: &Analysis, since: Instant) -> Info {
        let static_info = || {
            let value = analyzed.values[0];
            let weights = self.analyzer.weights();
            let phase = weights.phase(board);
            Info {
                depth: 1,
                seldepth: 1,
                multipv: 1,
                value,
                score: Score::Cp(weights.units.win_rate.centipawns(value, phase)),
                bound: Bound::Exact,
                wdl: weights.units.win_rate.chances(value, phase),
                nodes: 0,
                time: since.elapsed(),
                hashfull: 0,
                tbhits: 0,
                pv: vec![analyzed.mv],
            }
        };
        // A player that walks into a mate does not see it.
        let is_blind = |info: &Info| matches!(info.score, Score::Mate(moves) if moves < 0);
        let info = analyzed.info.clone().filter(|info| !is_blind(info)).unwrap_or_else(static_info);
        Info { multipv: 1, nodes: analysis.nodes, time: since.elapsed(), tbhits: 0, ..info }
    }
}

/// Moves less likely than this, relative to the likeliest one, are not played: the tail of the model is its least
/// reliable part.
const MIN_RELATIVE_PROBABILITY: f64 = 0.003;

/// The model's input for an analyzed position.
pub(crate) fn position_input(game: &Game, analysis: &Analysis) -> PositionInput {
    let values: Vec<_> = analysis.moves.iter().map(|analyzed| analyzed.values).collect();
    let moves: Vec<_> = analysis.moves.iter().map(|analyzed| analyzed.mv).collect();
    PositionInput::new(&PositionContext::of(game), &moves, &values, &analysis.repeats(game))
}

fn best_move(moves: &[AnalyzedMove]) -> usize {
    let value = |&index: &usize| (moves[index].deep, std::cmp::Reverse(index));
    (0..moves.len()).max_by_key(value).unwrap_or(0)
}

/// Whether the opponent has a bare king and the side to move a queen or a rook.
fn is_basic_mate(board: &Board) -> bool {
    let us: Color = board.side_to_move();
    let heavy = board.colored(us, Piece::Queen) | board.colored(us, Piece::Rook);
    board.colors(!us).len() == 1 && heavy.any()
}

/// A normally distributed number from a random word (Box-Muller), clamped to [`MAX_DEVIATION`].
fn normal_deviation(word: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(word)).ln()).sqrt();
    (radius * (TAU * unit(mix(word))).cos()).clamp(-MAX_DEVIATION, MAX_DEVIATION)
}

/// Largest deviation of a game's strength, in standard deviations.
const MAX_DEVIATION: f64 = 2.0;
