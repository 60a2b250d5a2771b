//! Run by `fuzz/run checkpoint`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("checkpoint", input));
