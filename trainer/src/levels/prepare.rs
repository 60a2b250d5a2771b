//! Records from games of people: the choice of positions, and their analysis.
//!
//! Players are split, not only games: no game of a held-out player is learned from, and the model is tested on the
//! moves of held-out players in games with others. A few players have most of the games of a band, so a player counts
//! for at most [`RecordSettings::player_games`] games; players with more games are never held out, since little would
//! be left. Positions are ordered by a hash and bands alternate randomly, so that any prefix of the file is a fair
//! sample of the whole.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::board::{Board, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::files::AtomicFile;
use dyad_formats::game::GameRecord;
use dyad_formats::hash;
use dyad_formats::pgn::GameTexts;
use dyad_levels::analysis::{MoveAnalyzer, PLIES};
use dyad_levels::features::PositionContext;
use serde::Serialize;

use crate::base::context::{Context, Progress};
use crate::base::parallel::ordered_for_each;
use crate::levels::records::{Pool, Record, Writer};

/// Width of a rating band.
pub const BAND: u32 = 200;

/// Which positions are used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RecordSettings {
    /// Training positions of each rating band.
    #[serde(rename = "positions")]
    pub train: usize,
    /// Test positions of each rating band.
    #[serde(rename = "test-positions")]
    pub test: usize,
    /// Centers of the lowest and the highest band.
    pub bands: [u32; 2],
    /// Positions of each player in a game.
    pub per_game: usize,
    /// Most games of each player.
    pub player_games: usize,
    /// Percentage of the players that are held out for testing.
    pub test_percent: f64,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for RecordSettings {
    fn default() -> RecordSettings {
        RecordSettings {
            train: 48_000,
            test: 8000,
            bands: [800, 2600],
            per_game: 20,
            player_games: 150,
            test_percent: 25.0,
            seed: 1,
        }
    }
}

/// The center of the band of a rating.
pub fn band_of(rating: u32) -> u32 {
    (rating + BAND / 2) / BAND * BAND
}

/// Why a game is skipped, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GameSkipReason {
    /// The game does not start from the standard position.
    Start,
    /// A program plays: its moves are not those of people of its rating.
    Program,
    /// Neither player has a rating.
    Rating,
    /// The ratings are outside the bands.
    Band,
    /// The opponent is held out.
    HeldOut,
    /// The players have enough other games.
    PlayerGames,
    /// The players made no move.
    Moves,
}

impl GameSkipReason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            GameSkipReason::Start => "not from the standard starting position",
            GameSkipReason::Program => "a program plays",
            GameSkipReason::Rating => "no rating",
            GameSkipReason::Band => "rating outside the bands",
            GameSkipReason::HeldOut => "opponent held out",
            GameSkipReason::PlayerGames => "enough games of its players",
            GameSkipReason::Moves => "no move",
        }
    }
}

/// Counts of a preparation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Games that positions were chosen from.
    pub games: usize,
    /// Games that could not be read.
    pub broken: usize,
    /// Skipped games, by reason.
    pub left_out: BTreeMap<GameSkipReason, usize>,
    /// Records in the file.
    pub records: usize,
}

/// A game from the standard starting position.
struct PlayedGame {
    moves: Vec<Move>,
    hash: u64,
    ratings: [Option<u32>; 2],
    players: [u64; 2],
    pool: Pool,
}

/// Which players are held out.
struct HeldOut<'a> {
    settings: &'a RecordSettings,
    games: HashMap<u64, usize>,
}

