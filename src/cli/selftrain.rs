//! `dyad selftrain`: generations of self-play, training and matches.
//!
//! The first Ctrl-C stops it within about a second and keeps everything, a second one stops it at once;
//! `dyad selftrain FOLDER --resume` resumes after either. The first one is how a training without a number of
//! generations ends, and a failure of one that has a number.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use dyad_engine::eval::Weights;
use dyad_trainer::arena::openings::Variant;
use dyad_trainer::base::words::{counted, grouped};
use dyad_trainer::report::LivePage;
use dyad_trainer::selftrain::{
    self, End, Method, MethodName, Overrides, Preset, SelfTrainEvent, SelfTrainSettings, SelfTrainSummary, Source,
};

use super::progress::ProgressDisplay;
use super::settings::SettingsFile;
use super::{Outcome, Threads, load_weights, stop_on_interrupt, with_default};

#[derive(Args)]
pub struct Arguments {
    /// Folder of the training, new or empty
    folder: PathBuf,
    /// Resume the training in FOLDER; other arguments take effect from its next generation on
    #[arg(long)]
    resume: bool,
    /// Initial weights: a file, `default` or `material` [default: material]
    #[arg(long, conflicts_with = "resume")]
    weights: Option<PathBuf>,
    /// Learn from the games of FILE (PGN, also packed) instead of self-play; comparison only
    #[arg(long, value_name = "FILE")]
    games_file: Option<PathBuf>,
    /// Play Chess960
    #[arg(long, conflicts_with = "dfrc")]
    chess960: bool,
    /// Play double Chess960: each side's first rank is drawn separately
    #[arg(long)]
    dfrc: bool,
    #[command(flatten)]
    file: SettingsFile,
    #[command(flatten)]
    settings: Overrides,
}

/// Begins or resumes a training.
pub fn run(arguments: Arguments) -> Outcome {
    let (folder, is_resumed, weights) = (arguments.folder.clone(), arguments.resume, arguments.weights.clone());
    let overrides = arguments.overrides()?;
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
        selftrain::resume(&folder, &overrides, None, &stop, &mut on_event)
    } else {
        let start = load_weights(weights.as_deref().unwrap_or(Path::new("material")))?;
        let settings = SelfTrainSettings::resolve(&start, &overrides)?;
        selftrain::begin(&settings, &start, &Weights::embedded(), &folder, &stop, &mut on_event)
    };
    drop(progress);
    let summary = summary?;
    if let Some(problem) = page.finish() {
        eprintln!("{problem}");
    }
    print_summary(&summary, &folder);
    match summary.end {
        End::Stopped if generations > 0 => Err(format!("stopped; generation {generations} is not complete").into()),
        _ => Ok(()),
    }
}

fn print_summary(summary: &SelfTrainSummary, folder: &Path) {
    let SelfTrainSummary { end, generations, adopted, best, playing, reference } = summary;
    println!("{end}: {}, {adopted} adopted", counted(u64::from(*generations), "generation", "generations"));
    match best {
        Some(path) => println!("best weights: {}", path.display()),
        None => println!("no generation has beaten the initial weights yet"),
    }
    match playing {
        0 => println!("no generation is proven to beat {reference} yet"),
        playing => {
            println!("generation {playing} is proven to beat {reference}: {}", folder.join("playing.json").display());
        }
    }
    if *end != End::Finished {
        println!("resume with: dyad selftrain {} --resume", folder.display());
    }
}

impl Arguments {
    /// The settings of the file, and the arguments over them; a new training has a number of threads.
    fn overrides(self) -> Result<Overrides, String> {
        let mut overrides = self.settings;
        let long_games = overrides.long_games;
        if self.resume && overrides.preset.is_some() {
            return Err("preset: a training that is resumed keeps its own; leave out --preset".to_string());
        }
        if long_games.is_some() {
            overrides.set_long_games(long_games);
        }
        if let Some(games) = self.games_file {
            overrides.source = Some(Source::Games(std::path::absolute(&games).unwrap_or(games)));
        }
        if self.chess960 || self.dfrc {
            overrides.variant = Some(if self.chess960 { Variant::Chess960 } else { Variant::DoubleChess960 });
        }
        if !self.resume {
            overrides.threads = Some(Threads { threads: overrides.threads }.checked()?);
        }
        Ok(overrides)
    }
}

/// The presets of the help: the others differ in a few numbers.
const SHOWN: [Preset; 2] = [Preset::Scratch, Preset::Improve];

type Number = fn(&SelfTrainSettings) -> Option<u64>;

/// The numbers with defaults by the preset.
const NUMBERS: [(&str, Number); 8] = [
    ("nodes", |s| Some(s.nodes)),
    ("label-nodes", |s| comparison(s).map(|own| own.label_nodes)),
    ("positions", |s| Some(s.positions)),
    ("depth", |s| comparison(s).map(|own| own.depth.into())),
    ("batch", |s| comparison(s).map(|own| own.batch as u64)),
    ("match-games", |s| Some(s.match_games)),
    ("match-nodes", |s| Some(s.match_nodes)),
    ("tuning-pairs", |s| Some(s.tuning_pairs)),
];

