//! Matches: is one set of weights stronger than another?
//!
//! Each opening is played twice with colors swapped. Each thread plays one game at a time with its own engines and
//! takes the next game of the schedule when idle; results are counted and reported in the order of the schedule. So a
//! match at fixed nodes or depth gives the same games and the same result on any number of threads, even if a
//! sequential test ends it early: games beyond the decision are not counted. (Counting in the order in which games end
//! would also favor short games.)

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyad_engine::control::{Control, Instant};
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::HashError;
use dyad_formats::error::Error;
use dyad_formats::score::GameResult;
use serde::{Deserialize, Serialize};

use crate::arena::openings::Opening;
use crate::arena::pgn_writer::PgnGame;
use crate::arena::play::{Adjudication, FinishedGame, Player, SearchLimits, Seat, play};
use crate::arena::statistics::{Decision, Estimate, MatchResults, Points, Sprt};
use crate::base::parallel::ordered_map;

/// Makes a player, with a transposition table of this size in megabytes if it has one.
type MakePlayer = dyn Fn(usize) -> Result<Box<dyn Player>, HashError> + Send + Sync;

/// A player of a match.
#[derive(Clone)]
pub struct MatchPlayer {
    /// Name in games and reports.
    pub name: String,
    /// Identifies exactly what plays.
    pub id: String,
    /// Makes the player of each thread.
    make: Arc<MakePlayer>,
}

impl MatchPlayer {
    /// The search with these weights and default settings.
    pub fn new(name: &str, weights: Arc<Weights>) -> MatchPlayer {
        let id = weights.id();
        let make = move |hash| Ok(Box::new(Engine::with_hash(Arc::clone(&weights), hash)?) as Box<dyn Player>);
        MatchPlayer { name: name.to_string(), id, make: Arc::new(make) }
    }

    /// A player that does not search with weights; `id` identifies exactly what plays.
    pub fn other<P: Player + 'static>(
        name: &str,
        id: String,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> MatchPlayer {
        let make = move |_| Ok(Box::new(make()) as Box<dyn Player>);
        MatchPlayer { name: name.to_string(), id, make: Arc::new(make) }
    }
}

/// Maximum number of games of a match.
pub const MOST_GAMES: u64 = 1_000_000_000;

/// A match to be played.
#[derive(Clone)]
pub struct Match {
    /// The two players; results are from the first one's view.
    pub players: [MatchPlayer; 2],
    /// Search limits of both players.
    pub limits: SearchLimits,
    /// Transposition table of each player, in megabytes.
    pub hash: usize,
    /// Maximum number of game pairs.
    pub pairs: u64,
    /// Parallel games.
    pub threads: usize,
    /// Adjudication rules.
    pub adjudication: Adjudication,
    /// The sequential test that may end the match early.
    pub sprt: Option<Sprt>,
}

/// A game of a match.
#[derive(Clone, Debug)]
pub struct MatchGame {
    /// Number in the schedule, from 0. The two games of a pair are `2 n` and `2 n + 1`.
    pub number: u64,
    /// The game.
    pub game: FinishedGame,
}

impl MatchGame {
    /// The first player's points.
    pub fn points(&self) -> Points {
        points_of_first(self.game.result, self.number)
    }
}

/// The score of a match so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatchScore {
    /// Results of all complete pairs.
    pub tally: MatchResults,
    /// Log-likelihood ratio of the test, if there is one.
    pub llr: Option<f64>,
}

/// Why a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchEnd {
    /// The sequential test decided.
    Decided,
    /// All games were played.
    Complete,
    /// The openings ran out.
    NoMoreOpenings,
    /// It was stopped.
    Stopped,
}

/// The record of a match, one line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchRecord {
    /// Names of the two players.
    pub names: [String; 2],
    /// Identities of their weights.
    pub ids: [String; 2],
    /// Their search limits.
    pub limits: String,
    /// Results of the counted pairs.
    pub tally: MatchResults,
    /// Fraction of the points.
    pub score: Estimate,
    /// Logistic Elo difference.
    pub elo: Estimate,
    /// Normalized Elo difference.
    pub normalized_elo: Estimate,
    /// Likelihood of superiority of the first player.
    #[serde(rename = "superiority")]
    pub los: f64,
    /// The sequential test.
    pub sprt: Option<Sprt>,
    /// Its log-likelihood ratio.
    pub llr: Option<f64>,
    /// Its decision.
    pub decision: Option<Decision>,
    /// Why the match ended.
    pub end: MatchEnd,
    /// Duration in seconds.
    pub seconds: f64,
}

