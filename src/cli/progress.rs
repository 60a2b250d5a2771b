//! Progress on standard error: one line that changes on a terminal, plain lines now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Without a terminal a line is printed at most so often.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// On a terminal the line changes at most so often.
const LIVE_EVERY: Duration = Duration::from_millis(100);

/// Shows how far a job is.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn new() -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
            let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            // A stage that tells nothing for a while is seen to be alive.
            bar.enable_steady_tick(LIVE_EVERY);
            bar
        });
        Progress { bar, begun: Instant::now(), shown: None }
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows where the job is, if it is time to.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        let every = if self.bar.is_some() { LIVE_EVERY } else { PLAIN_EVERY };
        if self.shown.unwrap_or(self.begun).elapsed() < every {
            return;
        }
        self.shown = Some(Instant::now());
        match &self.bar {
            Some(bar) => {
                bar.set_message(line());
            }
            None => eprintln!("{}", line()),
        }
    }

    /// Prints a line that stays.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
