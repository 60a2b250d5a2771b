//! Conversations written down in `tests/data/conversations`.
//!
//! Lines that begin with `> ` are sent, all others are what comes back, in order and without gaps.
//! A `*` in them stands for any text, a line `...` for any lines. `#` begins a comment.

use std::fs;
use std::path::Path;

use crate::driver::Program;

#[test]
fn as_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/conversations");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let script = fs::read_to_string(&path).expect("it is text");
        hold(&path.display().to_string(), &script);
        count += 1;
    }
    assert!(count > 0);
}

fn hold(name: &str, script: &str) {
    let mut program = Program::start();
    let mut skip = false;
    for (number, step) in script.lines().enumerate().filter(|(_, step)| !step.is_empty() && !step.starts_with('#')) {
        if let Some(line) = step.strip_prefix("> ") {
            program.send(line);
        } else if step == "..." {
            skip = true;
        } else {
            let mut line = program.line();
            while skip && !matches(step, &line) {
                line = program.line();
            }
            assert!(matches(step, &line), "{name}, line {}: expected {step:?}, got {line:?}", number + 1);
            skip = false;
        }
    }
    let rest = program.quit();
    assert!(rest.is_empty() || skip, "{name}: not expected: {rest:?}");
}

fn matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}
