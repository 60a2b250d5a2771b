//! The self-training beside the game: started by a GUI's options, reported in info strings.
//!
//! GUIs know options and nothing else, and match programs send all of them again before each game. So
//! `Train` acts when its value changes, never when it is repeated; and since options come in alphabetical order,
//! `Train` before `TrainNodes`, what was asked for begins only at the next `isready`, or when a second has passed
//! without an option. The buttons and `train start|stop` ask for the same. A training that failed is tried again when
//! another option of it changes, which may be what was wrong.
//!
//! The training has a thread of its own, below the search in priority, and shares nothing with the search but
//! the weights it begins with. What it tells reaches the event loop through a channel; new weights come loaded, to be
//! taken between two searches.

use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::Sender;
use directories::BaseDirs;
use dyad_engine::board::quote;
use dyad_engine::eval::Weights;
use dyad_engine::files;
use dyad_engine::levels::file::MoveModel;
use dyad_trainer::base::error::Error;
use dyad_trainer::base::lock::FolderLock;
use dyad_trainer::base::parallel::controlled;
use dyad_trainer::levels::style;
use dyad_trainer::report::LivePage;
use dyad_trainer::selftrain::{self, Overview, SelfTrainError, Settings, Source, Summary, Surroundings};

use crate::display::counted;
use crate::session::Outcome;

/// How long options are waited for that may follow `Train`.
const SETTLED: Duration = Duration::from_secs(1);
/// Progress is told at most so often.
const EVERY: Duration = Duration::from_secs(1);

/// How it begins what ended a training that it could not go on with.
const ERROR: &str = "error: ";

/// The values of `Train`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No training.
    Off,
    /// Learn from games against itself; resumes what is in the folder.
    SelfPlay,
    /// Learn from the games of a file; resumes what is in the folder.
    Games,
    /// Resume what is in the folder.
    Resume,
    /// Learn how the player of `TrainPlayer` plays from the games of a file.
    Style,
}

const MODES: [(Mode, &str); 5] = [
    (Mode::Off, "off"),
    (Mode::SelfPlay, "selfplay"),
    (Mode::Games, "games"),
    (Mode::Resume, "resume"),
    (Mode::Style, "style"),
];

