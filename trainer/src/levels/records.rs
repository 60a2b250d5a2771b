//! Files of analyzed positions with the values of their moves.
//!
//! An analysis takes 10 to 30 milliseconds and a training reads it many times, so values are computed once and stored.
//! Move features are computed from the position at each reading, so that a file outlives changes of the model. A record
//! carries its length and CRC-32; a file with an incomplete or damaged record is refused.

use std::fmt::{self, Display, Formatter};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use dyad_engine::board::{Board, Move};
use dyad_formats::error::Error;
use dyad_formats::files::{self, AtomicFile};
use dyad_formats::packed::{Packed, Sample};
use dyad_levels::analysis::DEPTHS;
use dyad_levels::file::MoveModel;

const MAGIC: [u8; 8] = *b"DyadLvl2";
/// Maximum size of a header in bytes.
const LARGEST_HEADER: u32 = 1 << 20;

/// Rating systems, which have different scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Offsets from the other rating systems to the Lichess scale.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offsets {
    /// Offset of ratings over the board.
    pub board: f64,
    /// Offset of FICS ratings.
    pub fics: f64,
    /// Offset of Chess.com ratings.
    pub chess_com: f64,
}

impl Offsets {
    /// The offsets a model was trained with.
    #[must_use]
    pub fn of(model: &MoveModel) -> Offsets {
        Offsets { board: model.offset("board"), fics: model.offset("fics"), chess_com: model.offset("chess-com") }
    }
}

impl Pool {
    /// All rating systems; a record stores the index.
    const ALL: [Pool; 4] = [Pool::Lichess, Pool::Board, Pool::Fics, Pool::ChessCom];

    /// The rating system of a game with this `Site` tag. Servers name themselves, as a host (`https://www.chess.com/game`,
    /// `freechess.org`) or in words (`Chess.com`, `lichess.org INT`, `FICS`); games over the board have a place.
    #[must_use]
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

    /// Offset of this rating system to the Lichess scale.
    #[must_use]
    pub fn offset(self, offsets: &Offsets) -> f64 {
        match self {
            Pool::Lichess => 0.0,
            Pool::Board => offsets.board,
            Pool::Fics => offsets.fics,
            Pool::ChessCom => offsets.chess_com,
        }
    }
}

impl Display for Pool {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(match self {
            Pool::Lichess => "Lichess",
            Pool::Board => "over the board",
            Pool::Fics => "FICS",
            Pool::ChessCom => "Chess.com",
        })
    }
}

/// A position of a game, the move played, and the values of all moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The position.
    pub board: Board,
    /// The opponent's last move.
    pub last: Option<Move>,
    /// Whether that move captured.
    pub last_captured: bool,
    /// The last own move of the side to move.
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

