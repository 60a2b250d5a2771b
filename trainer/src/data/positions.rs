//! Filters of positions for training.
//!
//! A collection has games of all strengths, book moves, forced moves, and the same opening positions thousands of
//! times. [`Filters`] select the positions, and each skipped position is counted under its [`SkipReason`], so that a
//! filter that skips nearly everything is noticed.
//!
//! Training and test sets must not share games: positions of one game are similar, and a test on them would measure
//! memorization. So the hash of the game decides: every program makes the same split without a list.

use std::ops::{Bound, RangeInclusive};

use clap::Args;
use dyad_engine::board::{Board, Color, Move};
use dyad_formats::epd::Epd;
use dyad_formats::game::{GameRecord, PlayedMove};
use dyad_formats::hash;
use dyad_formats::packed::{Packed, Sample};
use dyad_formats::score::{GameResult, Score};
use serde::{Deserialize, Serialize};

use crate::base::is_default;
use crate::base::logistic::{logit, sigmoid};
use crate::base::number::number;

/// Default percentage of held-out games.
pub const TEST_PERCENT: f64 = 5.0;
/// Range of percentages of held-out games.
pub const PERCENT: RangeInclusive<f64> = 0.0..=100.0;

/// Makes the split independent of other uses of the same hashes. It must not change: weights would be tested on
/// positions that they were trained on.
const SPLIT_SALT: u64 = 0x7370_6C69_7473_0001;

/// Whether the game with this hash is among the `percent` of the games that are held out.
pub fn is_held_out(game: u64, percent: f64) -> bool {
    hash::unit(hash::fold(SPLIT_SALT, game)) * 100.0 < percent
}

/// Conditions of the positions that become samples.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct Filters {
    /// Lowest rating of both players
    #[serde(rename = "min-players")]
    #[arg(long = "min-players", value_parser = number::<u32>(0..), value_name = "RATING")]
    pub players_rating: Option<u32>,
    /// First ply; 0 is White's first move
    #[arg(long, value_parser = number::<u32>(0..), value_name = "PLY", default_value_t = Self::default().min_ply)]
    pub min_ply: u32,
    /// At most N random positions of a game [default: all]
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..))]
    pub per_game: Option<usize>,
    /// Only positions with a score in the game's comments
    #[arg(long)]
    pub scored: bool,
    /// Skip positions with a score of PAWNS or more for either side, and mates [default: no limit]
    #[serde(rename = "max-score")]
    #[arg(long = "max-score", value_name = "PAWNS", value_parser = number(MAX_SCORE))]
    pub largest_score: Option<f64>,
    /// Only positions not in check whose move is neither a capture nor a promotion
    #[arg(long)]
    pub quiet: bool,
    /// Only positions not in check where no capture and no promotion wins material by static exchange
    #[arg(long = "quiescent")]
    pub quiescent: bool,
    /// Skip positions in check
    #[serde(rename = "skip-in-check")]
    #[arg(long = "skip-in-check")]
    pub no_checks: bool,
    /// Skip positions of games right after a capture.
    #[serde(rename = "settled", skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub skip_after_captures: bool,
    /// Skip games without a winner.
    #[serde(skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub decisive: bool,
    /// Lambda of the [scores](lambda_returns) of the samples: 0 for those of the searches alone.
    #[serde(skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub lambda: f64,
}

/// Range of [`Filters::largest_score`], in pawns.
const MAX_SCORE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Included(1e6));

/// Why a game or a position is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// The game has no winner.
    Result,
    /// A rating is missing or too low.
    Rating,
    /// The ply is before the first one.
    Ply,
    /// The move came out of a book.
    Book,
    /// There is no score, or a too large one.
    Score,
    /// The side to move is in check.
    Check,
    /// The move is a capture or a promotion.
    Noisy,
    /// The move before was a capture.
    Captured,
    /// A capture or promotion would win material.
    Tactical,
    /// There is only one legal move, or none.
    Forced,
    /// The move mates.
    Mate,
    /// The same game was read before.
    DuplicateGame,
    /// The same position was taken before.
    Duplicate,
    /// The game gave enough positions.
    PerGame,
    /// Enough positions were drawn.
    Count,
}

