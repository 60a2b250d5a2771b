//! The event loop: commands in, answers out.
//!
//! Commands are handled strictly in order. What needs the engine while a job has it waits in a
//! queue; what does not is done at once: `stop`, `ponderhit`, `quit`, and `position`,
//! since a job searches its own copy of the game. Each `go` that searches gets exactly one
//! `bestmove`, also one that had to wait and was stopped before it began.
//!
//! `isready` is answered at once during a search (or another job that takes its time), and otherwise when all
//! that was sent before it is done: a GUI that has its `readyok` may start a clock. Changes of the session are jobs as
//! well, since a table or a file may take seconds; `isready` waits for them, but not long.
//!
//! `quit`, a signal and a closed output stop everything. At the end of input, what ends by itself is waited for.
//!
//! The queue has a limit in bytes. When it is reached, reading pauses until there is space, so that the sender waits
//! and nothing is lost. During a search that only `stop` ends, reading never pauses, and commands that do not fit are
//! refused.
//!
//! A self-training runs on threads of its own; its options and commands take effect at once, and new weights wait like
//! other changes of the engine.
//!
//! The loop is the only place that prints, so lines never mix.

mod command;
mod fen;
mod genfens;
mod go;
mod job;
mod line;
mod options;
mod setting;
mod watch;
mod weights;

use std::collections::VecDeque;
use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
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
use self::job::{Event, Job, Work};
use self::line::{Input, MAX_LENGTH, Reader};
use self::options::{Assignment, Set, Setter};
use self::setting::Setting;
use self::watch::Pipes;
use crate::display::{self, Moves};
use crate::info::info_string;
use crate::perft;
use crate::session::{Session, Trained, engine_name};
use crate::training::{Message, Training};

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
    let reader = Reader::start(Arc::clone(&uci.output.pipes));
    while uci.ending.is_none() {
        uci.step(Some(&reader), None);
    }
    if uci.ending == Some(Ending::Quit) && uci.is_busy() && uci.burst_has_jobs && reader.ends_within(SCRIPT_PATIENCE) {
        uci.ending = Some(Ending::Script);
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
        uci.read(Input::Line(line));
        while uci.ending.is_none() && uci.is_busy() {
            uci.step(None, None);
        }
        if uci.ending.is_some() {
            break;
        }
    }
    let interrupted = uci.ending == Some(Ending::Now);
    uci.finish();
    if interrupted { ExitCode::FAILURE } else { ExitCode::SUCCESS }
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
    /// Whether a GUI has asked who the engine is.
    identified: bool,
    /// Why the program ends, once it does.
    ending: Option<Ending>,
    /// Whether a job other than a search was accepted since the input last paused.
    burst_has_jobs: bool,
    training: Training,
    jobs: Sender<Job>,
    events: Receiver<Event>,
    /// Messages of the training.
    messages: Receiver<Message>,
    /// Messages of the watch: the program is to end.
    alarms: Receiver<()>,
}

/// Why the program ends, and with it what is not waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The input ended: only what would not end by itself is stopped.
    Input,
    /// `quit` as the last line of a script, which came in one piece: searches are stopped, and other jobs are waited
    /// for, such as the benchmark of `printf 'bench\nquit'`.
    Script,
    /// `quit`: everything is stopped.
    Quit,
    /// A signal came or no one reads the output: everything is stopped.
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
    /// A job has the engine.
    Busy(Running),
}

/// A job that has the engine.
struct Running {
    /// Stops it.
    control: Arc<Control>,
    /// The engine's.
    weights: Arc<Weights>,
    /// Of which training they are.
    trained: Option<Trained>,
    kind: Kind,
    begun: Instant,
    /// The GUI has its answer: the engine will be free in a moment.
    answered: bool,
}

/// How the loop has to treat a job.
#[derive(Clone, Copy)]
struct Kind {
    /// It finds a move.
    search: bool,
    /// It changes the session.
    setting: bool,
    /// It is usually done in a moment.
    quick: bool,
    /// Only `stop` ends it.
    endless: bool,
}

impl Kind {
    fn of(work: &Work) -> Kind {
        Kind {
            search: work.is_search(),
            setting: work.is_setting(),
            quick: work.is_quick(),
            endless: work.is_endless(),
        }
    }
}

