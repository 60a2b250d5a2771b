//! Numbers by groups of features, as options and settings have them: `GROUP=NUMBER`.

use std::fmt;
use std::ops::RangeBounds;
use std::str::FromStr;

use dyad_engine::eval::layout::{self, select};
use serde::{Deserialize, Serialize};

use crate::base::number::number;

/// A number for some groups of features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GroupValue {
    /// A group, a prefix of names and `*`, or `@` and the name of a family.
    pub groups: String,
    /// The number.
    pub number: f64,
}

impl GroupValue {
    /// A number for the groups of this name.
    pub fn new(groups: &str, number: f64) -> GroupValue {
        GroupValue { groups: groups.to_string(), number }
    }
}

impl FromStr for GroupValue {
    type Err = String;

    fn from_str(text: &str) -> Result<GroupValue, String> {
        let (groups, number) = text.split_once('=').ok_or("expected GROUP=NUMBER")?;
        select(groups)?;
        let parsed = number.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let number = parsed.ok_or_else(|| format!("{groups}: '{number}' is not a number"))?;
        Ok(GroupValue::new(groups, number))
    }
}

impl TryFrom<String> for GroupValue {
    type Error = String;

    fn try_from(text: String) -> Result<GroupValue, String> {
        text.parse()
    }
}

impl fmt::Display for GroupValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.groups, self.number)
    }
}

impl From<GroupValue> for String {
    fn from(value: GroupValue) -> String {
        value.to_string()
    }
}

/// Whether a selection of groups names the group `name`.
pub fn is_selected(groups: &[String], name: &str) -> bool {
    groups.iter().any(|groups| selects(groups, name))
}

/// The number for the group `name`, the last one that is given for it.
pub fn number_of(values: &[GroupValue], name: &str) -> Option<f64> {
    values.iter().rfind(|value| selects(&value.groups, name)).map(|value| value.number)
}

/// `number` of each feature, by its group.
pub fn by_feature<T: Clone>(number: impl Fn(&str) -> T) -> Vec<T> {
    layout::GROUPS.iter().flat_map(|group| std::iter::repeat_n(number(group.name), group.len)).collect()
}

/// A parser of arguments that takes the numbers of a range for groups of features.
pub fn group_value(
    range: impl RangeBounds<f64> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<GroupValue, String> + Clone + Send + Sync + 'static {
    let in_range = number::<f64>(range);
    move |text| {
        let GroupValue { groups, number } = text.parse()?;
        in_range(&number.to_string()).map(|number| GroupValue { groups, number })
    }
}

/// A parser of arguments that name groups of features.
///
/// # Errors
/// When no group has the name.
pub fn groups(text: &str) -> Result<String, String> {
    select(text).map(|_| text.to_string())
}

fn selects(groups: &str, name: &str) -> bool {
    select(groups).is_ok_and(|selected| selected.iter().any(|group| group.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_group_counts() {
        let values: Vec<GroupValue> =
            ["*=1", "@pairs=0.5", "tempo=2", "mobility_*=3"].map(|text| text.parse().unwrap()).to_vec();
        for (name, expected) in [("material", 1.0), ("pairs", 0.5), ("tempo", 2.0), ("mobility_rook", 3.0)] {
            assert_eq!(number_of(&values, name), Some(expected), "{name}");
        }
        assert_eq!(number_of(&[], "tempo"), None);
        let numbers = by_feature(|name| number_of(&values, name));
        assert_eq!((numbers.len(), numbers[layout::PAIRS.start]), (layout::LEN, Some(0.5)));
        assert!(is_selected(&["@pairs".to_string()], "pairs") && !is_selected(&["@pairs".to_string()], "tempo"));
    }

    #[test]
    fn values_are_text_and_wrong_ones_are_refused() {
        let value = GroupValue::new("pairs", 0.05);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!((text.as_str(), serde_json::from_str(&text).unwrap()), ("\"pairs=0.05\"", value));
        for (wrong, expected) in [("x", "expected GROUP=NUMBER"), ("pears=1", "pears"), ("pairs=y", "not a number")] {
            let error = wrong.parse::<GroupValue>().unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }
}
