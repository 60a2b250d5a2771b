//! Self-training in the background: started by a GUI's options, reported in info strings.
//!
//! GUIs control an engine by options, and match programs send all options again before each game. So `Train` has an
//! effect only when its value changes. Options are sent in alphabetical order, `Train` before `TrainFolder`, so a
//! training begins at the next `isready`, or after a second without an option. A training that failed or ended by itself
//! begins again when another of its options changes. All other settings are in `settings.json` of the
//! folder, which a user may write before the training begins.
//!
//! The training has its own thread with a lower priority than the search, and shares only the initial weights with it.
//! Its reports reach the event loop through a channel. It loads new weights, which the engine uses between two
//! searches.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use crossbeam::channel::Sender;
use dyad_engine::control::{self, Control};
use dyad_engine::eval::Weights;
use dyad_formats::files::{self, OwnFolder};
use dyad_formats::weights_file;
use dyad_trainer::base::words::counted;
use dyad_trainer::report::{LivePage, PageNote, own_page};
use dyad_trainer::selftrain::{
    self, End, Given, Method, Playing, SelfTrainEvent, SelfTrainLogLine, SelfTrainSettings, SelfTrainState, Stage,
};

use crate::browser;
use crate::paths::{data_folder, expand_home};
use crate::session::{Outcome, Trained};

/// Time without an option after which a training begins.
const START_DELAY: Duration = Duration::from_secs(1);
/// Time between two reports of progress within a stage.
const REPORT_EVERY: Duration = Duration::from_secs(15);

/// The values of `Train`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// No training.
    Off,
    /// Learn chess from the piece values alone, by self-play; resumes such a training in the folder.
    Scratch,
    /// Train on the games of a file; resumes the training in the folder.
    Games,
    /// Resume the training in the folder.
    Resume,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("no mode is hidden").get_name())
    }
}

/// The largest `TrainMinutes`, a year.
pub const MOST_MINUTES: i64 = 365 * 24 * 60;
/// The largest `TrainThreads`.
pub const MOST_THREADS: i64 = 256;

/// The first value of `TrainMethod`.
const AUTOMATIC: &str = "automatic";

/// The values of `TrainMethod`, the default first.
pub fn methods() -> Vec<String> {
    [AUTOMATIC, "comparison", "regression"].map(str::to_string).into()
}

/// Half of the processors, to leave the others to the game.
fn automatic_threads() -> i64 {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (processors as i64 / 2).clamp(1, MOST_THREADS)
}

/// The default of `TrainFolder`; empty if the system has no folder for the user's data.
pub fn default_folder() -> String {
    data_folder().and_then(|folder| folder.join("dyad").to_str().map(str::to_string)).unwrap_or_default()
}

/// The self-training as the event loop sees it.
pub struct Training {
    /// The last value of `Train`.
    mode: Mode,
    options: TrainOptions,
    /// `TrainOpenPage`.
    open_page: bool,
    /// Whether the last training failed or ended by itself.
    ended: bool,
    requested: Option<Request>,
    running: Option<Running>,
    events: Sender<Message>,
}

/// The options that a training takes when it starts.
#[derive(Default)]
pub struct TrainOptions {
    /// `TrainFolder`; empty for the default.
    pub folder: String,
    /// `TrainGamesFile`.
    pub games: String,
    /// `TrainMethod`; `None` is automatic.
    pub method: Option<Method>,
    /// `TrainMinutes`; 0 is automatic.
    pub minutes: i64,
    /// `TrainThreads`; 0 is automatic.
    pub threads: i64,
}

/// A requested training.
struct Request {
    mode: Mode,
    /// Time of its start; `None` when all options were sent.
    due: Option<Instant>,
}

/// A training on its thread.
struct Running {
    mode: Mode,
    folder: PathBuf,
    stop: Arc<Control>,
    /// The last report.
    last: String,
    /// Whether it has read its files, so that it may have a checkpoint to write.
    has_begun: bool,
}

/// A message from the thread of a training.
pub enum Message {
    /// The training begins or is resumed.
    Started {
        /// Report of the start.
        note: String,
        /// Weights of the resumed training that are proven stronger.
        playing: Option<Playing>,
    },
    /// A report.
    Report(String),
    /// Weights that a training adopts as its best ones, or proves stronger.
    Promoted(Box<Promoted>),
    /// The training ended: its last report, or why it failed.
    Ended(Result<String, String>),
}

