//! The UCI options, in one table.
//!
//! A row has the declaration of an option for GUIs and its effect. A new option needs a row, and a field of
//! [`SessionSettings`](crate::session::SessionSettings) if its value is used later. Most options belong to the session
//! and are set after a running search; those of the self-training belong to [`Training`] and are set at once.
//!
//! GUIs send all options before each game, in alphabetical order. So setting an option to its current value has no
//! effect, and no option depends on the order.

use std::time::Duration;

use clap::ValueEnum;
use dyad_engine::board::quote;
use dyad_engine::engine::{DEFAULT_HASH, Engine, MAX_HASH, MAX_THREADS};
use dyad_engine::eval::Weights;
use dyad_engine::params::{TUNABLES, Tunable};
use dyad_engine::search::{HashError, MOVE_OVERHEAD};
use dyad_levels::file::{MAX_ELO, MIN_ELO};
use dyad_trainer::selftrain::Method;
use vampirc_uci::{Serializable, UciOptionConfig};

use super::command::{split_at, split_word};
use super::go::number;
use super::weights;
use crate::opponent::Opponent;
use crate::session::{Outcome, PlayTrained, Session, SessionSettings};
use crate::tables::MOST_PIECES;
use crate::training::{self, MOST_MINUTES, MOST_THREADS, Mode, Training};

/// The type of an option for GUIs, and its effect on its owner.
enum Kind<Owner> {
    Check {
        default: bool,
        set: fn(&mut Owner, bool) -> Outcome,
    },
    Spin {
        default: i64,
        min: i64,
        max: i64,
        set: fn(&mut Owner, i64) -> Outcome,
    },
    /// The first value is the default.
    Combo {
        values: fn() -> Vec<String>,
        set: fn(&mut Owner, &str) -> Outcome,
    },
    Text {
        default: fn() -> String,
        set: fn(&mut Owner, &str) -> Outcome,
    },
    Button {
        press: fn(&mut Owner) -> Outcome,
    },
}

/// The owner of an option.
enum Of {
    Engine(Kind<Session>),
    Training(Kind<Training>),
    /// A search parameter, in a build with the feature `tune`.
    Constant(Tunable),
}

struct Row {
    name: &'static str,
    of: Of,
}

/// All options of this build.
fn rows() -> impl Iterator<Item = Row> {
    let constants = if cfg!(feature = "tune") { TUNABLES } else { &[] };
    let constants = constants.iter().map(|&constant| Row { name: constant.name, of: Of::Constant(constant) });
    TABLE.into_iter().chain(constants)
}

