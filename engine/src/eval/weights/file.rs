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
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the file format.
const FORMAT: u32 = 2;
/// The note on a file without a content hash.
const NO_HASH: &str = "the weights have no content hash, so that damage would not be noticed";

impl Weights {
    /// Reads the text of a weights file.
    pub fn from_json(text: &[u8]) -> Result<Weights, WeightsError> {
        // Some editors write a byte order mark.
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        // The parser takes a minus sign at the end for a bad number, not for an early end.
        let document = read(text.strip_suffix(b"-").unwrap_or(text))?;
        document.check()?;
        let (ints, mut notes) = document.integers()?;
        let mut weights = Weights::from_ints(ints)?;
        weights.units = Units { scale: document.scale, win_rate: document.win_rate };
        document.check_hash(&weights.id(), &mut notes)?;
        weights.meta.name = document.name;
        weights.meta.provenance = document.made;
        weights.meta.notes = notes;
        Ok(weights)
    }

    /// The text of a weights file.
    pub fn to_json(&self) -> Vec<u8> {
        let document = Document {
            format: FORMAT,
            name: self.meta.name.clone(),
            scale: self.units.scale,
            win_rate: self.units.win_rate,
            hash: Some(self.id()),
            made: self.meta.provenance.clone(),
            layout: Layout {
                checksum: layout::checksum(),
                groups: GROUPS.iter().map(|group| (group.stored_name.to_string(), group.len)).collect(),
            },
            weights: GroupWeights(
                GROUPS
                    .iter()
                    .map(|group| (group.stored_name.to_string(), Integers::of(&self.ints[group.range()])))
                    .collect(),
            ),
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

#[derive(Serialize, Deserialize)]
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
    weights: GroupWeights,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    checksum: u32,
    groups: Vec<(String, usize)>,
}

struct GroupWeights(Vec<(String, Integers)>);

/// The weights of a group, written as `0` if all are zero.
enum Integers {
    Zero,
    Lists(Lists),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    mg: Vec<i32>,
    eg: Vec<i32>,
}

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
        no_name_twice(self.weights.0.iter().map(|(name, _)| name))
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
            let weights = self.weights.0.iter().find(|(group, _)| group == name);
            if let (_, Integers::Lists(lists)) = weights.ok_or_else(|| missing(name))? {
                copy(ours, lists, &mut ints)?;
            }
        }
        for (name, _) in &self.weights.0 {
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

fn known_group(name: &str, len: usize) -> Result<&'static Group, WeightsError> {
    match GROUPS.iter().find(|group| group.stored_name == name) {
        Some(group) if group.len == len => Ok(group),
        Some(group) => Err(WeightsError::new(format!(
            "group `{name}` has {len} features in the weights and {} in this engine",
            group.len
        ))),
        None => Err(WeightsError::new(format!("the weights have a group `{name}` that this engine does not know"))),
    }
}

fn copy(group: &Group, lists: &Lists, ints: &mut [[i32; 2]]) -> Result<(), WeightsError> {
    for (list, phase) in [&lists.mg, &lists.eg].into_iter().zip(PHASES) {
        if list.len() != group.len {
            let (name, found, expected) = (group.name, list.len(), group.len);
            return Err(WeightsError::new(format!(
                "group `{name}` has {found} {phase} weights where the layout says {expected}"
            )));
        }
    }
    for ((weight, &mg), &eg) in ints[group.range()].iter_mut().zip(&lists.mg).zip(&lists.eg) {
        *weight = [mg, eg];
    }
    Ok(())
}

impl Integers {
    fn of(weights: &[[i32; 2]]) -> Integers {
        if weights.iter().all(|weight| *weight == [0; 2]) {
            return Integers::Zero;
        }
        let list = |phase: usize| weights.iter().map(|weight| weight[phase]).collect();
        Integers::Lists(Lists { mg: list(0), eg: list(1) })
    }
}

impl Serialize for Integers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Integers::Zero => serializer.serialize_u8(0),
            Integers::Lists(lists) => lists.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Integers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Integers, D::Error> {
        struct ZeroOrLists;

        impl<'de> Visitor<'de> for ZeroOrLists {
            type Value = Integers;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("0 or a map with the lists `mg` and `eg`")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Integers, E> {
                match number {
                    0 => Ok(Integers::Zero),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Integers, M::Error> {
                Lists::deserialize(MapAccessDeserializer::new(map)).map(Integers::Lists)
            }
        }

        deserializer.deserialize_any(ZeroOrLists)
    }
}

impl Serialize for GroupWeights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, integers)| (name, integers)))
    }
}

/// In the order of the file; errors name the group.
impl<'de> Deserialize<'de> for GroupWeights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<GroupWeights, D::Error> {
        struct ByGroup;

        impl<'de> Visitor<'de> for ByGroup {
            type Value = GroupWeights;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("weights by group")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<GroupWeights, M::Error> {
                let mut groups = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    match map.next_value() {
                        Ok(integers) => groups.push((name, integers)),
                        Err(error) => return Err(de::Error::custom(format_args!("in group `{name}`: {error}"))),
                    }
                }
                Ok(GroupWeights(groups))
            }
        }

        deserializer.deserialize_map(ByGroup)
    }
}