/// Weights that a training has adopted as its best ones, or proven stronger.
pub struct Promoted {
    /// The weights.
    pub weights: Arc<Weights>,
    /// Their origin.
    pub trained: Trained,
    /// Id of the weights that they beat, if they are proven stronger.
    pub beaten: String,
}

impl Training {
    /// No training, and every option at its default. Messages go to `events`.
    pub fn new(events: Sender<Message>) -> Training {
        Training {
            mode: Mode::Off,
            options: TrainOptions::default(),
            open_page: false,
            ended: false,
            requested: None,
            running: None,
            events,
        }
    }

    /// Sets `Train`. Only a change has an effect.
    pub fn set_mode(&mut self, name: &str) -> Outcome {
        let mode = Mode::from_str(name, true).unwrap_or(Mode::Off);
        let changed = std::mem::replace(&mut self.mode, mode) != mode;
        match mode {
            Mode::Off if changed && self.is_active() => self.stop(),
            mode if mode != Mode::Off && changed => self.request(mode),
            _ => Ok(None),
        }
    }

    fn request(&mut self, mode: Mode) -> Outcome {
        self.ended = false;
        self.requested = Some(Request { mode, due: Some(Instant::now() + START_DELAY) });
        Ok(None)
    }

    /// Stops the running or requested training.
    pub fn stop(&mut self) -> Outcome {
        self.ended = false;
        let requested = self.requested.take().is_some();
        match &self.running {
            Some(running) => {
                running.stop.stop();
                Ok(Some("stopping".to_string()))
            }
            None if requested => Ok(Some("not started".to_string())),
            None => Ok(Some("nothing to stop".to_string())),
        }
    }

    /// Sets `TrainOpenPage`.
    pub fn set_open_page(&mut self, open: bool) -> Outcome {
        self.open_page = open;
        self.on_option(false)
    }

    /// The button `Open Training Page`.
    pub fn press_open_page(&mut self) -> Outcome {
        let running = self.running.as_ref().map(|running| running.folder.clone());
        let folder = running.or_else(|| self.folder()).ok_or("error: name a folder by TrainFolder")?;
        match own_page(&folder) {
            Some(page) => open_page(&page).map(|()| Some(format!("page {}", page.display()))),
            None => Err(format!("error: there is no page of a training in {} yet", folder.display())),
        }
    }

    /// Sets an option that a training takes when it starts.
    pub fn set<T: PartialEq>(&mut self, option: fn(&mut TrainOptions) -> &mut T, value: T) -> Outcome {
        let option = option(&mut self.options);
        let changed = *option != value;
        *option = value;
        self.on_option(changed)
    }

    /// Postpones a requested start, because more options may follow. After the end of a training a changed option begins
    /// it again. A running training does not change.
    fn on_option(&mut self, changed: bool) -> Outcome {
        if changed && self.ended && self.mode != Mode::Off {
            return self.request(self.mode);
        }
        if let Some(Request { due: Some(due), .. }) = &mut self.requested {
            *due = Instant::now() + START_DELAY;
        }
        let running = self.running.as_ref().filter(|_| changed && self.requested.is_none());
        Ok(running.map(|running| {
            format!(
                "the option counts when a training starts; the one in {} keeps its settings",
                running.folder.display()
            )
        }))
    }

    /// The absolute path of the folder; `None` if the system has no folder for the user's data.
    pub fn folder(&self) -> Option<PathBuf> {
        let named =
            if self.options.folder.is_empty() { default_folder().into() } else { expand_home(&self.options.folder) };
        absolute(named).ok()
    }

    /// When to call [`Training::settle`].
    pub fn due(&self) -> Option<Instant> {
        self.requested.as_ref().and_then(|request| request.due)
    }

    /// All options were sent: a requested training may begin.
    pub fn settle(&mut self) {
        if let Some(request) = &mut self.requested {
            request.due = None;
        }
    }

    /// Whether a training is due to begin.
    pub fn is_waiting_to_start(&self) -> bool {
        let settled = self.requested.as_ref().is_some_and(|request| request.due.is_none());
        settled && self.running.as_ref().is_none_or(|running| !running.stop.stopped())
    }

    /// Whether a training is running, stopping or requested.
    fn is_active(&self) -> bool {
        self.is_running() || self.requested.is_some()
    }