#[rustfmt::skip]
const TABLE: [Row; 27] = [
    Row { name: "Hash", of: Of::Engine(Kind::Spin { default: DEFAULT_HASH as i64, min: 1, max: MAX_HASH as i64, set: |session, megabytes| {
        session.engine.set_hash(megabytes as usize).map_err(|error| error.to_string())?;
        Ok(None)
    } }) },
    Row { name: "Threads", of: Of::Engine(Kind::Spin { default: 1, min: 1, max: MAX_THREADS as i64, set: |session, threads| {
        session.engine.set_threads(threads as usize);
        Ok(None)
    } }) },
    Row { name: "MultiPV", of: Of::Engine(Kind::Spin { default: 1, min: 1, max: 256, set: |session, lines| set(&mut session.settings.search.multipv, lines as usize) }) },
    // Declares that the engine can ponder; the GUI decides whether it does.
    Row { name: "Ponder", of: Of::Engine(Kind::Check { default: false, set: |_, _| Ok(None) }) },
    Row { name: "Move Overhead", of: Of::Engine(Kind::Spin { default: MOVE_OVERHEAD.as_millis() as i64, min: 0, max: 5000, set: |session, milliseconds| set(&mut session.settings.search.move_overhead, Duration::from_millis(milliseconds as u64)) }) },
    Row { name: "Clear Hash", of: Of::Engine(Kind::Button { press: |session| {
        session.engine.clear();
        Ok(None)
    } }) },
    Row { name: "UCI_ShowWDL", of: Of::Engine(Kind::Check { default: false, set: |session, on| set(&mut session.settings.show_wdl, on) }) },
    // Without an effect: the search is the same for games and analysis.
    Row { name: "UCI_AnalyseMode", of: Of::Engine(Kind::Check { default: false, set: |_, _| Ok(None) }) },
    Row { name: "UCI_Chess960", of: Of::Engine(Kind::Check { default: false, set: |session, on| set(&mut session.settings.chess960, on) }) },
    Row { name: "UCI_LimitStrength", of: Of::Engine(Kind::Check { default: false, set: |session, on| {
        session.opponent.limited = on;
        session.trained_reported = false;
        Ok(None)
    } }) },
    Row { name: "UCI_Elo", of: Of::Engine(Kind::Spin { default: MAX_ELO as i64, min: MIN_ELO as i64, max: MAX_ELO as i64, set: |session, elo| set(&mut session.opponent.elo, elo as u32) }) },
    Row { name: "LevelSeed", of: Of::Engine(Kind::Spin { default: 0, min: 0, max: i32::MAX as i64, set: |session, seed| set(&mut session.opponent.seed, seed as u64) }) },
    Row { name: "LevelThinkTime", of: Of::Engine(Kind::Check { default: false, set: |session, on| set(&mut session.opponent.think_time, on) }) },
    Row { name: "SyzygyPath", of: Of::Engine(Kind::Text { default: String::new, set: |session, path| Ok(session.settings.tables.set_path(path)) }) },
    Row { name: "SyzygyProbeDepth", of: Of::Engine(Kind::Spin { default: 1, min: 1, max: 100, set: |session, depth| set(&mut session.settings.tables.depth, depth as i32) }) },
    Row { name: "SyzygyProbeLimit", of: Of::Engine(Kind::Spin { default: MOST_PIECES, min: 0, max: MOST_PIECES, set: |session, pieces| set(&mut session.settings.tables.pieces, pieces as u32) }) },
    Row { name: "Syzygy50MoveRule", of: Of::Engine(Kind::Check { default: true, set: |session, on| set(&mut session.settings.tables.fifty_moves, on) }) },
    Row { name: "WeightsFile", of: Of::Engine(Kind::Text { default: String::new, set: weights::set_file }) },
    Row { name: "PlayTrained", of: Of::Engine(Kind::Combo { values: names::<PlayTrained>, set: weights::set_play_trained }) },
    Row { name: "Train", of: Of::Training(Kind::Combo { values: names::<Mode>, set: Training::set_mode }) },
    Row { name: "Open Training Page", of: Of::Training(Kind::Button { press: Training::press_open_page }) },
    Row { name: "TrainOpenPage", of: Of::Training(Kind::Check { default: false, set: Training::set_open_page }) },
    Row { name: "TrainMethod", of: Of::Training(Kind::Combo { values: training::methods, set: |training, name| training.set(|options| &mut options.method, Method::from_str(name, false).ok()) }) },
    Row { name: "TrainMinutes", of: Of::Training(Kind::Spin { default: 0, min: 0, max: MOST_MINUTES, set: |training, minutes| training.set(|options| &mut options.minutes, minutes) }) },
    Row { name: "TrainThreads", of: Of::Training(Kind::Spin { default: 0, min: 0, max: MOST_THREADS, set: |training, threads| training.set(|options| &mut options.threads, threads) }) },
    Row { name: "TrainFolder", of: Of::Training(Kind::Text { default: training::default_folder, set: |training, folder| training.set(|options| &mut options.folder, folder.to_string()) }) },
    Row { name: "TrainGamesFile", of: Of::Training(Kind::Text { default: String::new, set: |training, file| training.set(|options| &mut options.games, file.to_string()) }) },
];

/// The names of the values of an option, the default first.
fn names<Value: ValueEnum>() -> Vec<String> {
    let values = Value::value_variants().iter().filter_map(Value::to_possible_value);
    values.map(|value| value.get_name().to_string()).collect()
}

/// Sets a field that later jobs read.
fn set<T>(field: &mut T, value: T) -> Outcome {
    *field = value;
    Ok(None)
}

/// A session with the defaults of all options.
///
/// # Errors
/// Without memory for the hash.
pub fn default_session() -> Result<Session, HashError> {
    let engine = Engine::with_hash(Weights::embedded(), DEFAULT_HASH)?;
    let mut session = Session {
        engine,
        opponent: Opponent::new(),
        trained: None,
        trained_reported: false,
        settings: SessionSettings::default(),
    };
    for row in rows() {
        if let Of::Engine(kind) = row.of {
            kind.set_default(&mut session).expect("defaults can be set");
        }
    }
    // `bench` uses the built-in weights; `uci` sets the default of the option.
    session.settings.weights.play_trained = None;
    Ok(session)
}