impl Record {
    fn to_bytes(&self) -> Vec<u8> {
        let sample = Sample {
            board: self.board,
            desired: None,
            result: None,
            score: None,
            test: self.test,
            starts_game: false,
            has_margin: true,
        };
        let mut bytes = Packed::new(&sample).0.to_vec();
        bytes.extend(Move::packed(self.last).to_le_bytes());
        bytes.extend(Move::packed(self.own).to_le_bytes());
        bytes.extend(self.rating.to_le_bytes());
        bytes.extend([u8::from(self.last_captured), self.pool as u8, self.played as u8]);
        bytes.extend(self.player.to_le_bytes());
        bytes.extend(self.game.to_le_bytes());
        bytes.push(self.values.len() as u8);
        for (values, &repeats) in self.values.iter().zip(&self.repeats) {
            bytes.push(u8::from(repeats));
            values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Record, String> {
        let mut rest = bytes;
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at_checked(count).ok_or("a record is too short")?;
            rest = left;
            Ok::<&[u8], String>(taken)
        };
        let word = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        let long = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).expect("eight bytes are eight bytes");
        // Castling stays without its mark: only the squares of these moves are used.
        let read_move = |bits: u16| match bits {
            0 => Ok(None),
            bits => Move::unpacked(bits).map(Some).ok_or_else(|| format!("{bits} is no move")),
        };
        let packed = Packed(take(32)?.try_into().expect("32 bytes are 32 bytes"));
        let (last, own) = (read_move(word(take(2)?))?, read_move(word(take(2)?))?);
        let rating = word(take(2)?);
        let flags = take(3)?;
        let (last_captured, played) = (flags[0] != 0, usize::from(flags[2]));
        let pool = *Pool::ALL.get(usize::from(flags[1])).ok_or_else(|| format!("there is no pool {}", flags[1]))?;
        let (player, game) = (long(take(8)?), long(take(8)?));
        let count = usize::from(take(1)?[0]);
        let (mut values, mut repeats) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            repeats.push(take(1)?[0] != 0);
            let bytes = take(2 * DEPTHS)?;
            values.push(std::array::from_fn(|depth| word(&bytes[2 * depth..]) as i16));
        }
        let board = packed.board()?;
        if board.count_moves() != count || played >= count {
            return Err(format!("{count} moves with number {played} played in {}", board.fen()));
        }
        let test = packed.is_test();
        Ok(Record { board, last, last_captured, own, played, values, repeats, rating, pool, player, game, test })
    }
}

/// Reads the header and all records of a file.
///
/// # Errors
/// When the file cannot be read, does not hold records, or has an incomplete or damaged one: its number.
pub fn read(path: &Path) -> Result<(serde_json::Value, Vec<Record>), Error> {
    let file = files::open(path).map_err(Error::file("read", path))?;
    let mut input = BufReader::new(file);
    let header = read_header(&mut input, path)?;
    let mut records = Vec::new();
    while let Some(bytes) = read_record(&mut input, path)? {
        let record = bytes.and_then(|bytes| Record::from_bytes(&bytes));
        let place = || format!("record {}", records.len() + 1);
        records.push(record.map_err(|problem| Error::content(path, place(), problem))?);
    }
    Ok((header, records))
}

fn read_header(input: &mut impl Read, path: &Path) -> Result<serde_json::Value, Error> {
    let not_records = || Error::content(path, "beginning", "these are no records of dyad level prepare");
    let mut start = [0; 12];
    input.read_exact(&mut start).map_err(|_| not_records())?;
    let length = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
    if start[..7] != MAGIC[..7] || length > LARGEST_HEADER {
        return Err(not_records());
    }
    let mut text = vec![0; length as usize];
    input.read_exact(&mut text).map_err(|_| not_records())?;
    let header = serde_json::from_slice(&text).map_err(|error| Error::content(path, "header", error))?;
    if start[7] != MAGIC[7] {
        return Err(Error::content(
            path,
            "beginning",
            "these records are of another version of Dyad; prepare them again",
        ));
    }
    Ok(header)
}

/// The next record, or why it is none; `None` at the end of the file.
fn read_record(input: &mut impl BufRead, path: &Path) -> Result<Option<Result<Vec<u8>, String>>, Error> {
    if input.fill_buf().map_err(Error::file("read", path))?.is_empty() {
        return Ok(None);
    }
    let mut head = [0; 6];
    let mut whole = |bytes: &mut [u8]| match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(Error::file("read", path)(error)),
    };
    let unusable = |fault: &str| Ok(Some(Err(format!("{fault}; prepare the records again"))));
    if !whole(&mut head)? {
        return unusable("the file ends within it");
    }
    let mut bytes = vec![0; usize::from(u16::from_le_bytes([head[0], head[1]]))];
    if !whole(&mut bytes)? {
        return unusable("the file ends within it");
    }
    let sum = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
    // After a power failure a file may end in zeros, and the checksum of nothing is zero.
    match !bytes.is_empty() && crc32fast::hash(&bytes) == sum {
        true => Ok(Some(Ok(bytes))),
        false => unusable("damaged: its checksum is wrong"),
    }
}