impl HeldOut<'_> {
    fn new<'a>(settings: &'a RecordSettings, games: &[PlayedGame]) -> HeldOut<'a> {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        games.iter().flat_map(|game| game.players).for_each(|player| *counts.entry(player).or_default() += 1);
        HeldOut { settings, games: counts }
    }

    /// Whether a player is held out; players with more than [`RecordSettings::player_games`] games are not.
    fn holds(&self, player: u64) -> bool {
        self.games[&player] <= self.settings.player_games
            && hash::unit(hash::fold(self.settings.seed, player)) * 100.0 < self.settings.test_percent
    }

    /// Why the moves of a side are skipped; `None` if they are used.
    fn skip_reason(&self, game: &PlayedGame, side: usize) -> Option<GameSkipReason> {
        let RecordSettings { bands: [lowest, highest], player_games, .. } = *self.settings;
        let (player, opponent) = (game.players[side], game.players[1 - side]);
        // A game with a held-out player is not used for training.
        let is_learned_from = self.holds(player) || !self.holds(opponent);
        let is_thinned = hash::unit(self.draw(game, side)) * self.games[&player] as f64 >= player_games as f64;
        match game.ratings[side].map(band_of) {
            None => Some(GameSkipReason::Rating),
            Some(band) if !(lowest..=highest).contains(&band) => Some(GameSkipReason::Band),
            _ if !is_learned_from => Some(GameSkipReason::HeldOut),
            _ if is_thinned => Some(GameSkipReason::PlayerGames),
            _ if game.moves.len() <= side => Some(GameSkipReason::Moves),
            _ => None,
        }
    }

    /// The random number of a side of a game.
    fn draw(&self, game: &PlayedGame, side: usize) -> u64 {
        hash::fold(hash::fold(self.settings.seed, game.hash), side as u64)
    }
}

/// A candidate position.
#[derive(Clone, Copy)]
struct RecordCandidate {
    order: u64,
    game: usize,
    ply: usize,
    /// The rating band, and whether it is for testing.
    group: (u32, bool),
}

/// Writes records of the games in `files` (PGN) to `out`. Reports the records done.
///
/// # Errors
/// When games cannot be read, no position is found, the file cannot be written, or the work was stopped.
pub fn prepare(
    settings: &RecordSettings,
    files: &[PathBuf],
    weights: &Arc<Weights>,
    out: &Path,
    context: &mut Context<Progress>,
) -> Result<RecordCounts, Error> {
    // Reading the games takes minutes.
    AtomicFile::create(out).map(drop).map_err(Error::file("write", out))?;
    let mut counts = RecordCounts::default();
    let games = read_games(files, &mut counts)?;
    let candidates = choose(settings, &games, &mut counts);
    if candidates.is_empty() {
        let reasons = counts.left_out.iter().map(|(reason, count)| format!("; {count} left out: {}", reason.name()));
        let (reasons, broken): (String, _) = (reasons.collect(), counts.broken);
        let all = counts.games + counts.left_out.values().sum::<usize>() + broken;
        return Err(Error::Nothing(format!("no position was found in {all} games, {broken} of them broken{reasons}")));
    }
    let header = serde_json::json!({
        "settings": settings, "positions": format!("{:016x}", identity(settings.seed, &games, &candidates)),
        "weights": weights.id(), "plies": PLIES,
    });
    let (mut writer, mut done) = (Writer::create(out, header)?, 0);
    ordered_for_each(
        context.threads,
        candidates.iter(),
        || Ok::<_, Error>(MoveAnalyzer::new(Arc::clone(weights))),
        |analyzer, candidate| {
            let record = analyze(analyzer, &games[candidate.game], candidate, context.stop);
            if context.stop.stopped() { Err(Error::Stopped) } else { Ok(record) }
        },
        |record| {
            writer.append(&record)?;
            done += 1;
            (context.on_event)(Progress { done, of: candidates.len() as u64 });
            Ok(())
        },
    )?;
    writer.commit()?;
    Ok(RecordCounts { records: candidates.len(), ..counts })
}

/// Hash of these positions in this order.
fn identity(seed: u64, games: &[PlayedGame], candidates: &[RecordCandidate]) -> u64 {
    candidates.iter().fold(hash::mix(seed), |identity, candidate| {
        hash::fold(hash::fold(identity, games[candidate.game].hash), candidate.ply as u64)
    })
}

/// The games of people from the standard starting position, and counts of the others.
fn read_games(files: &[PathBuf], counts: &mut RecordCounts) -> Result<Vec<PlayedGame>, Error> {
    let mut games = Vec::new();
    for path in files {
        for text in GameTexts::open(path)? {
            match text?.parse(None) {
                Ok(record) => match played(&record) {
                    Ok(game) => games.push(game),
                    Err(reason) => *counts.left_out.entry(reason).or_default() += 1,
                },
                Err(_) => counts.broken += 1,
            }
        }
    }
    Ok(games)
}

