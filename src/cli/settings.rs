//! Settings files: the options of a tool as JSON.
//!
//! The keys of a file are the names of options. They are put in front of the options of the command line, so a setting
//! is parsed, checked and refused as its option is, and there is no other list of settings. One file may serve several
//! tools: each finds its settings under its own name. A file without that name holds the settings of one tool alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use dyad_formats::files;
use serde::Serialize;
use serde_json::{Map, Value};

/// Bytes of the largest file that is read.
const LARGEST: u64 = 1 << 20;

/// The option that names a settings file.
const SETTINGS: &str = "settings";

/// The option of a tool that reads a settings file.
#[derive(Args)]
#[group(skip)]
pub struct SettingsFile {
    /// JSON file of options, which those of the command line override
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
}

/// Parses the words of the command line, and the settings of the file that they name.
///
/// # Errors
/// When the file cannot be read, and when an option or a setting is unknown or has a wrong value.
pub fn parse(command: &Command, words: Vec<OsString>) -> Result<ArgMatches, Error> {
    // Groups that only arguments name are there once the command is built.
    let mut built = command.clone();
    built.build();
    let (names, tool) = tool_of(&built, &words);
    let (before, own) = words.split_at(1 + names.len());
    let Some(path) = path_in(tool, own) else { return command.clone().try_get_matches_from(words) };
    let settings = read(&path, &names.join("-")).and_then(|settings| {
        let given = given_in(tool, own);
        let settings = settings.iter().map(|(name, value)| option_words(tool, &given, name, value));
        settings.collect::<Result<Vec<_>, _>>().map_err(|error| format!("{}: {error}", path.display()))
    });
    let settings = settings.map_err(|error| command.clone().error(clap::error::ErrorKind::ValueValidation, error))?;
    let from_file: Vec<OsString> = settings.into_iter().flatten().map(OsString::from).collect();
    let parsed = command.clone().try_get_matches_from([before, &from_file, own].concat());
    parsed.map_err(|error| with_source(error, &from_file, &path))
}

/// The tool that the words call, and its name in parts: `level` and `train`.
fn tool_of<'a>(command: &'a Command, words: &[OsString]) -> (Vec<String>, &'a Command) {
    let (mut names, mut tool) = (Vec::new(), command);
    for word in words.iter().skip(1) {
        let Some(inner) = tool.find_subcommand(word) else { break };
        names.push(inner.get_name().to_string());
        tool = inner;
    }
    (names, tool)
}

/// The settings file that the words of a tool name.
fn path_in(tool: &Command, words: &[OsString]) -> Option<PathBuf> {
    find(tool, SETTINGS)?;
    let option = format!("--{SETTINGS}");
    let at = words.iter().position(|word| word.to_string_lossy().split('=').next() == Some(&option))?;
    let in_word = words[at].to_str().and_then(|word| word.split_once('=')).map(|(_, path)| PathBuf::from(path));
    in_word.or_else(|| words.get(at + 1).map(PathBuf::from))
}

fn find<'a>(tool: &'a Command, name: &str) -> Option<&'a Arg> {
    tool.get_arguments().find(|argument| argument.get_long() == Some(name))
}

/// The options among the words.
fn given_in<'a>(tool: &'a Command, words: &[OsString]) -> Vec<&'a Arg> {
    let option = |word: &OsString| {
        let word = word.to_str()?;
        match word.strip_prefix("--") {
            Some(name) => find(tool, name.split('=').next()?),
            None => {
                let short = word.strip_prefix('-')?.chars().next()?;
                tool.get_arguments().find(|argument| argument.get_short() == Some(short))
            }
        }
    };
    words.iter().filter_map(option).collect()
}

/// The settings of `tool` in the file at `path`.
fn read(path: &Path, tool: &str) -> Result<Map<String, Value>, String> {
    let text = files::read(path, LARGEST).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    section(&text, tool).map_err(|error| format!("{}: {error}", path.display()))
}

fn section(text: &[u8], tool: &str) -> Result<Map<String, Value>, String> {
    let mut file: Map<String, Value> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    match file.remove(tool) {
        None => Ok(file),
        Some(Value::Object(own)) => Ok(own),
        Some(other) => Err(format!("{tool}: expected an object of settings, found {other}")),
    }
}

