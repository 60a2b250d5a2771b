//! `genfens`: openings for the generation of training data.
//!
//! They are generated as those of a match ([`openings`]): random moves without immediate loss, then a filter by a short
//! search. The seed determines them: the same call gives the same openings.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use dyad_engine::board::Game;
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::value::INFINITE;
use dyad_formats::game::BrokenGame;
use dyad_trainer::arena::openings::{self, FILTER_NODES, OpeningSettings, RandomOpenings};

use super::command::Genfens;
use crate::display::PrintLine;

/// Random moves from a position of a book, which is varied already.
const BOOK_PLIES: RangeInclusive<u32> = 2..=3;
/// Moves taken from the games of a book of games.
const GAME_PLIES: usize = 16;

/// Generates openings and prints each as it is found.
pub fn run(request: &Genfens, engine: &Engine, control: &Control, print: &mut PrintLine) -> Result<(), String> {
    let mut opening_settings = OpeningSettings { variant: request.variant, ..OpeningSettings::new(request.seed) };
    if let Some(book) = &request.book {
        let on_broken = |broken: &BrokenGame| print(format!("info string genfens left out: {broken}"));
        opening_settings.starts =
            openings::read(Path::new(book), GAME_PLIES, on_broken).map_err(|error| error.to_string())?;
        opening_settings.plies = BOOK_PLIES;
    }
    let mut filter = openings::opening_filter(Arc::clone(engine.weights()), FILTER_NODES);
    // After a stop no opening passes the filter, so that the generator ends soon.
    let filter = |game: &Game| if control.stopped() { INFINITE } else { filter(game) };
    let mut made = 0;
    for opening in RandomOpenings::new(opening_settings, filter).take(request.count.try_into().unwrap_or(usize::MAX)) {
        print(format!("info string genfens {}", opening.board().fen()));
        made += 1;
    }
    if made < request.count && !control.stopped() { Err("found no more openings".to_string()) } else { Ok(()) }
}
