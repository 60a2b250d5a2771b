//! Text files: plain, `.zst` or `.gz`, with or without a byte order mark, in UTF-8 or Windows-1252. Files packed
//! otherwise are refused by name, with the command that unpacks them to standard input, which is the file `-`.
//!
//! The first bytes determine the compression, not the name, so that renamed files are read. Long lines are read in
//! pieces: a file without line breaks must not fill the memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files;
use flate2::bufread::MultiGzDecoder;

use crate::error::Error;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// The bytes of a skippable frame after its first byte, 0x50 to 0x5F. Files of `pzstd` begin with one.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2A, 0x4D, 0x18];
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];
/// Bytes that show the format of a text.
const HEAD: usize = 512;
/// Formats that are not read: the place of the bytes that show them, these bytes, the name of the format, and the
/// command that unpacks it to standard output.
const REFUSED: [(usize, &[u8], &str, &str); 5] = [
    (0, b"BZh", "packed by bzip2", "bzip2 -dc"),
    (0, b"\xFD7zXZ\0", "packed by xz", "xz -dc"),
    (0, b"PK\x03\x04", "a zip archive", "unzip -p"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive", "7z x -so"),
    (257, b"ustar", "a tar archive", "tar -xOf"),
];
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Bytes of a line that are read at a time.
const PIECE: u64 = 1 << 20;

/// Standard input, if the program has [given it](give_standard_input).
static STANDARD_INPUT: Mutex<Option<Spool>> = Mutex::new(None);

/// Whether an input file is standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Makes `source` the content of the input file `-`. Without it, as in a UCI session, `-` is a file like others.
pub fn give_standard_input(source: impl Read + Send + 'static) {
    let spool = Spool { source: Some(Box::new(source)), copy: None, length: 0 };
    *STANDARD_INPUT.lock().unwrap_or_else(PoisonError::into_inner) = Some(spool);
}

/// A source with a copy of what was read of it, since some tools read their input more than once.
struct Spool {
    /// `None` at its end.
    source: Option<Box<dyn Read + Send>>,
    /// A temporary file, made when something is read.
    copy: Option<File>,
    /// Bytes of the copy.
    length: u64,
}

impl Spool {
    fn read_at(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let copy = match &mut self.copy {
            Some(copy) => copy,
            None => self.copy.insert(tempfile::tempfile()?),
        };
        if place < self.length {
            copy.seek(SeekFrom::Start(place))?;
            return copy.read(bytes);
        }
        let Some(source) = &mut self.source else { return Ok(0) };
        let read = source.read(bytes)?;
        copy.seek(SeekFrom::End(0))?;
        copy.write_all(&bytes[..read])?;
        self.length += read as u64;
        if read == 0 {
            self.source = None;
        }
        Ok(read)
    }
}

/// A reader of standard input from its beginning.
struct StandardInput {
    place: u64,
}

impl Read for StandardInput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut spool = STANDARD_INPUT.lock().unwrap_or_else(PoisonError::into_inner);
        let read = spool.as_mut().map_or(Ok(0), |spool| spool.read_at(self.place, bytes))?;
        self.place += read as u64;
        Ok(read)
    }
}

/// Opens a text file and decompresses it while it is read.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Error> {
    let is_given = || STANDARD_INPUT.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    let packed: Box<dyn Read + Send> = match is_standard_input(path) && is_given() {
        true => Box::new(StandardInput { place: 0 }),
        false => Box::new(files::open(path).map_err(Error::file("open", path))?),
    };
    unpack(BufReader::with_capacity(1 << 16, packed)).map_err(Error::file("read", path))
}

fn unpack(packed: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut text = Peeked::new(decoder(packed)?);
    refuse(&text.start)?;
    if is_utf16(&text.start) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is UTF-16, save it as UTF-8"));
    }
    if text.start.starts_with(BYTE_ORDER_MARK) {
        text.read = BYTE_ORDER_MARK.len();
    }
    Ok(Box::new(text))
}

/// A text whose first bytes were examined. An error there is returned when they are read, with their place.
struct Peeked {
    start: Vec<u8>,
    read: usize,
    error: Option<io::Error>,
    rest: Box<dyn BufRead + Send>,
}

