//! The sample file: prepared positions, 32 bytes each.
//!
//! Training reads millions of positions many times and in random order, and a run may last days: the
//! data must be small, must be found by index, and must be known to be whole before the run begins. So a
//! sample has a fixed size, samples lie in blocks that carry a checksum, and a file that is cut or damaged
//! is refused when it is opened, with the place. A half-written one is never found under its own name
//! ([`whole`](crate::base::atomic)).
//!
//! | bytes | header |
//! |---|---|
//! | 0..8 | `DyadSmp` and a zero |
//! | 8..12 | version |
//! | 12..16 | samples in a block |
//! | 16..40 | samples, test samples, games |
//! | 40..48 | identity: a hash over the checksums of all blocks |
//! | 48..56 | length and CRC-32 of the settings |
//! | 56..60 | zero |
//! | 60..64 | CRC-32 of the bytes before |
//!
//! Then come the blocks, each followed by its CRC-32, and the settings that made the file, as JSON. All
//! numbers are little-endian.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dyad_engine::board::{ALL_SQUARES, BitBoard, Board, COLORS, ChessMove, Color, PIECES, Piece, Setup, Square};
use serde_json::Value as Json;

use crate::base::atomic::AtomicFile;
use crate::base::error::Error;
use crate::base::hash;
use crate::data::games::{GameResult, Score};

/// Bytes of a sample.
pub const SAMPLE_BYTES: usize = 32;

const MAGIC: [u8; 8] = *b"DyadSmp\0";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 64;
/// Samples in a block: half a megabyte.
const BLOCK: usize = 1 << 14;

/// A position to learn from.
#[derive(Clone, Copy)]
pub struct Sample {
    /// The position.
    pub board: Board,
    /// The move to prefer there.
    pub desired: Option<ChessMove>,
    /// How its game ended.
    pub result: Option<GameResult>,
    /// What a search thought of it, from the side to move.
    pub score: Option<Score>,
    /// Whether it is kept out of training.
    pub test: bool,
    /// Whether it is the first of its game.
    pub starts_game: bool,
    /// Whether the desired move is clearly the best. Where it is not, only result and score teach something.
    pub decided: bool,
}

impl Sample {
    /// The result as seen by the side to move: 0, 0.5 or 1.
    #[must_use]
    pub fn points(&self) -> Option<f64> {
        let white = self.result?.points();
        Some(if self.board.side_to_move() == Color::White { white } else { 1.0 - white })
    }
}

/// A sample in 32 bytes.
///
/// | bytes | |
/// |---|---|
/// | 0..8 | occupied squares |
/// | 8..24 | four bits for each man, in the order of its square |
/// | 24..26 | desired move (from, to, promotion: 15 bits), side to move (the highest bit) |
/// | 26..28 | score |
/// | 28..30 | move number |
/// | 30 | halfmove clock |
/// | 31 | result (2 bits), test, first of its game, undecided |
///
/// Twelve of the sixteen kinds of men are the ordinary ones; a rook that may still castle and a
/// pawn that may be taken en passant are kinds of their own, and so need no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed(pub [u8; SAMPLE_BYTES]);

const CASTLING_ROOK: u8 = 12;
const PASSING_PAWN: u8 = 14;
const NO_SCORE: i16 = i16::MIN;
const RESULT_BITS: u8 = 3;
const TEST_BIT: u8 = 4;
const START_BIT: u8 = 8;
const UNDECIDED_BIT: u8 = 16;

