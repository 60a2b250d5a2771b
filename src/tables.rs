//! The options of Syzygy tablebases.

use std::sync::Arc;

use dyad_engine::tablebase::{Tablebase, Tables};

use crate::paths::expand_home;

/// Most pieces of the Syzygy tablebases.
pub const MOST_PIECES: i64 = 7;
/// Most unreadable folders and files that a note names.
const MOST_FAULTS: usize = 3;

/// The options of tablebases, and the tables found.
#[derive(Clone, Debug)]
pub struct TablesChoice {
    path: String,
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
        TablesChoice { path: String::new(), found: None, depth: 1, pieces: MOST_PIECES as u32, fifty_moves: true }
    }
}

impl TablesChoice {
    /// Looks for tables in the folders of this path, and returns a note of what is found. The same path again repeats
    /// this if no table was found before.
    pub fn set_path(&mut self, path: &str) -> Option<String> {
        if path == self.path && (path.is_empty() || self.found.is_some()) {
            return None;
        }
        (self.path, self.found) = (path.to_string(), None);
        if path.is_empty() {
            return None;
        }
        let folders = path.split(';').map(|folder| expand_home(folder).display().to_string());
        let (tables, faults) = Tablebase::open(&folders.collect::<Vec<_>>().join(";"));
        let mut note = format!("{} tables of up to {} pieces", tables.files(), tables.pieces());
        faults.iter().take(MOST_FAULTS).for_each(|fault| note += &format!("; {fault}"));
        if faults.len() > MOST_FAULTS {
            note += &format!("; and {} more faults", faults.len() - MOST_FAULTS);
        }
        self.found = Some(Arc::new(tables)).filter(|tables| tables.files() > 0);
        Some(note)
    }

    /// The tables for a search, if there are any.
    pub fn tables(&self) -> Option<Tables> {
        let base = Arc::clone(self.found.as_ref()?);
        Some(Tables { base, depth: self.depth, pieces: self.pieces, fifty_moves: self.fifty_moves })
    }

    /// An error of the tables during a search.
    pub fn take_error(&self) -> Option<String> {
        self.found.as_ref()?.take_error()
    }
}
