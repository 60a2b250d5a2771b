//! `dyad annotate`, driven as a user does.

use std::fs;
use std::process::Command;

use dyad_formats::pgn::GameTexts;
use serde_json::Value;

use crate::driver::{folder, refusal};

const GAMES: &str = "[Event \"Club\"]\n[White \"Anna\"]\n[Black \"Bert\"]\n[Result \"1-0\"]\n\n\
    1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n[White \"Bert\"]\n[Black \"Anna\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";

#[test]
fn games_become_annotated_games_and_a_page() {
    let folder = folder("annotate");
    fs::write(folder.join("games.pgn"), GAMES).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyad"));
    command.current_dir(&folder).args(["annotate", "games.pgn", "--nodes", "2000", "--threads", "2"]);
    let output = command.args(["--player", "bert", "--html", "games.html"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.starts_with("games.annotated.pgn: 2 games, 11 half-moves, "), "{printed}");
    let out = folder.join("games.annotated.pgn");
    let games: Vec<_> = GameTexts::open(&out).unwrap().map(|text| text.unwrap().parse(None).unwrap()).collect();
    assert_eq!(games.iter().map(|game| game.moves.len()).collect::<Vec<_>>(), [7, 4]);
    let text = fs::read_to_string(&out).unwrap().replace('\n', " ");
    for expected in ["Nf6 $4 {[%eval #1]", "3... Nf6 allows mate: 4. Qxf7#; ", "2. g4 $4 {[%eval #-1]", "[%cal G"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let page = fs::read_to_string(folder.join("games.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<section class=\"game\"").count() == 2);
    // Bert has Black in the first game, White in the second.
    assert_eq!(page.matches(" data-turned>").count(), 1);
}

#[test]
fn commands_answer_in_json() {
    let position = "position fen 6k1/5ppp/8/8/1b6/8/3N1PPP/6K1 w - - 0 1";
    let commands = [position, "explain --json", "explain Nf3 h3 nodes 3000 --json", "bench 1 --json"];
    let output = Command::new(env!("CARGO_BIN_EXE_dyad")).args(commands).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let values: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [evaluation, comparison, bench] = &values[..] else { panic!("{printed}") };
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(evaluation), ["centipawns", "contributions", "fen", "pieces"]);
    let expected = ["centipawns", "claims", "depth", "explanation", "fen", "moves", "topics"];
    assert_eq!(keys(comparison), expected);
    assert_eq!(keys(&comparison["moves"][0]), ["leaf", "line", "san", "score", "uci"]);
    assert!(comparison["explanation"].as_str().unwrap().contains("knight on d2 hanging"), "{comparison}");
    assert_eq!(comparison["claims"][0]["kind"], "gain");
    assert_eq!(keys(bench), ["depth", "milliseconds", "nodes", "nps", "positions"]);
    assert_eq!(bench["positions"].as_array().unwrap().len(), 50);
}

#[test]
fn faults_are_reported() {
    let folder = folder("annotate-faults");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    fs::write(at("games.pgn"), GAMES).unwrap();
    fs::write(at("empty.pgn"), "\n").unwrap();
    let [games, missing, empty, page] = ["games.pgn", "missing.pgn", "empty.pgn", "no/such/page.html"].map(at);
    let cases = [
        (vec!["annotate", &missing], "cannot open "),
        (vec!["annotate", &empty], "no game in "),
        (vec!["annotate", &games, "--html", &page], "cannot write "),
        (vec!["annotate", &games, "--out", &games], "would be lost"),
        (vec!["annotate", &games, "--player", "Anna"], "--html"),
        (vec!["annotate", &games, "--weights", &missing], "missing.pgn"),
        (vec!["annotate", &games, "--nodes", "0"], "expected a whole number, at least 500"),
        (vec!["annotate"], "Usage"),
    ];
    for (arguments, expected) in cases {
        let printed = refusal(&arguments);
        assert!(printed.contains(expected), "{arguments:?}: expected {expected}, found {printed}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}