impl Match {
    /// Plays the match whose first games were played before, with the results `before` for White; none if it begins. The
    /// openings are always passed from the first. `on_game` is called with each game, in the order of the schedule, and
    /// the score after it. An error that it returns ends the match and is returned.
    pub fn play(
        &self,
        before: &[GameResult],
        openings: impl Iterator<Item = Opening> + Send,
        control: &Control,
        on_game: impl FnMut(&MatchGame, &MatchScore) -> Result<(), Error>,
    ) -> Result<MatchRecord, Error> {
        let start = Instant::now();
        let over = AtomicBool::new(false);
        let mut count = Count { played: self, score: MatchScore::default(), first_of_pair: None, on_game };
        for (number, &result) in (0..).zip(before) {
            if let Some(end) = count.count(points_of_first(result, number)) {
                return Ok(self.record(&count.score, end, 0.0));
            }
        }
        let end = ordered_map(
            self.threads,
            schedule(openings, self.pairs).skip(before.len()),
            || self.players(),
            |players, (number, opening)| Ok(self.play_game(players, number, &opening, control, &over)),
            |game| count.take(game),
            &over,
        )?;
        let end = end.unwrap_or(MatchEnd::NoMoreOpenings);
        Ok(self.record(&count.score, end, start.elapsed().as_secs_f64()))
    }

    /// Plays the pair of games with this number, alone.
    ///
    /// # Errors
    /// Without memory for the players' transposition tables, and if it is stopped.
    pub fn play_pair(&self, number: u64, opening: &Opening, control: &Control) -> Result<[MatchGame; 2], Error> {
        let (mut players, over) = (self.players()?, AtomicBool::new(false));
        let mut game = |number| self.play_game(&mut players, number, opening, control, &over);
        let games = game(2 * number).zip(game(2 * number + 1));
        games.map(|(first, second)| [first, second]).ok_or(Error::Stopped)
    }

    /// The PGN of a game, with the tags of the match.
    pub fn pgn(&self, game: &MatchGame, event: &str, date: &str) -> PgnGame {
        let tags = self.tags(game.number, event).into_iter().chain([("Date", date.to_string())]).collect();
        game.game.pgn(tags)
    }

    /// The tags of the game with this number that do not depend on the date, on its opening or on how it goes.
    pub(super) fn tags(&self, number: u64, event: &str) -> Vec<(&'static str, String)> {
        let white = (number % 2) as usize;
        let [white, black] = [white, 1 - white].map(|index| &self.players[index]);
        vec![
            ("Event", event.to_string()),
            ("Site", "one process".to_string()),
            ("Round", round(number)),
            ("White", white.name.clone()),
            ("Black", black.name.clone()),
            ("TimeControl", "-".to_string()),
            ("WhiteSetup", self.setup(white)),
            ("BlackSetup", self.setup(black)),
        ]
    }

    /// What a player plays with: the identity of its weights, and limits.
    fn setup(&self, player: &MatchPlayer) -> String {
        format!("{}, {}, hash {}", player.id, self.limits, self.hash)
    }

    fn players(&self) -> Result<[Box<dyn Player>; 2], Error> {
        let [a, b] = self.players.each_ref().map(|player| (player.make)(self.hash));
        Ok([a?, b?])
    }

    fn play_game(
        &self,
        players: &mut [Box<dyn Player>; 2],
        number: u64,
        opening: &Opening,
        control: &Control,
        over: &AtomicBool,
    ) -> Option<MatchGame> {
        let mut seats = players.each_mut().map(|player| Seat { player: player.as_mut(), limits: self.limits });
        if number % 2 == 1 {
            seats.reverse();
        }
        let game = play(opening, seats, &self.adjudication, control, &|| over.load(Ordering::Relaxed));
        game.map(|game| MatchGame { number, game })
    }

    fn decision(&self, score: &MatchScore) -> Option<Decision> {
        self.sprt.map(|sprt| sprt.decide(&score.tally))
    }