impl Peeked {
    fn new(mut rest: Box<dyn BufRead + Send>) -> Peeked {
        let mut start = Vec::with_capacity(HEAD);
        let error = (&mut rest).take(HEAD as u64).read_to_end(&mut start).err();
        Peeked { start, read: 0, error, rest }
    }
}

impl BufRead for Peeked {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read < self.start.len() {
            return Ok(&self.start[self.read..]);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.rest.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        if self.read < self.start.len() {
            self.read += bytes;
        } else {
            self.rest.consume(bytes);
        }
    }
}

impl Read for Peeked {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}

/// Whether a text with these first bytes has two bytes per letter, by its byte order mark or by zeros.
fn is_utf16(start: &[u8]) -> bool {
    match start {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [a, b, c, d, ..] => {
            [[*a, *c], [*b, *d]].contains(&[0, 0]) && *start.first_chunk().expect("it has four") != [0; 4]
        }
        _ => false,
    }
}

/// Refuses a text with these first bytes that is of a format that is not read.
fn refuse(start: &[u8]) -> io::Result<()> {
    let is = |magic: &[u8], place: usize| start.get(place..).is_some_and(|text| text.starts_with(magic));
    match REFUSED.iter().find(|(place, magic, ..)| is(magic, *place)) {
        Some((_, _, name, command)) => {
            let problem = format!("it is {name}: unpack it with `{command}` to standard input, the file `-`");
            Err(io::Error::new(io::ErrorKind::InvalidData, problem))
        }
        None => Ok(()),
    }
}

fn decoder(packed: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut packed = Peeked::new(Box::new(packed));
    if let (true, Some(error)) = (packed.start.is_empty(), packed.error.take()) {
        return Err(error);
    }
    let start = &packed.start[..];
    refuse(start)?;
    let is_skippable = matches!(start, [0x50..=0x5F, rest @ ..] if rest.starts_with(&ZSTD_SKIPPABLE));
    Ok(if is_skippable || start.starts_with(&ZSTD_MAGIC) {
        unzstd(packed)?
    } else if start.starts_with(&GZIP_MAGIC) {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(packed)))
    } else {
        Box::new(packed)
    })
}

#[cfg(not(target_family = "wasm"))]
fn unzstd(packed: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(Box::new(BufReader::with_capacity(1 << 16, zstd::stream::read::Decoder::with_buffer(packed)?)))
}

#[cfg(target_family = "wasm")]
fn unzstd(_packed: impl BufRead) -> io::Result<Box<dyn BufRead + Send>> {
    Err(io::Error::new(io::ErrorKind::InvalidData, "it is packed by zstd: unpack it first"))
}

/// The format of a file, by its name without the compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Games in portable game notation.
    Games,
    /// One position per line.
    Positions,
}

impl Kind {
    /// Names that end in `.epd` or `.fen` (before `.zst` or `.gz`) are positions, all others games. Standard input is
    /// what its first line is.
    pub fn of(path: &Path) -> Kind {
        if is_standard_input(path) {
            let first = Lines::open(path).and_then(|mut lines| lines.read_text());
            let is_position = |line: &str| line.split(' ').next().is_some_and(|word| word.matches('/').count() == 7);
            return match first {
                Ok(Some((_, line))) if is_position(&line) => Kind::Positions,
                _ => Kind::Games,
            };
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        match without_packing(&name).rsplit_once('.') {
            Some((_, "epd" | "fen")) => Kind::Positions,
            _ => Kind::Games,
        }
    }
}

/// The name of a file without the ending of its compression.
pub fn without_packing(name: &str) -> &str {
    [".zst", ".gz"].iter().find_map(|packing| name.strip_suffix(packing)).unwrap_or(name)
}

/// Lines of a file with their numbers, from 1.
pub struct Lines {
    input: Box<dyn BufRead + Send>,
    path: PathBuf,
    number: u64,
    /// Whether more of the last line may follow.
    is_within: bool,
}

impl Lines {
    /// The lines of the file at `path`.
    pub fn open(path: &Path) -> Result<Lines, Error> {
        Ok(Lines::new(open(path)?, path))
    }

