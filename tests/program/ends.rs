//! Every way in which a conversation ends.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Output;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::driver::{Line, Program, after, folder};

/// What has to end at once ends within a second on a quiet machine. A busy one gets this long; without an end the
/// commands here run for minutes.
const AT_ONCE: Duration = Duration::from_secs(15);

/// Commands that take minutes at least.
const LONG: [&str; 9] = [
    "go infinite",
    "go depth 99",
    "go movetime 1000000",
    "go ponder wtime 1000000 btime 1000000",
    "go perft 9",
    "bench 40",
    "genfens 10000000 seed 1 book None",
    "explain e2e4 d2d4 nodes 100000000000",
    "bench 40\ngo perft 9\neval\ngo infinite\ngenfens 10000000 seed 1",
];

/// The program, to be treated as no [`Program`] can be.
fn spawn() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyad"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it was built")
}

fn await_end(child: &mut Child, patience: Duration, what: &str) {
    let begun = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if begun.elapsed() > patience {
            child.kill().expect("it runs");
            panic!("{what}: it is still there");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn quit_ends_everything_at_once() {
    for command in LONG {
        let mut program = Program::with(command);
        program.sync();
        let begun = Instant::now();
        let said = program.quit();
        assert!(begun.elapsed() < AT_ONCE, "{command}: {:?}", begun.elapsed());
        if command.contains("go ") && !command.starts_with("go perft") {
            assert!(said.iter().any(|line| line.starts_with("bestmove ")), "{command}: {said:?}");
        }
    }
}

/// A pipe that says all it has to say at once, `quit` with it, wants the answers.
#[test]
fn counts_and_benchmarks_are_finished_at_the_end() {
    for end in ["", "quit", "quit\n", "quit\n\n"] {
        let mut program = Program::start();
        program.send_bytes(format!("go perft 4\nbench 2\ngo infinite\neval\n{end}").as_bytes());
        let said = program.close();
        let is_said = |beginning: &str| said.iter().any(|line| line.starts_with(beginning));
        assert!(is_said("Nodes searched: 197281") && is_said("bestmove ") && is_said("evaluation "), "{said:?}");
        assert!(said.iter().any(|line| line.ends_with(" nps") && line.contains(" nodes ")), "{said:?}");
    }
    let said = Program::with("setoption name WeightsFile value weights/material.json\neval\nquit").close();
    assert!(said[0].contains("material.json") && said.last().unwrap().starts_with("evaluation "), "{said:?}");
}

#[test]
fn the_end_of_input_does_not_end_a_comparison_of_moves() {
    let said = Program::with("explain e2e4 d2d4 nodes 2000 --all").close();
    assert!(said.len() > 1 && !said.iter().any(|line| line.contains("stopped")), "{said:?}");
}

#[test]
fn the_end_of_input_lets_a_bounded_search_finish() {
    for (go, depth) in
        [("depth 7", 7), ("depth 2 ponder", 0), ("nodes 30000", 4), ("movetime 300", 1), ("mate 1 depth 6", 6)]
    {
        let said = Program::with(&format!("position startpos moves e2e4\ngo {go}")).close();
        assert!(said.last().unwrap().starts_with("bestmove "), "{go}: {said:?}");
        let board = *after("e2e4").board();
        let reached = said.iter().filter_map(|line| Line::parse(line, &board)).map(|line| line.depth).max();
        assert!(reached >= Some(depth), "{go}: {said:?}");
    }
    for go in ["", "infinite", "infinite depth 5", "depth 200", "ponder wtime 1000 btime 1000", "searchmoves e7e5"] {
        let program = Program::with(&format!("position startpos moves e2e4\ngo {go}"));
        let begun = Instant::now();
        let said = program.close();
        assert!(begun.elapsed() < AT_ONCE && said.last().unwrap().starts_with("bestmove "), "{go}: {said:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_output_ends_the_program() {
    for command in LONG.into_iter().chain([""]) {
        let mut child = spawn();
        let mut input = child.stdin.take().expect("it was asked for");
        writeln!(input, "isready\n{command}").expect("it reads");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        output.read_line(&mut String::new()).expect("it writes");
        drop(output);
        await_end(&mut child, AT_ONCE, command);
    }
}

/// However much it has to say.
#[test]
fn the_end_of_a_conversation_ends_a_program_that_no_one_reads() {
    for (lines, last) in [("help\n".repeat(60), ""), ("eval\n".repeat(200), ""), ("help\n".repeat(100), "quit\n")] {
        let mut child = spawn();
        let mut input = child.stdin.take().expect("it was asked for");
        // Many times what a pipe holds, of which nothing is read.
        input.write_all(format!("{lines}{last}").as_bytes()).expect("it reads");
        if last.is_empty() {
            drop(input);
        }
        await_end(&mut child, Duration::from_secs(60), last);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_everything_and_saves_a_training() {
    for (signal, command) in [("TERM", "go infinite"), ("TERM", "go perft 9"), ("INT", "bench 40"), ("HUP", "")] {
        let mut program = Program::with(command);
        program.sync();
        let begun = Instant::now();
        program.signal(signal);
        let (said, status) = program.wait();
        assert!(begun.elapsed() < AT_ONCE && status.success(), "{command}: {status}");
        assert_eq!(said.iter().any(|line| line.starts_with("bestmove ")), command == "go infinite", "{said:?}");
    }
    let folder = folder("signal-training").join("run");
    let mut program = Program::start();
    for (name, value) in [("TrainFolder", folder.to_str().unwrap()), ("TrainThreads", "1"), ("Train", "scratch")] {
        program.send(&format!("setoption name {name} value {value}"));
    }
    program.sync();
    program.until_contains("train generation 1");
    program.signal("TERM");
    let (said, status) = program.wait();
    assert!(status.success() && said.iter().any(|line| line.contains("train stopping")), "{status}: {said:?}");
    assert!(folder.join("state.json").exists());
}

/// A file of a size that no weights have is not read; what is read does not keep the engine from answering.
#[test]
fn hostile_files_keep_nothing_from_being_answered() {
    let folder = folder("hostile-files");
    let write = |name: &str, beginning: &str, part: &str, count: usize| {
        let path = folder.join(name);
        let text = format!("{beginning}{}", part.repeat(count));
        File::create(&path).and_then(|mut file| file.write_all(text.as_bytes())).expect("there is room");
        path
    };
    let set = |path: &Path| format!("setoption name WeightsFile value {}", path.display());
    let large = write("large.json", "", r#"{"format":"#, 2 << 20);
    let mut program = Program::with(&set(&large));
    let said = program.sync();
    assert!(said[0].contains("20971520 bytes") && said[0].contains("16777216"), "{said:?}");
    // Some hundred megabytes of empty objects.
    let slow = write("slow.json", r#"{"format":2,"name":"","scale":1,"made":["#, "{},", 5 << 20);
    // A training's settings of such a size are refused.
    let run = folder.join("run");
    std::fs::create_dir(&run).expect("there is room");
    std::fs::copy(&large, run.join("settings.json")).expect("there is room");
    program.send(&format!(
        "setoption name TrainFolder value {}\nsetoption name Train value scratch\nisready",
        run.display()
    ));
    let error = program.until_contains("train error: ");
    assert!(error.contains("settings.json") && error.contains("20971520 bytes"), "{error}");
    for end in ["stop", "quit"] {
        program.send(&set(&slow));
        program.send("isready\ngo infinite\nisready");
        program.until("readyok");
        program.until("readyok");
        program.send(end);
        if end == "stop" {
            program.until("bestmove");
        }
    }
    let begun = Instant::now();
    assert!(program.wait().1.success() && begun.elapsed() < AT_ONCE);
}

/// Without memory to start, and with a help that cannot be printed.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_start_or_print_says_so_in_one_line() {
    let run = |line: &str| {
        let shell = format!("{line} < /dev/null");
        Command::new("sh").args(["-c", &shell, "sh", env!("CARGO_BIN_EXE_dyad")]).output().unwrap()
    };
    for (line, expected) in [
        ("ulimit -v 30720; exec \"$1\"", "dyad: cannot start: "),
        ("exec \"$1\" --help > /dev/full", "dyad: cannot print: "),
    ] {
        let Output { status, stderr, .. } = run(line);
        let printed = String::from_utf8(stderr).unwrap();
        assert!(status.code() == Some(1) && printed.starts_with(expected), "{line}: {printed}");
        assert_eq!(printed.lines().count(), 1, "{printed}");
    }
}
