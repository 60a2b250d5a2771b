//! Run by `fuzz/run uci`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("uci", input));
