//! Trainings whose disk is full.
//!
//! A limit of file sizes stands for the disk: a write beyond it fails as one does on a full disk. Each leg has twice
//! the room of the one before, until one ends by itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use dyad_trainer::data::label::partial_results;

use crate::driver::folder;
use crate::training::{same_weights, write_samples};

/// Runs a tool that can make no file longer than this.
fn with_room(blocks: u64, arguments: &[&str]) -> Output {
    // The signal that comes with such a write would end the program; a full disk sends none.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_dyad")]).args(arguments);
    command.output().expect("there is a shell")
}

/// Runs it with more and more room, until it ends well; how often it did not. `arguments` resume from what there is.
fn until_there_is_room(arguments: impl Fn() -> Vec<String>) -> usize {
    for failures in 0..24 {
        let arguments = arguments();
        let output = with_room(8 << failures, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return failures;
        }
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {printed}");
        assert!(!printed.trim().is_empty() && !printed.contains("panicked"), "{arguments:?}: {printed}");
    }
    panic!("there was room enough");
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the build's folder is text")
}

#[test]
fn a_training_without_room_loses_nothing_but_time() {
    let folder = folder("full-train");
    let samples = folder.join("samples");
    write_samples(&samples, 200);
    let begin = |out: &Path| {
        let small = ["--batch", "20", "--iterations", "2", "--keep-going"];
        let rest = ["--threads", "2"];
        strings(&[&["train", text(&samples), "--out", text(out)], &small[..], &rest].concat())
    };
    let (whole, full) = (folder.join("whole"), folder.join("full"));
    assert_eq!(status_with_room(&begin(&whole)), Some(0));
    let failures = until_there_is_room(|| match full.join("settings.json").exists() {
        true => strings(&["train", "--out", text(&full), "--resume", "--threads", "1"]),
        false => begin(&full),
    });
    assert!(failures > 0, "there was room from the beginning");
    same_weights(&whole, &full);
}

#[test]
fn labels_without_room_lose_nothing_but_time() {
    let folder = folder("full-label");
    let samples = folder.join("samples");
    write_samples(&samples, 2000);
    let label = |out: &Path| strings(&["label", text(&samples), "--out", text(out), "--nodes", "20", "--threads", "2"]);
    let (whole, full) = (folder.join("whole"), folder.join("full"));
    assert_eq!(status_with_room(&label(&whole)), Some(0));
    let failures = until_there_is_room(|| match partial_results(&full).exists() {
        true => [label(&full), strings(&["--resume"])].concat(),
        false => label(&full),
    });
    assert!(failures > 0, "there was room from the beginning");
    assert!(fs::read(&whole).unwrap() == fs::read(&full).unwrap());
}

/// The exit status without a limit.
fn status_with_room(arguments: &[String]) -> Option<i32> {
    let output = Command::new(env!("CARGO_BIN_EXE_dyad")).args(arguments).output().expect("the program was built");
    output.status.code()
}
