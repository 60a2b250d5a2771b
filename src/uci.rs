//! The event loop of the UCI conversation.
//!
//! Commands are handled strictly in order. Commands that need the engine while a job uses it wait in a queue. The
//! others take effect at once: `stop`, `ponderhit`, `quit`, and `position`, since a job searches its own copy of the
//! game. Each `go` that searches gets exactly one `bestmove`, even if it was stopped while it waited in the queue.
//!
//! `isready` is answered at once during a search or another long job. Otherwise it is answered when all commands before
//! it are done, because a GUI may start a clock after `readyok`. Changes of the session are jobs as well, since a hash
//! table or a file may take seconds; `isready` waits for them.
//!
//! `quit`, a signal and a closed output stop all jobs. After the end of input, jobs that end by themselves are
//! completed.
//!
//! When the queue is full, reading pauses, so that the sender waits and nothing is lost; during a search that only a
//! command ends, further commands for the engine are refused.
//!
//! A self-training runs on threads of its own. Its options and commands take effect at once; new weights are queued
//! like other changes of the session.
//!
//! Only the loop prints, so lines never mix.

pub mod command;
mod genfens;
mod go;
mod job;
mod line;
mod options;
mod watch;
mod weights;

use std::collections::VecDeque;
use std::error::Error;
use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, at, never, select, unbounded};
use dyad_engine::board::{Board, Game};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use vampirc_uci::{Serializable, UciMessage};

pub use self::command::is_command;
use self::command::{Command, Explain, Train};
use self::go::Go;
use self::job::{End, Event, Job, Kind, Work};
use self::line::{Input, MAX_LENGTH};
use self::options::{Assignment, Set, Setter};
use self::watch::Pipes;
use crate::display::{self, Moves};
use crate::info::{info_string, printable};
use crate::perft;
use crate::session::{Outcome, Session, Trained, engine_name};
use crate::training::{Message, Training};

/// Speaks UCI over standard input and output until `quit` or the end of input.
///
/// # Errors
/// When memory or threads do not suffice to start.
pub fn run_on_stdin() -> Result<ExitCode, Box<dyn Error>> {
    let mut uci = Uci::new()?;
    if stdin().is_terminal() {
        uci.output.line(concat!(
            "Dyad ",
            env!("CARGO_PKG_VERSION"),
            ", a UCI chess engine. `help` lists the commands."
        ));
    }
    let lines = line::spawn_reader(Arc::clone(&uci.output.pipes))?;
    while uci.ending.is_none() {
        uci.step(&lines, None);
    }
    if uci.ending == Some(Ending::Quit)
        && uci.jobs().any(|(kind, _)| !kind.search)
        && line::ends_within(&lines, SCRIPT_TIMEOUT)
    {
        uci.ending = Some(Ending::Script);
    }
    uci.finish();
    Ok(ExitCode::SUCCESS)
}

/// Runs the arguments of the program as commands, each to its end, until one fails.
///
/// An argument that does not begin with a command is part of the command before it: `dyad bench 5` needs no quotes.
///
/// # Errors
/// When memory or threads do not suffice to start.
pub fn run_commands(arguments: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let mut lines: Vec<String> = Vec::new();
    let mut uci = Uci::new()?;
    for argument in arguments {
        if matches!(command::parse(argument), Ok(Some(Command::Train(_)))) {
            uci.refuse(&format!(
                "{argument}: a training ends with the program, so it is no argument; see dyad selftrain"
            ));
            return Ok(ExitCode::FAILURE);
        }
        match lines.last_mut() {
            Some(line) if !is_command(argument) => *line = format!("{line} {argument}"),
            _ => lines.push(argument.clone()),
        }
    }
    for line in lines {
        uci.read(Input::Line(line));
        while uci.ending.is_none() && uci.is_busy() {
            uci.step(&never(), None);
        }
        if uci.ending.is_some() || uci.failed {
            break;
        }
    }
    let failed = uci.failed || uci.ending == Some(Ending::Now);
    uci.finish();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The state of the event loop.
struct Uci {
    output: Output,
    /// The current game, or the error of the last `position`: an earlier game must not take its place.
    game: Result<Game, String>,
    engine: State,
    /// Tasks accepted while the engine was busy.
    queue: VecDeque<Task>,
    /// Whether `uci` was received.
    identified: bool,
    /// Why the program ends, if it does.
    ending: Option<Ending>,
    /// Whether a command was refused or failed.
    failed: bool,
    training: Training,
    jobs: Sender<Job>,
    events: Receiver<Event>,
    /// Messages of the training.
    messages: Receiver<Message>,
    /// Messages of the watch thread: the program has to end.
    alarms: Receiver<()>,
}

/// Why the program ends, which determines the jobs that are stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The end of input: only jobs that do not end by themselves are stopped.
    Input,
    /// `quit` as the last line of the input: searches are stopped, and other jobs are completed, as the benchmark of
    /// `printf 'bench\nquit'`.
    Script,
    /// `quit`: all jobs are stopped.
    Quit,
    /// A signal or a closed output: all jobs are stopped.
    Now,
}

