//! Hashes whose values may be stored.
//!
//! The split of games into training and test, the sampling of positions and the identity of a data
//! set must come out the same on every machine and with every later version of a crate. So they do
//! not use a hasher of the standard library, but [`mix`].

pub use dyad_engine::hash::mix;

/// Takes one more word into a running hash; the order of words matters.
pub fn fold(hash: u64, word: u64) -> u64 {
    mix(hash.rotate_left(23) ^ word)
}

/// Takes text into a running hash.
pub fn fold_text(hash: u64, text: &str) -> u64 {
    text.bytes().fold(fold(hash, text.len() as u64), |hash, byte| fold(hash, u64::from(byte)))
}

/// Reads a hash as a number from 0 (included) to 1 (excluded).
pub fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

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
