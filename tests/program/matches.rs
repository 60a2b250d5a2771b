//! Matches and their report on the command line.

use std::fs;

use crate::driver::{output, refusal, text};

#[test]
fn a_match_writes_its_games_and_its_result_for_the_report() {
    let folder = std::env::temp_dir().join(format!("dyad-match-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (pgn, results) = (folder.join("games.pgn"), folder.join("matches.jsonl"));
    let mut played = Vec::new();
    for threads in ["1", "2"] {
        let lines = output(&[
            "match",
            "material",
            "default",
            "--nodes",
            "200",
            "--games",
            "4",
            "--seed",
            "9",
            "--concurrency",
            threads,
            "--sprt",
            "-10",
            "10",
            "0.05",
            "0.05",
            "--pgn",
            text(&pgn),
            "--results",
            text(&results),
        ]);
        for name in ["Games    4: ", "Score ", "Elo ", "nElo ", "LOS ", "Pairs ", "LLR ", "Endings ", "Ended "] {
            assert!(lines.iter().any(|line| line.starts_with(name)), "{name} in {lines:?}");
        }
        played.push(fs::read_to_string(&pgn).unwrap());
    }
    assert_eq!(played[0].matches("[Event ").count(), 4);
    assert_eq!(played[1], played[0].repeat(2), "the same games on two threads");
    assert_eq!(fs::read_to_string(&results).unwrap().lines().count(), 2);

    let page = output(&["report", text(&folder)]);
    let html = fs::read_to_string(page.last().expect("where the page is")).unwrap();
    assert!(html.contains("<h2>Matches</h2>") && html.contains("material - default"));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn faults_are_told_in_a_sentence() {
    let between = ["match", "default", "material"];
    for (arguments, expected) in [
        (&["match", "default", "/nowhere/weights.json"][..], "/nowhere/weights.json"),
        (&[&between[..], &["--sprt", "5", "0", "0.05", "0.05"]].concat(), "elo1"),
        (&[&between[..], &["--openings", "/nowhere/openings.epd"]].concat(), "cannot open /nowhere/openings.epd"),
        (&[&between[..], &["--options-a", "nonsense=1"]].concat(), "there is no option 'nonsense'"),
        (&[&between[..], &["--options-a", "depth=4294967297"]].concat(), "option depth: '4294967297'"),
        (&[&between[..], &["--nodes", "10", "--depth", "2"]].concat(), "cannot be used with"),
        (&[&between[..], &["--tc", "1.8e19+1.8e19"]].concat(), "is not a number of seconds"),
        (&[&between[..], &["--draw-adjudication", "1", "0", "5"]].concat(), "draw adjudication takes"),
        (&[&between[..], &["--concurrency", "18446744073709551615"]].concat(), "threads must be 1 to 1024"),
        (&["report", "/nowhere"], "/nowhere"),
    ] {
        let told = refusal(arguments);
        assert!(told.contains(expected), "{arguments:?}: expected {expected}, told {told}");
    }
}
