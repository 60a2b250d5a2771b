//! `go` and what ends it.

use std::thread;
use std::time::Duration;

use dyad_engine::board::{Board, Game};

use crate::driver::{Program, after, check_search};

/// Something that must not happen has this long to happen.
const A_WHILE: Duration = Duration::from_millis(300);

fn assert_silent_about_bestmove(program: &mut Program) {
    thread::sleep(A_WHILE);
    let said = program.sync();
    assert!(said.iter().all(|line| !line.starts_with("bestmove")), "{said:?}");
}

#[test]
fn nothing_is_said_before_the_first_command() {
    assert!(Program::start().close().is_empty());
    assert!(Program::start().quit().is_empty());
}

#[test]
fn every_kind_of_limit_is_answered() {
    let mut program = Program::start();
    let game = after("e2e4 e7e5 g1f3");
    program.send("position startpos moves e2e4 e7e5 g1f3");
    for go in [
        "depth 3",
        "depth 0",
        "depth -5",
        "nodes 500",
        "nodes 0",
        "nodes 1",
        "mate 1 nodes 3000",
        "movetime 20",
        "movetime 0",
        "movetime -10",
        "wtime 1000 btime 100",
        "wtime 100 btime 100 winc 1 binc 1",
        "wtime 100 btime 100 movestogo 1",
        "wtime 100 btime 100 movestogo 0",
        "wtime 60000 btime -200",
        "wtime 100",
        "btime 1",
        "btime 0",
        "binc 5",
        "winc 5",
        "wtime 100 btime 100 winc 99999999999999999999 binc 10",
        "depth 2 nodes 100000000000000000000000",
        "depth 3 wtime 99999999999999999999999 btime 99999999999999999999",
        "depth 300 nodes 2000",
        "mate 300 nodes 2000",
        "wtime 1000.5 foo 7 btime 50 depth 8",
        " depth  2 ",
        "searchmoves b8c6 depth 3",
    ] {
        let output = program.search(&format!("go {go}"));
        check_search(&game, &output);
    }
    program.quit();
}

#[test]
fn stop_right_after_go_is_obeyed() {
    let mut program = Program::start();
    for _ in 0..200 {
        program.send("go infinite\nstop");
        check_search(&after(""), &program.until("bestmove"));
    }
    assert!(program.sync().is_empty());
    program.quit();
}

#[test]
fn an_infinite_search_answers_only_after_stop() {
    for (position, game) in [
        ("startpos", after("")),
        // One legal move.
        ("fen 7k/8/8/8/8/8/1r6/K7 w - - 0 1", fen("7k/8/8/8/8/8/1r6/K7 w - - 0 1")),
        // Mate in one.
        ("fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1", fen("7k/8/5KQ1/8/8/8/8/8 w - - 0 1")),
    ] {
        for go in ["go infinite", "go infinite depth 1", "go infinite wtime 10 btime 10", "go infinite nodes 10"] {
            let mut program = Program::with(&format!("position {position}\n{go}"));
            program.until("info depth");
            assert_silent_about_bestmove(&mut program);
            program.send("stop");
            program.until("bestmove");
            // The lines were read bit by bit; a second search shows them whole.
            let output = program.search("go depth 2");
            check_search(&game, &output);
            program.quit();
        }
    }
}

#[test]
fn pondering_ends_by_ponderhit_or_stop() {
    for (limits, end) in [
        ("wtime 50 btime 50", "ponderhit"),
        ("movetime 10", "ponderhit"),
        ("depth 2", "ponderhit"),
        ("wtime 50 btime 50", "stop"),
        ("", "stop"),
    ] {
        let mut program = Program::with(&format!("position startpos moves e2e4 e7e5\ngo ponder {limits}"));
        assert_silent_about_bestmove(&mut program);
        program.send(end);
        program.until("bestmove");
        assert!(program.sync().is_empty());
        program.quit();
    }
    // Right after `go`, too.
    let mut program = Program::start();
    for _ in 0..50 {
        program.send("go wtime 20 btime 20 ponder\nponderhit");
        program.until("bestmove");
    }
    program.quit();
}

#[test]
fn only_the_moves_asked_for() {
    let mut program = Program::start();
    for go in ["go depth 4 searchmoves a2a3 h2h4", "go searchmoves a2a3 e2e5 h2h4 depth 4"] {
        let output = program.search(go);
        let lines = check_search(&after(""), &output);
        assert!(lines.iter().all(|line| ["a2a3", "h2h4"].contains(&line.pv[0].as_str())), "{output:?}");
    }
    let output = program.search("go searchmoves e2e5 depth 2");
    assert!(output[0].starts_with("info string searchmoves"), "{output:?}");
    check_search(&after(""), &output);
    program.quit();
}

#[test]
fn a_search_of_a_depth_ends_with_that_depth_and_an_exact_score() {
    let mut program = Program::start();
    for depth in [1, 2, 5, 7] {
        let lines = check_search(&after(""), &program.search(&format!("go depth {depth}")));
        let last = lines.last().expect("there are lines");
        assert_eq!(last.depth, depth);
        assert!(!last.is_bound);
    }
    program.quit();
}

#[test]
fn long_games() {
    let mut program = Program::start();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(2_000);
    let game = after(&shuffle);
    program.send(&format!("position startpos moves {shuffle}"));
    assert!(program.sync().is_empty());
    check_search(&game, &program.search("go depth 3"));
    // As long as a line can be.
    program.send(&format!("position startpos moves {}", "g1f3 g8f6 f3g1 f6g8 ".repeat(52_000)));
    assert!(program.sync().is_empty());
    check_search(&after(""), &program.search("go depth 3"));
    program.quit();
}

fn fen(fen: &str) -> Game {
    Game::new(Board::from_fen(fen).expect("a good FEN"))
}

#[test]
fn a_dead_draw_is_drawn_in_all_games() {
    let mut program = Program::with("setoption name UCI_ShowWDL value true");
    for fen in ["4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4KB2 b - - 0 1"] {
        program.send(&format!("position fen {fen}\neval"));
        assert!(program.sync().contains(&"White wins 0, draws 1000, loses 0 games of 1000".to_string()));
        let output = program.search("go depth 4");
        let printed = output.iter().filter(|line| line.contains(" score ")).collect::<Vec<_>>();
        assert!(
            !printed.is_empty() && printed.iter().all(|line| line.contains(" score cp 0 wdl 0 1000 0 ")),
            "{output:?}"
        );
    }
    program.quit();
}

/// A sender of too many commands waits; during a search that only a command ends they are refused.
#[test]
fn a_full_queue_is_worked_off_before_more_is_read() {
    const COUNT: usize = 1_500;
    let mut program = Program::start();
    let mut answers = |beginning: &str, end: &str| {
        program.send(&format!("{beginning}\n{}{end}", "go nodes 1\n".repeat(COUNT)));
        let (mut answered, mut refused) = (0, 0);
        while answered + refused <= COUNT {
            let line = program.line();
            answered += usize::from(line.starts_with("bestmove "));
            refused += usize::from(line.starts_with("info string too many commands"));
        }
        refused
    };
    assert_eq!(answers("go nodes 300000", ""), 0);
    let refused = answers("go infinite", "stop");
    assert!(0 < refused && refused < COUNT, "{refused}");
    program.quit();
}
