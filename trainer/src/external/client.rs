//! External engines, as processes that speak UCI.
//!
//! An external program may hang, crash or print anything at any time. So a thread reads its lines, each wait has a
//! deadline, lines that are not UCI are skipped, and drop kills the process.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};
use dyad_engine::board::{Game, Move};
use dyad_engine::control::Control;
use dyad_formats::error::Error;
use dyad_formats::score::Score;
use serde::{Deserialize, Serialize};

/// Bytes of a line; the rest of a longer one counts as the next line.
const LONGEST_LINE: u64 = 1 << 16;
/// Capacity of the queue of lines.
const WAITING_LINES: usize = 256;
/// Time to exit after `quit`, before the process is killed.
const EXIT_TIME: Duration = Duration::from_millis(500);
/// Time between two checks whether a search is stopped.
const STOP_CHECK: Duration = Duration::from_millis(30);
/// The option that writes castling as the king's capture of its rook.
const CHESS960: &str = "UCI_Chess960";

/// A program and its options; as text `PATH,NAME=VALUE,...`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// Path of the program.
    pub path: PathBuf,
    /// Names and values of UCI options.
    pub options: Vec<(String, String)>,
}

impl Program {
    /// The name of the file. The text behind a dot may be a version, so only `.exe` is removed.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        name.strip_suffix(".exe").unwrap_or(&name).to_string()
    }
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let mut parts = text.split(',');
        let path = PathBuf::from(parts.next().unwrap_or_default());
        let option = |part: &str| match part.split_once('=') {
            Some((name, value)) => Ok((name.to_string(), value.to_string())),
            None => Err(format!("'{part}' is not of the form name=value")),
        };
        Ok(Program { path, options: parts.map(option).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        self.options.iter().try_for_each(|(name, value)| write!(f, ",{name}={value}"))
    }
}

/// The end of a wait for an engine.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    timeout: Duration,
}

impl Deadline {
    fn after(timeout: Duration) -> Deadline {
        Deadline { at: Instant::now() + timeout, timeout }
    }
}

/// A running engine.
pub struct UciEngine {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    timeout: Duration,
    name: String,
    /// The options that the engine offers.
    options: Vec<OfferedOption>,
    /// Value of the option [`CHESS960`].
    chess960: bool,
    /// Whether the options of the program set it for all games.
    always_chess960: bool,
}

/// The answer to `go`.
#[derive(Clone, Debug, PartialEq)]
pub struct UciAnswer {
    /// The move as the engine wrote it.
    pub text: String,
    /// The move; `None` if it is not legal.
    pub mv: Option<Move>,
    /// The last score of the first variation, for the side to move.
    pub score: Option<Score>,
    /// The depth of that score in plies; 0 if it was not reported.
    pub depth: u32,
    /// The last reported number of nodes; 0 if none was reported.
    pub nodes: u64,
}

impl UciEngine {
    /// Starts the program and waits until it is ready, with one thread and `hash` megabytes of hash.
    ///
    /// # Errors
    /// When it cannot be started, is not ready within `timeout`, or does not offer one of the options or its value.
    pub fn start(program: &Program, hash: usize, timeout: Duration) -> Result<UciEngine, Error> {
        let name = program.path.display().to_string();
        let mut command = Command::new(&program.path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C is for this program, which stops the engine itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        {
            const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
            std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NEW_PROCESS_GROUP);
        }
        let mut process = command.spawn().map_err(|error| Error::Engine(format!("cannot start {name}: {error}")))?;
        let input = process.stdin.take().expect("the pipe was requested");
        let output = process.stdout.take().expect("the pipe was requested");
        let lines = read_lines(output);
        let is_on = |(option, value): &(String, String)| option.eq_ignore_ascii_case(CHESS960) && value == "true";
        let always_chess960 = program.options.iter().any(is_on);
        let (options, chess960) = (Vec::new(), always_chess960);
        let mut engine = UciEngine { process, input, lines, timeout, name, options, chess960, always_chess960 };
        engine.send("uci")?;
        engine.wait_for_options()?;
        for (option, value) in &program.options {
            engine.check_option(option, value)?;
        }
        engine.send("setoption name Threads value 1")?;
        engine.send(&format!("setoption name Hash value {hash}"))?;
        for (option, value) in &program.options {
            engine.send(&format!("setoption name {option} value {value}"))?;
        }
        engine.send("isready")?;
        engine.wait("readyok")?;
        Ok(engine)
    }

    /// Searches the current position of a game, which has legal moves, as the first position of a new game.
    pub fn best_move(&mut self, game: &Game, nodes: u64, control: &Control) -> Result<UciAnswer, Error> {
        self.new_game()?;
        self.play(game, &format!("go nodes {nodes}"), self.timeout, control)
    }

