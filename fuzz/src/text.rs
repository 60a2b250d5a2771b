//! Text inputs: positions, commands, games.

use std::io::Cursor;
use std::path::Path;

use cozy_chess::Board as Oracle;
use dyad_engine::board::{Board, Game};
use dyad_engine::eval::Weights;
use dyad_formats::epd::Epd;
use dyad_formats::game::GameRecord;
use dyad_formats::input::Lines;
use dyad_formats::pgn::{GameTexts, Notes};
use dyad_formats::score::ScoreSide;
use dyad_trainer::annotate::analysis::{Annotated, Ply};

use crate::uci::command::{self, Command};

/// Longer inputs find nothing new and take longer.
const MAX_LENGTH: usize = 1 << 16;

fn lossy(input: &[u8]) -> String {
    String::from_utf8_lossy(&input[..input.len().min(MAX_LENGTH)]).into_owned()
}

fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().filter(|line| !line.is_empty()).map(|line| line.as_bytes().to_vec()).collect()
}

/// Invariants of every accepted position.
fn check_board(board: &Board) {
    let fen = board.fen();
    let again = Board::from_fen(&fen).unwrap_or_else(|error| panic!("{fen} is not read again: {error}"));
    assert_eq!((again.fen(), again.key()), (fen.clone(), board.key()));
    let moves = board.moves();
    for &mv in moves.iter() {
        assert!(board.is_legal(mv), "{mv} in {fen}");
        assert_eq!(board.parse_uci(&board.uci(mv)).ok(), Some(mv), "{mv} in {fen}");
        assert_eq!(board.parse_san(&board.san(mv)).ok(), Some(mv), "{mv} in {fen}");
        let next = board.after(mv);
        let read = Board::from_fen(&next.fen()).unwrap_or_else(|error| panic!("{mv} in {fen}: {error}"));
        assert_eq!(read.key(), next.key(), "{mv} in {fen}");
    }
    if let Ok(oracle) = Oracle::from_fen(&fen, false) {
        let mut count = 0;
        oracle.generate_moves(|moves| {
            count += moves.len();
            false
        });
        assert_eq!(moves.len(), count, "moves in {fen}");
    }
    let weights = Weights::embedded();
    let sums = weights.sums(board);
    assert!(sums.iter().all(|sum| sum.abs() < 1 << 24), "{sums:?} in {fen}");
    let centipawns = weights.units.win_rate.centipawns(weights.value(sums, board), weights.phase(board));
    assert!(centipawns.abs() < 1 << 20, "{centipawns} in {fen}");
}

/// A FEN.
pub fn fen(input: &[u8]) {
    if let Ok(board) = Board::from_fen(&lossy(input)) {
        check_board(&board);
    }
}

/// Lines of a conversation.
pub fn uci(input: &[u8]) {
    let mut game = Game::default();
    for line in lossy(input).split('\n') {
        match command::parse(line) {
            Ok(Some(Command::Position(Ok(set)))) => {
                assert_eq!(set.keys().len(), set.moves().len() + 1, "a key for each position");
                check_board(set.board());
                game = *set;
            }
            Ok(Some(Command::Go(go))) => {
                let (limits, _) = go.limits(game.board());
                assert!(limits.searchmoves.iter().all(|&mv| game.board().is_legal(mv)));
                assert!(limits.nodes != Some(0) && limits.depth != Some(0));
            }
            Ok(Some(Command::Position(Err(problem)))) | Err(problem) => {
                assert!(!problem.contains('\n') && problem.len() < 1000, "{problem}")
            }
            Ok(_) => {}
        }
    }
}

/// A file of games.
pub fn pgn(input: &[u8]) {
    let path = Path::new("games.pgn");
    let bytes = Cursor::new(input[..input.len().min(MAX_LENGTH)].to_vec());
    for text in GameTexts::new(Lines::new(Box::new(bytes), path), path) {
        let text = text.expect("memory can be read");
        let plain = text.parse(None);
        for side in [ScoreSide::White, ScoreSide::Mover] {
            let scored = text.parse(Some(side));
            let hash = |game: &Result<_, _>| game.as_ref().ok().map(dyad_formats::game::GameRecord::hash);
            assert_eq!(hash(&plain), hash(&scored), "scores are no part of a game");
        }
        if let Ok(game) = plain {
            assert_eq!(game.positions().count(), game.moves.len());
            assert!(game.positions().all(|(board, played)| board.is_legal(played.mv)));
            check_written(&game, text.notes());
        }
    }
}

/// A game and what it says besides its moves survive writing and reading.
fn check_written(game: &GameRecord, notes: Notes) {
    let write = |game: &GameRecord, notes: Notes| {
        assert_eq!(notes.moves.len(), game.moves.len() + 1, "notes belong to moves");
        let mut notes_of_moves = notes.moves.into_iter();
        let foreword = notes_of_moves.next().unwrap_or_default();
        let moves = game.moves.iter().map(|played| played.mv).zip(notes_of_moves);
        let plies = moves.map(|(mv, notes)| Ply { mv, notes, analysis: None }).collect();
        Annotated { tags: notes.tags, foreword, start: game.start, plies, result: game.result }.to_string()
    };
    let written = write(game, notes);
    let path = Path::new("written.pgn");
    let lines = Lines::new(Box::new(Cursor::new(written.clone().into_bytes())), path);
    let again: Vec<_> = GameTexts::new(lines, path).map(|text| text.expect("memory can be read")).collect();
    assert_eq!(again.len(), 1, "{written}");
    let read = again[0].parse(None).unwrap_or_else(|broken| panic!("{broken}\n{written}"));
    assert_eq!((read.hash(), read.result), (game.hash(), game.result), "{written}");
    assert_eq!(write(&read, again[0].notes()), written);
}

/// Lines of an EPD file.
pub fn epd(input: &[u8]) {
    for line in lossy(input).split('\n') {
        if let Ok(epd) = Epd::parse(line) {
            check_board(&epd.board);
            assert!(epd.best.is_none_or(|mv| epd.board.is_legal(mv)));
        }
    }
}

pub fn fen_seeds() -> Vec<Vec<u8>> {
    lines(include_str!("../seeds/fen.txt"))
}

pub fn uci_seeds() -> Vec<Vec<u8>> {
    let text = include_str!("../seeds/uci.txt");
    let mut seeds = lines(text);
    // Several lines together, so that a `go` follows a position.
    seeds.extend(seeds.clone().chunks(4).map(|part| part.join(&b'\n')));
    seeds
}

pub fn pgn_seeds() -> Vec<Vec<u8>> {
    let games = [include_bytes!("../seeds/games.pgn").to_vec(), include_bytes!("../seeds/unusual.pgn").to_vec()];
    let one = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).split("\n[Event").map(|game| format!("[Event{game}")).collect::<Vec<_>>()
    };
    games.iter().cloned().chain(games.iter().flat_map(|games| one(games)).map(String::into_bytes)).collect()
}

pub fn epd_seeds() -> Vec<Vec<u8>> {
    lines(include_str!("../seeds/epd.txt"))
}