/// The declarations of the options for GUIs.
pub fn listing() -> Vec<String> {
    rows().map(|row| row.config().serialize()).collect()
}

/// A valid value for an option.
pub struct Assignment {
    /// The option.
    pub name: &'static str,
    /// Sets the option.
    pub set: Set,
}

/// Sets an option to the parsed value.
pub type Setter<Owner> = Box<dyn Fn(&mut Owner) -> Outcome + Send>;

/// A setter, by the owner of the option.
pub enum Set {
    /// To be called when the engine is free.
    Engine(Setter<Session>),
    /// To be called at once.
    Training(Setter<Training>),
}

impl Assignment {
    /// Parses the arguments of `setoption`.
    pub fn parse(text: &str) -> Result<Assignment, String> {
        let (name, value) = split(text)?;
        let row = find(name).ok_or_else(|| format!("unknown option {}", quote(name)))?;
        let set = row.read(value).map_err(|error| format!("{}: {error}", row.name))?;
        Ok(Assignment { name: row.name, set })
    }
}

fn find(name: &str) -> Option<Row> {
    // UCI allows any number of blanks between words.
    let words = |name: &str| name.split_ascii_whitespace().map(str::to_ascii_lowercase).collect::<Vec<_>>();
    let wanted = words(name);
    rows().find(|row| words(row.name) == wanted)
}

/// Splits `name N value V` into name and value. No name contains the word "value".
fn split(text: &str) -> Result<(&str, &str), String> {
    let (word, text) = split_word(text);
    if !word.eq_ignore_ascii_case("name") || text.is_empty() {
        return Err("setoption: expected name <option> [value <value>]".to_string());
    }
    let (name, rest) = split_at(text, "value");
    Ok((name.trim_ascii_end(), split_word(rest).1.trim_ascii_end()))
}

impl Row {
    fn config(&self) -> UciOptionConfig {
        let name = self.name.to_string();
        match &self.of {
            Of::Engine(kind) => kind.config(name),
            Of::Training(kind) => kind.config(name),
            Of::Constant(constant) => spin(name, constant.default.into(), constant.min.into(), constant.max.into()),
        }
    }

    /// Parses a value and returns a setter for it.
    fn read(&self, value: &str) -> Result<Set, String> {
        match &self.of {
            Of::Engine(kind) => kind.read(value).map(Set::Engine),
            Of::Training(kind) => kind.read(value).map(Set::Training),
            &Of::Constant(Tunable { name, min, max, .. }) => {
                let value = read_spin(value, min.into(), max.into())?;
                Ok(Set::Engine(Box::new(move |session| {
                    session.settings.search.params.set(name, value as i32).map(|()| None)
                })))
            }
        }
    }
}

/// The notation of UCI for an empty string.
const EMPTY: &str = "<empty>";

impl<Owner> Kind<Owner> {
    fn config(&self, name: String) -> UciOptionConfig {
        match *self {
            Kind::Check { default, .. } => UciOptionConfig::Check { name, default: Some(default) },
            Kind::Spin { default, min, max, .. } => spin(name, default, min, max),
            Kind::Combo { values, .. } => {
                let var = values();
                UciOptionConfig::Combo { name, default: var.first().cloned(), var }
            }
            // The library prints nothing for an empty default, which GUIs treat as an error.
            Kind::Text { default, .. } => {
                let default = Some(default()).filter(|text| !text.is_empty()).unwrap_or_else(|| EMPTY.to_string());
                UciOptionConfig::String { name, default: Some(default) }
            }
            Kind::Button { .. } => UciOptionConfig::Button { name },
        }
    }

    fn set_default(&self, owner: &mut Owner) -> Outcome {
        match *self {
            Kind::Check { default, set } => set(owner, default),
            Kind::Spin { default, set, .. } => set(owner, default),
            Kind::Combo { values, set } => set(owner, &values()[0]),
            Kind::Text { default, set } => set(owner, &default()),
            Kind::Button { .. } => Ok(None),
        }
    }

