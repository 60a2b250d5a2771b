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
}
