//! Other engines, as processes that speak UCI.
//!
//! A foreign program may hang, die or talk nonsense at any time. So its lines are read by a thread and
//! waited for with a deadline, whatever is not understood is skipped, and the process is killed when its owner
//! is dropped.

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

/// Longest line that is read to its end.
const LONGEST_LINE: u64 = 1 << 16;
/// Lines that may wait to be looked at.
const WAITING_LINES: usize = 256;
/// Time to leave after `quit`.
const FAREWELL: Duration = Duration::from_millis(500);
/// A job that is stopped is left so soon.
const WATCH_EVERY: Duration = Duration::from_millis(30);
/// The option that has castling written as in Chess960.
const CHESS960: &str = "UCI_Chess960";

/// A program and its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Names and values of options to set.
    pub options: Vec<(String, String)>,
}

/// Until when an engine is waited for.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    patience: Duration,
}

impl Deadline {
    fn after(patience: Duration) -> Deadline {
        Deadline { at: Instant::now() + patience, patience }
    }
}

/// A running engine.
pub struct OutsideEngine {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    timeout: Duration,
    name: String,
    /// Whether it has the option of Chess960.
    knows_chess960: bool,
    /// How that option stands.
    chess960: bool,
    /// Whether whoever named the program has it stay there.
    always_chess960: bool,
}

/// What an engine answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The move as it was written.
    pub text: String,
    /// The move, where it is legal.
    pub mv: Option<Move>,
    /// The last score it gave its first variation, for the side to move.
    pub score: Option<Score>,
    /// The depth of that score in plies; 0 where it told none.
    pub depth: u32,
    /// Nodes searched, by its last count; 0 where it told none.
    pub nodes: u64,
}

