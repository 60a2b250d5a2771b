//! Self-play games, the training data of both methods.
//!
//! A game begins with random legal moves from the starting position or from an opening of a file. The nodes of each side
//! vary from game to game. [`GeneratorSettings::limit`] says how unbalanced a game may begin: engines that play from
//! balanced openings never hang a piece, so a regression to such games alone does not learn the cost of a lost piece,
//! while the comparison of moves learns from them.
//!
//! A game depends on the settings and its number alone. Games are written in order, so an interrupted file resumes
//! after its last complete game; the complete file has the same bytes on any number of threads.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use dyad_engine::board::{Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::hash;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::arena::game_file::{GameFile, check_event};
use crate::arena::openings::{Opening, Variant, any_move, opening_filter, walk};
use crate::arena::pgn_writer::PgnGame;
use crate::arena::play::{Adjudication, DrawRule, FinishedGame, SearchLimits, Seat, WinRule, play};
use crate::base::context::Context;
use crate::base::is_default;
use crate::base::number::number;
use crate::base::parallel::ordered_map;

/// Everything that determines the games.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct GeneratorSettings {
    /// Number of games
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..), default_value_t = Self::default().games)]
    pub games: u64,
    /// Nodes per move, on average
    #[arg(long, value_name = "NODES", value_parser = number::<u64>(1..), default_value_t = Self::default().nodes)]
    pub nodes: u64,
    /// Spread of a side's nodes: `nodes` times a factor from 1 - `spread` to 1 + `spread`.
    #[arg(skip = Self::default().spread)]
    pub spread: f64,
    /// Starting positions of games without an opening of a file.
    #[serde(skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub variant: Variant,
    /// Random plies from the starting position, smallest and largest number.
    #[arg(skip = Self::default().plies)]
    pub plies: [u32; 2],
    /// Random plies after an opening of a file, smallest and largest number.
    #[arg(skip = Self::default().plies_after)]
    pub plies_after: [u32; 2],
    /// Largest advantage of either side after the opening, in centipawns.
    #[arg(skip = Self::default().limit)]
    pub limit: Value,
    /// Seed of openings and nodes
    #[arg(long, value_parser = number::<u64>(0..), default_value_t = Self::default().seed)]
    pub seed: u64,
}

impl Default for GeneratorSettings {
    fn default() -> GeneratorSettings {
        GeneratorSettings {
            games: 100_000,
            nodes: 3_000,
            spread: 0.2,
            variant: Variant::Standard,
            plies: [6, 12],
            plies_after: [0, 4],
            limit: 600,
            seed: 1,
        }
    }
}

/// Most attempts to find an opening for a game.
const ATTEMPTS: u32 = 1_000;
/// 100 centipawns in search units.
const PAWN: Value = dyad_engine::value::WINS_HALF;

/// Nodes of the search that filters openings.
pub(super) const FILTER_NODES: u64 = 500;
/// Hash of each player in megabytes: the searches are short.
pub(super) const HASH: usize = 1;

/// Adjudication of the games. Half of the openings are unbalanced, so there are few long draws.
const ADJUDICATION: Adjudication = Adjudication {
    draw: Some(DrawRule { from: 60, moves: 10, score: 5 }),
    win: Some(WinRule { moves: 4, score: 1_200 }),
    plies: Some(400),
};

/// Progress of the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratorProgress {
    /// Complete games in the file.
    pub games: u64,
    /// Moves searched since the start or the resumption.
    pub moves: u64,
}

/// Appends games to the file at `path`. Half of the games begin with `openings`, if there are any. Reports after each
/// game.
///
/// # Errors
/// When the file cannot be read or written, no opening is found, or it was stopped; complete games stay in the file.
pub fn generate(
    settings: &GeneratorSettings,
    weights: &Arc<Weights>,
    openings: &[Opening],
    path: &Path,
    context: &mut Context<GeneratorProgress>,
) -> Result<(), Error> {
    let event = event(settings, weights, openings);
    check_event(path, &event)?;
    let (mut file, games) = GameFile::open(path)?;
    let mut played = GeneratorProgress { games: games.len() as u64, moves: 0 };
    drop(games);
    let first = played.games;
    (context.on_event)(played);
    let over = AtomicBool::new(false);
    let stopped = ordered_map(
        context.threads,
        first..settings.games,
        || GamePlayer::new(settings, weights, openings),
        |player, number| Ok((number, player.game(number, context.stop, &over)?)),
        |(number, game)| {
            let Some(game) = game else { return Ok(ControlFlow::Break(())) };
            file.write(&pgn(number, &game, &event, weights))?;
            played = GeneratorProgress { games: number + 1, moves: played.moves + game.moves.len() as u64 };
            (context.on_event)(played);
            Ok(ControlFlow::Continue(()))
        },
        &over,
    )?;
    file.sync()?;
    if stopped.is_some() { Err(Error::Stopped) } else { Ok(()) }
}

