//! The games of a match in a PGN file from an earlier run.
//!
//! Games are written whole and in the order of the schedule, so the file is all that is needed to resume a match. It
//! may contain other matches too: a match is identified by its event and its players. That it is the same match is
//! checked by the games: by the opening of each, and by what the players played with.

use std::iter::Chain;
use std::path::Path;
use std::vec::IntoIter;

use dyad_formats::error::Error;
use dyad_formats::game::GameRecord;
use dyad_formats::pgn::{GameText, GameTexts};
use dyad_formats::score::GameResult;

use crate::arena::matches::{Match, SETUPS, round};
use crate::arena::openings::Opening;

/// Openings of `I`, with the first ones put back.
type Openings<I> = Chain<IntoIter<Opening>, I>;

/// A game of the match in the file.
struct Written {
    line: u64,
    /// Number in the schedule, from 0.
    number: u64,
    white: String,
    /// Setups of White and Black.
    setups: [String; 2],
    game: GameRecord,
}

impl Match {
    /// The results, for White, of the games of this match in the file, in the order of the schedule, for
    /// [`Match::resume`]; and the openings of the match again, from the first.
    ///
    /// A truncated game (the program was killed while writing, the disk was full) counts as not played.
    ///
    /// # Errors
    /// When the file cannot be read, when a game is missing or occurs twice, or when its opening, its colors or what a
    /// player played with are not those of this match, so that a setting has changed.
    pub fn results_in<I: Iterator<Item = Opening>>(
        &self,
        path: &Path,
        event: &str,
        mut openings: I,
    ) -> Result<(Vec<GameResult>, Openings<I>), Error> {
        let (mut results, mut taken) = (Vec::new(), Vec::new());
        for text in GameTexts::open(path)? {
            let Some(written) = self.written(&text?, event) else { continue };
            let next = results.len() as u64;
            let wrong = |problem: String| Error::content(path, format!("line {}", written.line), problem);
            if written.number != next {
                let there = if written.number < next { "is there a second time" } else { "does not come next" };
                let problem = format!("game {} of this match {there}: {} is due", round(written.number), round(next));
                return Err(wrong(problem));
            }
            if taken.len() as u64 == next / 2 {
                taken.extend(openings.next());
            }
            let white = (next % 2) as usize;
            let fits = taken.get((next / 2) as usize).is_some_and(|opening| begins_with(&written.game, opening));
            if !fits || written.white != self.players[white].name {
                let problem = "this match has another opening or other colors there: are the openings, their number, \
                               plies or variant not as they were?";
                return Err(wrong(format!("game {}: {problem}", round(next))));
            }
            for (setup, player) in written.setups.iter().zip([&self.players[white], &self.players[1 - white]]) {
                let here = player.setup();
                if *setup != here {
                    let name = &player.name;
                    let problem = format!("game {}: {name} played with {setup}, and has {here} now", round(next));
                    return Err(wrong(problem));
                }
            }
            results.extend(written.game.result);
        }
        Ok((results, taken.into_iter().chain(openings)))
    }

    /// The game, if it is a complete one of this match.
    fn written(&self, text: &GameText, event: &str) -> Option<Written> {
        let tags = text.notes().tags;
        let tag = |name: &str| tags.iter().find(|tag| tag.0 == name).map(|tag| tag.1.as_str());
        let players = [tag("White")?, tag("Black")?];
        let names = self.players.each_ref().map(|player| player.name.as_str());
        let ours = tag("Event")? == event && (players == names || players == [names[1], names[0]]);
        let (pair, half) = tag("Round").filter(|_| ours)?.split_once('.')?;
        let (pair, half): (u64, u64) = (pair.parse().ok()?, half.parse().ok()?);
        let plies: usize = tag("PlyCount")?.parse().ok()?;
        let number = pair.checked_sub(1)?.checked_mul(2)?.checked_add(half.checked_sub(1).filter(|&half| half < 2)?)?;
        let game = text.parse(None).ok().filter(|game| game.result.is_some() && game.moves.len() == plies)?;
        let setups = [tag(SETUPS[0])?, tag(SETUPS[1])?].map(str::to_string);
        Some(Written { line: text.line, number, white: players[0].to_string(), setups, game })
    }
}

fn begins_with(game: &GameRecord, opening: &Opening) -> bool {
    let played = game.moves.iter().map(|played| played.mv);
    game.start.fen() == opening.start.fen() && opening.moves.iter().copied().eq(played.take(opening.moves.len()))
}
