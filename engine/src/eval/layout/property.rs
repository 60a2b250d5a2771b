//! Properties: what distinguishes the features of a group, as types.
//!
//! A group of features is a table over its properties. Each property is a type with a fixed number of values, the index
//! of each value, and its words. A term names a feature by values, so exchanged properties do not compile. The macros
//! declare the usual kinds of properties: either of two, one of several, a number, a piece type.

use crate::board::{PIECE_NAMES, Piece};
use crate::eval::pairs::{self, Pair};

/// A property that has one of a fixed number of values.
pub trait Property: Copy {
    /// The name in the table of features.
    const NAME: &'static str;
    /// The number of values.
    const LEN: usize;
    /// The index of this value, below [`Property::LEN`].
    fn index(self) -> usize;
    /// The value at an index in words; may be empty.
    fn words(index: usize) -> String;
}

/// A [`Property`] as a value.
#[derive(Clone, Copy, Debug)]
pub struct PropertyInfo {
    /// The name in the table of features.
    pub name: &'static str,
    /// The number of values.
    pub len: usize,
    /// The value at an index in words.
    pub words: fn(usize) -> String,
}

const fn info<P: Property>() -> PropertyInfo {
    PropertyInfo { name: P::NAME, len: P::LEN, words: P::words }
}

/// The properties of a group, outermost first: a tuple of [`Property`]s.
pub trait Properties {
    /// The properties as values.
    const INFO: &'static [PropertyInfo];
}

impl Properties for () {
    const INFO: &'static [PropertyInfo] = &[];
}

impl<A: Property> Properties for (A,) {
    const INFO: &'static [PropertyInfo] = &[info::<A>()];
}

impl<A: Property, B: Property> Properties for (A, B) {
    const INFO: &'static [PropertyInfo] = &[info::<A>(), info::<B>()];
}

impl<A: Property, B: Property, C: Property> Properties for (A, B, C) {
    const INFO: &'static [PropertyInfo] = &[info::<A>(), info::<B>(), info::<C>()];
}

/// Declares a property of a type: its name, its number of values, the index of a value, and the words of an index.
macro_rules! property {
    ($type:ty, $name:expr, $len:expr, |$value:ident| $index:expr, |$at:ident| $words:expr) => {
        impl Property for $type {
            const NAME: &'static str = $name;
            const LEN: usize = $len;

            fn index(self) -> usize {
                let $value = self;
                $index
            }

            fn words($at: usize) -> String {
                $words.into()
            }
        }
    };
}

