//! Records from games of people: the choice of positions, and their analysis.
//!
//! Players are split, not only games: no game of a held-out player is learned from, and the model is tested on the
//! moves of held-out players in games with others. A few players have most of the games of a band, so a player counts
//! for at most [`RecordSettings::player_games`] games; players with more games are never held out, since little would
//! be left. Positions are ordered by a hash and bands alternate randomly, so that any prefix of the file is a fair
//! sample of the whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dyad_engine::board::{Board, Color, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::levels::analysis::{DEPTHS, MoveAnalyzer, PLIES};
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::game::{BrokenGame, GameRecord};
use dyad_formats::hash;
use dyad_formats::pgn::GameTexts;
use serde::{Deserialize, Serialize};

use crate::base::context::{Context, Progress};
use crate::base::number::number;
use crate::base::parallel::ordered_for_each;
use crate::data::positions::PERCENT;
use crate::levels::records::{Pool, Record, Writer};

/// Width of a rating band.
pub const BAND: u32 = 200;

/// Which positions are used.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct RecordSettings {
    /// Training positions of each rating band
    #[serde(alias = "positions")]
    #[arg(long = "positions", value_parser = number::<usize>(0..), value_name = "N", default_value_t = Self::default().train)]
    pub train: usize,
    /// Test positions of each rating band
    #[serde(alias = "test-positions")]
    #[arg(long = "test-positions", value_parser = number::<usize>(0..), value_name = "N", default_value_t = Self::default().test)]
    pub test: usize,
    /// Centers of the lowest and the highest band.
    #[arg(skip = Self::default().bands)]
    pub bands: [u32; 2],
    /// Positions of each player in a game
    #[arg(long, value_parser = number::<usize>(0..), value_name = "N", default_value_t = Self::default().per_game)]
    pub per_game: usize,
    /// At most N games of each player
    #[arg(long, value_parser = number::<usize>(0..), value_name = "N", default_value_t = Self::default().player_games)]
    pub player_games: usize,
    /// Percentage of the players that are held out for testing
    #[arg(long, value_name = "PERCENT", value_parser = number(PERCENT), default_value_t = Self::default().test_percent)]
    pub test_percent: f64,
    /// Seed of all draws
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
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
#[must_use]
pub fn band_of(rating: u32) -> u32 {
    (rating + BAND / 2) / BAND * BAND
}

/// Counts of a preparation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Games read.
    pub games: usize,
    /// Games that could not be read.
    pub broken: usize,
    /// Records in the file.
    pub records: usize,
}

/// A game from the standard starting position.
pub(super) struct PlayedGame {
    pub(super) moves: Vec<Move>,
    pub(super) hash: u64,
    pub(super) ratings: [Option<u32>; 2],
    pub(super) names: [String; 2],
    pub(super) players: [u64; 2],
    pub(super) pool: Pool,
}

/// Which players are held out.
pub(super) struct HeldOut<'a> {
    settings: &'a RecordSettings,
    games: HashMap<u64, usize>,
}

impl HeldOut<'_> {
    pub(super) fn new<'a>(settings: &'a RecordSettings, games: &[PlayedGame]) -> HeldOut<'a> {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        games.iter().flat_map(|game| game.players).for_each(|player| *counts.entry(player).or_default() += 1);
        HeldOut { settings, games: counts }
    }

    /// Whether a player is held out; players with more than [`RecordSettings::player_games`] games are not.
    pub(super) fn holds(&self, player: u64) -> bool {
        self.games[&player] <= self.settings.player_games
            && hash::unit(hash::fold(self.settings.seed, player)) * 100.0 < self.settings.test_percent
    }
}

/// A candidate position.
#[derive(Clone, Copy)]
pub(super) struct RecordCandidate {
    pub(super) order: u64,
    pub(super) game: usize,
    pub(super) ply: usize,
    pub(super) band: u32,
    pub(super) test: bool,
}

/// Writes records of the games in `files` (PGN) to `out`; an incomplete file is continued. Reports the records done.
///
/// # Errors
/// When games cannot be read, the file cannot be written, or the work was stopped.
pub fn prepare(
    settings: &RecordSettings,
    files: &[PathBuf],
    weights: &Arc<Weights>,
    out: &Path,
    context: &mut Context<Progress>,
) -> Result<RecordCounts, Error> {
    let (mut games, broken) = read_games(files, |_| ())?;
    games.retain(|game| game.ratings.iter().any(Option::is_some));
    let candidates = choose(settings, &games);
    let header = serde_json::json!({
        "settings": settings, "positions": format!("{:016x}", identity(settings.seed, &games, &candidates)),
        "weights": weights.id(), "plies": PLIES,
    });
    let records = analyze_all(&games, &candidates, weights, (out, &header), context)?;
    Ok(RecordCounts { games: games.len(), broken, records })
}

/// Hash of these positions in this order.
fn identity(seed: u64, games: &[PlayedGame], candidates: &[RecordCandidate]) -> u64 {
    candidates.iter().fold(hash::mix(seed), |identity, candidate| {
        hash::fold(hash::fold(identity, games[candidate.game].hash), candidate.ply as u64)
    })
}