/// The words that give an option of `tool` the value of a setting; none if the command line has it, or an option that
/// excludes it.
fn option_words(tool: &Command, given: &[&Arg], name: &str, value: &Value) -> Result<Vec<String>, String> {
    let option = find(tool, name).filter(|option| option.get_long() != Some(SETTINGS)).ok_or_else(|| {
        let known = tool.get_arguments().filter_map(Arg::get_long).filter(|name| ![SETTINGS, "help"].contains(name));
        format!("there is no setting {name}; there are {}", known.collect::<Vec<_>>().join(", "))
    })?;
    if given.iter().any(|other| excludes(tool, option, other)) {
        return Ok(Vec::new());
    }
    let wrong = |expected: &str| Err(format!("{name}: expected {expected}, found {value}"));
    let is_flag = !option.get_action().takes_values() || option.get_num_args().is_some_and(|n| n.max_values() == 0);
    let count = option.get_num_args().map_or(1, |range| range.min_values());
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Bool(is_set) if is_flag => Ok(is_set.then(|| format!("--{name}")).into_iter().collect()),
        _ if is_flag => wrong("true or false"),
        Value::Array(values) if count > 1 => {
            let values = values.iter().map(word).collect::<Option<Vec<_>>>();
            values.map_or_else(|| wrong("numbers"), |values| Ok([vec![format!("--{name}")], values].concat()))
        }
        Value::Array(values) if matches!(option.get_action(), ArgAction::Append) => {
            let values = values.iter().map(|value| Some(format!("--{name}={}", word(value)?))).collect::<Option<_>>();
            values.map_or_else(|| wrong("a list of words or numbers"), Ok)
        }
        Value::Object(values) if matches!(option.get_action(), ArgAction::Append) => {
            let pair = |(key, value): (&String, &Value)| Some(format!("--{name}={key}={}", word(value)?));
            values.iter().map(pair).collect::<Option<_>>().map_or_else(|| wrong("words or numbers by name"), Ok)
        }
        _ => word(value).map_or_else(|| wrong("a word or a number"), |value| Ok(vec![format!("--{name}={value}")])),
    }
}

/// Whether only one of two options can be used.
fn excludes(tool: &Command, one: &Arg, other: &Arg) -> bool {
    let conflicts = |one: &Arg, other: &Arg| {
        tool.get_arg_conflicts_with(one).iter().any(|conflict| conflict.get_id() == other.get_id())
    };
    let is_exclusive = |group: &clap::ArgGroup| {
        let members: Vec<_> = group.get_args().collect();
        !group.clone().is_multiple() && members.contains(&one.get_id()) && members.contains(&other.get_id())
    };
    one.get_id() == other.get_id()
        || conflicts(one, other)
        || conflicts(other, one)
        || tool.get_groups().any(is_exclusive)
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Adds to the error of an option that it comes from the file.
fn with_source(mut error: Error, from_file: &[OsString], path: &Path) -> Error {
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.split([' ', '=']).next().unwrap_or_default().to_string(),
        _ => return error,
    };
    if from_file.iter().any(|word| word.to_string_lossy().split('=').next() == Some(&option)) {
        let source = StyledStr::from(format!("'{option}' is a setting of {}", path.display()));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![source]));
    }
    error
}

/// Settings of type `T`, which know which of them were given.
pub struct Given<T> {
    /// The settings that were given, and the defaults of the others.
    pub settings: T,
    given: ArgMatches,
}

impl<T: FromArgMatches> Given<T> {
    /// `settings`, and over them those that were given.
    pub fn over(&self, mut settings: T) -> T {
        settings.update_from_arg_matches(&self.given).expect("the arguments were parsed before");
        settings
    }

    /// Those that were given, by their names.
    pub fn json(&self) -> Map<String, Value>
    where
        T: Serialize,
    {
        let Ok(Value::Object(mut all)) = serde_json::to_value(&self.settings) else { return Map::new() };
        all.retain(|name, _| self.given.value_source(&name.replace('-', "_")).is_some());
        all
    }
}