/// Writer of a record file, which is there when it is complete.
pub struct Writer {
    path: PathBuf,
    output: BufWriter<AtomicFile>,
}

impl Writer {
    /// Begins the file of the job that `header` describes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, header: &serde_json::Value) -> Result<Writer, Error> {
        let file = AtomicFile::create(path).map_err(Error::file("write", path))?;
        let mut writer = Writer { path: path.to_path_buf(), output: BufWriter::new(file) };
        let text = serde_json::to_vec(header).unwrap_or_default();
        writer.write(&[&MAGIC, &(text.len() as u32).to_le_bytes(), &text])?;
        Ok(writer)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        let bytes = record.to_bytes();
        self.write(&[&(bytes.len() as u16).to_le_bytes(), &crc32fast::hash(&bytes).to_le_bytes(), &bytes])
    }

    /// Completes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn commit(self) -> Result<(), Error> {
        let file = self.output.into_inner().map_err(|error| Error::file("write", &self.path)(error.into_error()))?;
        file.commit().map_err(Error::file("write", &self.path))
    }

    fn write(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        let written = parts.iter().try_for_each(|part| self.output.write_all(part));
        written.map_err(Error::file("write", &self.path))
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

    /// The bytes with one of them changed.
    fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 0x10;
        bytes
    }

    /// A file is read to its end or refused with the record: what lies behind a damaged one is not dropped.
    #[test]
    fn damaged_and_incomplete_records_are_refused_with_their_number() {
        let folder = Temporary::folder();
        let settings = RecordSettings { per_game: 100, ..RecordSettings::default() };
        let (path, _) = prepared(&folder, "records", 1, &settings);
        let whole = fs::read(&path).unwrap();
        let header = 12 + u32::from_le_bytes(whole[8..12].try_into().unwrap()) as usize;
        let first = 6 + usize::from(u16::from_le_bytes([whole[header], whole[header + 1]]));
        let second = header + first;
        let cases = [
            (whole[..header + 3].to_vec(), "records, record 1: the file ends within it"),
            (whole[..second + 6].to_vec(), "records, record 2: the file ends within it"),
            (whole[..whole.len() - 1].to_vec(), "records, record 13: the file ends within it"),
            (flipped(&whole, second + 2), "records, record 2: damaged: its checksum is wrong"),
            (flipped(&whole, second + 50), "records, record 2: damaged: its checksum is wrong"),
            (flipped(&whole, whole.len() - 1), "records, record 13: damaged: its checksum is wrong"),
            ([&whole[..], &[0; 20]].concat(), "records, record 14: damaged: its checksum is wrong"),
        ];
        for (bytes, expected) in cases {
            fs::write(&path, bytes).unwrap();
            let error = read(&path).err().unwrap_or_else(|| panic!("{expected}: was read")).to_string();
            assert!(error.contains(expected) && error.contains("prepare the records again"), "{expected}: {error}");
        }
        // A part of the file that ends with a record is read.
        fs::write(&path, &whole[..second]).unwrap();
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
        let folder = Temporary::folder();
        let (path, _) = prepared(&folder, "records", 1, &RecordSettings { per_game: 1, ..RecordSettings::default() });
        let (_, records) = read(&path).unwrap();
        for pool in Pool::ALL {
            let record = Record { pool, ..records[0].clone() };
            assert_eq!(Record::from_bytes(&record.to_bytes()).unwrap(), record);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = Temporary::folder();
        let settings = RecordSettings { per_game: 1, ..RecordSettings::default() };
        let (path, _) = prepared(&folder, "records", 1, &settings);
        let mut older = fs::read(&path).unwrap();
        older[7] = b'1';
        fs::write(&path, older).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("another version"));
        fs::write(&path, "nothing of the kind").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("no records"));
    }
}