/// The relevant parts of a game of people from the standard position.
fn played(record: &GameRecord) -> Result<PlayedGame, GameSkipReason> {
    if record.tags.programs != [false; 2] {
        return Err(GameSkipReason::Program);
    }
    if record.start != Board::startpos() {
        return Err(GameSkipReason::Start);
    }
    if record.tags.ratings == [None; 2] {
        return Err(GameSkipReason::Rating);
    }
    let hash = record.hash();
    let pool = Pool::of_site(&record.tags.site);
    let player = |side: usize| match record.tags.players[side].as_str() {
        "" | "?" => hash::fold(hash, side as u64),
        // The same name on two servers counts as one player, held out on both or on neither.
        name => hash::fold_text(u64::from(pool == Pool::Board), name),
    };
    Ok(PlayedGame {
        moves: record.moves.iter().map(|played| played.mv).collect(),
        hash,
        ratings: record.tags.ratings,
        players: [player(0), player(1)],
        pool,
    })
}

/// The chosen positions, in the order of analysis. A game without one counts with the reason of the player who came closer
/// to being chosen.
fn choose(settings: &RecordSettings, games: &[PlayedGame], counts: &mut RecordCounts) -> Vec<RecordCandidate> {
    let held_out = HeldOut::new(settings, games);
    let mut candidates = Vec::new();
    for (number, game) in games.iter().enumerate() {
        let reasons = [0, 1].map(|side| held_out.skip_reason(game, side));
        match reasons {
            [Some(white), Some(black)] => *counts.left_out.entry(white.max(black)).or_default() += 1,
            _ => counts.games += 1,
        }
        for side in (0..2).filter(|&side| reasons[side].is_none()) {
            let band = band_of(game.ratings[side].unwrap_or_default());
            let group = (band, held_out.holds(game.players[side]));
            let draw = held_out.draw(game, side);
            let plies = (side..game.moves.len()).step_by(2);
            let mut own: Vec<(u64, usize)> = plies.map(|ply| (hash::fold(draw, ply as u64), ply)).collect();
            own.sort_unstable();
            own.truncate(settings.per_game);
            candidates.extend(own.into_iter().map(|(order, ply)| RecordCandidate { order, game: number, ply, group }));
        }
    }
    candidates.sort_unstable_by_key(|candidate| (candidate.order, candidate.game, candidate.ply));
    let wanted = |(_, test): (u32, bool)| if test { settings.test } else { settings.train };
    let mut taken: HashMap<(u32, bool), usize> = HashMap::new();
    candidates.retain(|candidate| {
        let count = taken.entry(candidate.group).or_default();
        *count += 1;
        *count <= wanted(candidate.group) && has_a_choice(&games[candidate.game], candidate.ply)
    });
    // Interleave the bands, so that those with more games do not come first.
    let mut place: HashMap<(u32, bool), usize> = HashMap::new();
    let mut spread: Vec<(f64, RecordCandidate)> = candidates
        .into_iter()
        .map(|candidate| {
            let place = place.entry(candidate.group).or_default();
            *place += 1;
            (*place as f64 / taken[&candidate.group].min(wanted(candidate.group)) as f64, candidate)
        })
        .collect();
    spread.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.order.cmp(&y.order)));
    spread.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Whether there was more than one legal move.
fn has_a_choice(game: &PlayedGame, ply: usize) -> bool {
    let board = game.moves[..ply].iter().fold(Board::startpos(), |board, &mv| board.after(mv));
    board.count_moves() > 1
}

