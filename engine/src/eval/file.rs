//! The weights file: JSON that says what it holds, for which layout, and how it was made.
//!
//! A file outlives the program that wrote it, so it names its groups and their lengths. If they are this
//! engine's, the integers are taken over; if an older layout lacks some of our groups, those stay zero and
//! a note says so; anything else is refused, because a weight under the wrong feature plays on silently.
//! Only integers are accepted. A group without any weight is written as `0`, which keeps small sets small.
//! Files are replaced [whole or not at all](crate::files).
//!
//! A digit that changes on a disk or on the way leaves a file that reads well and plays otherwise. So it carries a hash
//! of scale, WDL model and numbers with their groups, which is checked. Name and history are not in it, and may be
//! edited. Files of version 1 have no hash; they are read, and a note says so.

use super::error::{Stage, WeightsError};
use super::layout::{self, GROUPS, Group, LEN};
use super::units::{MAX_SCALE, Units};
use super::weights::Weights;
use super::win_rate::WinRate;
use crate::files;
use crate::files::write_atomic;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Version of the file's format: 2 has a content hash.
pub const FORMAT: u32 = 2;
/// The oldest version that is read.
pub const OLDEST_FORMAT: u32 = 1;
/// The note about a file of the oldest version.
const NO_HASH: &str = "the weights have no content hash, so that damage would not be noticed";
/// Bytes of the largest file that is read: many times what all weights with the longest history take.
const LARGEST_FILE: u64 = 256 << 20;

impl Weights {
    /// Reads the text of a weights file.
    ///
    /// ```
    /// # use dyad_engine::eval::Weights;
    /// let material = Weights::material();
    /// let read = Weights::from_json(&material.to_json()).unwrap();
    /// assert!(read.plays_as(&material) && read.id() == material.id());
    /// assert!(Weights::from_json(b"{}").is_err());
    /// ```
    pub fn from_json(text: &[u8]) -> Result<Weights, WeightsError> {
        // To the parser a minus sign at the end is a bad number; it is a cut like any other.
        let document = read(text.strip_suffix(b"-").unwrap_or(text))?;
        document.check()?;
        let (ints, mut notes) = document.integers()?;
        let mut weights = Weights::from_ints(ints)?;
        weights.units = document.units();
        document.check_hash(&weights.id(), &mut notes)?;
        weights.meta.name = document.name;
        weights.meta.made = document.made;
        weights.meta.notes = notes;
        Ok(weights)
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// When there is no such file, or it holds no weights for this engine.
    pub fn load(path: &Path) -> Result<Weights, WeightsError> {
        let text = files::read(path, LARGEST_FILE).map_err(|error| WeightsError::Io { path: path.into(), error })?;
        Weights::from_json(&text).map_err(|error| WeightsError::InFile { path: path.into(), error: Box::new(error) })
    }

    /// The text of a weights file.
    pub fn to_json(&self) -> Vec<u8> {
        let document = DocumentOut {
            format: FORMAT,
            name: &self.meta.name,
            scale: self.units.scale,
            win_rate: self.units.win_rate,
            hash: self.id(),
            made: &self.meta.made,
            layout: Layout {
                checksum: layout::checksum(),
                groups: GROUPS.iter().map(|group| (group.name.to_string(), group.len)).collect(),
            },
            weights: GroupsOut(self.ints()),
        };
        let mut text = serde_json::to_vec(&document).expect("weights are plain data with text keys");
        text.push(b'\n');
        text
    }

    /// Writes a weights file, or leaves what was there untouched.
    pub fn save(&self, path: &Path) -> Result<(), WeightsError> {
        write_atomic(path, &self.to_json()).map_err(|error| {
            let error = std::io::Error::new(error.kind(), format!("cannot be written: {error}"));
            WeightsError::Io { path: path.into(), error }
        })
    }
}

/// Reads the document, or finds out what is wrong with it.
fn read(text: &[u8]) -> Result<Document, WeightsError> {
    let error = match serde_json::from_slice::<Document>(text) {
        Ok(document) if is_known(document.format) => return Ok(document),
        Ok(document) => return Err(unknown(document.format)),
        Err(error) => error,
    };
    // The text as a whole says more than the place where it first surprised.
    Err(match serde_json::from_slice::<Version>(text) {
        Ok(Version { format }) if !is_known(format) => unknown(format),
        Err(whole) if whole.is_eof() => WeightsError::Cut(whole),
        Err(whole) if whole.is_syntax() => WeightsError::Syntax(error),
        _ => WeightsError::Shape(error),
    })
}

fn is_known(format: u32) -> bool {
    (OLDEST_FORMAT..=FORMAT).contains(&format)
}

fn unknown(format: u32) -> WeightsError {
    WeightsError::Format { found: format, known: [OLDEST_FORMAT, FORMAT] }
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: u32,
    name: String,
    scale: i32,
    #[serde(default)]
    win_rate: WinRate,
    hash: Option<String>,
    #[serde(default)]
    made: serde_json::Value,
    layout: Layout,
    #[serde(deserialize_with = "groups")]
    weights: Vec<(String, Integers)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    checksum: u32,
    groups: Vec<(String, usize)>,
}

/// The weights of a group; none where all are zero.
type Integers = Option<[Vec<i32>; 2]>;

impl Document {
    fn check(&self) -> Result<(), WeightsError> {
        if !(1..=MAX_SCALE).contains(&self.scale) {
            return Err(WeightsError::Scale(self.scale));
        }
        if !self.win_rate.is_valid() {
            return Err(WeightsError::WinRate);
        }
        let Layout { checksum: stated, groups } = &self.layout;
        let computed = layout::checksum_of(groups.iter().map(|(name, len)| (name.as_str(), *len)));
        if computed != *stated {
            return Err(WeightsError::Checksum { stated: *stated, computed });
        }
        no_name_twice(groups.iter().map(|(name, _)| name))?;
        no_name_twice(self.weights.iter().map(|(name, _)| name))
    }

