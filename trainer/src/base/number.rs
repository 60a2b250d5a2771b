//! Numeric settings: one rule of ranges for arguments, settings files and UCI options.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use clap::{Args, Command};
use serde::Serialize;
use serde_json::Value;

/// A type of numeric settings.
pub trait Number: FromStr + PartialOrd + Display + Copy {
    /// What errors call a value.
    const NAME: &str;

    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! whole {
    ($($number:ty),*) => {
        $(impl Number for $number {
            const NAME: &str = "a whole number";

            fn is_finite(self) -> bool {
                true
            }
        })*
    };
}

whole!(i16, i32, u32, u64, usize);

impl Number for f64 {
    const NAME: &str = "a number";

    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

/// Checks settings by the parsers of their options.
///
/// # Errors
/// Has the first option with a value that its parser refuses.
pub fn check_options<T: Args + Serialize>(settings: &T) -> Result<(), String> {
    let options = T::augment_args(Command::new("settings").no_binary_name(true));
    let known: Vec<String> = options.get_opts().filter_map(|option| option.get_long().map(str::to_string)).collect();
    let Ok(Value::Object(all)) = serde_json::to_value(settings) else { unreachable!("settings are plain data") };
    let mut words = Vec::new();
    for (name, value) in all.into_iter().filter(|(name, _)| known.contains(name)) {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push(format!("--{name}")),
            Value::Array(values) if values.iter().all(Value::is_string) => {
                words.extend(values.iter().filter_map(Value::as_str).map(|text| format!("--{name}={text}")));
            }
            Value::Array(values) => {
                words.push(format!("--{name}"));
                words.extend(values.iter().map(Value::to_string));
            }
            Value::String(text) => words.push(format!("--{name}={text}")),
            value => words.push(format!("--{name}={value}")),
        }
    }
    let refused = options.try_get_matches_from(words).err().map(|error| error.to_string());
    match refused.as_deref().and_then(|text| text.lines().next()) {
        Some(line) => Err(line.trim_start_matches("error: ").to_string()),
        None => Ok(()),
    }
}

/// A parser of arguments that takes the finite numbers of a range.
pub fn number<T: Number>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse::<T>().ok().filter(|number| number.is_finite() && range.contains(number));
        number.ok_or_else(|| format!("expected {}, {}", T::NAME, words(&range)))
    }
}

/// A range in words, such as `1 to 16` or `above 0`.
fn words<T: Number>(range: &impl RangeBounds<T>) -> String {
    let above = matches!(range.start_bound(), Bound::Excluded(_));
    let start = match range.start_bound() {
        Bound::Included(start) | Bound::Excluded(start) => Some(start.to_string()),
        Bound::Unbounded => None,
    };
    let end = match range.end_bound() {
        Bound::Included(end) => Some(end.to_string()),
        Bound::Excluded(end) => Some(format!("below {end}")),
        Bound::Unbounded => None,
    };
    match (start, end) {
        (Some(start), None) if above => format!("above {start}"),
        (Some(start), None) => format!("at least {start}"),
        (Some(start), Some(end)) if above => format!("above {start} and at most {end}"),
        (Some(start), Some(end)) => format!("{start} to {end}"),
        (None, Some(end)) => format!("at most {end}"),
        (None, None) => "finite".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_and_in_their_range() {
        let parse = number(0.0..=1.0);
        assert_eq!(parse(" 0.5 "), Ok(0.5));
        for text in ["1.1", "-0.1", "nan", "inf", "1e400", "x", ""] {
            assert_eq!(parse(text), Err("expected a number, 0 to 1".to_string()), "{text}");
        }
        assert_eq!(number::<u32>(1..)("0").unwrap_err(), "expected a whole number, at least 1");
        assert_eq!(number::<u32>(1..=16)("1.5").unwrap_err(), "expected a whole number, 1 to 16");
        assert!(number::<f64>(..)("inf").is_err() && number::<f64>(0.0..)("nan").is_err());
        let positive = number((Bound::Excluded(0.0), Bound::Included(1e7)));
        assert_eq!(positive("0").unwrap_err(), "expected a number, above 0 and at most 10000000");
        assert_eq!(number(0.0..1.0)("1").unwrap_err(), "expected a number, 0 to below 1");
    }
}
