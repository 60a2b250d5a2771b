//! Games of any form, a piece of a file at a time.
//!
//! To cut a file into pieces is cheap and must be done in its order; to read what a piece holds takes the time, and can be
//! done on any thread. What a piece is depends on the form: a game as text or as bytes, or a block of many games.

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

/// A piece of a file of games.
pub enum Piece {
    /// A game in PGN.
    Text(GameText),
    /// A game in viriformat.
    Bytes(GameBytes),
    /// A chunk of a binpack.
    #[cfg(feature = "binpack")]
    Chunk(Chunk),
}

/// The pieces of a file in their order.
pub type Pieces = Box<dyn Iterator<Item = Result<Piece, Error>> + Send>;

/// The pieces of the file at `path`, its form told by its name ([`Kind`]).
///
/// # Errors
/// When it cannot be opened, holds no games by its name, or this build cannot read its form.
pub fn pieces(path: &Path) -> Result<Pieces, Error> {
    Ok(match Kind::of(path) {
        Kind::Games => Box::new(GameTexts::open(path)?.map(|game| game.map(Piece::Text))),
        Kind::Viriformat => Box::new(GamesInBytes::open(path)?.map(|game| game.map(Piece::Bytes))),
        #[cfg(feature = "binpack")]
        Kind::Binpack => Box::new(Chunks::open(path)?.map(|chunk| chunk.map(Piece::Chunk))),
        #[cfg(not(feature = "binpack"))]
        Kind::Binpack => {
            let problem = "this program was built without what reads binpacks; `cargo build --features binpack` has it";
            return Err(Error::content(path, "its name", problem));
        }
        Kind::Positions | Kind::Bulletformat => {
            return Err(Error::content(path, "its name", "positions cannot be made games"));
        }
    })
}

impl Piece {
    /// The games of the piece; scores in the comments of PGN are read only when it is known from whose side.
    #[must_use]
    pub fn games(&self, scores: Option<ScoreSide>) -> Vec<Result<GameRecord, BrokenGame>> {
        match self {
            Piece::Text(text) => vec![text.parse(scores)],
            Piece::Bytes(bytes) => vec![bytes.parse()],
            #[cfg(feature = "binpack")]
            Piece::Chunk(chunk) => chunk.games(),
        }
    }

    /// Whether it holds many games.
    #[must_use]
    pub fn is_large(&self) -> bool {
        match self {
            Piece::Text(_) | Piece::Bytes(_) => false,
            #[cfg(feature = "binpack")]
            Piece::Chunk(_) => true,
        }
    }
}
