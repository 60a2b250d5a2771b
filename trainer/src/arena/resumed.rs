//! The games of a match in a PGN file from an earlier run.
//!
//! Games are written whole and in the order of the schedule, so the file is all that is needed to resume a match. That
//! they are of the same match is checked by the tags and the opening of each.

use std::path::Path;

use dyad_formats::error::Error;
use dyad_formats::game::GameRecord;
use dyad_formats::score::GameResult;

use crate::arena::game_file::{GameFile, check_event};
use crate::arena::matches::{Match, round};
use crate::arena::openings::Opening;

impl Match {
    /// Opens or creates the file at `path` for the games of this match; gives the results, for White, of those in it,
    /// for [`Match::play`], and the openings of the match again, from the first.
    ///
    /// A truncated game (the program was killed while writing, the disk was full) is removed.
    ///
    /// # Errors
    /// When the file cannot be read, or a game is not the one of this match that comes next, so that a setting has
    /// changed.
    pub fn continue_file<I: Iterator<Item = Opening>>(
        &self,
        path: &Path,
        event: &str,
        mut openings: I,
    ) -> Result<(GameFile, Vec<GameResult>, impl Iterator<Item = Opening> + use<I>), Error> {
        check_event(path, event)?;
        let (file, games) = GameFile::read(path)?;
        let (mut results, mut taken) = (Vec::new(), Vec::new());
        for (number, (text, game)) in (0..).zip(&games) {
            let wrong = |problem: String| {
                Error::content(path, format!("line {}", text.line), format!("game {}: {problem}", round(number)))
            };
            let tags = text.notes().tags;
            for (name, here) in self.tags(number, event) {
                let there = tags.iter().find(|tag| tag.0 == name).map_or("?", |tag| tag.1.as_str());
                if there != here {
                    return Err(wrong(format!("{name} is \"{there}\", and would be \"{here}\" now")));
                }
            }
            if taken.len() as u64 == number / 2 {
                taken.extend(openings.next());
            }
            if !taken.get((number / 2) as usize).is_some_and(|opening| begins_with(game, opening)) {
                let problem = "the match has another opening now: are openings, plies and variant as they were?";
                return Err(wrong(problem.to_string()));
            }
            results.extend(game.result);
        }
        Ok((file, results, taken.into_iter().chain(openings)))
    }
}

fn begins_with(game: &GameRecord, opening: &Opening) -> bool {
    let played = game.moves.iter().map(|played| played.mv);
    game.start.fen() == opening.start.fen() && opening.moves.iter().copied().eq(played.take(opening.moves.len()))
}