    fn record(&self, score: &MatchScore, end: MatchEnd, seconds: f64) -> MatchRecord {
        MatchRecord {
            names: self.players.each_ref().map(|player| player.name.clone()),
            ids: self.players.each_ref().map(|player| player.id.clone()),
            limits: self.limits.to_string(),
            tally: score.tally,
            score: score.tally.score(),
            elo: score.tally.elo(),
            normalized_elo: score.tally.normalized_elo(),
            los: score.tally.los(),
            sprt: self.sprt,
            llr: score.llr,
            decision: self.decision(score),
            end,
            seconds,
        }
    }
}

/// Counts the games in order.
struct Count<'a, F> {
    played: &'a Match,
    score: MatchScore,
    first_of_pair: Option<Points>,
    on_game: F,
}

impl<F: FnMut(&MatchGame, &MatchScore) -> Result<(), Error>> Count<'_, F> {
    /// Counts the next game, `None` if it was interrupted; breaks when the match ends.
    fn take(&mut self, game: Option<MatchGame>) -> Result<ControlFlow<MatchEnd>, Error> {
        let Some(game) = game else { return Ok(ControlFlow::Break(MatchEnd::Stopped)) };
        let end = self.count(game.points());
        (self.on_game)(&game, &self.score)?;
        Ok(end.map_or(ControlFlow::Continue(()), ControlFlow::Break))
    }

    /// Counts the points of the next game; returns the reason if the match ends with it.
    fn count(&mut self, points: Points) -> Option<MatchEnd> {
        let Some(first) = self.first_of_pair.take() else {
            self.first_of_pair = Some(points);
            return None;
        };
        self.score.tally.add([first, points]);
        self.score.llr = self.played.sprt.map(|sprt| sprt.llr(&self.score.tally));
        match self.played.decision(&self.score) {
            Some(Decision::H0 | Decision::H1) => Some(MatchEnd::Decided),
            _ => (self.score.tally.pairs() == self.played.pairs).then_some(MatchEnd::Complete),
        }
    }
}

/// Each opening twice, with game numbers.
fn schedule(openings: impl Iterator<Item = Opening> + Send, pairs: u64) -> impl Iterator<Item = (u64, Opening)> + Send {
    let pairs = openings.zip(0..pairs);
    pairs.flat_map(|(opening, pair)| [(2 * pair, opening.clone()), (2 * pair + 1, opening)])
}

/// The `Round` tag of the game with this number.
pub(super) fn round(number: u64) -> String {
    format!("{}.{}", number / 2 + 1, number % 2 + 1)
}