    /// The lines of `input`; `path` is its name in errors.
    pub fn new(input: Box<dyn BufRead + Send>, path: &Path) -> Lines {
        Lines { input, path: path.to_path_buf(), number: 0, is_within: false }
    }

    /// Appends the next line (with its line break) to `line`, of a long one the next megabyte, and returns its number.
    pub fn read(&mut self, line: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        let read = (&mut self.input).take(PIECE).read_until(b'\n', line).map_err(|source| self.fault(&source))?;
        self.number += u64::from(read > 0 && !self.is_within);
        self.is_within = read > 0 && !line.ends_with(b"\n");
        Ok((read > 0).then_some(self.number))
    }

    /// Whether more of the last line may follow.
    pub(super) fn is_within(&self) -> bool {
        self.is_within
    }

    /// Reads the next line that is neither blank nor a comment (`#`), trimmed, and returns it with its number. A byte
    /// order mark is skipped. A line that does not come in one piece is an error.
    pub fn read_text(&mut self) -> Result<Option<(u64, String)>, Error> {
        let mut line = Vec::new();
        while let Some(number) = self.read(&mut line)? {
            if line.len() as u64 >= PIECE {
                let place = format!("line {number}");
                return Err(Error::content(&self.path, place, format!("it is longer than {PIECE} bytes")));
            }
            let text = decode(&line);
            let text = text.strip_prefix('\u{FEFF}').filter(|_| number == 1).unwrap_or(&text).trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some((number, text.to_string())));
            }
            line.clear();
        }
        Ok(None)
    }

    fn fault(&self, source: &io::Error) -> Error {
        Error::content(&self.path, format!("after line {}", self.number), source.to_string())
    }
}

/// Text of unknown encoding: UTF-8, or Windows-1252 where it is not.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect()),
    }
}

