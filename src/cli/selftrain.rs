//! `dyad selftrain`: generations of self-play, training and matches.
//!
//! The first Ctrl-C stops it within about a second and keeps everything, a second one stops it at once;
//! `dyad selftrain FOLDER --resume` resumes after either.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use dyad_engine::eval::Weights;
use dyad_formats::score::ScoreSide;
use dyad_trainer::arena::openings::Variant;
use dyad_trainer::report::LivePage;
use dyad_trainer::selftrain::{
    self, Context, Event, MOST_FOR_DISTANCE, Method, MethodName, Overrides, Preset, Settings, Source, Summary, grouped,
};

use super::prepare::Side;
use super::progress::Progress;
use super::{Outcome, load_weights, settings, stop_on_interrupt, threads};

#[derive(Args)]
pub struct Arguments {
    /// Folder of the training, new or empty
    folder: PathBuf,
    /// Resume the training in FOLDER; other arguments hold from its next generation on
    #[arg(long)]
    resume: bool,
    /// Initial weights: a file, `default` or `material` [default: material]
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "resume")]
    start: Option<PathBuf>,
    /// Settings from a JSON file; the other arguments override it
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Defaults for training from `scratch`, or to `improve` good weights; `coffee` is from scratch in 10 minutes, `night` takes 8
    /// hours [default: by the initial weights]
    #[arg(long, value_name = "PRESET", conflicts_with = "resume")]
    preset: Option<Preset>,
    /// Train by `regression` to search scores, or by `comparison` of moves [default: regression; comparison with --games]
    #[arg(long, value_name = "METHOD")]
    method: Option<MethodName>,
    /// Learn from the games of FILE (PGN, plain or packed) in place of self-play; comparison only
    #[arg(long, value_name = "FILE")]
    games: Option<PathBuf>,
    /// Side that the scores in the comments of --games are given for [default: scores are not read]
    #[arg(long, value_enum)]
    scores: Option<Side>,
    /// Play Chess960
    #[arg(long, conflicts_with = "dfrc")]
    chess960: bool,
    /// Play double Chess960: each side's first rank is drawn separately
    #[arg(long)]
    dfrc: bool,
    /// Seed of all random draws
    #[arg(long)]
    seed: Option<u64>,
    /// d of d-ply training, 1 for the quiescence leaf of each child; comparison only
    #[arg(long)]
    depth: Option<u32>,
    /// Nodes per self-play move
    #[arg(long)]
    nodes: Option<u64>,
    /// Nodes of the search that finds a desired move; comparison only
    #[arg(long, value_name = "NODES")]
    label_nodes: Option<u64>,
    /// Positions drawn from the games of a generation, at most
    #[arg(long, value_name = "N")]
    positions: Option<u64>,
    /// Number of generations; 0 for no limit [default: 0]
    #[arg(long, value_name = "N")]
    generations: Option<u32>,
    /// Threads [default: one per processor]
    #[arg(long)]
    threads: Option<usize>,
    /// Positions per update of the weights; comparison only
    #[arg(long)]
    batch: Option<usize>,
    /// Games of a match, at most; an odd number is rounded up
    #[arg(long, value_name = "N")]
    match_games: Option<u64>,
    /// Nodes per move in matches and tuning games
    #[arg(long, value_name = "NODES")]
    match_nodes: Option<u64>,
    /// Pairs of games that tune the new weights; 0 for no tuning
    #[arg(long, value_name = "N")]
    tuning_pairs: Option<u64>,
    /// Games of a long match against the built-in weights, at most, and of those that measure the distance; 0 for none
    #[arg(long, value_name = "N")]
    long_games: Option<u64>,
    /// Nodes per move in these games
    #[arg(long, value_name = "NODES")]
    long_nodes: Option<u64>,
    /// Minutes after which the training ends, with a generation; 0 for no limit
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
}

/// Begins or resumes a training.
pub fn run(arguments: &Arguments) -> Outcome {
    let stop = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut page = LivePage::new(&arguments.folder);
    let mut on_event = |event: &Event| {
        if let Some(note) = page.hear(event) {
            progress.say(&note);
        }
        match event {
            Event::Progress(_) => progress.show(|| event.to_string()),
            _ => progress.say(&event.to_string()),
        }
    };
    let context = Context { stop: &stop, on_event: &mut on_event };
    let summary = if arguments.resume {
        selftrain::resume(&arguments.folder, &arguments.over(Overrides::default()), None, context)
    } else {
        let start = load_weights(arguments.start.as_deref().unwrap_or(Path::new("material")))?;
        let settings = Settings::resolve(&start, &arguments.overrides()?)?;
        selftrain::begin(&settings, &start, &Weights::embedded(), &arguments.folder, context)
    };
    drop(progress);
    let summary = summary?;
    if let Some(problem) = page.finish() {
        eprintln!("{problem}");
    }
    print_summary(&summary, &arguments.folder);
    Ok(())
}

fn print_summary(summary: &Summary, folder: &Path) {
    let Summary { finished, generations, adopted, best, playing } = summary;
    let how = if *finished { "finished" } else { "stopped" };
    let plural = if *generations == 1 { "" } else { "s" };
    println!("{how}: {generations} generation{plural}, {adopted} adopted");
    match best {
        Some(path) => println!("best weights: {}", path.display()),
        None => println!("no generation has beaten the initial weights yet"),
    }
    match playing {
        0 => println!("no generation is proven to beat the built-in weights yet"),
        playing => println!(
            "generation {playing} is proven to beat the built-in weights: {}",
            folder.join("playing.json").display()
        ),
    }
    if !finished {
        println!("resume with: dyad selftrain {} --resume", folder.display());
    }
}