impl Mode {
    /// The names, the default first.
    pub fn names() -> Vec<&'static str> {
        MODES.iter().map(|(_, name)| *name).collect()
    }

    fn named(name: &str) -> Mode {
        MODES.iter().find(|(_, known)| *known == name).map_or(Mode::Off, |(mode, _)| *mode)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MODES.iter().find(|(mode, _)| mode == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// A setting of the self-training that is a number, as an option.
#[derive(Clone, Copy)]
pub struct Number {
    /// The option.
    pub name: &'static str,
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
    /// Whether a run that is resumed takes it even if it has its default: results do not depend on it.
    always: bool,
    get: fn(&Settings) -> i64,
    set: fn(&mut Settings, i64),
}

impl Number {
    /// The value when nobody has set it.
    pub fn default(&self) -> i64 {
        (self.get)(&defaults())
    }
}

const MILLION: i64 = 1_000_000;

/// The options that are numbers.
#[rustfmt::skip]
pub const NUMBERS: [Number; 8] = [
    Number { name: "TrainDepth", min: 1, max: 16, always: false, get: |s| s.depth.into(), set: |s, depth| s.depth = depth as u32 },
    Number { name: "TrainNodes", min: 1, max: 1000 * MILLION, always: false, get: |s| s.nodes as i64, set: |s, nodes| s.nodes = nodes as u64 },
    Number { name: "TrainLabelNodes", min: 1, max: 1000 * MILLION, always: false, get: |s| s.label_nodes as i64, set: |s, nodes| s.label_nodes = nodes as u64 },
    Number { name: "TrainPositions", min: 1, max: 100 * MILLION, always: false, get: |s| s.positions as i64, set: |s, positions| s.positions = positions as u64 },
    Number { name: "TrainGenerations", min: 0, max: MILLION, always: true, get: |s| s.generations.into(), set: |s, generations| s.generations = generations as u32 },
    Number { name: "TrainThreads", min: 1, max: 256, always: true, get: |s| s.threads as i64, set: |s, threads| s.threads = threads as usize },
    Number { name: "TrainBatch", min: 1, max: MILLION, always: false, get: |s| s.batch as i64, set: |s, batch| s.batch = batch as usize },
    Number { name: "TrainMatchGames", min: 2, max: MILLION, always: false, get: |s| s.match_games as i64, set: |s, games| s.match_games = games as u64 },
];

/// The trainer's defaults, on half of the processors: the others are left to the game.
fn defaults() -> Settings {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Settings { threads: (processors / 2).clamp(1, 256), ..Settings::default() }
}

/// The default of `TrainFolder`; empty where the system knows no folder for the user's data.
pub fn default_folder() -> String {
    let folder = BaseDirs::new().map(|folders| folders.data_dir().join("dyad"));
    folder.and_then(|folder| folder.to_str().map(str::to_string)).unwrap_or_default()
}

/// The self-training as the event loop sees it.
pub struct Training {
    /// The last value of `Train`.
    mode: Mode,
    /// `TrainFolder`; empty for the default.
    folder: String,
    /// `TrainStart`; empty for the weights that are played with.
    start: String,
    /// `TrainGamesFile`.
    games: String,
    /// `TrainPlayer`.
    player: String,
    adopt: bool,
    /// What the other options say.
    settings: Settings,
    /// Whether the last training could not be begun, or ended by an error.
    failed: bool,
    asked: Option<Asked>,
    running: Option<Running>,
    events: Sender<Message>,
}

/// A training that was asked for.
struct Asked {
    mode: Mode,
    /// Until then more options may come; none when it is to begin as soon as it can.
    due: Option<Instant>,
}

/// A training on its thread.
struct Running {
    mode: Mode,
    folder: PathBuf,
    stop: Arc<AtomicBool>,
    /// What it told last.
    last: String,
}

/// What the thread of a training sends.
pub enum Message {
    /// Something to be told.
    Say(String),
    /// Better weights and their file.
    Adopted(Arc<Weights>, PathBuf),
    /// It has ended, and why.
    Ended(String),
}

impl Training {
    /// No training, and every option at its default. What happens is sent to `events`.
    pub fn new(events: Sender<Message>) -> Training {
        Training {
            mode: Mode::Off,
            folder: String::new(),
            start: String::new(),
            games: String::new(),
            player: String::new(),
            adopt: true,
            settings: defaults(),
            failed: false,
            asked: None,
            running: None,
            events,
        }
    }

    /// Sets `Train`. Only a change has an effect.
    pub fn set_mode(&mut self, name: &str) -> Outcome {
        let mode = Mode::named(name);
        let changed = std::mem::replace(&mut self.mode, mode) != mode;
        match mode {
            Mode::Off if changed && self.is_active() => self.stop(),
            Mode::Off if self.is_active() => Ok(Some("keeps running: `train stop` or the button ends it".to_string())),
            Mode::Off => Ok(None),
            mode if changed => self.ask(mode, Some(Instant::now() + SETTLED)),
            _ => Ok(None),
        }
    }

    /// The button `Start Training`: what `Train` says, or self-play if that is off.
    pub fn press_start(&mut self) -> Outcome {
        self.ask(self.mode_to_start(), Some(Instant::now() + SETTLED))
    }

    /// The command `train start`: the same at once.
    pub fn start_now(&mut self) -> Outcome {
        self.ask(self.mode_to_start(), None)
    }

    fn mode_to_start(&self) -> Mode {
        if self.mode == Mode::Off { Mode::SelfPlay } else { self.mode }
    }

    fn ask(&mut self, mode: Mode, due: Option<Instant>) -> Outcome {
        self.failed = false;
        self.asked = Some(Asked { mode, due });
        Ok(None)
    }

    /// Stops what runs and forgets what was asked for.
    pub fn stop(&mut self) -> Outcome {
        self.failed = false;
        let asked = self.asked.take().is_some();
        match &self.running {
            Some(running) => {
                running.stop.store(true, Ordering::Relaxed);
                Ok(Some("stopping".to_string()))
            }
            None if asked => Ok(Some("not started".to_string())),
            None => Ok(Some("nothing to stop".to_string())),
        }
    }

    /// Sets `TrainFolder`.
    pub fn set_folder(&mut self, folder: &str) -> Outcome {
        self.put(|training| &mut training.folder, folder.to_string())
    }

    /// Sets `TrainStart`.
    pub fn set_start(&mut self, weights: &str) -> Outcome {
        self.put(|training| &mut training.start, weights.to_string())
    }

    /// Sets `TrainGamesFile`.
    pub fn set_games(&mut self, file: &str) -> Outcome {
        self.put(|training| &mut training.games, file.to_string())
    }

    /// Sets `TrainPlayer`.
    pub fn set_player(&mut self, player: &str) -> Outcome {
        self.put(|training| &mut training.player, player.to_string())
    }

    /// Sets `TrainAdopt`.
    pub fn set_adopt(&mut self, adopt: bool) -> Outcome {
        self.put(|training| &mut training.adopt, adopt)
    }

    /// Sets an option that is a number.
    pub fn set_number(&mut self, number: &Number, value: i64) -> Outcome {
        let before = (number.get)(&self.settings);
        (number.set)(&mut self.settings, value);
        self.option_came(value != before)
    }

    fn put<T: PartialEq>(&mut self, option: fn(&mut Training) -> &mut T, value: T) -> Outcome {
        let before = std::mem::replace(option(self), value);
        let changed = *option(self) != before;
        self.option_came(changed)
    }

    /// More options may follow this one. One that is changed may be what was wrong with a training that failed, which
    /// is asked for again.
    fn option_came(&mut self, changed: bool) -> Outcome {
        if changed && self.failed && self.mode != Mode::Off {
            return self.ask(self.mode, Some(Instant::now() + SETTLED));
        }
        if let Some(Asked { due: Some(due), .. }) = &mut self.asked {
            *due = Instant::now() + SETTLED;
        }
        Ok(None)
    }

    /// The absolute path of the folder; none if the system knows none.
    pub fn folder(&self) -> Option<PathBuf> {
        let named = if self.folder.is_empty() { default_folder() } else { self.folder.clone() };
        absolute(named).ok()
    }

    /// Whether weights that have won their match are to be played with.
    pub fn adopts(&self) -> bool {
        self.adopt
    }

    /// When to call [`Training::settle`].
    pub fn due(&self) -> Option<Instant> {
        self.asked.as_ref().and_then(|asked| asked.due)
    }

    /// All options have come: what was asked for may begin.
    pub fn settle(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.due = None;
        }
    }

    /// Whether a training is to be begun now.
    pub fn is_waiting_to_start(&self) -> bool {
        let settled = self.asked.as_ref().is_some_and(|asked| asked.due.is_none());
        settled && self.running.as_ref().is_none_or(|running| !running.stop.load(Ordering::Relaxed))
    }

    /// Whether a training runs, has to stop yet, or is about to begin.
    fn is_active(&self) -> bool {
        self.is_running() || self.asked.is_some()
    }

    /// Whether there is a thread that trains.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Begins or resumes what was asked for, and says so. A new training starts from what `TrainStart` names, or else
    /// from the weights that are `played` with.
    pub fn start(&mut self, played: &Arc<Weights>) -> Result<Started, String> {
        let started = self.try_to_start(played);
        self.failed = started.is_err();
        started
    }

    fn try_to_start(&mut self, played: &Arc<Weights>) -> Result<Started, String> {
        let asked = self.asked.take().expect("it was asked for");
        if let Some(running) = &self.running {
            if asked.mode == running.mode || asked.mode == Mode::Resume {
                return Ok(Started::only("is running already"));
            }
            // The other way of training takes over when this one has ended.
            running.stop.store(true, Ordering::Relaxed);
            self.asked = Some(asked);
            return Ok(Started::only("stopping"));
        }
        let order = self.order(asked.mode, played)?;
        let (mode, folder) = (order.mode, order.folder.display());
        let threads = counted(order.settings.threads as u64, "thread", "threads");
        let overview = selftrain::overview(&order.folder).filter(|_| order.mode != Mode::Style);
        let note = match &overview {
            None if order.mode == Mode::Style => {
                format!("begins: how {} plays, {threads}, {}", quote(&order.player), order.style_file().display())
            }
            Some(overview) => format!("resumes: {mode}, {}, {threads}, {folder}", so_far(overview)),
            None => format!("begins: {mode}, {threads}, {folder}"),
        };
        let best = selftrain::best(&order.folder).filter(|_| overview.is_some() && self.adopt);
        self.running = Some(order.carry_out(&self.events)?);
        Ok(Started { note, best })
    }

    fn order(&self, mode: Mode, played: &Arc<Weights>) -> Result<Order, String> {
        let folder = self.folder().ok_or("error: name a folder by TrainFolder")?;
        let needs_games = matches!(mode, Mode::Games | Mode::Style);
        let source = match mode {
            _ if needs_games && self.games.is_empty() => {
                return Err("error: name a PGN file by TrainGamesFile".to_string());
            }
            Mode::Style if self.player.is_empty() => return Err("error: name a player by TrainPlayer".to_string()),
            _ if needs_games => Source::Games(self.games_file().map_err(|error| format!("error: {error}"))?),
            _ => Source::SelfPlay,
        };
        let start = match self.start.as_str() {
            "" => Arc::clone(played),
            // Named for the next new training, and no hindrance to one that is resumed.
            _ if mode == Mode::Resume || selftrain::is_begun(&folder) => Arc::clone(played),
            name => Weights::named(Path::new(name)).map_err(|error| format!("error: TrainStart: {error}"))?,
        };
        let player = self.player.clone();
        Ok(Order { mode, folder, settings: Settings { source, ..self.settings.clone() }, start, player })
    }

    /// The absolute path of the games to learn from, if they can be opened.
    fn games_file(&self) -> Result<PathBuf, String> {
        let path = absolute(&self.games).map_err(|error| format!("TrainGamesFile: {error}"))?;
        let opened = files::open(&path);
        opened.map_err(|error| format!("TrainGamesFile: {}: {error}", path.display()))?;
        Ok(path)
    }

    /// Takes note of what the training sent.
    pub fn hear(&mut self, message: &Message) {
        match (message, &mut self.running) {
            (Message::Say(text), Some(running)) => running.last = text.clone(),
            (Message::Ended(text), running) => {
                let was_stopped = running.take().is_some_and(|running| running.stop.load(Ordering::Relaxed));
                self.failed = text.starts_with(ERROR) && !was_stopped && self.asked.is_none();
            }
            _ => {}
        }
    }

    /// What is going on.
    pub fn status(&self) -> String {
        match (&self.running, &self.asked) {
            (Some(running), _) => {
                let state = if running.stop.load(Ordering::Relaxed) { "stopping" } else { "running" };
                format!("status: {}, {state}, {}: {}", running.mode, running.folder.display(), running.last)
            }
            (None, Some(asked)) => format!("status: {}, about to begin", asked.mode),
            (None, None) => "status: off".to_string(),
        }
    }
}

/// A training that runs.
pub struct Started {
    /// What is to be told.
    pub note: String,
    /// The best weights of one that is resumed, if they are to be played with.
    pub best: Option<PathBuf>,
}

impl Started {
    fn only(note: &str) -> Started {
        Started { note: note.to_string(), best: None }
    }
}

/// How far a training is that is resumed.
fn so_far(overview: &Overview) -> String {
    let Overview { generation, stage, adopted, gained } = overview;
    let gained = gained
        .map_or_else(String::new, |elo| format!(", {:+.0} +- {:.0} Elo against the start", elo.value, elo.error()));
    format!("generation {generation} ({stage}), {adopted} adopted{gained}")
}

/// What the thread of a training is to do.
struct Order {
    mode: Mode,
    folder: PathBuf,
    settings: Settings,
    /// What a new training starts from.
    start: Arc<Weights>,
    /// Whose style is learned.
    player: String,
}

impl Order {
    /// Starts the thread.
    fn carry_out(self, events: &Sender<Message>) -> Result<Running, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let last = "has just been started".to_string();
        let running = Running { mode: self.mode, folder: self.folder.clone(), stop: stop.clone(), last };
        let mut teller = Teller { events: events.clone(), told: None };
        let body = move || {
            if let Err(error) = lower_priority() {
                teller.say(&format!("has the same priority as the search: {error}"));
            }
            let run = AssertUnwindSafe(|| match self.mode {
                Mode::Style => self.learn_style(&stop, &mut teller),
                _ => self.run(&stop, &mut teller),
            });
            let last = catch_unwind(run).unwrap_or_else(|_| Err("internal error, please report it".to_string()));
            teller.send(Message::Ended(last.unwrap_or_else(|error| format!("{ERROR}{error}"))));
        };
        let thread = thread::Builder::new().name("training".to_string()).spawn(body);
        thread.map(|_| running).map_err(|error| format!("error: no thread for it: {error}"))
    }

    /// Where the style of a player goes: a file of the folder, by the player's name.
    fn style_file(&self) -> PathBuf {
        let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
        let name: String = self.player.chars().take(64).map(plain).collect();
        self.folder.join(format!("style-{name}.json"))
    }

    /// Learns a player's style to the end.
    fn learn_style(&self, stop: &AtomicBool, teller: &mut Teller) -> Result<String, String> {
        let Source::Games(games) = &self.settings.source else { unreachable!("a style is learned from games") };
        fs::create_dir_all(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        let _lock = FolderLock::take(&self.folder).map_err(|error| error.to_string())?;
        let out = self.style_file();
        let settings = style::Settings::default();
        let mut report = |done: usize, of: usize| teller.progress(&format!("{done} of {of} positions"));
        let learned = controlled(stop, |control| {
            let mut job = style::Job {
                files: vec![games.clone()],
                player: self.player.clone(),
                out: out.clone(),
                threads: self.settings.threads,
                control,
                report: &mut report,
            };
            style::learn(&settings, &MoveModel::embedded(), &Weights::embedded(), &mut job)
        });
        match learned {
            Ok(learned) => {
                Ok(format!("finished: {}; StyleFile {} plays like it", style::summary(&learned), out.display()))
            }
            Err(Error::Stopped) => Ok("stopped; Train style resumes it".to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Trains to the end, and says which that was.
    fn run(&self, stop: &AtomicBool, teller: &mut Teller) -> Result<String, String> {
        let mut page = LivePage::new(&self.folder);
        let mut report = |event: &selftrain::Event| {
            if let Some(note) = page.hear(event) {
                teller.say(&note);
            }
            teller.hear(event);
        };
        let begun = match self.mode {
            Mode::Resume => Err(SelfTrainError::Exists(self.folder.clone())),
            _ => {
                let surroundings = Surroundings { stop, report: &mut report };
                selftrain::begin(&self.settings, &self.start, &self.folder, surroundings)
            }
        };
        let ended = match begun {
            Err(SelfTrainError::Exists(_)) => {
                let surroundings = Surroundings { stop, report: &mut report };
                selftrain::resume(&self.folder, &|settings| self.adjust(settings), surroundings)
            }
            ended => ended,
        };
        let summary = ended.map_err(|error| error.to_string())?;
        if let Some(problem) = page.finish() {
            teller.say(&problem);
        }
        Ok(farewell(&summary))
    }

    /// What the options change in a run that is resumed: those that still have their defaults were not set
    /// by anybody, and leave the run as it is.
    fn adjust(&self, settings: &mut Settings) {
        for number in &NUMBERS {
            let value = (number.get)(&self.settings);
            if number.always || value != number.default() {
                (number.set)(settings, value);
            }
        }
        if self.mode != Mode::Resume {
            settings.source = self.settings.source.clone();
        }
    }
}

/// How it ended, in words.
fn farewell(summary: &Summary) -> String {
    let Summary { finished, generations, adopted, best } = summary;
    let ended = if *finished { "finished" } else { "stopped" };
    let best = best.as_ref().map_or(String::new(), |path| format!(", best weights {}", path.display()));
    let more = if *finished { "" } else { "; Train selfplay or resume resumes it" };
    let generations = counted(u64::from(*generations), "generation", "generations");
    format!("{ended}: {generations} done, {adopted} adopted{best}{more}")
}

/// Tells the event loop what happens, without flooding it.
struct Teller {
    events: Sender<Message>,
    /// When progress was told last.
    told: Option<Instant>,
}

impl Teller {
    fn hear(&mut self, event: &selftrain::Event) {
        match event {
            selftrain::Event::Progress(_) => self.progress(event),
            selftrain::Event::Adopted { path, .. } => {
                self.say(event);
                self.adopted(path);
            }
            _ => self.say(event),
        }
    }

    /// Tells how far it is, at most once a second.
    fn progress(&mut self, text: &dyn fmt::Display) {
        if self.told.is_none_or(|told| told.elapsed() >= EVERY) {
            self.told = Some(Instant::now());
            self.say(text);
        }
    }

    fn say(&self, text: &dyn fmt::Display) {
        self.send(Message::Say(text.to_string()));
    }

    /// Loads the weights here, where nobody waits for it.
    fn adopted(&self, path: &Path) {
        match Weights::load(path) {
            Ok(weights) => self.send(Message::Adopted(Arc::new(weights), path.to_path_buf())),
            Err(error) => self.say(&format!("error: {}: {error}", path.display())),
        }
    }

    fn send(&self, message: Message) {
        // Without a receiver the program is ending: there is nobody to tell.
        drop(self.events.send(message));
    }
}

/// Lets the search go first where threads compete: a tenth of its share, which still suffices to write a checkpoint.
/// Linux counts from the priority that the engine has itself, and so does Windows, so that a training is never before
/// the search; threads that this one starts inherit it on Linux.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn lower_priority() -> Result<(), String> {
    /// Each step of niceness takes a fifth of the share of the one before.
    const STEPS: i32 = 10;
    // On Linux niceness belongs to a thread.
    rustix::process::nice(STEPS).map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(windows)]
fn lower_priority() -> Result<(), String> {
    use thread_priority::{ThreadPriority, ThreadPriorityValue, set_current_thread_priority};
    /// Of a hundred: below normal.
    const LOW: u8 = 23;
    let low = ThreadPriorityValue::try_from(LOW).map_err(|error| error.to_string())?;
    set_current_thread_priority(ThreadPriority::Crossplatform(low)).map_err(|error| format!("{error:?}"))
}

/// Elsewhere all threads of a process are equal.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
fn lower_priority() -> Result<(), String> {
    Err("this system knows no priorities of threads, or Dyad does not know them".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_what_nobody_has_set() {
        let run = Settings { nodes: 77, label_nodes: 88, generations: 9, threads: 200, seed: 5, ..Settings::default() };
        let games = Source::Games("games.pgn".into());
        for (mode, source) in [(Mode::Resume, Source::SelfPlay), (Mode::Games, games.clone())] {
            let settings = Settings { nodes: 55, generations: 3, source: games.clone(), ..defaults() };
            let start = Weights::embedded();
            let order = Order { mode, folder: PathBuf::new(), settings, start, player: String::new() };
            let mut changed = run.clone();
            order.adjust(&mut changed);
            let threads = defaults().threads;
            assert_eq!(changed, Settings { nodes: 55, generations: 3, threads, source, ..run.clone() });
        }
    }

    #[test]
    fn options_that_come_late_put_off_the_beginning() {
        let (events, _unheard) = crossbeam::channel::unbounded();
        let mut training = Training::new(events);
        assert_eq!(training.set_mode("selfplay"), Ok(None));
        let due = training.due().unwrap();
        thread::sleep(Duration::from_millis(1));
        training.set_adopt(false).unwrap();
        assert!(training.due().unwrap() > due && !training.is_waiting_to_start());
        training.settle();
        assert!(training.due().is_none() && training.is_waiting_to_start());
        // Set off before it has begun, it never begins.
        assert_eq!(training.set_mode("off"), Ok(Some("not started".to_string())));
        assert!(!training.is_waiting_to_start());
        assert_eq!(training.set_mode("off"), Ok(None));
    }

    #[test]
    fn a_training_that_failed_is_tried_again_when_an_option_is_changed() {
        let (events, _unheard) = crossbeam::channel::unbounded();
        let mut training = Training::new(events);
        let weights = Weights::embedded();
        let fail = |training: &mut Training| {
            training.settle();
            assert!(training.is_waiting_to_start() && training.start(&weights).is_err());
            assert!(!training.is_waiting_to_start());
        };
        training.set_mode("games").unwrap();
        fail(&mut training);
        // What a GUI sends before each game changes nothing.
        training.set_mode("games").unwrap();
        training.set_folder("").unwrap();
        training.set_number(&NUMBERS[0], NUMBERS[0].default()).unwrap();
        assert!(training.due().is_none());
        training.set_games("/nowhere/games.pgn").unwrap();
        assert!(training.due().is_some());
        fail(&mut training);
        training.set_number(&NUMBERS[0], NUMBERS[0].default() + 1).unwrap();
        assert!(training.due().is_some());
        training.stop().unwrap();
        training.set_folder("elsewhere").unwrap();
        assert!(training.due().is_none(), "it was stopped");
        // One that failed on its thread, and one that ended well.
        training.hear(&Message::Ended("error: no room".to_string()));
        training.set_folder("there").unwrap();
        assert!(training.due().is_some());
        training.stop().unwrap();
        training.hear(&Message::Ended("stopped: 0 generations done".to_string()));
        training.set_folder("here").unwrap();
        assert!(training.due().is_none());
        training.hear(&Message::Ended("error: no room".to_string()));
        training.set_mode("off").unwrap();
        training.set_folder("nowhere").unwrap();
        assert!(training.due().is_none());
    }
}