/// Declares properties that are true or false: `Type "name" ["words if false", "words if true"];`
macro_rules! either {
    ($($(#[$doc:meta])* $type:ident $name:literal [$no:literal, $yes:literal];)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type(pub bool);

        property!($type, $name, 2, |value| usize::from(value.0), |index| [$no, $yes][index]);
    )*};
}

/// Declares properties that are one of several: `Type "name" { Value "words", ... }`
macro_rules! one_of {
    ($(
        $(#[$doc:meta])*
        $type:ident $name:literal { $($(#[$value_doc:meta])* $value:ident $words:literal),* $(,)? }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$value_doc])* #[doc = $words] $value,)*
        }

        impl $type {
            /// All values in the order of their index.
            pub const ALL: [Self; [$($words),*].len()] = [$(Self::$value),*];
        }

        property!($type, $name, Self::ALL.len(), |value| value as usize, |index| [$($words),*][index]);
    )*};
}

/// Declares numbers: `Type "name" 0 to 8 ["thing", "things"];`. With `0 to 8 or more` larger numbers count as 8.
macro_rules! number {
    ($($(#[$doc:meta])* $type:ident $name:literal $first:literal to $last:literal $(or $more:ident)?
        [$one:literal, $several:literal];)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type(pub usize);

        impl $type {
            const OPEN: bool = !stringify!($($more)?).is_empty();
        }

        property!(
            $type, $name, $last - $first + 1,
            |value| (if Self::OPEN { value.0.min($last) } else { value.0 }) - $first,
            |index| counted($first + index, Self::OPEN && index + 1 == Self::LEN, [$one, $several])
        );
    )*};
}

/// Declares ranges of piece types, given by their indices: `Type "name" Knight to Bishop;`
macro_rules! piece_type {
    ($($(#[$doc:meta])* $type:ident $name:literal $first:ident to $last:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type(pub usize);

        property!(
            $type, $name, Piece::$last as usize - Piece::$first as usize + 1,
            |piece| piece.0 - Piece::$first as usize, |index| PIECE_NAMES[Piece::$first as usize + index]
        );
    )*};
}

pub(super) use {either, number, one_of, piece_type, property};

pub(super) fn on_rank(rank: usize) -> String {
    let ordinal = ["1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"][rank];
    format!("on the {ordinal} rank")
}

/// A number of things in words, such as "no pawns", "1 pawn" and "2 or more knights".
pub(super) fn counted(count: usize, or_more: bool, [one, several]: [&str; 2]) -> String {
    match count {
        0 => format!("no {several}"),
        _ if or_more => format!("{count} or more {several}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {several}"),
    }
}

property!(Piece, "piece type", PIECE_NAMES.len(), |piece| piece.to_index(), |index| PIECE_NAMES[index]);

/// A square on files a to d, by its index among them (see [`pairs::row`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfSquare(pub usize);

property!(HalfSquare, "square", pairs::ROWS, |square| square.0, |index| pairs::square_of_row(index).to_string());

property!(Pair, "both pieces and their squares", pairs::LEN, |pair| Pair::index(pair), |index| {
    let (first, other) = pairs::pieces_of(index);
    format!("{} with {}", pairs::name(first), pairs::name(other))
});

/// The numbers of pieces of two types. The second type is the enemy's if `ENEMY`, else of the same player.
///
/// There is a table for each unordered pair of types other than king; a type with itself only against the enemy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts<const ENEMY: bool> {
    /// The indices of the types, the second not before the first.
    pub types: [usize; 2],
    /// The numbers of pieces, below [`COUNT_LEVELS`].
    pub counts: [usize; 2],
}

/// The number of distinct counts by piece type: up to 8 pawns, 2 knights, bishops and rooks, and 1 queen. Larger
/// numbers count as the largest.
pub(crate) const COUNT_LEVELS: [usize; 5] = [9, 3, 3, 3, 2];

impl<const ENEMY: bool> Counts<ENEMY> {
    /// The first index of each pair of types, and the number of all.
    const TABLES: ([[usize; 5]; 5], usize) = {
        let mut starts = [[0; 5]; 5];
        let mut next = 0;
        let mut one = 0;
        while one < 5 {
            let mut other = if ENEMY { one } else { one + 1 };
            while other < 5 {
                starts[one][other] = next;
                next += COUNT_LEVELS[one] * COUNT_LEVELS[other];
                other += 1;
            }
            one += 1;
        }
        (starts, next)
    };

    fn of(index: usize) -> Self {
        let pairs = (0..5).flat_map(|one| (one + usize::from(!ENEMY)..5).map(move |other| [one, other]));
        let begun = pairs.filter(|&[one, other]| Self::TABLES.0[one][other] <= index);
        let types @ [one, other] = begun.max().expect("the first pair starts at 0");
        let place = index - Self::TABLES.0[one][other];
        Self { types, counts: [place / COUNT_LEVELS[other], place % COUNT_LEVELS[other]] }
    }
}

impl<const ENEMY: bool> Property for Counts<ENEMY> {
    const NAME: &'static str = "both types and numbers";
    const LEN: usize = Self::TABLES.1;

    fn index(self) -> usize {
        let ([one, other], [count, other_count]) = (self.types, self.counts);
        Self::TABLES.0[one][other] + count * COUNT_LEVELS[other] + other_count
    }

    fn words(index: usize) -> String {
        let Self { types, counts } = Self::of(index);
        let [one, other] = [0, 1].map(|i| {
            let (piece, count) = (types[i], counts[i]);
            let or_more = piece != 0 && count + 1 == COUNT_LEVELS[piece];
            counted(count, or_more, [PIECE_NAMES[piece], &format!("{}s", PIECE_NAMES[piece])])
        });
        let relation = if ENEMY { "against" } else { "with" };
        format!("{one} {relation} {other}")
    }
}
