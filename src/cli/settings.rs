//! Settings of a tool: the defaults, over them those of a JSON file, over them the arguments.
//!
//! One file may serve several tools: each finds its settings under its own name. A file without that
//! name holds the settings of one tool alone.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use dyad_engine::files;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use super::renamed::COMMANDS;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 1 << 20;

/// The arguments that are settings of type `T`, and `--settings FILE`.
pub struct Layered<T> {
    /// The defaults, and over them the arguments.
    pub arguments: T,
    /// The file that the arguments override.
    pub file: Option<PathBuf>,
    /// The arguments that were given.
    given: ArgMatches,
}

impl<T: FromArgMatches + DeserializeOwned> Layered<T> {
    /// The settings of `tool`: its name is that of a section of the file.
    pub fn load(self, tool: &str) -> Result<T, String> {
        let Some(path) = &self.file else { return Ok(self.arguments) };
        let settings = read(path, tool)?;
        Ok(self.over(settings))
    }

    /// `settings`, and over them the arguments that were given.
    pub fn over(&self, mut settings: T) -> T {
        settings.update_from_arg_matches(&self.given).expect("the arguments were parsed before");
        settings
    }
}

impl<T: Args> Args for Layered<T> {
    fn augment_args(command: Command) -> Command {
        let help = "JSON file of settings, which the arguments override";
        let file = Arg::new("settings").long("settings").value_name("FILE").help(help);
        T::augment_args(command.arg(file.value_parser(value_parser!(PathBuf))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Layered<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Layered<T>, Error> {
        let mut given = matches.clone();
        let is_default = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::DefaultValue);
        for id in matches.ids().filter(is_default) {
            given.try_clear_id(id.as_str()).expect("the id is one of the arguments");
        }
        Ok(Layered { arguments: T::from_arg_matches(matches)?, file: matches.get_one("settings").cloned(), given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Layered::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The settings of `tool` in the file at `path`.
pub fn read<T: DeserializeOwned>(path: &Path, tool: &str) -> Result<T, String> {
    let text = files::read(path, LARGEST).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text, tool).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse<T: DeserializeOwned>(text: &[u8], tool: &str) -> serde_json::Result<T> {
    let mut file: Value = serde_json::from_slice(text)?;
    if let Some((old, new)) = COMMANDS.iter().find(|(old, new)| *new == tool && file[*old].is_object()) {
        return Err(serde_json::Error::custom(format!("the settings of {old:?} are called {new:?} now")));
    }
    match file.get_mut(tool).map(Value::take) {
        Some(own) => serde_json::from_value(own),
        None => serde_json::from_value(file),
    }
}

/// Refuses to resume a run with other settings than it has, both as JSON. The settings that are `free` may differ.
pub fn check_same(saved: &Value, asked: &Value, free: &[&str]) -> Result<(), String> {
    let mut keys = keys_of(saved, asked).filter(|key| !free.contains(key));
    match keys.find_map(|key| difference(&saved[key], &asked[key], key.to_string())) {
        Some((name, saved, asked)) => Err(format!("--resume: {name} is {asked} here, and {saved} in the run")),
        None => Ok(()),
    }
}

/// The keys of either; those of both occur twice. A setting at its default may be missing in one of them.
fn keys_of<'a>(saved: &'a Value, asked: &'a Value) -> impl Iterator<Item = &'a str> {
    [saved, asked].into_iter().filter_map(Value::as_object).flat_map(|fields| fields.keys().map(String::as_str))
}

/// The first setting that differs, by its path, with both values.
fn difference<'a>(saved: &'a Value, asked: &'a Value, path: String) -> Option<(String, &'a Value, &'a Value)> {
    match (saved, asked) {
        (Value::Object(_), Value::Object(_)) => {
            keys_of(saved, asked).find_map(|key| difference(&saved[key], &asked[key], format!("{path}.{key}")))
        }
        _ => (saved != asked).then_some((path, saved, asked)),
    }
}

/// Resumes only with `--resume`, and only what is there: `path` is what an earlier run has left.
pub fn check_resume(resume: bool, path: &Path) -> Result<(), String> {
    let path_of = path.display();
    match (resume, path.exists()) {
        (true, false) => Err(format!("--resume: {path_of} does not exist; begin without --resume")),
        (false, true) => Err(format!("{path_of} exists: continue it with --resume, or remove it")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::WORDS;
    use super::*;
    use clap::Parser;
    use dyad_trainer::data::prepare::PrepareSettings;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Layered<PrepareSettings>,
    }

    #[test]
    fn settings_are_found_under_the_name_of_the_tool_or_alone() {
        let expected = PrepareSettings { seed: 7, ..PrepareSettings::default() };
        for text in [r#"{"seed": 7}"#, r#"{"train": {"depth": 2}, "prepare": {"seed": 7}}"#] {
            assert_eq!(parse::<PrepareSettings>(text.as_bytes(), "prepare").unwrap(), expected);
        }
        for text in [r#"{"sead": 7}"#, r#"{"prepare": {"seed": "x"}}"#, r#"{"filters": {"quite": true}}"#, "7", "{"] {
            assert!(parse::<PrepareSettings>(text.as_bytes(), "prepare").is_err(), "{text}");
        }
        let error = parse::<Value>(br#"{"games": {"seed": 7}}"#, "datagen").unwrap_err().to_string();
        assert!(error.contains(r#""games" are called "datagen" now"#), "{error}");
    }

    #[test]
    fn settings_survive_their_json() {
        let settings = PrepareSettings { inputs: vec!["a.pgn".into()], count: Some(5), ..PrepareSettings::default() };
        let text = serde_json::to_vec(&settings).unwrap();
        assert_eq!(parse::<PrepareSettings>(&text, "prepare").unwrap(), settings);
    }

    #[test]
    fn arguments_override_the_file_and_the_file_the_defaults() {
        let path = std::env::temp_dir().join(format!("dyad-layers-{}.json", std::process::id()));
        std::fs::write(&path, r#"{"seed": 7, "test-percent": 9, "filters": {"quiet": true, "mates": true}}"#).unwrap();
        let words = ["prepare", "a.pgn", "--settings", path.to_str().unwrap(), "--seed", "1", "--quiet", "--scored"];
        let settings = Line::parse_from(words).settings.load("prepare").unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut expected =
            PrepareSettings { inputs: vec!["a.pgn".into()], seed: 1, test_percent: 9.0, ..PrepareSettings::default() };
        (expected.filters.quiet, expected.filters.mates, expected.filters.scored) = (true, true, true);
        assert_eq!(settings, expected);
        assert_eq!(Line::parse_from(["prepare"]).settings.load("prepare").unwrap(), PrepareSettings::default());
    }

    /// The settings that differ, by their paths.
    fn differences(one: &Value, other: &Value, path: &str, found: &mut Vec<String>) {
        match (one, other) {
            (Value::Object(one), Value::Object(fields)) => {
                let keys: std::collections::BTreeSet<&String> = one.keys().chain(fields.keys()).collect();
                for key in keys {
                    let [one, other] = [one, fields].map(|fields| fields.get(key).unwrap_or(&Value::Null));
                    differences(one, other, &format!("{path}.{key}"), found);
                }
            }
            _ if one != other => found.push(path.to_string()),
            _ => {}
        }
    }

    /// The value at a path like `.filters.quiet`, alone in its objects, under another name.
    fn renamed(settings: &Value, path: &str, name: &str) -> Value {
        let (objects, last) = path[1..].rsplit_once('.').map_or((None, &path[1..]), |(a, b)| (Some(a), b));
        let objects: Vec<&str> = objects.into_iter().flat_map(|objects| objects.split('.')).collect();
        let parent = objects.iter().fold(settings, |value, object| &value[*object]);
        let alone = serde_json::json!({ name: parent[last] });
        objects.iter().rev().fold(alone, |value, object| serde_json::json!({ *object: value }))
    }

    /// Each argument of the settings changes one of them, and no two the same. A file may use the names of the arguments.
    fn each_argument_changes_a_setting<T: Args + serde::Serialize + DeserializeOwned>(of: &str) {
        let command = T::augment_args(Command::new("settings"));
        let parse = |words: &[&str]| -> Option<Value> {
            let words = [&["settings"], words].concat();
            let matches = command.clone().try_get_matches_from(words).ok()?;
            Some(serde_json::to_value(T::from_arg_matches(&matches).ok()?).unwrap())
        };
        let defaults = parse(&[]).unwrap();
        let mut changed = std::collections::BTreeSet::new();
        for argument in command.get_arguments() {
            let name = argument.get_long().map(|name| format!("--{name}"));
            let count = argument.get_num_args().map_or(1, |range| range.min_values());
            let is_flag = !argument.get_action().takes_values() || count == 0;
            let words = if is_flag { "" } else { WORDS };
            let found = words.split(' ').find_map(|word| {
                let values = std::iter::repeat_n(word, if is_flag { 0 } else { count });
                let line: Vec<&str> = name.as_deref().into_iter().chain(values).collect();
                let (mut found, settings) = (Vec::new(), parse(&line)?);
                differences(&defaults, &settings, "", &mut found);
                Some((found, settings)).filter(|(found, _)| !found.is_empty())
            });
            let (found, settings) = found.unwrap_or_else(|| panic!("{of}: {name:?} changes nothing"));
            if let Some(name) = argument.get_long() {
                let file = renamed(&settings, &found[0], name);
                let read = serde_json::from_value::<T>(file.clone());
                let read = read.map(|read| serde_json::to_value(read).unwrap());
                assert!(read.as_ref().is_ok_and(|read| *read == settings), "{of}: {file}: {read:?}");
            }
            assert_eq!(found.len(), 1, "{of}: {name:?} changes {found:?}");
            assert!(changed.insert(found[0].clone()), "{of}: {name:?} changes {found:?}, as another one does");
        }
        assert!(!changed.is_empty(), "{of}");
    }

    #[test]
    fn each_argument_of_all_settings_reaches_its_setting() {
        each_argument_changes_a_setting::<PrepareSettings>("prepare");
        each_argument_changes_a_setting::<dyad_trainer::data::label::LabelSettings>("label");
        each_argument_changes_a_setting::<dyad_trainer::fit::regression::FitSettings>("fit");
        each_argument_changes_a_setting::<dyad_trainer::learn::settings::TrainingSettings>("train");
        each_argument_changes_a_setting::<dyad_trainer::levels::prepare::RecordSettings>("level prepare");
        each_argument_changes_a_setting::<dyad_trainer::levels::training::LevelSettings>("level train");
        each_argument_changes_a_setting::<dyad_trainer::selftrain::generator::GeneratorSettings>("datagen");
        each_argument_changes_a_setting::<dyad_trainer::tune::state::TuningSettings>("spsa");
        each_argument_changes_a_setting::<super::super::match_::MatchSettings>("match");
        each_argument_changes_a_setting::<super::super::match_::Files>("match");
    }

    #[test]
    fn a_run_is_resumed_with_its_own_settings_alone() {
        let [saved, same, other] = [(3, 1), (3, 2), (4, 1)]
            .map(|(depth, threads)| serde_json::json!({ "schedule": { "depth": depth }, "threads": threads }));
        assert_eq!(check_same(&saved, &same, &["threads"]), Ok(()));
        assert_eq!(
            check_same(&saved, &other, &["threads"]).unwrap_err(),
            "--resume: schedule.depth is 4 here, and 3 in the run"
        );
        // A setting at its default may be left out.
        let varied = serde_json::json!({ "schedule": { "depth": 3, "policy-openings": 0.3 }, "threads": 1 });
        assert!(check_same(&varied, &saved, &[]).is_err() && check_same(&saved, &varied, &[]).is_err());
    }
}
