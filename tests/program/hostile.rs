//! Lines that no GUI should send, and some do.
//!
//! After each of them the engine answers `isready`, and shows the last valid position, or none after a refused one.
//! Random lines are those of `fuzz/` and of `tools/torture`.

use std::fs;
use std::path::Path;

use dyad_engine::board::Board;

use crate::driver::Program;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A program that is sent hostile lines.
struct Target {
    program: Program,
    /// The position that it must show while none is refused.
    expected: String,
    /// Whether the last `position` was refused.
    refused: bool,
}

impl Target {
    fn start() -> Target {
        Target { program: Program::start(), expected: START.to_string(), refused: false }
    }

    /// Sends a line, stops the search that the line may have started, and asks the engine whether it is still there and
    /// where it stands.
    fn survive(&mut self, line: &[u8]) {
        self.program.send_bytes(line);
        self.program.send("\nstop\nisready");
        self.program.until("readyok");
        let text = String::from_utf8_lossy(line).to_ascii_lowercase();
        let shown: String = text.chars().take(300).collect();
        match self.program.position() {
            Ok(fen) if self.refused && text.contains("ucinewgame") => {
                assert_eq!(fen, START, "after {shown:?}");
                self.expected = fen;
            }
            Ok(fen) if fen != self.expected && completes(&String::from_utf8_lossy(line), &fen) => self.expected = fen,
            Ok(fen) => {
                assert!(!self.refused || text.contains("position"), "{fen} is back after {shown:?}");
                assert_eq!(fen, self.expected, "after {shown:?}");
            }
            Err(error) => {
                assert!(self.refused || text.contains("position"), "{error} after {shown:?}");
                self.refused = true;
                return;
            }
        }
        self.refused = false;
    }
}

/// Whether this is a position that a line sets up with fields that are not those of a strict FEN.
fn completes(line: &str, fen: &str) -> bool {
    let mut words = line.split_whitespace();
    let (Some("position"), Some("fen"), Some(placement)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let side = words.next().unwrap_or("w");
    let board = Board::from_fen(&format!("{placement} {side} - - 0 1"));
    board.is_ok_and(|board| board.fen().split(' ').take(2).eq(fen.split(' ').take(2)))
}

/// The file holds a line each: `- LINE` must not set up a position, `+ FEN = LINE` must set it up.
/// In lines, `\t`, `\r`, `\\` and `\xHH` stand for bytes.
#[test]
fn the_corpus() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile.txt");
    let corpus = fs::read_to_string(path).expect("the corpus is there");
    let mut target = Target::start();
    let mut count = 0;
    for entry in corpus.lines().filter(|entry| !entry.is_empty() && !entry.starts_with('#')) {
        let line = match entry.split_at_checked(2) {
            Some(("- ", line)) => line,
            Some(("+ ", pair)) => {
                let (fen, line) = pair.split_once(" = ").expect("a FEN and a line");
                target.expected = fen.to_string();
                line
            }
            _ => panic!("an entry that is none: {entry}"),
        };
        target.survive(&unescape(line));
        count += 1;
    }
    assert!(count >= 300, "{count}");
    target.program.quit();
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'\\') => b'\\',
            Some(b'x') => {
                let digits = [rest.next().expect("a digit"), rest.next().expect("another digit")];
                let digits = str::from_utf8(&digits).expect("digits are ASCII");
                u8::from_str_radix(digits, 16).expect("digits are hexadecimal")
            }
            other => panic!("unknown escape {other:?} in {text}"),
        });
    }
    bytes
}

#[test]
fn long_lines() {
    const LONG: usize = 10 << 20;
    let mut target = Target::start();
    target.program.send("position startpos moves e2e4");
    target.expected = target.program.fen();
    for (beginning, filling) in [
        ("position startpos moves ", "g1f3 g8f6 f3g1 f6g8 "),
        ("position startpos moves ", "x"),
        ("position fen ", "8/"),
        ("position fen ", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 "),
        ("go ", "depth 1 "),
        ("go ", "searchmoves "),
        ("go searchmoves ", "e2e4 "),
        ("go depth ", "9"),
        ("setoption name WeightsFile value ", "a"),
        ("setoption name ", "value "),
        ("isready ", "isready "),
        ("uci", "uci"),
        ("", "x"),
        ("", " "),
        ("", "\0"),
        ("", "\u{fffd}"),
        ("", "stop "),
        ("debug ", "on "),
        ("register name ", "a "),
        ("genfens ", "1 "),
    ] {
        let line = |length: usize| {
            let mut line = beginning.to_string();
            while line.len() < length {
                line.push_str(filling);
            }
            line
        };
        // Over the cap, and just below it where that sets up no position.
        target.survive(line(LONG).as_bytes());
        if !filling.starts_with("g1f3") {
            target.survive(&line(1 << 20).as_bytes()[..1 << 20]);
        }
    }
    target.program.quit();
}

#[test]
fn one_info_string_on_a_line_too_long() {
    let mut program = Program::start();
    program.send(&"x ".repeat(5 << 20));
    let said = program.sync();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("info string dropped a line of 10485760 bytes"), "{said:?}");
    program.quit();
}

/// The position before is not searched in place of the one that was dropped.
#[test]
fn a_position_too_long_is_refused() {
    let mut program = Program::start();
    program.send("position startpos moves e2e4 e7e5");
    program.send(&format!("position startpos moves {}\ngo depth 1", "g1f3 g8f6 f3g1 f6g8 ".repeat(60_000)));
    assert_eq!(program.until("bestmove").last().map(String::as_str), Some("bestmove 0000"));
    program.quit();
}
