//! Long commands, on a thread of their own.
//!
//! The loop must answer `isready` and obey `stop` at any time, so a search (or a count, a
//! benchmark, a set of openings) runs on another thread. The job takes the whole session with
//! it and returns it at its end: data of one thread at a time needs no lock, and the hash table cannot
//! change during a search. The control that stops a job is made when the command
//! is accepted, not when the job starts, so that a `stop` right after `go` is never lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Sender, unbounded};
use dyad_engine::board::{Board, Game};
use dyad_engine::control::Control;
use dyad_engine::search::{Limits, Options, Report};

use super::command::{Bench, Genfens};
use super::genfens;
use super::setting::Setting;
use crate::bench;
use crate::choice::{BestTwo, VARIATIONS};
use crate::display::{self, Moves, Say};
use crate::info::{best_move_line, current_move_line, ended_line, info_line, info_string};
use crate::perft;
use crate::session::{Session, engine_name};
use crate::tables;

/// Minimum interval between two reports of `currmove`.
const CURRENT_MOVE_EVERY: Duration = Duration::from_secs(1);

/// What a job does.
pub enum Work {
    /// Find the best move.
    Search(Box<Game>, Limits),
    /// Answer a `go` after a `position` that was refused.
    NoPosition {
        /// Why it was refused.
        refusal: String,
        /// Whether only `stop` allows the answer.
        infinite: bool,
    },
    /// Count positions.
    Perft(Board, u32),
    /// Show the static evaluation.
    Eval(Board),
    /// Show where the static evaluation comes from, as JSON if `true`.
    Explain(Board, bool),
    /// Show why one move is better than another, as JSON if `true`.
    Compare(Box<Game>, Moves, Limits, bool),
    /// Run the benchmark.
    Bench(Bench),
    /// Make openings.
    Genfens(Genfens),
    /// Change the session.
    Set(Setting),
}

/// What a job sends to the event loop.
pub enum Event {
    /// A line to print.
    Line(String),
    /// The answer to `go`: what is left of the job is to end.
    Answer(String),
    /// The job ended. Its last lines are printed when the engine is free.
    Done(Box<Session>, Vec<String>),
}

/// Deep lines have deep recursions.
const STACK: usize = 64 << 20;

/// A job to be done.
pub struct Job {
    /// What to do.
    pub work: Work,
    /// What to do it with.
    pub session: Box<Session>,
    /// What stops it.
    pub control: Arc<Control>,
}

/// Starts the thread that runs one job after another and reports by `events`.
///
/// One thread serves all jobs: on a busy machine a new thread waits for its time slice, while a thread that slept runs
/// at once. At fast time controls the difference loses games.
pub fn spawn_worker(events: Sender<Event>) -> Sender<Job> {
    let (sender, jobs) = unbounded();
    let body = move || jobs.iter().for_each(|job: Job| job.run(&events));
    thread::Builder::new()
        .name("job".to_string())
        .stack_size(STACK)
        .spawn(body)
        .expect("the system has a thread for the jobs");
    sender
}

impl Job {
    /// Does the job. It ends with [`Event::Done`], whatever happens to it.
    fn run(mut self, events: &Sender<Event>) {
        let mut answered = false;
        self.work.write_moves_for(self.session.settings.chess960);
        // Without a receiver the program is ending.
        let mut say = |line: String| {
            let answers = line.starts_with("bestmove ");
            answered |= answers;
            drop(events.send(if answers { Event::Answer(line) } else { Event::Line(line) }));
        };
        let run = AssertUnwindSafe(|| self.work.run(&mut self.session, &self.control, &mut say));
        let last = catch_unwind(run);
        let last = last.unwrap_or_else(|_| {
            self.session.engine.clear();
            self.work.after_panic(answered)
        });
        drop(events.send(Event::Done(self.session, last)));
    }
}

impl Work {
    /// Whether it ends at once by itself.
    pub fn is_quick(&self) -> bool {
        matches!(self, Work::Eval(_) | Work::Explain(..) | Work::Set(_))
    }

    /// Whether it looks for a move.
    pub fn is_search(&self) -> bool {
        matches!(self, Work::Search(..) | Work::NoPosition { .. })
    }

    /// Whether it changes the session.
    pub fn is_setting(&self) -> bool {
        matches!(self, Work::Set(_))
    }

