//! The event loop: commands in, answers out.
//!
//! Commands are handled strictly in order. What needs the engine while a job has it waits in a
//! queue; what does not is done at once: `isready`, `stop`, `ponderhit`, `quit`, and `position`,
//! since a job searches its own copy of the game. Each `go` gets exactly one `bestmove`, also one
//! that had to wait and was stopped before it began.
//!
//! The loop is the only place that prints, so lines never mix.

pub mod command;
pub mod go;
pub mod info;
pub mod line;
pub mod options;

use std::collections::VecDeque;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, select, unbounded};
use dyad_engine::board::Game;
use dyad_engine::control::Control;
use vampirc_uci::{Serializable, UciMessage};

use self::command::Command;
pub use self::command::is_command;
use self::go::Go;
use self::line::{Input, MAX_LENGTH};
use self::options::{Assignment, Session};
use crate::display;
use crate::job::{self, Event, Job, Work};
use crate::perft;

/// Speaks UCI over standard input and output until `quit` or the end of input.
pub fn run_on_stdin() -> ExitCode {
    let input = line::spawn_reader();
    let mut uci = Uci::new();
    let events = uci.events.clone();
    while !uci.output.closed {
        let flow = select! {
            recv(input) -> input => uci.read(input.unwrap_or(Input::End)),
            recv(events) -> event => {
                uci.take(event.expect("the thread for jobs never ends"));
                ControlFlow::Continue(())
            }
        };
        if flow.is_break() {
            break;
        }
    }
    uci.finish();
    ExitCode::SUCCESS
}

/// Carries out the program's arguments in order, each to its end.
///
/// An argument that does not begin with a command belongs to the one before: `dyad bench 5` needs
/// no quotes.
pub fn run_commands(arguments: &[String]) -> ExitCode {
    let mut lines: Vec<String> = Vec::new();
    for argument in arguments {
        match lines.last_mut() {
            Some(line) if !is_command(argument) => *line = format!("{line} {argument}"),
            _ => lines.push(argument.clone()),
        }
    }
    let mut uci = Uci::new();
    for line in lines {
        if uci.output.closed || uci.read(Input::Line(line)).is_break() {
            break;
        }
        while uci.is_busy() && !uci.output.closed {
            uci.wait(None);
        }
    }
    uci.finish();
    ExitCode::SUCCESS
}

/// The state of a conversation.
struct Uci {
    output: Output,
    game: Game,
    engine: State,
    /// What was accepted while the engine was busy.
    waiting: VecDeque<Task>,
    debug: bool,
    jobs: Sender<Job>,
    events: Receiver<Event>,
}

enum State {
    Free(Box<Session>),
    /// A job has the engine, and this stops it.
    Busy(Arc<Control>),
}

/// What needs the engine.
enum Task {
    Set(Assignment),
    NewGame,
    Job(Work, Arc<Control>),
}

/// More than any GUI leaves waiting, and few enough to be kept.
const MOST_WAITING: usize = 1000;

/// At the end a job has so long to stop.
const PATIENCE: Duration = Duration::from_millis(800);

impl Uci {
    fn new() -> Uci {
        let (sender, events) = unbounded();
        Uci {
            output: Output { closed: false },
            game: Game::default(),
            engine: State::Free(Box::new(Session::new())),
            waiting: VecDeque::new(),
            debug: false,
            jobs: job::spawn_worker(sender),
            events,
        }
    }