    /// Whether a training has a thread.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether the running training may have a checkpoint to write.
    pub fn has_begun(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.has_begun)
    }

    /// Begins or resumes the requested training on its thread. `trained` is the training that the weights in use are from.
    /// Returns a note.
    pub fn start(&mut self, in_use: &Arc<Weights>, trained: Option<&Trained>) -> Result<Option<&'static str>, String> {
        let started = self.try_to_start(in_use, trained);
        self.ended = started.is_err();
        started
    }

    fn try_to_start(
        &mut self,
        in_use: &Arc<Weights>,
        trained: Option<&Trained>,
    ) -> Result<Option<&'static str>, String> {
        let request = self.requested.take().expect("a training is requested");
        let is_running = |running: &Running| request.mode == running.mode || request.mode == Mode::Resume;
        if self.running.as_ref().is_some_and(is_running) {
            return Ok(Some("is running already"));
        }
        let folder = self.folder().ok_or("error: name a folder by TrainFolder")?;
        if let Some(running) = &self.running {
            // The requested training begins when this one has ended; one that is refused does not end it.
            self.order(request.mode, folder.clone(), in_use, false)?;
            let saved = (folder == running.folder).then(|| selftrain::saved(&folder).ok()).flatten();
            check_mode(request.mode, saved.as_ref(), &folder)
                .map_err(|error| format!("error: {error}; the running training continues"))?;
            running.stop.stop();
            self.requested = Some(request);
            return Ok(Some("stopping"));
        }
        let is_own = trained.is_some_and(|trained| trained.is_of(&folder));
        self.running = Some(self.order(request.mode, folder, in_use, is_own)?.spawn(&self.events)?);
        Ok(None)
    }

    fn order(&self, mode: Mode, folder: PathBuf, in_use: &Arc<Weights>, is_own: bool) -> Result<Order, String> {
        let needs_games = mode == Mode::Games;
        if needs_games && self.options.games.is_empty() {
            return Err("error: name a PGN file by TrainGamesFile".to_string());
        }
        let games = needs_games.then(|| self.options.games.clone());
        let (given, in_use) = (self.given(), Arc::clone(in_use));
        Ok(Order { mode, folder, games, given, open_page: self.open_page, in_use, is_own })
    }

    /// The settings that options give.
    fn given(&self) -> Given {
        let TrainOptions { method, minutes, threads, .. } = self.options;
        let threads = if threads > 0 { threads } else { automatic_threads() };
        let method = method.map(|method| ("method".to_string(), method.to_string().into()));
        let minutes = (minutes > 0).then(|| ("minutes".to_string(), minutes.into()));
        [("threads".to_string(), threads.into())].into_iter().chain(method).chain(minutes).collect()
    }

    /// Updates the state by a message.
    pub fn receive(&mut self, message: &Message) {
        match (message, &mut self.running) {
            (Message::Started { .. }, Some(running)) => running.has_begun = true,
            (Message::Report(text), Some(running)) => running.last = text.clone(),
            (Message::Ended(_), running) => {
                let was_stopped = running.take().is_none_or(|running| running.stop.stopped());
                self.ended = !was_stopped && self.requested.is_none();
            }
            _ => {}
        }
    }

    /// The state of the training, for the user.
    pub fn status(&self) -> String {
        match (&self.running, &self.requested) {
            (Some(running), _) => {
                let state = if running.stop.stopped() { "stopping" } else { "running" };
                format!("status: {}, {state}, {}: {}", running.mode, running.folder.display(), running.last)
            }
            (None, Some(request)) => format!("status: {}, about to begin", request.mode),
            (None, None) => "status: off".to_string(),
        }
    }
}

/// Refuses a mode that does not continue the training in `folder`.
fn check_mode(mode: Mode, saved: Option<&Saved>, folder: &Path) -> Result<(), String> {
    let another = |is: &str, modes: &str| {
        let folder = folder.display();
        Err(format!("the training in {folder} {is}: Train {modes} continues it, another TrainFolder is for a new one"))
    };
    match (mode, saved.map(|(_, settings)| settings.games_file.is_some())) {
        (Mode::Scratch, Some(true)) => another("learns from the games of a file", "games or resume"),
        (Mode::Games, Some(false)) => another("learns from its own games", "resume"),
        _ => Ok(()),
    }
}

/// State and settings of a training that can be resumed.
type Saved = (SelfTrainState, SelfTrainSettings);

/// The state of a resumed training, for the user.
fn progress_of(state: &SelfTrainState) -> String {
    let SelfTrainState { generation, stage, adopted, distance, .. } = state;
    let distance = distance.as_ref().map_or_else(String::new, |distance| format!(", {distance}"));
    format!("generation {generation} ({stage}), {adopted} adopted{distance}")
}

