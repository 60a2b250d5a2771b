//! `dyad selftrain`: generations of self-play, training and matches.
//!
//! The first Ctrl-C stops it within about a second and keeps everything, a second one stops it at once;
//! `dyad selftrain --out FOLDER --resume` resumes after either. The first one is how a training without a number of
//! generations ends, and a failure of one that has a number.

use std::path::{PathBuf, absolute};

use clap::{Args, Command, ValueEnum};
use dyad_engine::eval::Weights;
use dyad_formats::input::is_standard_input;
use dyad_trainer::base::words::grouped;
use dyad_trainer::report::LivePage;
use dyad_trainer::selftrain::{self, End, Method, SelfTrainEvent, SelfTrainSettings};

use super::progress::ProgressDisplay;
use super::settings::Given;
use super::{Outcome, Threads, stop_on_interrupt, with_default};

#[derive(Args)]
pub struct Arguments {
    /// Folder of the training, new or empty; its settings.json may have settings
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// Resume the training in the folder; other arguments take effect from its next generation on
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    settings: Given<SelfTrainSettings>,
}

/// Begins or resumes a training.
pub fn run(arguments: Arguments) -> Outcome {
    let given = arguments.given();
    let Arguments { out: folder, resume: is_resumed, .. } = arguments;
    let stop = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let mut page = LivePage::new(&folder);
    let mut generations = 0;
    let mut on_event = |event: &SelfTrainEvent| {
        if let Some(note) = page.on_event(event) {
            progress.say(&note.to_string());
        }
        match event {
            SelfTrainEvent::Progress(stage) => {
                generations = stage.generations;
                progress.show(|| event.to_string());
            }
            _ => progress.say(&event.to_string()),
        }
    };
    let summary = if is_resumed {
        selftrain::resume(&folder, &given, None, &stop, &mut on_event)
    } else {
        let settings = SelfTrainSettings::resolve(&folder, &given)?;
        selftrain::begin(&settings, &Weights::embedded(), &folder, &stop, &mut on_event)
    };
    drop(progress);
    let summary = summary?;
    if let Some(problem) = page.finish() {
        eprintln!("{problem}");
    }
    println!("{summary}");
    if summary.end != End::Finished {
        println!("resume with: dyad selftrain --out {} --resume", folder.display());
    }
    match summary.end {
        End::Stopped if generations > 0 => Err(format!("stopped; generation {generations} is not complete").into()),
        _ => Ok(()),
    }
}

impl Arguments {
    /// The settings that are given; a new training has a number of threads.
    fn given(&self) -> selftrain::Given {
        let mut given = self.settings.json();
        if let Some(games) = self.settings.settings.games_file.as_ref().filter(|games| !is_standard_input(games)) {
            let path = absolute(games).unwrap_or_else(|_| games.clone());
            given.insert("games-file".to_string(), path.display().to_string().into());
        }
        if !self.resume {
            given.entry("threads").or_insert_with(|| Threads { threads: None }.count().into());
        }
        given
    }
}

/// The numbers with defaults by method.
const NUMBERS: [&str; 7] =
    ["nodes", "label-nodes", "positions", "match-games", "match-nodes", "tuning-pairs", "long-games"];

/// The help of the numbers with their defaults.
pub fn with_presets(tool: Command) -> Command {
    let presets: Vec<_> = Method::value_variants().iter().map(|&method| SelfTrainSettings::of(method)).collect();
    NUMBERS.iter().fold(tool, |tool, name| {
        let number = |preset: &SelfTrainSettings| Some((preset.to_json().get(*name)?.as_u64()?, preset.method));
        let defaults = presets.iter().filter_map(number);
        let defaults: Vec<_> = defaults.map(|(number, method)| format!("{} for {method}", grouped(number))).collect();
        with_default(tool, &name.replace('-', "_"), &defaults.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::{Value, json};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn given(line: &str) -> selftrain::Given {
        Line::parse_from(["selftrain", "--out", "folder"].into_iter().chain(line.split_whitespace())).arguments.given()
    }

    /// Each option gives its setting and no other one, also where the value is a default.
    #[test]
    fn options_are_settings() {
        for (line, name, value) in [
            ("--method regression", "method", json!("regression")),
            ("--variant double-chess960", "variant", json!("double-chess960")),
            ("--seed 1", "seed", json!(1)),
            ("--sprt -10 30 0.05 0.05", "sprt", json!([-10.0, 30.0, 0.05, 0.05])),
            ("--window 8", "window", json!(8)),
        ] {
            let expected =
                [("threads".to_string(), Threads { threads: None }.count().into()), (name.to_string(), value)];
            assert_eq!(given(line), expected.into_iter().collect::<selftrain::Given>(), "{line}");
        }
        assert_eq!(given("--threads 7")["threads"], 7);
        let games = given("--games-file a.pgn")["games-file"].clone();
        assert!(matches!(games, Value::String(path) if path.ends_with("a.pgn") && path != "a.pgn"));
        assert_eq!(given("--resume --nodes 300"), json!({ "nodes": 300 }).as_object().unwrap().clone());
    }

    #[test]
    fn the_help_has_the_defaults_of_both_methods() {
        let help = with_presets(Arguments::augment_args(Command::new("selftrain"))).render_help().to_string();
        for default in ["[default: 250 for regression, 300 for comparison]", "[default: 2,000 for comparison]"] {
            assert!(help.contains(default), "{default}: {help}");
        }
    }
}