    fn read(&mut self, input: Input) -> ControlFlow<()> {
        match input {
            Input::Line(line) => match command::parse(&line) {
                Ok(Some(command)) => return self.handle(command),
                Ok(None) => {}
                Err(error) => self.output.info(&error),
            },
            Input::TooLong(length) => {
                self.output.info(&format!("dropped a line of {length} bytes; {MAX_LENGTH} are the most"));
            }
            Input::End => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn handle(&mut self, command: Command) -> ControlFlow<()> {
        match command {
            Command::Uci => self.identify(),
            Command::IsReady => self.output.message(&UciMessage::ReadyOk),
            Command::Debug(on) => self.debug = on,
            Command::Nothing => {}
            Command::Quit => return ControlFlow::Break(()),
            Command::Stop => self.controls().for_each(|control| control.stop()),
            Command::PonderHit => self.controls().for_each(|control| control.ponderhit()),
            Command::Position(game) => {
                self.game = *game;
                self.detail(|uci| format!("position {}", uci.game.board().fen()));
            }
            Command::Display => self.output.lines(&display::board(self.game.board())),
            Command::Help => self.output.lines(&command::help()),
            Command::NewGame => self.submit(Task::NewGame),
            Command::SetOption(text) => match Assignment::parse(&text) {
                Ok(assignment) => self.submit(Task::Set(assignment)),
                Err(error) => self.output.info(&error),
            },
            Command::Go(go) => self.go(&go),
            Command::Eval => self.start(Work::Eval(*self.game.board()), false),
            Command::Explain => self.start(Work::Explain(*self.game.board()), false),
            Command::Bench(depth) => self.start(Work::Bench(depth), false),
            Command::Genfens(ask) => self.start(Work::Genfens(ask), false),
        }
        ControlFlow::Continue(())
    }

    fn identify(&mut self) {
        let name = concat!("Dyad ", env!("CARGO_PKG_VERSION"));
        self.output.message(&UciMessage::id_name(name));
        self.output.message(&UciMessage::id_author(env!("CARGO_PKG_AUTHORS")));
        self.output.lines(&options::listing());
        self.output.message(&UciMessage::UciOk);
    }

    fn go(&mut self, go: &Go) {
        for note in &go.notes {
            self.output.info(note);
        }
        let board = *self.game.board();
        if let Some(depth) = go.perft {
            let depth = depth.clamp(0, perft::MAX_DEPTH.into()) as u32;
            return self.start(Work::Perft(board, depth), false);
        }
        let (limits, illegal) = go.limits(&board);
        if let Some(illegal) = illegal {
            self.output.info(&illegal);
        }
        self.detail(|_| format!("{limits:?}"));
        let ponder = limits.ponder;
        self.start(Work::Search(Box::new(self.game.clone()), limits), ponder);
    }

    fn start(&mut self, work: Work, ponder: bool) {
        self.submit(Task::Job(work, Arc::new(Control::new(ponder))));
    }

    /// Does a task, at once or when those before it are done.
    fn submit(&mut self, task: Task) {
        if !self.is_busy() {
            return self.perform(task);
        }
        if self.waiting.len() >= MOST_WAITING {
            return self.output.info("too many commands are waiting for the search to end: ignored");
        }
        if let Task::Set(assignment) = &task {
            self.output.info(&format!("{} will be set when the search has ended", assignment.name));
        }
        self.waiting.push_back(task);
    }

    fn perform(&mut self, task: Task) {
        let State::Free(session) = &mut self.engine else {
            unreachable!("tasks are performed when the engine is free");
        };
        match task {
            Task::NewGame => session.engine.clear(),
            Task::Set(assignment) => match assignment.apply(session) {
                Ok(None) => {}
                Ok(Some(note)) | Err(note) => self.output.info(&note),
            },
            Task::Job(work, control) => {
                let busy = State::Busy(control.clone());
                if let State::Free(session) = std::mem::replace(&mut self.engine, busy) {
                    self.jobs.send(Job { work, session, control }).expect("the thread for jobs never ends");
                }
            }
        }
    }

    /// Takes what a job has sent. After its end the waiting tasks have their turn.
    fn take(&mut self, event: Event) {
        match event {
            Event::Line(line) => self.output.line(&line),
            Event::Done(session, lines) => {
                self.engine = State::Free(session);
                self.output.lines(&lines);
                while !self.is_busy()
                    && let Some(task) = self.waiting.pop_front()
                {
                    self.perform(task);
                }
            }
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.engine, State::Busy(_))
    }

    /// What stops the jobs accepted so far, whether they have begun or not.
    fn controls(&self) -> impl Iterator<Item = &Arc<Control>> {
        let running = match &self.engine {
            State::Free(_) => None,
            State::Busy(control) => Some(control),
        };
        let waiting = self.waiting.iter().filter_map(|task| match task {
            Task::Job(_, control) => Some(control),
            _ => None,
        });
        running.into_iter().chain(waiting)
    }

    /// Waits for the next event. False if none came by the deadline.
    fn wait(&mut self, deadline: Option<Instant>) -> bool {
        let event = match deadline {
            None => self.events.recv().ok(),
            Some(deadline) => self.events.recv_deadline(deadline).ok(),
        };
        let came = event.is_some();
        if let Some(event) = event {
            self.take(event);
        }
        came
    }

    /// Stops what runs and gives it a moment to end. The end of the program ends it in any case.
    fn finish(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        self.controls().for_each(|control| control.stop());
        while self.is_busy() && self.wait(Some(deadline)) {}
    }

    /// Says more, if that is wanted.
    fn detail(&mut self, text: impl FnOnce(&Uci) -> String) {
        if self.debug {
            let text = text(self);
            self.output.info(&text);
        }
    }
}

/// Standard output, a line at a time.
struct Output {
    /// Nobody reads any more.
    closed: bool,
}

impl Output {
    fn line(&mut self, text: &str) {
        let mut stdout = stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        self.closed |= written.is_err();
    }

    fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(line));
    }

    fn message(&mut self, message: &UciMessage) {
        self.line(&message.serialize());
    }

    /// What is no protocol. It may quote anything, so line breaks and the like are taken out.
    fn info(&mut self, text: &str) {
        let text = text.replace(char::is_control, " ");
        self.message(&UciMessage::info_string(text));
    }
}
