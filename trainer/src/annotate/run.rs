//! Annotates the games of a file: annotated games, a page, JSON.
//!
//! All output files are opened before the first search, so that an unwritable one is reported at once, and each appears
//! when it is complete. When stopped, the output contains the finished games, and the finished moves of the last one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::files::{AtomicFile, check_outputs};
use dyad_formats::game::BrokenGame;
use dyad_formats::pgn::GameTexts;

use super::analysis::{Analyst, annotate_game};
use super::{json, page};
use crate::base::number;
use crate::base::parallel::check_threads;

/// Settings of an annotation.
#[derive(Clone, Debug)]
pub struct AnnotateSettings {
    /// Input games.
    pub input: PathBuf,
    /// Output for annotated games.
    pub out: PathBuf,
    /// Output for the page.
    pub html: Option<PathBuf>,
    /// Output for the games as JSON.
    pub json: Option<PathBuf>,
    /// The page shows the board from the side of this player: part of a name, case-insensitive.
    pub player: Option<String>,
    /// Nodes for each move, and again for a comparison with a better one; a mistake is searched four times longer.
    pub nodes: u64,
    /// Parallel searches.
    pub threads: usize,
}

impl AnnotateSettings {
    /// Default nodes per move: 60 moves of both sides take some 15 seconds on two cores.
    pub const NODES: u64 = 150_000;
    /// Minimum nodes: enough for depth 1 in any position of a game.
    pub const FEWEST_NODES: u64 = 500;

    fn check(&self) -> Result<(), Error> {
        check_threads("threads", self.threads).map_err(Error::Settings)?;
        number::check("nodes", self.nodes, &(Self::FEWEST_NODES..)).map_err(Error::Settings)?;
        check_outputs(self.outputs(), [self.input.as_path()])
    }

    fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.out).chain(&self.html).chain(&self.json)
    }
}

