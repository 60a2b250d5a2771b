//! Jobs: commands that run on a separate thread.
//!
//! The event loop must answer `isready` and `stop` at any time, so searches, perft, the benchmark and openings run on
//! another thread. A job takes ownership of the session and returns it at its end, so no lock is needed, and the hash
//! table cannot change during a search. The control that stops a job is made when the command is accepted, not when the
//! job starts, so that a `stop` right after `go` is not lost.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Sender, unbounded};
use dyad_engine::board::{Board, Game};
use dyad_engine::control::Control;
use dyad_engine::search::{Limits, Options, Report};

use super::command::{Bench, Explain, Genfens};
use super::genfens;
use super::options::Setter;
use crate::bench;
use crate::display::{self, Moves, PrintLine};
use crate::info::{best_move_line, current_move_line, ended_line, info_line, info_string};
use crate::perft;
use crate::session::{Session, engine_name};

/// Minimum interval between two reports of `currmove`.
const CURRENT_MOVE_EVERY: Duration = Duration::from_secs(1);

/// The work of a job.
pub enum Work {
    /// Search for the best move.
    Search(Box<Game>, Limits),
    /// Answer `go` after an invalid `position`.
    NoPosition {
        /// The error of `position`.
        refusal: String,
        /// Whether to answer only after `stop`.
        infinite: bool,
    },
    /// Perft to a depth.
    Perft(Board, u32),
    /// Print the static evaluation.
    Eval(Board),
    /// Explain the static evaluation, as JSON if `true`.
    Explain(Board, bool),
    /// Explain why one move is better than another.
    Compare(Box<Game>, Moves, Explain),
    /// Run the benchmark.
    Bench(Bench),
    /// Generate openings.
    Genfens(Genfens),
    /// Change the session; with the name of the option that is set. Some changes take seconds, as a hash table of many
    /// gigabytes.
    Set(Option<&'static str>, Setter<Session>),
}

/// Properties of a job.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Whether it answers `go` by a move.
    pub search: bool,
    /// Whether it changes the session.
    pub setting: bool,
    /// Whether it usually ends at once.
    pub quick: bool,
    /// Whether only `stop` ends it.
    pub endless: bool,
}

/// A message from a job to the event loop.
pub enum Event {
    /// A line to print; after `bestmove` the job is about to end.
    Line(String),
    /// The job ended.
    Done(Box<Session>, End),
}

/// The end of a job.
#[derive(Default)]
pub struct End {
    /// Lines to print after the session is returned.
    pub lines: Vec<String>,
    /// Whether the job failed.
    pub failed: bool,
}

/// Stack size in bytes, for the deepest recursion of the search.
const STACK: usize = 64 << 20;

/// A job.
pub struct Job {
    /// Its work.
    pub work: Work,
    /// The session that it uses.
    pub session: Box<Session>,
    /// Stops the job.
    pub control: Arc<Control>,
}

/// Starts the thread that runs all jobs, one after another, and sends to `events`.
///
/// On a busy machine a new thread waits for its time slice, while a sleeping thread runs at once. At fast time controls
/// the difference loses games.
///
/// # Errors
/// When the system has no thread.
pub fn spawn_worker(events: Sender<Event>) -> io::Result<Sender<Job>> {
    let (sender, jobs) = unbounded();
    let body = move || jobs.iter().for_each(|job: Job| job.run(&events));
    thread::Builder::new().name("job".to_string()).stack_size(STACK).spawn(body)?;
    Ok(sender)
}

impl Job {
    /// Runs the job. It always ends with [`Event::Done`], even after a panic.
    fn run(mut self, events: &Sender<Event>) {
        let mut answered = false;
        self.work.set_chess960(self.session.settings.chess960);
        // Without a receiver the program is ending.
        let mut print = |line: String| {
            answered |= line.starts_with("bestmove ");
            drop(events.send(Event::Line(line)));
        };
        let run = AssertUnwindSafe(|| self.work.run(&mut self.session, &self.control, &mut print));
        let end = match catch_unwind(run) {
            Ok(Ok(lines)) => End { lines, failed: false },
            Ok(Err(error)) => End { lines: vec![info_string(&error)], failed: true },
            Err(_) => {
                self.session.engine.clear();
                End { lines: self.work.after_panic(answered), failed: true }
            }
        };
        drop(events.send(Event::Done(self.session, end)));
    }
}

