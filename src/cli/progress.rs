//! Progress on standard error: one line that changes on a terminal, plain lines now and then elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// Time between two plain lines, without a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// Time between two changes of the line on a terminal.
const LIVE_EVERY: Duration = Duration::from_millis(100);

/// Shows how far a command is.
pub struct ProgressDisplay {
    is_live: bool,
    begun: Instant,
    shown: Option<Instant>,
}

impl ProgressDisplay {
    /// Nothing is shown yet.
    pub fn new() -> ProgressDisplay {
        ProgressDisplay { is_live: stderr().is_terminal(), begun: Instant::now(), shown: None }
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows the state of the work, if the last one has been shown for a while.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        let every = if self.is_live { LIVE_EVERY } else { PLAIN_EVERY };
        if self.shown.unwrap_or(self.begun).elapsed() < every {
            return;
        }
        self.shown = Some(Instant::now());
        match self.is_live {
            true => ProgressDisplay::write(&format!("{}  {}", clock(self.elapsed().as_secs_f64()), line())),
            false => eprintln!("{}", line()),
        }
    }

    /// Prints a line that stays.
    pub fn say(&self, line: &str) {
        self.clear();
        eprintln!("{line}");
    }

    /// Prints a line on standard output.
    pub fn print(&self, line: &str) {
        self.clear();
        println!("{line}");
    }

    fn clear(&self) {
        if self.is_live && self.shown.is_some() {
            ProgressDisplay::write("");
            eprint!("\r");
        }
    }

    /// Writes over the line of the terminal. In the last column some terminals would begin a new one.
    fn write(line: &str) {
        let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let width = width.saturating_sub(1);
        eprint!("\r{line:width$.width$}");
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Seconds as h:mm:ss.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
