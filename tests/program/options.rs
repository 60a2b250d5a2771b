//! Options, in the ways in which GUIs set them.

use std::fs;

use crate::driver::{Program, after, check_search, folder};
use dyad_engine::eval::Weights;
use dyad_formats::weights_file;

#[test]
fn every_option_in_alphabetical_order_before_uci() {
    let mut program = Program::with("uci");
    let mut options: Vec<(String, String)> = program
        .until("uciok")
        .iter()
        .filter_map(|line| line.strip_prefix("option name "))
        .map(|option| option.split_once(" type ").expect("a type"))
        .filter_map(|(name, kind)| {
            let default = kind.split_once("default ")?.1;
            let default = default.split(" min ").next()?.split(" var ").next()?;
            Some((name.to_string(), default.to_string()))
        })
        .collect();
    assert!(options.len() >= 8);
    options.sort();
    program.quit();
    let mut program = Program::start();
    for (name, default) in &options {
        program.send(&format!("setoption name {name} value {default}"));
    }
    program.send("setoption name WeightsFile value \nsetoption name Clear Hash");
    assert!(program.sync().is_empty());
    program.send("uci");
    program.until("uciok");
    program.quit();
}

#[test]
fn the_documentation_lists_all_with_their_defaults() {
    let page = include_str!("../../docs/options.md");
    let rows: Vec<Vec<&str>> = page.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    let mut program = Program::with("uci");
    for line in program.until("uciok") {
        let Some((name, kind)) = line.strip_prefix("option name ").and_then(|rest| rest.split_once(" type ")) else {
            continue;
        };
        let row = rows.iter().find(|row| row.len() > 4 && row[1].contains(&format!("`{name}`")));
        let row = row.unwrap_or_else(|| panic!("no row on {name}"));
        if let Some(spin) = kind.strip_prefix("spin default ") {
            assert_eq!(spin.split(' ').next(), Some(row[3]), "default of {name}");
        }
    }
    program.quit();
}

#[test]
fn weights_from_a_file_and_back() {
    let mut program = Program::start();
    let eval = |program: &mut Program| {
        program.send("position startpos moves e2e4 d7d5 e4d5\neval");
        program.until("evaluation ").pop()
    };
    let embedded = eval(&mut program);
    program.send("setoption name WeightsFile value weights/material.json");
    let said = program.sync();
    let path = std::path::absolute("weights/material.json").expect("there is a current folder");
    assert!(said[0].starts_with(&format!("info string WeightsFile: {} (", path.display())), "{said:?}");
    let material = eval(&mut program);
    assert_ne!(material, embedded);
    // A file that is none changes nothing.
    program.send("setoption name WeightsFile value Cargo.toml");
    assert_eq!(eval(&mut program), material);
    for empty in ["<empty>", "", "<empty>"] {
        program.send(&format!("setoption name WeightsFile value {empty}"));
        assert_eq!(eval(&mut program), embedded);
    }
    program.quit();
}

#[test]
fn weights_that_differ_in_their_scale_alone_are_taken() {
    let folder = folder("scales");
    let files = [folder.join("once.json"), folder.join("twice.json")];
    let mut weights = Weights::material();
    weights_file::save(&weights, &files[0]).expect("the folder can be written to");
    weights.units.scale *= 2;
    weights_file::save(&weights, &files[1]).expect("as above");
    let mut program = Program::with("position fen 4k3/8/8/8/8/8/PP6/4K3 w - - 0 1");
    let mut eval = |file: &std::path::Path| {
        program.send(&format!("setoption name WeightsFile value {}\neval", file.display()));
        program.until("evaluation ").pop()
    };
    assert_ne!(eval(&files[0]), eval(&files[1]));
    program.quit();
}

