//! Hash functions whose values never change: files and seeds depend on them.

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64-bit words in which every input bit
/// affects every output bit.
pub const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(GOLDEN);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// 2^64 divided by the golden ratio, odd: the multiplier of Fibonacci hashing. Also the increment of SplitMix64, whose
/// output is `mix(state)`, `mix(state + GOLDEN)`, ...
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_never_change() {
        // The first outputs of SplitMix64 seeded with 0, as published with the reference code.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(GOLDEN), 0x6E78_9E6A_A1B9_65F4);
    }
}
