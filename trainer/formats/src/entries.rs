//! Files of games or of positions, whichever their names say.

use std::iter;
use std::path::Path;
use std::sync::Arc;

use crate::epd::Epd;
use crate::error::Error;
use crate::game::{BrokenGame, GameRecord};
use crate::input::{Kind, Lines};
use crate::pgn::{GameText, GameTexts};
use crate::score::ScoreSide;

/// A game or a line of an EPD file, to be read on any thread.
pub enum Entry {
    /// The text of a game.
    Game(GameText),
    /// A position: the file, the number of the line, and its text.
    Line(Arc<Path>, u64, String),
}

/// What an entry holds.
pub enum Content {
    /// A game.
    Game(GameRecord),
    /// A position.
    Position(Epd),
}

impl Entry {
    /// Reads the entry. Scores in comments are read only when it is known from whose side.
    ///
    /// # Errors
    /// When the game or the line is broken: where and why.
    pub fn parse(&self, scores: Option<ScoreSide>) -> Result<Content, BrokenGame> {
        match self {
            Entry::Game(text) => text.parse(scores).map(Content::Game),
            Entry::Line(path, line, text) => {
                let broken = |problem| BrokenGame { path: path.to_path_buf(), line: *line, problem };
                Epd::parse(text).map(Content::Position).map_err(broken)
            }
        }
    }
}

/// The entries of a file.
///
/// # Errors
/// When the file cannot be opened.
pub fn entries(path: &Path) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>> + Send>, Error> {
    Ok(match Kind::of(path) {
        Kind::Games => Box::new(GameTexts::open(path)?.map(|text| text.map(Entry::Game))),
        Kind::Positions => {
            let (path, mut input) = (Arc::<Path>::from(path), Lines::open(path)?);
            let lines = iter::from_fn(move || input.read_text().transpose());
            Box::new(lines.map(move |line| line.map(|(line, text)| Entry::Line(path.clone(), line, text))))
        }
    })
}
