//! Games, positions and folders for tests.

use std::fs;
use std::io::Cursor;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use dyad_engine::board::Board;
use tempfile::TempDir;

use crate::hash;
use crate::input::Lines;
use crate::packed::Sample;
use crate::pgn::{GameText, GameTexts};
use crate::score::{GameResult, Score};

/// A short game of every special move: en passant, both castlings, an underpromotion.
pub const SPECIAL: &str = "[Event \"Rated Blitz game\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\
    [WhiteElo \"1500\"]\n[BlackElo \"1700\"]\n[TimeControl \"300+2\"]\n\n\
    1. e4 {+0.35/20 1.2s} Nf6 {-0.10/18 0.9s} 2. e5 {book} d5 {M12/30} 3. exd6 {-M4/9, lost} cxd6 4. Nf3 g6 5. Be2\n\
    Bg7 6. O-O {0.00/1} a5 (6... O-O 7. d4 {a variation} (7. a4)) 7. a3 a4 8. b4 axb3 9. d4 bxc2 10. Qd2\n\
    cxb1=N $6 11. Qd1 Nc6 12. Re1 Be6 13. Rf1 Qd7 14. Re1 O-O-O 15. Rf1 Nxa3 0-1\n";

/// A short game that ends by mate.
pub const MATE: &str = "[White \"C\"]\n[Black \"D\"]\n[Result \"1-0\"]\n[WhiteElo \"2500\"]\n\
    [BlackElo \"2400\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n";

/// The texts of the games in a PGN.
pub fn texts(pgn: &str) -> Vec<GameText> {
    let path = Path::new("games.pgn");
    let lines = Lines::new(Box::new(Cursor::new(pgn.as_bytes().to_vec())), path);
    GameTexts::new(lines, path).collect::<Result<_, _>>().expect("memory can be read")
}

/// Positions of a random walk, with every kind of result and score.
pub fn walk(count: usize) -> Vec<Sample> {
    let (mut board, mut word, mut samples) = (Board::startpos(), 1u64, Vec::new());
    while samples.len() < count {
        let moves = board.moves();
        if moves.is_empty() || board.halfmove_clock() > 99 || board.insufficient_material() {
            board = Board::startpos();
            continue;
        }
        word = hash::mix(word);
        let mv = moves[(word % moves.len() as u64) as usize];
        let result = [None, Some(GameResult::BlackWins), Some(GameResult::Draw), Some(GameResult::WhiteWins)];
        samples.push(Sample {
            board,
            desired: Some(mv).filter(|_| word % 7 != 0),
            result: result[(word >> 8 & 3) as usize],
            score: Some(Score::centipawns((word >> 16) as u16 as i16 as f64)).filter(|_| word % 5 != 0),
            test: word % 11 == 0,
            starts_game: board.fullmove_number() == 1,
            has_margin: word % 3 != 0,
        });
        board = board.after(mv);
    }
    samples
}

/// The names of what is in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A path in a temporary folder, which is removed on drop.
pub struct Temporary(PathBuf, TempDir);

impl Temporary {
    /// A path where nothing is yet.
    #[expect(clippy::new_without_default, reason = "each path is another one")]
    pub fn new() -> Temporary {
        let folder = Temporary::folder();
        Temporary(folder.join("new"), folder.1)
    }

    /// An empty folder.
    pub fn folder() -> Temporary {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        Temporary(folder.path().to_path_buf(), folder)
    }
}

impl Deref for Temporary {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Temporary {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}