impl Packed {
    /// Packs a sample.
    #[must_use]
    pub fn new(sample: &Sample) -> Packed {
        let board = &sample.board;
        let mut bytes = [0; SAMPLE_BYTES];
        bytes[..8].copy_from_slice(&board.occupied().0.to_le_bytes());
        for (index, square) in board.occupied().enumerate() {
            bytes[8 + index / 2] |= kind_of_man(board, square) << (4 * (index % 2));
        }
        let black = u16::from(board.side_to_move() == Color::Black) << 15;
        let score = sample.score.map_or(NO_SCORE, |score| score.0);
        let number = board.fullmove_number().min(u32::from(u16::MAX)) as u16;
        bytes[24..26].copy_from_slice(&(move_bits(sample.desired) | black).to_le_bytes());
        bytes[26..28].copy_from_slice(&score.to_le_bytes());
        bytes[28..30].copy_from_slice(&number.to_le_bytes());
        bytes[30] = board.halfmove_clock().min(255) as u8;
        bytes[31] = match sample.result {
            None => 0,
            Some(GameResult::BlackWins) => 1,
            Some(GameResult::Draw) => 2,
            Some(GameResult::WhiteWins) => 3,
        };
        bytes[31] |= if sample.test { TEST_BIT } else { 0 } | if sample.starts_game { START_BIT } else { 0 };
        bytes[31] |= if sample.decided { 0 } else { UNDECIDED_BIT };
        Packed(bytes)
    }

    /// Whether it is kept out of training.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.0[31] & TEST_BIT != 0
    }

    /// Whether it is the first of its game.
    #[must_use]
    pub fn starts_game(&self) -> bool {
        self.0[31] & START_BIT != 0
    }

    /// Whether the result of its game is known.
    #[must_use]
    pub fn has_result(&self) -> bool {
        self.0[31] & RESULT_BITS != 0
    }

    /// Whether it has a score.
    #[must_use]
    pub fn has_score(&self) -> bool {
        self.number(26) as i16 != NO_SCORE
    }

    /// Whether the desired move is clearly the best.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.0[31] & UNDECIDED_BIT == 0
    }

    /// Marks the desired move as clearly the best, or not.
    pub fn set_decided(&mut self, decided: bool) {
        self.0[31] = self.0[31] & !UNDECIDED_BIT | if decided { 0 } else { UNDECIDED_BIT };
    }

    /// Marks it as the first of its game, or not.
    pub fn set_starts_game(&mut self, starts: bool) {
        self.0[31] = self.0[31] & !START_BIT | if starts { START_BIT } else { 0 };
    }

    /// Puts another desired move, as [`move_bits`] makes it, and score in place. Without a move nothing
    /// changes, and the answer is false.
    pub fn relabel(&mut self, desired: u16, score: Score) -> bool {
        let black = self.number(24) & 0x8000;
        if desired != 0 {
            self.0[24..26].copy_from_slice(&(desired | black).to_le_bytes());
            self.0[26..28].copy_from_slice(&score.0.to_le_bytes());
        }
        desired != 0
    }

    fn number(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    /// Unpacks the sample.
    ///
    /// # Errors
    /// Says what is wrong where the bytes hold no valid position, or a move that is not legal in it.
    pub fn unpack(&self) -> Result<Sample, String> {
        let board = self.board()?;
        let desired = move_of(self.number(24) & 0x7FFF)?;
        if let Some(mv) = desired.filter(|&mv| !board.is_legal(mv)) {
            return Err(format!("the move {mv} is not legal in {}", board.fen()));
        }
        let score = Some(self.number(26) as i16).filter(|&score| score != NO_SCORE).map(Score);
        let result = match self.0[31] & RESULT_BITS {
            0 => None,
            1 => Some(GameResult::BlackWins),
            2 => Some(GameResult::Draw),
            _ => Some(GameResult::WhiteWins),
        };
        let (test, starts_game, decided) = (self.is_test(), self.starts_game(), self.is_decided());
        Ok(Sample { board, desired, result, score, test, starts_game, decided })
    }

    /// Unpacks the position alone.
    ///
    /// # Errors
    /// Says what is wrong where the bytes hold no valid position.
    pub fn board(&self) -> Result<Board, String> {
        let occupied = self.0[..8].try_into().map(u64::from_le_bytes).expect("eight bytes are eight bytes");
        if occupied.count_ones() > 32 {
            return Err(format!("{} men on a board", occupied.count_ones()));
        }
        let black_to_move = self.number(24) & 0x8000 != 0;
        let mut setup = Setup {
            men: [None; 64],
            side_to_move: if black_to_move { Color::Black } else { Color::White },
            castling: [[false; 2]; 2],
            en_passant: None,
            halfmove_clock: u16::from(self.0[30]),
            fullmove_number: self.number(28),
        };
        for (index, square) in BitBoard(occupied).enumerate() {
            let kind = self.0[8 + index / 2] >> (4 * (index % 2)) & 15;
            let color = COLORS[usize::from(kind & 1)];
            let man = match kind & !1 {
                CASTLING_ROOK => {
                    setup.castling[color.to_index()][usize::from(square.get_file().to_index() > 4)] = true;
                    (Piece::Rook, color)
                }
                PASSING_PAWN if kind == PASSING_PAWN => {
                    // The pawn that may be taken belongs to the side that has just moved.
                    setup.en_passant = square.forward(setup.side_to_move);
                    (Piece::Pawn, !setup.side_to_move)
                }
                _ if kind < CASTLING_ROOK => (PIECES[usize::from(kind / 2)], color),
                _ => return Err(format!("a man of kind {kind} on {square}")),
            };
            setup.men[square.to_index()] = Some(man);
        }
        Board::from_setup(&setup).map_err(|error| error.to_string())
    }
}