impl<T: Args> Args for Given<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given<T>, Error> {
        let mut given = matches.clone();
        let is_default = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::DefaultValue);
        for id in matches.ids().filter(is_default) {
            given.try_clear_id(id.as_str()).expect("the id is one of the arguments");
        }
        Ok(Given { settings: T::from_arg_matches(matches)?, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
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
    use super::*;
    use clap::Parser;
    use dyad_trainer::data::prepare::PrepareSettings;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        tool: Tool,
    }

    #[derive(clap::Subcommand)]
    enum Tool {
        Prepare(Prepare),
    }

    #[derive(Args)]
    struct Prepare {
        #[command(flatten)]
        file: SettingsFile,
        #[command(flatten)]
        settings: Given<PrepareSettings>,
        #[arg(long, group = "limit")]
        nodes: Option<u64>,
        #[arg(long, group = "limit")]
        depth: Option<u64>,
        #[arg(long, num_args = 2, allow_negative_numbers = true)]
        range: Option<Vec<i64>>,
        #[arg(long)]
        factor: Vec<String>,
    }

    /// The arguments over a file with `text`.
    fn over(text: &str, arguments: &[&str]) -> Result<Prepare, String> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dyad-settings-{}-{number}.json", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let words = [&["dyad", "prepare", "--settings", path.to_str().unwrap()], arguments].concat();
        let command = <Line as clap::CommandFactory>::command();
        let matches = parse(&command, words.into_iter().map(OsString::from).collect());
        std::fs::remove_file(&path).unwrap();
        let Tool::Prepare(prepare) = Line::from_arg_matches(&matches.map_err(|error| error.to_string())?).unwrap().tool;
        Ok(prepare)
    }

    #[test]
    fn settings_are_found_under_the_name_of_the_tool_or_alone() {
        for text in [r#"{"seed": 7}"#, r#"{"train": {"depth": 2}, "prepare": {"seed": 7}}"#] {
            let expected = PrepareSettings { seed: 7, ..PrepareSettings::default() };
            assert_eq!(over(text, &[]).unwrap().settings.settings, expected);
        }
        for (text, expected) in [
            (r#"{"sead": 7}"#, "there is no setting sead; there are "),
            (r#"{"fit": {"seed": 7}}"#, "there is no setting fit"),
            (r#"{"settings": "a.json"}"#, "there is no setting settings"),
            (r#"{"prepare": {"seed": "x"}}"#, "is a setting of "),
            (r#"{"prepare": {"seed": [7]}}"#, "seed: expected a word or a number, found [7]"),
            (r#"{"quiet": 7}"#, "quiet: expected true or false, found 7"),
            (r#"{"range": [[]]}"#, "range: expected numbers"),
            (r#"{"prepare": 7}"#, "prepare: expected an object of settings, found 7"),
            (r#"{"nodes": 1, "depth": 1}"#, "cannot be used with"),
            ("7", "expected a map"),
            ("{", "EOF while parsing"),
        ] {
            let error = over(text, &[]).err().unwrap_or_else(|| panic!("{text}"));
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn options_override_the_file_and_the_file_the_defaults() {
        let file = r#"{"seed": 7, "test-percent": 9, "quiet": true, "quiescent": true, "scored": false, "nodes": 5,
            "range": [-1, 3], "factor": {"a": 0.5, "b": 2}, "split-by": ["b.pgn", "c.pgn"], "positions": null}"#;
        let words = ["a.pgn", "--seed", "1", "--quiet", "--depth=3", "--split-by", "d.pgn"];
        let prepare = over(file, &words).unwrap();
        let settings = &prepare.settings.settings;
        assert_eq!((settings.seed, settings.test_percent, settings.filters.quiet), (1, 9.0, true));
        assert_eq!((settings.filters.quiescent, settings.filters.scored), (true, false));
        assert_eq!((prepare.nodes, prepare.depth), (None, Some(3)));
        assert_eq!((prepare.range, prepare.factor), (Some(vec![-1, 3]), vec!["a=0.5".to_string(), "b=2".to_string()]));
        assert_eq!(settings.split_by.len(), 1);
        assert!(prepare.file.settings.is_some());
        // A resumed run keeps what neither of them gives.
        let saved = PrepareSettings { count: Some(5), seed: 9, ..PrepareSettings::default() };
        let resumed = prepare.settings.over(saved);
        assert_eq!((resumed.count, resumed.seed, resumed.test_percent), (Some(5), 1, 9.0));
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