impl OutsideEngine {
    /// Starts the program and waits until it is ready, with one thread and so many megabytes of hash.
    pub fn start(program: &Program, hash: usize, timeout: Duration) -> Result<OutsideEngine, Error> {
        let name = program.path.display().to_string();
        let mut command = Command::new(&program.path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C is for this program, which tells the engine itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn().map_err(|error| Error::Engine(format!("cannot start {name}: {error}")))?;
        let input = process.stdin.take().expect("it was asked for");
        let output = process.stdout.take().expect("it was asked for");
        let lines = read_lines(output);
        let on = |(option, value): &(String, String)| option.eq_ignore_ascii_case(CHESS960) && value == "true";
        let always_chess960 = program.options.iter().any(on);
        let (knows_chess960, chess960) = (always_chess960, always_chess960);
        let mut engine =
            OutsideEngine { process, input, lines, timeout, name, knows_chess960, chess960, always_chess960 };
        engine.say("uci")?;
        engine.wait_for_options()?;
        engine.say("setoption name Threads value 1")?;
        engine.say(&format!("setoption name Hash value {hash}"))?;
        for (option, value) in &program.options {
            engine.say(&format!("setoption name {option} value {value}"))?;
        }
        engine.say("isready")?;
        engine.wait("readyok")?;
        Ok(engine)
    }

    /// Searches the current position of a game, which has legal moves, remembering nothing of those before.
    pub fn best_move(&mut self, game: &Game, nodes: u64) -> Result<Answer, Error> {
        self.new_game()?;
        self.play(game, &format!("go nodes {nodes}"), self.timeout, &Control::new(false))
    }

    /// Has it forget the game before.
    pub fn new_game(&mut self) -> Result<(), Error> {
        self.say("ucinewgame\nisready")?;
        self.wait("readyok")
    }

    /// Searches the current position of a game, which has legal moves, until `control` stops it: `go` as the protocol
    /// writes it, the answer within `patience`.
    ///
    /// # Errors
    /// When it is stopped or does not answer. It is of no more use then.
    pub fn play(&mut self, game: &Game, go: &str, patience: Duration, control: &Control) -> Result<Answer, Error> {
        self.set_chess960(game.start().castles_unusually() || self.always_chess960)?;
        self.say(&format!("{}\n{go}", position(game, self.chess960)))?;
        let deadline = Deadline::after(patience);
        let mut answer = Answer { text: String::new(), mv: None, score: None, depth: 0, nodes: 0 };
        loop {
            if control.stopped() {
                self.say("stop")?;
                return Err(Error::Stopped);
            }
            let Some(line) = self.line_before(Instant::now() + WATCH_EVERY, deadline, "bestmove")? else { continue };
            if let Some(rest) = line.strip_prefix("bestmove") {
                answer.text = rest.split_whitespace().next().unwrap_or_default().to_string();
                answer.mv = game.board().with_chess960(self.chess960).parse_uci(&answer.text).ok();
                return Ok(answer);
            }
            let Some(told) = told(&line) else { continue };
            answer.nodes = told.nodes.unwrap_or(answer.nodes);
            if told.score.is_some() {
                (answer.score, answer.depth) = (told.score, told.depth.unwrap_or(0));
            }
        }
    }

    /// Waits until all options were told.
    fn wait_for_options(&mut self) -> Result<(), Error> {
        let deadline = Deadline::after(self.timeout);
        loop {
            let line = self.line(deadline, "uciok")?;
            self.knows_chess960 |= offers(&line, CHESS960);
            if line.trim() == "uciok" {
                return Ok(());
            }
        }
    }

    /// Has it read and write castling as the king's capture of its rook, or not. One that cannot stays as it is.
    fn set_chess960(&mut self, on: bool) -> Result<(), Error> {
        if self.knows_chess960 && self.chess960 != on {
            self.say(&format!("setoption name {CHESS960} value {on}"))?;
            self.chess960 = on;
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), Error> {
        let said = writeln!(self.input, "{text}").and_then(|()| self.input.flush());
        said.map_err(|error| Error::Engine(format!("{} does not listen: {error}", self.name)))
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

    /// The next line, if one comes until then. When the deadline has passed, none is looked at: an engine that talks
    /// without an end may not keep anybody waiting.
    fn line_before(&mut self, then: Instant, deadline: Deadline, expected: &str) -> Result<Option<String>, Error> {
        let problem = if Instant::now() >= deadline.at {
            format!("no {expected} within {:?}", deadline.patience)
        } else {
            match self.lines.recv_deadline(then.min(deadline.at)) {
                Ok(line) => return Ok(Some(line)),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => format!("ended before {expected}"),
            }
        };
        Err(Error::Engine(format!("{}: {problem}", self.name)))
    }
}

impl Drop for OutsideEngine {
    fn drop(&mut self) {
        let _ = self.say("quit");
        let deadline = Instant::now() + FAREWELL;
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

/// Lines as they come, until the program ends or nobody wants them any more.
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

/// Whether a line offers the option of this name.
fn offers(line: &str, option: &str) -> bool {
    let mut words = line.split_whitespace();
    (words.next(), words.next()) == (Some("option"), Some("name"))
        && words.next().is_some_and(|name| name.eq_ignore_ascii_case(option))
}

/// The game as the protocol writes it.
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

/// What an `info` line tells of the first variation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Told {
    depth: Option<u32>,
    nodes: Option<u64>,
    /// Exact or a bound: a search that is stopped may end with a bound of the move it plays.
    score: Option<Score>,
}

/// Another engine's words: a field that is not as UCI has it is left out, the others count.
fn told(line: &str) -> Option<Told> {
    let mut words = line.split_whitespace();
    if words.next() != Some("info") {
        return None;
    }
    let mut told = Told::default();
    while let Some(word) = words.next() {
        match word {
            "multipv" if words.next() != Some("1") => return None,
            "depth" => told.depth = number(&mut words),
            "nodes" => told.nodes = number(&mut words),
            "cp" => told.score = number(&mut words).filter(|cp: &f64| cp.is_finite()).map(Score::centipawns),
            "mate" => told.score = number(&mut words).map(Score::mate),
            // What follows is moves, or text that may hold anything.
            "pv" | "string" => break,
            _ => (),
        }
    }
    Some(told)
}

fn number<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that has the option of Chess960 has it on for the games that need it, and reads and writes castling so.
    #[cfg(unix)]
    #[test]
    fn castling_is_written_as_the_game_needs_it() {
        use crate::external::testing::{fake_engine, log_of};
        use dyad_engine::board::Board;
        let option = "option name UCI_Chess960 type check default false";
        let go = "case $position in *5KR1*) echo bestmove f1g1 ;; *) echo bestmove e1g1 ;; esac";
        let games = [("5k2/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1"), ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1")];
        for (name, options, settings) in [("castling", option, vec!["true", "false"]), ("usual-castling", "", vec![])] {
            let program = Program { path: fake_engine(name, options, go), options: Vec::new() };
            let mut engine = OutsideEngine::start(&program, 1, Duration::from_secs(60)).unwrap();
            for (fen, castling) in games {
                let mut game = Game::new(Board::from_fen(fen).unwrap());
                let answer = engine.best_move(&game, 1).unwrap();
                let castles = game.board().parse_san("O-O").unwrap();
                assert_eq!((answer.text.as_str(), answer.mv), (castling, Some(castles)));
                game.push(castles);
                engine.best_move(&game, 1).unwrap();
                let told = std::fs::read_to_string(log_of(&program.path)).unwrap();
                assert!(told.contains(&format!("moves {castling}\n")), "{told}");
            }
            drop(engine);
            let told = std::fs::read_to_string(log_of(&program.path)).unwrap();
            let set = told.lines().filter_map(|line| line.strip_prefix("setoption name UCI_Chess960 value "));
            assert_eq!(set.collect::<Vec<_>>(), settings);
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_engine_that_talks_without_an_end_is_given_up() {
        let go = "exec yes info depth 1 score cp 1";
        let path = crate::external::testing::fake_engine("flood", "", go);
        let program = Program { path, options: Vec::new() };
        let mut engine = OutsideEngine::start(&program, 1, Duration::from_secs(60)).unwrap();
        let patience = Duration::from_millis(200);
        let error = engine.play(&Game::default(), "go nodes 1", patience, &Control::new(false));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no bestmove within 200ms"), "{error}");
    }

    /// A terminal sends Ctrl-C to the group of this program: an engine that ended by it would seem to have failed.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_engine_is_in_a_process_group_of_its_own() {
        let path = crate::external::testing::fake_engine("group", "", "");
        let engine = OutsideEngine::start(&Program { path, options: Vec::new() }, 1, Duration::from_secs(60)).unwrap();
        let id = engine.process.id().to_string();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        assert_eq!(fields.split(' ').nth(2), Some(id.as_str()));
    }

    #[test]
    fn what_info_lines_tell() {
        let told_of = |depth, nodes, score: Option<i16>| Some(Told { depth, nodes, score: score.map(Score) });
        let cases = [
            (
                "info depth 8 seldepth 12 multipv 1 score cp -35 nodes 5000 nps 1 pv e2e4",
                told_of(Some(8), Some(5_000), Some(-35)),
            ),
            ("info depth 8 score mate 3 pv e2e4", told_of(Some(8), None, Some(31_997))),
            ("info score mate -2", told_of(None, None, Some(-31_998))),
            ("info depth 8 score cp 35 lowerbound nodes 5", told_of(Some(8), Some(5), Some(35))),
            ("info depth 8 multipv 2 score cp 35", None),
            ("info string depth 3 score cp 35", told_of(None, None, None)),
            ("info depth 9 currmove e2e4 currmovenumber 1", told_of(Some(9), None, None)),
            ("info depth 8 score cp nan", told_of(Some(8), None, None)),
            ("info score cp", told_of(None, None, None)),
            ("info depth 8 score cp nonsense nodes 5", told_of(Some(8), Some(5), None)),
            ("info depth -1 score cp 35 nodes 99999999999999999999", told_of(None, None, Some(35))),
            ("bestmove e2e4", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(told(line), expected, "{line}");
        }
    }
}
