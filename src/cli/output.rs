//! What the tools print, and what becomes of it where nobody can read it.
//!
//! The standard's macros panic when they cannot write: behind `| head`, or where a log fills the disk, a tool would end
//! in the middle of its work, and a match or a training lose what it found. Those of the same names here go on. A
//! reader who went away has seen enough; any other failure of standard output fails the tool, when its work is done.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::sync::Mutex;

/// The first failure.
static FAILED: Mutex<Option<std::io::Error>> = Mutex::new(None);

macro_rules! print {
    ($($text:tt)*) => { $crate::cli::output::print(format_args!($($text)*)) };
}

macro_rules! println {
    ($($text:tt)*) => { $crate::cli::output::print(format_args!("{}\n", format_args!($($text)*))) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::output::complain(format_args!("{}\n", format_args!($($text)*))) };
}

/// Writes to standard output.
pub(super) fn print(text: Arguments) {
    let mut stdout = stdout().lock();
    if let Err(error) = stdout.write_fmt(text).and_then(|()| stdout.flush())
        && error.kind() != ErrorKind::BrokenPipe
        && let Ok(mut failed) = FAILED.lock()
    {
        failed.get_or_insert(error);
    }
}

/// Writes to standard error. Where that cannot be done there is nobody to tell.
pub(super) fn complain(text: Arguments) {
    let _ = stderr().lock().write_fmt(text);
}

/// Why something that was printed is lost, if it is.
pub(super) fn failure() -> Option<std::io::Error> {
    FAILED.lock().ok()?.take()
}
