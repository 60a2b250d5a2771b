//! Everything that Dyad reads, given what it should not be given.
//!
//! Lines from a GUI, games, weights, samples, checkpoints and the state of a self-training come from other programs,
//! from full disks and from people with editors. A [`Target`] is one of these inputs: a check that takes any bytes, and
//! seeds to begin with. A check fails by a panic. It asks for more than survival: what is accepted must be consistent, so a
//! position that was read is written and read again as the same one, and its moves are those of another library.
//!
//! The checks run in two ways. `fuzz/run TARGET` has `cargo fuzz` look for bytes that reach new code, for as long as
//! somebody wants; that needs a nightly toolchain. `tests/twins.rs` damages the seeds at random for some seconds, on any
//! toolchain, with all other tests. A checksum would stop both at the door of the binary formats, so their checks
//! also try the bytes with the checksums put right.

mod binary;
mod text;

#[allow(dead_code, reason = "modules of the program; only their parsers are called here")]
#[path = "../../src/uci"]
mod uci {
    pub mod command;
    pub mod go;
}

/// One kind of input.
pub struct Target {
    /// What `cargo fuzz` calls it.
    pub name: &'static str,
    /// Panics where the input shows a fault.
    pub check: fn(&[u8]),
    /// Valid inputs, and some that are nearly so.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// What such inputs are made of.
    pub words: &'static [&'static str],
}

/// All of them.
pub const TARGETS: [Target; 8] = [
    Target { name: "fen", check: text::fen, seeds: text::fen_seeds, words: &text::FEN_WORDS },
    Target { name: "uci", check: text::uci, seeds: text::uci_seeds, words: &text::UCI_WORDS },
    Target { name: "pgn", check: text::pgn, seeds: text::pgn_seeds, words: &text::PGN_WORDS },
    Target { name: "epd", check: text::epd, seeds: text::epd_seeds, words: &text::EPD_WORDS },
    Target { name: "weights", check: binary::weights, seeds: binary::weights_seeds, words: &binary::JSON_WORDS },
    Target { name: "samples", check: binary::samples, seeds: binary::samples_seeds, words: &[] },
    Target {
        name: "checkpoint",
        check: binary::checkpoint,
        seeds: binary::checkpoint_seeds,
        words: &binary::JSON_WORDS,
    },
    Target { name: "state", check: binary::state, seeds: binary::state_seeds, words: &binary::JSON_WORDS },
];

/// Checks an input of the target of this name.
///
/// # Panics
/// If the input shows a fault, or there is no such target.
pub fn check(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    (target.check)(input);
}