    /// Whether only `stop` ends it.
    pub fn is_endless(&self) -> bool {
        /// Depths from here on are how some GUIs write an infinite search.
        const ENDLESS_DEPTH: u32 = 100;
        match self {
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
        }
    }

    /// Bytes of memory it takes while it waits, about.
    pub fn size(&self) -> usize {
        /// A move and the key of a position.
        const MOVE: usize = 16;
        /// What a setter keeps besides the value, and its allocation.
        const SETTER: usize = 256;
        let more = match self {
            Work::Search(game, _) | Work::Compare(game, ..) => size_of::<Game>() + MOVE * game.moves().len(),
            Work::NoPosition { refusal, .. } => refusal.len(),
            Work::Set(setting) => SETTER + setting.size(),
            _ => 0,
        };
        size_of::<Work>() + more
    }

    /// Does the work. The lines returned are the last ones.
    fn run(&self, session: &mut Session, control: &Control, say: &mut Say) -> Vec<String> {
        match self {
            Work::Search(game, limits) => {
                search(game, limits, session, control, say);
                Vec::new()
            }
            Work::NoPosition { refusal, infinite } => {
                say(info_string(refusal));
                control.wait(*infinite);
                say(best_move_line(&Board::startpos(), None, None));
                Vec::new()
            }
            Work::Perft(board, depth) => perft::divide(board, *depth, control, say),
            Work::Eval(board) => display::evaluation(board, &session.engine),
            Work::Explain(board, json) => display::explanation(board, &session.engine, *json),
            Work::Compare(game, moves, limits, json) => {
                display::comparison(game, *moves, limits, *json, session, control)
            }
            Work::Bench(Bench { depth, json }) => bench::run(*depth, *json, &session.engine, control, say),
            Work::Genfens(ask) => genfens::run(ask, &session.engine, control, say),
            Work::Set(setting) => {
                let lines = setting.apply(session);
                session.engine.prefault_hash(control);
                lines
            }
        }
    }

    /// Lets moves be written as the option says that holds when the job begins.
    fn write_moves_for(&mut self, chess960: bool) {
        match self {
            Work::Search(game, _) | Work::Compare(game, ..) => **game = (**game).clone().with_chess960(chess960),
            Work::Perft(board, _) => *board = board.with_chess960(chess960),
            _ => {}
        }
    }

    /// A fault of ours must not cost the game: `go` is answered in any case.
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

fn search(game: &Game, limits: &Limits, session: &mut Session, control: &Control, say: &mut Say) {
    let board = game.board();
    let show_wdl = session.settings.show_wdl;
    let ended = !board.has_legal_move();
    if ended {
        say(ended_line(board));
    }
    let patience = tables::patience(limits, &session.settings.search);
    let tables = session.settings.tables.tables(patience, control, say);
    let mut options = Options { tables, ..session.settings.search.clone() };
    let choice = &session.settings.tables;
    let mut player = session.opponent.player(limits);
    let shown = options.multipv;
    let asked = session.settings.pgn_comment && player.is_none() && !ended;
    let mut best_two = asked.then(|| (BestTwo::default(), session.weights_id.of(session.engine.weights())));
    if asked {
        options.multipv = shown.max(VARIATIONS);
    }
    if session.trained.is_some() && !std::mem::replace(&mut session.trained_is_said, true) {
        say(info_string(&format!("{} plays", engine_name(session.trained.as_ref()))));
    }
    let mut current_shown: Option<Instant> = None;
    let mut on_report = |report: &Report| match report {
        Report::Info(info) if !ended => {
            if let Some((best_two, _)) = &mut best_two {
                best_two.note(info);
            }
            if info.multipv <= shown {
                say(info_line(info, board, show_wdl));
            }
        }
        // A window that shows all lines would show no others.
        Report::CurrentMove { depth, mv, number }
            if current_shown.is_none_or(|shown| shown.elapsed() >= CURRENT_MOVE_EVERY) =>
        {
            current_shown = Some(Instant::now());
            say(current_move_line(board, *depth, *mv, *number));
        }
        Report::Answer(outcome) => {
            choice.tell_fault(say);
            if let Some((best_two, weights)) = &best_two {
                say(best_two.line(board, outcome, *weights));
            }
            say(best_move_line(board, outcome.best, outcome.ponder));
        }
        _ => {}
    };
    match &mut player {
        Some(player) => player.search(game, limits, &options, control, &mut on_report),
        None => session.engine.search(game, limits, &options, control, &mut on_report),
    };
}
