//! Annotates the games of a file: annotated games and a page.
//!
//! All output files are opened before the first search, so that an unwritable one is reported at once, and each appears
//! when it is complete. When stopped, the output contains the finished games, and the finished moves of the last one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::{AtomicFile, check_outputs};
use dyad_formats::game::BrokenGame;
use dyad_formats::input::{is_standard_input, without_packing};
use dyad_formats::pgn::{GameText, GameTexts};

use super::analysis::{Analyst, annotate_game};
use super::page;
use crate::base::context::Context;
use crate::base::number::number;

/// Settings of an annotation.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub struct AnnotateSettings {
    /// Games (PGN, also packed; `-` is standard input), standard chess or Chess960
    pub games: PathBuf,
    /// File for the annotated games (PGN) [default: NAME.annotated.pgn next to the games]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// HTML file to step through the games in a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Player from whose side --html shows the board: a part of the name
    #[arg(long, value_name = "NAME", requires = "html")]
    pub player: Option<String>,
    /// Nodes for each move, and again for each comparison with a better one; mistakes four times as many
    // 60 moves of both sides take some 15 seconds on two cores; 500 are enough for depth 1 in any position of a game.
    #[arg(long, value_parser = number::<u64>(500..), default_value_t = 150_000)]
    pub nodes: u64,
}

impl AnnotateSettings {
    /// The file for the annotated games: as given, or next to the games.
    pub fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let name = self.games.file_name().unwrap_or_default().to_string_lossy();
            let name = without_packing(&name);
            let stem = name.strip_suffix(".pgn").or_else(|| name.strip_suffix(".PGN")).unwrap_or(name);
            self.games.with_file_name(format!("{stem}.annotated.pgn"))
        })
    }

    /// All files that are written.
    pub fn outputs(&self) -> impl Iterator<Item = PathBuf> {
        [self.out()].into_iter().chain(self.html.clone())
    }
}

/// Progress of an annotation.
#[derive(Debug)]
pub enum AnnotateEvent {
    /// A move is done.
    Move {
        /// The number of the game, from 1, and of all games.
        game: [usize; 2],
        /// Plies of the game that are done, and all of them.
        ply: [usize; 2],
        /// Inaccuracies, mistakes and blunders so far.
        mistake_counts: [usize; 3],
    },
    /// A game cannot be read and is skipped.
    Broken(BrokenGame),
}

/// Summary of an annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnotateSummary {
    /// Games written.
    pub games: usize,
    /// Games skipped because they cannot be read.
    pub broken: usize,
    /// Moves annotated.
    pub moves: usize,
    /// Inaccuracies, mistakes and blunders.
    pub mistake_counts: [usize; 3],
    /// Whether it was stopped early.
    pub stopped: bool,
}

/// Annotates the games of a file.
///
/// # Errors
/// When a file cannot be read or written, or no game can be read.
pub fn annotate(
    settings: &AnnotateSettings,
    weights: &Arc<Weights>,
    context: &mut Context<AnnotateEvent>,
) -> Result<AnnotateSummary, Error> {
    if settings.out.is_none() && is_standard_input(&settings.games) {
        let problem = "games of standard input have no name: name the annotated games with --out FILE";
        return Err(Error::Settings(problem.to_string()));
    }
    check_outputs(settings.outputs(), [settings.games.as_path()])?;
    let Context { threads, stop, on_event } = context;
    let player = settings.player.as_ref().map(|player| player.to_lowercase());
    let chosen = |name: &str| player.as_ref().is_none_or(|player| name.to_lowercase().contains(player.as_str()));
    let texts = GameTexts::open(&settings.games)?.collect::<Result<Vec<_>, Error>>()?;
    let is_known = |text: &GameText| text.notes().tags.iter().any(|(tag, name)| is_player(tag) && chosen(name));
    if let Some(player) = settings.player.as_ref().filter(|_| !texts.is_empty() && !texts.iter().any(is_known)) {
        return Err(Error::Settings(format!("no player of {} is called '{player}'", settings.games.display())));
    }
    let create = |path: &Path| AtomicFile::create(path).map_err(Error::file("write", path));
    let out_path = settings.out();
    let mut out = create(&out_path)?;
    let html = settings.html.as_deref().map(create).transpose()?;
    let (mut summary, mut games) = (AnnotateSummary::default(), Vec::new());
    let mut first_problem = None;
    for (number, text) in texts.iter().enumerate() {
        if stop.stopped() {
            break;
        }
        let record = match text.parse(None) {
            Ok(record) => record,
            Err(broken) => {
                summary.broken += 1;
                first_problem.get_or_insert_with(|| broken.to_string());
                on_event(AnnotateEvent::Broken(broken));
                continue;
            }
        };
        let analyst = || Analyst::new(weights, settings.nodes);
        let (mut ply, plies, mistake_counts) = (0, record.moves.len(), &mut summary.mistake_counts);
        let game = annotate_game(&record, text.notes(), *threads, analyst, stop, |analysis| {
            ply += 1;
            if let Some(mistake) = &analysis.mistake {
                mistake_counts[mistake.judgement as usize] += 1;
            }
            on_event(AnnotateEvent::Move {
                game: [number + 1, texts.len()],
                ply: [ply, plies],
                mistake_counts: *mistake_counts,
            });
        })?;
        if stop.stopped() && ply == 0 && plies > 0 {
            break;
        }
        summary.games += 1;
        summary.moves += ply;
        out.write_all(game.to_string().as_bytes()).map_err(Error::file("write", &out_path))?;
        if html.is_some() {
            games.push(game);
        }
    }
    summary.stopped = stop.stopped();
    if summary.games == 0 {
        return Err(match first_problem {
            _ if summary.stopped => Error::Stopped,
            Some(problem) => Error::Nothing(format!("no game can be read; the first: {problem}")),
            None => Error::Nothing(format!("no game in {}", settings.games.display())),
        });
    }
    out.commit().map_err(Error::file("write", &out_path))?;
    if let (Some(mut file), Some(path)) = (html, &settings.html) {
        file.write_all(page::page(&games, |name| player.is_some() && chosen(name)).as_bytes())
            .map_err(Error::file("write", path))?;
        file.commit().map_err(Error::file("write", path))?;
    }
    Ok(summary)
}