    /// Parses a value and returns a setter for it.
    fn read(&self, value: &str) -> Result<Setter<Owner>, String>
    where
        Owner: 'static,
    {
        match *self {
            Kind::Check { set, .. } => {
                let on = read_check(value)?;
                Ok(Box::new(move |owner| set(owner, on)))
            }
            Kind::Spin { min, max, set, .. } => {
                let number = read_spin(value, min, max)?;
                Ok(Box::new(move |owner| set(owner, number)))
            }
            Kind::Combo { values, set } => {
                let chosen = read_combo(value, &values())?;
                Ok(Box::new(move |owner| set(owner, &chosen)))
            }
            Kind::Text { set, .. } => {
                let text = if value == EMPTY { "" } else { value }.to_string();
                Ok(Box::new(move |owner| set(owner, &text)))
            }
            Kind::Button { press } => Ok(Box::new(press)),
        }
    }
}

fn spin(name: String, default: i64, min: i64, max: i64) -> UciOptionConfig {
    UciOptionConfig::Spin { name, default: Some(default), min: Some(min), max: Some(max) }
}

fn read_check(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("expected true or false, not {}", quote(value))),
    }
}

fn read_spin(value: &str, min: i64, max: i64) -> Result<i64, String> {
    number(value)
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| format!("expected a number from {min} to {max}, not {}", quote(value)))
}

fn read_combo(value: &str, values: &[String]) -> Result<String, String> {
    let chosen = values.iter().find(|known| known.eq_ignore_ascii_case(value));
    chosen.cloned().ok_or_else(|| format!("expected {}, not {}", values.join(", "), quote(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        for (text, expected) in [
            ("name Hash value 128", ("Hash", "128")),
            ("name Hash value 128 \t", ("Hash", "128")),
            ("NAME move overhead VALUE 5", ("move overhead", "5")),
            ("name WeightsFile value /a  b/value value", ("WeightsFile", "/a  b/value value")),
            ("name WeightsFile value", ("WeightsFile", "")),
            ("name Clear Hash", ("Clear Hash", "")),
            ("name My value option value 5", ("My", "option value 5")),
        ] {
            assert_eq!(split(text), Ok(expected), "{text:?}");
        }
        for text in ["", "name", "Hash 128", "Hash value 128"] {
            assert!(split(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn values_are_checked() {
        for (text, ok) in [
            ("name Hash value 32", true),
            ("name hash value 32", true),
            ("name Move  \t overhead  value 50", true),
            ("name MoveOverhead value 50", false),
            ("name  Clear   Hash", true),
            ("name Hash value 0", false),
            ("name Hash value 99999999999999999999", false),
            ("name Hash value", false),
            ("name Hash value 32 MB", false),
            ("name Ponder value TRUE", true),
            ("name Ponder value yes", false),
            ("name Clear Hash", true),
            ("name Clear Hash value 1", true),
            ("name WeightsFile value <empty>", true),
            ("name WeightsFile value", true),
            ("name Nonsense value 1", false),
            ("name Train value Scratch", true),
            ("name Train value selfplay", false),
            ("name Train value scratch games", false),
            ("name Train value", false),
            ("name TrainMinutes value 2147483648", false),
            ("name TrainMinutes value 0", true),
            ("name TrainMethod value Comparison", true),
            ("name TrainMethod value fit", false),
            ("name TrainOpenPage value 1", false),
            ("name PlayTrained value Latest", true),
            ("name PlayTrained value always", false),
            ("name Open Training Page", true),
        ] {
            assert_eq!(Assignment::parse(text).is_ok(), ok, "{text:?}");
        }
    }

    #[test]
    fn nothing_is_listed_that_gui_parsers_take_wrong() {
        let words = ["name", "value", "type", "default", "min", "max", "var"];
        for row in rows() {
            for word in row.name.split(' ') {
                assert!(!words.contains(&word.to_ascii_lowercase().as_str()), "{}", row.name);
            }
            match row.config() {
                UciOptionConfig::Spin { default, min, max, .. } => {
                    let (default, min, max) = (default.unwrap(), min.unwrap(), max.unwrap());
                    assert!(min <= default && default <= max && max < 1 << 31, "{}", row.name);
                }
                UciOptionConfig::Combo { default, var, .. } => {
                    assert!(var.contains(&default.unwrap()) && var.iter().all(|value| !value.contains(' ')));
                }
                _ => {}
            }
        }
    }
}