/// A training to begin or resume, with the options of that moment. Its files are read on its own thread, since a disk
/// may be slow and a file malicious.
struct Order {
    mode: Mode,
    folder: PathBuf,
    /// `TrainGamesFile`, for a training that needs games.
    games: Option<String>,
    given: Given,
    open_page: bool,
    in_use: Arc<Weights>,
    /// Whether the weights in use are from this training: these are already proven stronger than the reference.
    is_own: bool,
}

/// The work of an order.
enum Task {
    /// Begin a training.
    Begin(Box<SelfTrainSettings>),
    /// Resume the training in the folder, with these settings in place of its own.
    Resume(Given),
}

impl Order {
    /// Starts the thread.
    fn spawn(self, events: &Sender<Message>) -> Result<Running, String> {
        let stop = Arc::new(Control::new(false));
        let (mode, folder, last) = (self.mode, self.folder.clone(), "just started".to_string());
        let mut reporter = Reporter { events: events.clone(), folder: folder.clone(), reported: None, stage: None };
        let running = Running { mode, folder, stop: stop.clone(), last, has_begun: false };
        let body = move || {
            let run = AssertUnwindSafe(|| self.run(&stop, &mut reporter));
            let end = catch_unwind(run).unwrap_or_else(|_| Err("internal error, please report it".to_string()));
            reporter.send(Message::Ended(end));
        };
        let thread = thread::Builder::new().name("training".to_string()).spawn(body);
        thread.map(|_| running).map_err(|error| format!("error: no thread for it: {error}"))
    }

    /// Trains, and returns the last report.
    fn run(&self, stop: &Control, reporter: &mut Reporter) -> Result<String, String> {
        let saved = selftrain::saved(&self.folder).ok();
        let task = self.task(saved.as_ref())?;
        self.report_start(&task, saved.as_ref(), reporter);
        if let Err(error) = control::lower_priority() {
            reporter.report(&format!("has the same priority as the search: {error}"));
        }
        // The page is also written while the folder is not locked.
        let _own = OwnFolder::new(&self.folder).map_err(|error| error.to_string())?;
        let mut page = LivePage::new(&self.folder);
        let mut on_event = |event: &SelfTrainEvent| {
            if let Some(note) = page.on_event(event) {
                reporter.report(&note);
                if self.open_page
                    && let PageNote::Begun(page) = note
                    && let Err(error) = open_page(&page)
                {
                    reporter.report(&error);
                }
            }
            reporter.event(event);
        };
        let reference = (!self.is_own).then_some(&*self.in_use);
        let summary = match &task {
            Task::Begin(settings) => selftrain::begin(settings, &self.in_use, &self.folder, stop, &mut on_event),
            Task::Resume(given) => selftrain::resume(&self.folder, given, reference, stop, &mut on_event),
        };
        let summary = summary.map_err(|error| error.to_string())?;
        if let Some(problem) = page.finish() {
            reporter.report(&problem);
        }
        let more = if summary.end == End::Finished { "" } else { "; Train resume continues it" };
        Ok(format!("{summary}{more}"))
    }

    fn report_start(&self, task: &Task, saved: Option<&Saved>, reporter: &Reporter) {
        let (mode, folder) = (self.mode, self.folder.display());
        let threads = counted(self.given["threads"].as_u64().unwrap_or_default(), "thread", "threads");
        let note = match (task, saved) {
            (_, Some((state, _))) => format!("resumes: {mode}, {}, {threads}, {folder}", progress_of(state)),
            (Task::Begin(_), None) => format!("begins: {mode}, {threads}, {folder}"),
            // There is nothing to resume, or it is damaged: the error follows.
            (Task::Resume(_), None) => return,
        };
        let playing = selftrain::playing(&self.folder).filter(|_| saved.is_some() && !self.is_own);
        let playing = playing.filter(|playing| playing.has_beaten(&self.in_use));
        reporter.send(Message::Started { note, playing });
    }

    fn task(&self, saved: Option<&Saved>) -> Result<Task, String> {
        let mut given = self.given.clone();
        check_mode(self.mode, saved, &self.folder)?;
        if let Some(games) = &self.games {
            given.insert("games-file".to_string(), games_file(games)?.display().to_string().into());
        }
        if self.mode == Mode::Resume || selftrain::is_begun(&self.folder) {
            return Ok(Task::Resume(given));
        }
        Ok(Task::Begin(Box::new(SelfTrainSettings::resolve(&self.folder, &given)?)))
    }
}