impl Ending {
    fn stops(self, kind: Kind, control: &Control) -> bool {
        match self {
            Ending::Input => kind.endless || control.pondering(),
            Ending::Script => kind.search,
            Ending::Quit | Ending::Now => true,
        }
    }

    fn is_at_once(self) -> bool {
        matches!(self, Ending::Quit | Ending::Now)
    }
}

enum State {
    Free(Box<Session>),
    /// A job uses the engine.
    Busy(Running),
}

/// A running job, which uses the engine.
struct Running {
    /// Stops the job.
    control: Arc<Control>,
    /// The weights of the engine.
    weights: Arc<Weights>,
    /// The training that the weights are from.
    trained: Option<Trained>,
    kind: Kind,
    /// Whether `bestmove` was sent: the engine is free in a moment.
    answered: bool,
}

/// A task that needs the engine.
enum Task {
    Job(Work, Arc<Control>),
    /// Answer `isready` when all tasks before it are done.
    Ready,
}

impl Task {
    /// Whether it usually takes its time.
    fn is_long(&self) -> bool {
        matches!(self, Task::Job(work, _) if !work.kind().quick)
    }
}

/// Limit of the queue.
const MAX_QUEUE: usize = 1_000;

/// The longest time that `isready` waits for the first message of a training.
const READY_TIMEOUT: Duration = Duration::from_millis(75);

/// The longest time from `quit` to the end of input in a script.
const SCRIPT_TIMEOUT: Duration = Duration::from_millis(250);
/// Time for jobs to stop at the end of the program.
const STOP_TIMEOUT: Duration = Duration::from_millis(600);
/// Time for a training to write a checkpoint at the end of the program.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(1800);

impl Uci {
    fn new() -> Result<Uci, Box<dyn Error>> {
        let (sender, events) = unbounded();
        let (message_sender, messages) = unbounded();
        let training = Training::new(message_sender);
        let output = Output::default();
        let alarms = watch::start(&output.pipes)?;
        let mut session = options::default_session()?;
        weights::set_folder(&mut session, training.folder()).expect("defaults can be set");
        Ok(Uci {
            output,
            game: Ok(Game::default()),
            engine: State::Free(Box::new(session)),
            queue: VecDeque::new(),
            identified: false,
            ending: None,
            failed: false,
            training,
            jobs: job::spawn_worker(sender)?,
            events,
            messages,
            alarms,
        })
    }

    /// Waits for the next event and handles it. False if the deadline came first.
    fn step(&mut self, lines: &Receiver<Input>, deadline: Option<Instant>) -> bool {
        let lines = if self.queue.len() < MAX_QUEUE || self.is_endless() { lines } else { &never() };
        let (events, messages, alarms) = (self.events.clone(), self.messages.clone(), self.alarms.clone());
        let timer = |time: Option<Instant>| time.map_or_else(never, at);
        let (settled, late) = (timer(self.training.due()), timer(deadline));
        select! {
            recv(lines) -> line => self.read(line.unwrap_or(Input::End)),
            recv(events) -> event => self.on_event(event.expect("the thread for jobs never ends")),
            recv(messages) -> message => self.on_training_message(message.expect("the training keeps a sender")),
            recv(alarms) -> _ => self.ending = Some(Ending::Now),
            recv(settled) -> _ => self.training.settle(),
            recv(late) -> _ => return false,
        }
        if self.output.closed {
            self.ending = Some(Ending::Now);
        }
        self.start_training();
        true
    }

