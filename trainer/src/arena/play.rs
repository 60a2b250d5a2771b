//! One game between two players in this process.
//!
//! The players search in turn, so a game uses one thread, and with fixed nodes or depth it depends on the two sets of
//! weights and the opening alone. Every game ends with a reason. Most games are decided long before mate or repetition,
//! and playing them out costs time. So games may be adjudicated, but only if both sides agree for some consecutive
//! moves: the mistaken evaluation of one side must not become a result.

use std::fmt;

use dyad_engine::board::{Color, Ending, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::search::{Limits, Options, Outcome};
use dyad_formats::game::{GameRecord, PlayedMove, Tags};
use dyad_formats::score::{GameResult, Score};
use dyad_levels::player::LevelPlayer;
use serde::{Deserialize, Serialize};

use crate::arena::openings::Opening;
use crate::arena::pgn_writer::PgnGame;

/// Search limits of a player.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchLimits {
    /// Nodes per move.
    Nodes(u64),
    /// Search depth per move, in plies.
    Depth(u32),
}

impl SearchLimits {
    /// The limits of a search.
    pub(crate) fn limits(self) -> Limits {
        match self {
            SearchLimits::Nodes(nodes) => Limits::nodes(nodes),
            SearchLimits::Depth(depth) => Limits::depth(depth),
        }
    }
}

impl fmt::Display for SearchLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchLimits::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            SearchLimits::Depth(depth) => write!(f, "depth {depth}"),
        }
    }
}

/// A player of games: the search, a level, a network.
pub trait Player: Send {
    /// Forgets the last game. The number of the new one seeds random choices.
    fn new_game(&mut self, number: u64);

    /// Searches for a move of a game that is not over.
    fn search(&mut self, game: &Game, limits: &Limits, control: &Control) -> Outcome;
}

impl Player for Engine {
    fn new_game(&mut self, _number: u64) {
        self.clear();
    }

    fn search(&mut self, game: &Game, limits: &Limits, control: &Control) -> Outcome {
        Engine::search(self, game, limits, &Options::default(), control, &mut |_| ())
    }
}

impl Player for LevelPlayer {
    fn new_game(&mut self, number: u64) {
        LevelPlayer::new_game(self, number);
    }

    fn search(&mut self, game: &Game, limits: &Limits, control: &Control) -> Outcome {
        LevelPlayer::search(self, game, limits, &Options::default(), control, &mut |_| ())
    }
}

/// One side of a game.
pub struct Seat<'a> {
    /// The player.
    pub player: &'a mut dyn Player,
    /// Search limits.
    pub limits: SearchLimits,
}

/// Rules that end a game as drawn or won before its end by the rules of chess.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adjudication {
    /// The rule for draws.
    pub draw: Option<DrawRule>,
    /// The rule for wins.
    pub win: Option<WinRule>,
    /// A game of this many plies, including the opening, is a draw.
    pub plies: Option<u32>,
}

/// A draw once both sides have scores near zero for `moves` consecutive moves. A capture or a pawn move restarts the
/// count.
#[derive(Clone, Copy, Debug)]
pub struct DrawRule {
    /// First move number at which the rule applies.
    pub from: u32,
    /// Consecutive moves of each side.
    pub moves: u32,
    /// Largest score of either side, in centipawns.
    pub score: i16,
}

/// A win once both sides have agreed on the winner for `moves` consecutive moves.
#[derive(Clone, Copy, Debug)]
pub struct WinRule {
    /// Consecutive moves of each side.
    pub moves: u32,
    /// Smallest score, in centipawns.
    pub score: i16,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// It is over by the rules.
    Rule(Ending),
    /// Both sides agreed on a draw.
    DrawAdjudication,
    /// Both sides agreed on the winner.
    WinAdjudication,
    /// The game reached the length limit.
    Length,
}

impl GameEnd {
    /// The value of the PGN tag `Termination`.
    pub fn termination(self) -> &'static str {
        if matches!(self, GameEnd::Rule(_)) { "normal" } else { "adjudication" }
    }

    /// In words, for readers of the game.
    pub fn words(self) -> &'static str {
        match self {
            GameEnd::Rule(Ending::Checkmate) => "checkmate",
            GameEnd::Rule(Ending::Stalemate) => "stalemate",
            GameEnd::Rule(Ending::Repetition) => "draw by repetition",
            GameEnd::Rule(Ending::FiftyMoves) => "draw by the fifty-move rule",
            GameEnd::Rule(Ending::InsufficientMaterial) => "draw by insufficient material",
            GameEnd::DrawAdjudication => "draw by adjudication",
            GameEnd::WinAdjudication => "win by adjudication",
            GameEnd::Length => "draw by length",
        }
    }
}

/// A move with the result of its search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchedMove {
    /// The move.
    pub mv: Move,
    /// Score for the side that made it.
    pub score: Score,
    /// Depth of the last iteration.
    pub depth: u32,
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct FinishedGame {
    /// The opening.
    pub opening: Opening,
    /// The moves after the opening.
    pub moves: Vec<SearchedMove>,
    /// The result.
    pub result: GameResult,
    /// The reason of the end.
    pub reason: GameEnd,
}

