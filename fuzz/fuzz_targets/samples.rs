//! Run by `fuzz/run samples`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dyad_fuzz::check("samples", input));