fn analyze(analyzer: &mut MoveAnalyzer, played: &PlayedGame, candidate: &RecordCandidate, control: &Control) -> Record {
    let mut game = Game::default();
    played.moves[..candidate.ply].iter().for_each(|&mv| game.push(mv));
    let analysis = analyzer.analyze(&game, &[], None, control);
    let (context, side) = (PositionContext::of(&game), candidate.ply % 2);
    let short = |value: Value| value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    let mv = played.moves[candidate.ply];
    Record {
        board: *context.board,
        last: context.last,
        last_captured: context.last_captured,
        own: context.own,
        played: analysis.moves.iter().position(|valued| valued.mv == mv).unwrap_or_default(),
        values: analysis.moves.iter().map(|valued| valued.values.map(short)).collect(),
        repeats: analysis.repeats(&game),
        rating: played.ratings[side].unwrap_or_default() as u16,
        pool: played.pool,
        player: played.players[side],
        game: played.hash,
        test: candidate.group.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::testing::GAMES;
    use dyad_formats::testing::{Temporary, names};

    /// Prepares records of games in a folder of their own; also the names of the files that are left there.
    fn prepared(pgn: &str, settings: &RecordSettings) -> (Result<RecordCounts, String>, Vec<String>) {
        let folder = Temporary::folder();
        let games = folder.join("games.pgn");
        std::fs::write(&games, pgn).unwrap();
        let control = Control::new(false);
        let mut context = Context { threads: 1, stop: &control, on_event: &mut |_| () };
        let out = folder.join("records");
        let counts = prepare(settings, &[games], &Weights::embedded(), &out, &mut context);
        (counts.map_err(|error| error.to_string()), names(&folder))
    }

    fn game(tags: &str, moves: &str) -> String {
        format!("[White \"a\"]\n[Black \"b\"]\n{tags}\n{moves} *\n\n")
    }

    /// Games without a position, for each reason but those of the draws.
    fn unusable() -> String {
        let rated = |rating: u32| format!("[WhiteElo \"{rating}\"]\n[BlackElo \"{rating}\"]\n");
        let fen = "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n";
        [
            game(&(rated(1200) + fen), "1. e4"),
            game("", "1. e4 e5"),
            game(&rated(3000), "1. e4 e5"),
            game("[BlackElo \"400\"]\n", "1. e4 e5"),
            game(&rated(1200), ""),
            game(&rated(1200), "1. e4 Ke4"),
        ]
        .concat()
    }

    #[test]
    fn games_without_a_position_are_counted_by_reason() {
        use GameSkipReason::{Band, HeldOut, Moves, Program, Rating, Start};
        let all = RecordSettings { test_percent: 0.0, ..RecordSettings::default() };
        let programs: String = ["WhiteTitle \"BOT\"", "BlackIsComp \"Yes\"", "WhiteType \"program\""]
            .map(|mark| game(&format!("[{mark}]\n[WhiteElo \"1200\"]\n[BlackElo \"1200\"]\n"), "1. e4 e5"))
            .concat();
        let (counts, _) = prepared(&(GAMES.to_string() + &unusable() + &programs), &all);
        let left_out = BTreeMap::from([(Start, 1), (Program, 3), (Rating, 1), (Band, 2), (Moves, 1)]);
        assert_eq!(counts, Ok(RecordCounts { games: 2, broken: 1, left_out, records: 13 }));
        // A player of few games is held out, and one of many is not: its games with held-out players are skipped.
        let begun = |white: &str, black: &str| {
            format!("[White \"{white}\"]\n[Black \"{black}\"]\n[WhiteElo \"1200\"]\n\n1. e4 e5 2. Nf3 *\n\n")
        };
        let games: String = (0..3).map(|other| begun("often", &format!("once{other}"))).collect();
        let settings = RecordSettings { player_games: 2, test_percent: 100.0, ..all.clone() };
        let (counts, _) = prepared(&(games.clone() + &begun("new", "newer")), &settings);
        let counts = counts.unwrap();
        assert_eq!((counts.games, counts.left_out), (1, BTreeMap::from([(HeldOut, 3)])));
        let (counts, _) = prepared(&games, &RecordSettings { player_games: 0, ..all });
        assert!(counts.unwrap_err().ends_with("; 3 left out: enough games of its players"));
    }

    #[test]
    fn where_no_position_is_found_nothing_is_written() {
        let all = RecordSettings { test_percent: 0.0, ..RecordSettings::default() };
        let none = RecordSettings { train: 0, ..all.clone() };
        for (pgn, settings, expected) in [
            ("", &all, "no position was found in 0 games, 0 of them broken"),
            (GAMES, &none, "no position was found in 2 games, 0 of them broken"),
            (
                &unusable(),
                &all,
                "no position was found in 6 games, 1 of them broken; 1 left out: not from the standard starting \
                 position; 1 left out: no rating; 2 left out: rating outside the bands; 1 left out: no move",
            ),
        ] {
            let (counts, files) = prepared(pgn, settings);
            assert_eq!((counts, files), (Err(expected.to_string()), vec!["games.pgn".to_string()]));
        }
    }
}
