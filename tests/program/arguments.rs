//! Commands as arguments of the program, as test frameworks give them.

use dyad_engine::board::Board;

use crate::driver::{failure, folder, output, refusal};

#[test]
fn commands_run_in_order_and_the_program_ends() {
    let lines = output(&["position startpos moves e2e4", "go depth 2", "d"]);
    let best = lines.iter().position(|line| line.starts_with("bestmove")).expect("an answer");
    let fen = lines.iter().position(|line| line.starts_with("Fen: ")).expect("a board");
    assert!(best < fen);
    assert!(lines[fen].contains(" b KQkq "), "{}", lines[fen]);
}

#[test]
fn words_without_quotes_make_one_command() {
    let lines = output(&["go", "perft", "3"]);
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 8902"));
    assert!(lines.contains(&"a2a3: 380".to_string()));
}

#[test]
fn nothing_runs_after_quit() {
    assert_eq!(output(&["isready", "quit", "isready"]), ["readyok"]);
}

#[test]
fn shells_and_the_manual_know_the_tools() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = output(&["completions", shell]).join("\n");
        assert!(text.contains("selftrain") && text.contains("label-nodes"), "{shell}");
    }
    let page = output(&["man"]).join("\n");
    assert!(page.contains(".TH dyad 1") && page.contains("selftrain"), "{page}");
    let page = output(&["man", "selftrain"]).join("\n");
    assert!(page.contains(".TH dyad\\-selftrain 1") || page.contains(".TH dyad-selftrain 1"), "{page}");
    let inner = output(&["man", "level", "train"]).join("\n");
    assert!(inner.contains(".TH dyad\\-level\\-train 1") || inner.contains(".TH dyad-level-train 1"), "{inner}");
    assert!(page.contains("Nodes per self\\-play move") && page.contains("200,000"), "{page}");
    assert!(refusal(&["man", "nothing"]).contains("dyad: no command is called 'nothing'"));
}

#[test]
fn other_arguments_are_refused() {
    let printed = refusal(&["--nonsense"]);
    assert!(printed.contains("unexpected argument '--nonsense'"), "{printed}");
}

#[test]
fn the_benchmark_is_deterministic_and_depends_on_no_option() {
    let bench = |arguments: &[&str]| {
        let lines = output(arguments);
        let last = lines.last().expect("a result").clone();
        let words: Vec<&str> = last.split(' ').collect();
        assert!(matches!(words[..], [_, "nodes", _, "nps"]), "{last}");
        words[0].parse::<u64>().expect("a number of nodes")
    };
    let nodes = bench(&["bench", "4"]);
    assert!(nodes > 0);
    assert_eq!(bench(&["bench 4"]), nodes);
    let set = "setoption name Threads value 2";
    assert_eq!(bench(&["setoption name Hash value 3", set, "bench 4", "quit"]), nodes);
}

#[test]
fn openings_are_legal_different_and_reproducible() {
    let make = |seed: u64| {
        let lines = output(&[&format!("genfens 12 seed {seed} book None"), "quit"]);
        assert_eq!(lines.len(), 12, "{lines:?}");
        lines
    };
    let first = make(1);
    for line in &first {
        let fen = line.strip_prefix("info string genfens ").unwrap_or_else(|| panic!("{line}"));
        assert!(Board::from_fen(fen).is_ok_and(|board| board.fen() == fen), "{fen}");
    }
    assert_eq!(make(1), first);
    assert_ne!(make(2), first);
}

#[test]
fn openings_from_a_book() {
    let path = folder("openings-book").join("book.epd");
    std::fs::write(&path, "rnbqkb1r/pppp1ppp/4pn2/8/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - hmvc 0; fmvn 3;\n\n")
        .expect("written");
    let lines = output(&[&format!("genfens 5 seed 3 book {}", path.display()), "quit"]);
    assert_eq!(lines.len(), 5, "{lines:?}");
    std::fs::write(&path, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\nnonsense\n").expect("written");
    let lines = output(&[&format!("genfens 5 seed 3 book {}", path.display()), "quit"]);
    assert!(lines[0].contains("book.epd:2: "), "{lines:?}");
    let lines = failure(&["genfens 5 seed 3 book none.epd", "quit"]);
    assert!(lines.len() == 1 && lines[0].starts_with("info string genfens: "), "{lines:?}");
}

/// A script must not go on with other weights or another position than it asked for.
#[test]
fn a_command_that_fails_ends_the_program_with_a_failure() {
    for (commands, error) in [
        (&["setoption name WeightsFile value none.json", "bench 1"][..], "WeightsFile: "),
        (&["setoption name Hash value x", "bench 1"], "Hash"),
        (&["position fen x", "go depth 1"], "position: "),
        (&["bench 0", "go depth 1"], "bench: "),
        (&["explain e2e5", "go depth 1"], "e2e5"),
        (&["setoption name WeightsFile value", "train status"], "train"),
    ] {
        let lines = failure(commands);
        assert!(lines.len() == 1 && lines[0].starts_with("info string "), "{commands:?}: {lines:?}");
        assert!(lines[0].contains(error), "{commands:?}: {lines:?}");
    }
}