/// The help with the defaults of the presets.
pub fn with_presets(tool: Command) -> Command {
    let tool = tool.after_help(presets());
    NUMBERS.iter().fold(tool, |tool, (name, _)| with_default(tool, &name.replace('-', "_"), "by the preset, see below"))
}

fn presets() -> String {
    let settings = MethodName::ALL.map(|method| SHOWN.map(|preset| SelfTrainSettings::preset(preset, method)));
    let mut text = format!("{:<14}", "Defaults:");
    for method in MethodName::ALL {
        write!(text, "{method:>22}").expect("a string takes everything");
    }
    write!(text, "\n{:14}", "").expect("as above");
    for preset in MethodName::ALL.iter().flat_map(|_| SHOWN) {
        write!(text, "{preset:>11}").expect("as above");
    }
    for (name, number) in NUMBERS {
        write!(text, "\n  {name:<12}").expect("as above");
        for settings in settings.as_flattened() {
            let number = number(settings).map_or_else(|| "-".to_string(), grouped);
            write!(text, "{number:>11}").expect("as above");
        }
    }
    text
}

fn comparison(settings: &SelfTrainSettings) -> Option<&selftrain::Comparison> {
    match &settings.method {
        Method::Comparison(own) => Some(own),
        Method::Regression(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(line: &[&str]) -> Arguments {
        Line::parse_from([&["selftrain", "folder"], line].concat()).arguments
    }

    fn resolve(line: &[&str]) -> Result<SelfTrainSettings, String> {
        SelfTrainSettings::resolve(&Weights::material(), &parse(line).overrides()?)
    }

    /// Each option changes its setting and no other one, also where the value is the default of a preset.
    #[test]
    fn every_option_is_obeyed_or_refused() {
        let json = |line: &[&str]| serde_json::to_value(resolve(line).unwrap()).unwrap();
        let common: [(&[&str], &str, serde_json::Value); 12] = [
            (&["--seed", "7"], "seed", 7.into()),
            (&["--nodes", "300"], "nodes", 300.into()),
            (&["--nodes", "250"], "nodes", 250.into()),
            (&["--positions", "20000"], "positions", 20_000.into()),
            (&["--generations", "7"], "generations", 7.into()),
            (&["--threads", "7"], "threads", 7.into()),
            (&["--match-games", "120"], "match-games", 120.into()),
            (&["--match-nodes", "1000"], "match-nodes", 1_000.into()),
            (&["--tuning-pairs", "7"], "tuning-pairs", 7.into()),
            (&["--long-nodes", "7"], "long-nodes", 7.into()),
            (&["--minutes", "7"], "minutes", 7.into()),
            (&["--dfrc"], "variant", "double-chess960".into()),
        ];
        let of_comparison: [(&[&str], &str, serde_json::Value); 3] = [
            (&["--depth", "1"], "depth", 1.into()),
            (&["--label-nodes", "2000"], "label-nodes", 2_000.into()),
            (&["--batch", "255"], "batch", 255.into()),
        ];
        for method in MethodName::ALL {
            let method = ["--method", &method.to_string()].map(str::to_string);
            let plain: Vec<&str> = method.iter().map(String::as_str).collect();
            for (line, key, value) in common.iter().chain(&of_comparison) {
                let line = [&plain, *line].concat();
                if plain[1] == "regression" && of_comparison.iter().any(|(_, other, _)| other == key) {
                    let error = resolve(&line).unwrap_err();
                    assert!(error.starts_with(&format!("{key} belongs to comparison training")), "{error}");
                    continue;
                }
                let mut expected = json(&plain);
                expected[*key] = value.clone();
                assert_eq!(json(&line), expected, "{line:?}");
            }
        }
        assert_eq!(json(&[]), json(&["--method", "regression", "--preset", "scratch"]));
        assert_eq!(json(&["--games-file", "a.pgn"])["method"], "comparison");
        assert_eq!(json(&["--games-file", "a.pgn", "--scores", "white"])["scores"], "white");
        assert!(Line::try_parse_from(["selftrain", "folder", "--scores", "white"]).is_err());
        let error = resolve(&["--games-file", "a.pgn", "--method", "regression"]).unwrap_err();
        assert!(error.starts_with("source belongs to comparison training"), "{error}");
        let long = json(&["--long-games", "50"]);
        assert_eq!((&long["long-games"], &long["distance-games"]), (&50.into(), &selftrain::MOST_FOR_DISTANCE.into()));
        let resumed = parse(&["--resume", "--nodes", "300"]).overrides().unwrap();
        assert_eq!(resumed, Overrides { nodes: Some(300), ..Overrides::default() });
    }

    #[test]
    fn the_help_has_the_defaults_of_all_presets() {
        let text = presets();
        assert!(text.contains("  nodes               250      1,000        300      1,000"), "{text}");
        assert!(text.contains("  batch                 -          -        256        256"), "{text}");
    }
}
