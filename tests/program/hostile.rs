//! Lines that no GUI should send, and some do.
//!
//! After each of them the engine answers `isready`, and shows the last valid position, or none after a refused one.
//! Random lines are those of `fuzz/` and of `tools/torture`.

use std::fs;
use std::path::Path;

use crate::driver::Program;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// The file holds a line each: `- LINE` must not set up a position, `+ FEN = LINE` must set it up.
/// In lines, `\t`, `\r`, `\\` and `\xHH` stand for bytes.
#[test]
fn the_corpus() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile.txt");
    let corpus = fs::read_to_string(path).expect("the corpus is there");
    let (mut program, mut expected) = (Program::start(), Some(START.to_string()));
    let mut count = 0;
    for entry in corpus.lines().filter(|entry| !entry.is_empty() && !entry.starts_with('#')) {
        let (sets_up, line) = match entry.split_at_checked(2) {
            Some(("- ", line)) => (None, line),
            Some(("+ ", pair)) => {
                let (fen, line) = pair.split_once(" = ").expect("a FEN and a line");
                (Some(fen), line)
            }
            _ => panic!("an entry that is none: {entry}"),
        };
        // The search that the line may have started is stopped.
        program.send_bytes(&unescape(line));
        program.send("\nstop\nisready");
        program.until("readyok");
        let (position, text) = (program.position().ok(), line.to_ascii_lowercase());
        if let Some(fen) = sets_up {
            expected = Some(fen.to_string());
        } else if position.is_none() && text.contains("position") {
            expected = None;
        } else if expected.is_none() && text.contains("ucinewgame") {
            expected = Some(START.to_string());
        }
        assert_eq!(position, expected, "after {entry}");
        count += 1;
    }
    assert!(count >= 300, "{count}");
    program.quit();
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
fn one_info_string_on_a_line_too_long() {
    let mut program = Program::with(&"x ".repeat(5 << 20));
    let said = program.sync();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("info string dropped a line of 10485760 bytes"), "{said:?}");
    program.quit();
}

/// The position before is not searched in place of the one that was dropped.
#[test]
fn a_position_too_long_is_refused() {
    let mut program = Program::with("position startpos moves e2e4 e7e5");
    program.send(&format!("position startpos moves {}\ngo depth 1", "g1f3 g8f6 f3g1 f6g8 ".repeat(60_000)));
    assert_eq!(program.until("bestmove").last().map(String::as_str), Some("bestmove 0000"));
    program.quit();
}
