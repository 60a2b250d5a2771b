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
use serde::{Deserialize, Serialize};

use crate::base::error::Error;
use crate::data::score::Score;

/// Longest line that is read to its end.
const LONGEST_LINE: u64 = 1 << 16;
/// Lines that may wait to be looked at.
const WAITING_LINES: usize = 256;
/// Time to leave after `quit`.
const FAREWELL: Duration = Duration::from_millis(500);

/// A program and its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Names and values of options to set.
    pub options: Vec<(String, String)>,
}

/// A running engine.
pub struct OutsideEngine {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    timeout: Duration,
    name: String,
}

/// What an engine answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The move as it was written.
    pub mv: String,
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
        let mut process = command.spawn().map_err(|error| Error::Engine(format!("cannot start {name}: {error}")))?;
        let input = process.stdin.take().expect("it was asked for");
        let output = process.stdout.take().expect("it was asked for");
        let lines = read_lines(output);
        let mut engine = OutsideEngine { process, input, lines, timeout, name };
        engine.say("uci")?;
        engine.wait("uciok")?;
        engine.say("setoption name Threads value 1")?;
        engine.say(&format!("setoption name Hash value {hash}"))?;
        for (option, value) in &program.options {
            engine.say(&format!("setoption name {option} value {value}"))?;
        }
        engine.say("isready")?;
        engine.wait("readyok")?;
        Ok(engine)
    }

    /// Searches a position that has legal moves, remembering nothing of those before.
    pub fn best_move(&mut self, fen: &str, nodes: u64) -> Result<Answer, Error> {
        self.new_game()?;
        self.play(&format!("position fen {fen}"), &format!("go nodes {nodes}"))
    }

    /// Has it forget the game before.
    pub fn new_game(&mut self) -> Result<(), Error> {
        self.say("ucinewgame\nisready")?;
        self.wait("readyok")
    }

    /// Searches a position that has legal moves: `position` and `go` as the protocol writes them.
    pub fn play(&mut self, position: &str, go: &str) -> Result<Answer, Error> {
        self.say(&format!("{position}\n{go}"))?;
        let deadline = Instant::now() + self.timeout;
        let mut answer = Answer { mv: String::new(), score: None, depth: 0, nodes: 0 };
        loop {
            let line = self.line(deadline, "bestmove")?;
            if let Some(rest) = line.strip_prefix("bestmove") {
                answer.mv = rest.split_whitespace().next().unwrap_or_default().to_string();
                return Ok(answer);
            }
            let Some(told) = told(&line) else { continue };
            answer.nodes = told.nodes.unwrap_or(answer.nodes);
            if told.score.is_some() {
                (answer.score, answer.depth) = (told.score, told.depth.unwrap_or(0));
            }
        }
    }

    fn say(&mut self, text: &str) -> Result<(), Error> {
        let said = writeln!(self.input, "{text}").and_then(|()| self.input.flush());
        said.map_err(|error| Error::Engine(format!("{} does not listen: {error}", self.name)))
    }

    fn wait(&mut self, word: &str) -> Result<(), Error> {
        let deadline = Instant::now() + self.timeout;
        while self.line(deadline, word)?.trim() != word {}
        Ok(())
    }

    fn line(&mut self, deadline: Instant, expected: &str) -> Result<String, Error> {
        self.lines.recv_deadline(deadline).map_err(|error| {
            let problem = match error {
                RecvTimeoutError::Timeout => format!("no {expected} within {:?}", self.timeout),
                RecvTimeoutError::Disconnected => format!("ended before {expected}"),
            };
            Error::Engine(format!("{}: {problem}", self.name))
        })
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

/// What an `info` line tells of the first variation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Told {
    depth: Option<u32>,
    nodes: Option<u64>,
    /// If it is exact.
    score: Option<Score>,
}

/// Another engine's words: a field that is not as UCI has it is left out, the others count.
fn told(line: &str) -> Option<Told> {
    let mut words = line.split_whitespace();
    if words.next() != Some("info") {
        return None;
    }
    let mut told = Told::default();
    let mut exact = true;
    while let Some(word) = words.next() {
        match word {
            "multipv" if words.next() != Some("1") => return None,
            "depth" => told.depth = number(&mut words),
            "nodes" => told.nodes = number(&mut words),
            "lowerbound" | "upperbound" => exact = false,
            "cp" => told.score = number(&mut words).filter(|cp: &f64| cp.is_finite()).map(Score::centipawns),
            "mate" => told.score = number(&mut words).map(Score::mate),
            // What follows is moves, or text that may hold anything.
            "pv" | "string" => break,
            _ => (),
        }
    }
    told.score = told.score.filter(|_| exact);
    Some(told)
}

fn number<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("info depth 8 score cp 35 lowerbound nodes 5", told_of(Some(8), Some(5), None)),
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