/// The event tag of all games, with a hash of settings, weights and openings: games with other ones are not appended to
/// the same file.
fn event(settings: &GeneratorSettings, weights: &Weights, openings: &[Opening]) -> String {
    let GeneratorSettings { seed, nodes, .. } = settings;
    // The number of games may grow later.
    let text = serde_json::to_string(&GeneratorSettings { games: 0, ..settings.clone() }).expect("plain data");
    let key = openings.iter().fold(hash::fold_text(0, &text), |key, opening| {
        let moves = opening.moves.iter().map(|&mv| u64::from(Move::packed(Some(mv))));
        moves.fold(hash::fold_text(key, &opening.start.fen()), hash::fold)
    });
    format!("dyad games, seed {seed}, {nodes} nodes a move, weights {}, settings {key:016x}", weights.id())
}

/// A game in PGN, without a date, so that the file is always the same.
pub fn pgn(number: u64, game: &FinishedGame, event: &str, weights: &Weights) -> PgnGame {
    let tags = vec![
        ("Event", event.to_string()),
        ("Site", "one process".to_string()),
        ("Round", (number + 1).to_string()),
        ("White", weights.meta.name.clone()),
        ("Black", weights.meta.name.clone()),
    ];
    game.pgn(tags)
}

/// Plays the games of a generator, on one thread.
pub struct GamePlayer<'a> {
    settings: GeneratorSettings,
    openings: &'a [Opening],
    engines: [Engine; 2],
    filter: Box<dyn FnMut(&Game) -> Value + Send>,
}

