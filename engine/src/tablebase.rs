//! Endgame tables of the Syzygy kind: who wins, and how many plies it takes to the next capture or pawn move.
//!
//! The files are read by `shakmaty-syzygy`. They come from a user's disk, so any of them may be missing, cut or
//! damaged: a probe then finds nothing, the first fault is kept to be reported, and the search continues as without
//! tables. The crate would map files into memory, where a fault of the disk kills the program, and calls that unsafe;
//! here small files are read whole when they are first needed, which is as fast, and of the others what is asked for.

use crate::board::{Board, COLORS, ChessMove, Color, Game, PIECES};
use crate::value::{DRAW, TABLE_WIN, Value};
use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, FromSetup, Setup, Square};
use shakmaty_syzygy::filesystem::{Filesystem, OsFilesystem, RandomAccessFile, ReadHint};
use shakmaty_syzygy::{Dtz, ProbeError, SyzygyError};
use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use shakmaty_syzygy::Wdl;

/// Files up to this size are read whole. Those of three and four pieces are smaller, and most for five that tell who wins.
const READ_WHOLE: u64 = 4 << 20;

/// Who wins an ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The side of this color.
    Side(Color),
    /// It is a draw.
    Nobody,
}

/// A collection of tables, used by any number of threads.
pub struct Tablebase {
    tables: shakmaty_syzygy::Tablebase<Chess>,
    files: usize,
    faults: Mutex<Faults>,
}

/// The first fault of either kind that a probe met since it was asked for.
#[derive(Default)]
struct Faults {
    /// A table that is not there, which is none where nobody has all of them.
    missing: Option<String>,
    /// A table that is there and cannot be read.
    damage: Option<String>,
}

impl fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tablebase({} files, {} pieces)", self.files, self.pieces())
    }
}

/// The folders of a path: separated by `;`, and where a colon is no part of a path also by `:`.
fn folders(path: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let parts = if cfg!(windows) { &[';'][..] } else { &[';', ':'][..] };
    path.split(parts).map(str::trim).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

impl Tablebase {
    /// Finds the tables in the folders of `path`, separated by `;` or, but for Windows, by `:`. They are opened when they are
    /// first needed. Also says what is wrong: folders and files that cannot be read.
    #[must_use]
    pub fn open(path: &str) -> (Tablebase, Vec<String>) {
        let mut tables = shakmaty_syzygy::Tablebase::with_filesystem(Arc::new(Files(OsFilesystem::new())));
        let (mut files, mut faults) = (0, Vec::new());
        for folder in folders(path) {
            let mut fault = |path: &Path, error: &dyn fmt::Display| faults.push(format!("{}: {error}", path.display()));
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    fault(&folder, &error);
                    continue;
                }
            };
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_table(path)) {
                match tables.add_file(&path) {
                    Ok(()) => files += 1,
                    // The name is of no table.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                    Err(error) => fault(&path, &error),
                }
            }
        }
        (Tablebase { tables, files, faults: Mutex::default() }, faults)
    }

    /// The tables of a path where nothing may be wrong: for tools, which must not continue with less than they were given.
    ///
    /// # Errors
    /// The first fault, or that there are no tables.
    pub fn open_all(path: &str) -> Result<Tablebase, String> {
        let (tables, faults) = Tablebase::open(path);
        match faults.into_iter().next() {
            Some(fault) => Err(fault),
            None if tables.files() == 0 => Err(format!("there are no endgame tables in {path}")),
            None => Ok(tables),
        }
    }

    /// Number of files found.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files
    }

    /// The most pieces, kings included, that there is a table for; 0 without tables.
    #[must_use]
    pub fn pieces(&self) -> u32 {
        self.tables.max_pieces() as u32
    }

    /// The first fault that a probe met since this was asked last: a table that is damaged, or else one that is missing.
    pub fn take_fault(&self) -> Option<String> {
        let Faults { missing, damage } = std::mem::take(&mut *self.faults());
        damage.or(missing)
    }

    /// The first table that a probe found damaged since this was asked last.
    pub fn take_damage(&self) -> Option<String> {
        self.faults().damage.take()
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the tables can know the position: few pieces and no castling.
    #[inline]
    fn covers(&self, board: &Board) -> bool {
        board.occupied().popcnt() <= self.pieces() && COLORS.iter().all(|&color| !board.can_castle(color))
    }

    /// What the side to move can reach if a capture or a pawn move has just been made: a win or a loss that the fifty-move
    /// rule makes a draw is called cursed or blessed.
    #[must_use]
    pub fn wdl(&self, board: &Board) -> Option<Wdl> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        self.guard(|| self.tables.probe_wdl_after_zeroing(&position))
    }

    /// Plies to the next capture or pawn move, or the mate, of the side that wins: negative where the side to move loses,
    /// 0 for a draw, beyond 100 where the fifty-move rule makes it one. May be one too small.
    #[must_use]
    pub fn dtz(&self, board: &Board) -> Option<i32> {
        let position = Some(board).filter(|board| self.covers(board)).and_then(position)?;
        self.guard(|| self.tables.probe_dtz(&position)).map(|dtz| dtz.ignore_rounding().0)
    }

    /// Who wins with best play, the fifty-move rule and the plies on its clock considered.
    #[must_use]
    pub fn winner(&self, board: &Board) -> Option<Winner> {
        let us = board.side_to_move();
        let clock = board.halfmove_clock() as i32;
        let in_time = |dtz: i32| dtz.abs() + clock <= 100;
        Some(match self.wdl(board)? {
            Wdl::Win if clock == 0 || in_time(self.dtz(board)?) => Winner::Side(us),
            Wdl::Loss if clock == 0 || in_time(self.dtz(board)?) => Winner::Side(!us),
            _ => Winner::Nobody,
        })
    }

    /// What a probe finds. A fault in the file is none of the search: it is noted.
    fn guard<T>(&self, probe: impl FnOnce() -> Result<T, SyzygyError>) -> Option<T> {
        // The crate checks what it reads, but a file could bring it to its knees that nobody has thought of.
        let fault = match catch_unwind(AssertUnwindSafe(probe)) {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(SyzygyError::ProbeFailed { metric, material, error })) => match *error {
                ProbeError::CorruptedTable { .. } => format!("the {metric} table {material} is damaged"),
                other => format!("the {metric} table {material} cannot be read: {other}"),
            },
            Ok(Err(error)) => {
                self.faults().missing.get_or_insert_with(|| error.to_string());
                return None;
            }
            Err(_) => "a table is damaged".to_string(),
        };
        self.faults().damage.get_or_insert(fault);
        None
    }
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rtbw" || extension == "rtbz")
}

