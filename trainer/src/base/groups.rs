//! Groups of features in settings, which may have their names of release 0.2.0.

use std::collections::BTreeMap;

use dyad_engine::eval::layout;
use serde::{Deserialize, Deserializer};

fn current(name: String) -> String {
    layout::group(&name).map_or(name, |group| group.name.to_string())
}

fn renamed<T>(map: BTreeMap<String, T>) -> BTreeMap<String, T> {
    map.into_iter().map(|(name, value)| (current(name), value)).collect()
}

/// Deserializes values by group.
pub(crate) fn map<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    BTreeMap::deserialize(deserializer).map(renamed)
}

/// Deserializes values by group, if they are given.
pub(crate) fn map_if_given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, T>>, D::Error> {
    Option::deserialize(deserializer).map(|map| map.map(renamed))
}

/// Deserializes a list of groups.
pub(crate) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names: Vec<String> = Vec::deserialize(deserializer)?;
    Ok(names.into_iter().map(current).collect())
}
