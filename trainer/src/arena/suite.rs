//! Test suites: positions with known solutions, and how many of them the engine finds.
//!
//! The EPD operations of a line define its solution. `c8` and `c9` together give points to moves (the Strategic Test
//! Suite), `dm` asks for a reported mate in at most `N` moves, `bm` and `am` ask for one of some moves or for none of
//! them. Lichess puzzles ([`puzzles`](super::puzzles)) ask for each move of a line. Every position is searched with an
//! empty table. So with fixed nodes or depth, and one thread per search, the result is the same each time, however many
//! searches run in parallel.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dyad_engine::board::{Board, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::params::Params;
use dyad_engine::search::{Limits, Options, Outcome};
use dyad_formats::epd::EpdLine;
use dyad_formats::error::Error;
use dyad_formats::input::parse_lines;

use crate::arena::play::{SearchLimits, search};
use crate::arena::problem::{Goal, Problem};
use crate::arena::puzzles::Columns;
use crate::base::parallel::ordered_for_each;

/// The engine's answer to a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The move found; for a line the first wrong move, or the last.
    pub best: Option<Move>,
    /// Moves of the line before that.
    pub followed: usize,
    /// Points scored.
    pub points: u32,
    /// Maximum number of points.
    pub max_points: u32,
    /// Nodes searched.
    pub nodes: u64,
}

impl Answer {
    /// Whether the answer has the maximum number of points.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.points == self.max_points
    }
}

/// How a suite is solved.
#[derive(Clone, Copy, Debug)]
pub struct SuiteSettings {
    /// Search limits of each position; a clock is refused.
    pub budget: SearchLimits,
    /// Hash of each search, in megabytes.
    pub hash: usize,
    /// Threads of each search.
    pub threads: usize,
    /// Parallel searches.
    pub concurrency: usize,
}

/// Reads a suite: EPD, or a table of puzzles. A line that cannot be read is left out and reported to `on_broken`.
///
/// # Errors
/// When the file cannot be read, names columns without those that are needed, or has no position: the first problem.
pub fn read(path: &Path, mut on_broken: impl FnMut(&Error)) -> Result<Vec<Problem>, Error> {
    let mut puzzles = None;
    let (mut first, mut first_broken) = (true, None);
    let problems = parse_lines(path, |number, text| {
        if std::mem::take(&mut first) {
            puzzles = Columns::read(text)?;
            if puzzles.is_some() {
                return Ok(None);
            }
            puzzles = Columns::of_puzzle(text);
        }
        let problem = match &puzzles {
            Some(columns) => columns.problem(text),
            None => problem(number, text),
        };
        Ok(problem
            .map_err(|problem| {
                let error = Error::content(path, format!("line {number}"), problem);
                on_broken(&error);
                first_broken.get_or_insert(error);
            })
            .ok())
    })?;
    let problems: Vec<Problem> = problems.into_iter().flatten().collect();
    if problems.is_empty() {
        return Err(first_broken.unwrap_or_else(|| Error::content(path, "whole file", "no position")));
    }
    Ok(problems)
}

/// The problem of a line of an EPD file.
fn problem(number: u64, text: &str) -> Result<Problem, String> {
    let line = EpdLine::parse(text)?;
    let name = line.operand("id").map_or_else(|| format!("line {number}"), str::to_string);
    Ok(Problem { name, goal: Goal::read(&line)?, board: line.board, rating: None })
}

/// Width of a rating class.
const CLASS: u32 = 200;

/// The rating class of a problem.
#[must_use]
pub fn class(problem: &Problem) -> Option<RangeInclusive<u32>> {
    let lowest = problem.rating? / CLASS * CLASS;
    Some(lowest..=lowest.saturating_add(CLASS - 1))
}

/// At most `most` problems of each class, spread evenly over the suite. Those without a rating are one class.
#[must_use]
pub fn sample(problems: Vec<Problem>, most: usize) -> Vec<Problem> {
    let lowest = |problem: &Problem| class(problem).map(|class| *class.start());
    // For each class: number of problems, and number seen.
    let mut classes: HashMap<Option<u32>, (usize, usize)> = HashMap::new();
    for problem in &problems {
        classes.entry(lowest(problem)).or_default().0 += 1;
    }
    let mut chosen = problems;
    chosen.retain(|problem| {
        let (all, seen) = classes.get_mut(&lowest(problem)).expect("all were counted");
        *seen += 1;
        // Number to take of the first `n`, in proportion.
        let of_first = |n: usize| n * most.min(*all) / *all;
        of_first(*seen) > of_first(*seen - 1)
    });
    chosen
}

