//! Files of games that grow.
//!
//! Games are written in order, each with one system call, so a file that was interrupted continues behind its last
//! complete game.

use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dyad_formats::error::Error;
use dyad_formats::files;
use dyad_formats::game::GameRecord;
use dyad_formats::input::Lines;
use dyad_formats::pgn::{GameText, GameTexts};
use dyad_formats::score::ScoreSide;

use crate::arena::pgn_writer::PgnGame;
use crate::base::lock::{LockedFile, open_alone};

/// A PGN file to append to, which no other process has like this until it is closed.
pub struct GameFile {
    path: PathBuf,
    file: LockedFile,
}

impl GameFile {
    /// Opens or creates the file at `path`, truncates it after its last complete game, and gives the complete games.
    ///
    /// # Errors
    /// When the file cannot be read and written, or another process writes it.
    pub fn open(path: &Path) -> Result<(GameFile, Vec<GameRecord>), Error> {
        let (file, games) = GameFile::read(path)?;
        Ok((file, games.into_iter().map(|(_, game)| game).collect()))
    }

    /// The same with the text of each game.
    pub(super) fn read(path: &Path) -> Result<(GameFile, Vec<(GameText, GameRecord)>), Error> {
        let file = open_alone(path).map_err(Error::file("open", path))?;
        let text = fs::read(path).map_err(Error::file("read", path))?;
        let (mut games, mut complete) = (Vec::new(), 0);
        // A game is two paragraphs: tags and moves.
        for [tags, moves] in paragraphs(&text).as_chunks().0 {
            let Some(game) = parse([*tags, *moves].concat(), path) else { break };
            games.push(game);
            complete += tags.len() + moves.len();
        }
        if complete < text.len() {
            file.set_len(complete as u64).map_err(Error::file("write", path))?;
        }
        Ok((GameFile { path: path.to_path_buf(), file }, games))
    }

    /// Appends a game with one system call.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, game: &PgnGame) -> Result<(), Error> {
        let (text, mut file) = (game.to_string(), &*self.file);
        let written = file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(text.as_bytes()));
        written.map_err(Error::file("write", &self.path))
    }

    /// Writes everything to the disk.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.file.sync_all().map_err(Error::file("write", &self.path))
    }
}

/// Refuses a file whose first game is not of this event: [`GameFile::open`] would truncate it.
pub(crate) fn check_event(path: &Path, event: &str) -> Result<(), Error> {
    let ours = format!("[Event \"{event}\"]\n");
    let mut start = Vec::new();
    match files::open(path).and_then(|file| file.take(ours.len() as u64).read_to_end(&mut start)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(Error::file("read", path))?,
    };
    match ours.as_bytes().starts_with(&start) {
        true => Ok(()),
        false => {
            let problem = format!(
                "not the games that are to be continued, whose event is \"{event}\"; they stay, name another file"
            );
            Err(Error::content(path, "line 1", problem))
        }
    }
}

/// The paragraphs of a text, each with the empty line after it; the last one may lack it.
fn paragraphs(mut text: &[u8]) -> Vec<&[u8]> {
    let mut paragraphs = Vec::new();
    while !text.is_empty() {
        let end = text.windows(2).position(|pair| pair == b"\n\n").map_or(text.len(), |start| start + 2);
        let (paragraph, rest) = text.split_at(end);
        paragraphs.push(paragraph);
        text = rest;
    }
    paragraphs
}

/// Parses a game, if it is complete.
pub(crate) fn parse(text: Vec<u8>, path: &Path) -> Option<(GameText, GameRecord)> {
    if !text.ends_with(b"\n\n") {
        return None;
    }
    let text = GameTexts::new(Lines::new(Box::new(Cursor::new(text)), path), path).next()?.ok()?;
    let game = text.parse(Some(ScoreSide::Mover)).ok()?;
    game.result.is_some().then_some((text, game))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::testing::Temporary;

    /// Wherever a file was cut. Lengths are in bytes, also where a byte is no UTF-8 and its replacement is longer.
    #[test]
    fn a_file_is_truncated_after_its_last_complete_game() {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        let game = b"[White \"M\xfcller\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n";
        let (whole, two) = (game.len(), [*game, *game].concat());
        for cut in 0..=two.len() {
            fs::write(&path, &two[..cut]).unwrap();
            assert_eq!(GameFile::open(&path).unwrap().1.len(), cut / whole, "cut at {cut}");
            assert_eq!(fs::read(&path).unwrap(), two[..cut / whole * whole], "cut at {cut}");
        }
    }

    #[test]
    fn a_file_is_written_by_one_process_and_other_games_stay() {
        let folder = Temporary::folder();
        let path = folder.join("games.pgn");
        check_event(&path, "a match").unwrap();
        let first = GameFile::open(&path).unwrap();
        assert!(GameFile::open(&path).err().unwrap().to_string().contains("another process writes it"));
        drop(first);
        for (text, is_ours) in [
            ("", true),
            ("[Eve", true),
            ("[Event \"a match\"]\n[Site \"?\"]", true),
            ("[Event \"Club\"]\n\n1. e4 e5 1-0\n\n", false),
            ("{\"format\": 2}", false),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(check_event(&path, "a match").is_ok(), is_ours, "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
