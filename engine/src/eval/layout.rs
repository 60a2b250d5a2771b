//! Where each weight lives: the one table of feature groups.
//!
//! A feature is a number below [`LEN`]; every group owns a run of them. Search, trainer, weights file
//! and `eval` all have to agree about these runs, so they are written down once, as a line in the
//! table below, and everything else (offsets, constants, the checksum that weights files carry) is
//! derived from it when the crate is compiled. A new group is one line here and the lines among the
//! terms that find its features. The 2-tuples stay last: what is before them is small enough to be
//! walked whole.

/// A named run of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name in weights files and reports; unique.
    pub name: &'static str,
    /// How many features it has.
    pub len: usize,
    /// What its features say, in words.
    pub about: &'static str,
    /// Its first feature.
    pub start: usize,
}

impl Group {
    /// The feature at `index` of this group.
    #[inline(always)]
    pub const fn at(&self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.start + index
    }

    /// All features of this group.
    pub const fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// Turns lines of `CONSTANT "name" [length] "about";` into [`GROUPS`], with the offsets filled in, and
/// one constant for each group.
macro_rules! groups {
    ($($constant:ident $name:literal [$len:expr] $about:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Order { $($constant),* }

        /// All groups, in the order of their features.
        pub const GROUPS: [Group; [$($name),*].len()] = lay_end_to_end([
            $(Group { name: $name, len: $len, about: $about, start: 0 }),*
        ]);

        $(
            #[doc = $about]
            pub const $constant: Group = GROUPS[Order::$constant as usize];
        )*
    };
}

// Lengths by piece type are in the order pawn, knight, bishop, rook, queen, king.
groups! {
    MATERIAL "material" [6] "what a piece is worth anywhere, by piece type";
    LOCATION "location" [6 * 32] "what a piece type gains from its square, boards mirrored to files a to d";
    PAIRS "pairs" [72 * 32 * 63] "2-tuples: a piece type on its square with any other piece on any other square";
}

/// How many features there are.
pub const LEN: usize = PAIRS.start + PAIRS.len;

/// Features before the 2-tuples.
pub const TERMS_LEN: usize = PAIRS.start;

/// The group called `name`.
pub fn group(name: &str) -> Option<&'static Group> {
    const ALL: &[Group] = &GROUPS;
    ALL.iter().find(|group| group.name == name)
}

/// The group that owns `feature`.
///
/// # Panics
/// If `feature` is not below [`LEN`].
pub fn group_of(feature: usize) -> &'static Group {
    const ALL: &[Group] = &GROUPS;
    assert!(feature < LEN, "feature {feature} is outside the layout");
    &ALL[ALL.partition_point(|group| group.start + group.len <= feature)]
}

/// CRC-32 of this layout's names and lengths: equal exactly when weights can be taken over as they are.
pub fn checksum() -> u32 {
    checksum_of(GROUPS.iter().map(|group| (group.name, group.len)))
}

/// CRC-32 of any layout's names and lengths.
pub fn checksum_of<'a>(groups: impl Iterator<Item = (&'a str, usize)>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for (name, len) in groups {
        crc.update(name.as_bytes());
        crc.update(format!(" {len}\n").as_bytes());
    }
    crc.finalize()
}

const fn lay_end_to_end<const N: usize>(mut groups: [Group; N]) -> [Group; N] {
    let mut next = 0;
    let mut i = 0;
    while i < N {
        groups[i].start = next;
        next += groups[i].len;
        i += 1;
    }
    groups
}

const _: () = assert!(LEN == PAIRS.range().end, "the 2-tuples are the last group");
const _: () = {
    let last = &GROUPS[GROUPS.len() - 1];
    assert!(last.start == PAIRS.start, "the 2-tuples are the last group");
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_lie_end_to_end() {
        let names: HashSet<_> = GROUPS.iter().map(|group| group.name).collect();
        assert_eq!(names.len(), GROUPS.len());
        for pair in GROUPS.windows(2) {
            assert_eq!(pair[0].start + pair[0].len, pair[1].start, "{}", pair[1].name);
        }
        assert_eq!(GROUPS[0].start, 0);
        assert_eq!(PAIRS.len, 145_152);
    }

    #[test]
    fn a_feature_knows_its_group() {
        for known in &GROUPS {
            assert_eq!(group(known.name), Some(known));
            for feature in [known.start, known.start + known.len - 1] {
                assert_eq!(group_of(feature), known);
            }
        }
        assert_eq!(group("nonsense"), None);
    }

    #[test]
    fn checksum_sees_names_lengths_and_order() {
        let sum = |groups: &[(&str, usize)]| checksum_of(groups.iter().copied());
        let all = [
            sum(&[("a", 1), ("b", 2)]),
            sum(&[("b", 2), ("a", 1)]),
            sum(&[("a", 12), ("b", 2)]),
            sum(&[("a1", 1), ("b", 2)]),
            sum(&[("a", 1)]),
        ];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
