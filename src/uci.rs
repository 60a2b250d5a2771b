//! The event loop: commands in, answers out.
//!
//! Commands are handled strictly in order. What needs the engine while a job has it waits in a
//! queue; what does not is done at once: `stop`, `ponderhit`, `quit`, and `position`,
//! since a job searches its own copy of the game. Each `go` that searches gets exactly one
//! `bestmove`, also one that had to wait and was stopped before it began.
//!
//! `isready` is answered at once during a search (or another job that takes its time), and otherwise when all
//! that was sent before it is done: a GUI that has its `readyok` may start a clock.
//!
//! The queue has a bound in bytes. When it is reached nothing more is read until there is room again, so that
//! whoever sends has to wait and nothing is lost. Only while a search runs that nothing but `stop` ends is
//! reading never interrupted, and what does not fit is refused.
//!
//! A self-training runs beside all this, on its own threads; its options and commands are obeyed at once,
//! and new weights wait like whatever else changes the engine.
//!
//! The loop is the only place that prints, so lines never mix.

pub mod command;
mod go;
mod line;
mod options;
mod weights;

use std::collections::VecDeque;
use std::io::{IsTerminal, stdin, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, at, never, select, unbounded};
use dyad_engine::board::{Board, Game};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::Limits;
use vampirc_uci::{Serializable, UciMessage};

pub use self::command::is_command;
use self::command::{Command, Explain, Train};
use self::go::Go;
use self::line::{Input, MAX_LENGTH};
use self::options::{Assignment, Set, Setter};
use crate::display::{self, Moves};
use crate::info::info_string;
use crate::job::{self, Event, Job, Work};
use crate::perft;
use crate::session::{Outcome, Session};
use crate::training::{Message, Started, Training};

