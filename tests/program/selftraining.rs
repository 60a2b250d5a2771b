//! Self-trainings that are killed, interrupted and resumed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::driver::{folder, kill_until_it_ends, tool};

fn selftrain(folder: &Path, arguments: &[&str]) -> Child {
    tool("selftrain", &[&["--out", folder.to_str().unwrap()], arguments].concat(), Stdio::piped())
}

/// The page of a training is whole, whenever its writer was killed.
fn check_page(folder: &Path) -> Option<String> {
    let page = fs::read_to_string(folder.join("report.html")).ok()?;
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "a part of a page");
    Some(page)
}

/// Starts a small training, or resumes it.
fn go_on(folder: &Path, threads: &str) -> Child {
    check_page(folder);
    let small =
        ["--method", "comparison", "--positions", "150", "--nodes", "40", "--label-nodes", "80", "--batch", "20"];
    let matches = [
        ["--match-games", "6"],
        ["--match-nodes", "40"],
        ["--long-games", "4"],
        ["--long-nodes", "40"],
        ["--threads", threads],
    ]
    .concat();
    let rest: &[&str] = match folder.join("state.json").exists() {
        true => &["--resume"],
        false => &["--generations", "2"],
    };
    selftrain(folder, &[&small[..], &matches, rest].concat())
}

fn weights(folder: &Path) -> [Vec<u8>; 2] {
    [1, 2].map(|number| fs::read(folder.join(format!("generation-{number:03}/weights.json"))).unwrap())
}

/// Files that a killed process left half-written.
fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<_> =
        files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "tmp" || end == "new")).collect();
    found.extend(folders.iter().flat_map(|folder| unfinished(folder)));
    found
}

#[test]
fn a_killed_self_training_resumes_with_the_same_weights() {
    let [whole, killed] = ["selftrain-whole", "selftrain-killed"].map(folder);
    assert!(go_on(&whole, "1").wait().unwrap().success());
    kill_until_it_ends(Duration::from_millis(150), || go_on(&killed, "2"));
    assert!(weights(&whole) == weights(&killed));
    assert_eq!(unfinished(&killed), Vec::<PathBuf>::new());
    for folder in [whole, killed] {
        let page = check_page(&folder).expect("it has a page");
        assert!(page.contains("<h2>Generations</h2>") && !page.contains("location.reload()"), "the last page");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_self_training_prints_how_to_resume() {
    let folder = folder("selftrain-interrupted");
    let mut program = Command::new(env!("CARGO_BIN_EXE_dyad"));
    program.args(["selftrain", "--out"]).arg(&folder).args(["--nodes", "300", "--long-games", "2", "--threads", "2"]);
    let running = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while fs::metadata(folder.join("generation-001/games.pgn")).map_or(0, |file| file.len()) == 0 {
        thread::sleep(Duration::from_millis(10));
    }
    // Another process is refused, with the number of this one.
    let second = Command::new(env!("CARGO_BIN_EXE_dyad")).args(["selftrain", "--out"]).arg(&folder).output().unwrap();
    let refused = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && refused.contains(&format!("process {}", running.id())), "{refused}");
    let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let ended = running.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success() && text.contains("--resume"), "{text}");
    assert!(folder.join("state.json").exists());
    // The number was used and reported, with those of the preset.
    let settings = fs::read_to_string(folder.join("settings.json")).unwrap();
    assert!(settings.contains("\"nodes\": 300") && !settings.contains("label-nodes"), "{settings}");
    let reported = String::from_utf8_lossy(&ended.stderr).into_owned();
    let numbers = "regression: 300 nodes a move (1,200 from generation 4 on), 200,000 positions a generation";
    assert!(reported.contains(numbers), "{reported}");
    // Without a number of generations an interrupt is how it ends; with one, it is not complete.
    let games = || fs::metadata(folder.join("generation-001/games.pgn")).map_or(0, |file| file.len());
    let before = games();
    let mut running = selftrain(&folder, &["--resume", "--generations", "2"]);
    while games() <= before {
        thread::sleep(Duration::from_millis(10));
    }
    let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(1));
}
