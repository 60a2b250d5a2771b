//! Spellings of earlier releases: the error of an old command or option says what it is called now.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands of earlier releases, and what they are called now.
pub const COMMANDS: [(&str, &str); 3] =
    [("games", "datagen"), ("average", "weights average"), ("quality", "weights quality")];

/// Options of earlier releases by command, and what they are called now.
const OPTIONS: [(&str, &str, &str); 34] = [
    ("prepare", "--count", "--positions"),
    ("prepare", "--no-checks", "--skip-in-check"),
    ("prepare", "--still", "--quiescent"),
    ("prepare", "--decided", "--min-margin"),
    ("prepare", "--told-by", "--chosen-by"),
    ("prepare", "--forced", "--keep-forced"),
    ("prepare", "--book", "--keep-book"),
    ("prepare", "--mates", "--keep-mates"),
    ("label", "--decided", "--min-margin"),
    ("train", "--start", "--weights"),
    ("train", "--l2", "--weight-decay"),
    ("train", "--hold-start", "--regularize-toward start"),
    ("train", "--group-rate", "--rate-factor"),
    ("train", "--average", "--averaging"),
    ("train", "--tests", "--test-positions"),
    ("fit", "--from", "--weights"),
    ("fit", "--start", "--weights"),
    ("fit", "--rate", "--group-rate"),
    ("fit", "--hold-start", "--regularize-toward start"),
    ("selftrain", "--start", "--weights"),
    ("selftrain", "--games", "--games-file"),
    ("match", "--concurrency", "--threads"),
    ("suite", "--concurrency", "--threads"),
    ("spsa", "--directions", "--list-weights"),
    ("spsa", "--concurrency", "--threads"),
    ("report", "--output", "--out"),
    ("experiment", "--scale", "--size"),
    ("experiment", "--games", "--games-file"),
    ("weights quality", "--games", "--games-file"),
    ("level prepare", "--train", "--positions"),
    ("level prepare", "--test", "--test-positions"),
    ("level calibrate", "--concurrency", "--threads"),
    ("level estimate", "--games", "--max-games"),
    ("level estimate", "--players", "--max-players"),
];

/// Commands and options that are gone, and why.
const REMOVED: [(&str, &str); 4] = [
    ("stray", "matches found no gain in positions off the games"),
    ("level style", "from twenty games a style did not identify its player among ten"),
    ("fit --back-off", "matches found no gain in shared factors of 2-tuples"),
    ("train --plain-search", "it was a check of the search, which a test makes now"),
];

/// Adds to the error of an unknown command or option what it is called now.
pub fn advise(mut error: Error, words: &[String]) -> Error {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.split(['=', ' ']).next().unwrap_or_default().to_string()),
        _ => None,
    };
    let advice = match error.kind() {
        ErrorKind::InvalidSubcommand => of(ContextKind::InvalidSubcommand).and_then(|word| command(words, &word)),
        ErrorKind::UnknownArgument => of(ContextKind::InvalidArg).and_then(|option| self::option(words, &option)),
        ErrorKind::MissingRequiredArgument => resume(words),
        _ => None,
    };
    if let Some(advice) = advice {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
    }
    error
}

fn command(words: &[String], word: &str) -> Option<String> {
    let moved = COMMANDS.iter().find(|(old, _)| *old == word);
    moved.map(|(old, new)| format!("'dyad {old}' is now 'dyad {new}'")).or_else(|| removed(&tool(words)?))
}

fn option(words: &[String], option: &str) -> Option<String> {
    let command = tool(words)?;
    let moved = OPTIONS.iter().find(|(of, old, _)| (*of, *old) == (&command, option));
    moved.map(|(_, old, new)| format!("'{old}' is now '{new}'")).or_else(|| removed(&format!("{command} {option}")))
}

/// The tool that the words call, with its group.
fn tool(words: &[String]) -> Option<String> {
    match words {
        [group, tool, ..] if ["level", "weights"].contains(&group.as_str()) => Some(format!("{group} {tool}")),
        [tool, ..] => Some(tool.clone()),
        [] => None,
    }
}

fn removed(what: &str) -> Option<String> {
    let found = REMOVED.iter().find(|(old, _)| *old == what);
    found.map(|(old, why)| format!("'dyad {old}' was removed: {why}"))
}

/// `--resume FOLDER` is now `--out FOLDER --resume`.
fn resume(words: &[String]) -> Option<String> {
    let tool = words.first().filter(|tool| ["train", "spsa"].contains(&tool.as_str()))?;
    let at = words.iter().position(|word| word == "--resume")?;
    let folder = words.get(at + 1).map_or("FOLDER", String::as_str);
    Some(format!("'--resume' takes no value now: dyad {tool} --out {folder} --resume"))
}