/// A GUI may start a clock after `readyok`: what a change reports at its end comes before.
#[test]
fn isready_waits_for_changes_of_the_session() {
    let file = folder("long-refused").join("w.json");
    fs::write(&file, format!("{{\"format\":2,\"made\":[{}0]}}", "0,".repeat(2_000_000)))
        .expect("the folder can be written to");
    let mut program = Program::with("setoption name Hash value 64\nucinewgame");
    program.send(&format!("setoption name WeightsFile value {}", file.display()));
    let before = program.sync();
    assert!(before.iter().any(|line| line.contains("refused")), "{before:?}");
    program.quit();
}

#[test]
fn the_size_of_the_table_does_not_make_a_search_less_repeatable() {
    let mut program = Program::start();
    for megabytes in [1, 16, 33] {
        program.send(&format!("setoption name Hash value {megabytes}"));
        let mut nodes = || {
            program.send("ucinewgame");
            let output = program.search("go depth 9");
            let last = output[output.len() - 2].clone();
            let (_, rest) = last.split_once(" nodes ").expect("nodes are reported");
            rest.split(' ').next().map(str::to_string)
        };
        assert_eq!(nodes(), nodes(), "{megabytes} MB");
    }
    program.quit();
}

#[test]
fn several_threads() {
    let mut program = Program::start();
    for threads in [1024, 4, 2, 1] {
        program.send(&format!("setoption name Threads value {threads}"));
        check_search(&after(""), &program.search("go depth 8"));
        check_search(&after(""), &program.search("go nodes 20000"));
        program.send("go infinite\nstop");
        check_search(&after(""), &program.until("bestmove"));
    }
    program.quit();
}

#[test]
fn tables_that_come_later_are_found_when_their_folder_is_named_again() {
    let folder = folder("tables-later");
    let mut program = Program::start();
    let mut printed = || {
        program.send(&format!("setoption name SyzygyPath value {}", folder.display()));
        program.sync()
    };
    assert_eq!(printed(), ["info string SyzygyPath: 0 tables of up to 0 pieces"]);
    for table in ["KQvK.rtbw", "KQvK.rtbz"] {
        std::fs::copy(format!("tests/data/syzygy/{table}"), folder.join(table)).expect("the folder can be written to");
    }
    assert_eq!(printed().len(), 1);
    // Once they were found, nothing is looked for again.
    assert!(printed().is_empty());
    program.quit();
}

#[test]
fn a_table_that_does_not_fit_leaves_the_old_one() {
    let mut program = Program::with("setoption name Hash value 1048576");
    // Whether it fits or not, the engine answers and plays on.
    program.sync();
    program.send("setoption name Hash value 1");
    program.sync();
    check_search(&after(""), &program.search("go depth 3"));
    program.quit();
}

/// Between the answer of a search and the moment in which the engine is free for the next command, an option waits,
/// and so does the `readyok` behind it.
#[test]
fn ready_means_that_all_options_are_set() {
    let mut program = Program::with("setoption name Threads value 64");
    for _ in 0..40 {
        program.search("go depth 3");
        program.send("setoption name WeightsFile value Cargo.toml");
        let said = program.sync();
        assert!(said.len() == 1 && said[0].contains("Cargo.toml"), "{said:?}");
    }
    for _ in 0..60 {
        program.send("eval");
        assert!(program.sync().last().is_some_and(|line| line.starts_with("evaluation ")));
    }
    program.quit();
}

#[test]
fn during_a_search_ready_is_answered_at_once() {
    let mut program = Program::start();
    // Also by a search that begins after the question, and with options that wait for its end.
    program.send("eval\neval\ngo infinite\nsetoption name MultiPV value 2\nisready\nisready");
    let said = program.until("readyok");
    assert!(!said.iter().any(|line| line.starts_with("bestmove")), "{said:?}");
    program.until("readyok");
    program.send("stop");
    program.until("bestmove");
    for work in ["bench 40", "go perft 12", "go ponder"] {
        program.send(work);
        program.sync();
        program.send("stop");
    }
    program.until("bestmove");
    program.quit();
}
