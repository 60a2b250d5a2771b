//! `dyad selftrain`: generations of self-play, training and matches.
//!
//! The first Ctrl-C ends it within about a second and keeps everything, a second one ends it at once;
//! `dyad selftrain FOLDER --resume` resumes after either.

use std::path::{Path, PathBuf};

use clap::Args;
use dyad_trainer::arena::openings::Variant;
use dyad_trainer::data::score::ScoreSide;
use dyad_trainer::report::LivePage;
use dyad_trainer::selftrain::{self, Event, Settings, Source, Summary, Surroundings};

use super::prepare::Side;
use super::progress::Progress;
use super::settings::set;
use super::{Outcome, load_weights, settings, stop_on_interrupt, threads};

#[derive(Args)]
pub struct Arguments {
    /// Folder for all that is made, new or empty
    folder: PathBuf,
    /// Resume the training in the folder; other arguments hold from its next generation on
    #[arg(long)]
    resume: bool,
    /// Weights to start from: a file, `default` or `material` [default: material]
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "resume")]
    start: Option<PathBuf>,
    /// Settings from a JSON file; the other arguments override it
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Learn from the games of this file (PGN, plain or packed) instead of own games
    #[arg(long, value_name = "FILE")]
    games: Option<PathBuf>,
    /// Read the scores in the comments of these games, which are given from this side
    #[arg(long, value_enum)]
    scores: Option<Side>,
    /// Play Chess960
    #[arg(long, conflicts_with = "dfrc")]
    chess960: bool,
    /// Play double Chess960: each side's first rank is drawn for itself
    #[arg(long)]
    dfrc: bool,
    /// Seed of all draws
    #[arg(long)]
    seed: Option<u64>,
    /// d of d-ply training: 1 is the quiescence leaf of each child; another asks for training by comparison
    #[arg(long)]
    depth: Option<u32>,
    /// Nodes of a self-play move
    #[arg(long)]
    nodes: Option<u64>,
    /// Nodes of the search that finds a desired move; asks for training by comparison
    #[arg(long, value_name = "NODES")]
    label_nodes: Option<u64>,
    /// Positions drawn from the games of a generation
    #[arg(long, value_name = "N")]
    positions: Option<u64>,
    /// Generations in all; 0 for no end but Ctrl-C
    #[arg(long, value_name = "N")]
    generations: Option<u32>,
    /// Threads [default: one per processor]
    #[arg(long)]
    threads: Option<usize>,
    /// Positions for one update of the weights; asks for training by comparison
    #[arg(long)]
    batch: Option<usize>,
    /// Games of a match at most
    #[arg(long, value_name = "N")]
    match_games: Option<u64>,
    /// Nodes of a move in a match
    #[arg(long, value_name = "NODES")]
    match_nodes: Option<u64>,
    /// Pairs of games that say how far the new weights go
    #[arg(long, value_name = "N")]
    tuning_pairs: Option<u64>,
}

/// Trains, from the beginning or from where it was stopped.
pub fn run(arguments: &Arguments) -> Outcome {
    let stop = stop_on_interrupt();
    let mut progress = Progress::new();
    let mut page = LivePage::new(&arguments.folder);
    let mut report = |event: &Event| {
        if let Some(note) = page.hear(event) {
            progress.say(&note);
        }
        match event {
            Event::Progress(_) => progress.show(|| event.to_string()),
            _ => progress.say(&event.to_string()),
        }
    };
    let surroundings = Surroundings { stop: &stop, report: &mut report };
    let summary = if arguments.resume {
        selftrain::resume(&arguments.folder, &|settings| arguments.change(settings), surroundings)
    } else {
        let start = load_weights(arguments.start.as_deref().unwrap_or(Path::new("material")))?;
        selftrain::begin(&arguments.settings()?, &start, &arguments.folder, surroundings)
    };
    drop(progress);
    let summary = summary?;
    if let Some(problem) = page.finish() {
        eprintln!("{problem}");
    }
    say_how_it_ended(&summary, &arguments.folder);
    Ok(())
}

fn say_how_it_ended(summary: &Summary, folder: &Path) {
    let Summary { finished, generations, adopted, best } = summary;
    let how = if *finished { "finished" } else { "stopped" };
    println!("{how}: {generations} generations are done, {adopted} of them adopted");
    match best {
        Some(path) => println!("best weights: {}", path.display()),
        None => println!("no generation has beaten the start yet"),
    }
    if !finished {
        println!("resume with: dyad selftrain {} --resume", folder.display());
    }
}

impl Arguments {
    fn settings(&self) -> Result<Settings, String> {
        let mut settings: Settings = settings::load(self.settings.as_deref(), "selftrain")?;
        let file: serde_json::Value = settings::load(self.settings.as_deref(), "selftrain")?;
        if file.get("threads").is_none() {
            settings.threads = threads("threads", None)?;
        }
        self.change(&mut settings);
        match self.scores.is_some() && settings.source == Source::SelfPlay {
            true => Err("--scores belongs to the games of a file, --games".to_string()),
            false => Ok(settings),
        }
    }

    fn change(&self, settings: &mut Settings) {
        if let Some(games) = &self.games {
            settings.source = Source::Games(std::path::absolute(games).unwrap_or_else(|_| games.clone()));
        }
        settings.scores = self.scores.map(ScoreSide::from).or(settings.scores);
        if self.chess960 {
            settings.variant = Variant::Chess960;
        } else if self.dfrc {
            settings.variant = Variant::DoubleChess960;
        }
        set(&mut settings.seed, &self.seed);
        set(&mut settings.depth, &self.depth);
        set(&mut settings.nodes, &self.nodes);
        set(&mut settings.label_nodes, &self.label_nodes);
        set(&mut settings.positions, &self.positions);
        set(&mut settings.generations, &self.generations);
        set(&mut settings.threads, &self.threads);
        set(&mut settings.batch, &self.batch);
        set(&mut settings.match_games, &self.match_games);
        set(&mut settings.match_nodes, &self.match_nodes);
        set(&mut settings.tuning_pairs, &self.tuning_pairs);
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

    #[test]
    fn a_file_without_threads_leaves_one_for_each_processor() {
        let path = std::env::temp_dir().join(format!("dyad-selftrain-threads-{}.json", std::process::id()));
        let all = threads("threads", None).unwrap();
        for (text, expected) in [("{}", all), (r#"{"threads": 7}"#, 7), (r#"{"selftrain": {"seed": 3}}"#, all)] {
            std::fs::write(&path, text).unwrap();
            let line = ["selftrain", "folder", "--settings", path.to_str().unwrap()];
            assert_eq!(Line::parse_from(line).arguments.settings().unwrap().threads, expected, "{text}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}