impl<'a> GamePlayer<'a> {
    /// Half of the games begin with `openings`, if there are any.
    ///
    /// # Errors
    /// Without memory for the transposition tables.
    pub fn new(
        settings: &GeneratorSettings,
        weights: &Arc<Weights>,
        openings: &'a [Opening],
    ) -> Result<GamePlayer<'a>, Error> {
        let engine = || Engine::with_hash(weights.clone(), HASH);
        let filter = Box::new(opening_filter(weights.clone(), FILTER_NODES));
        Ok(GamePlayer { settings: settings.clone(), openings, engines: [engine()?, engine()?], filter })
    }

    /// Plays the game with this number; `None` if it was interrupted.
    ///
    /// # Errors
    /// When no opening is within the limit.
    pub fn game(&mut self, number: u64, control: &Control, over: &AtomicBool) -> Result<Option<FinishedGame>, Error> {
        let mut random = Pcg64::seed_from_u64(hash::fold(hash::mix(self.settings.seed), number));
        let GeneratorSettings { nodes, spread, .. } = self.settings;
        let limits = [(); 2].map(|()| {
            let factor = 1.0 + spread * random.random_range(-1.0..=1.0);
            SearchLimits::Nodes(((nodes as f64 * factor) as u64).max(1))
        });
        let opening = (0..ATTEMPTS).find_map(|_| self.opening(&mut random));
        let opening = opening.ok_or_else(|| Error::Settings("no opening is within the limit".into()))?;
        let [white, black] = &mut self.engines;
        let seats = [Seat { player: white, limits: limits[0] }, Seat { player: black, limits: limits[1] }];
        Ok(play(&opening, seats, &ADJUDICATION, control, &|| over.load(Ordering::Relaxed)))
    }

    /// One attempt at an opening.
    fn opening(&mut self, random: &mut Pcg64) -> Option<Opening> {
        let from_file = !self.openings.is_empty() && random.random_range(0..2) == 0;
        let mut opening = match from_file {
            true => self.openings[random.random_range(0..self.openings.len())].clone(),
            false => Opening::from_board(self.settings.variant.draw(random)),
        };
        let mut game = opening.game();
        let GeneratorSettings { plies, plies_after, .. } = self.settings;
        let [least, most] = if from_file { plies_after } else { plies };
        let count = random.random_range(least..=most);
        walk(&mut game, &mut opening, count, |board| any_move(&board.moves(), random))?;
        let within = (self.filter)(&game).abs() <= self.settings.limit * PAWN / 100;
        within.then_some(opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Board;
    use dyad_formats::testing::Temporary;
    use std::fs;

    fn settings(games: u64, seed: u64) -> GeneratorSettings {
        GeneratorSettings { games, nodes: 60, seed, ..GeneratorSettings::default() }
    }

    fn made(settings: &GeneratorSettings, threads: usize, openings: &[Opening]) -> Vec<u8> {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        let weights = Arc::new(Weights::material());
        let control = Control::new(false);
        let mut context = Context { threads, stop: &control, on_event: &mut |_| () };
        generate(settings, &weights, openings, &path, &mut context).unwrap();
        fs::read(&path).unwrap()
    }

    /// The bytes depend on settings and seed alone: not on threads, nor on where it was stopped.
    #[test]
    fn games_follow_from_seed_and_number() {
        let all = made(&settings(6, 3), 1, &[]);
        assert_eq!(all, made(&settings(6, 3), 3, &[]));
        assert_ne!(all, made(&settings(6, 4), 1, &[]));

        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        fs::write(&path, &all[..all.len() * 2 / 3]).unwrap();
        let (weights, control) = (Arc::new(Weights::material()), Control::new(false));
        let mut first = None;
        let mut report = |played: GeneratorProgress| _ = first.get_or_insert(played.games);
        let mut context = Context { threads: 2, stop: &control, on_event: &mut report };
        generate(&settings(6, 3), &weights, &[], &path, &mut context).unwrap();
        assert!(first.is_some_and(|games| (1..6).contains(&games)), "{first:?}");
        assert_eq!(fs::read(&path).unwrap(), all);
    }

    /// Half of the games begin after an opening of the file, with the moves that the settings ask for.
    #[test]
    fn openings_of_a_file_are_used() {
        let start = Board::from_fen("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3").unwrap();
        let settings = GeneratorSettings { plies: [6, 6], plies_after: [2, 2], ..settings(24, 1) };
        let text = String::from_utf8(made(&settings, 2, &[Opening::from_board(start)])).unwrap();
        let games: Vec<&str> = text.split("[Event ").skip(1).collect();
        assert_eq!(games.len(), 24);
        let after = games.iter().filter(|game| game.contains("[FEN ")).count();
        assert!((4..=20).contains(&after), "{after}");
        for game in games {
            let random = game.matches("{book}").count();
            assert_eq!(random, if game.contains("[FEN ") { 2 } else { 6 });
        }
    }

    /// A file holds the games of one setting alone, but more of them may be asked for.
    #[test]
    fn games_of_other_settings_do_not_come_together() {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        let good = settings(1, 3);
        let text = made(&good, 1, &[]);
        let (material, control) = (Arc::new(Weights::material()), Control::new(false));
        let into_it = |settings: &GeneratorSettings, weights: &Arc<Weights>, openings: &[Opening]| {
            fs::write(&path, &text).unwrap();
            let mut context = Context { threads: 1, stop: &control, on_event: &mut |_| () };
            generate(settings, weights, openings, &path, &mut context).map_err(|error| error.to_string())
        };
        assert_eq!(into_it(&settings(2, 3), &material, &[]), Ok(()));
        assert!(fs::read(&path).unwrap().starts_with(&text));
        for (settings, weights, openings) in [
            (GeneratorSettings { spread: 0.3, ..good.clone() }, &material, vec![]),
            (GeneratorSettings { limit: 500, ..good.clone() }, &material, vec![]),
            (GeneratorSettings { variant: Variant::Chess960, ..good.clone() }, &material, vec![]),
            (good.clone(), &Weights::embedded(), vec![]),
            (good.clone(), &material, vec![Opening::from_board(Board::startpos())]),
        ] {
            let refusal = into_it(&settings, weights, &openings).unwrap_err();
            assert!(refusal.contains("they stay, name another file"), "{refusal}");
            assert_eq!(fs::read(&path).unwrap(), text);
        }
    }
}