/// The position as the crate knows it.
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
    // Any check is possible here that a valid board can show.
    match Chess::from_setup(setup, CastlingMode::Chess960) {
        Ok(position) => Some(position),
        Err(error) => error.ignore_impossible_check().ok(),
    }
}

/// How a search uses tables.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The tables.
    pub base: Arc<Tablebase>,
    /// Depth from which positions with as many pieces as allowed are looked up. Those with fewer always are.
    pub depth: i32,
    /// The most pieces of a position that is looked up.
    pub pieces: u32,
    /// Whether the fifty-move rule holds.
    pub fifty_moves: bool,
}

/// The moves at the root as the tables rank them, the best first; there is one at least.
#[derive(Clone, Debug)]
pub(crate) struct RootMoves {
    pub(crate) moves: Vec<RankedMove>,
    /// Whether every move's way to the next capture or pawn move is known, so that the search needs no tables to get on.
    pub(crate) complete: bool,
}

/// A move at the root that the tables know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedMove {
    pub(crate) mv: ChessMove,
    /// Moves of one rank are equally good as far as the tables know, those of a higher one are better.
    pub(crate) rank: i32,
    /// What the tables say of it.
    pub(crate) value: Value,
}

impl RootMoves {
    /// The best of them.
    pub(crate) fn best(&self) -> RankedMove {
        self.moves[0]
    }

    /// Leaves out all that are worse than the best.
    pub(crate) fn keep_best(&mut self) {
        let best = self.best().rank;
        self.moves.retain(|ranked| ranked.rank == best);
    }
}

/// Rank of a win that is sure; those below are nearer to the fifty-move rule. As in Stockfish's root probing.
const SURE: i32 = 1 << 18;

impl Tables {
    /// Looks into all tables at any depth, under the fifty-move rule.
    #[must_use]
    pub fn new(base: Arc<Tablebase>) -> Tables {
        Tables { base, depth: 1, pieces: u32::MAX, fifty_moves: true }
    }

