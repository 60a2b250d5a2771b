//! Syzygy endgame tables: win, draw or loss (WDL), and the plies to the next capture or pawn move (DTZ).
//! <https://www.chessprogramming.org/Syzygy_Bases>
//!
//! `shakmaty-syzygy` reads the files. They may be missing, truncated or damaged: a probe then fails, the first error is
//! kept for a report, and the search continues as without tables. Memory-mapped files would turn a disk error into a
//! crash, so small files are read whole on first use, which is as fast, and of larger ones just what a probe needs.

use crate::board::{Board, COLORS, Color, Game, Move, PIECES};
#[cfg(target_family = "wasm")]
use crate::platform::OsFilesystem;
use crate::value::{DRAW, TABLEBASE_WIN, Value};
use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, FromSetup, Setup, Square};
#[cfg(not(target_family = "wasm"))]
use shakmaty_syzygy::filesystem::OsFilesystem;
use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};
use shakmaty_syzygy::{Dtz, MaybeRounded, ProbeError, SyzygyError};
use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use shakmaty_syzygy::Wdl;

/// Files up to this size are read whole: all of three and four pieces, and most WDL files of five.
const READ_WHOLE: u64 = 4 << 20;

/// The result of a position with best play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableResult {
    /// This color wins.
    Win(Color),
    /// A draw.
    Draw,
}

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

impl fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tablebase({} files, {} pieces)", self.files, self.pieces())
    }
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
fn folders(path: &str) -> impl Iterator<Item = PathBuf> + '_ {
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

    /// As [`open`](Self::open) for tools, which must not continue without a part of the tables.
    ///
    /// # Errors
    /// The first unreadable folder or file, or that there are no tables.
    pub fn open_all(path: &str) -> Result<Tablebase, String> {
        let (tables, errors) = Tablebase::open(path);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None if tables.files() == 0 => Err(format!("no endgame tables in {path}")),
            None => Ok(tables),
        }
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
        let ProbeErrors { missing, damaged } = std::mem::take(&mut *self.errors());
        damaged.or(missing)
    }

    /// The first damaged table of a probe since the last call.
    pub fn take_damage(&self) -> Option<String> {
        self.errors().damaged.take()
    }

    fn errors(&self) -> MutexGuard<'_, ProbeErrors> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the position may be in a table: few pieces and no castling rights.
    fn covers(&self, board: &Board) -> bool {
        board.occupied().popcnt() <= self.pieces() && COLORS.iter().all(|&color| !board.can_castle(color))
    }

    /// The result for the side to move if the halfmove clock is 0. A cursed win and a blessed loss are draws by the
    /// fifty-move rule.
    pub fn wdl(&self, board: &Board) -> Option<Wdl> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        self.guard(|| self.tables.probe_wdl_after_zeroing(&position))
    }

    /// Plies to the next capture, pawn move or mate of the winning side: negative if the side to move loses, 0 for a
    /// draw, above 100 for a draw by the fifty-move rule. May be 1 too small.
    pub(crate) fn dtz(&self, board: &Board) -> Option<i32> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        self.guard(|| self.tables.probe_dtz(&position)).map(|dtz| dtz.ignore_rounding().0)
    }

    /// Plies to zeroing as [`dtz`](Self::dtz), but never too few: a rounded value that may be 1 too small counts 1
    /// more.
    fn most_plies(&self, board: &Board) -> Option<i32> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        let dtz = self.guard(|| self.tables.probe_dtz(&position))?;
        let loser = if dtz.is_positive() { !board.side_to_move() } else { board.side_to_move() };
        Some(most_plies(dtz, board.colors(loser).popcnt() == 1))
    }

    /// The result with best play under the fifty-move rule, with the current clock. None also where it depends on a ply
    /// that the table rounds.
    pub fn result(&self, board: &Board) -> Option<TableResult> {
        let us = board.side_to_move();
        let clock = board.halfmove_clock() as i32;
        let winner = match self.wdl(board)? {
            Wdl::Win => us,
            Wdl::Loss => !us,
            _ => return Some(TableResult::Draw),
        };
        let in_time = |plies: i32| plies.abs() + clock <= 100;
        if clock == 0 || in_time(self.most_plies(board)?) {
            return Some(TableResult::Win(winner));
        }
        (!in_time(self.dtz(board)?)).then_some(TableResult::Draw)
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
                self.errors().missing.get_or_insert_with(|| error.to_string());
                return None;
            }
            Err(_) => "a table is damaged".to_string(),
        };
        self.errors().damaged.get_or_insert(error);
        None
    }
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rtbw" || extension == "rtbz")
}

/// The largest number of plies that a probe allows. Rounding loses a ply where the loser makes the zeroing move; a bare
/// king makes none.
fn most_plies(dtz: MaybeRounded<Dtz>, bare_king: bool) -> i32 {
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

/// Tables with the settings of a search.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The tables.
    pub base: Arc<Tablebase>,
    /// Minimum depth of a probe at the maximum number of pieces; with fewer pieces every depth probes.
    pub depth: i32,
    /// Maximum number of pieces of a probed position.
    pub pieces: u32,
    /// Whether the fifty-move rule applies.
    pub fifty_moves: bool,
}

/// The root moves as ranked by the tables, best first; never empty.
#[derive(Clone, Debug)]
pub(crate) struct RootMoves {
    pub(crate) moves: Vec<RankedMove>,
    /// Whether the ranks come from DTZ, so that the search makes progress without probes.
    pub(crate) complete: bool,
}