/// Kinds 0 to 11 are piece type times two plus color, then the rooks that may castle, and the pawn that may be taken.
fn kind_of_man(board: &Board, square: Square) -> u8 {
    let color = board.color_on(square).unwrap_or(Color::White);
    let piece = board.piece_on(square).unwrap_or(Piece::Pawn);
    if piece == Piece::Rook && castles_with(board, color, square) {
        return CASTLING_ROOK + color.to_index() as u8;
    }
    if piece == Piece::Pawn
        && board.en_passant().and_then(|target| target.backward(board.side_to_move())) == Some(square)
    {
        return PASSING_PAWN;
    }
    (2 * piece.to_index() + color.to_index()) as u8
}

fn castles_with(board: &Board, color: Color, rook: Square) -> bool {
    let home = if color == Color::White { [Square::A1, Square::H1] } else { [Square::A8, Square::H8] };
    let [queen_side, king_side] = board.castling_sides(color);
    (queen_side && rook == home[0]) || (king_side && rook == home[1])
}

/// A move in 15 bits; no move is 0 (a1a1).
#[must_use]
pub fn move_bits(mv: Option<ChessMove>) -> u16 {
    let Some(mv) = mv else { return 0 };
    let promotion = mv.get_promotion().map_or(0, |piece| piece.to_index() as u16);
    mv.get_source().to_index() as u16 | (mv.get_dest().to_index() as u16) << 6 | promotion << 12
}

fn move_of(bits: u16) -> Result<Option<ChessMove>, String> {
    if bits == 0 {
        return Ok(None);
    }
    let square = |shift: u16| ALL_SQUARES[usize::from(bits >> shift & 63)];
    let promotion = match bits >> 12 {
        0 => None,
        kind @ 1..=4 => Some(PIECES[usize::from(kind)]),
        kind => return Err(format!("promotion to a piece of kind {kind}")),
    };
    Ok(Some(ChessMove::new(square(0), square(6), promotion)))
}

/// What the header of a sample file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Samples.
    pub count: u64,
    /// Samples kept out of training.
    pub tests: u64,
    /// Games they come from.
    pub games: u64,
    /// Stands for the content: equal exactly when all samples are.
    pub identity: u64,
    /// The settings that made the file.
    pub settings: Json,
}

impl Summary {
    fn blocks(&self) -> u64 {
        self.count.div_ceil(BLOCK as u64)
    }

    /// Samples in block `index`.
    fn block_len(&self, index: u64) -> usize {
        (self.count - index * BLOCK as u64).min(BLOCK as u64) as usize
    }

    fn body_bytes(&self) -> u64 {
        self.count.saturating_mul(SAMPLE_BYTES as u64).saturating_add(self.blocks() * 4)
    }

    fn header(&self, settings: &[u8]) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(BLOCK as u32).to_le_bytes());
        for (at, number) in [(16, self.count), (24, self.tests), (32, self.games), (40, self.identity)] {
            header[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        header[48..52].copy_from_slice(&(settings.len() as u32).to_le_bytes());
        header[52..56].copy_from_slice(&crc32fast::hash(settings).to_le_bytes());
        let sum = crc32fast::hash(&header[..60]);
        header[60..].copy_from_slice(&sum.to_le_bytes());
        header
    }
}

