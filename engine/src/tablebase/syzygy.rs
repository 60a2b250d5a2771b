//! Reads the files of Syzygy tables, by the crate `shakmaty-syzygy`.
//!
//! They may be missing, truncated or damaged: a probe then fails, the first error is kept for a report, and the search
//! continues as without tables. Memory-mapped files would turn a disk error into a crash, so small files are read whole
//! on first use, which is as fast, and of larger ones just what a probe needs.

use crate::board::{Board, Color, PIECES};
use crate::platform::lock;
use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, FromSetup, Setup, Square};
use shakmaty_syzygy::filesystem::{Filesystem, OsFilesystem, RandomAccessFile, ReadHint};
use shakmaty_syzygy::{Dtz, MaybeRounded, ProbeError, SyzygyError};
use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files up to this size are read whole: all of three and four pieces, and most WDL files of five.
const READ_WHOLE: u64 = 4 << 20;

/// A set of table files, shared by all threads.
pub struct Tablebase {
    tables: shakmaty_syzygy::Tablebase<Chess>,
    files: usize,
    errors: Mutex<ProbeErrors>,
}

/// The first error of each kind since the last report.
#[derive(Default)]
struct ProbeErrors {
    /// Missing table: expected, since few users have the full set.
    missing: Option<String>,
    /// Unreadable table.
    damaged: Option<String>,
}

/// Why a folder cannot be listed. The words of the system are not used where these say the same: XBoard takes them for
/// the failed start of an engine.
fn no_folder(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "is no folder".to_string(),
        io::ErrorKind::PermissionDenied => "may not be read".to_string(),
        _ => error.to_string(),
    }
}

/// The folders of a path, separated by `;` or, except on Windows, by `:`.
pub(super) fn folders(path: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let parts = if cfg!(windows) { &[';'][..] } else { &[';', ':'][..] };
    path.split(parts).map(str::trim).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

impl Tablebase {
    /// Finds the tables in the folders of `path`, separated by `;` or, except on Windows, by `:`. Also returns errors:
    /// folders and files that cannot be read. Tables are opened on first use.
    pub fn open(path: &str) -> (Tablebase, Vec<String>) {
        let mut tables = shakmaty_syzygy::Tablebase::with_filesystem(Arc::new(Files(OsFilesystem::new())));
        let (mut files, mut errors) = (0, Vec::new());
        for folder in folders(path) {
            let mut add_error =
                |path: &Path, error: &dyn fmt::Display| errors.push(format!("{}: {error}", path.display()));
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    add_error(&folder, &no_folder(&error));
                    continue;
                }
            };
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_table(path)) {
                match tables.add_file(&path) {
                    Ok(()) => files += 1,
                    // Not the name of a table.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                    Err(error) => add_error(&path, &error),
                }
            }
        }
        (Tablebase { tables, files, errors: Mutex::default() }, errors)
    }

    /// Number of files found.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Largest number of pieces of a table, kings included; 0 without tables.
    pub fn pieces(&self) -> u32 {
        self.tables.max_pieces() as u32
    }

    /// The first error of a probe since the last call: a damaged table, or else a missing one.
    pub fn take_error(&self) -> Option<String> {
        let ProbeErrors { missing, damaged } = std::mem::take(&mut *lock(&self.errors));
        damaged.or(missing)
    }

    /// The result for the side to move if the halfmove clock is 0: 2 for a win and -2 for a loss; 1 and -1 for those that
    /// are draws by the fifty-move rule, a cursed win and a blessed loss; 0 for a draw.
    pub(crate) fn wdl(&self, board: &Board) -> Option<i32> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        self.guard(|| self.tables.probe_wdl_after_zeroing(&position)).map(|wdl| wdl as i32)
    }

    /// Plies to the next capture, pawn move or mate, negative if the side to move loses, 0 for a draw, above 100 for a draw
    /// by the fifty-move rule. Never too few: a rounded value that may be 1 too small counts 1 more.
    pub(crate) fn most_plies(&self, board: &Board) -> Option<i32> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        let dtz = self.guard(|| self.tables.probe_dtz(&position))?;
        let loser = if dtz.is_positive() { !board.side_to_move() } else { board.side_to_move() };
        Some(most_plies(dtz, board.colors(loser).popcnt() == 1))
    }

    /// The result of a probe; an error is kept for a report.
    fn guard<T>(&self, probe: impl FnOnce() -> Result<T, SyzygyError>) -> Option<T> {
        // The crate checks what it reads, but a damaged file may still make it panic.
        let error = match catch_unwind(AssertUnwindSafe(probe)) {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(SyzygyError::ProbeFailed { metric, material, error })) => match *error {
                ProbeError::CorruptedTable { .. } => format!("the {metric} table {material} is damaged"),
                other => format!("the {metric} table {material} cannot be read: {other}"),
            },
            Ok(Err(error)) => {
                lock(&self.errors).missing.get_or_insert_with(|| error.to_string());
                return None;
            }
            Err(_) => "a table is damaged".to_string(),
        };
        lock(&self.errors).damaged.get_or_insert(error);
        None
    }
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rtbw" || extension == "rtbz")
}

/// The largest number of plies that a probe allows. Rounding loses a ply where the loser makes the zeroing move; a bare
/// king makes none.
pub(super) fn most_plies(dtz: MaybeRounded<Dtz>, bare_king: bool) -> i32 {
    match dtz {
        MaybeRounded::Rounded(Dtz(plies)) if !bare_king => plies + plies.signum(),
        dtz => dtz.ignore_rounding().0,
    }
}

/// Converts a board to the type of `shakmaty`.
fn position(board: &Board) -> Option<Chess> {
    let set = |index: usize| Bitboard(board.pieces(PIECES[index]).0);
    let by_role = ByRole { pawn: set(0), knight: set(1), bishop: set(2), rook: set(3), queen: set(4), king: set(5) };
    let color = |color| Bitboard(board.colors(color).0);
    let by_color = ByColor { black: color(Color::Black), white: color(Color::White) };
    let setup = Setup {
        board: shakmaty::Board::try_from_bitboards(by_role, by_color).ok()?,
        turn: if board.side_to_move() == Color::White { shakmaty::Color::White } else { shakmaty::Color::Black },
        ep_square: board.en_passant().map(|square| Square::new(square.to_int().into())),
        halfmoves: board.halfmove_clock(),
        ..Setup::empty()
    };
    // A valid board may have checks that no game can lead to.
    match Chess::from_setup(setup, CastlingMode::Chess960) {
        Ok(position) => Some(position),
        Err(error) => error.ignore_impossible_check().ok(),
    }
}

/// A file system that reads small files whole when they are opened.
struct Files(OsFilesystem);

struct Whole(Vec<u8>);

impl Filesystem for Files {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        self.0.regular_file_size(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.read_dir(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        if self.0.regular_file_size(path)? > READ_WHOLE {
            return self.0.open(path);
        }
        Ok(Box::new(Whole(fs::read(path)?)))
    }
}

impl RandomAccessFile for Whole {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _hint: ReadHint) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}