/// Speaks UCI over standard input and output until `quit` or the end of input.
pub fn run_on_stdin() -> ExitCode {
    let mut uci = Uci::new();
    if stdin().is_terminal() {
        uci.output.line(concat!(
            "Dyad ",
            env!("CARGO_PKG_VERSION"),
            ", a UCI chess engine. `help` lists the commands."
        ));
    }
    let progress = Arc::clone(&uci.output.progress);
    let input = line::spawn_reader(move || end_if_nobody_reads(&progress));
    let (events, messages) = (uci.events.clone(), uci.messages.clone());
    while !uci.output.closed {
        let input = if uci.has_room() { input.clone() } else { never() };
        let settled = uci.training.due().map_or_else(never, at);
        let flow = select! {
            recv(input) -> input => uci.read(input.unwrap_or(Input::End)),
            recv(events) -> event => {
                uci.take(event.expect("the thread for jobs never ends"));
                ControlFlow::Continue(())
            }
            recv(messages) -> message => {
                uci.take_training(message.expect("the training keeps a sender"));
                ControlFlow::Continue(())
            }
            recv(settled) -> _ => {
                uci.training.settle();
                ControlFlow::Continue(())
            }
        };
        uci.start_training();
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
        uci.start_training();
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
    /// The current game, or why the last `position` was refused: no earlier game takes its place.
    game: Result<Game, String>,
    engine: State,
    /// What was accepted while the engine was busy.
    waiting: VecDeque<Task>,
    /// Bytes that those take.
    waiting_bytes: usize,
    /// How many of them are [`Task::Ready`].
    waiting_questions: usize,
    debug: bool,
    /// Told to end.
    quit: bool,
    training: Training,
    jobs: Sender<Job>,
    events: Receiver<Event>,
    /// What the training tells.
    messages: Receiver<Message>,
}

enum State {
    Free(Box<Session>),
    /// A job has the engine.
    Busy(Running),
}

/// A job that has the engine.
struct Running {
    /// What stops it.
    control: Arc<Control>,
    /// The engine's.
    weights: Arc<Weights>,
    kind: Kind,
    /// The GUI has its answer: the engine will be free in a moment.
    answered: bool,
}

/// How the loop has to treat a job.
#[derive(Clone, Copy)]
struct Kind {
    /// It finds a move, and is ended with the program; a count is not, nor a benchmark.
    search: bool,
    /// It compares moves, which may take as long as a search: `quit` ends it, the end of the input does not.
    comparison: bool,
    /// It is done in a moment.
    quick: bool,
    /// Nothing but `stop` ends it.
    endless: bool,
}

impl Kind {
    fn of(work: &Work) -> Kind {
        Kind {
            search: work.is_search(),
            comparison: work.is_comparison(),
            quick: work.is_quick(),
            endless: work.is_endless(),
        }
    }
}

/// What needs the engine.
enum Task {
    /// Set an option to a value of so many bytes.
    Set(&'static str, Setter<Session>, usize),
    NewGame,
    /// Play with better weights from this file.
    Adopt(Arc<Weights>, PathBuf),
    /// `TrainFolder` may be where the weights come from.
    TrainFolder(Option<PathBuf>),
    Job(Work, Arc<Control>),
    /// Say that all before it is done.
    Ready,
}

impl Task {
    /// Bytes that it takes while it waits, about.
    fn size(&self) -> usize {
        /// What a setter keeps beside the value, and an allocation.
        const KEPT: usize = 256;
        let text = match self {
            Task::Job(work, _) => return work.size() + size_of::<Control>(),
            Task::Set(_, _, length) => *length,
            Task::Adopt(_, path) | Task::TrainFolder(Some(path)) => path.as_os_str().len(),
            Task::NewGame | Task::TrainFolder(None) | Task::Ready => 0,
        };
        size_of::<Task>() + KEPT + text
    }
}

/// Bytes of commands that may wait: a hundred thousand of them, or twenty searches of the longest games.
const MOST_WAITING: usize = 64 << 20;

/// At the end all searches together have so long to stop.
const PATIENCE: Duration = Duration::from_millis(800);
/// At the end a training has so long to write a checkpoint.
const TRAINING_PATIENCE: Duration = Duration::from_millis(1800);

impl Uci {
    fn new() -> Uci {
        let (sender, events) = unbounded();
        let (teller, messages) = unbounded();
        let training = Training::new(teller);
        let mut session = options::default_session();
        weights::set_folder(&mut session, training.folder()).expect("defaults can be set");
        Uci {
            output: Output::default(),
            game: Ok(Game::default()),
            engine: State::Free(Box::new(session)),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waiting_questions: 0,
            debug: false,
            quit: false,
            training,
            jobs: job::spawn_worker(sender),
            events,
            messages,
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
            Command::IsReady => {
                // What is adopted by a training that is resumed is in place when the GUI hears that all is ready.
                self.training.settle();
                self.start_training();
                if self.is_at_work() { self.output.message(&UciMessage::ReadyOk) } else { self.submit(Task::Ready) }
            }
            Command::Debug(on) => self.debug = on,
            Command::Nothing => {}
            Command::Quit => {
                self.quit = true;
                return ControlFlow::Break(());
            }
            Command::Stop => self.controls().for_each(|control| control.stop()),
            Command::PonderHit => self.controls().for_each(|control| control.ponderhit()),
            Command::Position(Ok(game)) => {
                self.game = Ok(*game);
                self.detail(|uci| {
                    uci.game.as_ref().map_or_else(Clone::clone, |game| format!("position {}", game.board().fen()))
                });
            }
            Command::Position(Err(error)) => {
                self.output.info(&format!("position: {error}"));
                self.game = Err(format!("no position is set up, the last one was refused: {error}"));
            }
            Command::Display => self.with_board(|uci, board| uci.output.lines(&display::board(&board))),
            Command::Help => self.output.lines(&command::help()),
            Command::NewGame => {
                if self.game.is_err() {
                    self.game = Ok(Game::default());
                }
                self.submit(Task::NewGame);
            }
            Command::SetOption(text) => match Assignment::parse(&text) {
                Ok(Assignment { name, set: Set::Engine(set), length }) => self.submit(Task::Set(name, set, length)),
                Ok(Assignment { set: Set::Training(set), .. }) => self.set_training(set),
                Err(error) => self.output.info(&error),
            },
            Command::Train(Train::Start) => self.set_training(Box::new(Training::start_now)),
            Command::Train(Train::Stop) => self.set_training(Box::new(Training::stop)),
            Command::Train(Train::Status) => {
                let status = self.training.status();
                self.output.train(&status);
            }
            Command::Go(go) => self.go(&go),
            Command::Eval => self.with_board(|uci, board| uci.start(Work::Eval(board), false)),
            Command::Explain(ask) => self.explain(&ask),
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
        // A GUI that goes on without `stop` or `ponderhit` has no use for the move pondered on.
        self.controls().filter(|control| control.pondering()).for_each(|control| control.stop());
        if let Some(depth) = go.perft {
            let depth = depth.clamp(0, perft::MAX_DEPTH.into()) as u32;
            return self.with_board(|uci, board| uci.start(Work::Perft(board, depth), false));
        }
        let game = match &self.game {
            Ok(game) => Box::new(game.clone()),
            Err(refusal) => {
                let work = Work::NoPosition { refusal: refusal.clone(), infinite: go.infinite };
                return self.start(work, go.ponder);
            }
        };
        let (limits, notes) = go.limits(game.board());
        notes.iter().for_each(|note| self.output.info(note));
        self.detail(|_| go::describe(&limits, game.board()));
        let ponder = limits.ponder;
        self.start(Work::Search(game, limits), ponder);
    }

    fn explain(&mut self, ask: &Explain) {
        if ask.moves.is_empty() {
            return self.with_board(|uci, board| uci.start(Work::Explain(board), false));
        }
        match self.game.as_ref().map_err(String::clone).and_then(|game| Moves::read(&ask.moves, game)) {
            Ok((game, moves)) => self.start(Work::Compare(Box::new(game), moves, Limits::nodes(ask.nodes)), false),
            Err(error) => self.output.info(&error),
        }
    }

    /// Does something with the current board, or says why there is none.
    fn with_board(&mut self, act: impl FnOnce(&mut Uci, Board)) {
        match &self.game {
            Ok(game) => {
                let board = *game.board();
                act(self, board);
            }
            Err(refusal) => self.output.info(refusal),
        }
    }

    fn start(&mut self, work: Work, ponder: bool) {
        self.submit(Task::Job(work, Arc::new(Control::new(ponder))));
    }

    /// Sets an option of the training, or does what a command says.
    fn set_training(&mut self, set: Setter<Training>) {
        let before = self.training.folder();
        match set(&mut self.training) {
            Ok(None) => {}
            Ok(Some(note)) | Err(note) => self.output.train(&note),
        }
        let folder = self.training.folder();
        if folder != before {
            self.submit(Task::TrainFolder(folder));
        }
    }

    /// Begins the training that was asked for, if its time has come and the weights are settled.
    fn start_training(&mut self) {
        // In this order: what waits may be much, and is looked through only when it matters.
        let settings_wait = || self.waiting.iter().any(|task| !matches!(task, Task::Job(..) | Task::Ready));
        if !self.training.is_waiting_to_start() || settings_wait() {
            return;
        }
        let weights = match &self.engine {
            State::Free(session) => session.engine.weights(),
            State::Busy(running) => &running.weights,
        };
        match self.training.start(&Arc::clone(weights)) {
            Ok(Started { note, best }) => {
                self.output.train(&note);
                if let Some(path) = best {
                    self.play_with(path);
                }
            }
            Err(note) => self.output.train(&note),
        }
    }

    /// Plays with what the training that is resumed has found best.
    fn play_with(&mut self, path: PathBuf) {
        match Weights::load(&path) {
            Ok(weights) => self.submit(Task::Adopt(Arc::new(weights), path)),
            Err(error) => self.output.train(&format!("error: {error}")),
        }
    }

    /// Takes what the training has sent.
    fn take_training(&mut self, message: Message) {
        self.training.receive(&message);
        match message {
            Message::Report(text) | Message::Ended(text) => self.output.train(&text),
            Message::Adopted(weights, path) if self.training.adopts() => self.submit(Task::Adopt(weights, path)),
            Message::Adopted(..) => {}
        }
    }

    /// Does a task, at once or when those before it are done.
    fn submit(&mut self, task: Task) {
        if !self.is_busy() {
            return self.perform(task);
        }
        if self.is_full() && self.is_endless() {
            return self.output.info("too many commands are waiting for the search to be stopped: ignored");
        }
        let answered = matches!(&self.engine, State::Busy(running) if running.answered);
        if let Task::Set(name, ..) = &task
            && !answered
        {
            self.output.info(&format!("{name} will be set when the search has ended"));
        }
        self.waiting_bytes += task.size();
        self.waiting_questions += usize::from(matches!(task, Task::Ready));
        self.waiting.push_back(task);
    }

    /// Does what waited, until the engine is busy again. Nobody waits for a job that takes its time to be told that
    /// the engine listens.
    fn work_off(&mut self) {
        while !self.is_busy()
            && let Some(task) = self.waiting.pop_front()
        {
            self.waiting_bytes -= task.size();
            self.waiting_questions -= usize::from(matches!(task, Task::Ready));
            self.perform(task);
        }
        if self.waiting_questions > 0 && self.is_at_work() {
            self.waiting.retain(|task| !matches!(task, Task::Ready));
            let answered = std::mem::take(&mut self.waiting_questions);
            self.waiting_bytes -= answered * Task::Ready.size();
            (0..answered).for_each(|_| self.output.message(&UciMessage::ReadyOk));
        }
    }

    fn perform(&mut self, task: Task) {
        let State::Free(session) = &mut self.engine else {
            unreachable!("tasks are performed when the engine is free");
        };
        match task {
            Task::NewGame => {
                session.engine.clear();
                session.opponent.new_game();
            }
            Task::Set(name, set, _) => {
                let outcome = set(session);
                self.output.outcome(name, outcome);
            }
            Task::TrainFolder(folder) => {
                let outcome = weights::set_folder(session, folder);
                self.output.outcome("UseTrained", outcome);
            }
            Task::Adopt(weights, path) => {
                let note = weights::adopt(session, weights, &path);
                self.output.train(&note);
            }
            Task::Ready => self.output.message(&UciMessage::ReadyOk),
            Task::Job(work, control) => {
                let weights = Arc::clone(session.engine.weights());
                let kind = Kind::of(&work);
                let busy = State::Busy(Running { control: control.clone(), weights, kind, answered: false });
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
            Event::Answer(line) => {
                self.output.line(&line);
                if let State::Busy(running) = &mut self.engine {
                    running.answered = true;
                }
            }
            Event::Done(session, lines) => {
                self.engine = State::Free(session);
                self.output.lines(&lines);
                self.work_off();
            }
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.engine, State::Busy(..))
    }

    /// Whether a job runs that takes its time, and has not given its answer yet.
    fn is_at_work(&self) -> bool {
        matches!(&self.engine, State::Busy(running) if !running.kind.quick && !running.answered)
    }

    /// Whether a search runs that nothing but a command can end.
    fn is_endless(&self) -> bool {
        let State::Busy(Running { control, kind, .. }) = &self.engine else { return false };
        (kind.endless || control.pondering()) && !control.stopped()
    }

    fn is_full(&self) -> bool {
        self.waiting_bytes >= MOST_WAITING
    }

    /// Whether to read on: what waits must not fill the memory, but what ends a search must be seen.
    fn has_room(&self) -> bool {
        !self.is_full() || self.is_endless()
    }

    /// What stops the jobs accepted so far, whether they have begun or not.
    fn controls(&self) -> impl Iterator<Item = &Arc<Control>> {
        let running = match &self.engine {
            State::Free(_) => None,
            State::Busy(running) => Some(&running.control),
        };
        let waiting = self.waiting.iter().filter_map(|task| match task {
            Task::Job(_, control) => Some(control),
            _ => None,
        });
        running.into_iter().chain(waiting)
    }

    /// Waits for the next event. False if none came by the deadline.
    fn wait(&mut self, deadline: Option<Instant>) -> bool {
        let (events, messages) = (self.events.clone(), self.messages.clone());
        let late = deadline.map_or_else(never, at);
        select! {
            recv(events) -> event => self.take(event.expect("the thread for jobs never ends")),
            recv(messages) -> message => self.take_training(message.expect("the training keeps a sender")),
            recv(late) -> _ => return false,
        }
        true
    }

    /// Stops the searches and the training and gives them a moment to end; a count or a benchmark is waited for, as
    /// long as somebody reads what it finds. The end of the program ends the rest.
    fn finish(&mut self) {
        let begun = Instant::now();
        if self.training.is_running() {
            self.set_training(Box::new(Training::stop));
        }
        let mut deadline = None;
        while self.is_busy() && !self.output.closed {
            self.searches().for_each(|control| control.stop());
            deadline = if self.counts() { None } else { deadline.or_else(|| Some(Instant::now() + PATIENCE)) };
            if !self.wait(deadline) {
                break;
            }
        }
        while self.training.is_running() && self.wait(Some(begun + TRAINING_PATIENCE)) {}
    }

    /// Whether a job is stopped at the end, and not waited for.
    fn ends(&self, kind: Kind) -> bool {
        kind.search || (kind.comparison && self.quit)
    }

    /// What stops the searches accepted so far, and only those.
    fn searches(&self) -> impl Iterator<Item = &Arc<Control>> {
        let running = match &self.engine {
            State::Busy(Running { control, kind, .. }) if self.ends(*kind) => Some(control),
            _ => None,
        };
        let waiting = self.waiting.iter().filter_map(|task| match task {
            Task::Job(work, control) if self.ends(Kind::of(work)) => Some(control),
            _ => None,
        });
        running.into_iter().chain(waiting)
    }

    /// Whether something runs or waits that is no search and has not been stopped.
    fn counts(&self) -> bool {
        let goes_on = |kind: Kind, control: &Control| !self.ends(kind) && !control.stopped();
        let runs = matches!(&self.engine, State::Busy(Running { control, kind, .. }) if goes_on(*kind, control));
        let waits = |task: &Task| matches!(task, Task::Job(work, control) if goes_on(Kind::of(work), control));
        runs || self.waiting.iter().any(waits)
    }

    /// Says more, if that is wanted.
    fn detail(&mut self, text: impl FnOnce(&Uci) -> String) {
        if self.debug {
            let text = text(self);
            self.output.info(&text);
        }
    }
}

/// Ends the program when its output does not move: it was told to end, or has no more input, and nobody takes what it
/// says. Whoever is slow in reading is waited for.
fn end_if_nobody_reads(progress: &Progress) -> ! {
    const EVERY: Duration = Duration::from_millis(250);
    const PATIENCE: Duration = Duration::from_secs(5);
    let (mut lines, mut since) = (0, Instant::now());
    loop {
        thread::sleep(EVERY);
        let written = progress.lines.load(Ordering::Relaxed);
        if !progress.writing.load(Ordering::Relaxed) || written != lines {
            (lines, since) = (written, Instant::now());
        } else if since.elapsed() > PATIENCE {
            std::process::exit(1);
        }
    }
}

/// What is seen of standard output from another thread.
#[derive(Default)]
struct Progress {
    /// Lines begun.
    lines: AtomicU64,
    /// Whether one is being written.
    writing: AtomicBool,
}

/// Standard output, a line at a time.
#[derive(Default)]
struct Output {
    /// Nobody reads any more.
    closed: bool,
    progress: Arc<Progress>,
}

impl Output {
    fn line(&mut self, text: &str) {
        self.progress.lines.fetch_add(1, Ordering::Relaxed);
        self.progress.writing.store(true, Ordering::Relaxed);
        let written = line::write_patiently(&mut stdout().lock(), format!("{text}\n").as_bytes());
        self.closed |= written.is_err();
        self.progress.writing.store(false, Ordering::Relaxed);
    }

    fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(line));
    }

    fn message(&mut self, message: &UciMessage) {
        self.line(&message.serialize());
    }

    /// What setting an option has to say.
    fn outcome(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Ok(None) => {}
            Ok(Some(note)) | Err(note) => self.info(&format!("{name}: {note}")),
        }
    }

    /// What a training has to say.
    fn train(&mut self, text: &str) {
        self.info(&format!("train {text}"));
    }

    fn info(&mut self, text: &str) {
        self.line(&info_string(text));
    }
}
