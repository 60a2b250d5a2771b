//! Groups of features.

use super::property::{Properties, Property, PropertyInfo};
use super::{Family, GROUPS};
use std::marker::PhantomData;

/// A run of features, indexed by the properties `P`. `Group` without `P` is a group of any properties, as in
/// [`GROUPS`].
#[derive(Clone, Copy, Debug)]
pub struct Group<P = Any> {
    /// The name in selections and reports; unique.
    pub name: &'static str,
    /// The name in weights files; unique.
    pub stored_name: &'static str,
    /// The part of the evaluation it belongs to.
    pub family: Family,
    /// How its features are found, summed and explained.
    pub kind: Kind,
    /// What its features count, in words.
    pub about: &'static str,
    /// Its first feature.
    pub start: usize,
    /// Its number of features.
    pub len: usize,
    /// The properties, outermost first.
    pub properties: &'static [PropertyInfo],
    /// The row of its first batch, if it is [batched](Kind::Batched).
    pub(super) first_batch: usize,
    /// One feature in words, with `{0}` for the value of the first property and so on.
    words: &'static str,
    typed: PhantomData<P>,
}

/// Any properties.
#[derive(Clone, Copy, Debug)]
pub struct Any;

/// What is special about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// An attack on the enemy king.
    Attack,
    /// A function of two pieces and their squares alone.
    Pair,
    /// Features that differ in their second property are added at once, as a [`Batch`].
    Batched,
}

/// The name of a group: that of its constant in lower case.
macro_rules! group_name {
    ($constant:ident) => {{
        const NAME: &[u8] = &lower_case::<{ stringify!($constant).len() }>(stringify!($constant));
        match std::str::from_utf8(NAME) {
            Ok(name) => name,
            Err(_) => panic!("the name of a constant is UTF-8"),
        }
    }};
}

pub(super) use group_name;

impl Group {
    pub(super) const fn new<P: Properties>(
        [name, stored_name]: [&'static str; 2],
        family: Family,
        kind: Kind,
        about: &'static str,
        words: &'static str,
    ) -> Group {
        let properties = P::INFO;
        let mut len = 1;
        let mut i = 0;
        while i < properties.len() {
            len *= properties[i].len;
            i += 1;
        }
        Group {
            name,
            stored_name,
            family,
            kind,
            about,
            start: 0,
            len,
            properties,
            first_batch: 0,
            words,
            typed: PhantomData,
        }
    }

    pub(super) const fn typed<P>(self) -> Group<P> {
        let Group { name, stored_name, family, kind, about, start, len, properties, first_batch, words, .. } = self;
        Group { name, stored_name, family, kind, about, start, len, properties, first_batch, words, typed: PhantomData }
    }

    /// Whether a selection includes this group: its name, a prefix of it followed by `*`, or `@` and its family.
    pub fn is_in(&self, selection: &str) -> bool {
        if let Some(family) = selection.strip_prefix('@') {
            return self.family.name() == family;
        }
        match selection.strip_suffix('*') {
            Some(beginning) => self.name.starts_with(beginning),
            None => self.name == selection,
        }
    }
}

impl<P> Group<P> {
    /// The features of this group.
    pub const fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }

    /// The feature at an index of the group.
    pub const fn nth(&self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.start + index
    }

    /// The feature at an index of the group in words.
    pub fn words(&self, index: usize) -> String {
        let mut text = self.words.to_string();
        let mut rest = index;
        for (number, property) in self.properties.iter().enumerate().rev() {
            text = text.replace(&format!("{{{number}}}"), &(property.words)(rest % property.len));
            rest /= property.len;
        }
        // Values without words leave gaps.
        while text.contains("  ") {
            text = text.replace("  ", " ");
        }
        text.replace(" ,", ",").replace(",,", ",").trim_matches([' ', ',']).to_string()
    }
}

/// The index of a value, checked in debug builds.
#[inline(always)]
fn index_of<P: Property>(value: P) -> usize {
    let index = value.index();
    debug_assert!(index < P::LEN, "{index} is beyond the {} values of {}", P::LEN, P::NAME);
    index
}

impl Group<()> {
    /// The only feature of this group.
    pub const fn at(&self) -> usize {
        self.start
    }
}

impl<A: Property> Group<(A,)> {
    /// The feature with this value.
    pub fn at(&self, a: A) -> usize {
        self.nth(index_of(a))
    }
}

impl<A: Property, B: Property> Group<(A, B)> {
    /// The feature with these values.
    pub fn at(&self, a: A, b: B) -> usize {
        self.nth(index_of(a) * B::LEN + index_of(b))
    }
}