/// Writes the missing records of the candidates to a file with this header. Returns the number of records.
fn analyze_all(
    games: &[PlayedGame],
    candidates: &[RecordCandidate],
    weights: &Arc<Weights>,
    (out, header): (&Path, &serde_json::Value),
    context: &mut Context<Progress>,
) -> Result<usize, Error> {
    let mut writer = Writer::open(out, header)?;
    let (total, before) = (candidates.len(), writer.done);
    ordered_for_each(
        context.threads,
        candidates.iter().skip(before),
        || Ok::<_, Error>(MoveAnalyzer::new(Arc::clone(weights))),
        |analyzer, candidate| {
            let record = analyze(analyzer, &games[candidate.game], candidate, context.stop);
            if context.stop.stopped() { Err(Error::Stopped) } else { Ok(record) }
        },
        |record| {
            writer.append(&record)?;
            if writer.done.is_multiple_of(500) {
                writer.sync()?;
            }
            (context.on_event)(Progress { done: writer.done as u64, of: total as u64 });
            Ok(())
        },
    )
    .or_else(|error| writer.sync().and(Err(error)))?;
    writer.sync()?;
    Ok(writer.done)
}

pub(super) fn read_games(
    files: &[PathBuf],
    mut on_broken: impl FnMut(BrokenGame),
) -> Result<(Vec<PlayedGame>, usize), Error> {
    let (mut games, mut broken) = (Vec::new(), 0);
    for path in files {
        for text in GameTexts::open(path)? {
            match text?.parse(None) {
                Ok(record) => games.extend(played(&record)),
                Err(game) => {
                    broken += 1;
                    on_broken(game);
                }
            }
        }
    }
    Ok((games, broken))
}

/// The relevant parts of a game, if it started from the standard position.
fn played(record: &GameRecord) -> Option<PlayedGame> {
    let usual = record.start == Board::startpos();
    let hash = record.hash();
    let pool = Pool::of_site(&record.tags.site);
    let player = |side: usize| match record.tags.players[side].as_str() {
        "" | "?" => hash::fold(hash, side as u64),
        // The same name on two servers counts as one player, held out on both or on neither.
        name => hash::fold_text(u64::from(pool == Pool::Board), name),
    };
    usual.then(|| PlayedGame {
        moves: record.moves.iter().map(|played| played.mv).collect(),
        hash,
        ratings: record.tags.ratings,
        names: record.tags.players.clone(),
        players: [player(0), player(1)],
        pool,
    })
}

/// The chosen positions, in the order of analysis.
fn choose(settings: &RecordSettings, games: &[PlayedGame]) -> Vec<RecordCandidate> {
    let held_out = HeldOut::new(settings, games);
    let mut candidates = Vec::new();
    for (number, game) in games.iter().enumerate() {
        for (side, &player) in game.players.iter().enumerate() {
            let Some(rating) = game.ratings[side] else { continue };
            let band = band_of(rating);
            let test = held_out.holds(player);
            // A game with a held-out player is not used for training.
            let learned_from = test || !held_out.holds(game.players[1 - side]);
            let draw = hash::fold(hash::fold(settings.seed, game.hash), side as u64);
            let thinned = hash::unit(draw) * held_out.games[&player] as f64 >= settings.player_games as f64;
            if !(settings.bands[0]..=settings.bands[1]).contains(&band) || !learned_from || thinned {
                continue;
            }
            let plies = (side..game.moves.len()).step_by(2);
            let mut own: Vec<(u64, usize)> = plies.map(|ply| (hash::fold(draw, ply as u64), ply)).collect();
            own.sort_unstable();
            own.truncate(settings.per_game);
            candidates.extend(own.into_iter().map(|(order, ply)| RecordCandidate {
                order,
                game: number,
                ply,
                band,
                test,
            }));
        }
    }
    candidates.sort_unstable_by_key(|candidate| (candidate.order, candidate.game, candidate.ply));
    let mut taken: HashMap<(u32, bool), usize> = HashMap::new();
    candidates.retain(|candidate| {
        let wanted = if candidate.test { settings.test } else { settings.train };
        let count = taken.entry((candidate.band, candidate.test)).or_default();
        *count += 1;
        *count <= wanted && has_a_choice(&games[candidate.game], candidate.ply)
    });
    // Interleave the bands, so that those with more games do not come first.
    let mut place: HashMap<(u32, bool), usize> = HashMap::new();
    let mut spread: Vec<(f64, RecordCandidate)> = candidates
        .into_iter()
        .map(|candidate| {
            let key = (candidate.band, candidate.test);
            let place = place.entry(key).or_default();
            *place += 1;
            (
                *place as f64 / taken[&key].min(if candidate.test { settings.test } else { settings.train }) as f64,
                candidate,
            )
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
    let side = usize::from(game.board().side_to_move() == Color::Black);
    record(analyzer, &game, played.moves[candidate.ply], control, |record| Record {
        rating: played.ratings[side].unwrap_or_default() as u16,
        pool: played.pool,
        player: played.players[side],
        game: played.hash,
        test: candidate.test,
        ..record
    })
}

/// The record of a move of a game; `who` fills in the player.
pub(super) fn record(
    analyzer: &mut MoveAnalyzer,
    game: &Game,
    mv: Move,
    control: &Control,
    who: impl FnOnce(Record) -> Record,
) -> Record {
    let analysis = analyzer.analyze(game, &[], None, control);
    let (moves, board) = (game.moves(), game.board());
    let before = |plies: usize| moves.len().checked_sub(plies).map(|index| moves[index]);
    let short = |value: Value| value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    who(Record {
        board: *board,
        last: before(1),
        last_captured: game.last_capture().is_some(),
        own: before(2),
        played: analysis.moves.iter().position(|valued| valued.mv == mv).unwrap_or_default(),
        values: analysis.moves.iter().map(|valued| valued.values.map(short)).collect::<Vec<[i16; DEPTHS]>>(),
        repeats: analysis.moves.iter().map(|valued| game.keys().contains(&board.after(valued.mv).key())).collect(),
        rating: 0,
        pool: Pool::Lichess,
        player: 0,
        game: 0,
        test: false,
    })
}