impl FinishedGame {
    /// Number of plies, including the opening.
    pub fn plies(&self) -> usize {
        self.opening.moves.len() + self.moves.len()
    }

    /// The game as a record, like those read from files.
    pub fn record(&self) -> GameRecord {
        let book = self.opening.moves.iter().map(|&mv| PlayedMove { book: true, ..PlayedMove::scored(mv, None) });
        let searched = self.moves.iter().map(|made| PlayedMove::scored(made.mv, Some(made.score)));
        let tags = Tags { result: Some(self.result), ..Tags::default() };
        let moves = book.chain(searched).collect();
        GameRecord { tags, start: self.opening.start, moves, result: Some(self.result) }
    }

    /// The game as PGN, without times: the same match always writes the same file.
    pub fn pgn(&self, tags: Vec<(&'static str, String)>) -> PgnGame {
        let mut moves: Vec<(Move, String)> = self.opening.moves.iter().map(|&mv| (mv, "book".into())).collect();
        moves.extend(self.moves.iter().map(|made| (made.mv, remark(made))));
        let mut foreword = String::new();
        let last = moves.last_mut().map_or(&mut foreword, |(_, comment)| comment);
        last.push_str(if last.is_empty() { "" } else { ", " });
        last.push_str(self.reason.words());
        let own = [("PlyCount", self.plies().to_string()), ("Termination", self.reason.termination().into())];
        PgnGame {
            tags: tags.into_iter().chain(own).collect(),
            start: self.opening.start,
            foreword,
            moves,
            result: Some(self.result),
        }
    }
}

/// The comment of a move in the format of Cute Chess and fastchess: `+0.35/20`.
fn remark(made: &SearchedMove) -> String {
    format!("{}/{}", made.score, made.depth)
}

/// Plays a game; White has the first seat. `None` if `control` or `abandon` (checked before each move) stops it.
pub fn play(
    opening: &Opening,
    mut seats: [Seat; 2],
    rules: &Adjudication,
    control: &Control,
    abandon: &dyn Fn() -> bool,
) -> Option<FinishedGame> {
    let (mut game, mut adjudicator) = (opening.game(), Adjudicator::new(*rules));
    for (side, seat) in (0..).zip(&mut seats) {
        // By opening and side, independent of earlier games.
        seat.player.new_game(game.board().key().rotate_left(side));
    }
    let mut moves = Vec::new();
    let (result, reason) = loop {
        if let Some(end) = end_by_rule(&game) {
            break end;
        }
        if abandon() || control.stopped() {
            return None;
        }
        let side = game.board().side_to_move();
        let seat = &mut seats[side.to_index()];
        let outcome = seat.player.search(&game, &seat.limits.limits(), control);
        if control.stopped() {
            return None;
        }
        let mv = outcome.best.expect("there is a legal move, or the game had ended");
        let (score, depth) = (Score::from(outcome.score), outcome.depth);
        game.push(mv);
        moves.push(SearchedMove { mv, score, depth });
        if let (None, Some(end)) = (end_by_rule(&game), adjudicator.observe(&game, side, score)) {
            break end;
        }
    };
    Some(FinishedGame { opening: opening.clone(), moves, result, reason })
}

/// The result and the end of a game that is over by the rules.
pub fn end_by_rule(game: &Game) -> Option<(GameResult, GameEnd)> {
    let ending = game.ending()?;
    let result = match ending {
        Ending::Checkmate => GameResult::win_of(!game.board().side_to_move()),
        _ => GameResult::Draw,
    };
    Some((result, GameEnd::Rule(ending)))
}

/// Applies the adjudication rules to the scores.
#[derive(Clone, Copy, Debug)]
struct Adjudicator {
    rules: Adjudication,
    /// Consecutive plies with scores near zero.
    even: u32,
    /// Consecutive plies that agree on this winner.
    won: (Color, u32),
}

impl Adjudicator {
    fn new(rules: Adjudication) -> Adjudicator {
        Adjudicator { rules, even: 0, won: (Color::White, 0) }
    }

    /// Adds the score of the move just made by `side`.
    fn observe(&mut self, game: &Game, side: Color, score: Score) -> Option<(GameResult, GameEnd)> {
        let draw = self.rules.draw.is_some_and(|rule| self.is_draw(game, score, rule));
        let winner = self.rules.win.and_then(|rule| self.winner(side, score, rule));
        let long = self.rules.plies.is_some_and(|plies| game.moves().len() >= plies as usize);
        match winner {
            Some(color) => Some((GameResult::win_of(color), GameEnd::WinAdjudication)),
            None if draw => Some((GameResult::Draw, GameEnd::DrawAdjudication)),
            None if long => Some((GameResult::Draw, GameEnd::Length)),
            None => None,
        }
    }

    fn is_draw(&mut self, game: &Game, score: Score, rule: DrawRule) -> bool {
        let quiet = game.board().halfmove_clock() > 0;
        let near_zero = score.0.abs() <= rule.score;
        self.even = if quiet && near_zero { self.even + 1 } else { 0 };
        self.even >= 2 * rule.moves && game.board().fullmove_number() >= rule.from
    }