/// Writes a sample file; it appears under its name when it is [finished](SampleWriter::finish).
pub struct SampleWriter {
    path: PathBuf,
    file: BufWriter<AtomicFile>,
    block: Vec<u8>,
    summary: Summary,
}

impl SampleWriter {
    /// Begins a file.
    pub fn create(path: &Path, settings: Json) -> Result<SampleWriter, Error> {
        let file = AtomicFile::create(path).map_err(Error::file("create", path))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(&[0; HEADER_BYTES]).map_err(Error::file("write", path))?;
        let summary = Summary { count: 0, tests: 0, games: 0, identity: 0, settings };
        Ok(SampleWriter { path: path.to_path_buf(), file, block: Vec::new(), summary })
    }

    /// Samples written so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.summary.count
    }

    /// Appends a sample.
    pub fn push(&mut self, sample: &Packed) -> Result<(), Error> {
        self.summary.count += 1;
        self.summary.tests += u64::from(sample.is_test());
        self.summary.games += u64::from(sample.starts_game());
        self.block.extend(sample.0);
        if self.block.len() == BLOCK * SAMPLE_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<(), Error> {
        let sum = crc32fast::hash(&self.block);
        self.summary.identity = hash::fold(self.summary.identity, u64::from(sum));
        let written = self.file.write_all(&self.block).and_then(|()| self.file.write_all(&sum.to_le_bytes()));
        self.block.clear();
        written.map_err(Error::file("write", &self.path))
    }

    /// Adds what became known while writing to the settings.
    pub fn note(&mut self, key: &str, value: Json) {
        if let Json::Object(settings) = &mut self.summary.settings {
            settings.insert(key.to_string(), value);
        }
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<Summary, Error> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let SampleWriter { path, mut file, summary, .. } = self;
        let settings = summary.settings.to_string().into_bytes();
        let header = summary.header(&settings);
        let complete = || -> io::Result<()> {
            file.write_all(&settings)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.into_inner()?.commit()
        };
        complete().map_err(Error::file("write", &path))?;
        Ok(summary)
    }
}

/// A sample file, checked from end to end. Reading by index takes no memory beyond one bit a sample.
pub struct SampleFile {
    path: PathBuf,
    file: Mutex<File>,
    summary: Summary,
    tests: Vec<u64>,
}

impl SampleFile {
    /// Opens a file and checks all of it.
    ///
    /// # Errors
    /// Says what is wrong and where: no sample file, another version, cut, damaged.
    pub fn open(path: &Path) -> Result<SampleFile, Error> {
        let file = File::open(path).map_err(Error::file("open", path))?;
        let length = file.metadata().map_err(Error::file("read", path))?.len();
        let mut input = BufReader::with_capacity(1 << 20, &file);
        let (mut summary, settings_sum) = read_header(&mut input, length, path)?;
        let tests = check_blocks(&mut input, &summary, path)?;
        summary.settings = read_settings(&mut input, settings_sum, path)?;
        drop(input);
        Ok(SampleFile { path: path.to_path_buf(), file: Mutex::new(file), summary, tests })
    }

    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its header says.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.summary.count as usize
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summary.count == 0
    }

    /// Whether the sample at `index` is kept out of training.
    #[must_use]
    pub fn is_test(&self, index: usize) -> bool {
        self.tests[index / 64] >> (index % 64) & 1 != 0
    }

    /// Indices of the samples to train on, or of those to test with.
    #[must_use]
    pub fn indices(&self, test: bool) -> Vec<u32> {
        (0..self.len()).filter(|&index| self.is_test(index) == test).map(|index| index as u32).collect()
    }

    /// The sample at `index`, as it is packed.
    ///
    /// # Panics
    /// If `index` is not below the number of samples.
    pub fn packed(&self, index: usize) -> Result<Packed, Error> {
        assert!(index < self.len(), "sample {index} of {}", self.len());
        let at = HEADER_BYTES + index * SAMPLE_BYTES + index / BLOCK * 4;
        let mut bytes = [0; SAMPLE_BYTES];
        // A reader that panicked leaves nothing half done: every read seeks first.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(at as u64)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(Error::file("read", &self.path))?;
        Ok(Packed(bytes))
    }

    /// The sample at `index`.
    ///
    /// # Panics
    /// If `index` is not below the number of samples.
    pub fn read(&self, index: usize) -> Result<Sample, Error> {
        self.packed(index)?.unpack().map_err(|problem| Error::content(&self.path, format!("sample {index}"), problem))
    }

    /// All samples in order, a block at a time.
    pub fn blocks(&self) -> Result<impl Iterator<Item = Result<Vec<Packed>, Error>> + '_, Error> {
        let file = File::open(&self.path).map_err(Error::file("open", &self.path))?;
        let mut input = BufReader::with_capacity(1 << 20, file);
        input.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(Error::file("read", &self.path))?;
        Ok((0..self.summary.blocks()).map(move |index| {
            let (bytes, _) = read_block(&mut input, &self.summary, index, &self.path)?;
            Ok(bytes.chunks_exact(SAMPLE_BYTES).map(packed).collect())
        }))
    }

    /// All samples in memory.
    pub fn load(&self) -> Result<Vec<Packed>, Error> {
        let mut all = Vec::with_capacity(self.len());
        for block in self.blocks()? {
            all.extend(block?);
        }
        Ok(all)
    }
}

