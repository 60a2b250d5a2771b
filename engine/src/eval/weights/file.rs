//! The weights file: JSON with the weights, their layout and their provenance.
//!
//! A file may come from another version of the engine, so it lists its groups and their lengths. Groups that the file
//! lacks stay zero, and a note says so. A group that the engine lacks, or has with another length, is an error, because
//! a weight at the wrong feature would go unnoticed. Only integers are accepted. A group without any weight is written
//! as `0`, which keeps small sets small.
//!
//! A file carries a content hash of scale, WDL model and weights, against damage that leaves valid JSON. Name and
//! provenance are not part of it and may be edited. A file without the hash, edited by hand, is read with a note.

use super::Weights;
use crate::eval::floats::{PHASES, WeightsError};
use crate::eval::layout::{self, GROUPS, Group, LEN};
use crate::eval::units::{MAX_SCALE, Units, WinRate};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the file format.
const FORMAT: u32 = 2;
/// The note on a file without a content hash.
const NO_HASH: &str = "the weights have no content hash, so that damage would not be noticed";

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
        // Some editors write a byte order mark.
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        // The parser takes a minus sign at the end for a bad number, not for an early end.
        let document = read(text.strip_suffix(b"-").unwrap_or(text))?;
        document.check()?;
        let (ints, mut notes) = document.integers()?;
        let mut weights = Weights::from_ints(ints)?;
        weights.units = document.units();
        document.check_hash(&weights.id(), &mut notes)?;
        weights.meta.name = document.name;
        weights.meta.provenance = document.made;
        weights.meta.notes = notes;
        Ok(weights)
    }

    /// The text of a weights file.
    pub fn to_json(&self) -> Vec<u8> {
        let document = DocumentOut {
            format: FORMAT,
            name: &self.meta.name,
            scale: self.units.scale,
            win_rate: self.units.win_rate,
            hash: self.id(),
            made: &self.meta.provenance,
            layout: Layout {
                checksum: layout::checksum(),
                groups: GROUPS.iter().map(|group| (group.stored_name.to_string(), group.len)).collect(),
            },
            weights: GroupsOut(self.ints()),
        };
        let mut text = serde_json::to_vec(&document).expect("weights are plain data with text keys");
        text.push(b'\n');
        text
    }
}

/// Parses the document, or says why it cannot be parsed.
fn read(text: &[u8]) -> Result<Document, WeightsError> {
    let error = match serde_json::from_slice::<Document>(text) {
        Ok(document) => return check_format(document.format).map(|()| document),
        Err(error) => error,
    };
    // The whole text says more than the first unexpected place in it: another version, an early end.
    let whole = serde_json::from_slice::<Version>(text);
    if let Ok(version) = &whole {
        check_format(version.format)?;
    }
    Err(WeightsError::new(match whole {
        Err(whole) if whole.is_eof() => format!("the weights end too early, the file is cut off: {whole}"),
        Err(whole) if whole.is_syntax() => format!("the weights are not valid JSON: {error}"),
        _ => format!("the weights are not as expected: {error}"),
    }))
}