    fn winner(&mut self, side: Color, score: Score, rule: WinRule) -> Option<Color> {
        let favored = if score.0 >= 0 { side } else { !side };
        let clear = score.0.abs() >= rule.score;
        let (color, count) = self.won;
        self.won = match clear {
            true if color == favored => (color, count + 1),
            true => (favored, 1),
            false => (favored, 0),
        };
        (self.won.1 >= 2 * rule.moves).then_some(favored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board;
    use dyad_engine::eval::Weights;
    use std::sync::Arc;

    /// Moves the knights back and forth, so that only the scores matter.
    fn adjudicated(rules: Adjudication, scores: &[i16]) -> Option<(usize, GameResult, GameEnd)> {
        let mut adjudicator = Adjudicator::new(rules);
        let mut game = Game::new(Board::startpos());
        for (ply, &score) in scores.iter().enumerate() {
            let side = game.board().side_to_move();
            let mv = game.board().parse_uci(["g1f3", "g8f6", "f3g1", "f6g8"][ply % 4]).unwrap();
            game.push(mv);
            if let Some((result, reason)) = adjudicator.observe(&game, side, Score(score)) {
                return Some((ply + 1, result, reason));
            }
        }
        None
    }

    #[test]
    fn both_sides_must_agree_about_a_win() {
        let rules = Adjudication { win: Some(WinRule { moves: 2, score: 500 }), ..Adjudication::default() };
        let white = |ply| Some((ply, GameResult::WhiteWins, GameEnd::WinAdjudication));
        let black = |ply| Some((ply, GameResult::BlackWins, GameEnd::WinAdjudication));
        assert_eq!(adjudicated(rules, &[600, -600, 700, -500]), white(4));
        assert_eq!(adjudicated(rules, &[-600, 600, -700, Score::mate(3).0]), black(4));
        assert_eq!(adjudicated(rules, &[0, 600, -700, 800, -900]), black(5));
        // One side alone, agreement broken, agreement about different winners.
        assert_eq!(adjudicated(rules, &[600, 10, 600, 10, 600, 10]), None);
        assert_eq!(adjudicated(rules, &[600, -600, 600, -499, 600, -600, 600]), None);
        assert_eq!(adjudicated(rules, &[600, 600, 600, 600, 600, 600]), None);
    }

    #[test]
    fn draws_need_quiet_moves_late_in_the_game() {
        let rule = DrawRule { from: 3, moves: 2, score: 10 };
        let rules = Adjudication { draw: Some(rule), ..Adjudication::default() };
        let draw = |ply| Some((ply, GameResult::Draw, GameEnd::DrawAdjudication));
        assert_eq!(adjudicated(rules, &[0, 10, -10, 5, 0, 0]), draw(4));
        assert_eq!(adjudicated(rules, &[0, 11, 0, 0, 0, 0]), draw(6));
        assert_eq!(adjudicated(rules, &[0, 0, 0, 30, 0, 0]), None);
        let late = Adjudication { draw: Some(DrawRule { from: 4, ..rule }), ..rules };
        assert_eq!(adjudicated(late, &[0; 8]), draw(6));
    }

    #[test]
    fn long_games_are_draws() {
        let rules = Adjudication { plies: Some(5), ..Adjudication::default() };
        assert_eq!(adjudicated(rules, &[900; 9]), Some((5, GameResult::Draw, GameEnd::Length)));
        assert_eq!(adjudicated(Adjudication::default(), &[0; 100]), None);
    }

    /// The word of the end stands before the result, also of a game that ends before its first move.
    #[test]
    fn every_game_has_a_word_of_its_end() {
        let mut engines = [(); 2].map(|()| Engine::with_hash(Arc::new(Weights::material()), 1).unwrap());
        let limits = SearchLimits::Nodes(1);
        for (fen, moves, end) in [
            ("k7/2Q5/1K6/8/8/8/8/8 b - - 0 1", &[][..], "{stalemate} 1/2-1/2"),
            ("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", &["c1c7"], "1. Qc7 {book, stalemate} 1/2-1/2"),
        ] {
            let start = Board::from_fen(fen).unwrap();
            let moves = moves.iter().map(|uci| start.parse_uci(uci).unwrap()).collect();
            let seats = engines.each_mut().map(|player| Seat { player, limits });
            let rules = Adjudication::default();
            let game = play(&Opening { start, moves }, seats, &rules, &Control::new(false), &|| false).unwrap();
            let text = game.pgn(Vec::new()).to_string();
            assert!(text.ends_with(&format!("\n{end}\n\n")), "{text}");
        }
    }

    #[test]
    fn remarks_are_read_back() {
        use dyad_formats::remark::Remark;
        for score in [Score(35), Score(-120), Score(0), Score::mate(3), Score::mate(-12), Score(Score::LARGEST)] {
            let made = SearchedMove { mv: Move::default(), score, depth: 20 };
            let text = format!("{}, checkmate", remark(&made));
            assert_eq!(Remark::parse(text.as_bytes()), Some(Remark::Score(score)), "{text}");
        }
    }
}