fn windows_1252(byte: u8) -> char {
    #[rustfmt::skip]
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    fn lines(packed: Vec<u8>) -> Result<Vec<String>, Error> {
        let path = Path::new("some.pgn");
        let mut lines = Lines::new(unpack(Cursor::new(packed)).map_err(Error::file("read", path))?, path);
        let (mut line, mut all) = (Vec::new(), Vec::new());
        while let Some(number) = lines.read(&mut line)? {
            all.push(format!("{number} {}", String::from_utf8_lossy(&line).trim_end()));
            line.clear();
        }
        Ok(all)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory takes all");
        encoder.finish().expect("memory takes all")
    }

    fn zstd(text: &str) -> Vec<u8> {
        zstd::encode_all(text.as_bytes(), 1).expect("memory takes all")
    }

    #[test]
    fn packed_and_plain_read_the_same() {
        let text = "one\r\ntwo\n\nfour";
        let expected = ["1 one", "2 two", "3 ", "4 four"];
        for packed in [text.as_bytes().to_vec(), gzip(text), zstd(text)] {
            assert_eq!(lines(packed).unwrap(), expected);
        }
        let two_members = [gzip("one\n"), gzip("two\n")].concat();
        assert_eq!(lines(two_members).unwrap(), ["1 one", "2 two"]);
        let two_frames = [zstd("one\n"), zstd("two\n")].concat();
        assert_eq!(lines(two_frames).unwrap(), ["1 one", "2 two"]);
    }

    #[test]
    fn a_cut_archive_is_an_error_with_its_place() {
        let text: String = (0..20_000u64).map(|i| format!("{}\n", crate::hash::mix(i))).collect();
        for mut packed in [gzip(&text), zstd(&text)] {
            packed.truncate(packed.len() / 2);
            let error = lines(packed).expect_err("half an archive").to_string();
            assert!(error.starts_with("some.pgn, after line "), "{error}");
        }
    }

    #[test]
    fn lines_that_say_nothing_are_passed_over() {
        let text = "\u{FEFF}one # two\n\n  # a remark\n#\n \u{FEFF}five\r\n  six  ".as_bytes().to_vec();
        let mut lines = Lines::new(Box::new(Cursor::new(text)), Path::new("some.epd"));
        let mut all = Vec::new();
        while let Some((number, text)) = lines.read_text().unwrap() {
            all.push(format!("{number} {text}"));
        }
        assert_eq!(all, ["1 one # two", "5 \u{FEFF}five", "6 six"]);
    }

    #[test]
    fn other_packings_are_called_what_they_are() {
        let refused = |text: Vec<u8>| lines(text).expect_err("it cannot be read").to_string();
        for (place, magic, name, command) in REFUSED {
            let error = refused([vec![b'a'; place], magic.to_vec(), vec![b' '; HEAD]].concat());
            assert!(error.contains(&format!("it is {name}: unpack it with `{command}` to standard input")), "{error}");
        }
        let within = format!("{}ustar{}", "a".repeat(257), " ".repeat(HEAD));
        assert!(refused(gzip(&within)).contains("it is a tar archive: "));
    }

    /// Files of `pzstd`, as Lichess publishes them (github.com/tmaklin/bxzstr/issues/31).
    #[test]
    fn frames_to_be_skipped_are_skipped() {
        for number in [0x50, 0x5F] {
            let skipped = [&[number, 0x2A, 0x4D, 0x18, 4, 0, 0, 0][..], b"some"].concat();
            let parts = [skipped.clone(), zstd("one\n"), skipped.clone(), zstd("two\n"), skipped];
            assert_eq!(lines(parts.concat()).unwrap(), ["1 one", "2 two"]);
        }
    }

    #[test]
    fn text_of_windows_is_read() {
        assert_eq!(decode(b"J\xE1n \x96 \x80"), "Ján – €");
        assert_eq!(decode("Ján".as_bytes()), "Ján");
    }

    #[test]
    fn utf16_is_called_what_it_is() {
        let text = "\u{FEFF}[Event \"é\"]\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [&little[..], &big, &little[2..], &big[2..]] {
            let packed = zstd::encode_all(bytes, 1).unwrap();
            for bytes in [bytes.to_vec(), packed] {
                let error = lines(bytes).expect_err("no letter would be read right").to_string();
                assert!(error.contains("UTF-16"), "{error}");
            }
        }
        assert_eq!(lines("é\n".into()).unwrap(), ["1 é"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_would_keep_a_reader_waiting_is_refused() {
        let folder = crate::testing::Temporary::folder();
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("every Unix has it");
        assert!(made.success());
        let mut named =
            vec![(pipe.as_path(), "a pipe"), (Path::new("/dev/zero"), "a device"), (Path::new("/"), "a folder")];
        if cfg!(target_os = "linux") {
            named.push((Path::new("/proc/uptime"), "a file of the system"));
        }
        for (path, kind) in named {
            let error = open(path).err().expect("it is no file of games").to_string();
            assert!(error.ends_with(&format!("{kind}, not a regular file")), "{error}");
        }
    }

    #[test]
    fn a_long_line_comes_in_pieces() {
        let mut text = vec![b'x'; (2 << 20) + 7];
        text.extend(b"\nnext\n");
        let pieces = lines(text.clone()).unwrap();
        let lengths: Vec<(&str, usize)> = pieces.iter().map(|piece| (&piece[..2], piece.len() - 2)).collect();
        assert_eq!(lengths, [("1 ", 1 << 20), ("1 ", 1 << 20), ("1 ", 7), ("2 ", 4)]);
        // A position is no such line, and nothing of it is taken for one.
        let mut lines = Lines::new(Box::new(Cursor::new(text)), Path::new("some.epd"));
        let error = lines.read_text().unwrap_err().to_string();
        assert_eq!(error, "some.epd, line 1: it is longer than 1048576 bytes");
    }

    #[test]
    fn names_tell_the_kind() {
        for (name, kind) in [
            ("a.pgn", Kind::Games),
            ("a.pgn.zst", Kind::Games),
            ("a.EPD", Kind::Positions),
            ("a.epd.zst", Kind::Positions),
            ("a.fen.gz", Kind::Positions),
            ("games", Kind::Games),
        ] {
            assert_eq!(Kind::of(Path::new(name)), kind, "{name}");
        }
    }
}
