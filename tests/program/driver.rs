//! Drives the program: sends lines, reads lines, and notices when it hangs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use dyad_engine::board::{Board, Game};

/// Nothing here takes long, so after this the program hangs. How fast it is, is not tested: a test
/// machine may be busy.
const HANGS: Duration = Duration::from_secs(60);

/// A running program.
pub struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    /// The lines read so far, for messages.
    seen: Vec<String>,
}

impl Program {
    /// Starts the program as a GUI does.
    pub fn start() -> Program {
        Program::start_with(&[])
    }

    /// Starts the program and sends a line, or several.
    pub fn with(lines: &str) -> Program {
        let mut program = Program::start();
        program.send(lines);
        program
    }

    /// Starts the program with arguments.
    pub fn start_with(arguments: &[&str]) -> Program {
        let mut command = dyad();
        command.args(arguments);
        Program::spawn(command)
    }

    /// Starts the program for a user whose files are in this folder.
    pub fn start_at_home(home: &Path) -> Program {
        let mut command = dyad();
        command.env("HOME", home).env("APPDATA", home).env_remove("XDG_DATA_HOME");
        Program::spawn(command)
    }

    /// Starts a command that runs the program.
    pub fn spawn(mut command: Command) -> Program {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program was built");
        let stdout = child.stdout.take().expect("it was asked for");
        let (sender, output) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines();
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let input = child.stdin.take();
        Program { child, input, output, seen: Vec::new() }
    }

    /// Sends a line, or several.
    pub fn send(&mut self, lines: &str) {
        self.send_bytes(lines.as_bytes());
        self.send_bytes(b"\n");
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("input is open");
        let sent = input.write_all(bytes).and_then(|()| input.flush());
        sent.unwrap_or_else(|error| panic!("the program does not read any more: {error}\n{}", self.tail()));
    }

    /// The next line.
    pub fn line(&mut self) -> String {
        match self.output.recv_timeout(HANGS) {
            Ok(line) => {
                self.seen.push(line.clone());
                line
            }
            Err(error) => panic!("no line came: {error}\n{}", self.tail()),
        }
    }

    /// The lines up to one that begins so; that one is the last.
    pub fn until(&mut self, beginning: &str) -> Vec<String> {
        let mut lines = vec![self.line()];
        while !lines.last().expect("one was put in").starts_with(beginning) {
            lines.push(self.line());
        }
        lines
    }