    fn units(&self) -> Units {
        Units { scale: self.scale, win_rate: self.win_rate }
    }

    /// Compares the hash that the file states, if any, with that of what was read.
    fn check_hash(&self, computed: &str, notes: &mut Vec<String>) -> Result<(), WeightsError> {
        match &self.hash {
            Some(stated) if stated == computed => {}
            None if self.format == OLDEST_FORMAT => notes.push(NO_HASH.to_string()),
            stated => {
                return Err(WeightsError::Hash { stated: stated.clone(), computed: computed.to_string() });
            }
        }
        Ok(())
    }

    /// The integers by feature of our layout, and what to say about groups the file does not have.
    fn integers(&self) -> Result<(Vec<[i32; 2]>, Vec<String>), WeightsError> {
        let mut ints = vec![[0; 2]; LEN];
        for (name, len) in &self.layout.groups {
            let ours = known(name, *len)?;
            let (_, lists) = self
                .weights
                .iter()
                .find(|(group, _)| group == name)
                .ok_or_else(|| WeightsError::GroupMissing(name.clone()))?;
            if let Some(lists) = lists {
                copy(ours, lists, &mut ints)?;
            }
        }
        for (name, _) in &self.weights {
            if !self.layout.groups.iter().any(|(group, _)| group == name) {
                return Err(WeightsError::GroupMissing(name.clone()));
            }
        }
        let absent = GROUPS.iter().filter(|ours| !self.layout.groups.iter().any(|(name, _)| name == ours.name));
        let notes =
            absent.map(|ours| format!("the weights are older than group `{}`, which is zero", ours.name)).collect();
        Ok((ints, notes))
    }
}

fn no_name_twice<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), WeightsError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(WeightsError::GroupTwice(name.clone()));
        }
    }
    Ok(())
}

fn known(name: &str, len: usize) -> Result<&'static Group, WeightsError> {
    let group = layout::group(name).ok_or_else(|| WeightsError::UnknownGroup(name.to_string()))?;
    if group.len != len {
        return Err(WeightsError::GroupLength { group: name.to_string(), found: len, expected: group.len });
    }
    Ok(group)
}