    /// Begins a new game.
    pub fn new_game(&mut self) -> Result<(), Error> {
        self.send("ucinewgame\nisready")?;
        self.wait("readyok")
    }

    /// Searches the current position of a game, which has legal moves, with the command `go`, until the answer, the
    /// timeout or a stop by `control`.
    ///
    /// # Errors
    /// When it is stopped or does not answer, or does not castle in Chess960 where the game does. The engine cannot be
    /// used afterwards.
    pub fn play(&mut self, game: &Game, go: &str, timeout: Duration, control: &Control) -> Result<UciAnswer, Error> {
        self.set_chess960(game.start().castles_unusually() || self.always_chess960)?;
        self.send(&format!("{}\n{go}", position(game, self.chess960)))?;
        let deadline = Deadline::after(timeout);
        let mut answer = UciAnswer { text: String::new(), mv: None, score: None, depth: 0, nodes: 0 };
        loop {
            if control.stopped() {
                self.send("stop")?;
                return Err(Error::Stopped);
            }
            let Some(line) = self.line_before(Instant::now() + STOP_CHECK, deadline, "bestmove")? else { continue };
            if let Some(rest) = line.strip_prefix("bestmove") {
                answer.text = rest.split_whitespace().next().unwrap_or_default().to_string();
                answer.mv = game.board().with_chess960(self.chess960).parse_uci(&answer.text).ok();
                return Ok(answer);
            }
            let Some(info) = SearchInfo::parse(&line) else { continue };
            answer.nodes = info.nodes.unwrap_or(answer.nodes);
            if info.score.is_some() {
                (answer.score, answer.depth) = (info.score, info.depth.unwrap_or(0));
            }
        }
    }

    /// Reads the options up to `uciok`.
    fn wait_for_options(&mut self) -> Result<(), Error> {
        let deadline = Deadline::after(self.timeout);
        loop {
            let line = self.line(deadline, "uciok")?;
            self.options.extend(OfferedOption::parse(&line));
            if line.trim() == "uciok" {
                return Ok(());
            }
        }
    }

    fn offered(&self, name: &str) -> Option<&OfferedOption> {
        self.options.iter().find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// Refuses an option that the engine would ignore.
    fn check_option(&self, name: &str, value: &str) -> Result<(), Error> {
        let checked = match self.offered(name) {
            None => Err("the engine has no such option".to_string()),
            Some(option) => option.check(value),
        };
        checked.map_err(|problem| Error::Engine(format!("{}: option {name}={value}: {problem}", self.name)))
    }

    /// Sets the option [`CHESS960`] where it has another value.
    fn set_chess960(&mut self, on: bool) -> Result<(), Error> {
        if self.chess960 != on {
            self.check_option(CHESS960, &on.to_string())?;
            self.send(&format!("setoption name {CHESS960} value {on}"))?;
            self.chess960 = on;
        }
        Ok(())
    }

    fn send(&mut self, text: &str) -> Result<(), Error> {
        let sent = writeln!(self.input, "{text}").and_then(|()| self.input.flush());
        sent.map_err(|error| Error::Engine(format!("{} does not read its input: {error}", self.name)))
    }

    fn wait(&mut self, word: &str) -> Result<(), Error> {
        let deadline = Deadline::after(self.timeout);
        while self.line(deadline, word)?.trim() != word {}
        Ok(())
    }

    fn line(&mut self, deadline: Deadline, expected: &str) -> Result<String, Error> {
        loop {
            if let Some(line) = self.line_before(deadline.at, deadline, expected)? {
                return Ok(line);
            }
        }
    }

    /// The next line, or `None` if no line arrives before `until`.
    ///
    /// # Errors
    /// When the program ended, or the deadline is over, even if lines are queued: an engine that never stops printing
    /// must not delay the caller.
    fn line_before(&mut self, until: Instant, deadline: Deadline, expected: &str) -> Result<Option<String>, Error> {
        let problem = if Instant::now() >= deadline.at {
            format!("no {expected} within {:?}", deadline.timeout)
        } else {
            match self.lines.recv_deadline(until.min(deadline.at)) {
                Ok(line) => return Ok(Some(line)),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => format!("ended before {expected}"),
            }
        };
        Err(Error::Engine(format!("{}: {problem}", self.name)))
    }
}

impl Drop for UciEngine {
    fn drop(&mut self) {
        let _ = self.send("quit");
        let deadline = Instant::now() + EXIT_TIME;
        while Instant::now() < deadline {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lines of the program, until it ends or the receiver is dropped.
fn read_lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = bounded(WAITING_LINES);
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while (&mut output).take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_string();
            line.clear();
            if send.send(text).is_err() {
                break;
            }
        }
    });
    receive
}