fn is_player(tag: &str) -> bool {
    ["White", "Black"].iter().any(|player| tag.eq_ignore_ascii_case(player))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::annotate::testing::MISTAKES;
    use dyad_engine::control::Control;
    use dyad_formats::testing::{Temporary, names};

    const CHESS960: &str = "[White \"C\"]\n[Black \"A\"]\n[Variant \"Chess960\"]\n[SetUp \"1\"]\n\
        [FEN \"4rkr1/8/8/8/8/8/8/RK5R w KQkq - 0 1\"]\n[Result \"1/2-1/2\"]\n\n1. O-O-O O-O 2. Kb2 Re2+ 1/2-1/2\n\n";

    /// Two games that can be read, with one between them that cannot.
    fn games() -> String {
        format!("{MISTAKES}\n[White \"broken\"]\n[Black \"C\"]\n\n1. e4 Ke4 *\n\n{CHESS960}")
    }

    fn settings(folder: &Path, threads: usize) -> AnnotateSettings {
        let path = |name: &str| folder.join(format!("{threads}-{name}"));
        AnnotateSettings {
            games: folder.join("games.pgn"),
            out: Some(path("out.pgn")),
            html: Some(path("page.html")),
            player: None,
            nodes: 2_000,
        }
    }

    fn run(settings: &AnnotateSettings, threads: usize) -> Result<AnnotateSummary, String> {
        let mut context = Context { threads, stop: &Control::new(false), on_event: &mut |_| () };
        annotate(settings, &Weights::embedded(), &mut context).map_err(|error| error.to_string())
    }

    #[test]
    fn the_output_is_next_to_the_games() {
        let settings = settings(Path::new(""), 1);
        for (games, out) in [
            ("a/game.pgn", "a/game.annotated.pgn"),
            ("game.pgn.zst", "game.annotated.pgn"),
            ("game.pgn.gz", "game.annotated.pgn"),
            ("games", "games.annotated.pgn"),
        ] {
            assert_eq!(AnnotateSettings { games: games.into(), out: None, ..settings.clone() }.out(), Path::new(out));
        }
    }

    #[test]
    fn the_output_does_not_depend_on_the_thread_count() {
        let folder = Temporary::folder();
        fs::write(folder.join("games.pgn"), games()).unwrap();
        let runs =
            [1, 3].map(|threads| (settings(&folder, threads), run(&settings(&folder, threads), threads).unwrap()));
        let [(one, first), (three, second)] = &runs;
        assert_eq!(first, second);
        assert_eq!((first.games, first.broken, first.moves, first.stopped), (2, 1, 11, false));
        assert!(first.mistake_counts[2] > 0, "{first:?}");
        for (one, three) in one.outputs().zip(three.outputs()) {
            assert_eq!(fs::read_to_string(one).unwrap(), fs::read_to_string(three).unwrap());
        }
    }

    /// Whenever it is stopped, all moves of the games are written, with the analyses finished by then.
    #[test]
    fn finished_moves_are_kept_when_stopped() {
        let folder = Temporary::folder();
        fs::write(folder.join("games.pgn"), games()).unwrap();
        let weights = Weights::embedded();
        let settings = settings(&folder, 1);
        for stop_after in 1..=11 {
            let (control, mut done) = (Control::new(false), 0);
            let mut on_event = |event| {
                done += usize::from(matches!(event, AnnotateEvent::Move { .. }));
                if done == stop_after {
                    control.stop();
                }
            };
            let mut context = Context { threads: 1, stop: &control, on_event: &mut on_event };
            let summary = annotate(&settings, &weights, &mut context).unwrap();
            assert!(summary.stopped);
            assert_eq!((summary.moves, summary.games), (stop_after, if stop_after > 7 { 2 } else { 1 }));
            let text = fs::read_to_string(settings.out()).unwrap();
            let games: Vec<_> = GameTexts::open(&settings.out()).unwrap().map(|text| text.unwrap()).collect();
            let plies: Vec<usize> = games.iter().map(|game| game.parse(None).unwrap().moves.len()).collect();
            assert_eq!(plies, [7, 4][..summary.games]);
            // A better line has an evaluation as well; the game's own variation and a mate have none.
            let lines = text.split_whitespace().filter(|word| *word == "(").count() - 1;
            let evaluations = text.matches("[%eval").count() - lines;
            assert_eq!(evaluations, stop_after - usize::from(stop_after >= 7), "{text}");
        }
        // Before the first finished move nothing is written.
        let before = fs::read(settings.out()).unwrap();
        let control = Control::new(false);
        control.stop();
        let mut context = Context { threads: 1, stop: &control, on_event: &mut |_| () };
        assert!(matches!(annotate(&settings, &weights, &mut context), Err(Error::Stopped)));
        assert_eq!(fs::read(settings.out()).unwrap(), before);
        assert!(names(&folder).iter().all(|name| !name.ends_with(".tmp")), "{:?}", names(&folder));
    }
}