impl Work {
    /// Its properties.
    pub fn kind(&self) -> Kind {
        /// Some GUIs send such a depth for an infinite search.
        const ENDLESS_DEPTH: u32 = 100;
        let endless = match self {
            Work::Search(_, limits) => {
                let bounded = limits.depth.is_some_and(|depth| depth < ENDLESS_DEPTH)
                    || limits.nodes.is_some()
                    || limits.mate.is_some()
                    || limits.movetime.is_some()
                    || limits.clock.is_some();
                limits.infinite || !bounded
            }
            Work::NoPosition { infinite, .. } => *infinite,
            _ => false,
        };
        Kind {
            search: matches!(self, Work::Search(..) | Work::NoPosition { .. }),
            setting: matches!(self, Work::Set(..)),
            quick: matches!(self, Work::Eval(_) | Work::Explain(..) | Work::Set(..)),
            endless,
        }
    }

    /// Runs the work. Returns the last lines, or the error.
    fn run(&self, session: &mut Session, control: &Control, print: &mut PrintLine) -> Result<Vec<String>, String> {
        Ok(match self {
            Work::Search(game, limits) => {
                search(game, limits, session, control, print);
                Vec::new()
            }
            Work::NoPosition { refusal, infinite } => {
                print(info_string(refusal));
                control.wait(*infinite);
                print(best_move_line(&Board::startpos(), None, None));
                Vec::new()
            }
            Work::Perft(board, depth) => perft::divide(board, *depth, control, print),
            Work::Eval(board) => display::evaluation(board, &session.engine),
            Work::Explain(board, json) => display::explanation(board, &session.engine, *json),
            Work::Compare(game, moves, ask) => display::comparison(game, *moves, ask, session, control),
            Work::Bench(Bench { depth, json }) => bench::run(*depth, *json, &session.engine, control, print)?,
            Work::Genfens(ask) => {
                genfens::run(ask, &session.engine, control, print).map_err(|error| format!("genfens: {error}"))?;
                Vec::new()
            }
            Work::Set(_, set) => set(session)?.map(|note| info_string(&note)).into_iter().collect(),
        })
    }

    /// Sets the notation of castling by the value of `UCI_Chess960` when the job begins.
    fn set_chess960(&mut self, chess960: bool) {
        match self {
            Work::Search(game, _) | Work::Compare(game, ..) => **game = (**game).clone().with_chess960(chess960),
            Work::Perft(board, _) => *board = board.with_chess960(chess960),
            _ => {}
        }
    }

    /// The last lines after a panic, which include `bestmove` if it is missing: a bug must not lose the game.
    fn after_panic(&self, answered: bool) -> Vec<String> {
        let mut lines = vec!["info string internal error, please report it; caches were cleared".to_string()];
        if let Work::Search(game, _) = self
            && !answered
        {
            let board = game.board();
            lines.push(best_move_line(board, board.moves().first().copied(), None));
        }
        lines
    }
}

fn search(game: &Game, limits: &Limits, session: &mut Session, control: &Control, print: &mut PrintLine) {
    let board = game.board();
    let show_wdl = session.settings.show_wdl;
    let ended = !board.has_legal_move();
    if ended {
        print(ended_line(board));
    }
    let choice = &session.settings.tables;
    let options = Options { tables: choice.tables(), ..session.settings.search.clone() };
    let mut player = session.opponent.player(limits);
    if session.trained.is_some() && !std::mem::replace(&mut session.trained_reported, true) {
        print(info_string(&match player {
            None => format!("{} plays", engine_name(session.trained.as_ref())),
            Some(_) => "UCI_LimitStrength: a level plays with the built-in weights, not with trained ones".to_string(),
        }));
    }
    let mut current_shown: Option<Instant> = None;
    let mut on_report = |report: &Report| match report {
        Report::Info(info) if !ended => print(info_line(info, board, show_wdl)),
        // Limited, so that `currmove` does not hide other lines.
        Report::CurrentMove { depth, mv, number }
            if current_shown.is_none_or(|shown| shown.elapsed() >= CURRENT_MOVE_EVERY) =>
        {
            current_shown = Some(Instant::now());
            print(current_move_line(board, *depth, *mv, *number));
        }
        Report::Answer(outcome) => {
            if let Some(fault) = choice.take_error() {
                print(info_string(&format!("SyzygyPath: {fault}")));
            }
            print(best_move_line(board, outcome.best, outcome.ponder));
        }
        _ => {}
    };
    match &mut player {
        Some(player) => player.search(game, limits, &options, control, &mut on_report),
        None => session.engine.search(game, limits, &options, control, &mut on_report),
    };
}