/// The absolute path of the games to learn from, if they can be opened.
fn games_file(games: &str) -> Result<PathBuf, String> {
    let path = absolute(expand_home(games)).map_err(|error| format!("TrainGamesFile: {error}"))?;
    let opened = files::open(&path);
    opened.map_err(|error| format!("TrainGamesFile: {}: {error}", path.display()))?;
    Ok(path)
}

/// Opens the page of a training.
fn open_page(page: &Path) -> Result<(), String> {
    browser::open(page)
        .map_err(|error| format!("error: the page cannot be opened ({error}), open it yourself: {}", page.display()))
}

/// Reports to the event loop: all events, and progress at most once every [`REPORT_EVERY`].
struct Reporter {
    events: Sender<Message>,
    /// The folder of the training.
    folder: PathBuf,
    /// Time of the last report of progress.
    reported: Option<Instant>,
    /// The last generation and stage.
    stage: Option<(u32, Stage)>,
}

impl Reporter {
    fn event(&mut self, event: &SelfTrainEvent) {
        match event {
            SelfTrainEvent::Progress(progress) => {
                let stage = Some((progress.generation, progress.stage));
                if std::mem::replace(&mut self.stage, stage) != stage {
                    self.reported = None;
                }
                self.progress(event);
            }
            SelfTrainEvent::Logged(SelfTrainLogLine::Proof { generation, promoted: true, record, .. }) => {
                self.report(event);
                self.promoted(*generation, true, &record.ids[1]);
            }
            SelfTrainEvent::Logged(SelfTrainLogLine::Generation { generation, adopted: true, .. }) => {
                self.report(event);
                self.promoted(*generation, false, "");
            }
            _ => self.report(event),
        }
    }

    fn progress(&mut self, text: &dyn fmt::Display) {
        if self.reported.is_none_or(|reported| reported.elapsed() >= REPORT_EVERY) {
            self.reported = Some(Instant::now());
            self.report(text);
        }
    }

    fn report(&self, text: &dyn fmt::Display) {
        self.send(Message::Report(text.to_string()));
    }

    /// Loads the weights on this thread, so that the event loop is not blocked.
    fn promoted(&self, generation: u32, proven: bool, beaten: &str) {
        let path = self.folder.join(if proven { selftrain::PLAYING } else { selftrain::BEST });
        match weights_file::load(&path) {
            Ok(weights) => {
                let trained = Trained { generation, path, proven };
                let (weights, beaten) = (Arc::new(weights), beaten.to_string());
                self.send(Message::Promoted(Box::new(Promoted { weights, trained, beaten })));
            }
            Err(error) => self.report(&format!("error: {}: {error}", path.display())),
        }
    }

