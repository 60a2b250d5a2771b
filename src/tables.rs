//! The options of endgame tables, and how they are found.
//!
//! On a slow disk it takes long to look through folders, and a GUI must have its answer to `isready` at once. So they are
//! looked through on a thread of their own, and a search waits for it a moment at most.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};
use dyad_engine::control::Control;
use dyad_engine::tablebase::{Tablebase, Tables};

/// The most pieces there are tables for.
pub const MOST_PIECES: i64 = 7;

/// A search waits so long for folders to be looked through, and goes without tables then.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the user has chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    path: String,
    search: Option<Receiver<(Tablebase, Vec<String>)>>,
    found: Option<Arc<Tablebase>>,
    /// Depth from which positions with as many pieces as allowed are looked up.
    pub depth: i32,
    /// The most pieces.
    pub pieces: u32,
    /// Whether the fifty-move rule holds.
    pub fifty_moves: bool,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice {
            path: String::new(),
            search: None,
            found: None,
            depth: 1,
            pieces: MOST_PIECES as u32,
            fifty_moves: true,
        }
    }
}

impl Choice {
    /// Looks for tables in the folders of this path from now on. What is found is told by the next search.
    ///
    /// # Errors
    /// When there is no thread to look for them.
    pub fn set_path(&mut self, path: &str) -> Result<(), String> {
        if path == self.path {
            return Ok(());
        }
        *self = Choice { path: path.to_string(), search: None, found: None, ..*self };
        if !path.is_empty() {
            let (sender, receiver) = bounded(1);
            let path = path.to_string();
            let body = move || drop(sender.send(Tablebase::open(&path)));
            let spawned = thread::Builder::new().name("tables".to_string()).spawn(body);
            spawned.map_err(|error| format!("no thread to look for tables: {error}"))?;
            self.search = Some(receiver);
        }
        Ok(())
    }

    /// The tables for a search, if there are any; says what was found when they are asked for the first time.
    pub fn tables(&mut self, control: &Control, say: &mut (dyn FnMut(String) + Send)) -> Option<Tables> {
        if let Some(search) = &self.search {
            match receive(search, control) {
                Some((tables, faults)) => {
                    let (files, pieces) = (tables.files(), tables.pieces());
                    say(format!("info string SyzygyPath: {files} tables of up to {pieces} pieces"));
                    tell(&faults, say);
                    self.found = Some(Arc::new(tables)).filter(|_| files > 0);
                    self.search = None;
                }
                None => say("info string SyzygyPath: still looking, this search goes without tables".to_string()),
            }
        }
        let base = Arc::clone(self.found.as_ref()?);
        Some(Tables { base, depth: self.depth, pieces: self.pieces, fifty_moves: self.fifty_moves })
    }

    /// Says what was wrong with the tables in a search.
    pub fn tell_fault(&self, say: &mut (dyn FnMut(String) + Send)) {
        if let Some(fault) = self.found.as_ref().and_then(|tables| tables.take_fault()) {
            say(format!("info string SyzygyPath: {fault}"));
        }
    }
}

fn receive(search: &Receiver<(Tablebase, Vec<String>)>, control: &Control) -> Option<(Tablebase, Vec<String>)> {
    let end = Instant::now() + PATIENCE;
    loop {
        match search.recv_timeout(Duration::from_millis(10)) {
            Ok(found) => return Some(found),
            Err(RecvTimeoutError::Timeout) if Instant::now() < end && !control.stopped() => {}
            Err(_) => return None,
        }
    }
}

/// The first faults, and how many more there are.
fn tell(faults: &[String], say: &mut (dyn FnMut(String) + Send)) {
    const MOST: usize = 3;
    faults
        .iter()
        .take(MOST)
        .for_each(|fault| say(format!("info string SyzygyPath: {fault}").replace(char::is_control, " ")));
    if faults.len() > MOST {
        say(format!("info string SyzygyPath: and {} more faults", faults.len() - MOST));
    }
}
