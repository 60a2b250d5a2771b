//! Games of self-play, and files of games that grow.
//!
//! Two engines with the same weights play the same game from the same position, so all variety comes from the
//! openings: each game has its own, random moves that lose nothing at once, to a position that the weights hold
//! for balanced. The number of a game and the seed decide about all of it; games are written in their order, so a
//! file that was cut tells by its number of complete games where to resume.
//!
//! Games are decided early only where playing on would teach nothing: a side that both sides have seen far
//! ahead for several moves wins. Weights that know material alone find most positions even, so being even is no
//! reason to end a game before its fiftieth move, and then only while nothing happens for ten moves of each side.

use std::fs;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::files;
use dyad_engine::search::Options;
use dyad_engine::value::Value;

use crate::arena::openings::{OpeningSettings, RandomOpenings, Variant, opening_filter};
use crate::arena::pgn_writer::{PgnFile, PgnGame, today};
use crate::arena::play::{Adjudication, DrawRule, FinishedGame, Player, SearchLimits, WinRule, play};
use crate::base::error::Error;
use crate::base::hash;
use crate::base::parallel::ordered_map;
use crate::data::game::GameRecord;
use crate::data::input::Lines;
use crate::data::pgn::GameTexts;
use crate::data::score::ScoreSide;

/// Random moves at the beginning of a game.
const OPENING_PLIES: RangeInclusive<u32> = 6..=12;
/// The largest advantage of either side after them, in search units: some games should begin unbalanced.
const OPENING_LIMIT: Value = 180;
/// Nodes by which it is judged.
pub(super) const FILTER_NODES: u64 = 500;

/// Megabytes of each player's table: the searches are short.
pub(super) const HASH: usize = 1;

/// When games end early.
pub(super) const ADJUDICATION: Adjudication = Adjudication {
    draw: Some(DrawRule { from: 50, moves: 10, score: 8 }),
    win: Some(WinRule { moves: 4, score: 500 }),
    plies: Some(400),
};

/// A file of games that is appended to, and the complete games it held before.
pub(super) struct GameFile {
    file: PgnFile,
    /// The games that were in it.
    pub games: Vec<GameRecord>,
}

impl GameFile {
    /// Opens the file at `path`, or makes it. What comes after its last complete game is cut off.
    pub fn open(path: &Path) -> Result<GameFile, Error> {
        // A pipe would be waited for, and a device read without end.
        let target = files::output_path(path).map_err(Error::file("open", path))?;
        let text = match fs::read(target) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::file("read", path)(error)),
        };
        let (mut games, mut whole) = (Vec::new(), 0);
        // A game is two paragraphs: tags and moves.
        let paragraphs: Vec<&str> = text.split_inclusive("\n\n").collect();
        for [tags, moves] in paragraphs.as_chunks().0 {
            let Some(game) = parse(&[*tags, *moves].concat(), path) else { break };
            games.push(game);
            whole += tags.len() + moves.len();
        }
        if whole < text.len() {
            let cut = fs::OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(whole as u64));
            cut.map_err(Error::file("write", path))?;
        }
        let file = PgnFile::append_to(path).map_err(Error::file("write", path))?;
        Ok(GameFile { file, games })
    }

    /// Appends a game.
    pub fn write(&mut self, game: &PgnGame, path: &Path) -> Result<(), Error> {
        self.file.write(game).map_err(Error::file("write", path))
    }
}

/// Reads one game, if it is complete.
fn parse(text: &str, path: &Path) -> Option<GameRecord> {
    if !text.ends_with("\n\n") {
        return None;
    }
    let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let game = GameTexts::new(Lines::new(input, path), path).next()?.ok()?.parse(Some(ScoreSide::Mover)).ok()?;
    game.result.is_some().then_some(game)
}

/// Games of weights against themselves.
pub(super) struct SelfPlay<'a> {
    /// The weights.
    pub weights: Arc<Weights>,
    /// What they are called in the games.
    pub name: &'a str,
    /// The event in the games.
    pub event: &'a str,
    /// Nodes of a move.
    pub nodes: u64,
    /// The starting positions.
    pub variant: Variant,
    /// Decides about the openings.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// Positions that are wanted.
    pub positions: u64,
    /// Positions that one game counts for at most.
    pub positions_per_game: usize,
}

impl SelfPlay<'_> {
    /// Plays to the file at `path`, behind the games it holds, until there are enough positions. `report` hears
    /// of how many there are. False if it was stopped.
    pub fn run(&self, path: &Path, control: &Control, mut report: impl FnMut(u64)) -> Result<bool, Error> {
        let mut file = GameFile::open(path)?;
        let first = file.games.len() as u64;
        let own_moves = |game: &GameRecord| game.moves.iter().filter(|played| !played.book).count();
        let mut positions: u64 = file.games.iter().map(|game| self.worth(own_moves(game))).sum();
        report(positions);
        if positions >= self.positions {
            return Ok(true);
        }
        let (over, date) = (AtomicBool::new(false), today());
        let done = ordered_map(
            self.threads,
            first..,
            || self.table(),
            |table, number| Ok((number, table.game(number, control, &over)?)),
            |(number, game)| {
                let Some(game) = game else { return Ok(ControlFlow::Break(false)) };
                file.write(&self.pgn(number, &game, &date), path)?;
                positions += self.worth(game.moves.len());
                report(positions);
                Ok(if positions >= self.positions { ControlFlow::Break(true) } else { ControlFlow::Continue(()) })
            },
            &over,
        )?;
        Ok(done.unwrap_or(false))
    }

    /// How many positions a game of so many moves counts for.
    fn worth(&self, moves: usize) -> u64 {
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

    fn table(&self) -> Result<Table<'_>, Error> {
        let player = || -> Result<Player<Engine>, Error> {
            let engine = Engine::with_hash(self.weights.clone(), HASH);
            let engine = engine.map_err(|error| Error::Engine(error.to_string()))?;
            Ok(Player { engine, options: Options::default(), budget: SearchLimits::Nodes(self.nodes) })
        };
        let judge = Box::new(opening_filter(self.weights.clone(), FILTER_NODES));
        Ok(Table { plan: self, players: [player()?, player()?], judge })
    }
}

/// Where a thread plays.
struct Table<'a> {
    plan: &'a SelfPlay<'a>,
    players: [Player<Engine>; 2],
    judge: Box<dyn FnMut(&Game) -> Value + Send>,
}

impl Table<'_> {
    /// Plays the game with this number; none if it was interrupted.
    fn game(&mut self, number: u64, control: &Control, over: &AtomicBool) -> Result<Option<FinishedGame>, Error> {
        let recipe = OpeningSettings {
            plies: OPENING_PLIES,
            limit: OPENING_LIMIT,
            variant: self.plan.variant,
            ..OpeningSettings::new(hash::fold(self.plan.seed, number))
        };
        let opening = RandomOpenings::new(recipe, &mut self.judge).next();
        let opening = opening.ok_or_else(|| Error::Settings("the weights hold no opening for balanced".into()))?;
        let [white, black] = &mut self.players;
        Ok(play(&opening, [white, black], &ADJUDICATION, None, control, &|| over.load(Ordering::Relaxed)))
    }
}
