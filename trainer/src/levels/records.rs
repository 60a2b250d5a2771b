//! Files of analyzed positions with the values of their moves: lines of JSON, a header and the records.
//!
//! An analysis takes 10 to 30 milliseconds and a training reads it many times, so values are computed once and stored.
//! Move features are computed from the position at each reading, so that a file outlives changes of the model.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use dyad_engine::board::{Board, Move};
use dyad_engine::value::Value;
use dyad_formats::error::Error;
use dyad_formats::files::AtomicFile;
use dyad_formats::input::Lines;
use dyad_levels::analysis::DEPTHS;
use dyad_levels::features::PositionContext;
use dyad_levels::model::PositionInput;
use serde::{Deserialize, Serialize};

/// Version of the format.
const VERSION: u32 = 3;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    /// [`VERSION`].
    records: u32,
    /// The job that made the file.
    made: serde_json::Value,
}

/// Rating systems, which have different scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Lichess, the scale of the models, and unknown servers.
    Lichess,
    /// Over the board.
    Board,
    /// The Free Internet Chess Server.
    Fics,
    /// Chess.com.
    ChessCom,
}

impl Pool {
    /// The rating system of a game with this `Site` tag. Servers name themselves, as a host (`https://www.chess.com/game`,
    /// `freechess.org`) or in words (`Chess.com`, `lichess.org INT`, `FICS`); games over the board have a place.
    pub fn of_site(site: &str) -> Pool {
        let site = site.to_lowercase();
        let url = site.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
        let text = url.unwrap_or(&site);
        let has_word = |name: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
        // Other hosts end in the same letters: tcec-chess.com, 365chess.com.
        let mut hosts =
            text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '-').map(|host| host.trim_matches('.'));
        if ["fics", "ficsgames", "freechess"].into_iter().any(has_word) {
            Pool::Fics
        } else if hosts.any(|host| host == "chess.com" || host.ends_with(".chess.com")) {
            Pool::ChessCom
        } else if url.is_some() || has_word("lichess") {
            Pool::Lichess
        } else {
            Pool::Board
        }
    }

    /// Elo added to a rating of this system, for the scale of Lichess.
    pub fn offset(self) -> f64 {
        match self {
            Pool::Lichess => 0.0,
            Pool::Board => 250.0,
            Pool::Fics => 500.0,
            Pool::ChessCom => 300.0,
        }
    }
}

/// A position of a game, the move played, and the values of all moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The position, as FEN.
    #[serde(with = "fen")]
    pub board: Board,
    /// The opponent's last move.
    #[serde(with = "packed")]
    pub last: Option<Move>,
    /// Whether that move captured.
    pub last_captured: bool,
    /// The last own move of the side to move.
    #[serde(with = "packed")]
    pub own: Option<Move>,
    /// Index of the move played in [`Board::moves`].
    pub played: usize,
    /// Values of each move from the static evaluation to the deepest search, in search units.
    pub values: Vec<[i16; DEPTHS]>,
    /// Whether each move repeats a position of the game.
    pub repeats: Vec<bool>,
    /// Rating of the side to move.
    pub rating: u16,
    /// Rating system of that rating.
    pub pool: Pool,
    /// Hash of the player.
    pub player: u64,
    /// Hash of the game.
    pub game: u64,
    /// Whether the player is held out.
    pub test: bool,
}

/// A position with the move that was played.
#[derive(Clone, Debug)]
pub struct MoveExample {
    /// Input of the model.
    pub input: PositionInput,
    /// Index of the move played.
    pub played: usize,
    /// Rating of the side to move, on the scale of the model.
    pub rating: f64,
    /// Whether it is a test example.
    pub test: bool,
}

impl MoveExample {
    /// The example of a record, with its rating on the scale of Lichess.
    pub fn new(record: &Record) -> MoveExample {
        let board = &record.board;
        let moves: Vec<Move> = board.moves().iter().copied().collect();
        let values: Vec<[Value; DEPTHS]> = record.values.iter().map(|values| values.map(Value::from)).collect();
        let context =
            PositionContext { board, last: record.last, last_captured: record.last_captured, own: record.own };
        let rating = f64::from(record.rating) + record.pool.offset();
        MoveExample {
            input: PositionInput::new(&context, &moves, &values, &record.repeats),
            played: record.played,
            rating,
            test: record.test,
        }
    }
}