impl SkipReason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Result => "no winner",
            SkipReason::Rating => "rating",
            SkipReason::Ply => "ply",
            SkipReason::Book => "book move",
            SkipReason::Score => "score",
            SkipReason::Check => "in check",
            SkipReason::Noisy => "capture or promotion",
            SkipReason::Captured => "after a capture",
            SkipReason::Tactical => "something to win",
            SkipReason::Forced => "only move",
            SkipReason::Mate => "mating move",
            SkipReason::DuplicateGame => "game came before",
            SkipReason::Duplicate => "position came before",
            SkipReason::PerGame => "enough of its game",
            SkipReason::Count => "enough in all",
        }
    }
}

/// A position that passed the filters.
#[derive(Clone, Copy)]
pub struct PositionCandidate {
    /// The sample.
    pub sample: Packed,
    /// Equal for positions that count as the same.
    pub identity: u64,
}

/// Scores of this many pawns and more are not used to fit the evaluation.
const LARGEST_SCORE: f64 = 10.0;
/// Lambda of self-training, by which weights learn from what later searches found (L37 in docs/experiments.md).
const LAMBDA: f64 = 0.7;

impl Filters {
    /// Positions not in check with a score below [`LARGEST_SCORE`].
    pub fn with_scores() -> Filters {
        Filters { no_checks: true, scored: true, largest_score: Some(LARGEST_SCORE), ..Filters::default() }
    }

    /// The quiescent ones among them, with the scores that self-training learns from.
    pub fn of_self_training() -> Filters {
        Filters { quiescent: true, no_checks: false, lambda: LAMBDA, ..Filters::with_scores() }
    }

    /// Checks the conditions on the game as a whole.
    pub fn game(&self, game: &GameRecord) -> Result<(), SkipReason> {
        if self.decisive && !has_winner(game.result) {
            return Err(SkipReason::Result);
        }
        let lowest = |limit: u32| game.tags.ratings.iter().all(|rating| rating.is_some_and(|rating| rating >= limit));
        if self.players_rating.is_some_and(|limit| !lowest(limit)) {
            return Err(SkipReason::Rating);
        }
        Ok(())
    }

    /// The positions of a game that pass, and a call of `left_out` for each that does not.
    pub fn positions(
        &self,
        game: &GameRecord,
        test: bool,
        mut left_out: impl FnMut(SkipReason),
    ) -> Vec<PositionCandidate> {
        let (mut passed, mut captured) = (Vec::new(), false);
        for ((board, played), score) in game.positions().zip(lambda_returns(game, self.lambda)) {
            let after_capture =
                self.skip_after_captures && std::mem::replace(&mut captured, board.is_capture(played.mv));
            let before = if after_capture { Err(SkipReason::Captured) } else { Ok(()) };
            match before.and_then(|()| self.played(&board, played)) {
                Ok(()) => {
                    let (desired, result) = (Some(played.mv), game.result);
                    let sample = Sample { board, desired, result, score, test, starts_game: false, has_margin: true };
                    passed.push(Self::candidate(&sample));
                }
                Err(reason) => left_out(reason),
            }
        }
        passed
    }

    /// A position without a game, so without ratings and comments.
    pub fn position(&self, epd: &Epd, test: bool) -> Result<PositionCandidate, SkipReason> {
        if self.players_rating.is_some() {
            return Err(SkipReason::Rating);
        }
        if self.decisive && !has_winner(epd.result) {
            return Err(SkipReason::Result);
        }
        let unknown = PlayedMove::scored(Move::default(), epd.score);
        match epd.best {
            Some(mv) => self.played(&epd.board, &PlayedMove { mv, ..unknown })?,
            None => self.without_move(&epd.board, &unknown)?,
        }
        let (board, desired, result, score) = (epd.board, epd.best, epd.result, epd.score);
        Ok(Self::candidate(&Sample { board, desired, result, score, test, starts_game: true, has_margin: true }))
    }

    fn candidate(sample: &Sample) -> PositionCandidate {
        PositionCandidate { sample: Packed::new(sample), identity: hash::mix(sample.board.key()) }
    }