    fn read(&mut self, input: Input) {
        match input {
            Input::Line(line) => match command::parse(&line) {
                Ok(Some(command)) => self.handle(command),
                Ok(None) => {}
                Err(error) => self.refuse(&error),
            },
            Input::TooLong { word, length } => {
                let error = format!("dropped a line of {length} bytes; {MAX_LENGTH} are the most");
                if word == "position" {
                    self.refuse_position(&error);
                } else {
                    self.refuse(&error);
                }
            }
            Input::End => self.ending = Some(Ending::Input),
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Uci => self.identify(),
            Command::IsReady => {
                self.training.settle();
                self.start_training();
                if self.is_at_work() { self.output.message(&UciMessage::ReadyOk) } else { self.submit(Task::Ready) }
            }
            Command::Nothing => {}
            Command::Quit => self.ending = Some(Ending::Quit),
            Command::Stop => self.controls().for_each(|control| control.stop()),
            Command::PonderHit => self.controls().for_each(|control| control.ponderhit()),
            Command::Position(Ok(game)) => self.game = Ok(*game),
            Command::Position(Err(error)) => self.refuse_position(&error),
            Command::Display => self.with_board(|uci, board| uci.output.lines(&display::board(&board))),
            Command::Help => self.output.lines(&command::help()),
            Command::NewGame => {
                if self.game.is_err() {
                    self.game = Ok(Game::default());
                }
                self.set(|session| {
                    session.engine.clear();
                    session.opponent.new_game();
                    session.trained_reported = false;
                    Ok(None)
                });
            }
            Command::SetOption(text) => match Assignment::parse(&text) {
                Ok(Assignment { name, set: Set::Engine(set) }) => {
                    let set = Box::new(move |session: &mut Session| weights::named(name, set(session)));
                    self.start(Work::Set(Some(name), set), false);
                }
                Ok(Assignment { set: Set::Training(set), .. }) => self.set_training(set),
                Err(error) => self.refuse(&error),
            },
            Command::Train(Train::Stop) => self.set_training(Box::new(Training::stop)),
            Command::Train(Train::Status) => {
                let status = self.training.status();
                self.output.train(&status);
            }
            Command::Go(go) => self.go(&go),
            Command::Eval => self.with_board(|uci, board| uci.start(Work::Eval(board), false)),
            Command::Explain(ask) => self.explain(ask),
            Command::Bench(settings) => self.start(Work::Bench(settings), false),
            Command::Genfens(ask) => self.start(Work::Genfens(ask), false),
        }
    }

    /// Reports why a command is refused.
    fn refuse(&mut self, error: &str) {
        self.failed = true;
        self.output.info(error);
    }

    /// Refuses `position`. The position before is gone as well: `go` must not search it.
    fn refuse_position(&mut self, error: &str) {
        self.refuse(&format!("position: {error}"));
        self.game = Err(format!("no position is set up, the last one was refused: {error}"));
    }

    /// Answers `uci`. The first time it sets the default of `PlayTrained`, and the name of the engine includes the generation.
    fn identify(&mut self) {
        let mut notes = Vec::new();
        if !std::mem::replace(&mut self.identified, true) {
            match &mut self.engine {
                State::Free(session) => {
                    let note = weights::set_default(session).unwrap_or_else(Some);
                    notes = note.map(|note| info_string(&note)).into_iter().collect();
                }
                State::Busy(_) => self.set(weights::set_default),
            }
        }
        let name = engine_name(self.in_use().1);
        self.output.message(&UciMessage::id_name(&name));
        self.output.message(&UciMessage::id_author(env!("CARGO_PKG_AUTHORS")));
        self.output.lines(&options::listing());
        self.output.message(&UciMessage::UciOk);
        self.output.lines(&notes);
    }

    /// The weights in use, and the training that they are from.
    fn in_use(&self) -> (&Arc<Weights>, Option<&Trained>) {
        match &self.engine {
            State::Free(session) => (session.engine.weights(), session.trained.as_ref()),
            State::Busy(running) => (&running.weights, running.trained.as_ref()),
        }
    }