fn copy(group: &Group, lists: &[Vec<i32>; 2], ints: &mut [[i32; 2]]) -> Result<(), WeightsError> {
    for (list, stage) in lists.iter().zip(Stage::ALL) {
        if list.len() != group.len {
            let (found, expected) = (list.len(), group.len);
            return Err(WeightsError::Count { group: group.name.to_string(), stage, found, expected });
        }
    }
    for ((weight, &mg), &eg) in ints[group.range()].iter_mut().zip(&lists[0]).zip(&lists[1]) {
        *weight = [mg, eg];
    }
    Ok(())
}

/// Reads groups in order, and says in which one an error is.
fn groups<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Integers)>, D::Error> {
    struct Groups;

    impl<'de> Visitor<'de> for Groups {
        type Value = Vec<(String, Integers)>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("weights by group")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut groups = Vec::new();
            while let Some(name) = map.next_key::<String>()? {
                let integers = map.next_value_seed(InGroup { len: layout::group(&name).map_or(0, |group| group.len) });
                match integers {
                    Ok(integers) => groups.push((name, integers)),
                    Err(error) => return Err(de::Error::custom(format_args!("in group `{name}`: {error}"))),
                }
            }
            Ok(groups)
        }
    }

    deserializer.deserialize_map(Groups)
}

/// Reads one group: `0` or its two lists.
struct InGroup {
    len: usize,
}

impl<'de> DeserializeSeed<'de> for InGroup {
    type Value = Integers;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Integers, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for InGroup {
    type Value = Integers;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("0 or a map with the lists `mg` and `eg`")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Integers, E> {
        if number == 0 { Ok(None) } else { Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)) }
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Integers, M::Error> {
        let (mut mg, mut eg) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            let (list, name) = match key.as_str() {
                "mg" => (&mut mg, "mg"),
                "eg" => (&mut eg, "eg"),
                other => return Err(de::Error::unknown_field(other, &["mg", "eg"])),
            };
            if list.is_some() {
                return Err(de::Error::duplicate_field(name));
            }
            *list = Some(map.next_value_seed(List { name, len: self.len })?);
        }
        match (mg, eg) {
            (Some(mg), Some(eg)) => Ok(Some([mg, eg])),
            (None, _) => Err(de::Error::missing_field("mg")),
            (_, None) => Err(de::Error::missing_field("eg")),
        }
    }
}

/// Reads a list of integers, and says which one is wrong.
struct List {
    name: &'static str,
    len: usize,
}

impl<'de> DeserializeSeed<'de> for List {
    type Value = Vec<i32>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<i32>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Vec<i32>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of integers")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<i32>, A::Error> {
        let mut integers = Vec::with_capacity(self.len);
        loop {
            match list.next_element() {
                Ok(Some(integer)) => integers.push(integer),
                Ok(None) => return Ok(integers),
                Err(error) => {
                    let (name, index) = (self.name, integers.len());
                    return Err(de::Error::custom(format_args!("`{name}` weight {index}: {error}")));
                }
            }
        }
    }
}

#[derive(Serialize)]
struct DocumentOut<'a> {
    format: u32,
    name: &'a str,
    scale: i32,
    win_rate: WinRate,
    hash: String,
    made: &'a serde_json::Value,
    layout: Layout,
    weights: GroupsOut<'a>,
}

struct GroupsOut<'a>(&'a [[i32; 2]]);

impl Serialize for GroupsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(GROUPS.len()))?;
        for group in &GROUPS {
            let weights = &self.0[group.range()];
            if weights.iter().all(|weight| *weight == [0; 2]) {
                map.serialize_entry(group.name, &0)?;
            } else {
                map.serialize_entry(group.name, &Lists::of(weights))?;
            }
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Lists {
    mg: Vec<i32>,
    eg: Vec<i32>,
}

impl Lists {
    fn of(weights: &[[i32; 2]]) -> Lists {
        Lists { mg: weights.iter().map(|w| w[0]).collect(), eg: weights.iter().map(|w| w[1]).collect() }
    }
}
