//! Matches and their report on the command line.

use std::fs;
use std::path::Path;
use std::process::Command;
#[cfg(unix)]
use std::process::Stdio;

use crate::driver::{folder, output, refusal, text};

#[test]
fn a_match_writes_its_games_and_prints_its_result() {
    let folder = folder("match");
    let pgn = folder.join("games.pgn");
    let mut played = Vec::new();
    for threads in ["1", "2"] {
        let words = format!(
            "match material default --nodes 200 --games 4 --seed 9 --threads {threads} --sprt -10 10 0.05 0.05 --pgn"
        );
        let lines = output(&words.split(' ').chain([text(&pgn)]).collect::<Vec<_>>());
        for name in ["Games    4: ", "Score ", "Elo ", "nElo ", "LOS ", "Pairs ", "LLR ", "Endings ", "Ended "] {
            assert!(lines.iter().any(|line| line.starts_with(name)), "{name} in {lines:?}");
        }
        played.push(fs::read_to_string(&pgn).unwrap());
        fs::remove_file(&pgn).unwrap();
    }
    assert_eq!(played[0].matches("[Event ").count(), 4);
    assert!(played[0].contains("[Event \"dyad match, seed 9\"]") && played[0].contains("[TimeControl \"-\"]"));
    assert_eq!(played[1], played[0], "the same games on two threads");
}

/// The arguments of a match of six games, which are written to this file.
fn six_games(pgn: &Path) -> Vec<&str> {
    let setup = ["match", "material", "default", "--nodes", "200", "--games", "6", "--seed", "9", "--threads", "2"];
    [&setup[..], &["--pgn", text(pgn)]].concat()
}

#[test]
fn a_match_that_was_killed_is_resumed_from_its_games() {
    let folder = folder("resumed-match");
    let pgn = folder.join("games.pgn");
    let resume = [&six_games(&pgn)[..], &["--resume"]].concat();
    let counts = |arguments: &[&str]| {
        let lines = output(arguments).into_iter();
        let of_all = |line: &String| ["Match", "Games", "Score", "Pairs"].iter().any(|name| line.starts_with(name));
        lines.filter(of_all).collect::<Vec<_>>()
    };
    let printed = refusal(&resume);
    assert!(printed.contains("games.pgn does not exist; begin without --resume"), "{printed}");
    let whole = counts(&six_games(&pgn));
    assert!(whole.iter().any(|line| line.starts_with("Games    6: ")), "{whole:?}");
    let games = fs::read_to_string(&pgn).unwrap();
    let begins: Vec<usize> = games.match_indices("[Event ").map(|(byte, _)| byte).collect();
    assert_eq!(begins.len(), 6);
    let printed = refusal(&six_games(&pgn));
    assert!(printed.contains("games.pgn exists: continue it with --resume, or remove it"), "{printed}");

    let between = [0, begins[1], begins[3], games.len()];
    let amid = [begins[0] + 5, begins[0] + 300, begins[3] - 20, begins[4] + 150];
    for part in between.into_iter().chain(amid).map(|byte| &games[..byte]) {
        fs::write(&pgn, part).unwrap();
        assert_eq!(counts(&resume), whole, "{part}");
        assert_eq!(fs::read_to_string(&pgn).unwrap(), games, "{part}");
    }
    let lines = output(&resume);
    assert!(lines.contains(&"Endings   (without the 6 games played before)".to_string()), "{lines:?}");

    let first = &games[..begins[1]];
    let swapped =
        games.replace("\"material\"", "\"\"").replace("\"default\"", "\"material\"").replace("\"\"", "\"default\"");
    let other = "[Event \"Club\"]\n[Round \"1.1\"]\n[White \"material\"]\n[Black \"default\"]\n\n1. e4 1-0\n\n";
    for (file, further, expected) in [
        (other.to_string() + &games, &[][..], "not the games that are to be continued"),
        (games.repeat(2), &[], "game 4.1: Round is \"1.1\", and would be \"4.1\" now"),
        (games.replace(first, ""), &[], "line 1: game 1.1: Round is \"1.2\", and would be \"1.1\" now"),
        (games.clone(), &["--variant", "chess960"], "line 1: game 1.1: the match has another opening now"),
        (swapped, &[], "line 1: game 1.1: White is \"default\", and would be \"material\" now"),
    ] {
        fs::write(&pgn, &file).unwrap();
        let printed = refusal(&[&resume[..], further].concat());
        assert!(printed.contains(expected), "expected {expected}, found {printed}");
        assert_eq!(fs::read_to_string(&pgn).unwrap(), file, "nothing is played");
    }
    assert!(refusal(&["match", "default", "material", "--resume"]).contains("--pgn"));
    fs::write(&pgn, &games).unwrap();
    let deeper: Vec<&str> = resume.iter().map(|&argument| if argument == "200" { "300" } else { argument }).collect();
    assert!(refusal(&deeper).contains("300 nodes a move, hash 16\" now"));
}

