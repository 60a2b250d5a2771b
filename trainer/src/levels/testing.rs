//! Sample games for the tests of this module.

use std::path::{Path, PathBuf};

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::testing::Temporary;

use crate::base::context::Context;
use crate::levels::prepare::{RecordCounts, RecordSettings, prepare};
use crate::levels::records::{self, MoveExample};

/// Two short games of rated players.
pub const GAMES: &str = "[Site \"Lichess\"]\n[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n[WhiteElo \"1200\"]\n\
    [BlackElo \"1390\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n\
    [Site \"OTB\"]\n[White \"c\"]\n[Black \"d\"]\n[Result \"0-1\"]\n[WhiteElo \"2010\"]\n[BlackElo \"2190\"]\n\n\
    1. f3 e5 2. a3 d5 3. g4 Qh4# 0-1\n";

/// Prepares records of the games in a folder.
pub fn prepared(folder: &Path, name: &str, threads: usize, settings: &RecordSettings) -> (PathBuf, RecordCounts) {
    let games = folder.join("games.pgn");
    std::fs::write(&games, GAMES).unwrap();
    let out = folder.join(name);
    let control = Control::new(false);
    let mut context = Context { threads, stop: &control, on_event: &mut |_| () };
    let summary = prepare(settings, &[games], &Weights::embedded(), &out, &mut context).unwrap();
    (out, summary)
}

/// Examples from all positions of the games.
pub fn examples() -> Vec<MoveExample> {
    let folder = Temporary::folder();
    let settings = RecordSettings { per_game: 100, ..RecordSettings::default() };
    let (path, _) = prepared(&folder, "records", 1, &settings);
    let (_, records) = records::read(&path).unwrap();
    records.iter().map(MoveExample::new).collect()
}
