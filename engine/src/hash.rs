//! Hash functions whose values never change: files and seeds depend on them.
//!
//! The split of games into training and test, the sampling of positions and the identity of a data set must come out the
//! same on every machine and with every later version of a crate, so they do not use a hasher of the standard library.

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

/// Takes one more word into a running hash; the order of words matters.
pub fn fold(hash: u64, word: u64) -> u64 {
    mix(hash.rotate_left(23) ^ word)
}

/// Takes text into a running hash.
pub fn fold_text(hash: u64, text: &str) -> u64 {
    text.bytes().fold(fold(hash, text.len() as u64), |hash, byte| fold(hash, u64::from(byte)))
}

/// A hash as a number from 0 (included) to 1 (excluded).
pub fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_never_change() {
        // The first outputs of SplitMix64 seeded with 0, as published with the reference code.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(GOLDEN), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn order_and_length_matter() {
        assert_ne!(fold(fold(0, 1), 2), fold(fold(0, 2), 1));
        assert_ne!(fold_text(fold_text(0, "ab"), "c"), fold_text(fold_text(0, "a"), "bc"));
    }

    #[test]
    fn units_fill_the_interval() {
        let mean = (0..10_000).map(|i| unit(mix(i))).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(unit(u64::MAX) < 1.0);
    }
}
