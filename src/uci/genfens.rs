//! `genfens`: openings for games that make training data.
//!
//! They are made as those of a match ([`openings`]): sound random moves, then only what a short search finds
//! balanced. The seed decides everything: the same call gives the same openings.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::value::INFINITE;
use dyad_formats::error::Error;
use dyad_trainer::arena::openings::{self, FILTER_NODES, OpeningSettings, RandomOpenings};

use super::command::Genfens;
use crate::display::Say;

/// Random moves from a position of a book, which is varied already.
const BOOK_PLIES: RangeInclusive<u32> = 2..=3;
/// Moves taken from the games of a book of games.
const GAME_PLIES: usize = 16;

/// Makes openings, saying a line on each as it is found.
pub fn run(ask: &Genfens, engine: &Engine, control: &Control, say: &mut Say) -> Vec<String> {
    match make(ask, engine, control, say) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!("info string genfens: {error}")],
    }
}

fn make(ask: &Genfens, engine: &Engine, control: &Control, say: &mut Say) -> Result<(), String> {
    let mut opening_settings = OpeningSettings { variant: ask.variant, ..OpeningSettings::new(ask.seed) };
    if let Some(book) = &ask.book {
        let on_broken = |error: &Error| say(format!("info string genfens left out: {error}"));
        opening_settings.starts =
            openings::read(Path::new(book), GAME_PLIES, on_broken).map_err(|error| error.to_string())?;
        opening_settings.plies = BOOK_PLIES;
    }
    let mut filter = openings::opening_filter(Arc::clone(engine.weights()), FILTER_NODES);
    // Once stopped nothing is balanced any more, and the search for openings ends soon.
    let filter = |game: &Game| if control.stopped() { INFINITE } else { filter(game) };
    let mut made = 0;
    for opening in RandomOpenings::new(opening_settings, filter).take(ask.count.try_into().unwrap_or(usize::MAX)) {
        say(format!("info string genfens {}", opening.board().fen()));
        made += 1;
    }
    if made < ask.count && !control.stopped() { Err("found no more openings".to_string()) } else { Ok(()) }
}