    /// Whether positions of so many pieces are looked up at this depth.
    #[inline]
    pub(crate) fn allow(&self, pieces: u32, depth: i32) -> bool {
        let most = self.most();
        pieces < most || (pieces == most && depth >= self.depth)
    }

    #[inline]
    fn most(&self) -> u32 {
        self.pieces.min(self.base.pieces())
    }

    /// What a search takes the tables' word for, `ply` plies from the root.
    #[must_use]
    pub(crate) fn value(&self, board: &Board, ply: usize) -> Option<Value> {
        let win = TABLE_WIN - ply as Value;
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

    /// These moves, or all legal ones if there are none here, by rank; nothing if the tables do not know.
    pub(crate) fn root_moves(&self, game: &Game, among: &[ChessMove]) -> Option<RootMoves> {
        let board = game.board();
        if board.occupied().popcnt() > self.most() || !self.base.covers(board) {
            return None;
        }
        let wanted = |mv: &&ChessMove| among.is_empty() || among.contains(mv);
        let moves: Vec<ChessMove> = board.moves().iter().filter(wanted).copied().collect();
        let ranks = |rank: &dyn Fn(ChessMove) -> Option<i32>| -> Option<Vec<i32>> {
            moves.iter().map(|&mv| rank(mv)).collect()
        };
        let repeated = has_repeated(game);
        let by_plies = ranks(&|mv| self.rank(game, mv, repeated));
        let complete = by_plies.is_some();
        let ranks = by_plies.or_else(|| ranks(&|mv| self.rank_by_result(board, mv)))?;
        let ranked = moves.into_iter().zip(ranks);
        let mut moves: Vec<_> =
            ranked.map(|(mv, rank)| RankedMove { mv, rank, value: self.root_value(rank) }).collect();
        moves.sort_by_key(|ranked| -ranked.rank);
        (!moves.is_empty()).then_some(RootMoves { moves, complete })
    }

    /// How good a move is: by the result under the fifty-move rule, and where that is in danger by the plies it takes.
    fn rank(&self, game: &Game, mv: ChessMove, repeated: bool) -> Option<i32> {
        let after = game.board().after(mv);
        let clock = game.board().halfmove_clock() as i32;
        let reversible = game.keys().iter().rev().take(after.halfmove_clock() as usize);
        let stood = reversible.filter(|&&key| key == after.key()).count();
        let mates = after.in_check() && !after.has_legal_move();
        let plies = if mates {
            1
        } else if after.halfmove_clock() == 0 {
            Dtz::before_zeroing(-self.base.wdl(&after)?).0
        } else if stood >= 2 || after.halfmove_clock() >= 100 {
            0
        } else {
            let plies = -self.base.dtz(&after)?;
            plies + plies.signum()
        };
        Some(match plies {
            1.. if plies + clock <= 99 && !repeated => SURE,
            1.. => SURE - (plies + clock),
            0 => 0,
            _ if clock - 2 * plies < 100 => -SURE,
            _ => clock - plies - SURE,
        })
    }

    /// The same without the tables of plies.
    fn rank_by_result(&self, board: &Board, mv: ChessMove) -> Option<i32> {
        Some(match -self.base.wdl(&board.after(mv))? {
            Wdl::Win => SURE,
            Wdl::CursedWin => SURE - 101,
            Wdl::Draw => 0,
            Wdl::BlessedLoss => 101 - SURE,
            Wdl::Loss => -SURE,
        })
    }

    fn root_value(&self, rank: i32) -> Value {
        let sure = if self.fifty_moves { SURE - 100 } else { 1 };
        match rank {
            0 => DRAW,
            _ if rank >= sure => TABLE_WIN,
            _ if rank <= -sure => -TABLE_WIN,
            // Nearly won, and nearly lost.
            _ => rank.signum() * (rank.abs() - (SURE - 200)).max(3),
        }
    }
}

/// Whether a position has stood twice since the last capture or pawn move: progress is due.
fn has_repeated(game: &Game) -> bool {
    let reversible = game.board().halfmove_clock() as usize + 1;
    let keys: Vec<u64> = game.keys().iter().rev().take(reversible).copied().collect();
    keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key))
}

/// Table files: small ones are read whole when they are opened.
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
