//! Fuzz targets for everything that Dyad reads.
//!
//! UCI lines, games, weights, samples, checkpoints and training states come from other programs, full disks and text
//! editors. A [`Target`] is one kind of input: a check that takes any bytes, and seeds. A check fails by a panic. It
//! does more than not crash: accepted input must be consistent, so a position is written and read again unchanged, and
//! its moves are those of another library.
//!
//! `fuzz/run TARGET` runs the checks with `cargo fuzz`, which needs a nightly toolchain. `tests/twins.rs` damages the
//! seeds at random for some seconds on any toolchain. Checksums would reject nearly all damaged input, so the checks of
//! binary formats also try each input with its checksums repaired.

mod binary;
mod text;

use std::collections::BTreeMap;

#[allow(dead_code, reason = "modules of the program; these checks use their parsers alone")]
#[path = "../../src/uci"]
mod uci {
    pub mod command;
    pub mod go;
}

/// One kind of input.
pub struct Target {
    /// Name of the `cargo fuzz` target.
    pub name: &'static str,
    /// Panics if the input shows a bug.
    pub check: fn(&[u8]),
    /// Valid and nearly valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Damaged inputs in a run of the tests.
    pub cases: usize,
}

impl Target {
    /// Dictionary for mutations.
    ///
    /// # Panics
    /// Never: the file is part of the program.
    pub fn words(&self) -> Vec<String> {
        let mut all: BTreeMap<String, Vec<String>> =
            serde_json::from_str(include_str!("../seeds/words.json")).expect("lists of words");
        let list = if ["weights", "checkpoint", "state"].contains(&self.name) { "json" } else { self.name };
        all.remove(list).unwrap_or_default()
    }
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    Target { name: "fen", check: text::fen, seeds: text::fen_seeds, cases: 20_000 },
    Target { name: "uci", check: text::uci, seeds: text::uci_seeds, cases: 20_000 },
    Target { name: "pgn", check: text::pgn, seeds: text::pgn_seeds, cases: 4_000 },
    Target { name: "epd", check: text::epd, seeds: text::epd_seeds, cases: 20_000 },
    Target { name: "weights", check: binary::weights, seeds: binary::weights_seeds, cases: 1_000 },
    Target { name: "samples", check: binary::samples, seeds: binary::samples_seeds, cases: 2_000 },
    Target { name: "checkpoint", check: binary::checkpoint, seeds: binary::checkpoint_seeds, cases: 200 },
    Target { name: "state", check: binary::state, seeds: binary::state_seeds, cases: 150 },
];

/// Runs the check of a target.
///
/// # Panics
/// If the input shows a bug, or there is no such target.
pub fn check(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    (target.check)(input);
}