/// An option that an engine offers.
#[derive(Debug, PartialEq)]
struct OfferedOption {
    name: String,
    values: OfferedValues,
}

/// The values that an option can have.
#[derive(Debug, PartialEq)]
enum OfferedValues {
    Check,
    /// From a smallest to a largest number.
    Spin(i64, i64),
    /// One of these.
    Combo(Vec<String>),
    /// Any text, or a button, which has none.
    Any,
}

impl OfferedOption {
    /// The option that a line declares, as `option name Hash type spin default 16 min 1 max 1024`.
    fn parse(line: &str) -> Option<OfferedOption> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [first, second, rest @ ..] = words.as_slice() else { return None };
        let behind =
            rest.iter().position(|&word| word == "type").filter(|_| (*first, *second) == ("option", "name"))?;
        let (name, declared) = (rest[..behind].join(" "), &rest[behind + 1..]);
        let bound = |word: &str, missing: i64| {
            let behind = declared.iter().skip_while(|&&other| other != word).nth(1);
            behind.and_then(|number| number.parse().ok()).unwrap_or(missing)
        };
        let values = match declared.first().copied() {
            Some("check") => OfferedValues::Check,
            Some("spin") => OfferedValues::Spin(bound("min", i64::MIN), bound("max", i64::MAX)),
            Some("combo") => {
                let values = declared.split(|&word| word == "var").skip(1);
                OfferedValues::Combo(values.map(|value| value.join(" ")).collect())
            }
            _ => OfferedValues::Any,
        };
        Some(OfferedOption { name, values })
    }

    /// Refuses a value that the option cannot have.
    fn check(&self, value: &str) -> Result<(), String> {
        match &self.values {
            OfferedValues::Check if value != "true" && value != "false" => Err("expected true or false".to_string()),
            &OfferedValues::Spin(min, max) => match value.parse::<i64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(()),
                _ => Err(format!("the engine has {min} to {max}")),
            },
            OfferedValues::Combo(values) if values.iter().all(|offered| !offered.eq_ignore_ascii_case(value)) => {
                Err(format!("the engine has {}", values.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

/// The `position` command of a game.
fn position(game: &Game, chess960: bool) -> String {
    let mut board = game.start().with_chess960(chess960);
    let mut text = format!("position fen {}", board.fen());
    for (number, &mv) in game.moves().iter().enumerate() {
        text.push_str(if number == 0 { " moves " } else { " " });
        text.push_str(&board.uci(mv));
        board = board.after(mv);
    }
    text
}

/// The fields of an `info` line about the first variation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SearchInfo {
    depth: Option<u32>,
    nodes: Option<u64>,
    /// Exact or a bound: a search that is stopped may end with a bound of the move it plays.
    score: Option<Score>,
}

impl SearchInfo {
    /// Fields that do not follow UCI are `None`; so are other lines, and those about other variations.
    fn parse(line: &str) -> Option<SearchInfo> {
        let mut words = line.split_whitespace();
        if words.next() != Some("info") {
            return None;
        }
        let mut info = SearchInfo::default();
        while let Some(word) = words.next() {
            match word {
                "multipv" if words.next() != Some("1") => return None,
                "depth" => info.depth = number(&mut words),
                "nodes" => info.nodes = number(&mut words),
                "cp" => info.score = number(&mut words).filter(|cp: &f64| cp.is_finite()).map(Score::centipawns),
                "mate" => info.score = number(&mut words).map(Score::mate),
                // Moves or free text follow.
                "pv" | "string" => break,
                _ => (),
            }
        }
        Some(info)
    }
}

fn number<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The option of Chess960 is set for the games that need it, and castling is read and written by it.
    #[cfg(unix)]
    #[test]
    fn castling_notation_depends_on_the_game() {
        use crate::external::testing::{fake_engine, log_of};
        use dyad_engine::board::Board;
        let option = "option name UCI_Chess960 type check default false";
        let go = "case $position in *5KR1*) echo bestmove f1g1 ;; *) echo bestmove e1g1 ;; esac";
        let [unusual, usual] = [("5k2/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1"), ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1")];
        for (name, options, games, settings) in [
            ("castling", option, vec![unusual, usual], vec!["true", "false"]),
            ("usual-castling", "", vec![usual], vec![]),
        ] {
            let program = Program { path: fake_engine(name, options, go), options: Vec::new() };
            let mut engine = UciEngine::start(&program, 1, Duration::from_secs(60)).unwrap();
            for (fen, castling) in games {
                let mut game = Game::new(Board::from_fen(fen).unwrap());
                let answer = engine.best_move(&game, 1, &Control::new(false)).unwrap();
                let castles = game.board().parse_san("O-O").unwrap();
                assert_eq!((answer.text.as_str(), answer.mv), (castling, Some(castles)));
                game.push(castles);
                engine.best_move(&game, 1, &Control::new(false)).unwrap();
                let log = std::fs::read_to_string(log_of(&program.path)).unwrap();
                assert!(log.contains(&format!("moves {castling}\n")), "{log}");
            }
            drop(engine);
            let log = std::fs::read_to_string(log_of(&program.path)).unwrap();
            let set = log.lines().filter_map(|line| line.strip_prefix("setoption name UCI_Chess960 value "));
            assert_eq!(set.collect::<Vec<_>>(), settings);
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_engine_that_never_stops_printing_times_out() {
        let go = "exec yes info depth 1 score cp 1";
        let path = crate::external::testing::fake_engine("flood", "", go);
        let program = Program { path, options: Vec::new() };
        let mut engine = UciEngine::start(&program, 1, Duration::from_secs(60)).unwrap();
        let timeout = Duration::from_millis(200);
        let error = engine.play(&Game::default(), "go nodes 1", timeout, &Control::new(false));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no bestmove within 200ms"), "{error}");
    }

    /// An engine ignores options that it does not have, and values out of their range.
    #[cfg(unix)]
    #[test]
    fn options_that_the_engine_would_ignore_are_refused() {
        use crate::external::testing::fake_engine;
        use dyad_engine::board::Board;
        let offered = "option name UCI_Elo type spin default 1500 min 1320 max 3190\n\
                       option name UCI_LimitStrength type check default false\n\
                       option name Style of Play type combo default Normal var Solid var Very Risky\n\
                       option name Book File type string default <empty>";
        let path = fake_engine("offers", offered, "echo bestmove e2e4");
        let start = |options: &str| {
            let program = format!("{},{options}", path.display()).parse().unwrap();
            UciEngine::start(&program, 1, Duration::from_secs(60))
        };
        let accepted = "uci_elo=1320,UCI_LimitStrength=true,Style of Play=very risky,Book File=a b.bin";
        let mut engine = start(accepted).map_err(|error| error.to_string());
        for (option, problem) in [
            ("UCI_LimitStrenght=true", "the engine has no such option"),
            ("UCI_Chess960=true", "the engine has no such option"),
            ("UCI_LimitStrength=on", "expected true or false"),
            ("UCI_Elo=1319", "the engine has 1320 to 3190"),
            ("UCI_Elo=strong", "the engine has 1320 to 3190"),
            ("Style of Play=Risky", "the engine has Solid, Very Risky"),
        ] {
            let error = start(option).map(|_| ()).unwrap_err().to_string();
            assert!(error.ends_with(&format!("option {option}: {problem}")), "{error}");
        }
        let game = Game::new(Board::from_fen("5k2/8/8/8/8/8/8/5KR1 w G - 0 1").unwrap());
        let error = engine.as_mut().unwrap().best_move(&game, 1, &Control::new(false)).unwrap_err().to_string();
        assert!(error.ends_with("option UCI_Chess960=true: the engine has no such option"), "{error}");
    }

    /// A terminal sends Ctrl-C to the process group of this program: an engine that it ended would seem to have failed.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_engine_is_in_a_process_group_of_its_own() {
        let path = crate::external::testing::fake_engine("group", "", "");
        let engine = UciEngine::start(&Program { path, options: Vec::new() }, 1, Duration::from_secs(60)).unwrap();
        let id = engine.process.id().to_string();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        assert_eq!(fields.split(' ').nth(2), Some(id.as_str()));
    }

    #[test]
    fn info_lines_are_parsed() {
        let info = |depth, nodes, score: Option<i16>| Some(SearchInfo { depth, nodes, score: score.map(Score) });
        let cases = [
            (
                "info depth 8 seldepth 12 multipv 1 score cp -35 nodes 5000 nps 1 pv e2e4",
                info(Some(8), Some(5_000), Some(-35)),
            ),
            ("info depth 8 score mate 3 pv e2e4", info(Some(8), None, Some(31_997))),
            ("info score mate -2", info(None, None, Some(-31_998))),
            ("info depth 8 score cp 35 lowerbound nodes 5", info(Some(8), Some(5), Some(35))),
            ("info depth 8 multipv 2 score cp 35", None),
            ("info string depth 3 score cp 35", info(None, None, None)),
            ("info depth 9 currmove e2e4 currmovenumber 1", info(Some(9), None, None)),
            ("info depth 8 score cp nan", info(Some(8), None, None)),
            ("info score cp", info(None, None, None)),
            ("info depth 8 score cp nonsense nodes 5", info(Some(8), Some(5), None)),
            ("info depth -1 score cp 35 nodes 99999999999999999999", info(None, None, Some(35))),
            ("bestmove e2e4", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(SearchInfo::parse(line), expected, "{line}");
        }
    }
}
