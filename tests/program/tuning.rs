//! Constants of the search on the command line: matches between two settings, and their tuning.

use std::fs;
use std::process::Stdio;

use crate::driver::{folder, output, refusal, text, tool};

#[test]
fn two_settings_play_each_other() {
    let folder = folder("settings");
    let play = |name: &str, set: &[&str]| {
        let pgn = folder.join(name);
        let lines = output(
            &[&["match", "default", "default", "--nodes", "300", "--games", "4", "--pgn", text(&pgn)], set].concat(),
        );
        let games = fs::read_to_string(&pgn).unwrap();
        (games, lines.into_iter().find(|line| line.starts_with("Set")))
    };
    let (same, none) = play("same", &[]);
    let (other, printed) =
        play("other", &["--set", "A:rfp_factor=250", "--set", "A:qs_see=150", "--set", "B:lmr_root=0"]);
    assert_eq!(none, None);
    assert_eq!(printed.as_deref(), Some("Set      A: qs_see=150, rfp_factor=250"));
    assert_ne!(same, other);
    for (wrong, expected) in [
        ("rfp_factor=250", "A:name=value"),
        ("A:nonsense=1", "no search parameter 'nonsense'"),
        ("A:rfp_depth=99", "rfp_depth must be 5 to 14, not 99"),
    ] {
        let printed = refusal(&["match", "default", "default", "--set", wrong]);
        assert!(printed.contains(expected), "{wrong}: {printed}");
    }
}

#[test]
fn a_tuning_is_listed_played_and_resumed() {
    let folder = folder("tuning");
    let (parameters, out) = (folder.join("parameters.txt"), folder.join("run"));
    let listed = output(&["spsa", "--list", "rfp_*", "qs_see"]);
    assert!(listed.contains(&"rfp_depth, int, 9, 5, 14, 0.5, 0.002".to_string()), "{listed:?}");
    fs::write(&parameters, listed.join("\n")).unwrap();
    let settings = ["--nodes", "60", "--pairs", "4", "--batch", "2", "--threads", "2"];
    let lines = output(&[&["spsa", text(&parameters), "--out", text(&out)], &settings[..]].concat());
    let printed = "finished: 4 pairs, see ";
    assert!(lines.iter().any(|line| line.starts_with(printed)), "{lines:?}");
    let tuned = fs::read_to_string(out.join("parameters.txt")).unwrap();
    assert_eq!(tuned.lines().count(), listed.len());
    assert!(fs::read_to_string(out.join("report.html")).unwrap().matches("<svg").count() == listed.len());
    let again = output(&[&["spsa", text(&parameters), "--out", text(&out), "--resume"], &settings[..]].concat());
    assert!(again.iter().any(|line| line.starts_with(printed)), "{again:?}");
    assert_eq!(fs::read_to_string(out.join("parameters.txt")).unwrap(), tuned);
    for (arguments, expected) in [
        (&["spsa", text(&parameters), "--out", text(&out)][..], "holds a tuning already"),
        (&["spsa", "--list", "nonsense"], "no search parameter 'nonsense'"),
        (&["spsa", "--list", "rfp_factor", "--pairs", "3"], "'--list [<NAME>...]' cannot be used with"),
        (&["spsa", "--list-weights", "a.bin", "--nodes", "5"], "cannot be used with"),
        (&["spsa", "/nowhere.txt", "--out", "run"], "cannot read /nowhere.txt"),
        (&["spsa", "--out", "/nowhere", "--resume"], "cannot read /nowhere/settings.json"),
        (
            &["spsa", "--out", text(&out), "--resume", "--pairs", "5"],
            "--resume: schedule.pairs is 5 here, and 4 in the run",
        ),
    ] {
        let printed = refusal(arguments);
        assert!(printed.contains(expected), "{arguments:?}: expected {expected}, found {printed}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_tuning_keeps_what_is_done() {
    use std::process::Command;
    use std::thread;
    use std::time::Duration;

    let folder = folder("tuning-interrupted");
    let (parameters, out) = (folder.join("parameters.txt"), folder.join("run"));
    fs::write(&parameters, "rfp_factor, int, 139, 60, 260, 40, 0.1\n").unwrap();
    let settings = ["--nodes", "40", "--pairs", "100000", "--batch", "1", "--checkpoint-seconds", "0"];
    let mut running = tool("spsa", &[&[text(&parameters), "--out", text(&out)], &settings[..]].concat(), Stdio::null());
    while !out.join("state.json").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(1), "it is not complete");
    let state: serde_json::Value =
        serde_json::from_str(fs::read_to_string(out.join("state.json")).unwrap().lines().next().unwrap()).unwrap();
    assert!(state["done"].as_u64().unwrap() >= 1, "{state}");
}