/// Solves problems and passes each with its answer to `each`, in order.
///
/// # Errors
/// [`Error::Stopped`] once `control` is stopped; [`Error::Settings`] when the limits are a clock, or when there is no
/// memory for the tables.
pub fn solve(
    problems: &[Problem],
    weights: &Arc<Weights>,
    settings: &SuiteSettings,
    control: &Control,
    mut each: impl FnMut(&Problem, &Answer),
) -> Result<(), Error> {
    let limits = match settings.budget {
        SearchLimits::Clock { .. } => return Err(Error::Settings("a suite is not solved on a clock".to_string())),
        budget => budget.limits(Duration::ZERO),
    };
    let engine = || -> Result<Engine, Error> {
        let mut engine = Engine::with_hash(weights.clone(), settings.hash)?;
        engine.set_threads(settings.threads);
        Ok(engine)
    };
    ordered_for_each(
        settings.concurrency,
        problems.iter(),
        engine,
        |engine, problem| Ok((problem, answer(problem, engine, &limits, control))),
        |(problem, answer)| {
            // The answer of an interrupted search is not valid.
            if control.stopped() {
                return Err(Error::Stopped);
            }
            each(problem, &answer);
            Ok(())
        },
    )
}

/// No clock, so no move overhead.
const OPTIONS: Options = Options { multipv: 1, move_overhead: Duration::ZERO, params: Params::DEFAULT, tables: None };

fn answer(problem: &Problem, engine: &mut Engine, limits: &Limits, control: &Control) -> Answer {
    let mate = match problem.goal {
        Goal::Mate(moves) => Some(moves),
        Goal::Moves { .. } | Goal::Points(_) | Goal::Line(_) => None,
    };
    let limits = Limits { mate, ..limits.clone() };
    engine.clear();
    let mut nodes = 0;
    let (outcome, followed) = follow(problem.board, problem.goal.line(), |game| {
        let outcome = search(engine, game, &limits, &OPTIONS, control);
        nodes += outcome.nodes;
        outcome
    });
    Answer {
        best: outcome.best,
        followed,
        points: problem.goal.points(&outcome, followed),
        max_points: problem.goal.max_points(),
        nodes,
    }
}

