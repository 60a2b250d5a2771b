//! Experiments on the command line: killed and resumed, and what they make in matches.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::driver::{folder, kill_until_it_ends, output, refusal, text, tool};

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tutorial/games.pgn");

fn results(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("results.json")).unwrap()).unwrap()
}

#[test]
fn an_experiment_that_is_killed_finds_the_same_and_its_network_plays() {
    let folder = folder("experiment");
    let (whole, killed) = (folder.join("whole"), folder.join("killed"));
    let arguments = |out| ["deepchess", "--size", "tiny", "--games-file", GAMES, "--out", out, "--threads", "1"];
    let printed = output(&[&["experiment"], &arguments(text(&whole))[..]].concat());
    assert!(printed[0].starts_with("deepchess: ") && printed[0].ends_with("results.md"), "{printed:?}");
    let begun = arguments(text(&killed));
    kill_until_it_ends(Duration::from_millis(300), || {
        let resumed = ["--resume", "--out", text(&killed), "--threads", "1"];
        let is_begun = killed.join("settings.json").exists();
        if !is_begun {
            fs::remove_dir_all(&killed).ok();
        }
        tool("experiment", if is_begun { &resumed[..] } else { &begun[..] }, Stdio::null())
    });
    let printed = refusal(&[&["experiment"], &arguments(text(&whole))[..]].concat());
    assert!(printed.contains("continue it with --resume"), "{printed}");
    let [one, other] = [&whole, &killed].map(|folder| results(folder));
    assert_eq!((&one["finished"], &one["hashes"]), (&true.into(), &other["hashes"]));
    assert!(fs::read_to_string(killed.join("results.md")).unwrap().contains("Which of two positions was won?"));

    let network = whole.join("steps/distilled/network.json");
    let player = format!("deepchess:{}", text(&network));
    let lines = output(&["match", &player, "material", "--nodes", "20", "--games", "2"]);
    assert!(lines.iter().any(|line| line.contains("network")), "{lines:?}");

    for (arguments, expected) in [
        (&["experiment", "--out", "x"][..], "no experiment is called ''"),
        (&["match", "deepchess:/nowhere.bin", "material"], "/nowhere.bin"),
    ] {
        let printed = refusal(arguments);
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
}
