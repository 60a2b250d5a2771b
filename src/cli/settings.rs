//! Settings from a JSON file.
//!
//! One file may serve several tools: each finds its settings under its own name. A file without that
//! name holds the settings of one tool alone.

use std::path::Path;

use clap::Command;
use dyad_engine::files;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::renamed::COMMANDS;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 1 << 20;

/// The settings of `tool` in the file at `path`, or the defaults without a file.
pub fn load<T: DeserializeOwned + Default>(path: Option<&Path>, tool: &str) -> Result<T, String> {
    let Some(path) = path else { return Ok(T::default()) };
    let text = files::read(path, LARGEST).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text, tool).map_err(|error| format!("{}: {error}", path.display()))
}

/// Has an argument, where it is given, override a setting.
pub fn set<T: Clone>(setting: &mut T, argument: &Option<T>) {
    if let Some(value) = argument {
        setting.clone_from(value);
    }
}

/// Adds the defaults of the settings to the help of the arguments with the same names, where the help does not have them. The
/// arguments have no defaults of their own, so that a file can set what no argument sets.
pub fn tell_defaults(tool: Command, defaults: &impl Serialize) -> Command {
    let defaults = serde_json::to_value(defaults).unwrap_or_default();
    tool.mut_args(|argument| {
        let default = argument.get_long().and_then(|name| find(&defaults, name));
        match (default, argument.get_help().map(ToString::to_string)) {
            (Some(default), Some(help)) if !help.contains("[default: ") => {
                argument.help(format!("{help} [default: {default}]"))
            }
            _ => argument,
        }
    })
}

/// The number or name at `key` in settings or in the settings within them. An argument has hyphens where the settings
/// of an objective have underscores.
fn find(settings: &Value, key: &str) -> Option<String> {
    if let Some(list) = settings.as_array() {
        return list.iter().find_map(|inner| find(inner, key));
    }
    let settings = settings.as_object()?;
    match settings.get(key).or_else(|| settings.get(&key.replace('-', "_"))) {
        // A float that is whole is told as people write it.
        Some(Value::Number(number)) => Some(number.as_f64().map_or_else(|| number.to_string(), |n| n.to_string())),
        Some(Value::String(name)) => Some(name.clone()),
        Some(Value::Object(choice)) => choice.get("kind").and_then(Value::as_str).map(str::to_string),
        _ => settings.values().find_map(|inner| find(inner, key)),
    }
}

fn parse<T: DeserializeOwned>(text: &[u8], tool: &str) -> serde_json::Result<T> {
    let mut file: Value = serde_json::from_slice(text)?;
    if let Some((old, new)) = COMMANDS.iter().find(|(old, new)| *new == tool && file.get(old).is_some()) {
        return Err(serde::de::Error::custom(format!("{old:?} is called {new:?} now")));
    }
    match file.get_mut(tool).map(Value::take) {
        Some(own) => serde_json::from_value(own),
        None => serde_json::from_value(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_trainer::data::prepare::Settings;

    #[test]
    fn settings_are_found_under_the_name_of_the_tool_or_alone() {
        let expected = Settings { seed: 7, ..Settings::default() };
        for text in [r#"{"seed": 7}"#, r#"{"train": {"depth": 2}, "prepare": {"seed": 7}}"#] {
            assert_eq!(parse::<Settings>(text.as_bytes(), "prepare").unwrap(), expected);
        }
        for text in [r#"{"sead": 7}"#, r#"{"prepare": {"seed": "x"}}"#, r#"{"filters": {"quite": true}}"#, "7", "{"] {
            assert!(parse::<Settings>(text.as_bytes(), "prepare").is_err(), "{text}");
        }
    }

    #[test]
    fn settings_survive_their_json() {
        let settings = Settings { inputs: vec!["a.pgn".into()], count: Some(5), ..Settings::default() };
        let text = serde_json::to_vec(&settings).unwrap();
        assert_eq!(parse::<Settings>(&text, "prepare").unwrap(), settings);
    }
}