/// Progress of an annotation.
#[derive(Debug)]
pub enum AnnotateEvent<'a> {
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
    Broken(&'a BrokenGame),
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
/// When a file cannot be read or written, settings are out of bounds, or no game can be read.
pub fn annotate(
    settings: &AnnotateSettings,
    weights: &Arc<Weights>,
    control: &Control,
    mut on_event: impl FnMut(AnnotateEvent),
) -> Result<AnnotateSummary, Error> {
    settings.check()?;
    let player = settings.player.as_ref().map(|player| player.to_lowercase());
    let chosen = |name: &str| player.as_ref().is_none_or(|player| name.to_lowercase().contains(player.as_str()));
    let (mut all, mut known) = (0, false);
    for text in GameTexts::open(&settings.input)? {
        let text = text?;
        all += 1;
        known = known || player.is_none() || text.notes().tags.iter().any(|(tag, name)| is_player(tag) && chosen(name));
    }
    if let (Some(player), true, false) = (&settings.player, all > 0, known) {
        return Err(Error::Settings(format!("no player of {} is called '{player}'", settings.input.display())));
    }
    let create = |path: &Path| AtomicFile::create(path).map_err(Error::file("write", path));
    let mut out = create(&settings.out)?;
    let html = settings.html.as_deref().map(create).transpose()?;
    let json = settings.json.as_deref().map(create).transpose()?;
    let (mut summary, mut games) = (AnnotateSummary::default(), Vec::new());
    let mut first_problem = None;
    for (number, text) in GameTexts::open(&settings.input)?.enumerate() {
        if control.stopped() {
            break;
        }
        let text = text?;
        let record = match text.parse(None) {
            Ok(record) => record,
            Err(broken) => {
                on_event(AnnotateEvent::Broken(&broken));
                summary.broken += 1;
                first_problem.get_or_insert(broken);
                continue;
            }
        };
        let analyst = || Analyst::new(weights, settings.nodes);
        let (mut ply, plies, mistake_counts) = (0, record.moves.len(), &mut summary.mistake_counts);
        let game = annotate_game(&record, text.notes(), settings.threads, analyst, control, |analysis| {
            ply += 1;
            if let Some(mistake) = &analysis.mistake {
                mistake_counts[mistake.judgement as usize] += 1;
            }
            on_event(AnnotateEvent::Move {
                game: [number + 1, all],
                ply: [ply, plies],
                mistake_counts: *mistake_counts,
            });
        })?;
        if control.stopped() && ply == 0 && plies > 0 {
            break;
        }
        summary.games += 1;
        summary.moves += ply;
        out.write_all(game.to_string().as_bytes()).map_err(Error::file("write", &settings.out))?;
        if html.is_some() || json.is_some() {
            games.push(game);
        }
    }
    summary.stopped = control.stopped();
    if summary.games == 0 {
        return Err(match first_problem {
            _ if summary.stopped => Error::Stopped,
            Some(problem) => Error::Nothing(format!("no game can be read; the first: {problem}")),
            None => Error::Nothing(format!("no game in {}", settings.input.display())),
        });
    }
    finish(out, &settings.out)?;
    if let (Some(mut file), Some(path)) = (html, &settings.html) {
        file.write_all(page::page(&games, |name| player.is_some() && chosen(name)).as_bytes())
            .map_err(Error::file("write", path))?;
        finish(file, path)?;
    }
    if let (Some(mut file), Some(path)) = (json, &settings.json) {
        writeln!(file, "{}", json::games(&games)).map_err(Error::file("write", path))?;
        finish(file, path)?;
    }
    Ok(summary)
}

fn is_player(tag: &str) -> bool {
    ["White", "Black"].iter().any(|player| tag.eq_ignore_ascii_case(player))
}

fn finish(file: AtomicFile, path: &Path) -> Result<(), Error> {
    file.commit().map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::annotate::testing::MISTAKES;
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
            input: folder.join("games.pgn"),
            out: path("out.pgn"),
            html: Some(path("page.html")),
            json: Some(path("games.json")),
            player: None,
            nodes: 2_000,
            threads,
        }
    }

    fn run(settings: &AnnotateSettings) -> Result<AnnotateSummary, String> {
        annotate(settings, &Weights::embedded(), &Control::new(false), |_| {}).map_err(|error| error.to_string())
    }

    #[test]
    fn the_output_does_not_depend_on_the_thread_count() {
        let folder = Temporary::folder();
        fs::write(folder.join("games.pgn"), games()).unwrap();
        let runs = [1, 3].map(|threads| (settings(&folder, threads), run(&settings(&folder, threads)).unwrap()));
        let [(one, first), (three, second)] = &runs;
        assert_eq!(first, second);
        assert_eq!((first.games, first.broken, first.moves, first.stopped), (2, 1, 11, false));
        assert!(first.mistake_counts[2] > 0, "{first:?}");
        for (one, three) in one.outputs().zip(three.outputs()) {
            assert_eq!(fs::read_to_string(one).unwrap(), fs::read_to_string(three).unwrap());
        }
    }

    #[test]
    fn a_player_is_one_of_the_games() {
        let folder = Temporary::folder();
        fs::write(folder.join("games.pgn"), games()).unwrap();
        let of = |player: &str| {
            let player = Some(player.to_string());
            run(&AnnotateSettings { player, ..settings(&folder, 1) })
        };
        assert!(of("SCRIPT").is_ok() && of("unknown").unwrap_err().contains("no player"));
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
            let summary = annotate(&settings, &weights, &control, |event| {
                if let AnnotateEvent::Move { .. } = event {
                    done += 1;
                    if done == stop_after {
                        control.stop();
                    }
                }
            });
            let summary = summary.unwrap();
            assert!(summary.stopped);
            assert_eq!((summary.moves, summary.games), (stop_after, if stop_after > 7 { 2 } else { 1 }));
            let text = fs::read_to_string(&settings.out).unwrap();
            let games: Vec<_> = GameTexts::open(&settings.out).unwrap().map(|text| text.unwrap()).collect();
            let plies: Vec<usize> = games.iter().map(|game| game.parse(None).unwrap().moves.len()).collect();
            assert_eq!(plies, [7, 4][..summary.games]);
            // A better line has an evaluation as well; the game's own variation and a mate have none.
            let lines = text.split_whitespace().filter(|word| *word == "(").count() - 1;
            let evaluations = text.matches("[%eval").count() - lines;
            assert_eq!(evaluations, stop_after - usize::from(stop_after >= 7), "{text}");
        }
        // Before the first finished move nothing is written.
        let before = fs::read(&settings.out).unwrap();
        let control = Control::new(false);
        control.stop();
        let error = annotate(&settings, &weights, &control, |_| {}).unwrap_err();
        assert!(matches!(error, Error::Stopped));
        assert_eq!(fs::read(&settings.out).unwrap(), before);
        assert!(names(&folder).iter().all(|name| !name.ends_with(".tmp")), "{:?}", names(&folder));
    }

    #[test]
    fn errors_are_reported_before_anything_is_written() {
        let folder = Temporary::folder();
        let at = |name: &str| folder.join(name);
        fs::write(at("games.pgn"), games()).unwrap();
        fs::write(at("broken.pgn"), "1. e4 Ke4 *\n").unwrap();
        fs::write(at("empty.pgn"), "\n").unwrap();
        fs::create_dir_all(at("a folder")).unwrap();
        let base = settings(&folder, 1);
        let input = |name: &str| AnnotateSettings { input: at(name), ..base.clone() };
        let cases = [
            (input("missing.pgn"), "cannot open "),
            (input("broken.pgn"), "no game can be read; the first: "),
            (input("empty.pgn"), "no game in "),
            (AnnotateSettings { out: at("games.pgn"), ..base.clone() }, "would be lost"),
            (AnnotateSettings { html: Some(at("1-out.pgn")), ..base.clone() }, "two outputs are called "),
            (AnnotateSettings { out: at("a folder"), ..base.clone() }, "a folder, not a regular file"),
            (AnnotateSettings { json: Some(at("no/such/folder")), ..base.clone() }, "cannot write "),
            (AnnotateSettings { nodes: 499, ..base.clone() }, "nodes must be at least 500, not 499"),
            (AnnotateSettings { threads: 0, ..base.clone() }, "threads must be 1 to "),
        ];
        for (settings, expected) in cases {
            let error = run(&settings).unwrap_err();
            assert!(error.contains(expected), "expected {expected}, found {error}");
            assert_eq!(names(&folder), ["a folder", "broken.pgn", "empty.pgn", "games.pgn"]);
        }
        #[cfg(target_os = "linux")]
        {
            let error = run(&AnnotateSettings { out: "/dev/null".into(), ..base }).unwrap_err();
            assert!(error.contains("a device, not a regular file"), "{error}");
        }
    }
}
