//! Run by `fuzz/run weights`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("weights", input));
