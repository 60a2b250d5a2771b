//! Printing of the tools, also to an output that cannot be written.
//!
//! The macros of the standard library panic when they cannot write: with `| head`, or when a log fills the disk, a tool
//! would end in the middle of its work, and a match or a training would lose results. The macros of the same names here
//! continue. A closed pipe is no error; any other failure of standard output fails the tool at the end of its work.

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
    record(stdout.write_fmt(text).and_then(|()| stdout.flush()));
}

/// Records the first failure, for [`failure`].
pub(super) fn record(written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && let Ok(mut failed) = FAILED.lock()
    {
        failed.get_or_insert(error);
    }
}

/// Writes to standard error. A failure is ignored: it cannot be reported.
pub(super) fn complain(text: Arguments) {
    let _ = stderr().lock().write_fmt(text);
}

/// The reason why printed text was lost, if any.
pub(super) fn failure() -> Option<std::io::Error> {
    FAILED.lock().ok()?.take()
}
