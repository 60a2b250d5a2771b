//! Progress on standard error: one line that changes on a terminal, plain lines now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use dyad_trainer::base::context::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Time between two plain lines, without a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// Time between two changes of the line on a terminal.
const LIVE_EVERY: Duration = Duration::from_millis(100);

/// Shows how far a command is.
pub struct ProgressDisplay {
    bar: Option<ProgressBar>,
    begun: Instant,
    shown: Option<Instant>,
}

impl ProgressDisplay {
    /// Nothing is shown yet.
    pub fn new() -> ProgressDisplay {
        ProgressDisplay::with_template("{spinner} {wide_msg} {elapsed}")
    }

    /// The same with a bar for [`ProgressDisplay::show_part`].
    pub fn with_bar() -> ProgressDisplay {
        ProgressDisplay::with_template("{spinner} [{bar:30}] {wide_msg} {elapsed}")
    }

    fn with_template(template: &str) -> ProgressDisplay {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(template).expect("the templates are fixed");
            let bar = ProgressBar::new_spinner().with_style(style.progress_chars("=> "));
            // The spinner moves also in a step that reports nothing for a while.
            bar.enable_steady_tick(LIVE_EVERY);
            bar
        });
        ProgressDisplay { bar, begun: Instant::now(), shown: None }
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows the state of the work, if the last one has been shown for a while.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        let every = if self.bar.is_some() { LIVE_EVERY } else { PLAIN_EVERY };
        if self.shown.unwrap_or(self.begun).elapsed() < every {
            return;
        }
        self.shown = Some(Instant::now());
        match &self.bar {
            Some(bar) => bar.set_message(line()),
            None => eprintln!("{}", line()),
        }
    }

    /// The same with the part of the work that is done.
    pub fn show_part(&mut self, Progress { done, of }: Progress, line: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_length(of);
            bar.set_position(done);
        }
        self.show(line);
    }

    /// Prints a line that stays.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Prints a line on standard output.
    pub fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| println!("{line}")),
            None => println!("{line}"),
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