/// What needs the engine.
enum Task {
    Job(Work, Arc<Control>),
    /// Answer `isready` when everything before it is done.
    Ready,
}

impl Task {
    /// Bytes that it takes while it waits, about.
    fn size(&self) -> usize {
        match self {
            Task::Job(work, _) => work.size() + size_of::<Control>(),
            Task::Ready => size_of::<Task>(),
        }
    }
}

/// Bytes of commands that may wait: a hundred thousand of them, or twenty searches of the longest games.
const MOST_WAITING: usize = 64 << 20;

/// `isready` waits this long for a change of the session, such as the weights of a slow disk.
const READY_PATIENCE: Duration = Duration::from_millis(75);

/// After `quit` as the last line of a script, the input ends within this time.
const SCRIPT_PATIENCE: Duration = Duration::from_millis(250);
/// At the end, jobs have this long to stop.
const PATIENCE: Duration = Duration::from_millis(600);
/// At the end, a training has this long to write a checkpoint.
const TRAINING_PATIENCE: Duration = Duration::from_millis(1800);

impl Uci {
    fn new() -> Uci {
        let (sender, events) = unbounded();
        let (teller, messages) = unbounded();
        let training = Training::new(teller);
        let output = Output::default();
        let alarms = watch::start(&output.pipes);
        let mut session = options::default_session();
        weights::set_folder(&mut session, training.folder()).expect("defaults can be set");
        Uci {
            output,
            game: Ok(Game::default()),
            engine: State::Free(Box::new(session)),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waiting_questions: 0,
            debug: false,
            identified: false,
            ending: None,
            burst_has_jobs: false,
            training,
            jobs: job::spawn_worker(sender),
            events,
            messages,
            alarms,
        }
    }

    /// Waits for the next event and handles it. False if there was none by the deadline.
    fn step(&mut self, reader: Option<&Reader>, deadline: Option<Instant>) -> bool {
        let reader = reader.filter(|_| self.has_room());
        let lines = reader.map_or_else(never, |reader| reader.lines().clone());
        let (events, messages, alarms) = (self.events.clone(), self.messages.clone(), self.alarms.clone());
        let timer = |time: Option<Instant>| time.map_or_else(never, at);
        let (ready, settled, late) = (timer(self.ready_due()), timer(self.training.due()), timer(deadline));
        select! {
            recv(lines) -> line => {
                let line = reader.map_or(Input::End, |reader| reader.take(line));
                self.read(line);
            }
            recv(events) -> event => self.take(event.expect("the thread for jobs never ends")),
            recv(messages) -> message => self.take_training(message.expect("the training keeps a sender")),
            recv(alarms) -> _ => self.ending = Some(Ending::Now),
            recv(ready) -> _ => self.answer_questions(),
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
                Err(error) => self.output.info(&error),
            },
            Input::TooLong(length) => {
                self.output.info(&format!("dropped a line of {length} bytes; {MAX_LENGTH} are the most"));
            }
            Input::Pause => self.burst_has_jobs = false,
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
            Command::Debug(on) => self.debug = on,
            Command::Nothing => {}
            Command::Quit => self.ending = Some(Ending::Quit),
            Command::Stop => self.controls().for_each(|control| control.stop()),
            Command::PonderHit => self.controls().for_each(|control| control.ponderhit()),
            Command::Position(Ok(set)) => {
                if !set.notes.is_empty() {
                    self.output.info(&format!("position: assumed: {}", set.notes.join(", ")));
                }
                self.game = Ok(set.game);
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
                self.set(Setting::NewGame);
            }
            Command::SetOption(text) => match Assignment::parse(&text) {
                Ok(Assignment { name, set: Set::Engine(set), length }) => {
                    self.set(Setting::Option { name, set, length });
                }
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
            Command::Bench(settings) => self.start(Work::Bench(settings), false),
            Command::Genfens(ask) => self.start(Work::Genfens(ask), false),
        }
    }

