//! Games on the page of a training.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use dyad_formats::files;
use dyad_formats::game::GameRecord;
use dyad_formats::input::Lines;
use dyad_formats::pgn::GameTexts;

use crate::annotate::analysis::{Annotated, Ply};

/// Bytes read from the end of a file: a dozen games.
const TAIL: u64 = 1 << 16;

/// The last complete game of a file, if there is one that can be read.
pub(super) fn latest(path: &Path) -> Option<Annotated> {
    let mut file = files::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut text = Vec::new();
    file.take(TAIL).read_to_end(&mut text).ok()?;
    // The file may be growing: text after the last blank line is an incomplete game.
    text.truncate(text.windows(2).rposition(|part| part == b"\n\n")? + 2);
    let first = text.windows(7).position(|part| part == b"[Event ")?;
    let lines = Lines::new(Box::new(BufReader::new(Cursor::new(text.split_off(first)))), path);
    let games = GameTexts::new(lines, path).map_while(Result::ok);
    let parsed = games.filter_map(|game| game.parse(None).ok());
    parsed.filter(|game| game.result.is_some() && !game.moves.is_empty()).last().map(|game| bare(&game))
}

/// The game as one that is annotated, with nothing but its moves.
fn bare(game: &GameRecord) -> Annotated {
    let tags = ["White", "Black"].map(String::from).into_iter().zip(game.tags.players.clone()).collect();
    let plies = game.moves.iter().map(|played| Ply { mv: played.mv, notes: Vec::new(), analysis: None }).collect();
    Annotated { tags, foreword: Vec::new(), start: game.start, plies, result: game.result }
}
