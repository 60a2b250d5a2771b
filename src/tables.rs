//! The options of Syzygy tablebases, and the search for their files.
//!
//! Listing folders on a slow disk takes long, and `isready` must be answered at once. So a separate thread lists them.
//! One search waits for it, only for a small part of its time.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};
use dyad_engine::control::Control;
use dyad_engine::engine::bounds;
use dyad_engine::search::{Limits, Options};
use dyad_engine::tablebase::{Tablebase, Tables};

use crate::paths::expand_home;

/// Most pieces of the Syzygy tablebases.
pub const MOST_PIECES: i64 = 7;

/// The longest time that a search waits for the folders; then it starts without tables.
const PATIENCE: Duration = Duration::from_secs(1);
/// A search with a clock waits for at most its soft time bound divided by this.
const SHARE: u32 = 20;
/// A search does not wait at all for a shorter time than this.
const SHORTEST: Duration = Duration::from_millis(10);

/// The longest time that a search with these limits waits for tables.
pub fn patience(limits: &Limits, options: &Options) -> Duration {
    let time = bounds(limits, options).map_or(PATIENCE, |bounds| PATIENCE.min(bounds.soft / SHARE));
    if time < SHORTEST { Duration::ZERO } else { time }
}

/// The options of tablebases, and the tables found.
#[derive(Clone, Debug)]
pub struct TablesChoice {
    path: String,
    search: Option<Receiver<(Tablebase, Vec<String>)>>,
    /// Whether a search has waited for the tables without success.
    waited: bool,
    found: Option<Arc<Tablebase>>,
    /// `SyzygyProbeDepth`: smallest depth to probe positions with `pieces` pieces.
    pub depth: i32,
    /// `SyzygyProbeLimit`: most pieces of positions to probe.
    pub pieces: u32,
    /// `Syzygy50MoveRule`.
    pub fifty_moves: bool,
}

impl Default for TablesChoice {
    fn default() -> TablesChoice {
        TablesChoice {
            path: String::new(),
            search: None,
            waited: false,
            found: None,
            depth: 1,
            pieces: MOST_PIECES as u32,
            fifty_moves: true,
        }
    }
}

impl TablesChoice {
    /// Starts to look for tables in the folders of this path. The next search reports the result. The same path again
    /// repeats the search if no table was found before.
    ///
    /// # Errors
    /// When there is no thread to look for them.
    pub fn set_path(&mut self, path: &str) -> Result<(), String> {
        if path == self.path && (path.is_empty() || self.search.is_some() || self.found.is_some()) {
            return Ok(());
        }
        *self = TablesChoice { path: path.to_string(), search: None, waited: false, found: None, ..*self };
        if !path.is_empty() {
            let (sender, receiver) = bounded(1);
            let folders = path.split(';').map(|folder| expand_home(folder).display().to_string());
            let path = folders.collect::<Vec<_>>().join(";");
            let body = move || drop(sender.send(Tablebase::open(&path)));
            let spawned = thread::Builder::new().name("tables".to_string()).spawn(body);
            spawned.map_err(|error| format!("no thread to look for tables: {error}"))?;
            self.search = Some(receiver);
        }
        Ok(())
    }

    /// The tables for a search that waits at most `patience` for them, if there are any. The first call after they are
    /// found reports their number.
    pub fn tables(
        &mut self,
        patience: Duration,
        control: &Control,
        print: &mut (dyn FnMut(String) + Send),
    ) -> Option<Tables> {
        if let Some(search) = &self.search {
            let patience = if self.waited { Duration::ZERO } else { patience };
            match receive(search, patience, control) {
                Some((tables, faults)) => {
                    let (files, pieces) = (tables.files(), tables.pieces());
                    print(format!("info string SyzygyPath: {files} tables of up to {pieces} pieces"));
                    report(&faults, print);
                    self.found = Some(Arc::new(tables)).filter(|_| files > 0);
                    self.search = None;
                }
                None => {
                    self.waited |= !patience.is_zero();
                    print("info string SyzygyPath: still looking, this search goes without tables".to_string());
                }
            }
        }
        let base = Arc::clone(self.found.as_ref()?);
        Some(Tables { base, depth: self.depth, pieces: self.pieces, fifty_moves: self.fifty_moves })
    }

    /// Reports an error of the tables during a search.
    pub fn report_error(&self, print: &mut (dyn FnMut(String) + Send)) {
        if let Some(fault) = self.found.as_ref().and_then(|tables| tables.take_error()) {
            print(format!("info string SyzygyPath: {fault}"));
        }
    }
}

fn receive<T>(search: &Receiver<T>, patience: Duration, control: &Control) -> Option<T> {
    /// Time between two checks for a stop.
    const STEP: Duration = Duration::from_millis(10);
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match search.recv_timeout(left.min(STEP)) {
            Ok(found) => return Some(found),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() && !control.stopped() => {}
            Err(_) => return None,
        }
    }
}

/// Reports the first faults, and the number of the others.
fn report(faults: &[String], print: &mut (dyn FnMut(String) + Send)) {
    const MOST: usize = 3;
    faults
        .iter()
        .take(MOST)
        .for_each(|fault| print(format!("info string SyzygyPath: {fault}").replace(char::is_control, " ")));
    if faults.len() > MOST {
        print(format!("info string SyzygyPath: and {} more faults", faults.len() - MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::search::Clock;

    #[test]
    fn a_search_waits_for_a_small_part_of_its_time() {
        let (ms, options) = (Duration::from_millis, Options::default());
        let clock = |remaining| Limits {
            clock: Some(Clock { remaining: ms(remaining), ..Clock::default() }),
            ..Limits::default()
        };
        let movetime = |time| Limits { movetime: Some(ms(time)), ..Limits::default() };
        for limits in [clock(100), clock(500), clock(3000), movetime(1), movetime(100)] {
            assert_eq!(patience(&limits, &options), Duration::ZERO, "{limits:?}");
        }
        let waits = patience(&clock(180_000), &options);
        assert!(waits > SHORTEST && waits < ms(500), "{waits:?}");
        for limits in [Limits::depth(3), movetime(3_600_000), Limits { infinite: true, ..Limits::default() }] {
            assert_eq!(patience(&limits, &options), PATIENCE, "{limits:?}");
        }
    }

    #[test]
    fn only_one_search_waits_and_later_ones_take_what_was_found() {
        let (sender, search) = bounded(1);
        let mut choice = TablesChoice { search: Some(search), ..TablesChoice::default() };
        let mut said = Vec::new();
        let mut tables = |choice: &mut TablesChoice, patience| {
            choice.tables(patience, &Control::new(false), &mut |line| said.push(line)).is_some()
        };
        assert!(!tables(&mut choice, Duration::ZERO) && !choice.waited);
        assert!(!tables(&mut choice, Duration::from_millis(1)) && choice.waited);
        // It would wait for longer than anybody tests.
        assert!(!tables(&mut choice, Duration::from_secs(3600)));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/syzygy");
        sender.send(Tablebase::open(path)).unwrap();
        assert!(tables(&mut choice, Duration::ZERO) && choice.search.is_none());
        assert!(said[..3].iter().all(|line| line.contains("still looking")), "{said:?}");
        assert!(said[3].contains("tables of up to 3 pieces"), "{said:?}");
    }
}
