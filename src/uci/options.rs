//! The options: one table, from which the listing, the defaults and the parsing are made.
//!
//! A row says how the option looks to a GUI and what setting it does. To add an option is to add a
//! row (and a field of [`Settings`], if something has to remember it).
//!
//! GUIs send every option before each game, in alphabetical order, with the value they think is the
//! default. So setting an option to the value it has must be harmless, and none may rely on another
//! being set before.

use std::path::{Path, absolute};
use std::sync::Arc;
use std::time::Duration;

use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search;
use dyad_engine::search::params::{self, TUNABLES, Tunable};
use vampirc_uci::{Serializable, UciOptionConfig};

use super::command::quote;
use super::go::number;

/// The engine and what the user has chosen for it: what a job borrows while it runs.
pub struct Session {
    /// Searches with the chosen table, threads and weights.
    pub engine: Engine,
    /// The choices that are handed to each search.
    pub settings: Settings,
}

/// The values of options that the engine does not keep itself.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Handed to the engine with each search.
    pub search: search::Options,
    /// Whether info lines tell the chances to win, draw and lose.
    pub show_wdl: bool,
    /// The weights file in use; empty for the embedded weights.
    pub weights_file: String,
}

/// A value read and what is to be done with it, when the engine is free.
type Set = Box<dyn FnOnce(&mut Session) -> Outcome>;

/// What setting an option has to say to the user, or why it could not be set.
type Outcome = Result<Option<String>, String>;

enum Kind {
    Check {
        default: bool,
        set: fn(&mut Session, bool),
    },
    Spin {
        default: i64,
        min: i64,
        max: i64,
        set: fn(&mut Session, i64) -> Outcome,
    },
    Text {
        set: fn(&mut Session, &str) -> Outcome,
    },
    Button {
        press: fn(&mut Session),
    },
    /// A constant of the search, in a build for tuning.
    Constant(Tunable),
}

struct Row {
    name: &'static str,
    kind: Kind,
}

/// All options of this build.
fn rows() -> impl Iterator<Item = Row> {
    let constants = if cfg!(feature = "tune") { TUNABLES } else { &[] };
    let constants = constants.iter().map(|&constant| Row { name: constant.name, kind: Kind::Constant(constant) });
    TABLE.into_iter().chain(constants)
}

#[rustfmt::skip]
const TABLE: [Row; 9] = [
    Row { name: "Hash", kind: Kind::Spin { default: 16, min: 1, max: 1 << 20, set: |session, megabytes| {
        session.engine.set_hash(megabytes as usize).map_err(|error| error.to_string())?;
        Ok(None)
    } } },
    Row { name: "Threads", kind: Kind::Spin { default: 1, min: 1, max: 1024, set: |session, threads| {
        session.engine.set_threads(threads as usize);
        Ok(None)
    } } },
    Row { name: "MultiPV", kind: Kind::Spin { default: 1, min: 1, max: 256, set: |session, lines| {
        session.settings.search.multipv = lines as usize;
        Ok(None)
    } } },
    // Says that the engine can; whether it ponders is the GUI's affair.
    Row { name: "Ponder", kind: Kind::Check { default: false, set: |_, _| {} } },
    Row { name: "Move Overhead", kind: Kind::Spin { default: 10, min: 0, max: 5000, set: |session, milliseconds| {
        session.settings.search.move_overhead = Duration::from_millis(milliseconds as u64);
        Ok(None)
    } } },
    Row { name: "Clear Hash", kind: Kind::Button { press: |session| session.engine.clear() } },
    Row { name: "UCI_ShowWDL", kind: Kind::Check { default: false, set: |session, on| session.settings.show_wdl = on } },
    // Playing and analysing are one to this search: no book, no contempt, nothing to leave out.
    Row { name: "UCI_AnalyseMode", kind: Kind::Check { default: false, set: |_, _| {} } },
    Row { name: "WeightsFile", kind: Kind::Text { set: set_weights_file } },
];

impl Session {
    /// An engine with every option at its default.
    pub fn new() -> Session {
        let engine = Engine::new(Weights::embedded());
        let mut session = Session { engine, settings: Settings::default() };
        for row in rows() {
            row.kind.set_default(&mut session).expect("defaults can be set");
        }
        session
    }
}

/// The lines that tell a GUI about the options.
pub fn listing() -> Vec<String> {
    rows().map(|row| row.config().serialize()).collect()
}

/// A value that was found fit for an option, to be set when the engine is free.
pub struct Assignment {
    /// The option.
    pub name: &'static str,
    set: Set,
}

impl Assignment {
    /// Reads what follows `setoption`.
    pub fn parse(text: &str) -> Result<Assignment, String> {
        let (name, value) = split(text)?;
        let row = find(name).ok_or_else(|| format!("unknown option {}", quote(name)))?;
        let set = row.kind.read(value).map_err(|error| format!("{}: {error}", row.name))?;
        Ok(Assignment { name: row.name, set })
    }

