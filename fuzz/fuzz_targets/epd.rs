//! Run by `fuzz/run epd`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("epd", input));