/// Positions as FEN.
mod fen {
    use super::{Board, Deserialize};
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(board: &Board, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&board.fen())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Board, D::Error> {
        Board::from_fen(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Moves as numbers, 0 for none. Castling has no mark: only the squares of these moves are used.
mod packed {
    use super::{Deserialize, Move};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(mv: &Option<Move>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u16(Move::packed(*mv))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Move>, D::Error> {
        u16::deserialize(from).map(Move::unpacked)
    }
}

impl Record {
    fn parse(line: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let Record { board, played, values, repeats, .. } = &record;
        let count = values.len();
        if board.count_moves() != count || repeats.len() != count || *played >= count {
            return Err(format!("{count} moves with number {played} played in {}", board.fen()));
        }
        Ok(record)
    }
}

/// Reads the header and all records of a file.
///
/// # Errors
/// When the file cannot be read, does not hold records, or has an incomplete or wrong one: its line.
pub fn read(path: &Path) -> Result<(serde_json::Value, Vec<Record>), Error> {
    let mut lines = Lines::open(path)?;
    let header = lines.read_text()?.and_then(|(_, text)| serde_json::from_str(&text).ok());
    let Header { records: version, made } =
        header.ok_or_else(|| Error::content(path, "the beginning", "these are no records of dyad level prepare"))?;
    if version != VERSION {
        let problem = "these records are of another version of Dyad; prepare them again";
        return Err(Error::content(path, "the beginning", problem));
    }
    let mut records = Vec::new();
    while let Some((number, text)) = lines.read_text()? {
        let record = Record::parse(&text);
        records.push(record.map_err(|problem| {
            Error::content(path, format!("line {number}"), format!("{problem}; prepare the records again"))
        })?);
    }
    Ok((made, records))
}

/// Writer of a record file, which is there when it is complete.
pub struct Writer {
    path: PathBuf,
    output: BufWriter<AtomicFile>,
}

impl Writer {
    /// Begins the file of the job that `made` describes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, made: serde_json::Value) -> Result<Writer, Error> {
        let file = AtomicFile::create(path).map_err(Error::file("write", path))?;
        let mut writer = Writer { path: path.to_path_buf(), output: BufWriter::new(file) };
        writer.append(&Header { records: VERSION, made })?;
        Ok(writer)
    }

    /// Appends a line: a record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_string(line).expect("a line is plain data");
        writeln!(self.output, "{text}").map_err(Error::file("write", &self.path))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn commit(self) -> Result<(), Error> {
        let file = self.output.into_inner().map_err(|error| Error::file("write", &self.path)(error.into_error()))?;
        file.commit().map_err(Error::file("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::levels::prepare::RecordSettings;
    use crate::levels::testing::prepared;
    use dyad_formats::testing::Temporary;

    #[test]
    fn records_are_the_same_on_any_number_of_threads() {
        let folder = Temporary::folder();
        let settings = RecordSettings { per_game: 100, test_percent: 0.0, ..RecordSettings::default() };
        let (one, summary) = prepared(&folder, "one", 1, &settings);
        assert_eq!((summary.games, summary.broken, summary.records), (2, 0, 13));
        let (two, _) = prepared(&folder, "two", 2, &settings);
        assert_eq!(fs::read(&two).unwrap(), fs::read(&one).unwrap());
        let (_, records) = read(&one).unwrap();
        let played: Vec<String> = records
            .iter()
            .map(|record| format!("{} {}", record.rating, record.board.uci(record.board.moves()[record.played])))
            .collect();
        assert!(played.contains(&"1200 h5f7".to_string()) && played.contains(&"2190 d8h4".to_string()), "{played:?}");
        let last = records.iter().find(|record| record.rating == 2190 && record.board.fullmove_number() == 3).unwrap();
        assert_eq!(last.last.unwrap().to_string(), "g2g4");
        assert_eq!((last.own.unwrap().to_string(), last.pool), ("d7d5".to_string(), Pool::Board));
        assert!(records.iter().all(|record| (record.pool == Pool::Lichess) == (record.rating < 2000)));
    }

    /// A file is read to its end or refused with the line: what lies behind a damaged one is not dropped.
    #[test]
    fn damaged_and_incomplete_records_are_refused_with_their_line() {
        let folder = Temporary::folder();
        let settings = RecordSettings { per_game: 100, ..RecordSettings::default() };
        let (path, _) = prepared(&folder, "records", 1, &settings);
        let whole = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        for (text, expected) in [
            (whole[..whole.len() - 9].to_string(), "records, line 14: EOF while parsing"),
            (whole.replacen("\"values\":[[", "\"values\":[[0,", 1), "records, line 2: trailing characters"),
            (
                lines.iter().map(|line| line.replacen("\"repeats\":[", "\"repeats\":[true,", 1) + "\n").collect(),
                "played in",
            ),
            (whole.clone() + "{}", "records, line 15: missing field"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read(&path).err().unwrap_or_else(|| panic!("{expected}: was read")).to_string();
            assert!(error.contains(expected) && error.contains("prepare the records again"), "{expected}: {error}");
        }
        for (text, expected) in [
            (whole.replacen("{\"records\":3", "{\"records\":2", 1), "another version"),
            ("nothing of the kind".to_string(), "no records"),
            (String::new(), "no records"),
        ] {
            fs::write(&path, text).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains(expected), "{expected}");
        }
        // A part of the file that ends with a record is read.
        fs::write(&path, lines[..2].join("\n")).unwrap();
        assert_eq!(read(&path).unwrap().1.len(), 1);
    }

    #[test]
    fn sites_determine_the_rating_system() {
        for (site, expected) in [
            ("https://lichess.org/abc", Pool::Lichess),
            ("lichess.org INT", Pool::Lichess),
            ("Lichess", Pool::Lichess),
            ("https://lichess.org/broadcast/chess.com/1", Pool::Lichess),
            ("https://tcec-chess.com", Pool::Lichess),
            ("http://www.365chess.com/game.php", Pool::Lichess),
            ("Chess.com", Pool::ChessCom),
            ("chess.com INT", Pool::ChessCom),
            ("www.chess.com/game/1", Pool::ChessCom),
            ("https://www.chess.com/live/1", Pool::ChessCom),
            ("https://chess.com", Pool::ChessCom),
            ("Internet (Chess.com).", Pool::ChessCom),
            ("FICS", Pool::Fics),
            ("FICS freechess.org", Pool::Fics),
            ("fics.freechess.org", Pool::Fics),
            ("freechess.org", Pool::Fics),
            ("https://www.ficsgames.org/1", Pool::Fics),
            ("Moscow", Pool::Board),
            ("", Pool::Board),
            ("365chess.com", Pool::Board),
            ("tcec-chess.com", Pool::Board),
            ("Pacifics Hotel", Pool::Board),
            ("Hotel Polichess", Pool::Board),
        ] {
            assert_eq!(Pool::of_site(site), expected, "{site}");
        }
    }
}
