//! Settings as options: which of them were given, and what a resumed run allows.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use serde::Serialize;
use serde_json::{Map, Value};

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
        #[command(flatten)]
        settings: Given<PrepareSettings>,
    }

    /// A resumed run keeps what is not given.
    #[test]
    fn options_override_what_is_saved() {
        let line = Line::parse_from(["prepare", "a.pgn", "--seed", "1", "--test-percent", "9"]);
        let saved = PrepareSettings { count: Some(5), seed: 9, ..PrepareSettings::default() };
        let resumed = line.settings.over(saved);
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