fn packed(bytes: &[u8]) -> Packed {
    Packed(bytes.try_into().expect("chunks are as long as a sample"))
}

/// The header without the settings, and the checksum these must have.
fn read_header(input: &mut impl Read, length: u64, path: &Path) -> Result<(Summary, u32), Error> {
    let wrong = |problem: String| Error::content(path, "header", problem);
    let mut header = [0; HEADER_BYTES];
    if length < HEADER_BYTES as u64 {
        return Err(wrong(format!("a sample file has at least {HEADER_BYTES} bytes, this one {length}")));
    }
    input.read_exact(&mut header).map_err(Error::file("read", path))?;
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    if header[..8] != MAGIC {
        return Err(wrong("not a sample file (it does not begin with DyadSmp)".to_string()));
    }
    if crc32fast::hash(&header[..60]) != word(60) {
        return Err(wrong("damaged: its checksum is wrong".to_string()));
    }
    if word(8) != VERSION || word(12) != BLOCK as u32 {
        return Err(wrong(format!("version {} is not known, expected {VERSION}", word(8))));
    }
    let summary =
        Summary { count: number(16), tests: number(24), games: number(32), identity: number(40), settings: Json::Null };
    let expected = HEADER_BYTES as u64 + summary.body_bytes().saturating_add(u64::from(word(48)));
    if length != expected {
        let fault = if length < expected { "cut" } else { "followed by something else" };
        return Err(wrong(format!(
            "the file is {fault}: {} samples make {expected} bytes, it has {length}",
            summary.count
        )));
    }
    Ok((summary, word(52)))
}

fn read_block(input: &mut impl Read, summary: &Summary, index: u64, path: &Path) -> Result<(Vec<u8>, u32), Error> {
    let first = index * BLOCK as u64;
    let len = summary.block_len(index);
    let place = || format!("block {index} (samples {first} to {})", first + len as u64 - 1);
    let mut bytes = vec![0; len * SAMPLE_BYTES];
    let mut sum = [0; 4];
    let read = input.read_exact(&mut bytes).and_then(|()| input.read_exact(&mut sum));
    read.map_err(|error| Error::content(path, place(), error.to_string()))?;
    let sum = u32::from_le_bytes(sum);
    if crc32fast::hash(&bytes) != sum {
        return Err(Error::content(path, place(), "damaged: its checksum is wrong"));
    }
    Ok((bytes, sum))
}