/// Searches after every second move of a line, as long as the move found is the next one. Returns the last search and
/// the number of moves before it; for a solved line that is all of them.
fn follow(start: Board, line: &[Move], mut search: impl FnMut(&Game) -> Outcome) -> (Outcome, usize) {
    let mut game = Game::new(start);
    let mut rest = line.chunks(2);
    loop {
        let outcome = search(&game);
        let followed = game.moves().len();
        let Some(next) = rest.next() else { return (outcome, followed) };
        let mates = |mv| {
            let after = game.board().after(mv);
            after.in_check() && !after.has_legal_move()
        };
        match (outcome.best, next) {
            (Some(best), _) if mates(best) => return (outcome, line.len()),
            (Some(best), &[wanted]) if best == wanted => return (outcome, line.len()),
            (Some(best), &[wanted, reply]) if best == wanted => {
                game.push(wanted);
                game.push(reply);
            }
            _ => return (outcome, followed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::eval::Weights;
    use dyad_engine::search::Score;
    use dyad_formats::testing::Temporary;
    use std::fs;

    const SUITE: &str = "\u{FEFF}\
6k1/5ppp/8/8/8/8/8/K2R4 w - - bm Rd8#; dm 1; id \"mate\";
# a remark
k7/8/8/3q4/8/8/3R4/K7 w - - bm Rxd5; id \"takes\";
k7/8/8/3q4/8/8/3R4/K7 w - - am Rxd5;
k7/8/8/3q4/8/8/3R4/K7 w - - id \"points\"; c8 \"3 10\"; c9 \"a1b1 d2d5\";
";

    /// Reads a suite file with this text.
    fn read_text(text: &str) -> Result<Vec<Problem>, Error> {
        let folder = Temporary::folder();
        let path = folder.join("suite.epd");
        fs::write(&path, text).unwrap();
        read(&path, |_| ())
    }

    #[test]
    fn each_kind_of_goal_is_read_and_scored() {
        let problems = read_text(SUITE).unwrap();
        let budget = SearchLimits::Depth(6);
        for concurrency in [1, 3] {
            let settings = SuiteSettings { budget, hash: 1, threads: 1, concurrency };
            let mut results = Vec::new();
            solve(&problems, &Weights::embedded(), &settings, &Control::new(false), |problem, answer| {
                results.push(format!("{} {}/{}", problem.name, answer.points, answer.max_points));
            })
            .unwrap();
            assert_eq!(results, ["mate 1/1", "takes 1/1", "line 4 0/1", "points 10/10"]);
        }
    }

    /// `c8` and `c9` are comments: where they do not give points, another goal of the line counts.
    #[test]
    fn comments_that_are_no_points_hide_no_other_goal() {
        let goal = |operations: &str| {
            let line = format!("k7/8/8/3q4/8/8/3R4/K7 w - - {operations}");
            EpdLine::parse(&line).and_then(|line| Goal::read(&line))
        };
        for comments in ["c8 \"x\"; c9 \"1-0\";", "c8 \"10\"; c9 \"1/2-1/2\";", "c8 \"x\"; c9 \"d2d5\";", "c8 \"x\";"] {
            assert_eq!(goal(&format!("bm Rxd5; {comments}")), goal("bm Rxd5;"), "{comments}");
            assert_eq!(goal(&format!("{comments} dm 3;")), Ok(Goal::Mate(3)), "{comments}");
        }
        for (comments, expected) in [
            ("c8 \"x\"; c9 \"1-0\";", "c9: "),
            ("c8 \"x\"; c9 \"d2d5\";", "c8: expected points"),
            ("bm Rxd5; c8 \"1\"; c9 \"a1b1 d2d5\";", "1 points in c8 for 2 moves in c9"),
        ] {
            assert!(goal(comments).is_err_and(|error| error.starts_with(expected)), "{comments}");
        }
    }

    #[test]
    fn each_position_has_its_own_time() {
        let problems = read_text(SUITE).unwrap();
        let budget = SearchLimits::MoveTime(Duration::from_millis(100));
        let settings = SuiteSettings { budget, hash: 1, threads: 1, concurrency: 1 };
        solve(&problems[1..], &Weights::embedded(), &settings, &Control::new(false), |problem, answer| {
            // A search that starts after its time is over does only one iteration.
            assert!(answer.nodes > 200, "{}: {} nodes", problem.name, answer.nodes);
        })
        .unwrap();
    }

    #[test]
    fn a_longer_mate_is_no_solution() {
        let outcome = |score| Outcome { score, ..mated() };
        assert_eq!(Goal::Mate(2).points(&outcome(Score::Mate(2)), 0), 1);
        for score in [Score::Mate(3), Score::Mate(-1), Score::Cp(900)] {
            assert_eq!(Goal::Mate(2).points(&outcome(score), 0), 0, "{score:?}");
        }
    }

    fn mated() -> Outcome {
        let score = Score::Mate(0);
        Outcome { best: None, ponder: None, value: 0, score, depth: 0, nodes: 0, pv: Vec::new() }
    }

    /// A mate in two on the file, a rook won, and a wrong solution.
    const PUZZLES: &str = "\
PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags
file,r5k1/p4ppp/8/8/8/8/3R1PPP/3R2K1 b - - 0 1,a7a6 d2d8 a8d8 d1d8,610,80,90,1000,mateIn2,x,
fork,r3k3/8/8/8/3N4/8/8/4K3 b - - 0 1,e8d8 d4c6 d8c7 c6a7,1190,80,90,1000,short,x,
odd,r3k3/8/8/3N4/8/8/8/4K3 b - - 0 1,e8d8 e1f1,750,80,90,1000,short,x,
";

    #[test]
    fn puzzles_are_solved_move_by_move() {
        let problems = read_text(PUZZLES).unwrap();
        let classes: Vec<_> = problems.iter().map(class).collect();
        assert_eq!(classes, [Some(600..=799), Some(1000..=1199), Some(600..=799)]);
        assert_eq!(problems[0].board.fen(), "r5k1/5ppp/p7/8/8/8/3R1PPP/3R2K1 w - - 0 2");
        let settings = SuiteSettings { budget: SearchLimits::Depth(6), hash: 1, threads: 1, concurrency: 2 };
        let mut results = Vec::new();
        solve(&problems, &Weights::embedded(), &settings, &Control::new(false), |problem, answer| {
            results.push((problem.name.clone(), answer.points, answer.followed));
        })
        .unwrap();
        assert_eq!((results[0].1, results[0].2), (1, 3), "{results:?}");
        assert_eq!((results[2].1, results[2].2), (0, 0), "{results:?}");
    }

    #[test]
    fn a_line_is_followed_to_the_first_wrong_move() {
        let start = Board::from_fen("7k/R7/8/8/8/8/8/1R1R2K1 w - - 0 1").unwrap();
        let moves = |text: &str| {
            let mut board = start;
            let one = |word| {
                let mv = board.parse_uci(word).unwrap();
                board = board.after(mv);
                mv
            };
            text.split_whitespace().map(one).collect::<Vec<_>>()
        };
        let followed = |line: &str, answers: &str| {
            let answers = moves(answers);
            let (outcome, followed) = follow(start, &moves(line), |game| Outcome {
                best: answers.get(game.moves().len()).copied(),
                ..mated()
            });
            (outcome.best.map(|mv| mv.to_string()).unwrap_or_default(), followed)
        };
        let long = "g1f2 h8g8 f2f3 g8h8 b1b8";
        for (line, answers, best, length) in [
            (long, long, "b1b8", 5),
            (long, "g1g2", "g1g2", 0),
            (long, "g1f2 h8g8 f2e3", "f2e3", 2),
            // Another mate, at the end and before it.
            (long, "g1f2 h8g8 f2f3 g8h8 d1d8", "d1d8", 5),
            (long, "d1d8", "d1d8", 5),
            ("b1b8", "b1b8", "b1b8", 1),
            ("", "g1g2", "g1g2", 0),
        ] {
            assert_eq!(followed(line, answers), (best.to_string(), length), "{line}: {answers}");
        }
    }

    #[test]
    fn samples_are_spread_over_each_class() {
        let problems = |ratings: &[Option<u32>]| {
            let one = |(place, &rating): (usize, &Option<u32>)| {
                let goal = Goal::Mate(1);
                Problem { name: place.to_string(), board: Board::startpos(), goal, rating }
            };
            ratings.iter().enumerate().map(one).collect::<Vec<_>>()
        };
        let names = |ratings: &[Option<u32>], most| {
            sample(problems(ratings), most).into_iter().map(|problem| problem.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&[None; 9], 3), "2 5 8");
        assert_eq!(names(&[None; 3], 5), "0 1 2");
        let mixed = [Some(600), Some(799), Some(800), Some(700), None, Some(601), Some(u32::MAX)];
        assert_eq!(names(&mixed, 2), "1 2 4 5 6");
        assert_eq!(names(&mixed, 0), "");
    }

    #[test]
    fn a_stopped_run_returns_an_error() {
        let problems = read_text(SUITE).unwrap();
        let settings = SuiteSettings { budget: SearchLimits::Depth(6), hash: 1, threads: 1, concurrency: 1 };
        let control = Control::new(false);
        let mut answers = 0;
        let stopped = solve(&problems, &Weights::embedded(), &settings, &control, |_, _| {
            answers += 1;
            control.stop();
        });
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert_eq!(answers, 1);
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("8/8/8/8/8/8/8/8 w - - bm e4;", "line 1"),
            ("k7/8/8/3q4/8/8/3R4/K7 w - - bm Rd9;", "bm: "),
            ("k7/8/8/3q4/8/8/3R4/K7 w - - id \"x\";", "nothing is asked for"),
            ("k7/8/8/3q4/8/8/3R4/K7 w - - dm 0;", "number of moves"),
            ("k7/8/8/3q4/8/8/3R4/K7 w - - c8 \"1\"; c9 \"a1b1 d2d5\";", "1 points in c8 for 2 moves in c9"),
            ("\n", "no position"),
            ("PuzzleId,FEN,Moves\n", "line 1: no column Rating"),
            ("PuzzleId,FEN,Moves,Rating\n", "no position"),
            ("PuzzleId,FEN,Moves,Rating\na,8/8/8/8/8/8/8/8 w - - 0 1,e2e4 e7e5,9\n", "line 2: FEN: "),
            ("PuzzleId,Moves,Rating,FEN\na,e2e4 e7e5,9\n", "line 2: 3 columns, FEN is not among them"),
            ("PuzzleId,FEN,Moves,Rating\n\na,r3k3/8/8/8/3N4/8/8/4K3 b - - 0 1,e8d8 a1a2,900\n", "line 3: Moves: "),
            ("PuzzleId,FEN,Moves,Rating\n\na,r3k3/8/8/8/3N4/8/8/4K3 b - - 0 1,e8d8,900\n", "line 3: Moves: 1 moves"),
            (
                "PuzzleId,FEN,Moves,Rating\n\na,r3k3/8/8/8/3N4/8/8/4K3 b - - 0 1,e8d8 d4c6 d8c7,900\n",
                "line 3: Moves: 3 moves",
            ),
            ("PuzzleId,FEN,Moves,Rating\n\na,r3k3/8/8/8/3N4/8/8/4K3 b - - 0 1,,900\n", "line 3: Moves: 0 moves"),
            (
                "PuzzleId,FEN,Moves,Rating\n\na,r3k3/8/8/8/3N4/8/8/4K3 b - - 0 1,e8d8 d4c6,x\n",
                "Rating: \"x\" is not a number",
            ),
        ];
        for (text, expected) in cases {
            let error = read_text(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