    /// Reads on to a line that contains this, and gives it.
    pub fn until_contains(&mut self, part: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("every Unix has it").success());
    }

    /// The names of its threads.
    #[cfg(target_os = "linux")]
    pub fn threads(&self) -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let names = tasks.map(|task| fs::read_to_string(task.expect("it can be read").path().join("comm")));
        names.map(|name| name.unwrap_or_default().trim_end().to_string()).collect()
    }

    /// The niceness of its threads that have this name.
    #[cfg(target_os = "linux")]
    pub fn niceness(&self, name: &str) -> Vec<i32> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let texts = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("stat")).ok());
        let found = texts.filter_map(|text| {
            let (before, after) = text.rsplit_once(") ")?;
            let field = after.split(' ').nth(16).expect("the nineteenth is the niceness");
            before.ends_with(&format!("({name}")).then(|| field.parse().expect("a number"))
        });
        found.collect()
    }

    /// The lines that come before the answer to `isready`.
    pub fn sync(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.until("readyok");
        lines.pop();
        lines
    }

    /// The position that the program shows, or why it has none.
    pub fn position(&mut self) -> Result<String, String> {
        // The answer to a word that is no command marks the end: a job that still runs may say anything in between.
        self.send("d\nthat-is-all");
        let lines = self.until("info string unknown command 'that-is-all'");
        let fen = lines.iter().find_map(|line| line.strip_prefix("Fen: "));
        fen.map(str::to_string).ok_or_else(|| lines.concat())
    }

    /// Searches, to the `bestmove`, which is the last line.
    pub fn search(&mut self, go: &str) -> Vec<String> {
        self.send(go);
        self.until("bestmove")
    }

    /// No more input comes: waits for the end and gives what was still said.
    pub fn close(mut self) -> Vec<String> {
        drop(self.input.take());
        let (lines, status) = self.wait();
        assert!(status.success(), "{status}");
        lines
    }

    /// Sends `quit` and waits for the end.
    pub fn quit(mut self) -> Vec<String> {
        self.send("quit");
        let (lines, status) = self.wait();
        assert!(status.success(), "{status}");
        lines
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> (Vec<String>, ExitStatus) {
        let deadline = Instant::now() + HANGS;
        let mut lines = Vec::new();
        while let Ok(line) = self.output.recv_timeout(HANGS) {
            lines.push(line);
        }
        loop {
            if let Some(status) = self.child.try_wait().expect("the child can be asked") {
                return (lines, status);
            }
            assert!(Instant::now() < deadline, "the program does not end\n{}", self.tail());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn tail(&self) -> String {
        self.seen[self.seen.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A test that failed must not leave its program running.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The program.
pub fn dyad() -> Command {
    Command::new(env!("CARGO_BIN_EXE_dyad"))
}

/// Starts one of the tools. Its errors are not shown.
pub fn tool(name: &str, arguments: &[&str], stdout: Stdio) -> Child {
    let spawned = dyad().arg(name).args(arguments).stdout(stdout).stderr(Stdio::null()).spawn();
    spawned.expect("the program was built")
}

/// What the program says to arguments that it refuses. A panic is no refusal.
pub fn refusal(arguments: &[&str]) -> String {
    let output = dyad().args(arguments).stdin(Stdio::null()).output();
    let Output { status, stderr, .. } = output.expect("the program was built");
    let printed = String::from_utf8_lossy(&stderr).into_owned();
    assert!(
        matches!(status.code(), Some(1 | 2)) && !printed.contains("panicked"),
        "{arguments:?}: {status}, {printed}"
    );
    printed
}

/// Starts a job and kills it, again and again, each time a little later, until it ends by itself; `start` goes on
/// with what there is.
pub fn kill_until_it_ends(mut patience: Duration, mut start: impl FnMut() -> Child) {
    loop {
        let mut running = start();
        thread::sleep(patience);
        if let Some(status) = running.try_wait().unwrap() {
            assert!(status.success());
            return;
        }
        running.kill().unwrap();
        running.wait().unwrap();
        // However slow the machine is, one of the legs is long enough to end.
        patience = patience * 3 / 2;
    }
}

/// A pipe with a name.
#[cfg(unix)]
pub fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("every Unix has it").success());
}

/// A folder in the build's own, empty at first.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).expect("the build may write there");
    folder
}

/// The position after moves from the initial one.
pub fn after(moves: &str) -> Game {
    let mut game = Game::default();
    for text in moves.split(' ').filter(|text| !text.is_empty()) {
        let mv = game.board().parse_uci(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        game.push(mv);
    }
    game
}

/// An info line on a search, taken apart and checked against the protocol as it is.
#[derive(Debug)]
pub struct Line {
    /// The depth of the search.
    pub depth: u32,
    /// The number of the line.
    pub multipv: usize,
    /// Whether the score is a bound.
    pub is_bound: bool,
    /// The moves.
    pub pv: Vec<String>,
}

impl Line {
    /// Reads a line; nothing if it is not about a line of moves.
    pub fn parse(text: &str, board: &Board) -> Option<Line> {
        let rest = text.strip_prefix("info depth ")?;
        let mut words = rest.split(' ').peekable();
        let mut number = |name: &str| -> i64 {
            if name != "depth" {
                assert_eq!(words.next(), Some(name), "{text}");
            }
            let word = words.next().unwrap_or_else(|| panic!("{name} without a number: {text}"));
            word.parse().unwrap_or_else(|_| panic!("{name} is {word}, no integer: {text}"))
        };
        let depth = number("depth");
        let _seldepth = number("seldepth");
        let multipv = number("multipv");
        assert_eq!(words.next(), Some("score"), "{text}");
        assert!(["cp", "mate"].contains(&words.next().expect("a kind of score")), "{text}");
        let _: i32 = words.next().and_then(|word| word.parse().ok()).expect("an integer score");
        let is_bound = words.next_if(|word| ["lowerbound", "upperbound"].contains(word)).is_some();
        if words.next_if_eq(&"wdl").is_some() {
            let mut next = || words.next().and_then(|word| word.parse::<u32>().ok()).expect("three integers");
            assert_eq!(next() + next() + next(), 1000, "{text}");
        }
        let mut number = |name: &str| -> u64 {
            assert_eq!(words.next(), Some(name), "{text}");
            words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
        };
        for name in ["nodes", "nps", "hashfull", "tbhits", "time"] {
            number(name);
        }
        assert_eq!(words.next(), Some("pv"), "{text}");
        let pv: Vec<String> = words.map(str::to_string).collect();
        check_line(board, &pv, text);
        Some(Line { depth: depth as u32, multipv: multipv as usize, is_bound, pv })
    }
}

/// A line has a move and is legal to its end, which is not after that of the game.
fn check_line(board: &Board, pv: &[String], text: &str) {
    assert!(!pv.is_empty(), "{text}");
    let mut board = *board;
    for (ply, mv) in pv.iter().enumerate() {
        assert!(ply == 0 || !board.insufficient_material(), "{mv} after a draw: {text}");
        let mv = board.parse_uci(mv).unwrap_or_else(|error| panic!("{mv}: {error} in {text}"));
        board = board.after(mv);
    }
}

/// Checks the lines of a search of `game`, and gives them in order.
pub fn check_search(game: &Game, output: &[String]) -> Vec<Line> {
    let board = game.board();
    let lines: Vec<Line> = output.iter().filter_map(|text| Line::parse(text, board)).collect();
    let last = output.last().expect("there is a bestmove");
    let mut words = last.split(' ').skip(1);
    let best = words.next().expect("a best move");
    let first = lines.iter().rfind(|line| line.multipv == 1).unwrap_or_else(|| panic!("no info before {last}"));
    assert_eq!(first.pv[0], best, "the best move begins the last line");
    let mv = board.parse_uci(best).expect("the best move is legal");
    if words.next() == Some("ponder") {
        let reply = words.next().expect("a move to ponder on");
        board.after(mv).parse_uci(reply).expect("the move to ponder on is legal");
    }
    lines
}

/// What the program prints with these arguments, with which it has to succeed.
pub fn output(arguments: &[&str]) -> Vec<String> {
    let (lines, status) = Program::start_with(arguments).wait();
    assert!(status.success(), "{arguments:?}: {status}");
    lines
}

/// What the program prints with commands as arguments, of which one has to fail.
pub fn failure(arguments: &[&str]) -> Vec<String> {
    let (lines, status) = Program::start_with(arguments).wait();
    assert_eq!(status.code(), Some(1), "{arguments:?}: {lines:?}");
    lines
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary folder has a plain name")
}