/// A match is played to its end and its games are saved, also if a pipe is closed or a log fills the disk.
#[cfg(unix)]
#[test]
fn a_match_is_kept_if_its_output_cannot_be_printed() {
    let folder = folder("unread-match");
    let pgn = folder.join("games.pgn");
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyad"));
        command.args(six_games(&pgn));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let kept = || fs::read_to_string(&pgn).unwrap().matches("[Event ").count();
    let mut child = command().spawn().expect("the program was built");
    drop((child.stdout.take(), child.stderr.take()));
    assert!(child.wait().unwrap().success());
    assert_eq!(kept(), 6);
    if cfg!(target_os = "linux") {
        fs::remove_file(&pgn).unwrap();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command().stdout(full).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains("cannot print: ") && !printed.contains("panicked"), "{printed}");
        assert_eq!(kept(), 6);
    }
}

/// A match that is stopped fails.
#[cfg(unix)]
#[test]
fn a_stopped_match_is_not_complete() {
    use std::thread;
    use std::time::Duration;

    let folder = folder("stopped-match");
    let pgn = folder.join("games.pgn");
    let players = ["match", "material", "default", "--nodes", "200", "--threads", "1"];
    let kept = ["--pgn", text(&pgn)];
    let two_games = || fs::read_to_string(&pgn).is_ok_and(|games| games.matches("[Event ").count() > 2);
    let stopped = |further: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyad"));
        command.args(players).args(["--games", "1000000"]).args(further);
        let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program was built");
        while !further.is_empty() && !two_games() {
            thread::sleep(Duration::from_millis(10));
        }
        // Without a file of games nothing shows that it has begun.
        thread::sleep(Duration::from_millis(300));
        let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        let output = running.wait_with_output().unwrap();
        let [summary, printed] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(summary.contains("because it was stopped"), "{summary}");
        printed
    };
    let printed = stopped(&kept);
    assert!(printed.contains(&format!("dyad: stopped; --resume continues from {}", pgn.display())), "{printed}");
    output(&[&players[..], &kept, &["--games", "2", "--resume"]].concat());
    let printed = stopped(&[]);
    assert!(printed.contains("dyad: stopped; the match is not complete"), "{printed}");
}

#[test]
fn errors_name_their_cause() {
    for (arguments, expected) in [
        (&["match", "default", "/nowhere/weights.json"][..], "/nowhere/weights.json"),
        (&["match", "default", "materiel"], "weights are a file, `default` or `material`"),
        (&["match", "default", "material", "--openings", "/nowhere.epd"], "cannot open /nowhere.epd"),
        (&["report", "/nowhere"], "/nowhere"),
    ] {
        let printed = refusal(arguments);
        assert!(printed.contains(expected), "{arguments:?}: expected {expected}, found {printed}");
    }
}