impl<A: Property, B: Property, C: Property> Group<(A, B, C)> {
    /// The feature with these values.
    pub fn at(&self, a: A, b: B, c: C) -> usize {
        self.nth((index_of(a) * B::LEN + index_of(b)) * C::LEN + index_of(c))
    }

    /// The features with these values of the first and the third property, in the order of the second.
    #[inline(always)]
    pub fn batch(&self, a: A, c: C) -> Batch {
        debug_assert!(self.kind == Kind::Batched, "{} is not declared as batched", self.name);
        let (a, c) = (index_of(a), index_of(c));
        let row = self.first_batch + a * C::LEN + c;
        Batch { row, len: B::LEN, first: self.nth(a * B::LEN * C::LEN + c), stride: C::LEN }
    }
}

/// Features of a [batched](Kind::Batched) group that differ in its second property only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of the batch, below [`BATCHES`](super::BATCHES).
    pub row: usize,
    /// The number of its features, at most [`BATCH_LANES`].
    pub len: usize,
    first: usize,
    stride: usize,
}

/// Largest number of features in a [`Batch`]: the lanes of a vector sum.
pub(crate) const BATCH_LANES: usize = 8;

impl Batch {
    /// The feature at an index of the batch.
    pub const fn feature(self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.first + index * self.stride
    }
}

/// All batches, in the order of their rows.
pub fn batches() -> impl Iterator<Item = Batch> {
    GROUPS.iter().filter(|group| group.kind == Kind::Batched).flat_map(|group| {
        let [_, lanes, inner] = group.properties else { panic!("a batched group has three properties") };
        (0..group.len / lanes.len).map(move |row| Batch {
            row: group.first_batch + row,
            len: lanes.len,
            first: group.start + row / inner.len * lanes.len * inner.len + row % inner.len,
            stride: inner.len,
        })
    })
}

impl<P, Q> PartialEq<Group<Q>> for Group<P> {
    /// Whether they are the same group: names are unique.
    fn eq(&self, other: &Group<Q>) -> bool {
        self.name == other.name
    }
}

impl<P> Eq for Group<P> {}

/// The group called `name`.
pub fn group(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

/// The groups of a selection, see [`Group::is_in`].
///
/// # Errors
/// If no group is selected; the text lists all groups and families.
pub fn select(selection: &str) -> Result<Vec<&'static Group>, String> {
    let selected: Vec<&Group> = GROUPS.iter().filter(|group| group.is_in(selection)).collect();
    if selected.is_empty() {
        let groups: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
        let families = Family::ALL.map(|family| format!("@{}", family.name()));
        return Err(format!(
            "no group of features is called {selection}; there are {} and the families {}",
            groups.join(", "),
            families.join(", ")
        ));
    }
    Ok(selected)
}

/// The group that owns `feature`.
///
/// # Panics
/// If `feature` is not below [`LEN`](super::LEN).
pub fn group_of(feature: usize) -> &'static Group {
    assert!(feature < super::LEN, "feature {feature} is outside the layout");
    &GROUPS[GROUPS.partition_point(|group| group.start + group.len <= feature)]
}

/// Any feature in words.
pub fn describe(feature: usize) -> String {
    let group = group_of(feature);
    group.words(feature - group.start)
}

/// CRC-32 of the names and lengths of this layout. Weights with the same checksum need no conversion.
pub fn checksum() -> u32 {
    checksum_of(GROUPS.iter().map(|group| (group.stored_name, group.len)))
}

/// CRC-32 of any layout's names and lengths.
pub(crate) fn checksum_of<'a>(groups: impl Iterator<Item = (&'a str, usize)>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for (name, len) in groups {
        crc.update(name.as_bytes());
        crc.update(format!(" {len}\n").as_bytes());
    }
    crc.finalize()
}

/// Sets the offsets and first batches of the groups. The last group is not batched.
pub(super) const fn with_offsets<const N: usize>(mut groups: [Group; N]) -> [Group; N] {
    let mut next = 0;
    let mut batches = 0;
    let mut i = 0;
    while i < N {
        groups[i].start = next;
        groups[i].first_batch = batches;
        next += groups[i].len;
        if matches!(groups[i].kind, Kind::Batched) {
            let [_, lanes, _] = groups[i].properties else { panic!("a batched group has three properties") };
            assert!(lanes.len <= BATCH_LANES, "a batch has more features than lanes");
            batches += groups[i].len / lanes.len;
        }
        i += 1;
    }
    groups
}

pub(super) const fn lower_case<const N: usize>(name: &str) -> [u8; N] {
    let mut lower = [0; N];
    let mut i = 0;
    while i < N {
        lower[i] = name.as_bytes()[i].to_ascii_lowercase();
        i += 1;
    }
    lower
}