    /// For a GUI trained weights are the default, and the engine's name says which.
    fn identify(&mut self) {
        let mut said = Vec::new();
        if !std::mem::replace(&mut self.identified, true) {
            match &mut self.engine {
                State::Free(session) => said = Setting::UseTrained.apply(session),
                State::Busy(_) => self.set(Setting::UseTrained),
            }
        }
        let name = engine_name(self.in_use().1);
        self.output.message(&UciMessage::id_name(&name));
        self.output.message(&UciMessage::id_author(env!("CARGO_PKG_AUTHORS")));
        self.output.lines(&options::listing());
        self.output.message(&UciMessage::UciOk);
        self.output.lines(&said);
    }

    /// The weights in use, and of which training they are.
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
            return self.with_board(|uci, board| uci.start(Work::Explain(board, ask.json), false));
        }
        match self.game.as_ref().map_err(String::clone).and_then(|game| Moves::read(&ask.moves, game)) {
            Ok((game, moves)) => {
                self.start(Work::Compare(Box::new(game), moves, Limits::nodes(ask.nodes), ask.json), false);
            }
            Err(error) => self.output.info(&error),
        }
    }

    /// Calls `act` with the current board, or reports why the position was refused.
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
        self.burst_has_jobs |= !work.is_search();
        self.submit(Task::Job(work, Arc::new(Control::new(ponder))));
    }

    fn set(&mut self, setting: Setting) {
        self.start(Work::Set(setting), false);
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
            self.set(Setting::TrainFolder(folder));
        }
    }

    /// Begins the training that was asked for, if its time has come and the weights are settled.
    fn start_training(&mut self) {
        if !self.training.is_waiting_to_start() || self.ending.is_some() || self.is_setting() {
            return;
        }
        let (weights, trained) = self.in_use();
        let (weights, trained) = (Arc::clone(weights), trained.cloned());
        match self.training.start(&weights, trained.as_ref()) {
            Ok(Some(note)) => self.output.train(note),
            // Usually it begins at once, so that `isready` is answered after it has.
            Ok(None) => {
                if let Ok(message) = self.messages.recv_timeout(READY_PATIENCE) {
                    self.take_training(message);
                }
            }
            Err(note) => self.output.train(&note),
        }
    }

    /// Whether a change of the session runs or waits.
    fn is_setting(&self) -> bool {
        let runs = matches!(&self.engine, State::Busy(running) if running.kind.setting);
        runs || self.waiting.iter().any(|task| matches!(task, Task::Job(Work::Set(_), _)))
    }

    /// Takes what the training has sent.
    fn take_training(&mut self, message: Message) {
        self.training.receive(&message);
        match message {
            Message::Started { note, playing } => {
                self.output.train(&note);
                if let Some(playing) = playing.filter(|_| self.training.adopts()) {
                    self.set(Setting::UsePlaying(playing));
                }
            }
            Message::Report(text) | Message::Ended(text) => self.output.train(&text),
            Message::Promoted(promoted) if self.training.adopts() => self.set(Setting::Promote(promoted)),
            Message::Promoted(_) => {}
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
        let takes_time = matches!(&self.engine, State::Busy(running) if !running.kind.quick && !running.answered);
        if let Task::Job(Work::Set(Setting::Option { name, .. }), _) = &task
            && takes_time
        {
            self.output.info(&format!("{name} will be set when the search has ended"));
        }
        self.waiting_bytes += task.size();
        self.waiting_questions += usize::from(matches!(task, Task::Ready));
        self.waiting.push_back(task);
    }

    /// Does what waited, until the engine is busy again.
    fn work_off(&mut self) {
        while !self.is_busy()
            && let Some(task) = self.waiting.pop_front()
        {
            self.waiting_bytes -= task.size();
            self.waiting_questions -= usize::from(matches!(task, Task::Ready));
            self.perform(task);
        }
        self.answer_questions();
    }

    /// Answers every `isready` that waits behind a job that takes its time.
    fn answer_questions(&mut self) {
        if self.waiting_questions > 0 && self.is_at_work() {
            self.waiting.retain(|task| !matches!(task, Task::Ready));
            let answered = std::mem::take(&mut self.waiting_questions);
            self.waiting_bytes -= answered * Task::Ready.size();
            (0..answered).for_each(|_| self.output.message(&UciMessage::ReadyOk));
        }
    }

    /// When an `isready` that waits for a change of the session is to be answered.
    fn ready_due(&self) -> Option<Instant> {
        match &self.engine {
            State::Busy(running) if running.kind.setting && self.waiting_questions > 0 => {
                Some(running.begun + READY_PATIENCE)
            }
            _ => None,
        }
    }

    /// Does a task; the engine is free.
    fn perform(&mut self, task: Task) {
        let (work, control) = match task {
            Task::Job(work, control) => (work, control),
            Task::Ready => {
                // What a training adopts that is resumed is in place when the GUI reads `readyok`.
                self.start_training();
                if !self.is_busy() {
                    return self.output.message(&UciMessage::ReadyOk);
                }
                self.waiting_bytes += Task::Ready.size();
                self.waiting_questions += 1;
                return self.waiting.push_front(Task::Ready);
            }
        };
        let State::Free(session) = &self.engine else { unreachable!("tasks are performed when the engine is free") };
        let running = Running {
            control: Arc::clone(&control),
            weights: Arc::clone(session.engine.weights()),
            trained: session.trained.clone(),
            kind: Kind::of(&work),
            begun: Instant::now(),
            answered: false,
        };
        if let State::Free(session) = std::mem::replace(&mut self.engine, State::Busy(running)) {
            self.jobs.send(Job { work, session, control }).expect("the thread for jobs never ends");
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
        let State::Busy(running) = &self.engine else { return false };
        let late = running.kind.setting && running.begun.elapsed() >= READY_PATIENCE;
        (!running.kind.quick || late) && !running.answered
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

    /// Stops what is not waited for, waits for the rest, and gives a training time for a checkpoint. The end of the
    /// program ends what does not obey.
    fn finish(&mut self) {
        let begun = Instant::now();
        self.ending.get_or_insert(Ending::Input);
        if self.training.is_running() {
            self.set_training(Box::new(Training::stop));
        }
        let mut deadline = None;
        while self.is_busy() && !self.output.closed {
            let waits = self.end_jobs();
            let is_setting = matches!(&self.engine, State::Busy(running) if running.kind.setting);
            if is_setting && self.ending.is_some_and(Ending::is_at_once) {
                break;
            }
            deadline = if waits { None } else { deadline.or_else(|| Some(Instant::now() + PATIENCE)) };
            if !self.step(None, deadline) {
                break;
            }
        }
        while self.training.has_begun() && self.step(None, Some(begun + TRAINING_PATIENCE)) {}
    }

    /// Stops the jobs that the end does not wait for. Whether there are others.
    fn end_jobs(&mut self) -> bool {
        let ending = self.ending.unwrap_or(Ending::Input);
        if ending.is_at_once() {
            // Each search has its answer, also one that did not begin.
            self.waiting.retain(|task| matches!(task, Task::Job(work, _) if work.is_search()));
            self.waiting_questions = 0;
        }
        let running = match &self.engine {
            State::Busy(running) => Some((running.kind, &running.control)),
            State::Free(_) => None,
        };
        let waiting = self.waiting.iter().filter_map(|task| match task {
            Task::Job(work, control) => Some((Kind::of(work), control)),
            Task::Ready => None,
        });
        let mut waits = false;
        for (kind, control) in running.into_iter().chain(waiting) {
            if ending.stops(kind, control) {
                control.stop();
            }
            waits |= !control.stopped();
        }
        waits
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
#[derive(Default)]
struct Output {
    /// No one reads any more.
    closed: bool,
    pipes: Arc<Pipes>,
}

impl Output {
    fn line(&mut self, text: &str) {
        let write = || line::write_patiently(&mut stdout().lock(), format!("{text}\n").as_bytes());
        self.closed |= self.pipes.while_writing(write).is_err();
    }

    fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(line));
    }

    fn message(&mut self, message: &UciMessage) {
        self.line(&message.serialize());
    }

    /// What a training has to say.
    fn train(&mut self, text: &str) {
        self.info(&format!("train {text}"));
    }

    fn info(&mut self, text: &str) {
        self.line(&info_string(text));
    }
}