/// Checks all blocks and returns a bit for each sample: whether it is kept out of training.
fn check_blocks(input: &mut impl Read, summary: &Summary, path: &Path) -> Result<Vec<u64>, Error> {
    let mut tests = vec![0u64; summary.count.div_ceil(64) as usize];
    let mut identity = 0;
    for block in 0..summary.blocks() {
        let (bytes, sum) = read_block(input, summary, block, path)?;
        identity = hash::fold(identity, u64::from(sum));
        for (offset, sample) in bytes.chunks_exact(SAMPLE_BYTES).map(packed).enumerate() {
            let index = block as usize * BLOCK + offset;
            tests[index / 64] |= u64::from(sample.is_test()) << (index % 64);
        }
    }
    if identity != summary.identity {
        return Err(Error::content(path, "header", "the blocks are not those the header was written for"));
    }
    Ok(tests)
}

fn read_settings(input: &mut impl Read, sum: u32, path: &Path) -> Result<Json, Error> {
    let wrong = |problem: String| Error::content(path, "settings", problem);
    let mut text = Vec::new();
    input.read_to_end(&mut text).map_err(Error::file("read", path))?;
    if crc32fast::hash(&text) != sum {
        return Err(wrong("damaged: their checksum is wrong".to_string()));
    }
    serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    /// A folder of its own for each test.
    pub(crate) fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dyad-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        folder
    }

    fn sample(fen: &str, mv: &str) -> Sample {
        let board = Board::from_fen(fen).expect("the FEN is valid");
        let desired = (!mv.is_empty()).then(|| board.parse_uci(mv).expect("the move is legal"));
        Sample { board, desired, result: None, score: None, test: false, starts_game: false, decided: true }
    }

    /// Positions of a random walk, with every kind of result and score.
    pub(crate) fn walk(count: usize) -> Vec<Sample> {
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
                decided: word % 3 != 0,
            });
            board = board.after(mv);
        }
        samples
    }

    fn text(sample: &Sample) -> String {
        let Sample { board, desired, result, score, test, starts_game, decided } = sample;
        format!("{} {desired:?} {result:?} {score:?} {test} {starts_game} {decided}", board.fen())
    }

    #[test]
    fn packing_keeps_everything() {
        let cases = [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 12", "e8c8"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Qk - 3 12", "e8g8"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w Kq - 99 200", "e1g1"),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 30", "a7a8n"),
            ("4k3/8/8/8/8/8/p7/1N2K3 b - - 0 30", "a2b1q"),
            ("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3", "d4e3"),
            ("rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", "e5d6"),
            ("4k3/8/8/8/8/8/8/4K3 b - - 120 9000", ""),
        ];
        let walk = walk(20_000);
        let cases = cases.iter().map(|(fen, mv)| sample(fen, mv));
        for sample in cases.chain(walk) {
            let packed = Packed::new(&sample);
            let back = packed.unpack().unwrap_or_else(|problem| panic!("{}: {problem}", text(&sample)));
            assert_eq!(text(&back), text(&sample));
            assert_eq!(back.board.key(), sample.board.key());
            assert_eq!((packed.is_test(), packed.starts_game()), (sample.test, sample.starts_game));
        }
    }

    #[test]
    fn relabeling_changes_move_and_score_alone() {
        for sample in walk(2_000) {
            let moves = sample.board.moves();
            let Some(&desired) = moves.last() else { continue };
            let mut packed = Packed::new(&sample);
            assert!(packed.relabel(move_bits(Some(desired)), Score(-7)));
            assert!(!packed.relabel(0, Score(9)));
            let expected = Sample { desired: Some(desired), score: Some(Score(-7)), ..sample };
            assert_eq!(packed, Packed::new(&expected));
        }
    }

    #[test]
    fn nonsense_is_no_sample() {
        let good = Packed::new(&sample("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4"));
        let cases: [(&str, usize, u8); 6] = [
            ("men on a board", 0, 0xFF),
            ("kings", 8, 0x00),
            ("kind 15", 8, 0xFF),
            ("not legal", 24, 0x00),
            ("promotion", 25, 0x7F),
            ("can be captured", 25, 0x80),
        ];
        for (expected, at, byte) in cases {
            let mut bad = good;
            if at == 0 {
                bad.0[..8].fill(byte);
            } else {
                bad.0[at] = byte;
            }
            if expected == "can be captured" {
                bad = Packed::new(&sample("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", ""));
                bad.0[25] ^= 0x80;
            }
            let problem = bad.unpack().err().unwrap_or_else(|| panic!("{expected}: was unpacked"));
            assert!(problem.contains(expected), "{expected}: {problem}");
        }
    }

    fn write(path: &Path, samples: &[Sample]) -> Summary {
        let mut writer = SampleWriter::create(path, json!({ "seed": 5 })).expect("the folder can be written");
        for sample in samples {
            writer.push(&Packed::new(sample)).expect("there is room");
        }
        writer.note("read", json!(3));
        writer.finish().expect("the file can be renamed")
    }

    #[test]
    fn a_file_gives_back_what_was_written() {
        let path = folder("samples-round").join("a.samples");
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 77] {
            let samples = walk(count);
            let summary = write(&path, &samples);
            let file = SampleFile::open(&path).unwrap();
            assert_eq!(*file.summary(), summary);
            assert_eq!(summary.settings, json!({ "seed": 5, "read": 3 }));
            assert_eq!(file.len(), count);
            let expected: Vec<Packed> = samples.iter().map(Packed::new).collect();
            assert_eq!(file.load().unwrap(), expected);
            for index in (0..count).step_by(997).chain(count.checked_sub(1)) {
                assert_eq!(file.packed(index).unwrap(), expected[index]);
                assert_eq!(file.is_test(index), samples[index].test);
            }
            let tests = file.indices(true);
            assert_eq!(tests.len() as u64, summary.tests);
            assert_eq!(tests.len() + file.indices(false).len(), count);
            assert!(tests.iter().all(|&index| samples[index as usize].test));
        }
    }

    #[test]
    fn identity_stands_for_the_content() {
        let path = folder("samples-identity").join("a.samples");
        let samples = walk(BLOCK + 5);
        let identity = write(&path, &samples).identity;
        assert_eq!(write(&path, &samples).identity, identity);
        let mut other = samples.clone();
        other[BLOCK + 3].test ^= true;
        assert_ne!(write(&path, &other).identity, identity);
        assert_ne!(write(&path, &samples[1..]).identity, identity);
    }

    #[test]
    fn damaged_files_are_refused_with_the_place() {
        let path = folder("samples-damage").join("a.samples");
        write(&path, &walk(2 * BLOCK + 100));
        let good = fs::read(&path).expect("it was written");
        let flipped = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            bytes
        };
        let second_block = HEADER_BYTES + BLOCK * SAMPLE_BYTES + 4;
        let cases = [
            (Vec::new(), "at least 64 bytes, this one 0"),
            (good[..40].to_vec(), "at least 64 bytes, this one 40"),
            (good[..good.len() - 1].to_vec(), "header: the file is cut"),
            (good[..good.len() / 2].to_vec(), "header: the file is cut"),
            ([&good[..], b"x"].concat(), "followed by something else"),
            (b"[Event \"a game\"]".repeat(10), "not a sample file"),
            (flipped(0), "not a sample file"),
            (flipped(17), "header: damaged"),
            (flipped(HEADER_BYTES + 10), "block 0 (samples 0 to 16383): damaged"),
            (flipped(second_block), "block 1 (samples 16384 to 32767): damaged"),
            (flipped(good.len() - 3), "settings: damaged"),
        ];
        for (bytes, expected) in cases {
            fs::write(&path, bytes).expect("the folder can be written");
            let error = SampleFile::open(&path).err().unwrap_or_else(|| panic!("{expected}: was opened")).to_string();
            assert!(error.contains(expected) && error.contains("a.samples"), "{expected}: {error}");
        }
    }

    #[test]
    fn a_file_given_up_leaves_nothing() {
        let path = folder("samples-given-up").join("a.samples");
        let mut writer = SampleWriter::create(&path, json!({})).unwrap();
        for sample in walk(10) {
            writer.push(&Packed::new(&sample)).unwrap();
        }
        drop(writer);
        let left = fs::read_dir(path.parent().expect("it has a folder")).unwrap().count();
        assert_eq!(left, 0);
    }
}