/// A root move with its rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedMove {
    pub(crate) mv: Move,
    /// Higher is better; equal ranks are equally good.
    pub(crate) rank: i32,
    /// The value by the tables.
    pub(crate) value: Value,
}

impl RootMoves {
    /// The best move.
    pub(crate) fn best(&self) -> RankedMove {
        self.moves[0]
    }

    /// Removes all moves below the best rank.
    pub(crate) fn keep_best(&mut self) {
        let best = self.best().rank;
        self.moves.retain(|ranked| ranked.rank == best);
    }
}

/// Rank of a safe win; lower ranks are closer to the fifty-move rule. As in Stockfish's root probing.
const SAFE_WIN: i32 = 1 << 18;

impl Tables {
    /// Probes all tables at any depth, under the fifty-move rule.
    pub fn new(base: Arc<Tablebase>) -> Tables {
        Tables { base, depth: 1, pieces: u32::MAX, fifty_moves: true }
    }

    /// Whether to probe a position with this many pieces at this depth.
    pub(crate) fn allow(&self, pieces: u32, depth: i32) -> bool {
        let max = self.max_pieces();
        pieces < max || (pieces == max && depth >= self.depth)
    }

    fn max_pieces(&self) -> u32 {
        self.pieces.min(self.base.pieces())
    }

    /// The search value of a position `ply` plies from the root.
    pub(crate) fn value(&self, board: &Board, ply: usize) -> Option<Value> {
        let win = TABLEBASE_WIN - ply as Value;
        Some(match self.base.wdl(board)? {
            Wdl::Win => win,
            Wdl::Loss => -win,
            Wdl::Draw => DRAW,
            Wdl::CursedWin if self.fifty_moves => DRAW + 2,
            Wdl::BlessedLoss if self.fifty_moves => DRAW - 2,
            Wdl::CursedWin => win,
            Wdl::BlessedLoss => -win,
        })
    }

    /// The legal moves by rank, or those in `among` if it is not empty; `None` if a probe fails.
    pub(crate) fn root_moves(&self, game: &Game, among: &[Move]) -> Option<RootMoves> {
        let board = game.board();
        if board.occupied().popcnt() > self.max_pieces() || !self.base.covers(board) {
            return None;
        }
        let wanted = |mv: &&Move| among.is_empty() || among.contains(mv);
        let moves: Vec<Move> = board.moves().iter().filter(wanted).copied().collect();
        let ranks =
            |rank: &dyn Fn(Move) -> Option<i32>| -> Option<Vec<i32>> { moves.iter().map(|&mv| rank(mv)).collect() };
        let repeated = has_repeated(game);
        let by_dtz = ranks(&|mv| self.rank(game, mv, repeated));
        let complete = by_dtz.is_some();
        let ranks = by_dtz.or_else(|| ranks(&|mv| self.rank_by_wdl(board, mv)))?;
        let ranked = moves.into_iter().zip(ranks);
        let mut moves: Vec<_> =
            ranked.map(|(mv, rank)| RankedMove { mv, rank, value: self.root_value(rank) }).collect();
        moves.sort_by_key(|ranked| -ranked.rank);
        (!moves.is_empty()).then_some(RootMoves { moves, complete })
    }

    /// Rank of a move by DTZ: by the result, and by plies if the fifty-move rule may interfere.
    fn rank(&self, game: &Game, mv: Move, repeated: bool) -> Option<i32> {
        let after = game.board().after(mv);
        let clock = game.board().halfmove_clock() as i32;
        let reversible = game.keys().iter().rev().take(after.halfmove_clock() as usize);
        let repetitions = reversible.filter(|&&key| key == after.key()).count();
        let mates = after.in_check() && !after.has_legal_move();
        let plies = if mates {
            1
        } else if after.halfmove_clock() == 0 {
            Dtz::before_zeroing(-self.base.wdl(&after)?).0
        } else if repetitions >= 2 || after.halfmove_clock() >= 100 {
            0
        } else {
            let plies = -self.base.most_plies(&after)?;
            plies + plies.signum()
        };
        Some(match plies {
            1.. if plies + clock <= 99 && !repeated => SAFE_WIN,
            1.. => SAFE_WIN - (plies + clock),
            0 => 0,
            _ if clock - 2 * plies < 100 => -SAFE_WIN,
            _ => clock - plies - SAFE_WIN,
        })
    }

    /// Rank of a move by WDL alone.
    fn rank_by_wdl(&self, board: &Board, mv: Move) -> Option<i32> {
        Some(match -self.base.wdl(&board.after(mv))? {
            Wdl::Win => SAFE_WIN,
            Wdl::CursedWin => SAFE_WIN - 101,
            Wdl::Draw => 0,
            Wdl::BlessedLoss => 101 - SAFE_WIN,
            Wdl::Loss => -SAFE_WIN,
        })
    }

    fn root_value(&self, rank: i32) -> Value {
        let safe = if self.fifty_moves { SAFE_WIN - 100 } else { 1 };
        match rank {
            0 => DRAW,
            _ if rank >= safe => TABLEBASE_WIN,
            _ if rank <= -safe => -TABLEBASE_WIN,
            // Draws by the fifty-move rule, with a small value toward the winning side.
            _ => rank.signum() * (rank.abs() - (SAFE_WIN - 200)).max(3),
        }
    }
}

/// Whether a position has occurred twice since the last capture or pawn move.
fn has_repeated(game: &Game) -> bool {
    let reversible = game.board().halfmove_clock() as usize + 1;
    let keys: Vec<u64> = game.keys().iter().rev().take(reversible).copied().collect();
    keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key))
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

#[cfg(test)]
mod tests;