    /// Checks the conditions that do not depend on the move; cheap ones first.
    fn without_move(&self, board: &Board, played: &PlayedMove) -> Result<(), SkipReason> {
        if ply_of(board) < self.min_ply {
            return Err(SkipReason::Ply);
        }
        if played.book {
            return Err(SkipReason::Book);
        }
        let too_large = |limit: f64| played.score.is_some_and(|score| score.is_mate() || score.pawns().abs() >= limit);
        if self.scored && played.score.is_none() || self.largest_score.is_some_and(too_large) {
            return Err(SkipReason::Score);
        }
        if (self.quiet || self.quiescent || self.no_checks) && board.in_check() {
            return Err(SkipReason::Check);
        }
        if board.count_moves() < 2 {
            return Err(SkipReason::Forced);
        }
        if self.quiescent && board.moves().iter().any(|&mv| board.is_noisy(mv) && board.see_ge(mv, 1)) {
            return Err(SkipReason::Tactical);
        }
        Ok(())
    }

    fn played(&self, board: &Board, played: &PlayedMove) -> Result<(), SkipReason> {
        self.without_move(board, played)?;
        if self.quiet && (board.is_capture(played.mv) || played.mv.promotion().is_some()) {
            return Err(SkipReason::Noisy);
        }
        if board.gives_check(played.mv) && !board.after(played.mv).has_legal_move() {
            return Err(SkipReason::Mate);
        }
        Ok(())
    }
}

/// The scores of the moves of a game, each the mean of its search, with share 1 - `lambda`, and the score of the next
/// move, from the mover's side and in expected points; after the last move comes the result. So a position learns what
/// later searches found (lambda-return; Sutton and Barto, Reinforcement Learning, chapter 12). Without a result, and for
/// mates, it is the score of the search.
fn lambda_returns(game: &GameRecord, lambda: f64) -> Vec<Option<Score>> {
    let mut scores: Vec<_> = game.moves.iter().map(|played| played.score).collect();
    let Some(result) = game.result.filter(|_| lambda > 0.0) else { return scores };
    let white_moves_last = (game.start.side_to_move() == Color::White) == (scores.len() % 2 == 1);
    let mut later = if white_moves_last { result.points() } else { 1.0 - result.points() };
    for score in scores.iter_mut().rev() {
        if let Some(search) = score {
            later = (lambda * later + (1.0 - lambda) * sigmoid(search.pawns())).clamp(1e-5, 1.0 - 1e-5);
            if !search.is_mate() {
                *search = Score::centipawns(100.0 * logit(later));
            }
        }
        later = 1.0 - later;
    }
    scores
}

fn has_winner(result: Option<GameResult>) -> bool {
    result.is_some_and(|result| result != GameResult::Draw)
}

/// Plies since the beginning of the game, by the move number.
pub fn ply_of(board: &Board) -> u32 {
    2 * (board.fullmove_number().max(1) - 1) + u32::from(board.side_to_move() == Color::Black)
}

#[cfg(test)]
mod tests {
    use dyad_formats::game::Tags;

    use super::*;

    #[test]
    fn scores_are_backed_up_through_the_game() {
        let moves = [None, Some(Score(0)), Some(Score(100)), Some(Score(Score::MATE - 1))];
        let moves = moves.map(|score| PlayedMove::scored(Move::default(), score)).to_vec();
        let game =
            |result| GameRecord { tags: Tags::default(), start: Board::startpos(), moves: moves.clone(), result };
        // Black mates: 1 for Black, 0.5 * sigmoid(1) for White, half of the rest and a quarter for Black.
        let white: f64 = 0.5 * sigmoid(1.0);
        let black: f64 = 0.5 * (1.0 - white) + 0.25;
        let [white, black] = [white, black].map(|points| Some(Score::centipawns(100.0 * logit(points))));
        let mate = Some(Score(Score::MATE - 1));
        assert_eq!(lambda_returns(&game(Some(GameResult::BlackWins)), 0.5), [None, black, white, mate]);
        for (result, lambda) in [(None, 0.5), (Some(GameResult::BlackWins), 0.0)] {
            assert_eq!(lambda_returns(&game(result), lambda), [None, Some(Score(0)), Some(Score(100)), mate]);
        }
    }

    #[test]
    fn filters_have_the_keys_of_the_options() {
        let filters = Filters { players_rating: Some(2000), largest_score: Some(3.0), ..Filters::default() };
        let json = serde_json::to_value(&filters).unwrap();
        assert_eq!((&json["min-players"], &json["max-score"]), (&2000.into(), &3.0.into()));
        assert_eq!(serde_json::from_value::<Filters>(json).unwrap(), filters);
    }
}