/// The first player's points in the game with this number: White in even games.
fn points_of_first(result: GameResult, number: u64) -> Points {
    match (result, number % 2) {
        (GameResult::Draw, _) => Points::Draw,
        (GameResult::WhiteWins, 0) | (GameResult::BlackWins, 1) => Points::Win,
        _ => Points::Loss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::game_file::GameFile;
    use crate::arena::openings::{OpeningSettings, RandomOpenings};
    use crate::arena::play::{DrawRule, GameEnd, WinRule};
    use dyad_engine::board::Ending;
    use dyad_engine::eval::layout::MATERIAL;
    use dyad_engine::eval::{FloatWeights, Weights};
    use dyad_formats::pgn::GameTexts;
    use dyad_formats::score::ScoreSide;
    use dyad_formats::testing::Temporary;

    fn openings() -> impl Iterator<Item = Opening> + Send {
        RandomOpenings::new(OpeningSettings::new(5), |_| 0)
    }

    fn good() -> Arc<Weights> {
        Arc::new(Weights::material())
    }

    /// Weights that undervalue queens and overvalue knights.
    fn bad() -> Arc<Weights> {
        let mut floats = FloatWeights::material();
        for (piece, value) in [100.0, 2600.0, 100.0, 100.0, 10.0].into_iter().enumerate() {
            floats.mg[MATERIAL.nth(piece)] = value;
            floats.eg[MATERIAL.nth(piece)] = value;
        }
        Arc::new(Weights::from_floats(&floats, serde_json::Value::Null).unwrap())
    }

    fn match_of(weights: [Arc<Weights>; 2], pairs: u64, threads: usize) -> Match {
        let [first, second] = weights;
        let players = [MatchPlayer::new("first", first), MatchPlayer::new("second", second)];
        let rules = Adjudication {
            draw: Some(DrawRule { from: 30, moves: 8, score: 10 }),
            win: Some(WinRule { moves: 3, score: 1500 }),
            plies: Some(300),
        };
        let limits = SearchLimits::Nodes(300);
        Match { players, limits, hash: 1, pairs, threads, adjudication: rules, sprt: None }
    }

    fn run(played: &Match) -> (Vec<MatchGame>, MatchRecord) {
        let mut games = Vec::new();
        let listen = |game: &MatchGame, _: &MatchScore| {
            games.push(game.clone());
            Ok(())
        };
        let record = played.play(&[], openings(), &Control::new(false), listen).unwrap();
        (games, record)
    }

    #[test]
    fn every_pair_is_played_with_both_colors_to_a_legal_end() {
        let played = match_of([good(), bad()], 5, 2);
        let (games, record) = run(&played);
        assert_eq!((games.len(), record.tally.games(), record.end), (10, 10, MatchEnd::Complete));
        for (number, game) in games.iter().enumerate() {
            assert_eq!(game.number, number as u64);
            assert_eq!(game.game.opening, games[number & !1].game.opening);
            let mut board = game.game.opening.board();
            for made in &game.game.moves {
                assert!(board.is_legal(made.mv), "{} in {board}", made.mv);
                board = board.after(made.mv);
            }
            let mated = board.in_check() && !board.has_legal_move();
            assert_eq!(game.game.reason == GameEnd::Rule(Ending::Checkmate), mated);
            assert_eq!(game.game.result == GameResult::Draw, game.points() == Points::Draw);
        }
        assert_ne!(games[0].game.opening, games[2].game.opening);
    }

    #[test]
    fn equal_players_score_exactly_half() {
        let (games, record) = run(&match_of([good(), good()], 5, 2));
        assert_eq!(record.tally.pentanomial, [0, 0, 5, 0, 0]);
        assert_eq!(record.score.value, 0.5);
        for pair in games.chunks(2) {
            assert_eq!(pair[0].game.moves.len(), pair[1].game.moves.len());
        }
    }

    #[test]
    fn a_test_ends_the_match_at_the_same_game_on_any_number_of_threads() {
        let with_test =
            |threads| Match { sprt: Sprt::new(0.0, 100.0, 0.05, 0.05).ok(), ..match_of([good(), bad()], 500, threads) };
        let (games, one) = run(&with_test(1));
        assert_eq!((one.end, one.decision), (MatchEnd::Decided, Some(Decision::H1)));
        assert_eq!(one.tally.games(), games.len() as u64);
        let (_, two) = run(&with_test(2));
        assert_eq!(two, MatchRecord { seconds: two.seconds, ..one });
    }

    #[test]
    fn a_match_can_be_stopped_and_can_fail() {
        let played = match_of([good(), bad()], 1000, 2);
        let control = Control::new(false);
        let listen = |game: &MatchGame, _: &MatchScore| {
            if game.number == 2 {
                control.stop();
            }
            Ok(())
        };
        let record = played.play(&[], openings(), &control, listen).unwrap();
        assert_eq!(record.end, MatchEnd::Stopped);
        assert!(record.tally.pairs() < 20);
        let failing = |_: &MatchGame, _: &MatchScore| Err(Error::Settings("disk full".into()));
        let error = played.play(&[], openings(), &Control::new(false), failing).unwrap_err();
        assert!(error.to_string().contains("disk full"));
        let record = played.play(&[], openings().take(1), &Control::new(false), |_, _| Ok(())).unwrap();
        assert_eq!((record.end, record.tally.pairs()), (MatchEnd::NoMoreOpenings, 1));
    }

    #[test]
    fn written_games_are_read_back() {
        let folder = Temporary::folder();
        let path = folder.join("match.pgn");
        let played = match_of([good(), bad()], 2, 1);
        let mut file = GameFile::open(&path).unwrap().0;
        let (games, _) = run(&played);
        games.iter().for_each(|game| file.write(&played.pgn(game, "test", "2025.01.01")).unwrap());
        let read: Vec<_> = GameTexts::open(&path).unwrap().map(|text| text.unwrap()).collect();
        assert_eq!(read.len(), games.len());
        for (text, game) in read.iter().zip(&games) {
            let read = text.parse(Some(ScoreSide::Mover)).unwrap();
            let own = game.game.record();
            assert_eq!((read.start, read.result), (own.start, own.result));
            assert_eq!(read.moves, own.moves);
        }
    }
}