impl Arguments {
    /// The arguments and the settings of the file, for a new training.
    fn overrides(&self) -> Result<Overrides, String> {
        let overrides = self.over(settings::load(self.settings.as_deref(), "selftrain")?);
        if self.scores.is_some() && !matches!(overrides.source, Some(Source::Games(_))) {
            return Err("--scores needs the games of a file, --games FILE".to_string());
        }
        Ok(Overrides { threads: Some(threads("threads", overrides.threads)?), ..overrides })
    }

    /// The arguments, and `file` where they give nothing.
    fn over(&self, file: Overrides) -> Overrides {
        let games = self.games.as_ref().map(|games| std::path::absolute(games).unwrap_or_else(|_| games.clone()));
        let variant = match (self.chess960, self.dfrc) {
            (true, _) => Some(Variant::Chess960),
            (false, true) => Some(Variant::DoubleChess960),
            (false, false) => None,
        };
        Overrides {
            preset: self.preset.or(file.preset),
            method: self.method.or(file.method),
            source: games.map(Source::Games).or(file.source),
            scores: self.scores.map(ScoreSide::from).or(file.scores),
            variant: variant.or(file.variant),
            seed: self.seed.or(file.seed),
            depth: self.depth.or(file.depth),
            nodes: self.nodes.or(file.nodes),
            label_nodes: self.label_nodes.or(file.label_nodes),
            positions: self.positions.or(file.positions),
            generations: self.generations.or(file.generations),
            threads: self.threads.or(file.threads),
            batch: self.batch.or(file.batch),
            match_games: self.match_games.or(file.match_games),
            match_nodes: self.match_nodes.or(file.match_nodes),
            tuning_pairs: self.tuning_pairs.or(file.tuning_pairs),
            proof_games: self.long_games.or(file.proof_games),
            distance_games: self.long_games.map(|games| games.min(MOST_FOR_DISTANCE)).or(file.distance_games),
            long_nodes: self.long_nodes.or(file.long_nodes),
            minutes: self.minutes.or(file.minutes),
            ..file
        }
    }
}

/// The presets of the help: the others differ in a few numbers.
const SHOWN: [Preset; 2] = [Preset::Scratch, Preset::Improve];

/// The defaults of the presets, for the help.
pub fn presets() -> String {
    let settings = MethodName::ALL.map(|method| SHOWN.map(|preset| Settings::preset(preset, method)));
    let mut text = "Defaults:".to_string();
    for method in MethodName::ALL {
        write!(text, "  {method:>20}").expect("a string takes everything");
    }
    write!(text, "\n         ").expect("as above");
    for preset in MethodName::ALL.iter().flat_map(|_| SHOWN) {
        write!(text, "  {preset:>9}").expect("as above");
    }
    type Number = fn(&Settings) -> Option<u64>;
    let numbers: [(&str, Number); 8] = [
        ("nodes", |s| Some(s.nodes)),
        ("label-nodes", |s| comparison(s).map(|own| own.label_nodes)),
        ("positions", |s| Some(s.positions)),
        ("depth", |s| comparison(s).map(|own| own.depth.into())),
        ("batch", |s| comparison(s).map(|own| own.batch as u64)),
        ("match-games", |s| Some(s.match_games)),
        ("match-nodes", |s| Some(s.match_nodes)),
        ("tuning-pairs", |s| Some(s.tuning_pairs)),
    ];
    for (name, number) in numbers {
        write!(text, "\n  {name:<12}").expect("as above");
        for settings in settings.as_flattened() {
            let number = number(settings).map_or_else(|| "-".to_string(), grouped);
            write!(text, "{number:>11}").expect("as above");
        }
    }
    text
}

fn comparison(settings: &Settings) -> Option<&selftrain::Comparison> {
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

    fn resolve(line: &[&str]) -> Result<Settings, String> {
        Settings::resolve(&Weights::material(), &parse(line).overrides()?)
    }

    #[test]
    fn a_file_without_threads_leaves_one_for_each_processor() {
        let path = std::env::temp_dir().join(format!("dyad-selftrain-threads-{}.json", std::process::id()));
        let all = threads("threads", None).unwrap();
        for (text, expected) in [("{}", all), (r#"{"threads": 7}"#, 7), (r#"{"selftrain": {"seed": 3}}"#, all)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(resolve(&["--settings", path.to_str().unwrap()]).unwrap().threads, expected, "{text}");
        }
        std::fs::remove_file(&path).unwrap();
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
        assert_eq!(json(&["--games", "a.pgn"])["method"], "comparison");
        assert_eq!(json(&["--games", "a.pgn", "--scores", "white"])["scores"], "white");
        assert!(resolve(&["--scores", "white"]).unwrap_err().starts_with("--scores needs"));
        let error = resolve(&["--games", "a.pgn", "--method", "regression"]).unwrap_err();
        assert!(error.starts_with("source belongs to comparison training"), "{error}");
        let long = json(&["--long-games", "50"]);
        assert_eq!((&long["proof-games"], &long["distance-games"]), (&50.into(), &MOST_FOR_DISTANCE.into()));
        let resumed = parse(&["--resume", "--nodes", "300"]).over(Overrides::default());
        assert_eq!(resumed, Overrides { nodes: Some(300), ..Overrides::default() });
    }

    #[test]
    fn the_help_has_the_defaults_of_all_presets() {
        let text = presets();
        assert!(text.contains("  nodes               250      1,000        300      1,000"), "{text}");
        assert!(text.contains("  batch                 -          -        256        256"), "{text}");
    }
}