fn check_format(found: u32) -> Result<(), WeightsError> {
    if found == FORMAT {
        return Ok(());
    }
    Err(WeightsError::new(format!("the weights have format version {found}, and this engine reads version {FORMAT}")))
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

/// The weights of a group, middlegame and endgame; `None` if all are zero.
type Integers = Option<[Vec<i32>; 2]>;

impl Document {
    fn check(&self) -> Result<(), WeightsError> {
        if !(1..=MAX_SCALE).contains(&self.scale) {
            return Err(WeightsError::new(format!("the scale is {}, and must be from 1 to {MAX_SCALE}", self.scale)));
        }
        if !self.win_rate.is_valid() {
            return Err(WeightsError::new("the WDL model's parameters are not positive at every phase"));
        }
        let Layout { checksum: stated, groups } = &self.layout;
        let computed = layout::checksum_of(groups.iter().map(|(name, len)| (name.as_str(), *len)));
        if computed != *stated {
            return Err(WeightsError::new(format!(
                "the layout's checksum is {computed} by its groups, but the file says {stated}"
            )));
        }
        no_name_twice(groups.iter().map(|(name, _)| name))?;
        no_name_twice(self.weights.iter().map(|(name, _)| name))
    }

    fn units(&self) -> Units {
        Units { scale: self.scale, win_rate: self.win_rate }
    }

    /// Compares the content hash in the file, if any, with the computed one.
    fn check_hash(&self, computed: &str, notes: &mut Vec<String>) -> Result<(), WeightsError> {
        match &self.hash {
            Some(stated) if stated == computed => Ok(()),
            Some(stated) => Err(WeightsError::new(format!(
                "the content hash is {computed} by the numbers, but the file says {stated}: the file is damaged or was \
                 changed by hand"
            ))),
            None => {
                notes.push(NO_HASH.to_string());
                Ok(())
            }
        }
    }

    /// The integers by feature, and a note for each group that the file lacks.
    fn integers(&self) -> Result<(Vec<[i32; 2]>, Vec<String>), WeightsError> {
        let mut ints = vec![[0; 2]; LEN];
        let missing =
            |name: &str| WeightsError::new(format!("group `{name}` is not both in the layout and among the weights"));
        for (name, len) in &self.layout.groups {
            let ours = known_group(name, *len)?;
            let weights = self.weights.iter().find(|(group, _)| group == name);
            if let (_, Some(lists)) = weights.ok_or_else(|| missing(name))? {
                copy(ours, lists, &mut ints)?;
            }
        }
        for (name, _) in &self.weights {
            if !self.layout.groups.iter().any(|(group, _)| group == name) {
                return Err(missing(name));
            }
        }
        let absent = GROUPS.iter().filter(|ours| !self.layout.groups.iter().any(|(name, _)| name == ours.stored_name));
        let notes =
            absent.map(|ours| format!("the weights are older than group `{}`, which is zero", ours.name)).collect();
        Ok((ints, notes))
    }
}

fn no_name_twice<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), WeightsError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(WeightsError::new(format!("group `{name}` comes twice")));
        }
    }
    Ok(())
}

/// The group with this name in weights files.
fn stored_group(name: &str) -> Option<&'static Group> {
    const KNOWN: &[Group] = &GROUPS;
    KNOWN.iter().find(|group| group.stored_name == name)
}

fn known_group(name: &str, len: usize) -> Result<&'static Group, WeightsError> {
    match stored_group(name) {
        Some(group) if group.len == len => Ok(group),
        Some(group) => Err(WeightsError::new(format!(
            "group `{name}` has {len} features in the weights and {} in this engine",
            group.len
        ))),
        None => Err(WeightsError::new(format!("the weights have a group `{name}` that this engine does not know"))),
    }
}

fn copy(group: &Group, lists: &[Vec<i32>; 2], ints: &mut [[i32; 2]]) -> Result<(), WeightsError> {
    for (list, phase) in lists.iter().zip(PHASES) {
        if list.len() != group.len {
            let (name, found, expected) = (group.name, list.len(), group.len);
            return Err(WeightsError::new(format!(
                "group `{name}` has {found} {phase} weights where the layout says {expected}"
            )));
        }
    }
    for ((weight, &mg), &eg) in ints[group.range()].iter_mut().zip(&lists[0]).zip(&lists[1]) {
        *weight = [mg, eg];
    }
    Ok(())
}

/// Deserializes the groups in order; errors name the group.
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
                let integers = map.next_value_seed(InGroup { len: stored_group(&name).map_or(0, |group| group.len) });
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

/// Deserializes a group: `0` or two lists.
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

/// Deserializes a list of integers; errors name the list and the index.
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
                map.serialize_entry(group.stored_name, &0)?;
            } else {
                map.serialize_entry(group.stored_name, &Lists::of(weights))?;
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