    fn go(&mut self, go: &Go) {
        for note in &go.notes {
            self.output.info(note);
        }
        // A GUI that sends `go` without `stop` or `ponderhit` does not need the result of pondering.
        self.controls().filter(|control| control.pondering()).for_each(|control| control.stop());
        if let Some(depth) = go.number("perft") {
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
        let ponder = limits.ponder;
        self.start(Work::Search(game, limits), ponder);
    }

    fn explain(&mut self, ask: Explain) {
        if ask.moves.is_empty() {
            return self.with_board(|uci, board| uci.start(Work::Explain(board, ask.json), false));
        }
        match self.game.as_ref().map_err(String::clone).and_then(|game| Moves::read(&ask.moves, game)) {
            Ok((game, moves)) => {
                self.start(Work::Compare(Box::new(game), moves, ask), false);
            }
            Err(error) => self.refuse(&error),
        }
    }

    /// Calls `act` with the current board, or reports the error of the last `position`.
    fn with_board(&mut self, act: impl FnOnce(&mut Uci, Board)) {
        match &self.game {
            Ok(game) => {
                let board = *game.board();
                act(self, board);
            }
            Err(refusal) => {
                let refusal = refusal.clone();
                self.refuse(&refusal);
            }
        }
    }

    fn start(&mut self, work: Work, ponder: bool) {
        self.submit(Task::Job(work, Arc::new(Control::new(ponder))));
    }

    /// Changes the session, otherwise than by an option.
    fn set(&mut self, set: impl Fn(&mut Session) -> Outcome + Send + 'static) {
        self.start(Work::Set(None, Box::new(set)), false);
    }

    /// Sets an option of the training, or runs one of its commands.
    fn set_training(&mut self, set: Setter<Training>) {
        let before = self.training.folder();
        match set(&mut self.training) {
            Ok(None) => {}
            Ok(Some(note)) => self.output.train(&note),
            Err(error) => {
                self.failed = true;
                self.output.train(&error);
            }
        }
        let folder = self.training.folder();
        if folder != before {
            self.set(move |session| weights::set_folder(session, folder.clone()));
        }
    }

    /// Starts the requested training if it is due and no change of the session is pending.
    fn start_training(&mut self) {
        if !self.training.is_waiting_to_start() || self.ending.is_some() || self.jobs().any(|(kind, _)| kind.setting) {
            return;
        }
        let (weights, trained) = self.in_use();
        let (weights, trained) = (Arc::clone(weights), trained.cloned());
        match self.training.start(&weights, trained.as_ref()) {
            Ok(Some(note)) => self.output.train(note),
            // Waits for its first message, so that `isready` is usually answered after it. A search must not wait.
            Ok(None) if self.is_busy() => {}
            Ok(None) => {
                if let Ok(message) = self.messages.recv_timeout(READY_TIMEOUT) {
                    self.on_training_message(message);
                }
            }
            Err(note) => self.output.train(&note),
        }
    }

    /// Handles a message of the training.
    fn on_training_message(&mut self, message: Message) {
        self.training.receive(&message);
        match message {
            Message::Started { note, playing } => {
                self.output.train(&note);
                if let Some(playing) = playing {
                    self.set(move |session| weights::use_resumed(session, &playing));
                }
            }
            Message::Report(text) | Message::Ended(Ok(text)) => self.output.train(&text),
            Message::Ended(Err(error)) => self.output.train(&format!("error: {error}")),
            Message::Promoted(promoted) => self.set(move |session| weights::promote(session, &promoted)),
        }
    }

    /// Runs a task, or queues it if the engine is busy.
    fn submit(&mut self, task: Task) {
        if !self.is_busy() {
            return self.run_task(task);
        }
        if self.queue.len() >= MAX_QUEUE && self.is_endless() {
            return self.output.info("too many commands are waiting for the search to be stopped: ignored");
        }
        if let Task::Job(Work::Set(Some(name), _), _) = &task
            && (self.is_at_work() || self.queue.iter().any(Task::is_long))
        {
            self.output.info(&format!("{name} will be set when the search has ended"));
        }
        self.queue.push_back(task);
    }

    /// Runs queued tasks until the engine is busy again.
    fn run_queue(&mut self) {
        while !self.is_busy()
            && let Some(task) = self.queue.pop_front()
        {
            self.run_task(task);
        }
        self.answer_isready();
    }

    /// Answers each queued `isready` during a long job.
    fn answer_isready(&mut self) {
        if self.is_at_work() {
            let before = self.queue.len();
            self.queue.retain(|task| !matches!(task, Task::Ready));
            (self.queue.len()..before).for_each(|_| self.output.message(&UciMessage::ReadyOk));
        }
    }

    /// Runs a task; the engine must be free.
    fn run_task(&mut self, task: Task) {
        let (work, control) = match task {
            Task::Job(work, control) => (work, control),
            Task::Ready => {
                // `readyok` is sent after the weights of a resumed training are in use.
                self.start_training();
                if !self.is_busy() {
                    return self.output.message(&UciMessage::ReadyOk);
                }
                return self.queue.push_front(Task::Ready);
            }
        };
        let State::Free(session) = &self.engine else { unreachable!("tasks are performed when the engine is free") };
        let running = Running {
            control: Arc::clone(&control),
            weights: Arc::clone(session.engine.weights()),
            trained: session.trained.clone(),
            kind: work.kind(),
            answered: false,
        };
        if let State::Free(session) = std::mem::replace(&mut self.engine, State::Busy(running)) {
            self.jobs.send(Job { work, session, control }).expect("the thread for jobs never ends");
        }
    }

    /// Handles an event of a job. After its end the queue is run.
    fn on_event(&mut self, event: Event) {
        match event {
            Event::Line(line) => {
                self.output.line(&line);
                if let State::Busy(running) = &mut self.engine {
                    running.answered |= line.starts_with("bestmove ");
                }
            }
            Event::Done(session, End { lines, failed }) => {
                self.engine = State::Free(session);
                self.failed |= failed;
                self.output.lines(&lines);
                self.run_queue();
            }
        }
    }

    fn running(&self) -> Option<&Running> {
        match &self.engine {
            State::Free(_) => None,
            State::Busy(running) => Some(running),
        }
    }

    fn is_busy(&self) -> bool {
        self.running().is_some()
    }

    /// Whether a long job is running that has not sent `bestmove` yet.
    fn is_at_work(&self) -> bool {
        self.running().is_some_and(|running| !running.kind.quick && !running.answered)
    }

    /// Whether a search is running that only a command ends.
    fn is_endless(&self) -> bool {
        let is_endless = |Running { control, kind, .. }: &Running| kind.endless || control.pondering();
        self.running().is_some_and(|running| is_endless(running) && !running.control.stopped())
    }

    /// The jobs that run or wait, with their controls.
    fn jobs(&self) -> impl Iterator<Item = (Kind, &Control)> {
        let waiting = self.queue.iter().filter_map(|task| match task {
            Task::Job(work, control) => Some((work.kind(), &**control)),
            Task::Ready => None,
        });
        self.running().map(|running| (running.kind, &*running.control)).into_iter().chain(waiting)
    }

    /// The controls of all jobs except changes of the session.
    fn controls(&self) -> impl Iterator<Item = &Control> {
        self.jobs().filter(|(kind, _)| !kind.setting).map(|(_, control)| control)
    }

    /// Stops jobs as [`Ending`] says, waits for the others, and gives a training time for a checkpoint. The end of the
    /// program ends the threads of jobs that do not stop in time.
    fn finish(&mut self) {
        let begun = Instant::now();
        self.ending.get_or_insert(Ending::Input);
        if self.training.is_running() {
            self.set_training(Box::new(Training::stop));
        }
        let mut deadline = None;
        while self.is_busy() && !self.output.closed {
            let waits = self.end_jobs();
            if self.running().is_some_and(|running| running.kind.setting) && self.ending.is_some_and(Ending::is_at_once)
            {
                break;
            }
            deadline = if waits { None } else { deadline.or_else(|| Some(Instant::now() + STOP_TIMEOUT)) };
            if !self.step(&never(), deadline) {
                break;
            }
        }
        while self.training.has_begun() && self.step(&never(), Some(begun + CHECKPOINT_TIMEOUT)) {}
    }

    /// Stops jobs as [`Ending`] says. Returns whether there are others to wait for.
    fn end_jobs(&mut self) -> bool {
        let ending = self.ending.unwrap_or(Ending::Input);
        if ending.is_at_once() {
            // Each search gets its `bestmove`, even if it has not begun.
            self.queue.retain(|task| matches!(task, Task::Job(work, _) if work.kind().search));
        }
        let mut waits = false;
        for (kind, control) in self.jobs() {
            if ending.stops(kind, control) {
                control.stop();
            }
            waits |= !control.stopped();
        }
        waits
    }
}

/// Standard output, a line at a time.
#[derive(Default)]
struct Output {
    /// Whether the reading end is closed.
    closed: bool,
    pipes: Arc<Pipes>,
}

impl Output {
    fn line(&mut self, text: &str) {
        let write = || line::write_all(&mut stdout().lock(), format!("{}\n", printable(text)).as_bytes());
        self.closed |= self.pipes.while_writing(write).is_err();
    }

    fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(line));
    }

    fn message(&mut self, message: &UciMessage) {
        self.line(&message.serialize());
    }

    /// Prints a line of a training.
    fn train(&mut self, text: &str) {
        self.info(&format!("train {text}"));
    }

    fn info(&mut self, text: &str) {
        self.line(&info_string(text));
    }
}
