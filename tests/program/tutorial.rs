//! The tutorials, typed as they are written, with smaller numbers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::driver::folder;

/// What is typed: the blocks of shell commands, in order.
fn commands(markdown: &str) -> String {
    let blocks = markdown.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().expect("a block ends")).collect()
}

/// What the tutorial says is printed: the lines of the blocks without a language.
fn printed(markdown: &str) -> Vec<&str> {
    let mut language = None;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if let Some(name) = line.strip_prefix("```") {
            language = if language.is_none() { Some(name) } else { None };
        } else if language == Some("") {
            lines.push(line);
        }
    }
    lines
}

/// Whether `line` has the words of `shown` in that order; times and speeds may stand between them.
fn shows(line: &str, shown: &str) -> bool {
    let mut words = line.split_whitespace().map(|word| word.trim_end_matches(';'));
    shown.split_whitespace().all(|word| words.any(|other| other == word))
}

/// Runs a tutorial in a copy of its folder. `smaller` has numbers of the tutorial and what they are here: what takes an
/// hour takes seconds.
fn follow(name: &str, tutorial: &str, smaller: &[(&str, &str)]) -> (String, std::path::PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder(name);
    let (place, bin) = (folder.join("docs/tutorial"), folder.join("bin"));
    fs::create_dir_all(&place).unwrap();
    fs::create_dir_all(&bin).unwrap();
    fs::copy(root.join("docs/tutorial/games.pgn"), place.join("games.pgn")).unwrap();
    symlink(env!("CARGO_BIN_EXE_dyad"), bin.join("dyad")).unwrap();
    // The program is built already.
    fs::write(bin.join("cargo"), "#!/bin/sh\n[ \"$*\" = \"install --path .\" ]\n").unwrap();
    fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut script = commands(&fs::read_to_string(root.join("docs/tutorial").join(tutorial)).unwrap());
    for (number, small) in smaller {
        assert!(script.contains(number), "{tutorial} has no {number}");
        script = script.replace(number, small);
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let ran = Command::new("sh").args(["-e", "-c", &script]).current_dir(&folder).env("PATH", path).output().unwrap();
    let text = [&ran.stdout[..], &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat();
    assert!(ran.status.success(), "{script}\n{text}");
    (text, place)
}

#[test]
fn five_minutes() {
    let smaller = [("--out samples.bin", "--out samples.bin --positions 300"), ("--games 60", "--games 4")];
    let (text, place) = follow("tutorial-minutes", "README.md", &smaller);
    for said in ["300 positions written", "iteration 1  done", "finished: iteration", "Games    4: ", "pawns"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(fs::read_to_string(place.join("first/report.html")).unwrap().ends_with("</html>\n"));
}

#[test]
#[ignore = "a training and 60 games: .ci/nightly runs it"]
fn five_minutes_print_what_they_say() {
    let (text, _) = follow("tutorial-printed", "README.md", &[]);
    let tutorial = include_str!("../../docs/tutorial/README.md");
    let shown = printed(tutorial);
    assert!(shown.len() >= 8, "{shown:?}");
    for line in shown {
        assert!(text.lines().any(|other| shows(other, line)), "not printed: {line}\n{text}");
    }
}

#[test]
fn one_hour() {
    // Enough positions and games to prove the first generation stronger: they are the same on every machine.
    let small = "--positions 2000 --nodes 60 --match-games 40 --match-nodes 60";
    let (first, second) = (format!("--generations 1 {small}"), format!("--generations 2 {small}"));
    let smaller = [
        ("--generations 9", first.as_str()),
        ("--generations 10", second.as_str()),
        ("--games 100", "--games 2"),
        ("--nodes 1000", "--nodes 60"),
        ("--positions 60000", "--positions 200"),
    ];
    let (text, place) = follow("tutorial-hour", "hour.md", &smaller);
    for said in ["finished: 1 generation done,", "finished: 2 generations done,", "finished: iteration", "bestmove"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    for file in ["my-training/report.html", "second/report.html"] {
        assert!(fs::read_to_string(place.join(file)).unwrap().ends_with("</html>\n"), "{file}");
    }
}
