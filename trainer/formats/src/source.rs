//! Games of any format, a chunk of a file at a time.
//!
//! Splitting a file into chunks is cheap and sequential; parsing a chunk takes the time and can be done on any thread.
//! A chunk is a game as text or as bytes, or a block of many games, depending on the format.

use std::path::Path;

#[cfg(feature = "binpack")]
use crate::binpack::{Chunk, Chunks};
use crate::error::Error;
use crate::game::BrokenGame;
use crate::game::GameRecord;
use crate::input::Kind;
use crate::pgn::{GameText, GameTexts};
use crate::score::ScoreSide;
use crate::viriformat::{GameBytes, GamesInBytes};

/// A chunk of a file of games.
pub enum FileChunk {
    /// A game in PGN.
    Text(GameText),
    /// A game in viriformat.
    Bytes(GameBytes),
    /// A chunk of a binpack.
    #[cfg(feature = "binpack")]
    Chunk(Chunk),
}

/// The chunks of a file in order.
pub type FileChunks = Box<dyn Iterator<Item = Result<FileChunk, Error>> + Send>;

/// The chunks of the file at `path`; the name determines the format ([`Kind`]).
///
/// # Errors
/// When it cannot be opened, is no file of games by its name, or this build cannot read its format.
pub fn chunks(path: &Path) -> Result<FileChunks, Error> {
    Ok(match Kind::of(path) {
        Kind::Games => Box::new(GameTexts::open(path)?.map(|game| game.map(FileChunk::Text))),
        Kind::Viriformat => Box::new(GamesInBytes::open(path)?.map(|game| game.map(FileChunk::Bytes))),
        #[cfg(feature = "binpack")]
        Kind::Binpack => Box::new(Chunks::open(path)?.map(|chunk| chunk.map(FileChunk::Chunk))),
        #[cfg(not(feature = "binpack"))]
        Kind::Binpack => {
            let problem =
                "this program was built without the reader of binpacks; build it with `cargo build --features binpack`";
            return Err(Error::content(path, "its name", problem));
        }
        Kind::Positions | Kind::Bulletformat => {
            return Err(Error::content(path, "its name", "positions cannot be made games"));
        }
    })
}

impl FileChunk {
    /// The games of the chunk. Scores in comments of PGN are read only if `scores` gives their side.
    #[must_use]
    pub fn games(&self, scores: Option<ScoreSide>) -> Vec<Result<GameRecord, BrokenGame>> {
        match self {
            FileChunk::Text(text) => vec![text.parse(scores)],
            FileChunk::Bytes(bytes) => vec![bytes.parse()],
            #[cfg(feature = "binpack")]
            FileChunk::Chunk(chunk) => chunk.games(),
        }
    }

    /// Whether it may contain many games.
    #[must_use]
    pub fn is_large(&self) -> bool {
        match self {
            FileChunk::Text(_) | FileChunk::Bytes(_) => false,
            #[cfg(feature = "binpack")]
            FileChunk::Chunk(_) => true,
        }
    }
}
