//! A group of features: a run of numbers, and the table over properties that it is.

use super::dimension::{Axis, Dimension, Dimensions};
use super::{Family, GROUPS};
use std::marker::PhantomData;

/// The features that one term tells apart, a table over the properties `D`.
///
/// Where it does not matter what the properties are, as in the list [`GROUPS`], it is a `Group` without them.
#[derive(Clone, Copy, Debug)]
pub struct Group<D = Any> {
    /// The name in weights files and reports; unique.
    pub name: &'static str,
    /// The part of the evaluation it belongs to.
    pub family: Family,
    /// What its features count, in words.
    pub about: &'static str,
    /// Its first feature.
    pub start: usize,
    /// How many features it has.
    pub len: usize,
    /// What tells them apart, outermost first.
    pub axes: &'static [Axis],
    /// One of its features in words, with `{0}` for the value of the first property and so on.
    words: &'static str,
    dimensions: PhantomData<D>,
}

/// The properties of a [`Group`] that may have any.
#[derive(Clone, Copy, Debug)]
pub struct Any;

impl Group {
    pub(super) const fn new<D: Dimensions>(
        name: &'static str,
        family: Family,
        about: &'static str,
        words: &'static str,
        start: usize,
    ) -> Group {
        let axes = D::AXES;
        let mut len = 1;
        let mut i = 0;
        while i < axes.len() {
            len *= axes[i].len;
            i += 1;
        }
        Group { name, family, about, start, len, axes, words, dimensions: PhantomData }
    }

    pub(super) const fn typed<D>(self) -> Group<D> {
        let Group { name, family, about, start, len, axes, words, .. } = self;
        Group { name, family, about, start, len, axes, words, dimensions: PhantomData }
    }

    /// Whether a selection means this group: by its name, by the beginning of several names and `*`, or by `@` and the
    /// name of its family.
    ///
    /// ```
    /// # use dyad_engine::eval::layout;
    /// let passed = layout::group("passed_rank").unwrap();
    /// assert!(passed.is_in("passed_rank") && passed.is_in("passed_*") && passed.is_in("@passed"));
    /// assert!(!passed.is_in("passed") && !passed.is_in("@pawns"));
    /// ```
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

impl<D> Group<D> {
    /// All features of this group.
    pub const fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }

    /// The feature with this number among those of the group.
    #[inline(always)]
    pub const fn nth(&self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.start + index
    }

    /// The feature with this number among those of the group in words.
    pub fn words(&self, index: usize) -> String {
        let mut text = self.words.to_string();
        let mut rest = index;
        for (place, axis) in self.axes.iter().enumerate().rev() {
            text = text.replace(&format!("{{{place}}}"), &(axis.words)(rest % axis.len));
            rest /= axis.len;
        }
        // A value that goes without saying leaves a gap.
        while text.contains("  ") {
            text = text.replace("  ", " ");
        }
        text.replace(" ,", ",").replace(",,", ",").trim_matches([' ', ',']).to_string()
    }
}

/// The number of a value, which its property holds within bounds.
#[inline(always)]
fn place<D: Dimension>(value: D) -> usize {
    let index = value.index();
    debug_assert!(index < D::LEN, "{index} is beyond the {} values of {}", D::LEN, D::NAME);
    index
}

impl Group<()> {
    /// The only feature of this group.
    #[inline(always)]
    pub const fn at(&self) -> usize {
        self.start
    }
}

impl<A: Dimension> Group<(A,)> {
    /// The feature with this value.
    #[inline(always)]
    pub fn at(&self, a: A) -> usize {
        self.nth(place(a))
    }
}

impl<A: Dimension, B: Dimension> Group<(A, B)> {
    /// The feature with these values.
    #[inline(always)]
    pub fn at(&self, a: A, b: B) -> usize {
        self.nth(place(a) * B::LEN + place(b))
    }
}

impl<A: Dimension, B: Dimension, C: Dimension> Group<(A, B, C)> {
    /// The feature with these values.
    #[inline(always)]
    pub fn at(&self, a: A, b: B, c: C) -> usize {
        self.nth((place(a) * B::LEN + place(b)) * C::LEN + place(c))
    }
}

impl<D, E> PartialEq<Group<E>> for Group<D> {
    /// Whether they are the same group: names are unique.
    fn eq(&self, other: &Group<E>) -> bool {
        self.name == other.name
    }
}

impl<D> Eq for Group<D> {}

/// The group called `name`.
pub fn group(name: &str) -> Option<&'static Group> {
    const ALL: &[Group] = &GROUPS;
    ALL.iter().find(|group| group.name == name)
}

/// The groups that a selection means (see [`Group::is_in`]).
///
/// ```
/// # use dyad_engine::eval::layout::select;
/// assert_eq!(select("mobility_*").unwrap().len(), 4);
/// assert!(select("@nonsense").unwrap_err().contains("@mobility"));
/// ```
///
/// # Errors
/// When there are none; the text says what there is.
pub fn select(selection: &str) -> Result<Vec<&'static Group>, String> {
    const ALL: &[Group] = &GROUPS;
    let selected: Vec<&Group> = ALL.iter().filter(|group| group.is_in(selection)).collect();
    if selected.is_empty() {
        let groups: Vec<&str> = ALL.iter().map(|group| group.name).collect();
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
    const ALL: &[Group] = &GROUPS;
    assert!(feature < super::LEN, "feature {feature} is outside the layout");
    &ALL[ALL.partition_point(|group| group.start + group.len <= feature)]
}

/// Any feature in words.
pub fn describe(feature: usize) -> String {
    let group = group_of(feature);
    group.words(feature - group.start)
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

pub(super) const fn lay_end_to_end<const N: usize>(mut groups: [Group; N]) -> [Group; N] {
    let mut next = 0;
    let mut i = 0;
    while i < N {
        groups[i].start = next;
        next += groups[i].len;
        i += 1;
    }
    groups
}

/// A constant's name as that of its group.
pub(super) const fn lower_case<const N: usize>(name: &str) -> [u8; N] {
    let mut lower = [0; N];
    let mut i = 0;
    while i < N {
        lower[i] = name.as_bytes()[i].to_ascii_lowercase();
        i += 1;
    }
    lower
}

/// The table of all groups for `docs/evaluation.md`.
pub fn markdown() -> String {
    use std::fmt::Write;
    let mut text =
        String::from("| family | group | features | what they count | told apart by |\n|---|---|---:|---|---|\n");
    let mut family = None;
    for group in &GROUPS {
        let first = family.replace(group.family) != Some(group.family);
        let family = if first { group.family.name() } else { "" };
        let axes: Vec<String> = match group.axes {
            [axis] => vec![axis.name.to_string()],
            axes => axes.iter().map(|axis| format!("{} ({})", axis.name, axis.len)).collect(),
        };
        let (name, features, about) = (group.name, thousands(group.len), group.about);
        let _ = writeln!(text, "| {family} | `{name}` | {features} | {about} | {} |", axes.join(", "));
    }
    let _ = writeln!(text, "| | **{} groups** | **{}** | | |", GROUPS.len(), thousands(super::LEN));
    text
}

fn thousands(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}
