//! In place of `syzygy` in a build without tables.

use crate::board::Board;

/// No tables.
pub struct Tablebase;

impl Tablebase {
    /// Says for each path that there are no tables.
    pub fn open(path: &str) -> (Tablebase, Vec<String>) {
        (Tablebase, vec![format!("{path}: this program is built without endgame tables")])
    }

    /// Number of files: 0.
    pub fn files(&self) -> usize {
        0
    }

    /// Largest number of pieces: 0.
    pub fn pieces(&self) -> u32 {
        0
    }

    /// No probe fails, since none is made.
    pub fn take_error(&self) -> Option<String> {
        None
    }

    pub(crate) fn wdl(&self, _: &Board) -> Option<i32> {
        None
    }

    pub(super) fn most_plies(&self, _: &Board) -> Option<i32> {
        None
    }
}
