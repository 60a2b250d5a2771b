//! Run by `fuzz/run fen`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("fen", input));
