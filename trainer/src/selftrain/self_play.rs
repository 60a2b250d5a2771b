//! Self-play games of a comparison training.
//!
//! Two engines with the same weights always play the same game from the same position, so all variety comes from the
//! openings: each game has its own, random moves without immediate loss to a position that the weights consider
//! balanced. A game depends on the seed and its number alone. Games are written in order, so an interrupted file
//! resumes after its last complete game.
//!
//! A win is adjudicated when both sides report a large advantage for several moves. Weights of material alone consider
//! most positions even, so draws are adjudicated only from move 50 on, after ten moves of each side without progress.

use std::ops::ControlFlow;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::Options;
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::game::GameRecord;
use dyad_formats::hash;

use crate::arena::game_file::GameFile;
use crate::arena::openings::{OpeningSettings, RandomOpenings, Variant, opening_filter};
use crate::arena::pgn_writer::{PgnGame, today};
use crate::arena::play::{Adjudication, DrawRule, FinishedGame, SearchLimits, Seat, WinRule, play};
use crate::base::parallel::ordered_map;

/// Random plies at the beginning of a game.
const OPENING_PLIES: RangeInclusive<u32> = 6..=12;
/// Largest advantage of either side after the opening in search units, so that some games begin unbalanced.
const OPENING_LIMIT: Value = 180;
/// Nodes of the search that filters openings.
pub(super) const FILTER_NODES: u64 = 500;

/// Hash of each player in megabytes: the searches are short.
pub(super) const HASH: usize = 1;

/// Adjudication of the games.
pub(super) const ADJUDICATION: Adjudication = Adjudication {
    draw: Some(DrawRule { from: 50, moves: 10, score: 8 }),
    win: Some(WinRule { moves: 4, score: 500 }),
    plies: Some(400),
};

/// Self-play games.
pub(super) struct SelfPlay<'a> {
    pub weights: Arc<Weights>,
    /// Name of both players.
    pub name: &'a str,
    /// Event of the games.
    pub event: &'a str,
    /// Nodes per move.
    pub nodes: u64,
    pub variant: Variant,
    /// Seed of the openings.
    pub seed: u64,
    pub threads: usize,
    /// Number of positions after which no more games are played.
    pub positions: u64,
    /// Most positions counted for one game.
    pub positions_per_game: usize,
}

impl SelfPlay<'_> {
    /// Appends games to the file at `path` until they have enough positions. `report` receives the number of positions.
    /// False if it was stopped.
    pub fn run(&self, path: &Path, control: &Control, mut report: impl FnMut(u64)) -> Result<bool, Error> {
        let (mut file, games) = GameFile::open(path)?;
        let first = games.len() as u64;
        let own_moves = |game: &GameRecord| game.moves.iter().filter(|played| !played.book).count();
        let mut positions: u64 = games.iter().map(|game| self.counted(own_moves(game))).sum();
        report(positions);
        if positions >= self.positions {
            file.sync()?;
            return Ok(true);
        }
        let (over, date) = (AtomicBool::new(false), today());
        let done = ordered_map(
            self.threads,
            first..,
            || self.worker(),
            |worker, number| Ok((number, worker.game(number, control, &over)?)),
            |(number, game)| {
                let Some(game) = game else { return Ok(ControlFlow::Break(false)) };
                file.write(&self.pgn(number, &game, &date))?;
                positions += self.counted(game.moves.len());
                report(positions);
                Ok(if positions >= self.positions { ControlFlow::Break(true) } else { ControlFlow::Continue(()) })
            },
            &over,
        )?;
        let done = done.unwrap_or(false);
        if done {
            file.sync()?;
        }
        Ok(done)
    }

    /// The positions counted for a game of `moves` moves.
    fn counted(&self, moves: usize) -> u64 {
        moves.min(self.positions_per_game) as u64
    }

    fn pgn(&self, number: u64, game: &FinishedGame, date: &str) -> PgnGame {
        let tags = vec![
            ("Event", self.event.to_string()),
            ("Site", "one process".to_string()),
            ("Date", date.to_string()),
            ("Round", (number + 1).to_string()),
            ("White", self.name.to_string()),
            ("Black", self.name.to_string()),
        ];
        game.pgn(tags, false)
    }

    fn worker(&self) -> Result<SelfPlayWorker<'_>, Error> {
        let engine = || Engine::with_hash(self.weights.clone(), HASH);
        let filter = Box::new(opening_filter(self.weights.clone(), FILTER_NODES));
        Ok(SelfPlayWorker { self_play: self, engines: [engine()?, engine()?], filter })
    }
}

/// Plays self-play games, on one thread.
struct SelfPlayWorker<'a> {
    self_play: &'a SelfPlay<'a>,
    engines: [Engine; 2],
    filter: Box<dyn FnMut(&Game) -> Value + Send>,
}

impl SelfPlayWorker<'_> {
    /// Plays the game with this number; `None` if it was interrupted.
    fn game(&mut self, number: u64, control: &Control, over: &AtomicBool) -> Result<Option<FinishedGame>, Error> {
        let opening_settings = OpeningSettings {
            plies: OPENING_PLIES,
            limit: OPENING_LIMIT,
            variant: self.self_play.variant,
            ..OpeningSettings::new(hash::fold(self.self_play.seed, number))
        };
        let opening = RandomOpenings::new(opening_settings, &mut self.filter).next();
        let opening = opening.ok_or_else(|| Error::Settings("no random opening is balanced for the weights".into()))?;
        let (options, limits) = (Options::default(), SearchLimits::Nodes(self.self_play.nodes));
        let seats = self.engines.each_mut().map(|engine| Seat { player: engine, options: &options, limits });
        Ok(play(&opening, seats, &ADJUDICATION, None, control, &|| over.load(Ordering::Relaxed)))
    }
}