    fn send(&self, message: Message) {
        // Without a receiver the program is ending.
        drop(self.events.send(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A training runs and ends.
    fn end(training: &mut Training, stopped: bool, end: Result<String, String>) {
        let stop = Arc::new(Control::new(false));
        if stopped {
            stop.stop();
        }
        let (folder, last) = (PathBuf::from("one"), String::new());
        training.running = Some(Running { mode: Mode::Scratch, folder, stop, last, has_begun: true });
        training.receive(&Message::Ended(end));
    }

    fn task(training: &Training, mode: Mode, folder: &Path) -> Result<Task, String> {
        let order = training.order(mode, folder.to_path_buf(), &Weights::embedded(), false)?;
        order.task(selftrain::saved(folder).ok().as_ref())
    }

    /// Options give settings, and those that are automatic give none but the threads.
    #[test]
    fn options_give_settings() {
        let (events, _receiver) = crossbeam::channel::unbounded();
        let mut training = Training::new(events);
        let json = |training: &Training| serde_json::Value::from(training.given());
        assert_eq!(json(&training), serde_json::json!({ "threads": automatic_threads() }));
        training.set(|options| &mut options.method, Some(Method::Regression)).unwrap();
        training.set(|options| &mut options.minutes, 10).unwrap();
        training.set(|options| &mut options.threads, 3).unwrap();
        assert_eq!(json(&training), serde_json::json!({ "method": "regression", "minutes": 10, "threads": 3 }));
        let folder = Path::new("/nowhere/run");
        let Task::Begin(settings) = task(&training, Mode::Scratch, folder).unwrap() else { panic!() };
        assert_eq!((settings.positions, settings.minutes, settings.threads), (100_000, 10, 3));
        training.set(|options| &mut options.games, "Cargo.toml".to_string()).unwrap();
        let Err(error) = task(&training, Mode::Games, folder) else { panic!("it is begun") };
        assert!(error.starts_with("games-file belongs to a training by comparison"), "{error}");
        training.set(|options| &mut options.method, None).unwrap();
        let Task::Begin(settings) = task(&training, Mode::Games, folder).unwrap() else { panic!() };
        assert_eq!(settings.method, Method::Comparison);
    }

    #[test]
    fn a_training_keeps_its_source() {
        let (events, _receiver) = crossbeam::channel::unbounded();
        let mut training = Training::new(events);
        training.set(|options| &mut options.games, "Cargo.toml".to_string()).unwrap();
        for (mode, from_file, refusal) in [
            (Mode::Scratch, true, "learns from the games of a file: Train games or resume continues it"),
            (Mode::Games, false, "learns from its own games: Train resume continues it"),
            (Mode::Scratch, false, ""),
            (Mode::Games, true, ""),
            (Mode::Resume, true, ""),
        ] {
            let games_file = from_file.then(|| "games.pgn".into());
            let settings = SelfTrainSettings { games_file, ..SelfTrainSettings::of(Method::Comparison) };
            let saved = (SelfTrainState::default(), settings);
            let order = training.order(mode, "/nowhere/run".into(), &Weights::embedded(), false).unwrap();
            let error = order.task(Some(&saved)).err().unwrap_or_default();
            assert!(error.contains(refusal) && error.is_empty() == refusal.is_empty(), "{mode} {from_file}: {error}");
        }
    }

    #[test]
    fn options_that_come_late_put_off_the_beginning() {
        let (events, _receiver) = crossbeam::channel::unbounded();
        let mut training = Training::new(events);
        assert_eq!(training.set_mode("scratch"), Ok(None));
        let due = training.due().unwrap();
        thread::sleep(Duration::from_millis(1));
        training.set_open_page(true).unwrap();
        assert!(training.due().unwrap() > due && !training.is_waiting_to_start());
        training.settle();
        assert!(training.due().is_none() && training.is_waiting_to_start());
        // Set off before it has begun, it never begins.
        assert_eq!(training.set_mode("off"), Ok(Some("not started".to_string())));
        assert!(!training.is_waiting_to_start());
        assert_eq!(training.set_mode("off"), Ok(None));
    }

    #[test]
    fn a_training_that_ended_begins_again_when_an_option_is_changed() {
        let (events, receiver) = crossbeam::channel::unbounded();
        let mut training = Training::new(events);
        let weights = Weights::embedded();
        let fail = |training: &mut Training| {
            training.settle();
            assert!(training.is_waiting_to_start() && training.start(&weights, None).is_err());
            assert!(!training.is_waiting_to_start());
        };
        training.set_mode("games").unwrap();
        fail(&mut training);
        // What a GUI sends before each game changes nothing.
        training.set_mode("games").unwrap();
        training.set(|options| &mut options.folder, "".to_string()).unwrap();
        training.set(|options| &mut options.minutes, 0).unwrap();
        assert!(training.due().is_none());
        training.set(|options| &mut options.games, "/nowhere/games.pgn".to_string()).unwrap();
        assert!(training.due().is_some());
        training.settle();
        assert_eq!(training.start(&weights, None), Ok(None));
        training.receive(&receiver.recv().unwrap());
        assert!(!training.is_running() && !training.is_waiting_to_start());
        training.set(|options| &mut options.minutes, 1).unwrap();
        assert!(training.due().is_some());
        training.stop().unwrap();
        training.set(|options| &mut options.folder, "elsewhere".to_string()).unwrap();
        assert!(training.due().is_none(), "it was stopped");
        // One that failed on its thread, and one that was stopped.
        let no_room = || Err("no room".to_string());
        end(&mut training, false, no_room());
        training.set(|options| &mut options.folder, "there".to_string()).unwrap();
        assert!(training.due().is_some());
        training.stop().unwrap();
        end(&mut training, true, Ok("stopped: 0 generations done".to_string()));
        training.set(|options| &mut options.folder, "here".to_string()).unwrap();
        assert!(training.due().is_none());
        end(&mut training, false, Ok("finished: 1 generation done".to_string()));
        training.set_mode("games").unwrap();
        assert!(training.due().is_none(), "the same options again");
        training.set(|options| &mut options.folder, "two".to_string()).unwrap();
        assert!(training.due().is_some());
        training.stop().unwrap();
        end(&mut training, false, no_room());
        training.set_mode("off").unwrap();
        training.set(|options| &mut options.folder, "nowhere".to_string()).unwrap();
        assert!(training.due().is_none());
    }
}
