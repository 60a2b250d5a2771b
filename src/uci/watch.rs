//! The watch thread ends the program after a signal, or when standard output is closed.
//!
//! It is a separate thread because the event loop may be blocked in a write.

use std::io;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, unbounded};

/// Interval between two polls of the pipes.
const INTERVAL: Duration = Duration::from_millis(200);
/// The longest time that a write may block after `quit` or the end of input.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest time that a write may block after a signal.
const SIGNAL_PATIENCE: Duration = Duration::from_millis(600);

/// The state of standard input and output, for the watch thread.
#[derive(Default)]
pub struct Pipes {
    /// Number of lines that were written, including the current one.
    lines: AtomicU64,
    /// Whether a line is being written.
    writing: AtomicBool,
    /// Whether `quit` or the end of input was read.
    ending: AtomicBool,
    /// Whether a signal asked the program to end.
    signaled: AtomicBool,
}

impl Pipes {
    /// Calls `write`, which writes a line.
    pub fn while_writing<T>(&self, write: impl FnOnce() -> T) -> T {
        self.lines.fetch_add(1, Relaxed);
        self.writing.store(true, Relaxed);
        let written = write();
        self.writing.store(false, Relaxed);
        written
    }

    /// Notes that `quit` or the end of input was read.
    pub fn note_end(&self) {
        self.ending.store(true, Relaxed);
    }

    /// The longest time that a write may block; `None` for no limit.
    fn patience(&self) -> Option<Duration> {
        match (self.signaled.load(Relaxed), self.ending.load(Relaxed) || is_input_closed()) {
            (true, _) => Some(SIGNAL_PATIENCE),
            (false, true) => Some(PATIENCE),
            (false, false) => None,
        }
    }
}

/// Starts the watch thread. It sends a message when the program has to end: after a signal, or when standard output is
/// closed.
///
/// A second signal ends the program at once, and so does an output that stays blocked at the end of the program.
///
/// # Errors
/// When the system has no thread.
pub fn start(pipes: &Arc<Pipes>) -> io::Result<Receiver<()>> {
    let (sender, receiver) = unbounded();
    let (watched, signals) = (Arc::clone(pipes), sender.clone());
    // Without the handler a signal ends the program at once.
    let handler = move || {
        if watched.signaled.swap(true, Relaxed) {
            exit(130);
        }
        signals.send(()).ok();
    };
    ctrlc::set_handler(handler).ok();
    let watched = Arc::clone(pipes);
    let body = move || watch(&watched, &sender);
    thread::Builder::new().name("watch".to_string()).spawn(body)?;
    Ok(receiver)
}

fn watch(pipes: &Pipes, closed: &Sender<()>) -> ! {
    let (mut lines, mut since) = (0, Instant::now());
    let mut open = true;
    loop {
        thread::sleep(INTERVAL);
        if open && is_output_closed() {
            open = false;
            closed.send(()).ok();
        }
        let begun = pipes.lines.load(Relaxed);
        match pipes.patience() {
            Some(patience) if pipes.writing.load(Relaxed) && begun == lines => {
                if since.elapsed() > patience {
                    exit(1);
                }
            }
            _ => (lines, since) = (begun, Instant::now()),
        }
    }
}

/// Whether the reading end of standard output is closed.
fn is_output_closed() -> bool {
    #[cfg(unix)]
    return is_hung_up(std::io::stdout());
    #[cfg(not(unix))]
    false
}

/// Whether the writing end of standard input is closed; there may still be lines to read.
fn is_input_closed() -> bool {
    #[cfg(unix)]
    return is_hung_up(std::io::stdin());
    #[cfg(not(unix))]
    false
}

#[cfg(unix)]
fn is_hung_up(pipe: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = [PollFd::new(&pipe, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok() && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}