    /// Sets the option. What it says names the option already.
    pub fn apply(self, session: &mut Session) -> Outcome {
        let name = self.name;
        match (self.set)(session) {
            Ok(note) => Ok(note.map(|note| format!("{name}: {note}"))),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

fn find(name: &str) -> Option<Row> {
    rows().find(|row| row.name.eq_ignore_ascii_case(name))
}

/// Cuts `name N value V` into its parts. Both may contain the word "value", so the cut is after the
/// longest name that is in the table, and only an unknown name ends at the first "value".
fn split(text: &str) -> Result<(&str, &str), String> {
    let (word, text) = super::command::split_word(text);
    if !word.eq_ignore_ascii_case("name") || text.is_empty() {
        return Err("setoption: expected name <option> [value <value>]".to_string());
    }
    let cuts: Vec<(&str, &str)> = cuts(text);
    let known = cuts.iter().rev().find(|(name, _)| find(name).is_some());
    Ok(*known.unwrap_or(&cuts[0]))
}

/// Every way to cut the text at the word "value", from the shortest name to the whole text as name.
fn cuts(text: &str) -> Vec<(&str, &str)> {
    const MOST: usize = 16;
    let mut cuts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && cuts.len() < MOST {
        let (word, after) = super::command::split_word(rest);
        if word.eq_ignore_ascii_case("value") {
            let name = text[..text.len() - rest.len()].trim_ascii_end();
            cuts.push((name, after.trim_ascii_end()));
        }
        rest = after;
    }
    cuts.push((text.trim_ascii_end(), ""));
    cuts
}

impl Row {
    fn config(&self) -> UciOptionConfig {
        let name = self.name.to_string();
        match self.kind {
            Kind::Check { default, .. } => UciOptionConfig::Check { name, default: Some(default) },
            Kind::Spin { default, min, max, .. } => {
                UciOptionConfig::Spin { name, default: Some(default), min: Some(min), max: Some(max) }
            }
            // The library would print nothing for an empty default, which GUIs take for an error.
            Kind::Text { .. } => UciOptionConfig::String { name, default: Some(EMPTY.to_string()) },
            Kind::Button { .. } => UciOptionConfig::Button { name },
            Kind::Constant(Tunable { default, min, max, .. }) => UciOptionConfig::Spin {
                name,
                default: Some(default.into()),
                min: Some(min.into()),
                max: Some(max.into()),
            },
        }
    }
}

/// How UCI writes an empty text.
const EMPTY: &str = "<empty>";

impl Kind {
    fn set_default(&self, session: &mut Session) -> Outcome {
        match *self {
            Kind::Check { default, set } => set(session, default),
            Kind::Spin { default, set, .. } => return set(session, default),
            Kind::Text { set } => return set(session, ""),
            Kind::Button { .. } | Kind::Constant(_) => {}
        }
        Ok(None)
    }

    /// Checks a value and keeps it together with what is to be done with it.
    fn read(&self, value: &str) -> Result<Set, String> {
        match *self {
            Kind::Check { set, .. } => {
                let on = read_check(value)?;
                Ok(Box::new(move |session| {
                    set(session, on);
                    Ok(None)
                }))
            }
            Kind::Spin { min, max, set, .. } => {
                let number = read_spin(value, min, max)?;
                Ok(Box::new(move |session| set(session, number)))
            }
            Kind::Text { set } => {
                let text = if value == EMPTY { "" } else { value }.to_string();
                Ok(Box::new(move |session| set(session, &text)))
            }
            Kind::Button { press } => Ok(Box::new(move |session| {
                press(session);
                Ok(None)
            })),
            Kind::Constant(Tunable { name, min, max, .. }) => {
                let number = read_spin(value, min.into(), max.into())?;
                Ok(Box::new(move |_| {
                    params::set(name, number as i32);
                    Ok(None)
                }))
            }
        }
    }
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

/// Weights from a file, or the embedded ones when the path is empty. A file that cannot be used
/// changes nothing.
fn set_weights_file(session: &mut Session, path: &str) -> Outcome {
    if path.is_empty() {
        if session.settings.weights_file.is_empty() {
            return Ok(None);
        }
        session.settings.weights_file.clear();
        return Ok(Some(use_weights(session, Weights::embedded(), "embedded weights")));
    }
    let absolute = absolute(Path::new(path)).map_err(|error| format!("{}: {error}", quote(path)))?;
    let weights = Weights::load(&absolute).map_err(|error| format!("{} refused: {error}", absolute.display()))?;
    session.settings.weights_file = path.to_string();
    Ok(Some(use_weights(session, Arc::new(weights), &absolute.display().to_string())))
}

/// Equal weights are left in place, and with them what the engine remembers of its searches.
fn use_weights(session: &mut Session, weights: Arc<Weights>, origin: &str) -> String {
    let id = weights.id();
    if id != session.engine.weights().id() {
        session.engine.set_weights(weights);
    }
    format!("{origin} ({id})")
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
        ] {
            assert_eq!(Assignment::parse(text).is_ok(), ok, "{text:?}");
        }
    }

    #[test]
    fn names_hold_none_of_the_words_that_gui_parsers_look_for() {
        for row in rows() {
            for word in row.name.split(' ') {
                assert!(!["name", "value", "type", "default", "min", "max", "var"].contains(&word));
            }
        }
    }
}
