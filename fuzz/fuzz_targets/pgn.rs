//! Run by `fuzz/run pgn`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("pgn", input));
